"""Dicts, lists and tuples: which keys and elements are there in which releases, through all that code does to them."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, DictContent, Entry, ListContent, put
from driftwatch.flow.domain.enums import by_name, members_in
from driftwatch.flow.domain.facts import made_with_key
from driftwatch.flow.domain.lineage import is_tuple, lineage
from driftwatch.flow.domain.taint import depends_on_release, is_tainted, of_parameter, unknown_tainted
from driftwatch.flow.domain.values import (
    FALSE,
    MODULE_NAME,
    TAINTED,
    TRUE,
    UNKNOWN,
    Alternative,
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Function,
    Instance,
    Key,
    LibModule,
    LibObject,
    LibTuple,
    NamesOf,
    Namespace,
    ParameterMap,
    ProjectModule,
    Unknown,
    Value,
    atom_of,
    const,
    join,
    key_for,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.conditions import truth_of
from driftwatch.flow.interpreter.constants import tuple_of
from driftwatch.flow.interpreter.library import module_member
from driftwatch.flow.interpreter.lookups import lookup
from driftwatch.flow.interpreter.namespaces import item_of_namespace
from driftwatch.flow.interpreter.records import field_at, fields_of
from driftwatch.flow.interpreter.results import looked_into
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of
from driftwatch.flow.interpreter.sequences import any_element, by_place, element_at, of_one, part_between, unordered
from driftwatch.flow.uses import Step
from driftwatch.releases import EMPTY, ReleaseSet, are_apart

MAX_UNROLLED = 64
"""Longer containers are not gone through element by element."""

MAX_TOGETHER = 2048
"""The same for all the containers a value may be in the different releases."""

MAX_MORE = 256
"""Of several dicts that a value may be in the same releases, no more keys are gone through beyond the first one's."""


# -- dicts -------------------------------------------------------------------------------------------------------------


def merge_dicts(content: DictContent, other: DictContent, where: ReleaseSet) -> DictContent:
    """The dict after ``update(other)`` in these releases."""
    entries = dict(content.entries)
    for key, entry in other.entries.items():
        before, here = entries.get(key), entry.within(where)
        entries[key] = here if before is None else here.over(before)
    content = content.having(entries)
    content = content.joined_others(other, where)
    forwarded = other.forwarded & where
    return replace(content, forwarded=content.forwarded | forwarded) if forwarded else content


def merge_value(run: Run, content: DictContent, value: Value) -> DictContent:
    """A dict's content after ``**value`` or ``update(value)``."""
    seen, lost, more = EMPTY, EMPTY, 0
    for where, atom in as_alternatives(value, run.state.reach):
        if lost and where <= lost:
            continue
        other = dict_of(run, atom)
        if other is not None:
            more += len(other.entries) if where & seen else 0
            seen |= where
            if more <= MAX_MORE:
                content = merge_dicts(content, other, where)
            else:
                content, lost = content.opened(where), lost | where
        elif (pairs := _pairs(run, atom, where)) is not None:
            for key, entry in pairs:
                content = put(content, key, entry)
        elif not (isinstance(atom, Const) and atom.value is None):
            forwarded = of_parameter(atom) and not atom.derived
            if of_parameter(atom):
                run.asks(atom.parameter)
                run.effects.branches_on_parameters.add(atom.parameter or "")
            content = content.opened(where)
            if forwarded:
                content = replace(content, forwarded=content.forwarded | where)
    # What was not gone through is nobody's to tell: not the caller's either.
    return replace(content, forwarded=content.forwarded - lost) if lost else content


def _pairs(run: Run, atom: Atom, where: ReleaseSet) -> list[tuple[Key, Entry]] | None:
    """The keys and values of a sequence of pairs; None where one of its keys is not known."""
    rows = _elements(run, atom, where) if lists_of(run, atom) is not None else None
    if rows is None:
        return None
    found: list[tuple[Key, Entry]] = []
    for row in rows:
        keys = value_of(a for w, pair in row.value.alternatives for a in item_of(run, pair, Const(0), w & row.releases))
        values = value_of(
            a for w, pair in row.value.alternatives for a in item_of(run, pair, Const(1), w & row.releases)
        )
        for there, key in keys.alternatives:
            name = key_for(key)
            if name is None:
                return None
            found.append((name, Entry(there, row.certain & there, values.within(there), row.trace, row.location)))
    return found


