"""Abstract values: what an expression may be, and in which releases.

A `Value` is a list of alternatives, each a set of releases and an `Atom`. Where two alternatives overlap, either may be
the value in those releases; where none is left, the expression raised before it had one. Atoms are small, immutable
and comparable, so that equal ones meet again when branches join.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

from driftwatch.flow.domain.frozen import frozen
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.symbols import Ref

if TYPE_CHECKING:
    import libcst as cst

    from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode


class Atom:
    """One thing a value may be."""

    __slots__ = ()


@frozen
class Const(Atom):
    """A value known exactly: None, a bool, a number, text, a version, or a tuple or frozenset of such."""

    value: Hashable

    # Python holds 1, 1.0 and True equal; the analysis must not.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(other.value) is type(self.value) and other.value == self.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@frozen
class Unknown(Atom):
    """Nothing is known. `parameter` names the parameter of the current function it came in by, if it did.

    `derived`: it is something in that or made from it, and `part` of its attributes alone, no text or number that a
    caller gives. `tainted`: something not understood made it from what depends on the release; a test of it may be a
    guard. `truth` is what it counts as in a test. `name` is that of the library's object that it is, where it is one.
    `of` is what it was read from, an instance of the library's or what may be one, and the attribute's name.
    """

    parameter: str | None = None
    tainted: bool = False
    truth: bool | None = None
    derived: bool = False
    name: str | None = None
    of: tuple[Atom, str] | None = None
    part: bool = False


@frozen
class Opaque(Atom):
    """An object that is neither None nor false, of which nothing else is known."""

    what: str = ""


@frozen
class Raised(Atom):
    """An exception. `names` are its class and all that this descends from, the most special first, builtins by name.

    `text` is its message where that is known. `exact` says that it is of this very class, not of one below it.
    `made` is the object itself, where it is one of the code base's own class, `holds` the heap number of its arguments,
    where it is of another class and they are worth following.
    """

    names: tuple[str, ...]
    text: str | None = None
    exact: bool = True
    made: Instance | None = None
    holds: int | None = None


@frozen
class External(Atom):
    """A builtin, or an object of a package that is neither the library nor the code base, by its import path."""

    dotted: str


@frozen
class LibModule(Atom):
    """A module of the library, or a package above its public root."""

    module: str


@frozen
class LibObject(Atom):
    """A function or class of the library."""

    ref: Ref
    is_class: bool = False


@frozen
class LibInstance(Atom):
    """An instance of a library class; `exact` when it is of this class and not of one that descends from it.

    `made_of` are the import paths of the foreign objects that its constructor was given, or that it was given nothing;
    of what a function gives, the texts that this was called with, as ``name='text'``, or ``name=?``.
    `asked` are those of the texts that are not known which are a parameter of the function at hand: ``name``, the
    parameter, and the number of its call.
    `ghost`: it is not there, since what would have given it fails; what would come next if it did not is told as well.
    """

    cls: Ref
    exact: bool = False
    made_of: tuple[str, ...] = ()
    ghost: bool = False
    asked: tuple[tuple[str, str, int], ...] = ()


def is_ghost(atom: Atom) -> bool:
    """Whether an atom is what something would have given that fails."""
    return isinstance(atom, LibInstance) and atom.ghost


@frozen
class LibTuple(Atom):
    """A tuple or list that a function or method of the library gives, of one of these lengths.

    `callee`, `method` and `exact` are those of the call.
    """

    callee: Ref
    lengths: tuple[int, ...]
    method: bool = False
    exact: bool = True


@frozen
class LibMethod(Atom):
    """A method looked up on an instance of a library class, or on the class itself."""

    cls: Ref
    name: str
    exact: bool = False
    on_class: bool = False


@frozen
class ParameterInfo(Atom):
    """What a signature says of one parameter; `kind` as `inspect` names it."""

    name: str
    kind: str
    required: bool


@frozen
class ParameterMap(Atom):
    """``inspect.signature(f).parameters``."""

    parameters: tuple[ParameterInfo, ...]


@frozen
class SignatureOf(Atom):
    """``inspect.signature(f)``."""

    parameters: ParameterMap


@frozen
class ArgSpecOf(Atom):
    """``inspect.getfullargspec(f)``."""

    parameters: ParameterMap


@frozen
class CodeOf(Atom):
    """``f.__code__``."""

    parameters: ParameterMap


@frozen
class NamesOf(Atom):
    """``dir(x)``, ``vars(x)`` or ``x.__dict__`` of something of the library: membership is what `hasattr` says."""

    owner: Atom


@frozen
class Function(Atom):
    """A function of the code base, with the object it is bound to, if it is."""

    code: FunctionCode
    bound: Atom | None = None


@frozen
class Class(Atom):
    """A class of the code base."""

    code: ClassCode


@frozen
class Instance(Atom):
    """An instance of a class of the code base.

    `site` is the heap number of what it holds, where it is known where it was made. Without one it stands for any.
    """

    code: ClassCode
    site: int | None = None


@frozen
class SuperOf(Atom):
    """``super()`` within a class of the code base, of the instance or class that a method was called of."""

    code: ClassCode
    bound: Atom | None = None


@frozen
class ProjectModule(Atom):
    """A module of the code base."""

    code: ModuleCode


@frozen
class Namespace(Atom):
    """The dict of the variables of a module of the code base: ``globals()``."""

    code: ModuleCode


@frozen
class Lazy(Atom):
    """A name of a module of the code base that has not been looked at, because nothing said that it matters."""

    code: ModuleCode
    name: str


@frozen
class Outer(Atom):
    """What a variable that is declared ``global`` or ``nonlocal`` is outside, as long as it is not assigned here."""


@frozen
class DictRef(Atom):
    """A dict; its content lives in the state's heap under this number."""

    key: int


