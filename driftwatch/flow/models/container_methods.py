"""Methods of containers: what calling one gives, and what it does to a dict or a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.contents import Arguments, DictContent, Entry, ListContent, put, take
from driftwatch.flow.domain.values import (
    NOTHING,
    TAINTED,
    Alternative,
    Atom,
    Const,
    DictRef,
    ListRef,
    MethodOf,
    Namespace,
    ParameterMap,
    Raised,
    Value,
    atom_of,
    const,
    key_for,
    unknown,
    value_of,
)
from driftwatch.flow.domain.within_containers import made_of
from driftwatch.flow.interpreter.arguments import PASSED_ON, unknown_call
from driftwatch.flow.interpreter.constants import constants_of, constants_within
from driftwatch.flow.interpreter.containers import (
    anything_in,
    chosen_from,
    may_be_another,
    merge_dicts,
    merge_value,
    put_here,
    spread_into,
)
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.namespaces import namespace_method
from driftwatch.flow.interpreter.registry import call_method as call_modelled
from driftwatch.flow.interpreter.registry import method_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of
from driftwatch.flow.interpreter.sequences import (
    Operation,
    any_element,
    edited,
    element_at,
    inserting,
    reversing,
    shuffling,
    taking,
    taking_first,
)
from driftwatch.flow.interpreter.sets import METHODS, combined, with_member, without_member
from driftwatch.releases import EMPTY, ReleaseSet


def call_method(run: Run, method: MethodOf, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a method of a constant, a dict, a list, a signature or its parameters, or a patch."""
    inputs = (Value(((run.state.reach, method.owner),)), *arguments.values())
    return made_of(_call(run, method, arguments, node), inputs, run.content)


def _call(run: Run, method: MethodOf, arguments: Arguments, node: cst.CSTNode) -> Value:
    reach, owner = run.state.reach, method.owner
    positional, keywords = arguments.positional, arguments.keywords
    if isinstance(owner, Const):
        return _constant_method(run, owner, method.name, positional, keywords)
    modelled = method_of(owner, method.name)
    if modelled is not None:
        return call_modelled(run, modelled, owner, arguments, node)
    if isinstance(owner, Namespace):
        known = namespace_method(run, owner, method.name, arguments, node)
        return unknown_call(run, arguments, node) if known is None else known
    if isinstance(owner, ParameterMap):
        return _parameters_method(run, owner, method.name, positional, node)
    if isinstance(owner, DictRef):
        content = dict_of(run, owner)
        if content is not None:
            return _dict_method(run, owner, content, method.name, positional, keywords, node)
    if isinstance(owner, ListRef):
        listed = lists_of(run, owner)
        if listed is not None:
            return _list_method(run, owner, listed, method.name, positional, node)
    if isinstance(owner, Raised):
        # What is called on an exception gives it back.
        return Value(((reach, owner),))
    for value in arguments.values():
        lose(run, value, node, PASSED_ON)
    return unknown(reach)


def _constant_method(run: Run, owner: Const, name: str, positional: ListContent, keywords: DictContent) -> Value:
    found: list[Alternative] = []
    for where, arguments, named in constants_of(run, positional, keywords):
        given = [entry.value for entry in (*positional.elements, *keywords.entries.values())]
        if arguments is None:
            found.extend(run.combine(where, *given).alternatives)
            continue
        try:
            found.append((where, pure.method(owner, name, arguments, named)))
        except pure.NotPureError:
            found.extend(run.combine(where, *given).alternatives)
    return value_of(found)


def _parameters_method(run: Run, owner: ParameterMap, name: str, positional: ListContent, node: cst.CSTNode) -> Value:
    reach = run.state.reach
    if name == "keys":
        return Value(((reach, owner),))
    if name == "values":
        return run.new_list(
            node, ListContent(tuple(Entry(reach, reach, Value(((reach, p),))) for p in owner.parameters))
        )
    if name == "items":
        pairs = [
            (Entry(reach, reach, const(p.name, reach)), Entry(reach, reach, Value(((reach, p),))))
            for p in owner.parameters
        ]
        return _pairs(run, pairs, node)
    if name == "get" and positional.elements:
        default = positional.elements[1].value if len(positional.elements) > 1 else const(None, reach)
        found: list[Alternative] = []
        for where, key in as_alternatives(positional.elements[0].value, reach):
            if not isinstance(key, Const):
                found.append((where, TAINTED))
                continue
            match = [p for p in owner.parameters if p.name == key.value]
            found.extend([(where, match[0])] if match else as_alternatives(default, where))
        return value_of(found)
    return Value(((reach, TAINTED),))


