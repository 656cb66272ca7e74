"""Sets: which members are there in which releases, through what is added, taken out, and put together.

In the heap, a set is a list in which nothing stands twice. The keys of a dict take part in its arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from driftwatch.flow.domain.contents import Entry, ListContent
from driftwatch.flow.domain.values import NOTHING, Atom, Const, ParameterMap, Value, atom_of, const, join
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of
from driftwatch.releases import EMPTY, ReleaseSet

OPERATIONS = {"BitAnd": "and", "BitOr": "or", "Subtract": "minus", "BitXor": "either"}
"""What operators of sets are called, by the names of their nodes."""

METHODS = {
    "intersection": "and", "union": "or", "difference": "minus", "symmetric_difference": "either",
    "intersection_update": "and", "update": "or", "difference_update": "minus",
    "symmetric_difference_update": "either",
}  # fmt: skip

_NOWHERE = Entry(EMPTY, EMPTY, NOTHING)


@dataclass(frozen=True, slots=True)
class Members:
    """What may be in a set, each with where it may and where it surely is, and where there may be more."""

    known: dict[Const, Entry]
    open: ReleaseSet = EMPTY
    others: Value = NOTHING


def members_of(run: Run, value: Value) -> Members:
    """The members of a set, or of what a set is made of."""
    known: dict[Const, Entry] = {}
    open_, others, seen, twice = EMPTY, NOTHING, EMPTY, EMPTY
    for where, atom in as_alternatives(value, run.state.reach):
        twice |= seen & where
        seen |= where
        parts = _parts(run, atom, where)
        if parts is None:
            open_ |= where
            continue
        content = lists_of(run, atom) or dict_of(run, atom)
        if content is not None:
            open_ |= (content.open | content.forwarded) & where
            others = join(others, content.others.within(where))
        for part in parts:
            for there, each in part.value.alternatives:
                here = there & part.releases
                if not isinstance(each, Const):
                    open_ |= here
                    others = join(others, Value(((here, each),)) if here else NOTHING)
                    continue
                sure = here & part.certain if part.value.within(here).single() == each else EMPTY
                before = known.get(each, _NOWHERE)
                held = join(before.value, Value(((here, each),)) if here else NOTHING)
                trace = before.trace or part.trace
                known[each] = Entry(before.releases | here, before.certain | sure, held, trace)
    if twice:
        known = {each: replace(entry, certain=entry.certain - twice) for each, entry in known.items()}
    return Members(known, open_, others)


def _parts(run: Run, atom: Atom, where: ReleaseSet) -> list[Entry] | None:
    content, keys = lists_of(run, atom), dict_of(run, atom)
    if content is not None:
        return [entry.within(where) for entry in content.elements]
    if keys is not None:
        held = [(name, entry.within(where)) for name, entry in keys.entries.items()]
        return [replace(entry, value=Value(((entry.releases, atom_of(name)),))) for name, entry in held]
    if isinstance(atom, ParameterMap):
        return [Entry(where, where, const(p.name, where)) for p in atom.parameters]
    if isinstance(atom, Const) and isinstance(atom.value, (tuple, frozenset)):
        return [Entry(where, where, const(each, where)) for each in sorted(atom.value, key=repr)]
    return None


def as_set(members: Members) -> ListContent:
    """A set of these members."""
    elements = tuple(entry for entry in members.known.values() if entry.releases)
    return ListContent(elements, members.open, is_set=True, others=members.others)


def is_set(run: Run, atom: Atom) -> bool:
    """Whether an atom is a set."""
    content = lists_of(run, atom)
    return (content is not None and content.is_set) or (isinstance(atom, Const) and isinstance(atom.value, frozenset))


def combined(run: Run, operation: str, left: Value, right: Value) -> ListContent:
    """What an operation makes of two sets: ``and``, ``or``, ``minus`` or ``either``."""
    first, second = members_of(run, left), members_of(run, right)
    found: dict[Const, Entry] = {}
    for each in dict.fromkeys((*first.known, *second.known)):
        a, b = first.known.get(each, _NOWHERE), second.known.get(each, _NOWHERE)
        may_a, may_b = a.releases | first.open, b.releases | second.open
        if operation == "and":
            may, sure = (a.releases & may_b) | (b.releases & may_a), a.certain & b.certain
        elif operation == "or":
            may, sure = a.releases | b.releases, a.certain | b.certain
        elif operation == "minus":
            may, sure = a.releases - b.certain, a.certain - may_b
        else:
            may = (a.releases - b.certain) | (b.releases - a.certain)
            sure = (a.certain - may_b) | (b.certain - may_a)
        found[each] = Entry(may, sure, Value(((may, each),)) if may else NOTHING, a.trace or b.trace)
    open_ = first.open & second.open if operation == "and" else first.open
    if operation in ("or", "either"):
        open_ |= second.open
    others = first.others if operation == "minus" else join(first.others, second.others)
    return as_set(Members(found, open_, others.within(open_)))


def with_member(content: ListContent, member: Value, where: ReleaseSet) -> ListContent:
    """A set after ``add`` in these releases."""
    elements = list(content.elements)
    for there, each in member.within(where).alternatives:
        sure = there if member.within(there).single() == each else EMPTY
        for i, entry in enumerate(elements):
            if isinstance(each, Const) and entry.value.single() == each:
                held = Value(((entry.releases | there, each),))
                elements[i] = replace(entry, releases=entry.releases | there, certain=entry.certain | sure, value=held)
                break
        else:
            elements.append(Entry(there, sure, Value(((there, each),))))
    return replace(content, elements=tuple(elements))


def without_member(content: ListContent, member: Value, where: ReleaseSet) -> ListContent:
    """A set after ``discard`` in these releases."""
    elements = []
    for entry in content.elements:
        gone, maybe = EMPTY, EMPTY
        for there, each in member.within(where).alternatives:
            if isinstance(each, Const) and entry.value.single() == each:
                gone |= there if member.within(there).single() == each else EMPTY
                maybe |= there
            elif not isinstance(each, Const):
                maybe |= there
        left = entry.releases - gone
        if left:
            elements.append(Entry(left, entry.certain - gone - maybe, entry.value.within(left), entry.trace))
    return replace(content, elements=tuple(elements))