# -- sequences ---------------------------------------------------------------------------------------------------------


def elements_of(run: Run, value: Value) -> list[Entry] | None:
    """What iterating a value gives, in order; None when that cannot be told."""
    found: list[Entry] = []
    for where, atom in as_alternatives(value, run.state.reach):
        part = _elements(run, atom, where)
        if part is None or len(part) > MAX_UNROLLED or len(found) + len(part) > MAX_TOGETHER:
            return None
        found.extend(part)
    return found


def turns_over(run: Run, value: Value) -> list[Entry] | None:
    """What a loop over a value goes through: as `elements_of`, but where more may follow, twice what that may be.

    What one turn leaves, the next one sees. None when nothing is known of the value.
    """
    found = elements_of(run, value)
    if found is not None:
        return found
    found = []
    for where, atom in as_alternatives(value, run.state.reach):
        part = _elements(run, atom, where)
        keys, content = dict_of(run, atom), lists_of(run, atom)
        if part is None and content is not None:
            part = [e.within(where) for e in content.elements if not e.releases.isdisjoint(where)]
            further = content.further().within(where)
            part += [Entry(further.defined(), EMPTY, further)] * 2
        elif part is None and keys is not None:
            part = [_as_key(key, entry.within(where)) for key, entry in keys.entries.items()]
            there = (keys.open | keys.forwarded) & where
            part += [Entry(there, EMPTY, unknown(there))] * 2
        if part is None or len(part) > MAX_UNROLLED or len(found) + len(part) > MAX_TOGETHER:
            return None
        found.extend(part)
    return found


def _elements(run: Run, atom: Atom, where: ReleaseSet) -> list[Entry] | None:
    content = lists_of(run, atom)
    if content is not None:
        if content.open & where or content.forwarded & where:
            return None
        return [e.within(where) for e in content.elements if not e.releases.isdisjoint(where)]
    keys = dict_of(run, atom)
    if keys is not None:
        if keys.open & where or keys.forwarded & where:
            return None
        held = ((key, entry) for key, entry in keys.entries.items() if not entry.releases.isdisjoint(where))
        return [_as_key(key, entry.within(where)) for key, entry in held]
    if isinstance(atom, ParameterMap):
        return [Entry(where, where, const(p.name, where)) for p in atom.parameters]
    if isinstance(atom, Instance) and is_tuple(atom.code):
        return [Entry(where, where, field_at(run, atom, i, where)) for i in range(len(fields_of(atom.code)))]
    if isinstance(atom, Class):
        return [Entry(where, where, each.within(where)) for each in members_in(atom.code)] or None
    if isinstance(atom, Const) and isinstance(atom.value, (tuple, frozenset)):
        ordered = (
            atom.value if isinstance(atom.value, tuple) else sorted(atom.value, key=lambda i: (str(type(i)), str(i)))
        )
        return [Entry(where, where, const(item, where)) for item in ordered]
    return None


def _as_key(key: Key, entry: Entry) -> Entry:
    """What going through a dict gives for one of its items."""
    return replace(entry, value=Value(((entry.releases, atom_of(key)),)) if entry.releases else Value())


def spread_into(run: Run, content: ListContent, value: Value) -> ListContent:
    """A list's content after ``*value``."""
    parts = elements_of(run, value) if are_apart(where for where, _ in value.alternatives) else None
    if parts is not None:
        return _bounded(replace(content, elements=(*content.elements, *by_place(parts))))
    open_, forwarded, others = content.open, content.forwarded, content.others
    lists: list[tuple[ReleaseSet, tuple[Entry, ...]]] = []
    for where, atom in as_alternatives(value, run.state.reach):
        inner, known = lists_of(run, atom), _elements(run, atom, where)
        if known is not None:
            lists.append((where, tuple(known)))
        elif inner is not None:
            lists.append((where, tuple(e.within(where) for e in inner.elements if not e.releases.isdisjoint(where))))
            open_, forwarded = open_ | (inner.open & where), forwarded | (inner.forwarded & where)
            others = join(others, inner.others.within(where))
        else:
            open_ |= where
        if of_parameter(atom):
            run.asks(atom.parameter)
            run.effects.branches_on_parameters.add(atom.parameter or "")
            forwarded |= EMPTY if atom.derived else where
    content = replace(content, elements=(*content.elements, *of_one(lists)), open=open_, others=others)
    return _bounded(replace(content, forwarded=forwarded))


