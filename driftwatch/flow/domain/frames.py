"""What a run is in the middle of: loops, calls, handlers, and calls that are put off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst

from driftwatch.flow.domain.budget import Budget
from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode
from driftwatch.flow.domain.coverage import Coverage
from driftwatch.flow.domain.exceptions import Handler, Try
from driftwatch.flow.domain.state import Arguments, State
from driftwatch.flow.domain.values import Alternative, Atom, Deferred, Value
from driftwatch.flow.syntax.syntax import Tree
from driftwatch.flow.uses import Step


@dataclass(eq=False)
class Loop:
    """A loop being executed: the states in which it is left early or goes round."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """A call in a loop as it was about to be followed, with all that it may depend on.

    `around` are the handlers round it, the tests that led there, and how much had changed elsewhere; `faults` how many
    uses had failed by then.
    """

    callee: FunctionCode
    bound: Atom | None
    arguments: Arguments
    state: State
    around: tuple[object, ...]
    faults: int


@dataclass(eq=False)
class Frame:
    """One activation: a module's body, a class body or a function's.

    `records` says whether uses met here are this frame's own to record; in a function that is also analysed by itself
    they are not, but for what depends on the caller. `entered` is the caller's state at the call.
    """

    module: ModuleCode
    tree: Tree
    function: FunctionCode | None = None
    caller: Frame | None = None
    call: tuple[Tree, cst.CSTNode] | None = None
    entered: State | None = None
    records: bool = True
    muted: bool = False
    depth: int = 0
    uid: int = 0
    turns: tuple[int, ...] = ()
    """Which turn of each loop is executed: what one makes is not what another one makes."""
    constructs: bool = False
    """A constructor is analysed by itself: another time, what is made here is the same."""
    is_script: bool = False
    """A module is executed as the program, not imported."""
    started: cst.CSTNode | None = None
    """The last that it does then, when that is an expression."""
    detached: bool = False
    """What is done here is done later, and perhaps elsewhere: a generator that is kept, or a coroutine."""
    calls: dict[int, int] = field(default_factory=dict)
    """How often each call has been followed from here."""
    settled: dict[int, tuple[Followed, Value]] = field(default_factory=dict)
    """For a call in a loop: how it was made when it left all as it was, and what it gave."""
    closure: tuple[dict[str, Value], ...] = ()
    tries: list[Try] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    returns: list[tuple[State, Value]] = field(default_factory=list)
    yields: list[Alternative] = field(default_factory=list)
    """What is yielded."""
    given_out: int | None = None
    """The heap number of the list of it, in a generator that is gone through."""
    at_yield: Callable[[Value], None] | None = None
    """What is done where it yields: the block of a ``with``."""
    mark: str = ""
    """What the caller's variables bear, as that block leaves them, among those of the generator."""
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    asks_parameters: bool = False
    asks_constants: bool = False
    """What happens depends on the text or number that a parameter is."""
    chooses: bool = False
    """A test of what a parameter is decides what is done."""
    leaves_open: bool = False
    """A call of the library passes what is not known here, and may be to somebody who calls this."""
    forwards: bool = False
    """A call of the library passes on what the function's own caller gives."""
    uses_library: bool = False
    fills: bool = False
    """Something that it is given may be changed here: a container gets other content."""
    hands_over: bool = False
    """Something that it is given goes on to somebody who may change it."""
    sets: bool = False
    """An attribute of an instance is set here."""
    looks_at: set[str] = field(default_factory=set)
    """Attributes that are read here of any instance."""
    changed: set[int] = field(default_factory=set)
    """The containers whose content is changed here."""
    owner: ClassCode | None = None
    budget: Budget = field(default_factory=Budget)
    coverage: Coverage | None = None
    """What the entry point that this belongs to reaches of the library; None where nothing is recorded of it."""
    given: frozenset[FunctionCode] = frozenset()
    """Functions that a recording caller passed in: what they do here is recorded here, whoever calls them."""
    raises: set[str] = field(default_factory=set)
    """What may be raised out of it: `exceptions.ANYTHING`, `FOREIGN` or names of exceptions."""
    defined: list[FunctionCode] = field(default_factory=list)
    classes: list[ClassCode] = field(default_factory=list)
    handed_out: set[FunctionCode] = field(default_factory=set)
    """Functions defined here that were returned to a caller that is known."""
    taken_over: list[FunctionCode] = field(default_factory=list)
    """Functions that a followed call has returned: from here on it shows who calls them."""

    def stack(self) -> list[Try]:
        """Every ``try`` round this point, callers' included, outermost first."""
        outer = self.caller.stack() if self.caller is not None and not self.detached else []
        return [*outer, *(each for attempt in self.tries for each in (*attempt.around, attempt))]

    @property
    def keeps_variables(self) -> bool:
        """Whether its variables are asked for when it has ended: by functions that it defines, or by its caller."""
        return bool(self.defined or self.classes or self.taken_over or self.nonlocals or self.globals or self.mark)

    def outside(self, state: State) -> dict[str, Value] | None:
        """The caller's variables, as far as they are kept in a state of this frame."""
        if not self.mark:
            return None
        size = len(self.mark)
        return {name[size:]: value for name, value in state.vars.items() if name.startswith(self.mark)} or None

    def way_in(self) -> tuple[Step, ...]:
        """The calls that led here, for the trace."""
        if self.caller is None or self.call is None:
            return ()
        tree, node = self.call
        name = self.function.qualname if self.function else "the module"
        return (*self.caller.way_in(), tree.step(node, f"calls {name}"))


@dataclass(frozen=True, slots=True)
class Handling:
    """A handler, or a ``finally``, that is being executed in a frame, and what it has taken."""

    owner: Handler | Try
    caught: Value
    frame: Frame


@dataclass(slots=True)
class Waiting:
    """A call that was put off in a frame and a state, and whether it has been made since.

    `dropped`: nobody has kept what would tell what came of it.
    """

    frame: Frame
    state: State
    atom: Deferred
    made: bool = False
    dropped: bool = False
