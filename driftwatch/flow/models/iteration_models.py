"""What Python's functions do that go through something: ``map``, ``filter``, ``zip``, ``next`` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, Entry, ListContent
from driftwatch.flow.domain.values import Alternative, Atom, Instance, ListRef, Value, const, join, unknown, value_of
from driftwatch.flow.interpreter.arguments import argument, unknown_call
from driftwatch.flow.interpreter.conditions import truth_of
from driftwatch.flow.interpreter.containers import elements_of, turns_over
from driftwatch.flow.interpreter.deferred import EXECUTORS
from driftwatch.flow.interpreter.generators import iterated, next_of
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run, as_alternatives, settle
from driftwatch.flow.interpreter.sequences import by_place, edited, taking
from driftwatch.flow.models.concurrency import each_in_turn
from driftwatch.flow.models.container_models import listed
from driftwatch.releases import EMPTY, ReleaseSet

Row = tuple[Entry, ...]


def rows_of(run: Run, sources: Sequence[Value]) -> tuple[list[Row], ReleaseSet]:
    """What goes through several things at once gets in each turn, and where there may be further turns."""
    reach = run.state.reach
    columns = [None if each is None else list(by_place(each)) for each in (elements_of(run, s) for s in sources)]
    known = [len(column) for column in columns if column is not None]
    found: list[list[Entry]] = []
    for source, column in zip(sources, columns, strict=True):
        if column is None:
            column = turns_over(run, source) or [Entry(reach, EMPTY, run.combine(reach, source))] * 2
            # It may go on for as long as the others.
            column += [replace(column[-1], certain=EMPTY)] * (max(known, default=0) - len(column))
        found.append(column)
    return list(zip(*found, strict=False)), EMPTY if known else reach


@model("builtins.zip")
def _zip(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    if not arguments.positional.elements or arguments.positional.open:
        return unknown_call(run, arguments, node)
    rows, open_ = rows_of(run, [entry.value for entry in arguments.positional.elements])
    return _pairs(run, rows, node, open_)


@model("itertools.zip_longest")
def _zip_longest(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    parts = [elements_of(run, entry.value) for entry in arguments.positional.elements]
    if len({len(part) for part in parts if part is not None}) > 1:
        # What fills the shorter ones is not followed.
        return unknown_call(run, arguments, node)
    return _zip(run, arguments, node)


@model("builtins.enumerate")
def _enumerate(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value, start = argument(arguments, 0), argument(arguments, 1, "start")
    if value is None:
        return unknown(run.state.reach)
    reach = run.state.reach
    rows, open_ = rows_of(run, [value])
    counted = open_ or start is not None
    numbers = (unknown(reach) if counted else const(i, reach) for i in range(len(rows)))
    numbered = [(Entry(reach, reach, number), *row) for number, row in zip(numbers, rows, strict=True)]
    return _pairs(run, numbered, node, open_)


def _pairs(run: Run, rows: Sequence[Row], node: cst.CSTNode, open_: ReleaseSet) -> Value:
    elements: list[Entry] = []
    for i, row in enumerate(rows):
        where, certain = run.state.reach, run.state.reach
        for entry in row:
            where, certain = where & entry.releases, certain & entry.certain
        number = run.number(node, "row", i)
        # Where there is the row, there is all of it.
        run.state.heap[number] = ListContent(tuple(replace(e, certain=e.releases) for e in row), is_tuple=True)
        elements.append(Entry(where, certain, Value(((where, ListRef(number)),)) if where else Value()))
    further = elements[-1].value if open_ and elements else Value()
    return run.new_list(node, ListContent(tuple(elements), open_, others=further))


_MAPS = (
    *(f"{executor}.map" for executor in EXECUTORS),
    *(f"multiprocessing.pool.Pool.{name}" for name in ("map", "imap", "imap_unordered")),
)


@model(*_MAPS)
def apply_to_each(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``map(f, xs, ys)``: each call in turn."""
    func, *sources = [entry.value for entry in arguments.positional.elements]
    if not sources or arguments.positional.open:
        return unknown_call(run, arguments, node)
    rows, open_ = rows_of(run, sources)
    return each_in_turn(run, func, [Arguments(ListContent(row)) for row in rows], node, open_)


