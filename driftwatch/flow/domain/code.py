"""The code base's own modules, functions and classes, as the interpreter holds them.

These are identities, not values: each is made once, and what is learnt about it is kept on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import libcst as cst

from driftwatch.flow.domain.contents import Content, Entry
from driftwatch.flow.domain.effects import Effects
from driftwatch.flow.domain.guard import Guard
from driftwatch.flow.domain.values import Key, Value
from driftwatch.flow.syntax.survey import Survey, literal_type
from driftwatch.flow.syntax.syntax import Tree
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.symbols import Ref

_IMPORTERS = frozenset({"import_module", "__import__"})

Place = tuple[object, str]
"""A class of the code base and the name of an attribute, or a module and a variable."""


@dataclass(eq=False)
class ModuleCode:
    """One file of the code base.

    `names` are its variables once it has been executed; `completes` the releases in which that works. `relevant` are
    the names that are, or lead to, something of the library.
    """

    path: str
    name: str
    load: Callable[[ModuleCode], tuple[str, Survey | None]] = lambda module: ("", None)
    """Reads the file, when its text is first asked for."""
    names: dict[str, Value] = field(default_factory=dict)
    heap: dict[int, Content] = field(default_factory=dict)
    completes: ReleaseSet = EMPTY
    fails: ReleaseSet = EMPTY
    """Where something in it raises that the analysis went on from, to see the rest."""
    exits: ReleaseSet = EMPTY
    """Where it ends the program when its work is done."""
    skipped: ReleaseSet = EMPTY
    """Where a test runner skips all its tests."""
    may_be_skipped: ReleaseSet = EMPTY
    relevant: set[str] = field(default_factory=set)
    trees: dict[tuple[int, int], Tree] = field(default_factory=dict)
    functions: list[FunctionCode] = field(default_factory=list)
    classes: list[ClassCode] = field(default_factory=list)
    global_writes: dict[str, Value] = field(default_factory=dict)
    published: set[str] = field(default_factory=set)
    """The variables into which others have put something of the library."""
    outside: dict[str, Value] = field(default_factory=dict)
    """What functions have assigned to attributes of objects that nobody can tell."""
    made: dict[str, ReleaseSet] = field(default_factory=dict)
    """Where its classes have been called."""
    made_in_sight: dict[str, bool] = field(default_factory=dict)
    """Whether every call of a class is seen, for those of which somebody has asked."""
    executed: bool = False
    executing: bool = False

    @property
    def is_being_made(self) -> bool:
        """Whether its own statements are being executed."""
        return self.executing

    @cached_property
    def _content(self) -> tuple[list[str], Survey | None]:
        text, survey = self.load(self)
        return text.split("\n"), survey

    @property
    def is_read(self) -> bool:
        """Whether the file has been read and surveyed."""
        return "_content" in vars(self)

    @property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self._content[0]

    @cached_property
    def imports_by_text(self) -> bool:
        """Whether a call of its may import what a text names."""
        pieces = self.survey.pieces if self.survey is not None else ()
        return any(not _IMPORTERS.isdisjoint(piece.mentions | piece.attributes) for piece in pieces)

    @cached_property
    def set_outside(self) -> dict[str, tuple[object, ...] | None]:
        """Attributes that the file assigns on something else than ``self``: whose they are, nobody can tell.

        With each the constants it is assigned; None where it may be anything.
        """
        found: dict[str, tuple[object, ...] | None] = {}
        for piece in self.survey.pieces if self.survey is not None else ():
            for name, times in piece.outside.items():
                constants = tuple(piece.outside_constants.get(name, ()))
                before = found.get(name, ())
                found[name] = None if before is None or len(constants) != times else (*before, *constants)
        return found

    @cached_property
    def literal_types(self) -> dict[str, str]:
        """The types of literals that the file has names for, as they are written: ``Backend = Literal["a", "b"]``."""
        pieces = self.survey.pieces if self.survey is not None else ()
        bound = Counter(name for piece in pieces for name in piece.binds)
        once = (piece.statements[0] for piece in pieces if len(piece.binds) == len(piece.statements) == 1)
        return {name: text for name, text in map(literal_type, once) if text is not None and bound[name] == 1}

    @cached_property
    def changed_in_functions(self) -> frozenset[str] | None:
        """The names of what functions of the file change, attributes after a dot; None when that was not surveyed."""
        if self.survey is None:
            return None
        return frozenset().union(*(piece.changes for piece in self.survey.pieces if piece.defines is not None))

    @property
    def survey(self) -> Survey | None:
        """The first look at the file; None where this Python is too old for its syntax."""
        return self._content[1]


@dataclass(eq=False)
class FunctionCode:
    """A function, method or lambda of the code base.

    `closure` is what an enclosing function's variables were; `owner` the class whose method it is.
    """

    module: ModuleCode
    tree: Tree
    node: cst.FunctionDef | cst.Lambda
    name: str
    qualname: str
    owner: ClassCode | None = None
    closure: Any = None
    reach: ReleaseSet = EMPTY
    """Where the definition was executed."""
    decorators: tuple[str | None, ...] = ()
    wrapped_by: tuple[FunctionCode, ...] = ()
    """What its decorators have put under its name: who calls it by that calls these."""
    wraps: FunctionCode | None = None
    """The method that a decorator has put this one in the place of."""
    patches: tuple[Value, ...] = ()
    """What its decorators replace of the library while it runs."""
    managers: tuple[cst.BaseExpression, ...] = ()
    """The decorators of it that are context managers, the outermost first: each call is executed within them."""
    within: cst.With | None = None
    """Its body as it is executed within these, once somebody has called it."""
    guards: tuple[Guard, ...] = ()
    """The tests behind which it is defined."""
    escaped: ReleaseSet = EMPTY
    """Where somebody driftwatch cannot see may call it."""
    kept: ReleaseSet = EMPTY
    """Where it may be found under another name, or in a container: who calls it by that is followed."""
    perhaps: ReleaseSet = EMPTY
    """Those of them in which a test has decided it that depends on the release and could not be followed."""
    called_later: bool = False
    """Somebody else calls it than a constructor."""
    called: bool = False
    """Somebody calls it, be it from where it is never reached."""
    takes: tuple[ClassCode, ...] = ()
    """The classes of the code base of which its parameters are declared to be instances."""
    skipped: ReleaseSet = EMPTY
    """Where a test runner skips it."""
    may_be_skipped: ReleaseSet = EMPTY
    forwarding: set[cst.CSTNode] = field(default_factory=set)
    """The calls of the library in it that pass on what it is given: who calls it makes them."""
    parent: FunctionCode | None = None
    calls_library: bool = False
    """It calls the library itself, not through others."""
    asks_itself: set[str] = field(default_factory=set)
    """The attributes of its own object that it reads."""
    entered: int = 0
    """How often it has been followed from a call."""
    summary: Summary | None = None
    alone: Reads | None = None
    """What it read when it was last analysed as anyone may call it; None before that."""
    attributes: dict[str, Value] = field(default_factory=dict)
    """What has been assigned to its attributes."""
    is_hook: bool = False
    """It is a property that the class's own methods, or those of a base, ask for: it is reached through these."""
    generator: bool | None = None
    """Whether it yields, once somebody asked."""

    @property
    def escapes(self) -> bool:
        """Whether it goes where it cannot be followed."""
        return bool(self.escaped)

    @property
    def given_guards(self) -> tuple[Guard, ...]:
        """The tests that decide whether there is what its parameters are declared to take."""
        return tuple(guard for code in self.takes for guard in code.guards)

    @property
    def is_private(self) -> bool:
        """Whether only the code base itself calls it: by its own name or, for a method, by its class's."""
        if self.is_hook:
            return True
        if self.owner is not None and is_private_name(self.owner.name) and not self.owner.escapes:
            return True
        return bool(self.wrapped_by) or is_private_name(self.name) or self.name == "__init_subclass__"

    @property
    def kind(self) -> str:
        """``static``, ``class``, ``property`` or ``plain``."""
        if self.owner is not None and self.name in ("__init_subclass__", "__class_getitem__"):
            return "class"
        for name in self.decorators:
            last = (name or "").rpartition(".")[2]
            if last in ("staticmethod", "classmethod"):
                return last.removesuffix("method")
            if last in ("property", "cached_property", "setter", "getter"):
                return "property"
        return "plain"


