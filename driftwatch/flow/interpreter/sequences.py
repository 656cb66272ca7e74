"""Lists whose elements are told apart: what stands where in which releases, and what changing one of them does.

In a release in which it is known which elements there are, an operation on a list is Python's own, on a list of
entries. Elsewhere anything may be in it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from driftwatch.flow.domain.contents import Entry, ListContent
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.values import NOTHING, UNKNOWN, Alternative, Const, Value, join, unknown, value_of
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import EMPTY, ReleaseSet, are_apart, union

MAX_LAYOUTS = 16
"""How many different lists one may be in the different releases before nothing is known of the order."""

Layout = tuple[ReleaseSet, list[Entry] | None]
"""Releases, and the elements that are surely there in them, in order; None where that is not known."""

Operation = Callable[[ReleaseSet, list[Entry]], object]
"""What changes a list of elements, in releases in which they are all there."""


def layouts_of(content: ListContent, where: ReleaseSet, most: int = MAX_LAYOUTS) -> list[Layout]:
    """The elements of a list, by the releases in which they are the same ones."""
    unclear = (content.open | content.forwarded) & where
    groups: list[tuple[ReleaseSet, list[Entry]]] = [(where - unclear, [])]
    for element in content.elements:
        split: list[tuple[ReleaseSet, list[Entry]]] = []
        for here, elements in groups:
            there, sure = here & element.releases, here & element.certain
            unclear |= there - sure
            split.append((sure, [*elements, element]))
            split.append((here - there, elements))
        groups = [group for group in split if group[0]]
        if len(groups) > most:
            return [(where, None)]
    found: list[Layout] = [(here, [e.within(here) for e in elements]) for here, elements in groups if here]
    return [*found, (unclear, None)] if unclear else found


def by_place(elements: Sequence[Entry]) -> Sequence[Entry]:
    """The elements of a list, those of different releases at one place together: each where it would be counted.

    The parts of a version are few, whatever the number of releases. What is not certain stays as it is.
    """
    everywhere = union([element.releases for element in elements])
    if all(element.releases == everywhere for element in elements) or any(map(_is_special, elements)):
        return elements
    layouts = layouts_of(ListContent(tuple(elements)), everywhere, len(elements))
    listed = [layout for _, layout in layouts if layout is not None]
    if len(listed) < len(layouts):
        return elements
    columns = ([layout[i] for layout in listed if i < len(layout)] for i in range(max(map(len, listed))))
    return [_together(column) for column in columns]


def _is_special(element: Entry) -> bool:
    return bool(element.releases - element.certain or element.location or element.conditional or element.written)


def _together(column: Sequence[Entry]) -> Entry:
    where = union([element.releases for element in column])
    value = value_of(a for element in column for a in element.value.within(element.releases).alternatives)
    return Entry(where, where, value, column[0].trace)


def edited(
    run: Run, content: ListContent, where: ReleaseSet, operation: Operation, put: Value = NOTHING
) -> ListContent:
    """A list after an operation in these releases; `LookupError` and `ValueError` mean that Python raises one.

    `put` is what the operation puts into it.
    """
    outside = run.world.all_releases - where
    elements = [e.within(outside) for e in content.elements if not e.releases.isdisjoint(outside)]
    lost = EMPTY
    for here, listed in layouts_of(content, where):
        if listed is None:
            lost |= here
            continue
        try:
            operation(here, listed)
        except (LookupError, ValueError) as error:
            kind = "IndexError" if isinstance(error, LookupError) else "ValueError"
            if run.is_caught(kind):
                run.throw(kind, here)
                run.state.reach -= here
            continue
        elements.extend(listed)
    after = replace(content, elements=tuple(elements))
    if not lost:
        return after
    loose = loosened(replace(content, elements=tuple(e.within(lost) for e in content.elements)), lost)
    assert isinstance(loose, ListContent)
    return replace(after, open=loose.open, others=join(loose.others, put.within(lost)))


def element_at(content: ListContent, index: int, where: ReleaseSet) -> list[Alternative]:
    """What is at a place of a list; anything where that is not known."""
    found: list[Alternative] = []
    for here, listed in layouts_of(content, where):
        if listed is None:
            found.extend(any_element(content, here))
        elif not -len(listed) <= index < len(listed):
            found.append((here, UNKNOWN))
        else:
            value = listed[index].value.within(here)
            found.extend(join(value, unknown(here - value.defined())).alternatives)
    return found


def any_element(content: ListContent, where: ReleaseSet) -> list[Alternative]:
    """What may be in a list, at a place that is not known."""
    found = list(content.further().within(where).alternatives)
    for element in content.elements:
        found.extend(element.value.within(element.releases & where).alternatives)
    return [*found, (where - Value(tuple(found)).defined(), UNKNOWN)]


def part_between(content: ListContent, bounds: slice, where: ReleaseSet) -> ListContent:
    """``content[a:b:c]``."""
    elements: list[Entry] = []
    lost = EMPTY
    for here, listed in layouts_of(content, where):
        if listed is None:
            lost |= here
        else:
            elements.extend(listed[bounds])
    return ListContent(tuple(elements), lost, is_tuple=content.is_tuple, others=value_of(any_element(content, lost)))


def taking(index: int | None) -> Operation:
    """The operation that takes the element at a place off a list; it may be any where the place is not known."""

    def take(_: ReleaseSet, listed: list[Entry]) -> None:
        if index is not None:
            listed.pop(index)
            return
        following = listed[1:]
        del listed[-1]
        listed[:] = [replace(a, value=join(a.value, b.value)) for a, b in zip(listed, following, strict=True)]

    return take


def inserting(index: int | None, value: Value) -> Operation:
    """The operation that puts an element before a place, or anywhere."""

    def insert(where: ReleaseSet, listed: list[Entry]) -> None:
        entry = Entry(where, where, value.within(where))
        if index is not None:
            listed.insert(index, entry)
            return
        mixed = value_of(a for each in (*listed, entry) for a in each.value.alternatives)
        listed[:] = [Entry(where, where, mixed)] * (len(listed) + 1)

    return insert


def shuffling(where: ReleaseSet, listed: list[Entry]) -> None:
    """The operation that puts the elements into another order."""
    mixed = value_of(a for each in listed for a in each.value.alternatives)
    listed[:] = [Entry(where, where, mixed)] * len(listed)


def reversing(_: ReleaseSet, listed: list[Entry]) -> None:
    """The operation that turns a list round."""
    listed.reverse()


def taking_first(value: Value) -> Operation:
    """The operation that takes the first element off that equals a constant."""

    def take(where: ReleaseSet, listed: list[Entry]) -> None:
        wanted = value.within(where).single()
        for i, each in enumerate(listed):
            held = each.value.within(where).single()
            if not isinstance(held, Const) or not isinstance(wanted, Const):
                taking(None)(where, listed)
                return
            if held == wanted:
                del listed[i]
                return
        raise ValueError

    return take


def of_one(lists: Sequence[tuple[ReleaseSet, tuple[Entry, ...]]]) -> Iterator[Entry]:
    """The elements of the one list that a value is, of several that it may be in one release: place by place."""
    if are_apart(where for where, _ in lists) or any(
        not where <= each.releases for where, elements in lists for each in elements
    ):
        yield from (each for _, elements in lists for each in elements)
        return
    for i in range(max(len(elements) for _, elements in lists)):
        here = [elements[i] for _, elements in lists if i < len(elements)]
        releases = union([each.releases for each in here])
        short = union([EMPTY, *(where - (of[i].certain if i < len(of) else EMPTY) for where, of in lists)])
        held = value_of(alternative for each in here for alternative in each.value.within(each.releases).alternatives)
        yield replace(here[0], releases=releases, certain=releases - short, value=held)


def unordered(content: ListContent) -> ListContent:
    """A list of which only is known what may be in it, not how often or where."""
    where = union([entry.releases for entry in content.elements])
    held = value_of(a for entry in content.elements for a in entry.value.within(entry.releases).alternatives)
    return replace(content, elements=(), open=content.open | where, others=join(content.further(), held))