def _bounded(content: ListContent) -> ListContent:
    """The list; of one that has doubled too often, only what may be in it."""
    return content if len(content.elements) <= MAX_TOGETHER else unordered(content)


def concatenate(run: Run, left: Value, right: Value, node: cst.CSTNode) -> Value | None:
    """``left + right`` of two sequences; None when one of them is something else."""
    contents = [lists_of(run, atom) for value in (left, right) for _, atom in value.alternatives]
    lists = bool(contents) and None not in contents
    if not lists and (elements_of(run, left) is None or elements_of(run, right) is None):
        return None
    joined = spread_into(run, spread_into(run, ListContent(), left), right)
    is_tuple = all(content is not None and content.is_tuple for content in contents)
    return run.new_list(node, replace(joined, is_tuple=is_tuple))


def repeat(run: Run, left: Value, right: Value, node: cst.CSTNode) -> Value:
    """``left * right`` of a list and a number."""
    once, times = spread_into(run, ListContent(), left), right.single()
    number = times.value if isinstance(times, Const) and type(times.value) is int else None
    if number is not None and not once.open and not once.forwarded and len(once.elements) * number <= MAX_UNROLLED:
        return run.new_list(node, replace(once, elements=once.elements * number))
    return run.new_list(node, unordered(once))


# -- reading -----------------------------------------------------------------------------------------------------------


def subscript_of(run: Run, node: cst.Subscript, owner: Value) -> Value:
    """``owner[index]``."""
    if len(node.slice) != 1:
        for part in node.slice:
            if isinstance(part.slice, cst.Index):
                run.eval(part.slice.value)
        return _annotation_like(run, owner)
    piece = node.slice[0].slice
    if isinstance(piece, cst.Slice):
        return _slice(run, owner, piece, node)
    if not isinstance(piece, cst.Index):
        return unknown(run.state.reach)
    index, owner = run.eval(piece.value), run.world.modules.looked_at(owner)
    found: list[Alternative] = []
    guards = depends_on_release(owner) | depends_on_release(index)
    for where, atom in as_alternatives(owner, run.state.reach):
        for there, key in as_alternatives(index, where):
            if isinstance(atom, LibTuple) and isinstance(key, Const) and type(key.value) is int:
                there = looked_into(run, atom, key.value, there, node)
            own = _own_subscript(run, atom, there)
            _make_missing(run, atom, key, there, node)
            if own is not None:
                given = ListContent((Entry(there, there, Value(((there, key),))),))
                found.extend(run.call(own, Arguments(given), node).within(there).alternatives)
            else:
                found.extend(item_of(run, atom, key, there))
    return unknown_tainted(value_of(found), guards)


def _make_missing(run: Run, owner: Atom, key: Atom, where: ReleaseSet, node: cst.CSTNode) -> None:
    """A ``defaultdict`` is asked for a key: where it is not there, it is from here on."""
    content = dict_of(run, owner)
    name = key_for(key)
    if content is None or not content.factory.alternatives or not isinstance(owner, DictRef):
        return
    entry = content.entries.get(name) if name is not None else None
    absent = where - (entry.certain if entry is not None else EMPTY)
    if absent:
        made = run.call(content.factory, NO_ARGUMENTS, node).within(absent)
        content = dict_of(run, owner) or content
        there = absent - (entry.releases if entry is not None else EMPTY)
        if name is None:
            run.change(owner.key, content.opened(absent, made))
            return
        whole = put(content, name, Entry(absent, there, made))
        known = whole.entries[name]
        entries = {**whole.entries, name: replace(known, certain=known.certain | absent)}
        run.change(owner.key, replace(whole, entries=entries))


def _own_subscript(run: Run, owner: Atom, where: ReleaseSet) -> Value | None:
    """The method of a class of the code base that a subscript of its instance calls."""
    if isinstance(owner, Instance):
        for each in lineage(owner.code)[0]:
            for name in ("__getitem__", "__missing__"):
                if name in each.methods:
                    return Value(((where, Function(each.methods[name], owner)),))
    return None