@frozen
class ListRef(Atom):
    """A list or tuple; its content lives in the state's heap under this number."""

    key: int


@frozen
class Partial(Atom):
    """``functools.partial``; what it holds lives in the state's heap under this number."""

    key: int


@frozen
class PartialMethod(Atom):
    """``functools.partialmethod``, as it stands in a class; what it holds lives in the heap under this number."""

    key: int


@frozen
class Factory(Atom):
    """The default of a field that is made for each instance, by calling this."""

    makes: Value


@frozen
class Managed(Atom):
    """What a generator of the code base makes that is a context manager.

    What is called, with what, lives in the state's heap under `key`; `call` is where. `gives` is what it yields, where
    it was not called to be entered right there.
    """

    key: int
    call: cst.CSTNode
    gives: Value


@frozen
class Deferred(Atom):
    """A call that is made later; what is called, with what, lives in the state's heap under `key`, `call` is where.

    `kind` is ``coroutine``, ``future`` or ``thread``.
    """

    key: int
    call: cst.CSTNode
    kind: str


@frozen
class Suppressing(Atom):
    """``contextlib.suppress``; no `types` where they are not known."""

    types: tuple[str, ...]


@frozen
class Giving(Atom):
    """``contextlib.nullcontext``: what it gives where it is entered."""

    gives: Value


@frozen
class Object(Atom):
    """An object of a modelled class, known by its import path; what it holds lives in the heap under this number."""

    cls: str
    key: int


@frozen
class Replacing(Atom):
    """What ``mock.patch`` returns: where it is entered, an attribute of a module or class of the library is another."""

    owner: str
    name: str
    gives: Value


@frozen
class MethodOf(Atom):
    """A method of a known value that has not been called yet: ``"a.b".split``, ``kwargs.update``."""

    owner: Atom
    name: str


@frozen
class SkipMark(Atom):
    """A mark with which a test runner skips what it is put on; where it is not `surely`, nobody can tell."""

    surely: bool


Alternative = tuple[ReleaseSet, Atom]

Key = str | Atom
"""What something is under in a dict: text, or anything else that is known exactly."""


def key_for(atom: Atom) -> Key | None:
    """The key that an atom is; None where it may be any."""
    if isinstance(atom, Const):
        if isinstance(atom.value, (bool, float)) and atom.value == int(atom.value):
            # Python holds them equal, and so does a dict.
            return Const(int(atom.value))
        return atom.value if isinstance(atom.value, str) else atom
    exact = isinstance(atom, (External, LibObject, Class)) or (isinstance(atom, Function) and atom.bound is None)
    return atom if exact or (isinstance(atom, Opaque) and atom.what) else None