def _pairs(run: Run, pairs: Sequence[tuple[Entry, Entry]], node: cst.CSTNode) -> Value:
    return run.new_list(node, ListContent(tuple(_pair(run, k, v, node, i) for i, (k, v) in enumerate(pairs))))


def _pair(run: Run, key: Entry, value: Entry, node: cst.CSTNode, index: int) -> Entry:
    where, certain = value.releases & run.state.reach, value.certain & run.state.reach
    number = run.number(node, "pair", index)
    parts = tuple(replace(part, certain=part.releases) for part in (key, value))
    run.state.heap[number] = ListContent(parts, is_tuple=True)
    pair = Value(((where, ListRef(number)),)) if where else Value()
    return Entry(where, certain, pair, value.trace, value.location)


def _dict_method(
    run: Run,
    owner: DictRef,
    content: DictContent,
    name: str,
    positional: ListContent,
    keywords: DictContent,
    node: cst.CSTNode,
) -> Value:
    reach = run.state.reach
    first = positional.elements[0].value if positional.elements else None
    second = positional.elements[1].value if len(positional.elements) > 1 else None
    if name == "update":
        if first is not None:
            content = merge_value(run, content, first)
        run.change(owner.key, merge_dicts(content, keywords, reach))
        return const(None, reach)
    if name == "copy":
        return run.new_dict(node, content)
    if name == "clear":
        run.change(owner.key, DictContent())
        return const(None, reach)
    if name == "move_to_end":
        return const(None, reach)
    if name in ("keys", "values", "items"):
        return _view(run, owner, content, name, node)
    if name in ("get", "pop", "setdefault") and first is not None:
        return _keyed(run, owner, content, name, first, second, node)
    return lose(run, Value(((reach, owner),)), node, "taken out of a dict by a method that is not followed")


def _view(run: Run, owner: DictRef, content: DictContent, name: str, node: cst.CSTNode) -> Value:
    reach = run.state.reach
    if name == "keys":
        return Value(((reach, owner),))
    entries = [(k, e) for k, e in content.entries.items() if not e.releases.isdisjoint(reach)]
    others = content.under_unknown_keys()
    if name == "values":
        elements = tuple(e for _, e in entries)
        return run.new_list(node, ListContent(elements, content.open, content.forwarded, others=others))
    pairs = [(Entry(e.releases, e.certain, Value(((e.releases, atom_of(k)),))), e) for k, e in entries]
    there = others.defined()
    further = _pair(run, Entry(there, EMPTY, unknown(there)), Entry(there, EMPTY, others), node, len(pairs))
    listed = ListContent(
        tuple(_pair(run, key, value, node, i) for i, (key, value) in enumerate(pairs)),
        content.open,
        content.forwarded,
        others=further.value,
    )
    return run.new_list(node, listed)


