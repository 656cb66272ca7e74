"""Comprehensions: gone through element by element where the elements are known, once with unknown ones elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import DictContent, Entry, ListContent, put
from driftwatch.flow.domain.taint import tainted_within
from driftwatch.flow.domain.values import NOTHING, Const, ListRef, Value, const, join, key_for, unknown, value_of
from driftwatch.flow.interpreter.containers import elements_of, item_of, put_here, turns_over
from driftwatch.flow.interpreter.generators import iterated
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.results import unpacked
from driftwatch.flow.interpreter.run import Run, as_alternatives, lists_of
from driftwatch.flow.interpreter.sequences import part_between
from driftwatch.flow.interpreter.sets import as_set, members_of
from driftwatch.flow.syntax.children import walk
from driftwatch.releases import EMPTY, ReleaseSet


def list_comprehension(run: Run, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
    """``[element for target in iterable if test]``, and its set and generator forms."""
    iterable = iterated(run, run.eval(node.for_in.iter), node.for_in.iter)
    outer = run.state
    alternatives = as_alternatives(iterable, outer.reach)
    if len(alternatives) <= 1:
        return _one_list(run, node, iterable, 0)
    found = Value()
    for i, (where, atom) in enumerate(alternatives):
        run.state = outer.fork(where)
        found = join(found, _one_list(run, node, Value(((where, atom),)), i))
        outer.heap.follow(run.state.heap)
    run.state = outer
    return found


def _one_list(run: Run, node: cst.ListComp | cst.SetComp | cst.GeneratorExp, iterable: Value, index: int) -> Value:
    collected: list[Entry] = []
    open_ = _Flag(_assigned_in(run, node))

    given_conditions = run.state.conditional

    def visit(certain: ReleaseSet, origin: Entry | None) -> None:
        # Whether it is among them, a test may have decided that could not be followed.
        value = tainted_within(run.eval(node.elt), run.state.conditional - given_conditions)
        reach = run.state.reach
        collected.append(Entry(reach, certain & reach, value.within(reach), origin.trace if origin else ()))

    reach = run.state.reach
    _loop(run, node.for_in, iterable, reach, None, visit, open_)
    _bind_assigned(run, open_)
    content = ListContent(tuple(collected) if not open_.where else (), open_.where)
    if open_.where:
        content = replace(content, others=value_of(a for e in collected for a in e.value.alternatives))
    singles = [e.value.single() for e in content.elements if reach <= e.certain]
    if isinstance(node, cst.SetComp):
        made = run.new_list(node, content, index)
        return run.new_list(node, as_set(members_of(run, made)), index)
    if isinstance(node, cst.ListComp):
        return run.new_list(node, content, index)
    if not content.open and len(singles) == len(content.elements) and all(isinstance(s, Const) for s in singles):
        constants = tuple(s.value for s in singles if isinstance(s, Const))
        return const(constants, reach)
    return run.new_list(node, content, index)


def dict_comprehension(run: Run, node: cst.DictComp) -> Value:
    """``{key: value for target in iterable if test}``."""
    content = DictContent()
    open_ = _Flag(_assigned_in(run, node))

    def visit(certain: ReleaseSet, origin: Entry | None) -> None:
        nonlocal content
        key = run.eval(node.key)
        value = run.eval(node.value)
        reach = run.state.reach
        for where, atom in as_alternatives(key, reach):
            name = key_for(atom)
            if name is not None:
                trace = origin.trace if origin is not None and origin.trace else put_here(run, node.key, name)
                entry = Entry(where, certain & where, value.within(where), trace, origin.location if origin else None)
                content = put(content, name, entry)
            else:
                content = content.opened(where, value)

    iterable = iterated(run, run.eval(node.for_in.iter), node.for_in.iter)
    _loop(run, node.for_in, iterable, run.state.reach, None, visit, open_)
    _bind_assigned(run, open_)
    content = replace(content, open=content.open | open_.where, forwarded=content.forwarded | open_.forwarded)
    return run.new_dict(node, content)


class _Flag:
    """Where an iterable was not known in full."""

    __slots__ = ("forwarded", "named", "where")

    def __init__(self, assigned: tuple[str, ...]) -> None:
        self.named: dict[str, Value] = dict.fromkeys(assigned, NOTHING)
        """What is assigned within it to variables of the function round it."""
        self.where = EMPTY
        self.forwarded = EMPTY


def _loop(
    run: Run,
    loop: cst.CompFor,
    iterable: Value,
    certain: ReleaseSet,
    origin: Entry | None,
    visit: Callable[[ReleaseSet, Entry | None], None],
    open_: _Flag,
) -> None:
    outer = run.state
    parts = elements_of(run, iterable)
    if parts is not None and not run.bears(len(parts)):
        parts = [Entry(outer.reach, EMPTY, unknown(outer.reach))]
        open_.where = outer.reach
    elif parts is None:
        known = _known_part(run, iterable, open_)
        parts = turns_over(run, iterable)
        if parts is None:
            parts = [*known, Entry(outer.reach, EMPTY, run.combine(outer.reach, iterable))]
        if not open_.where:
            open_.where = outer.reach
    with run.repeated(len(parts)):
        for number, part in enumerate(parts):
            here = part.releases & outer.reach
            if here:
                run.state = outer.fork(here)
                with run.turn(number):
                    _turn(run, loop, part, certain, origin, visit, open_)
                outer.heap.add(run.state.heap)
    run.state = outer


def _turn(
    run: Run,
    loop: cst.CompFor,
    part: Entry,
    certain: ReleaseSet,
    origin: Entry | None,
    visit: Callable[[ReleaseSet, Entry | None], None],
    open_: _Flag,
) -> None:
    """What is done with one of the things that are gone through."""
    reach = run.state.reach
    bind(run, loop.target, part.value)
    sure = certain & part.certain
    for test in loop.ifs:
        holds, fails = run.branch(test.test)
        run.state = holds
        sure -= fails.reach
        if not holds.reach:
            return
    carried = part if part.trace or part.location else origin
    if loop.inner_for_in is not None:
        inner = iterated(run, run.eval(loop.inner_for_in.iter), loop.inner_for_in.iter)
        _loop(run, loop.inner_for_in, inner, sure, carried, visit, open_)
    else:
        visit(sure, carried)
        for name in open_.named:
            # The last one counts, where it is there for certain.
            before = open_.named[name].within(reach - sure)
            open_.named[name] = join(before, run.state.vars.get(name, NOTHING))


def _assigned_in(run: Run, node: cst.CSTNode) -> tuple[str, ...]:
    """The variables to which ``:=`` assigns in a comprehension."""
    targets = (
        (each.target for each in walk(node) if isinstance(each, cst.NamedExpr)) if ":=" in run.frame.tree.text else ()
    )
    return tuple(target.value for target in targets if isinstance(target, cst.Name))


def _bind_assigned(run: Run, found: _Flag) -> None:
    for name, value in found.named.items():
        assign_name(run, name, join(value, unknown(run.state.reach - value.defined())))


def _known_part(run: Run, iterable: Value, open_: _Flag) -> list[Entry]:
    """The elements that are surely among those of a container that may hold more."""
    found: list[Entry] = []
    for where, atom in as_alternatives(iterable, run.state.reach):
        content = lists_of(run, atom) if isinstance(atom, ListRef) else None
        if content is not None:
            found.extend(e.within(where) for e in content.elements if not e.releases.isdisjoint(where))
            open_.where |= content.open & where
            open_.forwarded |= content.forwarded & where
            if content.forwarded & where:
                run.effects.depends_on_parameters = True
        else:
            open_.where |= where
    return found


def bind(run: Run, target: cst.BaseExpression, value: Value) -> None:
    """Bind a loop's or an assignment's target: a name, or a tuple of targets taken apart."""
    if isinstance(target, cst.Name):
        assign_name(run, target.value, value)
        return
    if isinstance(target, (cst.Tuple, cst.List)):
        take_apart(run, target, value)


def take_apart(run: Run, target: cst.Tuple | cst.List, value: Value) -> None:
    """Bind each part of ``a, b = value``."""
    value = unpacked(run, target, value)
    for element, part in parts_of(run, target, value):
        bind(run, element.value, part)


def parts_of(run: Run, target: cst.Tuple | cst.List, value: Value) -> Iterator[tuple[cst.BaseElement, Value]]:
    """What each of several targets gets; a starred one gets a list of what the others leave."""
    star = next((i for i, each in enumerate(target.elements) if isinstance(each, cst.StarredElement)), None)
    for i, element in enumerate(target.elements):
        if i == star:
            yield element, _rest_of(run, target, value, star)
        else:
            yield element, part_of(run, value, i if star is None or i < star else i - len(target.elements))


def _rest_of(run: Run, target: cst.Tuple | cst.List, value: Value, star: int) -> Value:
    bounds = slice(star, (star + 1 - len(target.elements)) or None)
    found = Value()
    for i, (where, atom) in enumerate(as_alternatives(value, run.state.reach)):
        content = lists_of(run, atom)
        if content is None and (parts := elements_of(run, Value(((where, atom),)))) is not None:
            content = ListContent(tuple(parts))
        rest = None if content is None else replace(part_between(content, bounds, where), is_tuple=False)
        found = join(found, unknown(where) if rest is None else run.new_list(target, rest, i).within(where))
    return found


def part_of(run: Run, value: Value, index: int) -> Value:
    """One part of a value that is taken apart."""
    return value_of(
        alternative
        for where, atom in as_alternatives(value, run.state.reach)
        for alternative in item_of(run, atom, Const(index), where)
    )
