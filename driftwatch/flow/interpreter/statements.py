"""Statements: what executing one does to the state, and where control goes from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from driftwatch.flow.domain.contents import Entry
from driftwatch.flow.domain.frames import KEEP, Loop
from driftwatch.flow.domain.guard import Guard
from driftwatch.flow.domain.state import State, join_states
from driftwatch.flow.domain.taint import is_tainted
from driftwatch.flow.domain.values import Value, const, unknown
from driftwatch.flow.interpreter.assignment import (
    assign,
    execute_annotated,
    execute_assign,
    execute_augmented,
    execute_delete,
)
from driftwatch.flow.interpreter.classes import define_class
from driftwatch.flow.interpreter.containers import turns_over
from driftwatch.flow.interpreter.deferred import drop
from driftwatch.flow.interpreter.definitions import define_function
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.exceptional import execute_raise, execute_try, tell_caller
from driftwatch.flow.interpreter.functions import is_generator
from driftwatch.flow.interpreter.generators import iterated
from driftwatch.flow.interpreter.imports import execute_import, execute_import_from
from driftwatch.flow.interpreter.managers import execute_with
from driftwatch.flow.interpreter.matching import execute_match
from driftwatch.flow.interpreter.names import assign_name, declare_outer
from driftwatch.flow.interpreter.run import Run, escape, keep, settle
from driftwatch.releases import EMPTY

MAX_RETRIES = 12
"""How often the body of a loop is executed beyond that, while what it tries fails."""

LOOP_ROUNDS = 2
"""How often the body of a loop over unknown elements is executed: what one round leaves, the next one sees."""


def execute(run: Run, node: cst.CSTNode) -> None:
    """Execute one statement in the current state."""
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        handler(run, node)


def _simple_line(run: Run, node: cst.SimpleStatementLine) -> None:
    run.block(node.body)


def _expression(run: Run, node: cst.Expr) -> None:
    drop(run, run.eval(node.value))


def _global(run: Run, node: cst.Global | cst.Nonlocal) -> None:
    names = [item.name.value for item in node.names]
    (run.frame.globals if isinstance(node, cst.Global) else run.frame.nonlocals).update(names)
    if run.frame.function is not None:
        for name in names:
            declare_outer(run, name)


# -- branches ----------------------------------------------------------------------------------------------------------


def _if(run: Run, node: cst.If) -> None:
    """An ``if`` and each ``elif`` after it: there may be any number, none is executed within another."""
    taken: list[tuple[State, tuple[Guard, ...], tuple[Guard, ...]]] = []
    rest: cst.If | cst.Else | None = node
    while isinstance(rest, cst.If) and (run.state.reach or not taken):
        path = run.path
        after, behind = _take(run, rest)
        taken.append((after, path, behind))
        rest = rest.orelse
    if isinstance(rest, cst.Else):
        run.block(rest.body.body)
    for after, path, behind in reversed(taken):
        if after.reach:
            # Where one of the ways ends, what follows is behind the test as well.
            run.go_back(path if run.state.reach else behind)
        settle(run, [after, run.state])


def _take(run: Run, node: cst.If) -> tuple[State, tuple[Guard, ...]]:
    """The way on which a test holds to its end, and the tests that it is behind; the other way goes on."""
    holds, fails = run.branch(node.test)
    path, here, elsewhere = run.path, holds.reach, fails.reach
    run.state = holds
    run.behind(node.test, here, elsewhere)
    if _asks_for_script(run, node.test):
        outer, run.frame.script = run.frame.script, node.body
        run.block(node.body.body)
        run.frame.script = outer
    else:
        run.block(node.body.body)
    after, behind = run.state, run.path
    run.state = fails
    run.go_back(path)
    run.behind(node.test, elsewhere, here)
    return after, behind


def _asks_for_script(run: Run, test: cst.BaseExpression) -> bool:
    """Whether this is ``if __name__ == "__main__"`` of a module: what follows is not done when it is imported."""
    if run.frame.function is not None or type(test) is not cst.Comparison or len(test.comparisons) != 1:
        return False
    sides = (test.left, test.comparisons[0].comparator)
    names = [side.value for side in sides if isinstance(side, cst.Name)]
    texts = [side.evaluated_value for side in sides if isinstance(side, cst.SimpleString)]
    return isinstance(test.comparisons[0].operator, cst.Equal) and (names, texts) == (["__name__"], ["__main__"])


def _assert(run: Run, node: cst.Assert) -> None:
    holds, fails = run.branch(node.test)
    if fails.reach:
        run.state = fails
        if node.msg is not None:
            run.eval(node.msg)
        run.throw("AssertionError", fails.reach, place=node)
    run.behind(node.test, holds.reach, fails.reach)
    run.state = holds


# -- loops -------------------------------------------------------------------------------------------------------------


def _for(run: Run, node: cst.For) -> None:
    iterable = iterated(run, run.eval(node.iter), node.iter)
    loop, path = Loop(frozenset(_plain_names(node.target) or ())), run.path
    run.frame.loops.append(loop)
    parts = turns_over(run, iterable)
    if parts is not None and run.bears(len(parts)):
        _go_through(run, node, loop, parts)
    else:
        turns = _turns(run)
        with run.repeated(turns):
            for _ in range(turns):
                before, reach = _Before.of(run), run.state.reach
                _round(run, node, loop, Entry(reach, EMPTY, run.combine(reach, iterable)))
                if before.is_now(run, node.target):
                    break
            else:
                if run.frame.budget.spent:
                    _cut_short(run, node)
    run.frame.loops.pop()
    run.go_back(path)
    if node.orelse is not None:
        run.block(node.orelse.body.body)
    settle(run, [run.state, *loop.breaks])


def _go_through(run: Run, node: cst.For, loop: Loop, parts: Sequence[Entry]) -> None:
    """Execute the body once for each part; where it asks for none of them, until a turn changes nothing any more."""
    alike = len(parts) > 1 and not _asks_for_part(run, node)
    idle = EMPTY
    with run.repeated(len(parts)):
        for number, part in enumerate(parts):
            if run.frame.budget.spent:
                _cut_short(run, node)
                break
            if idle and part.releases <= idle:
                if part is parts[-1] or not run.state.reach <= parts[-1].certain:
                    _round(run, node, loop, part, follow=False)
                continue
            before = _Before.of(run)
            with run.turn(number):
                _round(run, node, loop, part)
            if alike and before.is_now(run, node.target):
                idle |= part.releases


def _cut_short(run: Run, node: cst.For | cst.While) -> None:
    """A loop has been too much work: what further turns of it would do is not known."""
    if run.effects.uses_library:
        run.unresolved(node, "this loop and what it calls are too much to be followed to the end")


def _asks_for_part(run: Run, node: cst.For) -> bool:
    """Whether the body of a loop looks at what it goes through, or may."""
    tree, function = run.frame.tree, run.frame.function
    assigned = _plain_names(node.target)
    if assigned is None or function is None or run.frame.globals:
        # A variable of the module may be looked at by any function that is called.
        return True
    defined = run.frame.defined.functions
    within = [tree.names_below(node.body), *(inner.tree.names_below(inner.node) for inner in defined)]
    return any(names & assigned or names & _BY_NAME for names in within)


_BY_NAME = frozenset({"locals", "vars", "eval", "exec"})
"""What looks at variables whose names are not written there."""


def _plain_names(target: cst.CSTNode) -> set[str] | None:
    """The variables that a target assigns; None when it assigns anything else."""
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        parts = [_plain_names(element.value) for element in target.elements]
        return None if None in parts else {name for part in parts for name in part or ()}
    return None


def _turns(run: Run) -> int:
    """What the first turn leaves, a second one sees; deep in other loops, theirs have to do."""
    return LOOP_ROUNDS if run.bears(LOOP_ROUNDS * 8) else 1


@dataclass(frozen=True, slots=True)
class _Before:
    """What a turn of a loop begins with: the state, and how much has changed elsewhere so far."""

    state: State
    moment: int

    @classmethod
    def of(cls, run: Run) -> _Before:
        return cls(run.state.fork(), run.world.dependencies.moment)

    def is_now(self, run: Run, target: cst.CSTNode | None = None) -> bool:
        """Whether the turn has left all that the next one sees as it was, but for what that one assigns first."""
        before, after = self.state, run.state
        if self.moment != run.world.dependencies.moment or after.reach != before.reach:
            return False
        if after.conditional != before.conditional:
            return False
        if any(was is not None and was != now for _, was, now in before.heap.differences(after.heap)):
            return False
        assigned = _plain_names(target) if target is not None else None
        return after.vars == before.vars or bool(assigned and _others(after, assigned) == _others(before, assigned))


def _others(state: State, names: Collection[str]) -> dict[str, Value]:
    return {path: value for path, value in state.vars.items() if path.partition(".")[0] not in names}


def _round(run: Run, node: cst.For, loop: Loop, part: Entry, *, follow: bool = True) -> None:
    before = run.state
    here = part.releases & before.reach
    if not here:
        return
    skips = before.fork(before.reach - (part.certain & here))
    run.state = before.fork(here)
    # Whether there is such an element what it is made of says, where that depends on the release.
    run.undecided(run.state, skips, part.value.where(is_tainted) | part.conditional)
    assign(run, node.target, part.value.within(here))
    if follow:
        run.block(node.body.body)
    settle(run, [skips, run.state, *loop.continues])
    loop.continues.clear()


def _tries_again(run: Run) -> bool:
    """Whether a loop is in it for another time because something of the library has failed."""
    return any(where & run.state.live for where in run.state.faults.values())


def _while(run: Run, node: cst.While) -> None:
    loop, path = Loop(), run.path
    run.frame.loops.append(loop)
    leaves: State | None = None
    turns = _turns(run)
    with run.repeated(turns):
        for turn in range(turns + MAX_RETRIES):
            if not run.state.reach or (turn >= turns and not _tries_again(run)):
                break
            before = _Before.of(run)
            holds, fails = run.branch(node.test)
            leaves = join_states(leaves, fails)
            run.state = holds
            run.block(node.body.body)
            settle(run, [run.state, *loop.continues])
            loop.continues.clear()
            if before.is_now(run):
                turns = 0
                break
    if turns and run.state.reach and run.frame.budget.spent:
        _cut_short(run, node)
    endless = isinstance(node.test, cst.Name) and node.test.value == "True"
    run.frame.loops.pop()
    run.go_back(path)
    settle(run, [leaves] if endless else [leaves, run.state])
    if node.orelse is not None:
        run.block(node.orelse.body.body)
    settle(run, [run.state, *loop.breaks])


def _break(run: Run, node: cst.Break) -> None:
    if run.frame.loops:
        run.frame.loops[-1].breaks.append(run.state)
    run.state = State(EMPTY, {}, run.state.heap)


def _continue(run: Run, node: cst.Continue) -> None:
    if run.frame.loops:
        run.frame.loops[-1].continues.append(run.state)
    run.state = State(EMPTY, {}, run.state.heap)


def _return(run: Run, node: cst.Return) -> None:
    if node.value is None:
        value = const(None, run.state.reach)
    elif run.frame.caller is not None:
        # What is returned to a caller that is being followed has not escaped.
        value = run.eval(node.value, callee=True, to=KEEP)
    else:
        value = keep(run, node.value, to=KEEP)
        escape(run, value)
    function = run.frame.function
    if function is not None and is_generator(function):
        lose(run, value, node, "returned by a generator")
    if run.state.reach:
        tell_caller(run, value)
        run.frame.returns.append((run.state, value))
    run.state = State(EMPTY, {}, run.state.heap)


def _function(run: Run, node: cst.FunctionDef) -> None:
    assign_name(run, node.name.value, define_function(run, node))


def _class(run: Run, node: cst.ClassDef) -> None:
    assign_name(run, node.name.value, define_class(run, node))


def _type_alias(run: Run, node: cst.TypeAlias) -> None:
    assign_name(run, node.name.value, unknown(run.state.reach))


_HANDLERS: dict[type, Callable[[Run, Any], None]] = {
    cst.SimpleStatementLine: _simple_line,
    cst.Expr: _expression,
    cst.Assign: execute_assign,
    cst.AnnAssign: execute_annotated,
    cst.AugAssign: execute_augmented,
    cst.Del: execute_delete,
    cst.Global: _global,
    cst.Nonlocal: _global,
    cst.If: _if,
    cst.Assert: _assert,
    cst.Match: execute_match,
    cst.For: _for,
    cst.While: _while,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Return: _return,
    cst.Raise: execute_raise,
    cst.Try: execute_try,
    cst.TryStar: execute_try,
    cst.With: execute_with,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Import: execute_import,
    cst.ImportFrom: execute_import_from,
    cst.TypeAlias: _type_alias,
}