def _keyed(
    run: Run, owner: DictRef, content: DictContent, name: str, key: Value, default: Value | None, node: cst.CSTNode
) -> Value:
    reach = run.state.reach
    fallback = default if default is not None else const(None, reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(key, reach):
        named = key_for(atom)
        if named is None or (named not in content.entries and may_be_another(atom, content)):
            found.extend(chosen_from(run, atom, anything_in(content, where)))
            if name != "pop" or default is not None:
                found.extend(as_alternatives(fallback, where))
            if name == "setdefault":
                content = content.opened(where, fallback)
            continue
        entry = content.entries.get(named)
        here = entry.releases & where if entry is not None else EMPTY
        absent = where - entry.certain if entry is not None else where
        if entry is not None:
            found.extend(as_alternatives(entry.value, here))
        found.extend(as_alternatives(fallback, absent))
        found.extend(as_alternatives(content.under_unknown_keys(), absent))
        if name == "pop":
            content = take(content, named, where)
        elif name == "setdefault":
            fresh = Entry(absent, where - here, fallback.within(absent), put_here(run, node, named))
            if entry is None:
                content = put(content, named, fresh)
            elif absent:
                content = put(content, named, replace(fresh, certain=absent - here))
                merged = content.entries[named]
                whole = replace(merged, certain=merged.certain | where)
                content = replace(content, entries={**content.entries, named: whole})
    run.change(owner.key, content)
    return value_of(found)


def _list_method(
    run: Run, owner: ListRef, content: ListContent, name: str, positional: ListContent, node: cst.CSTNode
) -> Value:
    reach = run.state.reach
    if content.is_set and name in SET_METHODS:
        return _set_method(run, owner, content, name, positional, node)
    if name == "append" and len(positional.elements) == 1:
        entry = positional.elements[0]
        added = Entry(reach, reach, entry.value, entry.trace)
        run.change(owner.key, replace(content, elements=(*content.elements, added)))
    elif name == "appendleft" and len(positional.elements) == 1:
        first = positional.elements[0].value
        run.change(owner.key, edited(run, content, reach, inserting(0, first), first))
    elif name == "popleft":
        return _rearrange(run, owner, content, "pop", [const(0, reach)])
    elif name == "extend" and len(positional.elements) == 1:
        run.change(owner.key, spread_into(run, content, positional.elements[0].value))
    elif name == "clear":
        run.change(owner.key, replace(content, elements=(), open=EMPTY, forwarded=EMPTY))
    elif name == "copy":
        return run.new_list(node, content)
    elif name in ("insert", "pop", "remove", "reverse", "sort"):
        return _rearrange(run, owner, content, name, [e.value for e in positional.elements])
    else:
        for entry in positional.elements:
            lose(run, entry.value, node, "given to a method of a list that is not followed")
        return unknown(reach)
    return const(None, run.state.reach)


SET_METHODS = frozenset({*METHODS, "add", "discard", "remove", "pop", "issubset", "issuperset", "isdisjoint"})


def _set_method(
    run: Run, owner: ListRef, content: ListContent, name: str, positional: ListContent, node: cst.CSTNode
) -> Value:
    reach = run.state.reach
    given = [entry.value for entry in positional.elements]
    if name in METHODS:
        for other in given:
            made = run.new_list(node, content)
            content = combined(run, METHODS[name], made, other)
        if not name.endswith("update"):
            return run.new_list(node, content)
        run.change(owner.key, content)
    elif name == "add" and given:
        run.change(owner.key, with_member(content, given[0], reach))
    elif name in ("discard", "remove") and given:
        run.change(owner.key, without_member(content, given[0], reach))
    elif name == "pop":
        kept = tuple(replace(entry, certain=entry.certain - reach) for entry in content.elements)
        run.change(owner.key, replace(content, elements=kept))
        return value_of(any_element(content, reach))
    else:
        other = given[0] if given else Value()
        return value_of(
            each for where, atom in as_alternatives(other, reach) for each in _asked(run, owner, name, atom, where)
        )
    return const(None, reach)


def _asked(run: Run, owner: ListRef, name: str, other: Atom, where: ReleaseSet) -> list[Alternative]:
    """What a set says of another one: ``issubset`` and its like."""
    found: list[Alternative] = []
    for here, left in constants_within(run, owner, where):
        for there, right in constants_within(run, other, here):
            if left is None or right is None:
                found.extend(run.combine(there, Value(((there, owner),)), Value(((there, other),))).alternatives)
            else:
                found.append((there, pure.method(left, name, [right])))
    return found


def _rearrange(run: Run, owner: ListRef, content: ListContent, name: str, given: list[Value]) -> Value:
    """Take an element off a list, put one somewhere, or change the order."""
    reach = run.state.reach
    index = given[0].single() if given else Const(-1)
    place = index.value if isinstance(index, Const) and type(index.value) is int else None
    result, put = const(None, reach), NOTHING
    operation: Operation = shuffling if name == "sort" else reversing
    if name == "remove" and given:
        operation = taking_first(given[0])
    elif name == "insert" and len(given) > 1:
        put = given[1]
        operation = inserting(place, put)
    elif name == "pop":
        operation = taking(place)
        result = value_of(element_at(content, place, reach) if place is not None else any_element(content, reach))
    run.change(owner.key, edited(run, content, reach, operation, put))
    return result.within(run.state.reach)
