"""Generators and iterators: what is gone through when one of the code base is.

A generator is executed where it is made, to its end, and gives a list of what it yields, in order; what it yields on
some of its ways alone may be in it. Who goes through it goes through that list.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, Entry, ListContent
from driftwatch.flow.domain.exceptions import Handler, Try
from driftwatch.flow.domain.frames import Frame
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import Instance, ListRef, Value, join, unknown, value_of
from driftwatch.flow.interpreter.containers import spread_into
from driftwatch.flow.interpreter.members import method_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, settle
from driftwatch.flow.interpreter.sequences import any_element
from driftwatch.releases import ReleaseSet


def begin_generator(run: Run, frame: Frame) -> None:
    """A generator is made that has yielded nothing yet."""
    function = frame.function
    assert function is not None
    frame.given_out = run.world.identities.number(function.node, frame.uid, "yields")
    run.state.heap[frame.given_out] = ListContent()


def give_out(run: Run, value: Value, node: cst.CSTNode, *, all_of_it: bool) -> None:
    """A function yields a value, or all that going through it gives."""
    frame, reach = run.frame, run.state.reach
    key = frame.given_out
    content = run.state.heap.get(key) if key is not None else None
    if key is None or not isinstance(content, ListContent):
        frame.yields.extend(as_alternatives(value, reach))
    elif all_of_it:
        value = iterated(run, value, node)
        run.state.heap[key] = content = spread_into(run, content, value)
        frame.yields.extend(any_element(content, reach))
    else:
        run.state.heap[key] = replace(content, elements=(*content.elements, Entry(reach, reach, value.within(reach))))
        frame.yields.extend(as_alternatives(value, reach))


def end_generator(run: Run, frame: Frame, start: ReleaseSet, end: State | None) -> tuple[Value, State]:
    """What a generator gives whose body has come to its end; in the releases in which it never does, any of it."""
    key = frame.given_out
    assert key is not None
    content = end.heap.get(key) if end is not None else None
    content = content if isinstance(content, ListContent) else ListContent()
    endless = value_of(frame.yields).within(start - end.reach if end is not None else start)
    if endless.alternatives:
        content = replace(content, open=content.open | endless.defined(), others=join(content.others, endless))
    after = end if end is not None else State(start, {}, run.state.heap, on_the_way_of=run.state)
    after.heap[key] = content
    return Value(((start, ListRef(key)),)), after


# -- going through objects ---------------------------------------------------------------------------------------------


def iterated(run: Run, value: Value, node: cst.CSTNode) -> Value:
    """What is gone through when a value is: of an object of the code base's own, what its methods give."""
    value = run.world.modules.looked_at(value)
    if not any(isinstance(atom, Instance) for _, atom in value.alternatives):
        return value
    found = Value()
    for where, atom in as_alternatives(value, run.state.reach):
        known = _gone_through(run, atom, where, node) if isinstance(atom, Instance) else None
        found = join(found, Value(((where, atom),)) if known is None else known.within(where))
    return found


def _gone_through(run: Run, atom: Instance, where: ReleaseSet, node: cst.CSTNode) -> Value | None:
    made = method_of(run, atom, "__iter__", NO_ARGUMENTS, where, node)
    if made is None:
        index = Entry(where, where, unknown(where))
        return _turns(run, atom, "__getitem__", Arguments(ListContent((index,))), "IndexError", where, node)
    found = Value()
    for there, iterator in as_alternatives(made, where):
        turns = None
        if isinstance(iterator, Instance):
            turns = _turns(run, iterator, "__next__", NO_ARGUMENTS, "StopIteration", there, node)
        found = join(found, Value(((there, iterator),)) if turns is None else turns.within(there))
    return found


def next_of(run: Run, atom: Instance, where: ReleaseSet, node: cst.CSTNode) -> Value | None:
    """What ``next`` gives of an object of the code base; None where it has no method for it."""
    return method_of(run, atom, "__next__", NO_ARGUMENTS, where, node)


def _turns(
    run: Run, atom: Instance, name: str, arguments: Arguments, ends: str, where: ReleaseSet, node: cst.CSTNode
) -> Value | None:
    """What a method gives that is called until it raises what says that there is no more."""
    handler = Handler(run.frame.tree, node, (ends,), ())
    run.frame.tries.append(Try([handler], (node,)))
    given = method_of(run, atom, name, arguments, where, node)
    run.frame.tries.pop()
    settle(run, [run.state, *(state for _, state in handler.entries)])
    if given is None:
        return None
    return run.new_list(node, ListContent(open=where, others=given.within(where)))
