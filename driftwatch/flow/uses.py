"""What the analysis says about a code base: every place that touches the library, and in which releases it is reached.

Uses are facts, not verdicts: a rule holds them against the history. Nothing here knows how the source was parsed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.symbols import Ref


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A range of source text. `path` is relative to the scanned root, with forward slashes; all numbers start at 1."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way a value took to the place of use, oldest first."""

    path: str
    line: int
    note: str


class Outcome(str, Enum):
    """What the program does when the exception of a drift is raised."""

    RAISES = "raises"
    """Nobody takes it, or the handler raises again."""
    SILENT = "silent"
    """A handler meant for something else takes it, and the program goes on without the feature."""
    GUARDED = "guarded"
    """The handler is there for this very thing."""
    UNKNOWN = "unknown"
    """Something takes it, or may take it, and what the program then does cannot be told."""


@dataclass(frozen=True, slots=True)
class Catch:
    """Where the exception that a drift would raise at this place ends up.

    The exception followed is the use's own: ImportError for an import, AttributeError for a name, TypeError for a call.
    `handles` are the exception names of the clause that takes it, as written; empty for a bare ``except`` or none.
    """

    outcome: Outcome
    path: str | None = None
    line: int | None = None
    handles: tuple[str, ...] = ()


UNCAUGHT = Catch(Outcome.RAISES)


class Unknown(Enum):
    """The value of an argument that the analysis cannot tell."""

    UNKNOWN = "unknown"


NOTHING_GIVEN = "None"
"""Stands among the objects of other packages for None, and for an instance whose constructor was given nothing else."""


Constant = None | bool | int | float | str | Unknown
"""An argument's value where it is a literal (or a name bound to one), else UNKNOWN."""


OPEN = "?"
"""Stands for the text in ``name=?``: what an object was made with under this name is left to somebody else."""


