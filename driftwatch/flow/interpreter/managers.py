"""``with``: what a manager gives, and what becomes of an exception in its block.

The block of a generator's manager is executed where the generator yields, so that what it throws meets the handlers
round the ``yield``. Other managers of the code base, and those of the standard library that swallow, see what the block
throws when it is through: their ``__exit__`` is called, and says whether it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.code import FunctionCode
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, Entry, ListContent, PartialContent
from driftwatch.flow.domain.endings import taken_by
from driftwatch.flow.domain.exceptions import ANYTHING, Flight, Handler, Try, is_one_of, may_take, raised_by
from driftwatch.flow.domain.frames import ENTER, Handling
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    NONE,
    UNKNOWN,
    Atom,
    Class,
    External,
    Function,
    Giving,
    Instance,
    Lazy,
    LibInstance,
    Managed,
    Object,
    Raised,
    Replacing,
    Suppressing,
    Value,
    const,
    join,
    unknown,
)
from driftwatch.flow.interpreter.assignment import assign
from driftwatch.flow.interpreter.conditions import split, truth_of
from driftwatch.flow.interpreter.deferred import ENTERED
from driftwatch.flow.interpreter.exceptional import exception_names, gather, go_on
from driftwatch.flow.interpreter.functions import enter, is_generator, manages
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.registry import leaving_of
from driftwatch.flow.interpreter.replaced import enter_patches, leave_patches
from driftwatch.flow.interpreter.run import MAX_DEPTH, Run, as_alternatives, settle
from driftwatch.flow.interpreter.sinks import EXPECTING_METHODS
from driftwatch.flow.syntax.children import walk
from driftwatch.releases import EMPTY, ReleaseSet

SUPPRESSORS = frozenset({"contextlib.suppress"})
EXPECTERS = frozenset({"pytest.raises", "pytest.warns", *(f"unittest.TestCase.{name}" for name in EXPECTING_METHODS)})
"""What is given the exceptions that a block, or a function that is given after them, is there to raise."""

MAX_ACTIVE = 3
"""How many blocks of one generator's manager may be in one another."""

Block = Callable[[Value], None]
"""What is executed within a manager, given what that gives."""


def execute_with(run: Run, node: cst.With) -> None:
    _items(run, node, 0)


def _items(run: Run, node: cst.With, index: int) -> None:
    if index == len(node.items):
        run.block(node.body.body)
        return
    item = node.items[index]

    def within(given: Value) -> None:
        if item.asname is not None:
            assign(run, item.asname.name, given.within(run.state.reach))
        _items(run, node, index + 1)

    handler = _called_handler(run, item.item)
    if handler is not None:
        _suppressing(run, handler, node, within)
        return
    looks = _is_passed_over(run, item.item)
    run.eager += looks
    value = run.eval(item.item, to=ENTER)
    run.eager -= looks
    if not run.state.reach:
        return
    before = enter_patches(run, value)
    _manage(run, node, item.item, value, within)
    leave_patches(run, before)


def _is_passed_over(run: Run, item: cst.BaseExpression) -> bool:
    """Whether a manager of the code base is made there that was not worth looking at so far, and may swallow."""
    called = item.func if isinstance(item, cst.Call) else None
    if not isinstance(called, (cst.Name, cst.Attribute)):
        return False
    atom = run.eval(called, callee=True).single()
    found = run.world.modules.look_at(atom) if isinstance(atom, Lazy) else None
    made = found.single() if found is not None else None
    if isinstance(made, Function):
        return manages(made.code) and is_generator(made.code) and any(map(_takes, _parts_of(made.code)))
    exits = [made.code.methods[name] for name in _EXITS if name in made.code.methods] if isinstance(made, Class) else ()
    return any(isinstance(each, cst.Return) for method in exits for each in _parts_of(method))


_EXITS = ("__exit__", "__aexit__")


