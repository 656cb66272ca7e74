"""``match``: the releases in which each pattern matches, as far as constants decide it."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.exceptions import is_one_of
from driftwatch.flow.domain.state import State, join_states
from driftwatch.flow.domain.values import Const, Raised, Value, const, unknown
from driftwatch.flow.interpreter.conditions import answer_comparison, exact, split
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.exceptional import class_names
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.run import Run, settle
from driftwatch.flow.syntax.children import walk
from driftwatch.releases import EMPTY


def execute_match(run: Run, node: cst.Match) -> None:
    subject = run.eval(node.subject)
    left: State | None = run.state
    ends: list[State | None] = []
    for case in node.cases:
        if left is None or not left.reach:
            break
        run.state = left
        holds, fails = _match_pattern(run, node.subject, subject, case.pattern)
        run.state = holds
        if case.guard is not None and run.state.reach:
            holds, guard_fails = run.branch(case.guard)
            fails = join_states(fails, guard_fails) or fails
            run.state = holds
        run.block(case.body.body)
        ends.append(run.state)
        left = fails
    settle(run, [*ends, left])


def _match_pattern(
    run: Run, node: cst.BaseExpression | None, subject: Value, pattern: cst.MatchPattern
) -> tuple[State, State]:
    if isinstance(pattern, cst.MatchAs):
        if pattern.name is not None:
            assign_name(run, pattern.name.value, subject.within(run.state.reach))
        if pattern.pattern is None:
            return run.state, run.state.fork(EMPTY)
        return _match_pattern(run, node, subject, pattern.pattern)
    if isinstance(pattern, cst.MatchSingleton):
        wanted = {"None": None, "True": True, "False": False}[pattern.value.value]
        return split(run, node, subject, lambda atom: answer_comparison(atom, "Is", Const(wanted)))
    if isinstance(pattern, cst.MatchValue):
        value = run.eval(pattern.value).single()
        if value is not None:
            return split(run, node, subject, lambda atom: answer_comparison(atom, "Equal", value))
    if isinstance(pattern, cst.MatchOr):
        holds: State | None = None
        fails = run.state
        for alternative in pattern.patterns:
            run.state = fails
            yes, fails = _match_pattern(run, node, subject, alternative.pattern)
            holds = join_states(holds, yes)
        return holds if holds is not None else run.state.fork(EMPTY), fails
    if isinstance(pattern, cst.MatchClass) and not pattern.patterns and not pattern.kwds:
        names = class_names(run, run.eval(pattern.cls, callee=True))
        if names is not None and subject.where(lambda atom: isinstance(atom, Raised)):
            return split(run, node, subject, lambda a: is_one_of(a, names) if isinstance(a, Raised) else None)
    if isinstance(pattern, (cst.MatchList, cst.MatchTuple)):
        found = _match_sequence(run, subject, pattern)
        if found is not None:
            return found
    lose(run, subject, pattern, "taken apart by a pattern that is not followed")
    _bind_captures(run, pattern)
    return run.state.fork(), run.state.fork()


def _match_sequence(run: Run, subject: Value, pattern: cst.MatchSequence) -> tuple[State, State] | None:
    """A sequence is taken apart where it is a tuple of constants; None when it may be anything else."""
    subject = exact(run, subject).within(run.state.reach)
    parts = [element.value for element in pattern.patterns if isinstance(element, cst.MatchSequenceElement)]
    tuples = [(where, atom.value) for where, atom in subject.alternatives if isinstance(atom, Const)]
    if len(tuples) < len(subject.alternatives) or len(parts) < len(pattern.patterns):
        return None
    fitting = [(where, value) for where, value in tuples if isinstance(value, tuple) and len(value) == len(parts)]
    start, all_fail = run.state, EMPTY
    for where, value in tuples:
        all_fail |= where if (where, value) not in fitting else EMPTY
    holds: State | None = None
    fails: State | None = start.fork(all_fail)
    for where, value in fitting:
        run.state = start.fork(where)
        for part, item in zip(parts, value, strict=True):
            yes, no = _match_pattern(run, None, const(item, run.state.reach), part)
            fails = join_states(fails, no)
            run.state = yes
        holds = join_states(holds, run.state)
    return holds or start.fork(EMPTY), fails or start.fork(EMPTY)


def _bind_captures(run: Run, pattern: cst.CSTNode) -> None:
    for child in walk(pattern):
        if isinstance(child, (cst.MatchAs, cst.MatchStar)) and child.name is not None:
            assign_name(run, child.name.value, unknown(run.state.reach))
