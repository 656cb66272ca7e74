"""``raise``, ``try`` and ``with``: where exceptions start, and what becomes of the state where one is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from driftwatch.flow.assignment import assign
from driftwatch.flow.attributes import instance_attribute
from driftwatch.flow.containers import elements_of
from driftwatch.flow.exceptions import FOREIGN, Handler, Try, is_broad, may_take, raised_by
from driftwatch.flow.replaced import enter_patches, leave_patches
from driftwatch.flow.run import Run, as_alternatives, settle
from driftwatch.flow.state import NO_ARGUMENTS, State, join_states
from driftwatch.flow.syntax import dotted_name, statements
from driftwatch.flow.values import (
    Class,
    External,
    Function,
    Instance,
    LibInstance,
    LibObject,
    Managed,
    Opaque,
    Replacing,
    Value,
    join,
    unknown,
)
from driftwatch.releases import EMPTY, ReleaseSet

HANDLED = Opaque("exception")
"""What the variable of an ``except`` clause holds."""


def execute_try(run: Run, node: cst.Try | cst.TryStar) -> None:
    handlers = [_handler(run, h) for h in node.handlers]
    leaves = node.finalbody is not None and any(isinstance(s, cst.Return) for s in statements(node.finalbody.body))
    final = node.finalbody.body.body if node.finalbody is not None else ()
    attempt = Try(handlers, node.body.body, leaves, final)
    returned = len(run.frame.returns)
    before = run.state.fork()
    run.frame.tries.append(attempt)
    run.block(node.body.body)
    run.frame.tries.pop()
    if node.orelse is not None:
        run.block(node.orelse.body.body)
    ends: list[State | None] = [run.state]
    ends.extend(_run_handlers(run, attempt, [h.body.body for h in node.handlers], [h.name for h in node.handlers]))
    settle(run, ends)
    if node.finalbody is not None:
        _finally(run, node.finalbody, before, returned)


def _run_handlers(run: Run, attempt: Try, bodies: list[Any], names: list[cst.AsName | None]) -> list[State]:
    ends: list[State] = []
    taken: set[str] = set()
    for handler, body, name in zip(attempt.handlers, bodies, names, strict=True):
        entry: State | None = None
        for state in handler.entries:
            entry = join_states(entry, state)
        for kind, state in attempt.maybe.items():
            if kind not in taken and may_take(handler, kind):
                entry = join_states(entry, state.fork())
                if kind.partition(".")[0] != "driftwatch" or not handler.types or is_broad(handler):
                    taken.add(kind)
        if entry is None or not entry.reach:
            continue
        run.state = entry.fork()
        if name is not None and isinstance(name.name, cst.Name):
            run.state.vars[name.name.value] = Value(((run.state.reach, HANDLED),))
        run.frame.handling.append(handler.types or (FOREIGN,))
        run.block(body)
        run.frame.handling.pop()
        ends.append(run.state)
    return ends


def _finally(run: Run, node: cst.Finally, before: State, returned: int) -> None:
    """The ``finally`` block runs on every way out; uses in it are met on all of them."""
    after = run.state
    pending = run.frame.returns[returned:]
    reach: ReleaseSet = after.reach
    for state, _ in pending:
        reach |= state.reach
    merged = join_states(after if after.reach else None, before.fork(before.reach))
    assert merged is not None
    run.state = merged
    run.block(node.body.body)
    if after.reach and run.state.reach:
        after.heap.update({k: v for k, v in run.state.heap.items() if k not in after.heap})
        kept = {k: v for k, v in run.state.vars.items() if before.vars.get(k) is not v}
        after.vars.update(kept)
        run.state = after
        run.state.reach = after.reach
    else:
        left = after.reach & run.state.reach if after.reach else EMPTY
        run.state = State(left, after.vars, after.heap, after.conditions)


def _handler(run: Run, node: cst.ExceptHandler | cst.ExceptStarHandler) -> Handler:
    types = None if node.type is None else exception_names(run, node.type)
    name = node.name.name.value if node.name is not None and isinstance(node.name.name, cst.Name) else None
    return Handler(run.frame.tree, node, types, node.body.body, name=name)


def exception_names(run: Run, node: cst.BaseExpression) -> tuple[str, ...]:
    """The exception classes an expression names; empty when one of them cannot be told."""
    if isinstance(node, cst.Tuple):
        found: list[str] = []
        for element in node.elements:
            inner = exception_names(run, element.value)
            if not inner:
                return ()
            found.extend(inner)
        return tuple(found)
    value = run.eval(node, callee=True)
    atom = value.single()
    if isinstance(atom, External):
        return (atom.dotted.removeprefix("builtins."),)
    if isinstance(atom, Class):
        return _project_exception(atom)
    if isinstance(atom, LibObject):
        return (atom.ref.dotted,)
    parts = elements_of(run, value)
    if parts:
        names = [p.value.single() for p in parts]
        if all(isinstance(n, External) for n in names):
            return tuple(n.dotted.removeprefix("builtins.") for n in names if isinstance(n, External))
    path = dotted_name(node)
    return (path,) if path is not None and path.rpartition(".")[2][:1].isupper() else ()


def _project_exception(atom: Class) -> tuple[str, ...]:
    # An exception of the code base's own is raised by its own code, not by a drift.
    return (f"{atom.code.module.name}.{atom.code.name}",)


SUPPRESSORS = frozenset({"contextlib.suppress"})


EXPECTERS = frozenset({"pytest.raises", "pytest.warns"})


def execute_with(run: Run, node: cst.With) -> None:
    _with_items(run, node, 0)


def _with_items(run: Run, node: cst.With, index: int) -> None:
    if index == len(node.items):
        run.block(node.body.body)
        return
    item = node.items[index]
    handler = _with_handler(run, item.item)
    if handler is not None:
        attempt = Try([handler], node.body.body)
        run.frame.tries.append(attempt)
        _with_items(run, node, index + 1)
        run.frame.tries.pop()
        settle(run, [run.state, *_run_handlers(run, attempt, [()], [None])])
        return
    run.entered = item.item
    value = run.eval(item.item)
    run.entered = None
    if not run.state.reach:
        return
    entered = _entered(run, node, value)
    if item.asname is not None:
        assign(run, item.asname.name, entered)
    before = enter_patches(run, value)
    _managed_items(run, node, index, value)
    leave_patches(run, before)


def _managed_items(run: Run, node: cst.With, index: int, value: Value) -> None:
    """The rest of a ``with``, within what the manager of one item takes."""
    handlers = [h for _, atom in value.alternatives if isinstance(atom, Managed) for h in atom.handlers]
    if not handlers:
        _with_items(run, node, index + 1)
        return
    # What the manager takes round its ``yield``, it takes of what happens in here.
    attempt = Try([replace(handler, entries=[]) for handler in handlers], node.body.body)
    run.frame.tries.append(attempt)
    _with_items(run, node, index + 1)
    run.frame.tries.pop()
    ends: list[State | None] = [run.state]
    for handler in attempt.handlers:
        if raised_by(handler.body, FOREIGN, handler.name) is None:
            ends.extend(_run_handlers(run, replace(attempt, handlers=[handler]), [()], [None]))
    settle(run, ends)


def _entered(run: Run, node: cst.With, value: Value) -> Value:
    """What ``with`` binds: what the manager gives, of the code base's own; of others, the manager itself."""
    found = Value()
    method = "__enter__" if node.asynchronous is None else "__aenter__"
    for where, atom in as_alternatives(value, run.state.reach):
        given = Value(((where, atom),)) if isinstance(atom, (LibInstance, Instance)) else unknown(where)
        if isinstance(atom, Managed):
            given = atom.gives.within(where)
            given = join(given, unknown(where - given.defined()))
        elif isinstance(atom, Replacing):
            given = atom.gives.within(where)
        elif isinstance(atom, Instance):
            enter = instance_attribute(run, atom.code, method, where, None, atom)
            if enter is not None and enter.where(lambda a: isinstance(a, Function)):
                given = run.call(enter, NO_ARGUMENTS, node)
        found = join(found, given)
    return found