def atom_of(key: Key) -> Atom:
    """A key of a dict as what it is."""
    return Const(key) if isinstance(key, str) else key


def key_of(atom: Atom) -> int | None:
    """The heap number of what a thing holds, where that lives in the heap."""
    name = _NUMBERED.get(type(atom))
    return None if name is None else getattr(atom, name)


_NUMBERED = {DictRef: "key", ListRef: "key", Partial: "key", PartialMethod: "key", Instance: "site"}


@frozen
class Value:
    """Alternatives in no particular order; equal atoms appear once."""

    alternatives: tuple[Alternative, ...] = ()

    def within(self, releases: ReleaseSet) -> Value:
        """The value in those releases alone."""
        inside = releases.mask
        for where, _ in self.alternatives:
            if where.mask & ~inside:
                break
        else:
            return self
        left = [(where & releases, a) for where, a in self.alternatives if where.mask & inside]
        return Value(tuple(left)) if left else NOTHING

    def joined(self, other: Value) -> Value:
        """Either of the two."""
        return value_of((*self.alternatives, *other.alternatives))

    def where(self, test: Callable[[Atom], bool]) -> ReleaseSet:
        """The releases in which it may be an atom that passes the test."""
        found = EMPTY
        for where, atom in self.alternatives:
            if test(atom):
                found |= where
        return found

    def only(self, test: Callable[[Atom], bool]) -> Value:
        """Without the alternatives that fail the test."""
        return Value(tuple(alt for alt in self.alternatives if test(alt[1])))

    def defined(self) -> ReleaseSet:
        """The releases in which there is a value at all."""
        found = EMPTY
        for where, _ in self.alternatives:
            found |= where
        return found

    def single(self) -> Atom | None:
        """Its one atom, when it has but one whatever the release."""
        return self.alternatives[0][1] if len(self.alternatives) == 1 else None


NOTHING = Value()


def value_of(alternatives: Iterable[Alternative]) -> Value:
    """A value of these alternatives; equal atoms are joined and empty ones dropped."""
    there = [each for each in alternatives if each[0].mask]
    if len(there) < 2:
        return Value(tuple(there)) if there else NOTHING
    merged: dict[Atom, ReleaseSet] = {}
    for where, atom in there:
        before = merged.get(atom)
        merged[atom] = where if before is None else before | where
    return Value(tuple([(where, atom) for atom, where in merged.items()]))


def join(first: Value, second: Value) -> Value:
    """Either of the two."""
    if first is second or not second.alternatives:
        return first
    if not first.alternatives:
        return second
    if type(first) is not Value or type(second) is not Value:
        return second.joined(first) if type(first) is Value else first.joined(second)
    if len(first.alternatives) == len(second.alternatives) == 1:
        (here, atom), (there, other) = first.alternatives[0], second.alternatives[0]
        if atom is other or atom == other:
            return first if not there.mask & ~here.mask else Value(((here | there, atom),))
    elif first.alternatives == second.alternatives:
        return first
    return first.joined(second)


def unknown(releases: ReleaseSet) -> Value:
    """Anything, in those releases."""
    return _ANYTHING[releases.mask]


def const(value: Hashable, releases: ReleaseSet) -> Value:
    """This very constant, in those releases."""
    return Value(((releases, Const(value)),)) if releases else NOTHING


class _Anything(dict[int, Value]):
    """What is not known, by releases: there are few sets of them, and to make one takes longer than to find it."""

    def __missing__(self, mask: int) -> Value:
        made = self[mask] = Value(((ReleaseSet(mask), UNKNOWN),))
        return made


_ANYTHING = _Anything({0: NOTHING})
UNKNOWN = Unknown()
OUTER = Outer()
TAINTED = Unknown(tainted=True)
NONE = Const(None)
TRUE = Const(True)
MODULE_NAME = Opaque("__name__")
"""The name of the module that is executed: another one when it is the program."""
STATIC = Opaque("staticmethod")
"""What a function is bound to that was made a static method: to nothing, whatever it is looked up on."""
FALSE = Const(False)