@dataclass(frozen=True, slots=True, order=True)
class Told:
    """What a test has said of an attribute of an object: whether, as ``name='text'``, it is one of `among`.

    `of` is the object as it stands among an argument's `objects`.
    """

    of: tuple[str, ...]
    among: tuple[str, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call.

    `releases` is where it may be passed: under a condition that the snapshots cannot answer it counts as passed, and
    `certain` is False. `location` is the call expression in which it first became an argument, when that is another
    one than the call itself (a caller of a pass-through wrapper, a ``functools.partial``).
    `values` are the literals it may be, by release.
    """

    releases: ReleaseSet
    name: str | None = None
    certain: bool = True
    values: tuple[tuple[ReleaseSet, Constant], ...] = ()
    trace: tuple[Step, ...] = ()
    location: Location | None = None
    catch: Catch | None = None
    """As the use's own catch, when `location` is elsewhere."""
    objects: tuple[tuple[ReleaseSet, tuple[str, ...]], ...] = ()
    """For all it may be, the objects of other packages that it then is or is made of, by import path, and the class of
    an instance of the library's; nothing at all where it may be none of that."""
    conditional: ReleaseSet = EMPTY
    """Those of `releases` in which it is passed only under a condition like that of a `conditional` use."""
    written: Location | None = None
    """Its name, where it stands in the call as a keyword."""
    told: tuple[tuple[Constant, tuple[Told, ...]], ...] = ()
    """The literals among `values` that it only is where tests have said something of objects."""


@dataclass(frozen=True, slots=True)
class Use:
    """What all uses have. `distribution` names the target. `releases` is where this place is reached.

    `conditional` are those of them in which it is only reached under a test that depends on the release in a way that
    could not be followed: it may be reached there, and nothing says that it is. `raised` is the exception of a drift,
    `instead` one that is raised in its place.
    """

    raised: ClassVar[str] = "TypeError"

    distribution: str
    location: Location
    releases: ReleaseSet
    catch: Catch
    trace: tuple[Step, ...]
    conditional: ReleaseSet = field(default=EMPTY, kw_only=True)
    instead: str | None = field(default=None, kw_only=True)

    @property
    def exception(self) -> str:
        """The exception of a drift at this place."""
        return self.instead or self.raised


IMPORT_ERRORS = ("AssertionError", "AttributeError", "NameError", "OSError", "RuntimeError", "TypeError", "ValueError")
"""What importing a library may raise besides ImportError, as libraries really do."""


@dataclass(frozen=True, slots=True)
class ImportUse(Use):
    """``import module`` (`name` None) or ``from module import name``, in whatever form it is written.

    `checks_only` says that the ``try`` round it holds nothing but imports and tests of what they brought.
    `survives` are those of `IMPORT_ERRORS` that a handler here takes; None when it was not looked at. `module_at` is
    where the module's own name stands, when that is elsewhere.
    """

    raised: ClassVar[str] = "ImportError"

    module: str
    name: str | None
    bound: str | None = None
    checks_only: bool = False
    first: bool = True
    survives: tuple[str, ...] | None = None
    module_at: Location | None = None


@dataclass(frozen=True, slots=True)
class LookUse(Use):
    """A look whether the library is there: an import of a package above its root that a handler stands round, or
    `asked`, a question such as ``find_spec("package.module")``, which imports `module`, the package that it lies in.

    `survives` is as for an import. It touches nothing of the library.
    """

    raised: ClassVar[str] = "ImportError"

    module: str
    survives: tuple[str, ...] = ()
    asked: str | None = None


@dataclass(frozen=True, slots=True)
class NameUse(Use):
    """An attribute read: of a module (`owner.qualname` empty), of a class, or of an instance of a class.

    For an instance, `exact` says that it is of this very class; else of this class or any that descends from it.
    Of a module, `found` is where it has the name, or may have it, with what the code base has imported, and `elsewhere`
    where that depends on what other packages have.
    """

    raised: ClassVar[str] = "AttributeError"

    owner: Ref
    name: str
    instance: bool = False
    exact: bool = False
    found: ReleaseSet = EMPTY
    elsewhere: ReleaseSet = EMPTY


@dataclass(frozen=True, slots=True)
class CallUse(Use):
    """A call of a function, a class, or a method (`callee` then is the class's member, `exact` as for `NameUse`).

    `positional` are in order, each with the releases in which it is there. `unknown_positional` and
    `unknown_keywords` are where a ``*args`` or ``**kwargs`` of unknown content may add more.
    A method's arguments do not include ``self`` unless `unbound` is set. `unpacked` is into how many names the result
    is taken apart right where it is called; None where it is not, or where a starred name takes any number.
    """

    callee: Ref
    positional: tuple[Argument, ...] = ()
    keywords: tuple[Argument, ...] = ()
    unknown_positional: ReleaseSet = EMPTY
    unknown_keywords: ReleaseSet = EMPTY
    method: bool = False
    exact: bool = False
    unbound: bool = False
    unpacked: int | None = None
    told: tuple[Told, ...] = ()
    """What tests on the way to the call have said of objects."""


@dataclass(frozen=True, slots=True)
class ResultUse(Use):
    """A tuple that a call gives is taken apart or looked into; `callee`, `method` and `exact` are those of the call."""

    callee: Ref
    method: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class UnpackUse(ResultUse):
    """It is taken apart into `names` names, one of which takes all the rest when it is `starred`."""

    raised: ClassVar[str] = "ValueError"

    names: int = 0
    starred: bool = False

    def fits(self, length: int) -> bool:
        return length >= self.names - 1 if self.starred else length == self.names


@dataclass(frozen=True, slots=True)
class ItemUse(ResultUse):
    """One of its values is asked for by a number."""

    raised: ClassVar[str] = "IndexError"

    index: int = 0

    def fits(self, length: int) -> bool:
        return -length <= self.index < length


@dataclass(frozen=True, slots=True)
class RefusedUse(Use):
    """A call with constant arguments for which `condition` holds, so that the callee raises at once."""

    raised: ClassVar[str] = "ValueError"

    callee: Ref
    condition: str


@dataclass(frozen=True, slots=True)
class MethodDefinition:
    """A method that a class of the code base defines. `signature_text` is for messages."""

    name: str
    location: Location
    positional: tuple[str, ...]
    required: tuple[str, ...]
    keyword_only: tuple[str, ...]
    takes_any_positional: bool
    takes_any_keyword: bool
    signature_text: str


@dataclass(frozen=True, slots=True, order=True)
class Construction:
    """A place where an instance of a class is made, where it is reached, and what becomes of a TypeError there."""

    location: Location
    releases: ReleaseSet = field(compare=False)
    catch: Catch = field(compare=False)


@dataclass(frozen=True, slots=True)
class SubclassUse(Use):
    """A class of the code base that derives from one of the library's.

    `methods` are all it defines, those of its own bases in the code base included; `names` is every other name its
    body binds. `instantiated` are the places that construct it. `open` says that it has further bases that are not
    known, which may bring methods.
    """

    base: Ref
    class_name: str
    methods: tuple[MethodDefinition, ...] = ()
    names: tuple[str, ...] = ()
    instantiated: tuple[Construction, ...] = ()
    abstract: bool = False
    open: bool = False


@dataclass(frozen=True, slots=True)
class PatchUse(Use):
    """A replacement of one of the library's names: assignment, ``monkeypatch.setattr``, ``mock.patch``.

    `requires`: replacing a name that is not there raises AttributeError.
    """

    raised: ClassVar[str] = "AttributeError"

    owner: Ref
    name: str
    requires: bool = False


@dataclass(frozen=True, slots=True)
class ProbeUse(Use):
    """``inspect.signature`` (or the like) on one of the library's callables; `catches` are the exceptions survived."""

    callee: Ref
    survives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SwitchedOff(Use):
    """Code that is there for the library, and that an explicit test keeps from being reached in these releases.

    `location` is the test. `symbols` are what would have been reached behind it, in the order of the code. Nothing is
    raised; `catch` is `DELIBERATE`.
    """

    symbols: tuple[Ref, ...] = ()


DELIBERATE = Catch(Outcome.GUARDED)
"""The code looks first, and goes another way."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A place that touches the library but whose meaning cannot be known, and why."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A file that could not be analysed in full, and why, in one sentence.

    `mentions` is whether it mentions the library; None where not even that is known.
    """

    path: str
    line: int | None
    message: str
    mentions: bool | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found. `files` were searched, `analysed` of them looked into."""

    uses: tuple[Use, ...]
    unresolved: tuple[Unresolved, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    analysed: int