def _with_handler(run: Run, item: cst.BaseExpression) -> Handler | None:
    if not isinstance(item, cst.Call):
        return None
    func = run.eval(item.func, callee=True).single()
    if not isinstance(func, External) or func.dotted not in SUPPRESSORS | EXPECTERS:
        return None
    types: list[str] = []
    for argument in item.args:
        if argument.keyword is None and not argument.star:
            types.extend(exception_names(run, argument.value))
    return Handler(run.frame.tree, item, tuple(types), (), expects=func.dotted in EXPECTERS)


def execute_raise(run: Run, node: cst.Raise) -> None:
    if node.exc is not None:
        run.eval(node.exc)
    if node.cause is not None:
        run.eval(node.cause.item)
    if not run.state.reach:
        return
    if node.exc is None:
        kinds: tuple[str, ...] = run.frame.handling[-1] if run.frame.handling else (FOREIGN,)
    else:
        kinds = (raised_by([cst.SimpleStatementLine([node])], FOREIGN) or FOREIGN,)
        if isinstance(node.exc, cst.Name) and run.frame.handling and _is_handled(run, node.exc):
            kinds = run.frame.handling[-1]
    for kind in kinds:
        run.throw(kind, run.state.reach)
    if kinds == ("SystemExit",) and run.frame.function is None:
        run.frame.module.exits |= run.state.reach
    run.state = State(EMPTY, {}, run.state.heap)


def _is_handled(run: Run, node: cst.Name) -> bool:
    """Whether a variable holds the exception that is being handled."""
    value = run.state.vars.get(node.value)
    return value is not None and value.single() == HANDLED
