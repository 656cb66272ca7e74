"""Calls that are made later: coroutines and tasks, what an executor is given, threads.

A call that is put off is a value. It is made where its result is asked for, with the handlers that are round that
place; the use stays where the call is written. What nobody seen asks for is made at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.endings import taken_by
from driftwatch.flow.domain.exceptions import Handler, Try, raised_of
from driftwatch.flow.domain.frames import AWAIT, Purpose, Waiting
from driftwatch.flow.domain.state import Arguments, DictContent, Entry, ListContent, PartialContent, State
from driftwatch.flow.domain.values import NONE, Alternative, Deferred, External, Value, const, join, unknown, value_of
from driftwatch.flow.interpreter.arguments import argument, unknown_call
from driftwatch.flow.interpreter.conditions import truth_of
from driftwatch.flow.interpreter.containers import elements_of, turns_over
from driftwatch.flow.interpreter.exceptional import gather as gather_flights
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, settle
from driftwatch.releases import EMPTY, ReleaseSet

Model = Callable[[Run, Arguments, cst.CSTNode], Value]

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

_LOOP = "asyncio.AbstractEventLoop"


def defer(run: Run, func: Value, arguments: Arguments, node: cst.CSTNode, kind: str) -> Value:
    """A call that is made later."""
    key = run.world.identities.number(node, run.frame.uid, "deferred")
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


# -- asyncio -----------------------------------------------------------------------------------------------------------


def _run_now(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else awaited(run, value)


def _task(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """A task: who awaits it, or asks for its result, gets what its coroutine raises."""
    value = argument(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        task = replace(atom, kind=FUTURE) if isinstance(atom, Deferred) else atom
        if isinstance(task, Deferred) and task.key in run.waiting:
            run.waiting[task.key].atom = task
        found.append((where, task))
    return value_of(found)


def _same(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else value


def _gather(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``asyncio.gather``: with `return_exceptions`, what is raised is among the results."""
    option = arguments.keywords.entries.get("return_exceptions")
    keeps = option is not None and any(truth_of(run, atom) is not False for _, atom in option.value.alternatives)
    results: list[Entry] = []
    for entry in arguments.positional.elements:
        if keeps:
            handler = Handler(run.frame.tree, node, None, ())
            value = quietly(run, lambda given=entry.value: awaited(run, given), handler)  # type: ignore[misc]
        else:
            value = awaited(run, entry.value)
        results.append(replace(entry, value=value))
    return run.new_list(node, replace(arguments.positional, elements=tuple(results)))