def is_private_name(name: str) -> bool:
    """Whether a name is private by Python's convention; the special methods' names are not."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


ANY_INSTANCE = "any instance"
"""An instance that a function looks at, which it is called of or given, among the names of its parameters."""


@dataclass(eq=False)
class Reads:
    """What an analysis went by: `places` and when each was first read, and the summaries of what it called."""

    begun: int = 0
    places: dict[Place, int] = field(default_factory=dict)
    summaries: dict[int, tuple[FunctionCode, Summary]] = field(default_factory=dict)

    @cached_property
    def everywhere(self) -> frozenset[Place]:
        """All places, with those that the summaries went by."""
        found, waiting, seen = set(self.places), list(self.summaries.values()), set(self.summaries)
        for _, summary in waiting:
            found.update(summary.reads.places)
            waiting.extend(each for key, each in summary.reads.summaries.items() if key not in seen)
            seen.update(summary.reads.summaries)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a call of a function does, its arguments unknown.

    `effects` no longer change: those that it `changes` are the containers that were there before, and
    `branches_on_parameters` counts where a test decides whether something is in what it makes. `varies`: the parameters
    of which is made what it gives, or has made, or which have chosen it; `ANY_INSTANCE` is one of whose kind it takes
    it to be. `reads`: what it went by that others may change. `made`: the containers that it has made itself, and gives
    back or leaves in what it was called of. `constructs` is the instance that a constructor was called of.
    `conditional`: whether it completes a test decides that depends on the release and could not be followed. `had`:
    where there is what its parameters are declared to take. `work` is how many statements it executes.
    """

    returns: Value
    completes: ReleaseSet
    effects: Effects
    varies: frozenset[str]
    heap: dict[int, Content]
    reaches: Mapping[Ref, ReleaseSet]
    """What it reaches of the library, and where."""
    reads: Reads
    made: Mapping[int, Content]
    constructs: int | None
    conditional: ReleaseSet
    had: ReleaseSet
    work: int


