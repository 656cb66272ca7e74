"""The interpreter's machine: the current state, the call stack, and the few operations everything else is made of.

`Run` holds no knowledge of Python's grammar; the modules `expressions`, `conditions`, `calls` and `statements` do, each
as functions over a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.contents import Arguments, Content, DictContent, ListContent
from driftwatch.flow.domain.effects import Effects
from driftwatch.flow.domain.endings import ends_with, taken_by
from driftwatch.flow.domain.exceptions import ANYTHING, Flight, catches, judge, raised_of
from driftwatch.flow.domain.faults import Fault, Flying, Ledger
from driftwatch.flow.domain.frames import NO_PURPOSE, Frame, Handling, Purpose, Recording, Waiting
from driftwatch.flow.domain.guard import Guard
from driftwatch.flow.domain.state import State, join_states
from driftwatch.flow.domain.taint import derived_from, is_tainted, of_parameter
from driftwatch.flow.domain.values import (
    Atom,
    Class,
    DictRef,
    Function,
    Instance,
    Lazy,
    LibObject,
    ListRef,
    Raised,
    Value,
)
from driftwatch.flow.domain.within_containers import tainted_within_containers
from driftwatch.flow.interpreter.shared import CONTENTS, changed_content, keep_elsewhere
from driftwatch.flow.uses import Catch, Location, Outcome, Step, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.symbols import Ref

if TYPE_CHECKING:
    from driftwatch.flow.interpreter.world import World
    from driftwatch.flow.syntax.syntax import Tree

MAX_DEPTH = 12
"""How many calls deep the code base's own functions are followed."""


MAX_REPEATS = 64
"""How often loops in loops may repeat a statement."""