def _wait(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``asyncio.wait``: what is done, and what is not yet."""
    reach = run.state.reach
    done = Entry(reach, reach, _same(run, arguments, node))
    return run.new_list(node, ListContent((done, Entry(reach, reach, unknown(reach))), is_tuple=True))


def _to_thread(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _put_off(run, arguments, node, 0, COROUTINE)


def _in_executor(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _put_off(run, arguments, node, 1, FUTURE)


def _submit(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _put_off(run, arguments, node, 0, FUTURE)


def _put_off(run: Run, arguments: Arguments, node: cst.CSTNode, index: int, kind: str) -> Value:
    """A function is given at a place, and after it what it is called with."""
    func = argument(arguments, index)
    if func is None:
        return unknown_call(run, arguments, node)
    rest = replace(arguments.positional, elements=arguments.positional.elements[index + 1 :])
    return defer(run, func, Arguments(rest, arguments.keywords), node, kind)


# -- pools and threads -------------------------------------------------------------------------------------------------


def _object(dotted: str) -> Model:
    """An instance of a class of the standard library, known by the class."""

    def model(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        return Value(((run.state.reach, External(dotted)),))

    return model


def _thread(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _with_target(run, argument(arguments, 1, "target"), arguments, 3, node)


def _timer(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _with_target(run, argument(arguments, 1, "function"), arguments, 2, node)


def _with_target(run: Run, target: Value | None, arguments: Arguments, index: int, node: cst.CSTNode) -> Value:
    """A function is given with a sequence of its arguments, and a dict."""
    if target is None or target.single() == NONE:
        return unknown_call(run, arguments, node)
    return defer(run, target, _unpacked(run, arguments, index), node, THREAD)


def _apply_async(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 0, "func")
    if func is None:
        return unknown_call(run, arguments, node)
    return defer(run, func, _unpacked(run, arguments, 1), node, FUTURE)


def _apply(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 0, "func")
    if func is None:
        return unknown_call(run, arguments, node)
    return run.call(func, _unpacked(run, arguments, 1), node)


def _unpacked(run: Run, arguments: Arguments, index: int) -> Arguments:
    """The arguments that are given as a sequence, ``args`` or at a place, and as a dict after it."""
    reach = run.state.reach
    positional, keywords = argument(arguments, index, "args"), argument(arguments, index + 1, "kwargs")
    elements = elements_of(run, positional) if positional is not None and positional.single() != NONE else []
    given = ListContent(open=reach) if elements is None else ListContent(tuple(elements))
    named = DictContent()
    single = keywords.single() if keywords is not None else NONE
    if single is not None and single != NONE:
        named = dict_of(run, single) or DictContent(open=reach)
    elif single is None:
        named = DictContent(open=reach)
    return Arguments(given, named)


def _starmap(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func, source = argument(arguments, 0), argument(arguments, 1)
    if func is None or source is None:
        return unknown_call(run, arguments, node)
    calls: list[Arguments] = []
    for turn in turns_over(run, source) or [Entry(run.state.reach, EMPTY, unknown(run.state.reach))]:
        elements = elements_of(run, turn.value)
        content = ListContent(open=run.state.reach) if elements is None else ListContent(tuple(elements))
        calls.append(Arguments(content))
    return each_in_turn(run, func, calls, node, EMPTY)


def each_in_turn(run: Run, func: Value, calls: list[Arguments], node: cst.CSTNode, open_: ReleaseSet) -> Value:
    """A list of what each of these calls gives; there may be further ones in some releases."""
    results: list[Entry] = []
    for arguments in calls:
        reach = run.state.reach
        there = sure = reach
        for entry in arguments.positional.elements:
            there, sure = there & entry.releases, sure & entry.certain
        skipped = run.state.fork(reach - sure) if reach - sure else None
        value = awaited(run, run.call(func, arguments, node))
        results.append(Entry(there, sure, value.within(there)))
        settle(run, [run.state, skipped])
    others = value_of(a for entry in results for a in entry.value.alternatives) if open_ else Value()
    return run.new_list(node, ListContent(tuple(results), open_, others=others))


def deferred_method(run: Run, atom: Deferred, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What is called on a future, a task or a thread."""
    reach = run.state.reach
    if name in ("result", "get", "run"):
        return resume(run, atom)
    if name == "start":
        quietly(run, lambda: resume(run, atom), None)
        return const(None, run.state.reach)
    if name == "exception":
        handler = Handler(run.frame.tree, node, None, ())
        return quietly(run, lambda: _nothing(run, resume(run, atom)), handler)
    if name == "add_done_callback":
        func = argument(arguments, 0)
        if func is not None:
            given = Entry(reach, reach, Value(((reach, atom),)))
            return run.call(func, Arguments(ListContent((given,))), node)
    return unknown(reach)


def _nothing(run: Run, value: Value) -> Value:
    return const(None, run.state.reach)


DEFERRED: dict[str, Model] = {
    **{f"{executor}.submit": _submit for executor in EXECUTORS},
    **{executor: _object(executor) for executor in EXECUTORS},
    **{pool: _object("multiprocessing.pool.Pool") for pool in POOLS},
    "multiprocessing.pool.Pool.starmap": _starmap,
    "multiprocessing.pool.Pool.apply": _apply,
    "multiprocessing.pool.Pool.apply_async": _apply_async,
    "itertools.starmap": _starmap,
    "threading.Thread": _thread,
    "threading.Timer": _timer,
    "multiprocessing.Process": _thread,
    "concurrent.futures.as_completed": _same,
    "asyncio.as_completed": _same,
    "asyncio.wait": _wait,
    "concurrent.futures.wait": _wait,
    "asyncio.run": _run_now,
    "asyncio.Runner": _object("asyncio.Runner"),
    "asyncio.Runner.run": _run_now,
    "asyncio.create_task": _task,
    "asyncio.ensure_future": _task,
    "asyncio.TaskGroup": _object("asyncio.TaskGroup"),
    "asyncio.TaskGroup.create_task": _run_now,
    "asyncio.wait_for": _same,
    "asyncio.shield": _same,
    "asyncio.gather": _gather,
    "asyncio.to_thread": _to_thread,
    "asyncio.get_event_loop": _object(_LOOP),
    "asyncio.get_running_loop": _object(_LOOP),
    "asyncio.new_event_loop": _object(_LOOP),
    f"{_LOOP}.run_until_complete": _run_now,
    f"{_LOOP}.create_task": _task,
    f"{_LOOP}.run_in_executor": _in_executor,
}
"""What asyncio, executors, pools and threads do with what they are given."""
