"""Statements: what executing one does to the state, and where control goes from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from driftwatch.flow.annotations import annotated_here
from driftwatch.flow.attributes import write_attribute
from driftwatch.flow.children import walk
from driftwatch.flow.comprehensions import part_of, take_apart
from driftwatch.flow.conditions import answer_comparison, split
from driftwatch.flow.constants import pairwise
from driftwatch.flow.containers import delete_item, elements_of, merge_value, set_item, spread_into
from driftwatch.flow.exceptions import FOREIGN, Handler, Try, may_take, raised_by
from driftwatch.flow.functions import define_class, define_function
from driftwatch.flow.imports import execute_import, execute_import_from
from driftwatch.flow.models import use_patch
from driftwatch.flow.names import assign_name
from driftwatch.flow.run import Loop, Run, as_alternatives, dict_of, settle
from driftwatch.flow.state import Entry, State, join_states
from driftwatch.flow.syntax import dotted_name, statements
from driftwatch.flow.values import (
    Class,
    Const,
    DictRef,
    External,
    Instance,
    LibInstance,
    LibModule,
    LibObject,
    ListRef,
    Opaque,
    Value,
    const,
    unknown,
)
from driftwatch.releases import EMPTY, ReleaseSet

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
    run.eval(node.value)


# -- assignment --------------------------------------------------------------------------------------------------------


def _assign(run: Run, node: cst.Assign) -> None:
    value = run.eval(node.value)
    for target in node.targets:
        assign(run, target.target, value)


def _annotated(run: Run, node: cst.AnnAssign) -> None:
    if node.value is not None:
        value = run.eval(node.value)
        if not any(True for _ in value.alternatives) or value.single() is not None:
            known = None
            single = value.single()
            if single is not None and type(single).__name__ == "Unknown":
                known = annotated_here(run, node.annotation.annotation)
            value = known.within(run.state.reach) if known is not None and known.alternatives else value
        assign(run, node.target, value)
    elif isinstance(node.target, cst.Attribute):
        known = annotated_here(run, node.annotation.annotation)
        if known is not None and known.alternatives:
            _assign_attribute(run, node.target, known.within(run.state.reach), declared=True)
    elif isinstance(node.target, cst.Name) and run.frame.owner is not None and run.frame.function is None:
        known = annotated_here(run, node.annotation.annotation)
        owner = run.frame.owner
        if known is not None and known.alternatives:
            owner.attributes[node.target.value] = known


def _augmented(run: Run, node: cst.AugAssign) -> None:
    before = run.eval(node.target)
    value = run.eval(node.value)
    if isinstance(node.operator, cst.BitOrAssign):
        for _, atom in as_alternatives(before, run.state.reach):
            content = dict_of(run, atom)
            if content is not None and isinstance(atom, DictRef):
                run.state.heap[atom.key] = merge_value(run, content, value)
                return
    if isinstance(node.operator, cst.AddAssign):
        for _, atom in as_alternatives(before, run.state.reach):
            if isinstance(atom, ListRef):
                from driftwatch.flow.run import lists_of

                listed = lists_of(run, atom)
                if listed is not None:
                    run.state.heap[atom.key] = spread_into(run, listed, value, node)
                return
    operation = type(node.operator).__name__.removesuffix("Assign")
    assign(run, node.target, pairwise(run, operation, before, value))


def assign(run: Run, target: cst.CSTNode, value: Value) -> None:
    """Bind any target of an assignment."""
    if isinstance(target, cst.Name):
        assign_name(run, target.value, value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        take_apart_targets(run, target, value)
    elif isinstance(target, cst.Attribute):
        _assign_attribute(run, target, value)
    elif isinstance(target, cst.Subscript):
        owner = run.eval(target.value, callee=True)
        if len(target.slice) == 1 and isinstance(target.slice[0].slice, cst.Index):
            set_item(run, owner, run.eval(target.slice[0].slice.value), value, target)
    elif isinstance(target, cst.StarredElement):
        assign(run, target.value, unknown(run.state.reach))


def take_apart_targets(run: Run, target: cst.Tuple | cst.List, value: Value) -> None:
    """``a, self.b = value``: names are bound by `take_apart`, other targets get their part too."""
    if all(isinstance(e.value, (cst.Name, cst.Tuple, cst.List)) for e in target.elements):
        take_apart(run, target, value)
        return
    starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
    for i, element in enumerate(target.elements):
        part = unknown(run.state.reach) if starred else part_of(run, value, i)
        assign(run, element.value, part)


def _assign_attribute(run: Run, target: cst.Attribute, value: Value, *, declared: bool = False) -> None:
    owner = run.eval(target.value, callee=True)
    name = target.attr.value
    for where, atom in as_alternatives(owner, run.state.reach):
        if isinstance(atom, (Instance, Class)):
            write_attribute(run, atom.code, name, value.within(where))
        else:
            use_patch(run, atom, name, where, target)
    path = dotted_name(target)
    if path is not None and not declared and not owner.where(lambda a: isinstance(a, LibModule)):
        run.state.forget(path)
        run.state.vars[path] = value


def _delete(run: Run, node: cst.Del) -> None:
    targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    for target in targets:
        if isinstance(target, cst.Name):
            run.state.vars.pop(target.value, None)
            run.state.forget(target.value)
        elif isinstance(target, cst.Subscript) and len(target.slice) == 1:
            index = target.slice[0].slice
            if isinstance(index, cst.Index):
                delete_item(run, run.eval(target.value, callee=True), run.eval(index.value))


def _global(run: Run, node: cst.Global | cst.Nonlocal) -> None:
    if isinstance(node, cst.Global):
        run.frame.globals.update(item.name.value for item in node.names)


# -- branches ----------------------------------------------------------------------------------------------------------


def _if(run: Run, node: cst.If) -> None:
    holds, fails = run.branch(node.test)
    run.state = holds
    run.block(node.body.body)
    after = run.state
    run.state = fails
    if isinstance(node.orelse, cst.If):
        if run.state.reach:
            _if(run, node.orelse)
    elif node.orelse is not None:
        run.block(node.orelse.body.body)
    settle(run, [after, run.state])


def _assert(run: Run, node: cst.Assert) -> None:
    holds, fails = run.branch(node.test)
    if fails.reach:
        run.state = fails
        if node.msg is not None:
            run.eval(node.msg)
        run.throw("AssertionError", fails.reach)
    run.state = holds


def _match(run: Run, node: cst.Match) -> None:
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
    run: Run, node: cst.BaseExpression, subject: Value, pattern: cst.MatchPattern
) -> tuple[State, State]:
    if isinstance(pattern, cst.MatchAs):
        if pattern.name is not None:
            assign_name(run, pattern.name.value, subject.within(run.state.reach))
        if pattern.pattern is None:
            return run.state, run.state.fork(EMPTY)
        return _match_pattern(run, node, subject, pattern.pattern)
    if isinstance(pattern, cst.MatchSingleton):
        wanted = {"None": None, "True": True, "False": False}[pattern.value.value]
        return split(run, node, subject, lambda atom: answer_comparison(run, atom, "Is", Const(wanted)))
    if isinstance(pattern, cst.MatchValue):
        value = run.eval(pattern.value).single()
        if value is not None:
            return split(run, node, subject, lambda atom: answer_comparison(run, atom, "Equal", value))
    if isinstance(pattern, cst.MatchOr):
        holds: State | None = None
        fails = run.state
        for alternative in pattern.patterns:
            run.state = fails
            yes, fails = _match_pattern(run, node, subject, alternative.pattern)
            holds = join_states(holds, yes)
        return holds if holds is not None else run.state.fork(EMPTY), fails
    _bind_captures(run, pattern)
    return run.state.fork(), run.state.fork()


def _bind_captures(run: Run, pattern: cst.CSTNode) -> None:
    for child in walk(pattern):
        if isinstance(child, (cst.MatchAs, cst.MatchStar)) and child.name is not None:
            assign_name(run, child.name.value, unknown(run.state.reach))


# -- loops -------------------------------------------------------------------------------------------------------------


def _for(run: Run, node: cst.For) -> None:
    iterable = run.eval(node.iter)
    loop = Loop()
    run.frame.loops.append(loop)
    parts = elements_of(run, iterable)
    if parts is not None:
        for part in parts:
            if not run.state.reach:
                break
            _round(run, node, loop, part)
    else:
        for _ in range(LOOP_ROUNDS):
            reach = run.state.reach
            if not reach:
                break
            _round(run, node, loop, Entry(reach, EMPTY, unknown(reach)))
    run.frame.loops.pop()
    if node.orelse is not None:
        run.block(node.orelse.body.body)
    settle(run, [run.state, *loop.breaks])


def _round(run: Run, node: cst.For, loop: Loop, part: Entry) -> None:
    before = run.state
    here = part.releases & before.reach
    if not here:
        return
    skips = before.fork(before.reach - (part.certain & here))
    run.state = before.fork(here)
    assign(run, node.target, part.value.within(here))
    run.block(node.body.body)
    settle(run, [skips, run.state, *loop.continues])
    loop.continues.clear()


def _while(run: Run, node: cst.While) -> None:
    loop = Loop()
    run.frame.loops.append(loop)
    leaves: State | None = None
    for _ in range(LOOP_ROUNDS):
        if not run.state.reach:
            break
        holds, fails = run.branch(node.test)
        leaves = join_states(leaves, fails)
        run.state = holds
        run.block(node.body.body)
        settle(run, [run.state, *loop.continues])
        loop.continues.clear()
    endless = isinstance(node.test, cst.Name) and node.test.value == "True"
    run.frame.loops.pop()
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


# -- leaving -----------------------------------------------------------------------------------------------------------


def _return(run: Run, node: cst.Return) -> None:
    value = run.eval(node.value) if node.value is not None else const(None, run.state.reach)
    if run.state.reach:
        run.frame.returns.append((run.state, value))
    run.state = State(EMPTY, {}, run.state.heap)


def _raise(run: Run, node: cst.Raise) -> None:
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
    for kind in kinds:
        run.throw(kind, run.state.reach)
    if kinds == ("SystemExit",) and run.frame.function is None:
        run.frame.module.exits |= run.state.reach
    run.state = State(EMPTY, {}, run.state.heap)


# -- try and with ------------------------------------------------------------------------------------------------------


def _try(run: Run, node: cst.Try | cst.TryStar) -> None:
    handlers = [_handler(run, h) for h in node.handlers]
    leaves = node.finalbody is not None and any(isinstance(s, cst.Return) for s in statements(node.finalbody.body))
    attempt = Try(handlers, node.body.body, leaves)
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
                if kind.partition(".")[0] != "driftwatch" or not handler.types or _is_broad(handler):
                    taken.add(kind)
        if entry is None or not entry.reach:
            continue
        run.state = entry.fork()
        if name is not None and isinstance(name.name, cst.Name):
            run.state.vars[name.name.value] = Value(((run.state.reach, Opaque("exception")),))
        run.frame.handling.append(handler.types or (FOREIGN,))
        run.block(body)
        run.frame.handling.pop()
        ends.append(run.state)
    return ends


def _is_broad(handler: Handler) -> bool:
    return any(n.rpartition(".")[2] in ("Exception", "BaseException") for n in handler.types or ("Exception",))


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
        run.state = State(after.reach & run.state.reach if after.reach else EMPTY, after.vars, after.heap)


def _handler(run: Run, node: cst.ExceptHandler | cst.ExceptStarHandler) -> Handler:
    types = None if node.type is None else exception_names(run, node.type)
    return Handler(run.frame.tree, node, types, node.body.body)


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


def _with(run: Run, node: cst.With) -> None:
    _with_items(run, node, 0)


def _with_items(run: Run, node: cst.With, index: int) -> None:
    if index == len(node.items):
        run.block(node.body.body)
        return
    item = node.items[index]
    handler = _with_handler(run, node, item.item)
    if handler is not None:
        attempt = Try([handler], node.body.body)
        run.frame.tries.append(attempt)
        _with_items(run, node, index + 1)
        run.frame.tries.pop()
        settle(run, [run.state, *_run_handlers(run, attempt, [()], [None])])
        return
    value = run.eval(item.item)
    if item.asname is not None:
        assign(run, item.asname.name, value if value.where(_is_instance) else unknown(run.state.reach))
    _with_items(run, node, index + 1)


def _is_instance(atom: object) -> bool:
    return isinstance(atom, (LibInstance, Instance))


def _with_handler(run: Run, node: cst.With, item: cst.BaseExpression) -> Handler | None:
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


def _function(run: Run, node: cst.FunctionDef) -> None:
    assign_name(run, node.name.value, define_function(run, node))


def _class(run: Run, node: cst.ClassDef) -> None:
    assign_name(run, node.name.value, define_class(run, node))


_HANDLERS: dict[type, Callable[[Run, Any], None]] = {
    cst.SimpleStatementLine: _simple_line,
    cst.Expr: _expression,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Del: _delete,
    cst.Global: _global,
    cst.Nonlocal: _global,
    cst.If: _if,
    cst.Assert: _assert,
    cst.Match: _match,
    cst.For: _for,
    cst.While: _while,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.With: _with,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Import: execute_import,
    cst.ImportFrom: execute_import_from,
}