def _annotation_like(run: Run, owner: Value) -> Value:
    # ``Generic[A, B]`` and the like: the subscripted class is the class.
    classes = owner.only(lambda a: isinstance(a, LibObject))
    return classes if classes.alternatives else unknown(run.state.reach)


def _slice(run: Run, owner: Value, piece: cst.Slice, node: cst.CSTNode) -> Value:
    bounds = bounds_of(run, piece)
    if bounds is None:
        return run.combine(run.state.reach, owner)
    found: list[Alternative] = []
    parts = [(here, atom, part) for where, part in bounds for here, atom in as_alternatives(owner, where)]
    for i, (where, atom, part) in enumerate(parts):
        content = lists_of(run, atom)
        if content is not None:
            found.extend(run.new_list(node, part_between(content, part, where), i).within(where).alternatives)
            continue
        rest = run.combine(where, owner).alternatives
        try:
            found.extend([(where, pure.subscript(atom, part))] if isinstance(atom, Const) else rest)
        except pure.NotPureError:
            found.extend(rest)
    return value_of(found)


def bounds_of(run: Run, piece: cst.Slice) -> list[tuple[ReleaseSet, slice]] | None:
    """A slice whose bounds are known, in each release; a step of nothing is none."""
    given = [run.eval(b) if b is not None else None for b in (piece.lower, piece.upper, piece.step)]
    reach = run.state.reach
    known = tuple_of([Entry(reach, reach, const(None, reach) if value is None else value) for value in given], reach)
    found: list[tuple[ReleaseSet, slice]] = []
    for where, atom in known.alternatives if known is not None else ():
        bounds = atom.value if isinstance(atom, Const) and isinstance(atom.value, tuple) else ()
        if not all(each is None or type(each) is int for each in bounds) or bounds[2] == 0:
            return None
        found.append((where, slice(*bounds)))
    return found or None


def item_of(run: Run, owner: Atom, key: Atom, where: ReleaseSet) -> list[Alternative]:
    """One item of a container."""
    keys = dict_of(run, owner)
    if keys is not None:
        return _item_of_dict(run, keys, key, where)
    content = lists_of(run, owner)
    if content is not None and isinstance(key, Const) and type(key.value) is int:
        return element_at(content, key.value, where)
    if content is not None:
        return chosen_from(run, key, any_element(content, where))
    if isinstance(owner, ParameterMap) and isinstance(key, Const):
        found: list[Alternative] = [(where, each) for each in owner.parameters if each.name == key.value]
        return found or _nothing_there(run, "KeyError", where)
    if isinstance(owner, NamesOf) and isinstance(key, Const) and isinstance(key.value, str):
        has = lookup(run, owner.owner, key.value, where)
        if has is not None and isinstance(owner.owner, LibModule):
            return module_member(run, owner.owner.module, key.value, has.present)
    if isinstance(owner, Class) and isinstance(key, Const):
        return as_alternatives(by_name(owner.code, key.value, where), where)
    if isinstance(owner, Instance) and isinstance(key, Const) and type(key.value) is int:
        return as_alternatives(field_at(run, owner, key.value, where), where)
    if isinstance(owner, Const) and isinstance(key, Const) and isinstance(key.value, (int, str)):
        try:
            return [(where, pure.subscript(owner, key.value))]
        except pure.NotPureError:
            return [(where, UNKNOWN)]
    if isinstance(owner, LibObject) and owner.is_class:
        return [(where, owner)]
    if isinstance(owner, Namespace):
        return item_of_namespace(run, owner, key, where)
    if isinstance(owner, External) and owner.dotted == "sys.modules" and key == MODULE_NAME:
        return [(where, ProjectModule(run.frame.module))]
    if isinstance(owner, External) and owner.dotted == "sys.modules" and isinstance(key, Const):
        if isinstance(key.value, str) and run.target.is_inside(key.value):
            return [(where & run.history.has_module(key.value), LibModule(key.value))]
        if isinstance(key.value, str) and run.target.is_above(key.value):
            return [(where, LibModule(key.value))]
    return [(where, _made_of(run, owner, key))]


