"""Memoised calls in loops: a call that has changed nothing changes nothing when it is made again.

Enters: a call that is about to be followed into a function. Leaves: what it gave the last time, where that left the
state as it was, and everything that the function sees is what it was then. A helper that measures something calls it
many times over: the first call or two may leave something behind, the others do not.
"""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import FunctionCode
from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.frames import Followed
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    Atom,
    Const,
    External,
    LibInstance,
    LibModule,
    LibObject,
    LibTuple,
    Opaque,
    Unknown,
    Value,
)
from driftwatch.flow.interpreter.run import Run

_PLAIN = frozenset({Unknown, Const, Opaque, External, LibModule, LibObject, LibInstance, LibTuple})
"""What is the same wherever it is made."""


def about_to_follow(run: Run, callee: FunctionCode, bound: Atom | None, arguments: Arguments) -> Followed | None:
    """A call that may be made again from the same frame; None of any other."""
    frame, world = run.frame, run.world
    if not frame.loops or frame.constructs or frame.function is None or callee.module.executing or run.waiting:
        return None
    taken_over = len(frame.defined.taken_over)
    moments = (world.dependencies.moment, world.identities.defined, taken_over, run.eager, run.repeats)
    around = (moments, run.path, frame.stack(), tuple(run.handling))
    return Followed(callee, bound, arguments, run.state.fork(), around, run.ledger.expected)


def memoised(run: Run, call: Followed | None, node: cst.CSTNode) -> Value | None:
    """What a call gives that has been made before, and changed nothing then; None where that is not known."""
    known = run.frame.memoised.get(id(node)) if call is not None else None
    return known[1] if call is not None and known is not None and _is_again(run, call, known[0]) else None


def memoise(run: Run, call: Followed | None, value: Value, node: cst.CSTNode) -> None:
    """A call has been followed: keep what it gave if it has changed nothing and another call would give the same."""
    after = about_to_follow(run, call.callee, call.bound, call.arguments) if call is not None else None
    if call is None or after is None or after.around != call.around or after.faults != call.faults:
        return
    if all(type(atom) in _PLAIN for _, atom in value.alternatives):
        if _alike(call.state, run.state) and call.state.vars == run.state.vars:
            run.frame.memoised[id(node)] = (call, value)


def _is_again(run: Run, call: Followed, before: Followed) -> bool:
    """Whether a call is one more of another, with all that the function sees as it was."""
    if call.callee is not before.callee or call.bound != before.bound or call.around != before.around:
        return False
    if call.arguments != before.arguments or not _alike(before.state, call.state):
        return False
    now, then = call.state.vars, before.state.vars
    if now == then:
        return True
    # A handler sees every variable, a function those of the one round it, and each what is replaced.
    seen = None if run.frame.stack() else _names(run, call.callee)
    return all(
        now.get(name) == then.get(name)
        for name in now.keys() | then.keys()
        if seen is None or name in seen or not name.isidentifier()
    )


def _names(run: Run, callee: FunctionCode) -> frozenset[str] | None:
    """The variables of the frame that functions which are defined there may look at; None where those may be any."""
    defined = run.frame.defined.functions
    within = [*defined, callee] if callee.parent is run.frame.function else defined
    names = frozenset[str]().union(*(each.tree.names_below(each.node) for each in within))
    return None if names & BY_NAME else names


BY_NAME = frozenset({"locals", "vars", "eval", "exec"})
"""What looks at variables whose names are not written there."""


def _alike(before: State, after: State) -> bool:
    """Whether two states are the same but for their variables, and for what has been made in between."""
    return (
        before.reach == after.reach
        and before.ghost == after.ghost
        and before.faults == after.faults
        and before.conditions == after.conditions
        and before.told == after.told
        and all(was is None or was == now for _, was, now in before.heap.differences(after.heap))
    )
