"""``contextlib.ExitStack``: managers that are entered one by one, and left together.

A stack is an object whose list on the heap holds what it has entered.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, Entry, ListContent
from driftwatch.flow.domain.exceptions import Flight, Try
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    Atom,
    Object,
    Value,
    join,
    unknown,
)
from driftwatch.flow.interpreter.arguments import argument, one_argument, unknown_call
from driftwatch.flow.interpreter.managers import given_by, leave
from driftwatch.flow.interpreter.registry import leaving, method, model
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.releases import ReleaseSet

_STACK = "contextlib.ExitStack"


@model(_STACK, "contextlib.AsyncExitStack")
def _made(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    key = run.number(node, "stack")
    run.state.heap[key] = ListContent()
    return Value(((run.state.reach, Object(_STACK, key)),))


@method(f"{_STACK}.callback", f"{_STACK}.push_async_callback")
def _callback(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What is done at the end is done here: of the order nothing is known."""
    func = argument(arguments, 1)
    if func is None:
        return unknown(run.state.reach)
    rest = replace(arguments.positional, elements=arguments.positional.elements[2:])
    run.call(func, Arguments(rest, arguments.keywords), node)
    return func


@method(f"{_STACK}.push")
def _push(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _kept(run, arguments) or unknown_call(run, arguments, node)


@method(f"{_STACK}.enter_context", f"{_STACK}.enter_async_context")
def _enter_context(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    reach, manager = run.state.reach, _kept(run, arguments)
    found = Value()
    for where, atom in as_alternatives(manager, reach) if manager is not None else ():
        found = join(found, given_by(run, atom, where, node))
    return join(found, unknown(reach - found.defined()))


def _kept(run: Run, arguments: Arguments) -> Value | None:
    """A manager that is given, and in the stack from now on."""
    stack, manager, reach = one_argument(arguments, 0), argument(arguments, 1), run.state.reach
    content = run.content(stack.key) if isinstance(stack, Object) else None
    if manager is not None and isinstance(stack, Object) and isinstance(content, ListContent):
        run.state.heap[stack.key] = replace(content, elements=(*content.elements, Entry(reach, reach, manager)))
    return manager


@leaving(_STACK)
def _leave(run: Run, atom: Atom, stop: Try, node: cst.CSTNode, flight: Flight) -> tuple[list[State], list[Flight]]:
    """An exception leaves the managers one after the other, the last one that was entered first."""
    run.state = flight.state
    content = run.content(atom.key) if isinstance(atom, Object) else None
    entered = content.elements if isinstance(content, ListContent) else ()
    ends: list[State] = []
    flights = [flight]
    for entry in reversed(entered):
        further: list[Flight] = []
        for each in flights:
            there = entry.certain & each.state.reach
            further += _within(each, each.state.reach - there)
            for where, manager in as_alternatives(entry.value, there):
                for part in _within(each, where):
                    ended, goes_on = leave(run, manager, stop, node, part)
                    ends.extend(ended)
                    further.extend(goes_on)
        flights = further
    return ends, flights


def _within(flight: Flight, where: ReleaseSet) -> list[Flight]:
    return [replace(flight, state=flight.state.fork(where))] if where else []


EXAMPLES = {
    "a_stack_gives_what_its_managers_give": """
        from contextlib import ExitStack, contextmanager

        import lib.comm as comm


        @contextmanager
        def workspace(**kwargs):
            yield comm.create(1, **kwargs)


        def run():
            with ExitStack() as stack:
                made = stack.enter_context(workspace(rank=0, group=None))  #! DW101 group 0.1.0 raises
                return made.close()  #! DW203 close 0.1.0 to 0.2.0 raises
        """,
}
