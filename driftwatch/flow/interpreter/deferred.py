"""Calls that are made later: coroutines and tasks, what an executor is given, threads.

A call that is put off is a value. It is made where its result is asked for, with the handlers that are round that
place; the use stays where the call is written. What nobody seen asks for is made at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, PartialContent
from driftwatch.flow.domain.endings import taken_by
from driftwatch.flow.domain.exceptions import Handler, Try, raised_of
from driftwatch.flow.domain.frames import AWAIT, Purpose, Waiting
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import Alternative, Deferred, Value, join, unknown, value_of
from driftwatch.flow.interpreter.exceptional import gather as gather_flights
from driftwatch.flow.interpreter.run import Run, as_alternatives, settle
from driftwatch.releases import EMPTY

COROUTINE, FUTURE, THREAD = "coroutine", "future", "thread"

EXECUTORS = frozenset(
    {
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
    }
)
POOLS = frozenset({"multiprocessing.Pool", "multiprocessing.pool.Pool", "multiprocessing.pool.ThreadPool"})
ENTERED = EXECUTORS | POOLS | {"asyncio.TaskGroup", "asyncio.Runner"}
"""What a ``with`` gives as it is."""


def defer(run: Run, func: Value, arguments: Arguments, node: cst.CSTNode, kind: str) -> Value:
    """A call that is made later."""
    key = run.number(node, "deferred")
    put_off(run, node)
    run.state.heap[key] = PartialContent(func, arguments.positional, arguments.keywords)
    run.waiting[key] = Waiting(run.frame, run.state.fork(), Deferred(key, node, kind))
    return Value(((run.state.reach, Deferred(key, node, kind)),))


def put_off(run: Run, node: cst.CSTNode) -> None:
    """A call will be made where nothing may be known of the file it is written in."""
    parts = node.args if isinstance(node, cst.Call) else ()
    run.world.put_off.update(dict.fromkeys([node, *parts], run.tree_of(node)))


def resume(run: Run, atom: Deferred) -> Value:
    """The call is made here."""
    waiting = run.waiting.get(atom.key)
    content = run.content(atom.key)
    if waiting is None or not isinstance(content, PartialContent):
        return unknown(run.state.reach)
    waiting.made = True
    outer, run.purpose = run.purpose, Purpose(atom.call, AWAIT)
    value = run.call(content.func, Arguments(content.positional, content.keywords), atom.call)
    run.purpose = outer
    return value


def awaited(run: Run, value: Value) -> Value:
    """What ``await`` gives."""
    if not value.where(_is_deferred):
        return value
    before, found = run.state, Value()
    ends: list[State | None] = [before.fork(before.reach - value.defined())]
    for where, atom in as_alternatives(value, before.reach):
        run.state = before.fork(where)
        found = join(found, resume(run, atom) if isinstance(atom, Deferred) else Value(((where, atom),)))
        ends.append(run.state)
    settle(run, ends)
    return found.within(run.state.reach)


def _is_deferred(atom: object) -> bool:
    return isinstance(atom, Deferred)


def drop(run: Run, value: Value) -> None:
    """A value is thrown away: nobody will ask what came of it."""
    for _, atom in value.alternatives:
        if isinstance(atom, Deferred) and atom.key in run.waiting:
            run.waiting[atom.key].dropped = True


def finish(run: Run, state: State | None) -> None:
    """What is executed has come to its end: what was put off and not asked for is made now."""
    frame, before = run.frame, run.state
    while any(not each.made for each in run.waiting.values()):
        for waiting in [each for each in run.waiting.values() if not each.made]:
            _make(run, waiting)
    run.waiting.clear()
    run.frame, run.state = frame, before
    run.ledger.settle(state)


def _make(run: Run, waiting: Waiting) -> None:
    run.frame, run.state = waiting.frame, waiting.state
    atom = waiting.atom
    if atom.kind == COROUTINE:
        resume(run, atom)
        run.ledger.reached_end(run.state)
        return
    if atom.kind == THREAD or waiting.dropped:
        quietly(run, lambda: resume(run, atom), None)
    else:
        # Somebody may ask for it who is not seen.
        nobody_knows = Handler(run.frame.tree, atom.call, (), ())
        attempt = Try([nobody_knows], (atom.call,))
        run.frame.tries.append(attempt)
        resume(run, atom)
        run.frame.tries.pop()
        settle(run, [run.state, *(state for _, state in nobody_knows.entries)])
    run.ledger.reached_end(run.state)


def quietly(run: Run, do: Callable[[], Value], handler: Handler | None) -> Value:
    """Do something of which an exception is kept as its result; without a handler, it is kept by nobody."""
    stop = Try([], (), stops=[], manages=True)
    run.frame.tries.append(stop)
    value = do()
    run.frame.tries.pop()
    done = run.state
    ends: list[State | None] = [done]
    raised: list[Alternative] = []
    live = EMPTY
    for flight in gather_flights(stop.stops or ()):
        taken = flight.state.fork()
        attempt = Try([] if handler is None else [handler], () if handler is None else (handler.node,))
        taken.faults = taken_by(handler, attempt, flight.state, flight.faults)
        ends.append(taken)
        raised.append((taken.reach, flight.raised))
        live |= taken.live
    for state in stop.maybe.values():
        ends.append(state)
        raised.append((state.reach, replace(raised_of("Exception"), exact=False)))
    value = value.within(done.reach - (done.ghost & live))
    settle(run, ends)
    return join(value, value_of(raised)).within(run.state.reach)
