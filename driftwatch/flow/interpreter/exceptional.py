"""``raise``, ``try`` and ``with``: where exceptions start, and what becomes of the state where one is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import libcst as cst

from driftwatch.flow.domain.code import ClassCode
from driftwatch.flow.domain.endings import taken_by
from driftwatch.flow.domain.exceptions import ANYTHING, FOREIGN, Flight, Handler, Try, is_broad, may_take, raised_of
from driftwatch.flow.domain.faults import Fault
from driftwatch.flow.domain.frames import Handling
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.state import NO_FAULTS, State, join_states
from driftwatch.flow.domain.values import (
    NOTHING,
    Atom,
    Class,
    Const,
    External,
    Instance,
    Lazy,
    LibInstance,
    LibObject,
    Raised,
    Unknown,
    Value,
    value_of,
)
from driftwatch.flow.interpreter.containers import elements_of
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.objects import content_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, settle
from driftwatch.flow.syntax.syntax import dotted_name, statements
from driftwatch.releases import EMPTY, ReleaseSet


def execute_try(run: Run, node: cst.Try | cst.TryStar) -> None:
    handlers = [_handler(run, h) for h in node.handlers]
    leaves = node.finalbody is not None and any(isinstance(s, cst.Return) for s in statements(node.finalbody.body))
    final = node.finalbody.body.body if node.finalbody is not None else ()
    attempt = Try(handlers, node.body.body, leaves, final, tries_others=_tries_others(run, node))
    returned = len(run.frame.returns)
    before = run.state.fork()
    last = Try([], node.body.body, stops=[])
    if node.finalbody is not None:
        run.frame.tries.append(last)
    run.frame.tries.append(attempt)
    run.block(node.body.body)
    run.frame.tries.pop()
    if node.orelse is not None:
        run.block(node.orelse.body.body)
    ends: list[State | None] = [run.state]
    ends.extend(_run_handlers(run, attempt, [h.body.body for h in node.handlers]))
    settle(run, ends)
    if node.finalbody is not None:
        run.frame.tries.pop()
        takes_all = any(map(is_broad, handlers))
        _finally(run, node.finalbody, last, before, returned, takes_all=takes_all)


def _tries_others(run: Run, node: cst.Try | cst.TryStar) -> bool:
    names = run.frame.loops[-1].names if run.frame.loops else frozenset()
    return not names.isdisjoint(run.frame.tree.names_below(node.body))


def _run_handlers(run: Run, attempt: Try, bodies: list[Any]) -> list[State]:
    ends: list[State] = []
    taken: set[str] = set()
    for handler, body in zip(attempt.handlers, bodies, strict=True):
        entries: dict[object, list[tuple[Raised, State]]] = {}
        for raised, state in handler.entries:
            # What a handler does with an exception may depend on its class, if it has a name for it.
            entries.setdefault(raised.names if handler.name is not None else None, []).append((raised, state))
        for kind, state in attempt.maybe.items():
            if kind not in taken and may_take(handler, kind):
                raised = _something(kind, handler)
                entries.setdefault(None if handler.name is None else ANYTHING, []).append((raised, state.fork()))
                if kind.partition(".")[0] != "driftwatch" or not handler.types or is_broad(handler):
                    taken.add(kind)
        for group in entries.values():
            ends.extend(_run_handler(run, handler, body, group))
    return ends


def _run_handler(run: Run, handler: Handler, body: Any, entries: list[tuple[Raised, State]]) -> list[State]:
    entry: State | None = None
    live = EMPTY
    for _, state in entries:
        entry = join_states(entry, state)
        live |= state.live
    if entry is None or not entry.reach:
        return []
    caught = value_of((state.reach - (state.ghost & live), raised) for raised, state in entries)
    run.state = entry.fork()
    if handler.name is not None:
        run.state.vars[handler.name] = caught
    run.handling.append(Handling(handler, caught, run.frame))
    run.block(body)
    run.handling.pop()
    return [run.state]


def _something(kind: str, handler: Handler) -> Raised:
    """An exception of which the handler knows no more than that it has taken it."""
    if kind.partition(".")[0] != "driftwatch":
        return replace(raised_of(kind), exact=False)
    names = handler.types or ("BaseException",)
    return replace(raised_of(names[0] if len(names) == 1 else "Exception"), exact=False)


def _finally(run: Run, node: cst.Finally, last: Try, before: State, returned: int, *, takes_all: bool) -> None:
    """The ``finally`` block runs on every way out; uses in it are met on all of them."""
    after = run.state
    until = len(run.frame.returns)
    pending = run.frame.returns[returned:until]
    _fly_through(run, last, lambda: run.block(node.body.body))
    reach: ReleaseSet = after.reach
    for state, _ in pending:
        reach |= state.reach
    merged = after if after.reach else None
    for state, _ in pending:
        if state.faults or takes_all:
            merged = join_states(merged, state)
    if merged is None or not takes_all:
        # Something may be raised anywhere in it.
        merged = join_states(merged, before.fork(before.reach))
    assert merged is not None
    run.state, variables = merged, dict(merged.vars)
    run.block(node.body.body)
    if not run.state.reach:
        # It goes another way: nothing of this is returned after all.
        del run.frame.returns[returned:until]
    if after.reach and run.state.reach:
        after.heap.add(run.state.heap)
        after.vars.update({k: v for k, v in run.state.vars.items() if variables.get(k) is not v})
        returned_with = {taken for state, _ in pending for taken in state.faults}
        more = {taken: where for taken, where in run.state.faults.items() if taken not in returned_with}
        after.ghost |= run.state.ghost
        after.faults = {**more, **after.faults} or NO_FAULTS
        after.reach &= run.state.reach
        for state, _ in pending:
            state.reach &= run.state.reach
        run.state = after
    else:
        left = after.reach & run.state.reach if after.reach else EMPTY
        run.state = State(left, after.vars, after.heap, on_the_way_of=after)


def _fly_through(run: Run, last: Try, do: Callable[[], object]) -> None:
    """Do something on the way of each exception that a ``try`` has stopped, and let it go on from there."""
    flights = tuple(gather(last.stops or ()))
    last.stops = None
    for flight in flights:
        run.state = flight.state
        run.state.faults = taken_by(None, last, flight.state, flight.faults)
        run.handling.append(Handling(last, Value(((run.state.reach, flight.raised),)), run.frame))
        do()
        run.handling.pop()
        if run.state.reach:
            run.send(go_on(flight, run.state))


def gather(flights: Iterable[Flight]) -> Iterator[Flight]:
    """What was thrown, one of each kind."""
    kinds: dict[object, list[Flight]] = {}
    for flight in flights:
        raised = flight.raised
        kinds.setdefault((raised.names, raised.made, raised.holds), []).append(flight)
    for alike in kinds.values():
        state: State | None = None
        flying: dict[Fault, ReleaseSet] = {}
        for flight in alike:
            state = join_states(state, flight.state.fork())
            for fault, where in flight.faults.items():
                flying[fault] = flying.get(fault, EMPTY) | where
        if state is not None and state.reach:
            yield replace(alike[0], state=state, faults=flying)


def go_on(flight: Flight, state: State) -> Flight:
    """An exception goes on from a state that had taken it."""
    state.faults = {taken: where for taken, where in state.faults.items() if taken.fault not in flight.faults}
    return replace(flight, state=state)


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
    return (f"{atom.code.module.name}.{atom.code.name}",)


def execute_raise(run: Run, node: cst.Raise) -> None:
    value = run.handling[-1].caught if run.handling else NOTHING
    if node.exc is not None:
        value = run.eval(node.exc)
    if node.cause is not None:
        for _, cause in run.eval(node.cause.item).alternatives:
            content = content_of(run, cause)
            for entry in content.entries.values() if content is not None else ():
                lose(run, entry.value.within(entry.releases), node, "held by the cause of an exception")
    reach = run.state.reach
    if not reach:
        return
    left = reach
    for where, atom in as_alternatives(value, reach):
        raised = exception_of(atom)
        if raised is not None:
            left -= where
            _throw(run, raised, where, node)
    if left:
        _throw(run, _raised_by_syntax(run, node), left, node)
    run.state = State(EMPTY, {}, run.state.heap)


def _raised_by_syntax(run: Run, node: cst.Raise) -> Raised:
    """What a ``raise`` raises whose class was not worth looking at so far."""
    called = node.exc.func if isinstance(node.exc, cst.Call) else node.exc
    if called is None or not isinstance(called, (cst.Name, cst.Attribute)):
        return raised_of(FOREIGN)
    if run.state.faults:
        atom = run.eval(called, callee=True).single()
        found = run.world.modules.look_at(atom) if isinstance(atom, Lazy) else None
        known = found.single() if found is not None else None
        if isinstance(known, Class):
            return _raised_by_project(known.code)
    name = (dotted_name(called) or "").rpartition(".")[2]
    return raised_of(name if name[:1].isupper() else FOREIGN)


def _throw(run: Run, raised: Raised, where: ReleaseSet, node: cst.Raise) -> None:
    run.throw(raised, where, place=node)
    if raised.names[0] == "SystemExit" and run.frame.function is None:
        run.frame.module.exits |= where


def exception_of(atom: Atom) -> Raised | None:
    """What is raised of a class or an object; None where that is not known."""
    if isinstance(atom, Raised):
        return atom
    if isinstance(atom, External):
        name = atom.dotted.removeprefix("builtins.")
        return raised_of(name)
    if isinstance(atom, Class):
        return _raised_by_project(atom.code)
    if isinstance(atom, Instance):
        return replace(_raised_by_project(atom.code), made=atom)
    if isinstance(atom, LibObject) and atom.is_class:
        return raised_of(atom.ref.dotted)
    return raised_of(atom.cls.dotted) if isinstance(atom, LibInstance) else None


def _raised_by_project(code: ClassCode) -> Raised:
    order, others = lineage(code)
    names = [f"{each.module.name}.{each.name}" for each in order]
    exact = True
    for base in others:
        for _, atom in base.alternatives:
            above = exception_of(atom)
            exact = exact and above is not None and above.exact
            names += above.names if above is not None else ()
    return Raised((*dict.fromkeys((*names, "Exception", "BaseException")),), exact=exact)


def tell_caller(run: Run, value: Value) -> None:
    """What a handler returns tells its caller of the exception, where it is the exception or text."""
    here = {each.owner for each in run.handling if each.frame is run.frame}
    for taken, where in run.state.faults.items() if here else ():
        if taken.handler in here:
            says = value.where(lambda atom: isinstance(atom, Raised) or _is_text(atom))
            taken.fault.told |= where & run.state.reach & says


def _is_text(atom: Atom) -> bool:
    if isinstance(atom, Unknown):
        return atom.truth is True
    return isinstance(atom, Const) and isinstance(atom.value, str) and bool(atom.value)


def class_names(run: Run, value: Value) -> tuple[str, ...] | None:
    """The classes that a value names, alone or in a tuple; None where one of them cannot be told."""
    parts = elements_of(run, value)
    if parts is not None:
        found = [class_names(run, part.value) for part in parts]
        return None if None in found else tuple(name for names in found if names is not None for name in names)
    atom = value.single()
    if isinstance(atom, External):
        return (atom.dotted.removeprefix("builtins."),)
    if isinstance(atom, Class):
        return (f"{atom.code.module.name}.{atom.code.name}",)
    return (atom.ref.dotted,) if isinstance(atom, LibObject) and atom.is_class else None


def thrown(run: Run, value: Value, node: cst.CSTNode) -> Value:
    """What is called here raises this."""
    for where, atom in value.alternatives:
        if isinstance(atom, Raised):
            run.throw(atom, where, place=node)
    run.state.reach = EMPTY
    return Value()