class Run:
    """One execution. `state` and `frame` are the current ones; both are replaced as it goes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.semantics = world.semantics
        self.history = world.history
        self.target = world.target
        self.recorder = world.recorder
        self.state = State(world.all_releases)
        self.frame: Frame = world.no_frame
        self.repeats = 1
        """How often the innermost loop's body is executed, by all the loops round it."""
        self.eager = 0
        """Above zero while the arguments of a call of the library are evaluated: what was passed over is looked at."""
        self.purpose = NO_PURPOSE
        """What is about to be done with the value of the expression that is evaluated."""
        self.ledger = Ledger(world.recorder)
        self.waiting: dict[int, Waiting] = {}
        """The calls that were put off."""
        self.handling: list[Handling] = []
        """The handlers that are being executed, innermost last."""
        self.made: set[int] = set()
        """The instances that have been made in this execution."""

    @property
    def effects(self) -> Effects:
        """What is done in the current activation that its caller has to know."""
        return self.frame.effects

    @property
    def recording(self) -> Recording:
        return self.frame.recording

    # -- evaluation ------------------------------------------------------------------------------------------------

    def eval(
        self, node: cst.CSTNode, *, callee: bool = False, to: str | None = None, parts: int | None = None
    ) -> Value:
        """The value of an expression in the current state, which it may change; `to` and `parts` say what for."""
        if to is None:
            return self.semantics.evaluate(self, node, callee)
        outer, self.purpose = self.purpose, Purpose(node, to, parts)
        try:
            return self.semantics.evaluate(self, node, callee)
        finally:
            self.purpose = outer

    def branch(self, node: cst.BaseExpression) -> tuple[State, State]:
        """Evaluate a test: the states in which it holds and in which it does not."""
        return self.semantics.branch(self, node)

    def block(self, body: Iterable[cst.CSTNode]) -> None:
        """Execute statements in order, for as long as there is a release in which they are reached."""
        budget, execute = self.frame.budget, self.semantics.execute
        for statement in body:
            if not self.state.reach.mask:
                return
            budget.left -= 1
            execute(self, statement)

    def call(self, value: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """Call a value."""
        return self.semantics.call(self, value, arguments, node)

    def call_external(self, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        """Call a builtin or an object of another package."""
        return self.semantics.model(self, dotted, arguments, node)

    def apart(self, frame: Frame, state: State | None = None) -> Run:
        """Another execution in the same world, which leaves this one's state alone."""
        other = Run(self.world)
        other.frame, other.ledger, other.handling, other.waiting = frame, self.ledger, self.handling, self.waiting
        if state is not None:
            other.state = state
        return other

    @contextmanager
    def repeated(self, number: int) -> Iterator[None]:
        """What is inside is executed so often, and knows it."""
        outer = self.repeats
        self.repeats = outer * max(number, 1)
        try:
            yield
        finally:
            self.repeats = outer

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """What is inside is one turn of a loop: what it makes is not what another turn makes."""
        frame, outer = self.frame, self.frame.turns
        frame.turns = (*outer, number)
        try:
            yield
        finally:
            frame.turns = outer

    def bears(self, number: int) -> bool:
        """Whether what is executed here may be repeated so often."""
        return self.repeats * number <= MAX_REPEATS and not self.frame.budget.spent

    # -- containers ------------------------------------------------------------------------------------------------

    def new_dict(self, site: object, content: DictContent) -> Value:
        key = self.number(site, "dict")
        self.state.heap[key] = content
        return Value(((self.state.reach, DictRef(key)),))

    def number(self, site: object, *what: object) -> int:
        """The heap number of what is made at a place: another one in each turn of a loop."""
        return self.world.identities.number(site, self.frame.uid, *what, *self.frame.turns)

    def new_list(self, site: object, content: ListContent, index: int = 0) -> Value:
        """A list made at a place; `index` tells apart those that one place makes side by side."""
        key = self.number(site, "list", index)
        self.state.heap[key] = content
        return Value(((self.state.reach, ListRef(key)),))

    def content(self, key: int) -> Content | None:
        shared = self.world.shared.get(key)
        if shared is None:
            known = self.state.heap.get(key)
            home = self.world.homes.get(key) if known is None else None
            return known if home is None else home.heap.get(key)
        shared.readers.add(self.frame.module)
        self.world.dependencies.read(shared, CONTENTS)
        known = self.state.heap.get(key)
        return known if known is not None else shared.content()

    def dict_at(self, key: int) -> DictContent:
        """The content of a dict, or of an instance."""
        content = self.content(key)
        return content if isinstance(content, DictContent) else DictContent()

    def change(self, key: int, content: Content) -> None:
        """A container of the heap becomes this."""
        self.state.heap[key] = content
        self.effects.changes.add(key)
        home = self.world.homes.get(key)
        if home is not None and not home.is_being_made and key not in self.world.shared:
            keep_elsewhere(self.world, home, key, content, self.state.heap)
        if key in self.world.shared:
            changed_content(self.world, key, content, self.state.heap)

    @property
    def entry(self) -> Frame:
        """The activation that all others were called from."""
        frame = self.frame
        while frame.caller is not None:
            frame = frame.caller
        return frame

    @property
    def in_module(self) -> bool:
        """Whether a module is being executed, be it that functions are called there."""
        return self.entry.function is None

    @property
    def in_constructor(self) -> bool:
        """Whether this happens while an instance is made."""
        return any(True for _ in self.frame.constructed())

    # -- control flow ----------------------------------------------------------------------------------------------

    def catch(self, exception: str) -> Catch:
        """What becomes of an exception raised here."""
        return judge(exception, self.frame.stack())

    def may_raise(self, kind: str = ANYTHING) -> None:
        """Something runs here that may raise: the handlers round it may be entered from this state."""
        frame: Frame | None = self.frame
        state = self.state
        if self.handling and state.faults:
            # What a handler does may fail in theory; that is no way on which the fault goes on.
            flying = self._flying(state)
            state = state.fork()
            state.faults = {taken: where for taken, where in state.faults.items() if taken.fault not in flying}
        reach, left = state.reach.mask, list[Frame]()
        while frame is not None and reach:
            if frame.tries:
                # The state is of use to handlers alone.
                for each in left:
                    state = self._in_caller(each, state)
                left.clear()
                for attempt in reversed(frame.tries):
                    attempt.may_raise(kind, state)
                    if attempt.takes_all(kind):
                        return
            frame.effects.raises.add(kind)
            call = frame.call
            if call is None or call.detached:
                return
            reach &= call.state.reach.mask
            left.append(frame)
            frame = call.caller

    def _in_caller(self, frame: Frame, state: State) -> State:
        """The state of a frame's caller in which something gets out of it: only to look at, whoever keeps it forks."""
        if frame.call is None:
            return state
        before = frame.call.state
        variables = frame.outside(state) or before.vars
        return State(state.reach & before.reach, variables, state.heap, on_the_way_of=state)

    def _flying(self, state: State) -> Flying:
        """The faults whose handlers are being executed: what is raised now is raised in their place."""
        if not self.handling or not state.faults:
            return {}
        active = {each.owner for each in self.handling}
        return {t.fault: where & state.reach for t, where in state.faults.items() if t.owner in active}

    def throw(
        self, exception: str | Raised, releases: ReleaseSet, fault: Fault | None = None, place: object = None
    ) -> None:
        """Send an exception to the handler that takes it, in these releases.

        The current state is not changed: whether the program goes on here is for the caller to say. `place` is where
        the program ends where nobody takes it.
        """
        raised = raised_of(exception) if isinstance(exception, str) else exception
        state = self.state.fork(releases & self.state.reach)
        flying = self._flying(state) if fault is None else {fault: state.reach}
        self.send(Flight(raised, state, flying, place if fault is None else fault))

    def stumbles(self, exception: str, where: ReleaseSet, surely: ReleaseSet) -> None:
        """Something may, or surely does, lack what is asked of it: the end, if that comes of what was swallowed."""
        if self.state.faults or self.is_caught(exception):
            self.throw(exception, where)
        for releases in self.state.faults.values():
            self.state.ghost |= releases & surely

    def send(self, flight: Flight) -> None:
        """Send an exception on from here."""
        raised, state, flying = flight.raised, flight.state, flight.faults
        frame: Frame | None = self.frame
        while frame is not None and state.reach:
            for attempt in reversed(frame.tries):
                if attempt.stops is not None:
                    attempt.stops.append(Flight(raised, state, flying, flight.place))
                    return
                for handler in attempt.handlers:
                    takes = catches(handler, raised)
                    if takes is False:
                        continue
                    entry = state.fork()
                    entry.faults = taken_by(handler, attempt, state, flying)
                    handler.entries.append((raised, entry))
                    if takes:
                        return
            frame.effects.raises.add(raised.names[0])
            if frame.call is not None and frame.call.detached:
                break
            state = self._in_caller(frame, state).fork()
            frame = frame.caller
        if state.reach:
            self.ledger.ended(state, flying, flight.place or (raised.names, self.frame.function), ends_with(raised))

    def undecided(self, holds: State, fails: State, where: ReleaseSet) -> None:
        """A test that depends on the release lets both ways through in these releases: nobody can tell which it is."""
        where = where & holds.reach & fails.reach if where.mask else where
        if where.mask:
            test = self.world.identities.test()
            holds.assume(test, True, where)
            fails.assume(test, False, where)

    def fails_import(self, where: ReleaseSet) -> None:
        """An exception nobody takes is raised here: while a module is executed, that is the end of importing it."""
        entry = self.entry
        if entry.function is None and entry.script is None:
            entry.module.fails |= where

    def hides(self, exception: str) -> bool:
        """Whether somebody here may take an exception, and go on as if nothing had happened."""
        return self.catch(exception).outcome is Outcome.SILENT or any(each.manages for each in self.frame.stack())

    def is_caught(self, exception: str | Raised) -> bool:
        """Whether a handler takes an exception raised here, even if it raises another one then."""
        return any(catches(h, exception) for attempt in self.frame.stack() for h in attempt.handlers)

    # -- places ----------------------------------------------------------------------------------------------------

    def tree_of(self, node: cst.CSTNode) -> Tree:
        """The syntax that a node belongs to; a call that was put off may have been written in another file."""
        return self.world.put_off.get(node, self.frame.tree)

    def location(self, node: cst.CSTNode) -> Location:
        return self.tree_of(node).location(node)

    def step(self, node: cst.CSTNode, note: str) -> Step:
        return self.tree_of(node).step(node, note)

    def record(self, use: Use) -> None:
        """Something of the library is used here."""
        self.recorder.add(self.conditioned(use))

    def conditioned(self, use: Use) -> Use:
        """A use with the releases in which it is met only under a condition that could not be followed."""
        conditional = self.state.conditional
        return replace(use, conditional=conditional & use.releases) if conditional else use

    def unresolved(self, node: cst.CSTNode, reason: str) -> None:
        if self.recording.records:
            tree = self.tree_of(node)
            self.recorder.unresolved(tree.path, tree.line(node), reason)

    def lost(self, node: cst.CSTNode, reason: str) -> None:
        """Something of the library gets out of sight here, whoever's it is: the caller's, when a call is followed."""
        if not self.recording.muted:
            tree = self.tree_of(node)
            self.recorder.unresolved(tree.path, tree.line(node), reason)

    def touch(self) -> None:
        """The library is reached from here, and from wherever this was called."""
        frame: Frame | None = self.frame
        while frame is not None and not frame.effects.uses_library:
            frame.effects.uses_library = True
            frame = frame.caller

    @property
    def path(self) -> tuple[Guard, ...]:
        """The tests that led here from the entry point."""
        return self.recording.coverage.path if self.recording.coverage is not None else ()

    def go_back(self, path: tuple[Guard, ...]) -> None:
        """What follows is behind these tests and no others."""
        if self.recording.coverage is not None:
            self.recording.coverage.path = path

    def behind(self, test: cst.CSTNode, way: ReleaseSet, other: ReleaseSet) -> None:
        """What follows is behind a test, on the way that may be taken in these releases; the other way in those."""
        if self.recording.coverage is not None:
            self.recording.coverage.take(self.frame.tree, test, way, other)

    def reaches(self, node: cst.CSTNode, symbol: Ref, where: ReleaseSet) -> None:
        """A place is reached that is there for the library."""
        if self.recording.coverage is not None:
            self.recording.coverage.reach(node, symbol, where)

    def asks_constant(self, atom: Atom) -> bool:
        """What happens here depends on the text or number that a parameter of the current function is, if it is one."""
        content = self.content(atom.key) if isinstance(atom, ListRef) else None
        given = (of_parameter(atom) and not atom.part) or (isinstance(content, ListContent) and bool(content.forwarded))
        if given:
            self.effects.depends_on_parameters = self.effects.depends_on_constants = True
        return given

    def combine(self, releases: ReleaseSet, *values: Value) -> Value:
        """What an operation that is not understood makes of values.

        Where the library decides on one side and a parameter on the other, a caller who gives a constant may know.
        """
        made = derived_from(releases, *(tainted_within_containers(value, self.content) for value in values))
        if any(is_tainted(atom) and of_parameter(atom) and not atom.part for _, atom in made.alternatives):
            self.asks_of_library(*values)
        return made

    def asks_of_library(self, *values: Value) -> None:
        """What the library is asked here depends on the text or number that a parameter is, if one of these is."""
        for value in values:
            for _, atom in value.alternatives:
                if self.asks_constant(atom):
                    self.touch()

    def asks(self, atom_parameter: str | None) -> None:
        """What happens here depends on a parameter of the current function."""
        if atom_parameter is not None:
            self.effects.depends_on_parameters = True


def settle(run: Run, states: Sequence[State | None]) -> None:
    """Go on from where any of these states is; from nowhere when there is none."""
    merged: State | None = None
    for state in states:
        merged = join_states(merged, state)
    run.state = merged if merged is not None else State(EMPTY)


def escape(run: Run, value: Value) -> None:
    """A value goes where it cannot be followed: what is private in it may be used by anyone."""
    for where, atom in value.alternatives:
        if type(atom) in _WRITTEN and isinstance(atom, (Function, Instance, Class)):
            _may_be_met(run, atom.code, where)
            atom.code.escaped |= where


_WRITTEN = frozenset({Function, Instance, Class})
"""What is the code base's own."""


def _may_be_met(run: Run, code: FunctionCode | ClassCode, where: ReleaseSet) -> None:
    """Something is put where others find it: perhaps, where a test that could not be followed decides each time."""
    perhaps, before = run.state.conditional & where, code.kept | code.escaped
    code.perhaps = (code.perhaps & perhaps) | (code.perhaps - where) | (perhaps - before)


def keep(run: Run, node: cst.CSTNode, *, to: str | None = None, parts: int | None = None) -> Value:
    """The value of an expression that is kept in a variable or a container: who uses it by that is followed."""
    value = run.eval(node, callee=True, to=to, parts=parts)
    for where, atom in value.alternatives:
        if type(atom) in _WRITTEN and isinstance(atom, (Function, Instance, Class)):
            _may_be_met(run, atom.code, where)
            atom.code.kept |= where
        elif type(atom) is LibObject and isinstance(node, cst.Attribute):
            run.reaches(node, atom.ref, where)
    return value


def as_alternatives(value: Value, reach: ReleaseSet) -> list[tuple[ReleaseSet, Atom]]:
    """A value's alternatives within some releases."""
    inside, alternatives = reach.mask, value.alternatives
    if len(alternatives) == 1 and alternatives[0][0].mask & ~inside == 0 != alternatives[0][0].mask:
        return [alternatives[0]]
    return [(where & reach, atom) for where, atom in alternatives if where.mask & inside]


def lists_of(run: Run, atom: Atom) -> ListContent | None:
    """The content of a list or tuple atom, when it is one."""
    if type(atom) is Lazy:
        atom = _written_out(run, atom)
    if type(atom) is ListRef:
        content = run.content(atom.key)
        return content if isinstance(content, ListContent) else None
    return None


def _written_out(run: Run, atom: Lazy) -> Atom:
    known = run.world.modules.written_out(atom)
    return (known.single() if known is not None else None) or atom


def dict_of(run: Run, atom: Atom) -> DictContent | None:
    """The content of a dict atom, when it is one."""
    if type(atom) is Lazy:
        atom = _written_out(run, atom)
    if type(atom) is DictRef:
        content = run.content(atom.key)
        return content if isinstance(content, DictContent) else None
    return None
