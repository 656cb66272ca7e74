"""What a run is in the middle of: loops, calls, handlers, and calls that are put off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from driftwatch.flow.domain.budget import Budget
from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode
from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.coverage import Coverage
from driftwatch.flow.domain.effects import Effects
from driftwatch.flow.domain.exceptions import Handler, Try
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import Alternative, Deferred, Function, Value
from driftwatch.flow.syntax.survey import CONSTRUCTORS
from driftwatch.flow.syntax.syntax import Tree
from driftwatch.flow.uses import Step


@dataclass(eq=False)
class Loop:
    """A loop being executed: the states in which it is left early or goes round, and the variables of its target."""

    names: frozenset[str] = frozenset()
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Who records the uses of an activation: with `records` it is its own, else who calls it or the entry point.

    A function that is also analysed by itself leaves them to that analysis, but for what depends on the caller.
    `muted`: nothing of it is told at all. `given` are functions that a recording caller has passed in: what they do is
    recorded, whoever calls them. `coverage` is what the entry point reaches of the library; None where nobody asks.
    """

    records: bool = True
    muted: bool = False
    given: frozenset[FunctionCode] = frozenset()
    coverage: Coverage | None = None

    def records_in(self, function: FunctionCode) -> bool:
        """Whether what a function does when it is called from here is recorded here: nobody else records it."""
        if function.escapes or not (function.is_private or function.closure is not None):
            return False
        return self.records or function in self.given

    def of_call(self, function: FunctionCode, arguments: Arguments) -> Recording:
        """The recording of a function that is called from here."""
        passed = {a.code for value in arguments.values() for _, a in value.alternatives if isinstance(a, Function)}
        given = self.given | {code for code in passed if self.records or code in self.given}
        return Recording(self.records_in(function), self.muted, given, self.coverage)


SILENT = Recording(records=False, muted=True)
"""What is executed to see what it gives."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """How an activation came to be: from which frame, at which place, and in which of its states.

    `place` is None for the body of a class. `detached`: it is executed later, and perhaps elsewhere, as a generator
    that is kept is. `at_yield` is what is done where a context manager's generator yields: the block of a ``with``.
    """

    caller: Frame
    place: tuple[Tree, cst.CSTNode] | None
    state: State
    depth: int
    detached: bool = False
    at_yield: Callable[[Value], None] | None = None


@dataclass(slots=True)
class Definitions:
    """What an activation defines, and what it is left with of what others have defined."""

    functions: list[FunctionCode] = field(default_factory=list)
    classes: list[ClassCode] = field(default_factory=list)
    returned: set[FunctionCode] = field(default_factory=set)
    """Its functions that were returned to a caller that is known."""
    taken_over: list[FunctionCode] = field(default_factory=list)
    """Functions that a followed call has returned: from here on it shows who calls them."""

    def __bool__(self) -> bool:
        return bool(self.functions or self.classes or self.taken_over)


@dataclass(eq=False, slots=True)
class Frame:
    """One activation: of a module's body, a class body or a function. `call` is None where nobody has called it.

    `uid` is the number of the activation, `turns` which turn of each loop is executed: what one makes is not what
    another one makes. `constructs`: a constructor is analysed by itself, and another time, what it makes is the same.
    """

    module: ModuleCode
    tree: Tree
    function: FunctionCode | None = None
    owner: ClassCode | None = None
    closure: tuple[dict[str, Value], ...] = ()
    call: Call | None = None
    recording: Recording = field(default_factory=Recording)
    budget: Budget = field(default_factory=Budget)
    uid: int = 0
    constructs: bool = False
    turns: tuple[int, ...] = ()
    script: cst.BaseSuite | None = None
    """The body that a module executes as the program alone, not where it is imported."""
    tries: list[Try] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    returns: list[tuple[State, Value]] = field(default_factory=list)
    yields: list[Alternative] = field(default_factory=list)
    """What is yielded."""
    given_out: int | None = None
    """The heap number of the list of it, in a generator that is gone through."""
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    calls: dict[int, int] = field(default_factory=dict)
    """How often each call has been followed from here."""
    defined: Definitions = field(default_factory=Definitions)
    effects: Effects = field(default_factory=Effects)

    @property
    def caller(self) -> Frame | None:
        return self.call.caller if self.call is not None else None

    @property
    def depth(self) -> int:
        """How many calls are being followed."""
        return self.call.depth if self.call is not None else 0

    def constructed(self) -> Iterator[ClassCode]:
        """The classes whose constructors are being executed, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            function = frame.function
            if function is not None and function.owner is not None and function.name in CONSTRUCTORS:
                yield function.owner
            frame = frame.caller

    def stack(self) -> list[Try]:
        """Every ``try`` round this point, callers' included, outermost first."""
        call = self.call
        outer = call.caller.stack() if call is not None and not call.detached else []
        return [*outer, *(each for attempt in self.tries for each in (*attempt.around, attempt))]

    @property
    def mark(self) -> str:
        """What the caller's variables bear among those of a context manager's generator that is executed."""
        return f"\0{self.uid}\0" if self.call is not None and self.call.at_yield is not None else ""

    @property
    def keeps_variables(self) -> bool:
        """Whether its variables are asked for when it has ended: by functions that it defines, or by its caller."""
        return bool(self.defined or self.nonlocals or self.globals or self.mark)

    def outside(self, state: State) -> dict[str, Value] | None:
        """The caller's variables, as far as they are kept in a state of this frame."""
        mark = self.mark
        if not mark:
            return None
        size = len(mark)
        return {name[size:]: value for name, value in state.vars.items() if name.startswith(mark)} or None

    def way_in(self) -> tuple[Step, ...]:
        """The calls that led here, for the trace."""
        if self.call is None or self.call.place is None:
            return ()
        tree, node = self.call.place
        name = self.function.qualname if self.function else "the module"
        return (*self.call.caller.way_in(), tree.step(node, f"calls {name}"))


ENTER, AWAIT, KEEP = "enter", "await", "keep"
"""What is done with a value: a ``with`` enters it, it is awaited, or it is bound to a variable or returned."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What whoever evaluates an expression does with its value next; `parts` is into how many it is unpacked."""

    node: cst.CSTNode | None = None
    to: str = ""
    parts: int | None = None

    def is_to(self, to: str, node: cst.CSTNode) -> bool:
        return self.node is node and self.to == to


NO_PURPOSE = Purpose()


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