@model("builtins.filter")
def _filter(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func, source = argument(arguments, 0), argument(arguments, 1)
    if func is None or source is None:
        return unknown_call(run, arguments, node)
    rows, open_ = rows_of(run, [source])
    kept: list[Entry] = []
    plain = is_nothing(func)
    for (entry,) in rows:
        before = run.state
        here = entry.releases & before.reach
        run.state = before.fork(here)
        answer = entry.value if plain else run.call(func, Arguments(ListContent((entry,))), node)
        holds, surely, held = EMPTY, run.state.reach, []
        for where, atom in as_alternatives(answer, run.state.reach):
            said = truth_of(run, atom)
            holds |= where if said is not False else EMPTY
            surely -= where if said is not True else EMPTY
            held += [(where, atom)] if said is not False else []
        value = value_of(held) if plain else entry.value.within(holds)
        kept.append(Entry(holds, surely & entry.certain, value))
        settle(run, [run.state, before.fork(before.reach - entry.certain)])
    others = value_of(a for entry in kept for a in entry.value.alternatives)
    return run.new_list(node, ListContent(tuple(kept), open_, others=others if open_ else Value()))


def is_nothing(value: Value) -> bool:
    """Whether a value is None."""
    return value == const(None, value.defined())


@model("builtins.iter")
def _iter(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``iter(x)``: of a container, a list of what is in it by now, which those who ask for the next one take off."""
    first = argument(arguments, 0)
    if first is None or not as_alternatives(first, run.state.reach):
        return unknown(run.state.reach)
    if len(arguments.positional.elements) > 1:
        given = run.call(first, Arguments(), node)
        return run.new_list(node, ListContent(open=run.state.reach, others=given))
    found: list[Alternative] = []
    for i, (where, atom) in enumerate(as_alternatives(first, run.state.reach)):
        content = listed(run, atom, where)
        made = Value(((where, atom),)) if content is None else run.new_list(node, content, i).within(where)
        found.extend(made.alternatives)
    return value_of(found)


@model("builtins.next")
def _next(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``next(x)``: the first that is left."""
    source, default = argument(arguments, 0), argument(arguments, 1)
    if source is None:
        return unknown(run.state.reach)
    found = Value()
    for where, atom in as_alternatives(source, run.state.reach):
        value, rest = take_next(run, atom, where, node)
        found = join(found, value)
        if default is not None:
            found = join(found, default.within(rest))
        elif rest:
            run.stumbles("StopIteration", rest, rest - value.defined())
    return join(found, unknown(run.state.reach - found.defined()))


def take_next(run: Run, atom: Atom, where: ReleaseSet, node: cst.CSTNode) -> tuple[Value, ReleaseSet]:
    """What is next of a thing, and where there may be nothing left."""
    given = next_of(run, atom, where, node) if isinstance(atom, Instance) else None
    if given is not None:
        return given, where
    content = listed(run, atom, where)
    if content is None:
        return run.combine(where, Value(((where, atom),))), where
    found, left = Value(), where
    for entry in content.elements:
        found = join(found, entry.value.within(entry.releases & left))
        left -= entry.certain
    further = content.further().within(left)
    if isinstance(atom, ListRef) and content.elements:
        run.change(atom.key, edited(run, content, where, taking(0)))
    return join(found, further), left


@model("functools.reduce")
def _reduce(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``functools.reduce``."""
    func, source, start = (argument(arguments, i) for i in range(3))
    if func is None or source is None:
        return unknown_call(run, arguments, node)
    rows, open_ = rows_of(run, [source])
    made = start
    for (entry,) in rows:
        if made is None:
            made = entry.value
            continue
        reach = run.state.reach
        given = (Entry(reach, reach, made), entry)
        after = run.call(func, Arguments(ListContent(given)), node)
        made = after if entry.certain >= reach and not open_ else join(made, after)
    return unknown(run.state.reach) if made is None else made


GOES_THROUGH = frozenset(
    {
        "builtins.all", "builtins.any", "builtins.dict", "builtins.enumerate", "builtins.filter", "builtins.frozenset",
        "builtins.iter", "builtins.list", "builtins.map", "builtins.max", "builtins.min", "builtins.reversed",
        "builtins.set", "builtins.sorted", "builtins.sum", "builtins.tuple", "builtins.zip", "collections.OrderedDict",
        "collections.deque", "functools.reduce", "itertools.chain", "itertools.zip_longest", *_MAPS,
    }
)  # fmt: skip
"""Functions that go through what they are given: of an object of the code base, through what that gives."""


def gone_through(run: Run, arguments: Arguments, node: cst.CSTNode) -> Arguments:
    """The arguments of such a function, with what is gone through in the place of the code base's objects."""
    if not any(isinstance(atom, Instance) for value in arguments.values() for _, atom in value.alternatives):
        return arguments
    elements = tuple(replace(e, value=iterated(run, e.value, node)) for e in arguments.positional.elements)
    return replace(arguments, positional=replace(arguments.positional, elements=elements))