@dataclass(frozen=True)
class Lineage:
    """The classes of the code base that one descends from, itself first, in lookup order; and the other bases' values.

    `whole` is false where there are more than are followed.
    """

    order: list[ClassCode]
    others: list[Value]
    whole: bool


@dataclass(eq=False)
class ClassCode:
    """A class of the code base. `attributes` joins everything ever assigned to an instance's attribute."""

    module: ModuleCode
    tree: Tree
    node: cst.ClassDef
    name: str
    bases: Value = field(default_factory=Value)
    base_values: tuple[Value, ...] = ()
    lineage: Lineage | None = None
    """What it descends from, once somebody has asked; `driftwatch.flow.domain.lineage` keeps it true."""
    methods: dict[str, FunctionCode] = field(default_factory=dict)
    decorated: dict[str, Value] = field(default_factory=dict)
    """Methods that are not the same function in every release, and of those, what is the class's own."""
    chosen: list[FunctionCode] = field(default_factory=list)
    setters: dict[str, FunctionCode] = field(default_factory=dict)
    """What is called when a property is assigned to."""
    constants: dict[str, Value] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    ghosts: dict[str, tuple[Value, Value]] = field(default_factory=dict)
    """Of attributes that are set where the program has ended: what is set elsewhere, and what there."""
    set_on_class: dict[str, Value] = field(default_factory=dict)
    """What has been assigned to an attribute of the class itself, after its body was executed."""
    set_later: dict[str, dict[FunctionCode, Value]] = field(default_factory=dict)
    """What its methods, others than constructors, set on any instance."""
    left: Mapping[Key, Entry] = field(default_factory=dict)
    """What its constructor, analysed by itself, leaves in the attributes of an instance."""
    set_after: set[str] = field(default_factory=set)
    """The attributes that something else than a constructor of its own sets on one of its instances."""
    set_in_methods: frozenset[str] | None = None
    """The attributes that its methods set, as it is written; None as long as nobody has asked."""
    told_apart: dict[str, set[Value]] = field(default_factory=dict)
    """What attributes of its instances hold that tells something about the library, each as one of them has it."""
    heap: dict[int, Content] = field(default_factory=dict)
    reach: ReleaseSet = EMPTY
    constructible: ReleaseSet | None = None
    """Where its constructor completes, once that is known."""
    guards: tuple[Guard, ...] = ()
    """The tests that its constructor passes."""
    library_bases: list[tuple[ReleaseSet, Ref]] = field(default_factory=list)
    subclasses: dict[ClassCode, None] = field(default_factory=dict)
    """The classes of the code base that derive from it directly, as far as they have been met."""
    shares: dict[str, int | bool | None] = field(default_factory=dict)
    """The heap number of the dict in an attribute that all methods share; False where it is not shared."""
    skipped: ReleaseSet = EMPTY
    """Where a test runner skips all its tests."""
    may_be_skipped: ReleaseSet = EMPTY
    parent: FunctionCode | None = None
    remade: bool = False
    """A decorator of another package has been given it, which may have written its constructor."""
    escaped: ReleaseSet = EMPTY
    """Where it, or an instance of it, goes where it cannot be followed."""
    kept: ReleaseSet = EMPTY
    """Where it, or an instance of it, may be found under another name, or in a container."""
    perhaps: ReleaseSet = EMPTY
    """Those of them in which a test has decided it that depends on the release and could not be followed."""
    passed_over: bool = False
    """It was looked at because somebody asked for it; its methods are not analysed by themselves."""
    changed: bool = False
    """Something was learnt about its attributes since it was last analysed."""

    @property
    def is_being_made(self) -> bool:
        """Whether the statements of its module are being executed."""
        return self.module.executing

    @property
    def escapes(self) -> bool:
        """Whether it goes where it cannot be followed."""
        return bool(self.escaped)
