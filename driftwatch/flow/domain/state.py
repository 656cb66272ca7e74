"""What is known at a program point: the releases in which it is reached, the variables, and the containers they hold.

States are joined where control flow meets. A variable's key is its name, or a dotted path such as ``self.ws`` for an
attribute whose value was set or tested here; a path that only one side knows is forgotten at a join, since the place
it stands for has a value of its own elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from operator import is_
from typing import TYPE_CHECKING

from driftwatch.flow.domain.contents import Content, DictContent, Entry, ListContent
from driftwatch.flow.domain.facts import NO_FACTS, Facts, telling
from driftwatch.flow.domain.heap import Heap
from driftwatch.flow.domain.path_conditions import NO_CONDITIONS, Conditions, assume, meet, spanned
from driftwatch.flow.domain.predicates import may_be_ghosts
from driftwatch.flow.domain.taint import tainted_within
from driftwatch.flow.domain.values import (
    NOTHING,
    LibInstance,
    Value,
    join,
    value_of,
)
from driftwatch.flow.uses import Location
from driftwatch.releases import EMPTY, ReleaseSet

if TYPE_CHECKING:
    from driftwatch.flow.domain.faults import Swallowed


NO_FAULTS: Swallowed = {}


class State:
    """A mutable program state; `fork` before going two ways.

    `ghost` is where it is only gone on with to see more: the program has ended there. `faults` are what has been thrown
    and swallowed on the way here, each with the releases, and `conditions` what could not be followed; both are
    replaced, never changed. Of all of them counts what lies within `reach`. `told` is what tests on the way here have
    said of objects of the library.
    """

    __slots__ = ("conditions", "faults", "ghost", "heap", "reach", "told", "vars")

    def __init__(
        self,
        reach: ReleaseSet,
        variables: dict[str, Value] | None = None,
        heap: Heap | None = None,
        *,
        on_the_way_of: State | None = None,
    ) -> None:
        self.reach = reach
        self.vars: dict[str, Value] = {} if variables is None else variables
        self.heap = Heap() if heap is None else heap
        self.conditions: Conditions = NO_CONDITIONS if on_the_way_of is None else on_the_way_of.conditions
        self.ghost: ReleaseSet = EMPTY if on_the_way_of is None else on_the_way_of.ghost
        self.faults: Swallowed = NO_FAULTS if on_the_way_of is None else on_the_way_of.faults
        self.told: Facts = NO_FACTS if on_the_way_of is None else on_the_way_of.told

    def fork(self, reach: ReleaseSet | None = None) -> State:
        """A copy, reached in fewer releases if asked."""
        made = _new_state(State)
        made.reach = self.reach if reach is None else reach
        made.vars, made.heap = self.vars.copy(), self.heap.copy()
        made.conditions, made.ghost, made.faults = self.conditions, self.ghost, self.faults
        made.told = self.told
        return made

    @property
    def conditional(self) -> ReleaseSet:
        """Where it is only reached under a test that depends on the release and could not be followed."""
        return spanned(self.conditions) & self.reach if self.conditions else EMPTY

    def assume(self, test: int, holds: bool, where: ReleaseSet) -> None:
        """In these releases, it is reached on one of the two ways that such a test lets through."""
        self.conditions = assume(self.conditions, (test, holds), where)

    @property
    def live(self) -> ReleaseSet:
        """Where the program really gets here."""
        return self.reach - self.ghost

    def covers(self, other: State) -> bool:
        """Whether it is the other state, in the same releases or more."""
        return (
            other.reach <= self.reach
            and other.ghost == self.ghost
            and other.faults == self.faults
            and other.vars == self.vars
            and other.conditions == self.conditions
            and other.told == self.told
            and other.heap.equals(self.heap)
        )

    def adopt(self, heap: Mapping[int, Content]) -> None:
        """Make containers that live elsewhere visible here."""
        for key, content in heap.items():
            if key not in self.heap:
                self.heap[key] = content

    def forget(self, prefix: str) -> None:
        """Forget what is known of the attributes below a path, such as ``self``."""
        dotted = prefix + "."
        for key in [k for k in self.vars if k.startswith(dotted)]:
            del self.vars[key]

    def forget_attributes(self) -> None:
        """Forget every attribute: something that could change any of them has run."""
        for key in [k for k in self.vars if "." in k]:
            del self.vars[key]


_new_state = object.__new__


def join_states(first: State | None, second: State | None, since: State | None = None) -> State | None:
    """The state where both meet; None stands for a way that is not taken.

    `since` is what the first was last joined with: what the second holds that is the very same, it has already.
    """
    if first is None or not first.reach.mask:
        return second if second is not None and second.reach.mask else first or second
    if second is None or not second.reach.mask:
        return first
    reach = first.reach | second.reach
    faults = first.faults
    if faults is not second.faults:
        faults = _join_faults(first, second)
    ghost = EMPTY
    dropped: tuple[tuple[State, ReleaseSet], ...] = ()
    if first.ghost or second.ghost:
        # Where the program really comes one way, what it would be on the other counts for nothing.
        ghost = reach - first.live - second.live
        dropped = ((first, first.ghost & second.live), (second, second.ghost & first.live))
        first, second = _without_ghost(first, second), _without_ghost(second, first)
    # Most of what two ways hold is the very same, which dicts find out faster than a loop does.
    conditions, decided = meet(first.conditions, first.reach, second.conditions, second.reach)
    variables = first.vars.copy() if first.vars == second.vars else _join_variables(first, second, decided)
    heap = first.heap.copy()
    met = first.heap if since is None or not _has_been_met(since, second, decided) else since.heap
    for number, content, before in second.heap.differences(met):
        mine = heap.get(number)
        if content is not None and content is not mine:
            if first.told is not second.told and isinstance(mine, DictContent) and isinstance(content, DictContent):
                mine, content = mine.telling(first.told - second.told), content.telling(second.told - first.told)
            again = before if met is not first.heap else None
            heap[number] = (
                content if mine is None else join_content(mine, first.reach, content, second.reach, decided, again)
            )
    for side, where in [each for each in dropped if each[1]]:
        _keep_ghosts(variables, heap, side, where)
    joined = State(reach, variables, heap)
    joined.conditions, joined.ghost, joined.faults = conditions, ghost, faults
    joined.told = first.told if first.told is second.told else first.told & second.told
    return joined


def _has_been_met(since: State, state: State, decided: ReleaseSet) -> bool:
    """Whether what two states have in common adds nothing where the one has been joined already."""
    return state.reach <= since.reach and not (decided or state.ghost or since.ghost or state.told is not since.told)


def _join_faults(first: State, second: State) -> Swallowed:
    found = {fault: where & first.reach for fault, where in first.faults.items()}
    for fault, where in second.faults.items():
        found[fault] = found.get(fault, EMPTY) | (where & second.reach)
    return {fault: where for fault, where in found.items() if where} or NO_FAULTS


def _without_ghost(state: State, other: State) -> State:
    return State(state.reach - (state.ghost & other.live), state.vars, state.heap, on_the_way_of=state)


def ghosts(value: Value, where: ReleaseSet) -> Value:
    """What a value would be of the library in releases in which nothing has come of it."""
    return value_of(
        (there & where, replace(atom, ghost=True))
        for there, atom in value.alternatives
        if isinstance(atom, LibInstance) and there.mask & where.mask
    )


def _may_hold_ghosts(content: Content) -> bool:
    """Whether there may be something of the library in a container that a state alone has."""
    elements = content.elements if isinstance(content, ListContent) else ()
    entries = content.entries.values() if isinstance(content, DictContent) else elements
    return may_be_ghosts(entry.value for entry in entries)


def _keep_ghosts(variables: dict[str, Value], heap: Heap, side: State, where: ReleaseSet) -> None:
    """Where the program has ended on one side, what that would have given is on the other what is not there."""
    for name, value in side.vars.items():
        if not may_be_ghosts((value,)):
            continue
        # A variable that is not bound on the other side is not bound.
        kept = ghosts(value, where & variables[name].defined()) if name in variables else NOTHING
        if kept.alternatives:
            variables[name] = join(variables[name], kept)
    for number, content in side.heap.passing(_may_hold_ghosts):
        after = heap.get(number)
        if isinstance(content, DictContent) and isinstance(after, DictContent):
            entries = {k: _with_ghosts(e, content.entries.get(k), where) for k, e in after.entries.items()}
            heap[number] = replace(after, entries=entries)
        elif isinstance(content, ListContent) and isinstance(after, ListContent):
            kept_elements = zip_longest(after.elements, content.elements[: len(after.elements)])
            heap[number] = replace(after, elements=tuple(_with_ghosts(e, old, where) for e, old in kept_elements))


def _with_ghosts(entry: Entry, old: Entry | None, where: ReleaseSet) -> Entry:
    kept = ghosts(old.value, where & old.releases) if old is not None else NOTHING
    if not kept.alternatives:
        return entry
    return replace(entry, releases=entry.releases | kept.defined(), value=join(entry.value, kept))


def _join_variables(first: State, second: State, decided: ReleaseSet) -> dict[str, Value]:
    merged: dict[str, Value] = {}
    for key, here in first.vars.items():
        there = second.vars.get(key)
        if there is here:
            merged[key] = here
        elif there is not None:
            here, there = here.within(first.reach), there.within(second.reach)
            if first.told is not second.told:
                here, there = telling(here, first.told - second.told), telling(there, second.told - first.told)
            merged[key] = join(here, there) if not decided else chosen(here, there, decided)
        else:
            _keep_one_sided(merged, key, here, first.reach, second.reach)
    for key, there in second.vars.items():
        if key not in first.vars:
            _keep_one_sided(merged, key, there, second.reach, first.reach)
    return merged


def _keep_one_sided(merged: dict[str, Value], key: str, value: Value, reach: ReleaseSet, other: ReleaseSet) -> None:
    """What only one side knows: a variable may be unbound; an attribute is known where only that side comes."""
    if "." not in key:
        merged[key] = value.within(reach)
    elif not reach <= other:
        kept = value.within(reach - other)
        if kept.alternatives:
            merged[key] = kept


def either(first: State, here: Value, second: State, there: Value) -> Value:
    """The value that an expression has on one of two ways, each with the state at its end."""
    if first.told is not second.told:
        here, there = telling(here, first.told - second.told), telling(there, second.told - first.told)
    if not first.conditions and not second.conditions:
        return join(here, there)
    _, decided = meet(first.conditions, first.reach, second.conditions, second.reach)
    return chosen(here, there, decided)


def chosen(first: Value, second: Value, decided: ReleaseSet) -> Value:
    """Either of two values; in the releases that are `decided`, a test that could not be followed has chosen."""
    differs = EMPTY
    for one, other in ((first, second), (second, first)):
        alike = {atom: where for where, atom in other.alternatives}
        for where, atom in one.alternatives:
            differs |= where - alike.get(atom, EMPTY)
    return tainted_within(join(first, second), differs & decided)


def join_content(
    a: Content, reach_a: ReleaseSet, b: Content, reach_b: ReleaseSet, decided: ReleaseSet, met: Content | None = None
) -> Content:
    """What a container may hold where two ways meet.

    `met` is what the second held when the two last met: a container that is added to again and again, and that each
    addition may leave by an exception, is joined by what has been added alone.
    """
    if a == b:
        return a
    if isinstance(a, DictContent) and isinstance(b, DictContent):
        if isinstance(met, DictContent):
            known, there = met.entries, b.entries
            keys = [k for k, e in there.items() if known.get(k) is not e] + [k for k in known if k not in there]
            entries = a.entries.copy()
        else:
            keys, entries = [*dict.fromkeys((*a.entries, *b.entries))], {}
        for k in keys:
            entries[k] = _join_entry(a.entries.get(k), reach_a, b.entries.get(k), reach_b, decided)
        forwarded = (a.forwarded & reach_a) | (b.forwarded & reach_b)
        made = DictContent(entries, forwarded=forwarded, factory=join(a.factory, b.factory))
        return made.joined_others(a, reach_a).joined_others(b, reach_b)
    if isinstance(a, ListContent) and isinstance(b, ListContent):
        longer, shorter = (a, b) if len(a.elements) >= len(b.elements) else (b, a)
        reach_long, reach_short = (reach_a, reach_b) if longer is a else (reach_b, reach_a)
        start = min(_unchanged(b, met), len(a.elements)) if isinstance(met, ListContent) else 0
        rest = zip_longest(longer.elements[start:], shorter.elements[start:])
        joined = (_join_entry(one, reach_long, other, reach_short, decided) for one, other in rest)
        return ListContent(
            (*a.elements[:start], *joined),
            (a.open & reach_a) | (b.open & reach_b),
            (a.forwarded & reach_a) | (b.forwarded & reach_b),
            a.is_tuple,
            join(a.further().within(reach_a), b.further().within(reach_b)),
            a.is_set and b.is_set,
        )
    return a


def _unchanged(content: ListContent, before: ListContent) -> int:
    """How many elements at the beginning of a list are the very same as they were."""
    same = list(map(is_, content.elements, before.elements))
    return same.index(False) if False in same else len(same)


def _common(here: Entry, there: Entry) -> Location | None:
    """Where an item first became an argument, of one that two ways have; nowhere, where it was kept on one of them."""
    if here.releases and there.releases and None in (here.location, there.location):
        return None
    return here.location if here.releases else there.location


def _join_entry(
    a: Entry | None, reach_a: ReleaseSet, b: Entry | None, reach_b: ReleaseSet, decided: ReleaseSet
) -> Entry:
    both = reach_a & reach_b
    if a is b and a is not None and not decided.mask and not a.releases.mask & ~both.mask:
        return a
    if a is not None and b is not None:
        here, there = a.within(reach_a), b.within(reach_b)
        mine, others = (each.value.within(each.releases) for each in (here, there))
        certain = (here.certain | there.certain) - (both - (here.certain & there.certain))
        return Entry(
            here.releases | there.releases,
            certain,
            chosen(mine, others, decided) if decided else join(mine, others),
            here.trace if here.releases else there.trace,
            _common(here, there),
            here.conditional | there.conditional | (decided & ((here.releases | there.releases) - certain)),
        )
    one = (a or b or Entry(EMPTY, EMPTY, Value())).within(reach_a if a is not None else reach_b)
    return replace(one, certain=one.certain - both, conditional=one.conditional | (one.releases & both & decided))