def _made_of(run: Run, *given: Atom) -> Atom:
    """What nobody can tell, made of what may be parameters."""
    for atom in given:
        if of_parameter(atom):
            run.asks(atom.parameter)
            return Unknown(atom.parameter, derived=True, part=atom.part)
    return UNKNOWN


def _nothing_there(run: Run, exception: str, where: ReleaseSet) -> list[Alternative]:
    if run.is_caught(exception):
        run.throw(exception, where)
        run.state.reach -= where
    return []


def _item_of_dict(run: Run, keys: DictContent, key: Atom, where: ReleaseSet) -> list[Alternative]:
    others = keys.under_unknown_keys()
    name = key_for(key)
    entry = keys.entries.get(name) if name is not None else None
    others = made_with_key(others, name) if name is not None else others
    if name is not None and (entry is not None or not may_be_another(key, keys)):
        if entry is None:
            if not keys.open & where and run.is_caught("KeyError"):
                run.throw("KeyError", where)
            return as_alternatives(others, where) or [(where, UNKNOWN)]
        rest = where - entry.certain
        return [*as_alternatives(entry.value, where & entry.releases), *as_alternatives(others, rest)]
    found = chosen_from(run, key, anything_in(keys, where))
    gap = where - Value(tuple(found)).defined()
    if not found:
        return [(where, UNKNOWN)]
    if gap:
        # Nothing is in it in these releases, whatever the key.
        run.throw("KeyError", gap)
        run.state.reach -= gap
    return found


def may_be_another(key: Atom, keys: DictContent) -> bool:
    """Whether a key that is not there may be one that is, by another name of the same thing."""
    return not isinstance(key, Const) and any(isinstance(each, Atom) for each in keys.entries)


def chosen_from(run: Run, key: Atom, found: list[Alternative]) -> list[Alternative]:
    """What a key that is not known may choose of these: of what is told of the library, nobody can tell which."""
    if of_parameter(key):
        run.effects.branches_on_parameters.add(key.parameter or "")
    if any(isinstance(atom, Const) for _, atom in found):
        # A caller knows who says which it is.
        run.asks_constant(key)
    elif not isinstance(key, Const):
        run.asks(getattr(key, "parameter", None))
    value, seen, several = value_of(found), EMPTY, EMPTY
    for where, _ in value.alternatives:
        several, seen = several | (seen & where), seen | where
    guards = several & depends_on_release(value) if several else EMPTY
    if not guards:
        return found
    run.asks_of_library(Value(((guards, key),)))
    return [*value.alternatives, (guards, TAINTED)]


def put_here(run: Run, node: cst.CSTNode, key: Key) -> tuple[Step, ...]:
    """How an item came into a dict."""
    return (run.step(node, f"`{key}` is put into the dict here"),) if isinstance(key, str) else ()


def anything_in(keys: DictContent, where: ReleaseSet) -> list[Alternative]:
    """What may be in a dict under a key that is not known."""
    found = as_alternatives(keys.under_unknown_keys(), where)
    for entry in keys.entries.values():
        here = entry.releases & where
        found.extend(as_alternatives(entry.value, here))
        if here - entry.value.defined():
            found.append((here - entry.value.defined(), UNKNOWN))
    return found


# -- all and any -------------------------------------------------------------------------------------------------------


def quantify(run: Run, value: Value, *, every: bool) -> Value:
    """``all(value)`` or ``any(value)``, exact over the releases where every element's truth is."""
    reach = run.state.reach
    parts = turns_over(run, value)
    if parts is None:
        return run.combine(reach, value)
    may_stop, surely_stops, guards = EMPTY, EMPTY, EMPTY
    for part in parts:
        stops, goes_on = EMPTY, EMPTY
        guards |= part.value.where(is_tainted)
        for where, atom in as_alternatives(part.value, part.releases & reach):
            answer = truth_of(run, atom)
            stopping = answer is not True if every else answer is not False
            going = answer is not False if every else answer is not True
            stops |= where if stopping else EMPTY
            goes_on |= where if going else EMPTY
        may_stop |= stops
        surely_stops |= (stops - goes_on) & part.certain
    stop, end = (FALSE, TRUE) if every else (TRUE, FALSE)
    may_end = reach - surely_stops
    return value_of([(may_stop, stop), (may_end, end), (may_stop & may_end & guards, TAINTED)])