def _parts_of(function: FunctionCode) -> Iterator[cst.CSTNode]:
    node = function.node
    return walk(function.tree.body(node)) if isinstance(node, cst.FunctionDef) else iter(())


def _takes(node: cst.CSTNode) -> bool:
    """Whether a part of a function is a handler that does not simply raise again."""
    return isinstance(node, cst.ExceptHandler) and raised_by(node.body.body, ANYTHING) is None


def _manage(run: Run, node: cst.With, item: cst.CSTNode, value: Value, within: Block) -> None:
    """Execute a block within what a manager may be."""
    plain: list[tuple[ReleaseSet, Atom]] = []
    ends: list[State | None] = []
    outer = run.state
    for where, atom in as_alternatives(value, outer.reach):
        run.state = outer.fork(where)
        if isinstance(atom, Managed) and _may_be_followed(run, atom):
            _through_generator(run, atom, node, within)
        elif isinstance(atom, Suppressing):
            _suppressing(run, Handler(run.frame.tree, item, atom.types, ()), node, within)
        elif leaving_of(atom) is not None or _exits(run, atom, node):
            _through_exit(run, atom, node, within)
        else:
            plain.append((where, atom))
            continue
        ends.append(run.state)
    others = outer.reach - value.defined()
    for where, _ in plain:
        others |= where
    if others:
        run.state = outer.fork(others)
        given = Value()
        for where, atom in plain:
            given = join(given, given_by(run, atom, where, node))
        within(join(given, unknown(others - given.defined())))
        ends.append(run.state)
    settle(run, ends)


def _exits(run: Run, atom: Atom, node: cst.With) -> bool:
    return isinstance(atom, Instance) and _method(run, atom, node, "exit") is not None


def given_by(run: Run, atom: Atom, where: ReleaseSet, node: cst.CSTNode) -> Value:
    """What ``with`` binds: what the manager gives, of the code base's own; of others, the manager itself."""
    if isinstance(atom, Instance):
        enters = _method(run, atom, node, "enter")
        if enters is not None:
            return run.call(enters, NO_ARGUMENTS, node)
    known = isinstance(atom, External) and atom.dotted in ENTERED
    if known or isinstance(atom, (Instance, LibInstance, Object)):
        return Value(((where, atom),))
    if isinstance(atom, (Managed, Replacing, Giving)):
        return atom.gives.within(where)
    return unknown(where)


def _method(run: Run, atom: Instance, node: cst.CSTNode, name: str) -> Value | None:
    """What Python calls of an instance to enter or exit; None where that is not known."""
    asynchronous = isinstance(node, cst.With) and node.asynchronous is not None
    method = f"__a{name}__" if asynchronous else f"__{name}__"
    found = instance_attribute(run, atom, method, run.state.reach, None)
    return found if found is not None and found.where(lambda a: isinstance(a, Function)) else None


# -- suppressors -------------------------------------------------------------------------------------------------------


def _called_handler(run: Run, item: cst.BaseExpression) -> Handler | None:
    """What stands for a handler right where it is entered."""
    if not isinstance(item, cst.Call):
        return None
    func = run.eval(item.func, callee=True).single()
    if not isinstance(func, External) or func.dotted not in SUPPRESSORS | EXPECTERS:
        return None
    return handler_of(run, item, expects=func.dotted in EXPECTERS)


def handler_of(run: Run, call: cst.Call, *, expects: bool) -> Handler:
    """A handler for the exceptions that a call is given: for the first alone where they are expected."""
    given = [each.value for each in call.args if each.keyword is None and not each.star]
    types = [name for each in (given[:1] if expects else given) for name in exception_names(run, each)]
    return Handler(run.frame.tree, call, tuple(types), (), expects=expects)


def _suppressing(run: Run, handler: Handler, node: cst.With, within: Block) -> None:
    with_handler(run, handler, node.body.body, lambda: within(unknown(run.state.reach)))


