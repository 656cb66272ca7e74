"""What asyncio, executors, pools and threads do with the functions that they are given."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, DictContent, Entry, ListContent
from driftwatch.flow.domain.exceptions import Handler
from driftwatch.flow.domain.values import NONE, Alternative, Deferred, External, Value, const, unknown, value_of
from driftwatch.flow.interpreter.arguments import argument, first_argument, one_argument, unknown_call
from driftwatch.flow.interpreter.conditions import truth_of
from driftwatch.flow.interpreter.containers import elements_of, turns_over
from driftwatch.flow.interpreter.deferred import (
    COROUTINE,
    EXECUTORS,
    FUTURE,
    POOLS,
    THREAD,
    awaited,
    defer,
    quietly,
    resume,
)
from driftwatch.flow.interpreter.registry import method, model
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, settle
from driftwatch.releases import EMPTY, ReleaseSet

_LOOP = "asyncio.AbstractEventLoop"
_FUTURE = "concurrent.futures.Future"


@model("asyncio.run", "asyncio.Runner.run", "asyncio.TaskGroup.create_task", f"{_LOOP}.run_until_complete")
def _run_now(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else awaited(run, value)


@model("asyncio.create_task", "asyncio.ensure_future", f"{_LOOP}.create_task")
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


model("concurrent.futures.as_completed", "asyncio.as_completed", "asyncio.wait_for", "asyncio.shield")(
    first_argument
)  # what is waited for, as it was given


@model("asyncio.gather")
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


@model("asyncio.wait", "concurrent.futures.wait")
def _wait(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``asyncio.wait``: what is done, and what is not yet."""
    reach = run.state.reach
    done = Entry(reach, reach, first_argument(run, arguments, node))
    return run.new_list(node, ListContent((done, Entry(reach, reach, unknown(reach))), is_tuple=True))


@model("asyncio.to_thread")
def _to_thread(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _put_off(run, arguments, node, 0, COROUTINE)


@model(f"{_LOOP}.run_in_executor")
def _in_executor(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _put_off(run, arguments, node, 1, FUTURE)


@model(*(f"{executor}.submit" for executor in EXECUTORS))
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


def _is_made(cls: str, *names: str) -> None:
    """Calls of these names make an object of a class of the standard library, known by the class."""

    @model(*names)
    def _made(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        return Value(((run.state.reach, External(cls)),))


for _executor in EXECUTORS:
    _is_made(_executor, _executor)
_is_made("multiprocessing.pool.Pool", *POOLS)
_is_made("asyncio.Runner", "asyncio.Runner")
_is_made("asyncio.TaskGroup", "asyncio.TaskGroup")
_is_made(_LOOP, "asyncio.get_event_loop", "asyncio.get_running_loop", "asyncio.new_event_loop")


@model("threading.Thread", "multiprocessing.Process")
def _thread(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _with_target(run, argument(arguments, 1, "target"), arguments, 3, node)


@model("threading.Timer")
def _timer(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _with_target(run, argument(arguments, 1, "function"), arguments, 2, node)


def _with_target(run: Run, target: Value | None, arguments: Arguments, index: int, node: cst.CSTNode) -> Value:
    """A function is given with a sequence of its arguments, and a dict."""
    if target is None or target.single() == NONE:
        return unknown_call(run, arguments, node)
    return defer(run, target, _unpacked(run, arguments, index), node, THREAD)


@model("multiprocessing.pool.Pool.apply_async")
def _apply_async(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 0, "func")
    if func is None:
        return unknown_call(run, arguments, node)
    return defer(run, func, _unpacked(run, arguments, 1), node, FUTURE)


@model("multiprocessing.pool.Pool.apply")
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


@model("multiprocessing.pool.Pool.starmap", "itertools.starmap")
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


# -- what is called on a future, a task or a thread --------------------------------------------------------------------


def _deferred(arguments: Arguments) -> Deferred | None:
    atom = one_argument(arguments, 0)
    return atom if isinstance(atom, Deferred) else None


@method(f"{_FUTURE}.result", f"{_FUTURE}.get", f"{_FUTURE}.run")
def _result(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    this = _deferred(arguments)
    return unknown_call(run, arguments, node) if this is None else resume(run, this)


@method(f"{_FUTURE}.start")
def _start(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    this = _deferred(arguments)
    if this is None:
        return unknown_call(run, arguments, node)
    quietly(run, lambda: resume(run, this), None)
    return const(None, run.state.reach)


@method(f"{_FUTURE}.exception")
def _error(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    this = _deferred(arguments)
    if this is None:
        return unknown_call(run, arguments, node)

    def nothing() -> Value:
        resume(run, this)
        return const(None, run.state.reach)

    return quietly(run, nothing, Handler(run.frame.tree, node, None, ()))


@method(f"{_FUTURE}.add_done_callback")
def _call_back(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 1)
    if _deferred(arguments) is None or func is None:
        return unknown_call(run, arguments, node)
    return run.call(func, Arguments(ListContent(arguments.positional.elements[:1])), node)