def with_handler(run: Run, handler: Handler, body: Sequence[cst.CSTNode], do: Callable[[], object]) -> None:
    """Do something, a block of the code base or what it stands for, and go on where a handler takes what it raises."""
    attempt = Try([handler], body)
    run.frame.tries.append(attempt)
    do()
    run.frame.tries.pop()
    ends: list[State | None] = [run.state, *(state for _, state in handler.entries)]
    ends += [state for kind, state in attempt.maybe.items() if may_take(handler, kind)]
    settle(run, ends)


# -- generators --------------------------------------------------------------------------------------------------------


def _may_be_followed(run: Run, atom: Managed) -> bool:
    function = _generator(run, atom)
    if function is None or run.frame.depth >= MAX_DEPTH:
        return False
    return run.world.entries.times_active(function.code) < MAX_ACTIVE


def _generator(run: Run, atom: Managed) -> Function | None:
    content = run.content(atom.key)
    func = content.func.single() if isinstance(content, PartialContent) else None
    return func if isinstance(func, Function) else None


def _through_generator(run: Run, atom: Managed, node: cst.With, within: Block) -> None:
    """Execute a generator, and a block where it yields."""
    outside, before = run.frame, run.state
    variables, path, reached = before.vars, run.path, EMPTY

    def at_yield(given: Value) -> None:
        nonlocal path, reached
        reached |= run.state.reach
        inside, own = run.frame, run.state.vars
        mark = inside.mark

        def back(state: State) -> State:
            """A state of the block as the generator sees it, which keeps the variables of the block for later."""
            kept = {**own, **{mark + name: value for name, value in state.vars.items()}}
            return State(state.reach, kept, state.heap, on_the_way_of=state)

        for attempt in inside.tries:
            attempt.holds(node.body.body)
        stop = Try([], node.body.body, stops=[], manages=True, around=tuple(inside.tries))
        run.frame = outside
        run.state = State(run.state.reach, dict(variables), run.state.heap, on_the_way_of=run.state)
        outside.tries.append(stop)
        within(given)
        outside.tries.pop()
        run.frame, path = inside, run.path
        after = back(run.state)
        for flight in stop.stops or ():
            run.send(replace(flight, state=back(flight.state)))
        for kind, state in stop.maybe.items():
            run.state = back(state)
            run.may_raise(kind)
        run.state = after

    _enter_generator(run, atom, at_yield)
    run.go_back(path)
    without = before.reach - reached
    if reached:
        # Where it neither yields nor ends, it has raised.
        without &= run.state.reach
    if without:
        # That it yields nothing there is more likely what is not known of it.
        after = run.state
        run.state = before.fork(without)
        within(unknown(run.state.reach))
        settle(run, [after, run.state])


def _enter_generator(run: Run, atom: Managed, at_yield: Block) -> None:
    function, content = _generator(run, atom), run.content(atom.key)
    assert function is not None and isinstance(content, PartialContent)
    arguments = Arguments(content.positional, content.keywords)
    enter(run, function.code, function.bound, arguments, atom.call, at_yield=at_yield)


# -- what is called at the end -----------------------------------------------------------------------------------------


def _through_exit(run: Run, atom: Atom, node: cst.With, within: Block) -> None:
    stop = Try([], node.body.body, stops=[], manages=True)
    given = given_by(run, atom, run.state.reach, node)
    run.frame.tries.append(stop)
    within(given)
    run.frame.tries.pop()
    ends: list[State | None] = []
    if run.state.reach and isinstance(atom, Instance):
        _call_exit(run, atom, node, const(None, run.state.reach), const(None, run.state.reach))
    ends.append(run.state)
    flights = list(gather(stop.stops or ()))
    for kind, state in stop.maybe.items():
        flights.append(Flight(Raised((kind, "Exception", "BaseException"), exact=False), state, {}, kind))
    for flight in flights:
        ended, goes_on = leave(run, atom, stop, node, flight)
        ends.extend(ended)
        for each in goes_on:
            run.state = each.state.fork()
            if isinstance(each.place, str):
                run.may_raise(each.place)
            else:
                run.send(each)
    settle(run, ends)


def leave(run: Run, atom: Atom, stop: Try, node: cst.CSTNode, flight: Flight) -> tuple[list[State], list[Flight]]:
    """An exception leaves the block of a manager: where it is swallowed, and where it goes on."""
    if isinstance(atom, Instance):
        return _leave_instance(run, atom, stop, node, flight)
    if isinstance(atom, Suppressing):
        return _leave_suppressor(run, atom, stop, node, flight)
    if isinstance(atom, Managed) and _may_be_followed(run, atom):
        return _leave_generator(run, atom, stop, flight)
    known = leaving_of(atom)
    return ([], [flight]) if known is None else known(run, atom, stop, node, flight)


def _leave_suppressor(
    run: Run, atom: Suppressing, stop: Try, node: cst.CSTNode, flight: Flight
) -> tuple[list[State], list[Flight]]:
    takes = is_one_of(flight.raised, atom.types) if atom.types else None
    if takes is False or (takes is None and not flight.faults):
        return [], [flight]
    handler = Handler(run.frame.tree, node, atom.types, ())
    return [_taken(flight, handler, stop)], [] if takes else [flight]


def _taken(flight: Flight, handler: Handler, attempt: Try) -> State:
    state = flight.state.fork()
    state.faults = taken_by(handler, attempt, flight.state, flight.faults)
    return state


def _leave_instance(
    run: Run, atom: Instance, stop: Try, node: cst.CSTNode, flight: Flight
) -> tuple[list[State], list[Flight]]:
    run.state = flight.state
    method = _method(run, atom, node, "exit")
    function = method.single() if method is not None else None
    if not isinstance(function, Function):
        return [], [flight]
    handler = Handler(function.code.tree, function.code.node, None, ())
    run.state = _taken(flight, handler, stop)
    reach = run.state.reach
    caught = Value(((reach, flight.raised),))
    name = flight.raised.names[0]
    kind = Value(((reach, External(f"builtins.{name}") if flight.raised.exact and "." not in name else UNKNOWN),))
    run.handling.append(Handling(handler, caught, run.frame))
    answer = _call_exit(run, atom, node, kind, caught)
    run.handling.pop()
    holds, fails = split(run, None, answer, lambda each: truth_of(run, each))
    return [holds] if holds.reach else [], [go_on(flight, fails)] if fails.reach else []


def _call_exit(run: Run, atom: Instance, node: cst.CSTNode, kind: Value, error: Value) -> Value:
    method = _method(run, atom, node, "exit")
    if method is None:
        return const(None, run.state.reach)
    reach = run.state.reach
    traceback = error if error.single() == NONE else unknown(reach)
    given = ListContent(tuple(Entry(reach, reach, each) for each in (kind, error, traceback)))
    return run.call(method, Arguments(given), node)


def _leave_generator(run: Run, atom: Managed, stop: Try, flight: Flight) -> tuple[list[State], list[Flight]]:
    """The generator of a manager that was entered before is executed anew, with the exception where it yields."""
    variables = flight.state.vars
    collected = Try([], (), stops=[])

    def at_yield(given: Value) -> None:
        state = State(
            flight.state.reach & run.state.reach, run.state.vars, flight.state.heap, on_the_way_of=flight.state
        )
        run.send(replace(flight, state=state))
        run.state = State(EMPTY, {}, run.state.heap)

    run.frame.tries.append(collected)
    run.state = flight.state.fork()
    _enter_generator(run, atom, at_yield)
    run.frame.tries.pop()

    def back(state: State) -> State:
        return State(state.reach, dict(variables), state.heap, on_the_way_of=state)

    ends = [back(run.state)] if run.state.reach else []
    return ends, [replace(each, state=back(each.state)) for each in collected.stops or ()]
