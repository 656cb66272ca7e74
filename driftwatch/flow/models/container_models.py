"""What makes a container out of another one: dicts, lists and pairs made by Python's own functions, and copies."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, Content, DictContent, Entry, ListContent, put
from driftwatch.flow.domain.taint import is_tainted, made_from
from driftwatch.flow.domain.values import (
    TAINTED,
    UNKNOWN,
    Alternative,
    Atom,
    Const,
    DictRef,
    ListRef,
    NamesOf,
    Value,
    const,
    key_for,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument
from driftwatch.flow.interpreter.containers import elements_of, merge_value, put_here, turns_over
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of
from driftwatch.flow.interpreter.sequences import layouts_of
from driftwatch.flow.interpreter.sets import as_set, members_of
from driftwatch.releases import EMPTY, ReleaseSet


@model("builtins.dict", "collections.OrderedDict", "weakref.WeakKeyDictionary", "weakref.WeakValueDictionary")
def _dict(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    content = DictContent()
    first = argument(arguments, 0)
    if first is not None:
        content = merge_value(run, content, first)
    for name, entry in arguments.keywords.entries.items():
        trace = entry.trace or put_here(run, _keyword(node, str(name)), name)
        fresh = Entry(entry.releases, entry.certain, entry.value, trace, entry.location)
        content = replace(content, entries={**content.entries, name: fresh})
    content = content.joined_others(arguments.keywords, run.state.reach)
    return run.new_dict(node, replace(content, forwarded=content.forwarded | arguments.keywords.forwarded))


@model("collections.defaultdict")
def _default_dict(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``collections.defaultdict(factory, ...)``."""
    factory = argument(arguments, 0)
    rest = replace(arguments.positional, elements=arguments.positional.elements[1:])
    made = _dict(run, Arguments(rest, arguments.keywords), node)
    atom = made.single()
    content = dict_of(run, atom) if atom is not None else None
    if factory is not None and factory.single() != Const(None) and isinstance(atom, DictRef) and content is not None:
        run.state.heap[atom.key] = replace(content, factory=factory)
    return made


@model("collections.Counter")
def _counter(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``collections.Counter``: how often each thing is there."""
    return run.new_dict(node, DictContent(open=run.state.reach))


@model("builtins.dict.fromkeys", "collections.OrderedDict.fromkeys")
def _from_keys(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dict.fromkeys(names, value)``."""
    reach = run.state.reach
    names, held = argument(arguments, 0), argument(arguments, 1) or const(None, reach)
    parts = elements_of(run, names) if names is not None else None
    if names is None:
        return unknown(reach)
    content = DictContent()
    for part in parts if parts is not None else turns_over(run, names) or ():
        for where, key in as_alternatives(part.value, part.releases & reach):
            name = key_for(key)
            if name is not None:
                trace = part.trace or put_here(run, node, name)
                content = put(content, name, Entry(where, where & part.certain, held.within(where), trace))
            else:
                content = content.opened(where, held)
    return run.new_dict(node, content if parts is not None else content.opened(reach, held))


@model("collections.ChainMap")
def _chain(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``ChainMap(first, second)``: what is in the first hides what is in the second."""
    content = DictContent()
    for entry in reversed(arguments.positional.elements):
        content = merge_value(run, content, entry.value)
    return run.new_dict(node, content.opened(run.state.reach) if arguments.positional.open else content)


def _keyword(node: cst.CSTNode, name: str) -> cst.CSTNode:
    if isinstance(node, cst.Call):
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value == name:
                return argument
    return node


# -- lists and copies --------------------------------------------------------------------------------------------------


@model("builtins.list", "collections.deque")
def _list(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``list(x)``: a new list, whatever it is made of."""
    first = argument(arguments, 0)
    if first is None:
        return run.new_list(node, ListContent())
    found: list[Alternative] = []
    for i, (where, atom) in enumerate(as_alternatives(first, run.state.reach)):
        content = listed(run, atom, where)
        if content is not None:
            found.extend(run.new_list(node, content, i).within(where).alternatives)
        else:
            known = Value(((where, atom),))
            found.extend(known.alternatives if isinstance(atom, NamesOf) else made_from(where, known).alternatives)
    return value_of(found)


@model("builtins.set", "weakref.WeakSet")
def _set(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``set(x)``: a new set."""
    first = argument(arguments, 0)
    if first is None:
        return run.new_list(node, ListContent(is_set=True))
    names = first.only(lambda atom: isinstance(atom, NamesOf))
    rest = first.only(lambda atom: not isinstance(atom, NamesOf)).within(run.state.reach)
    made = run.new_list(node, as_set(members_of(run, rest))).within(rest.defined()) if rest.alternatives else Value()
    guards = rest.where(is_tainted)
    return value_of([*made.alternatives, *names.alternatives, *((guards, TAINTED),)])


def listed(run: Run, atom: Atom, where: ReleaseSet) -> ListContent | None:
    """A new list of what is in a container; None for anything else."""
    content = lists_of(run, atom)
    if content is not None:
        return replace(content, is_tuple=False, is_set=False)
    parts = elements_of(run, Value(((where, atom),)))
    if parts is not None:
        return ListContent(tuple(parts))
    keys = dict_of(run, atom)
    if keys is None:
        return None
    known = turns_over(run, Value(((where, atom),))) or ()
    return ListContent(tuple(known[: len(keys.entries)]), keys.open & where, keys.forwarded & where)


@model("builtins.reversed")
def _reversed(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    first = argument(arguments, 0)
    found: list[Alternative] = []
    for i, (where, atom) in enumerate(as_alternatives(first, run.state.reach) if first is not None else ()):
        content = listed(run, atom, where)
        layouts = layouts_of(content, where) if content is not None else [(where, None)]
        lost = EMPTY
        elements: list[Entry] = []
        for here, layout in layouts:
            elements.extend(reversed(layout or ()))
            lost |= here if layout is None else EMPTY
        found.extend(run.new_list(node, ListContent(tuple(elements), lost), i).within(where).alternatives)
    return value_of(found) if first is not None else unknown(run.state.reach)


@model("copy.copy")
def _copy(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``copy.copy``: of a container another one with the same in it; of anything else, the thing itself."""
    return _copied(run, arguments, node, deep=False)


@model("copy.deepcopy")
def _deep_copy(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``copy.deepcopy``: what a container holds is copied too."""
    return _copied(run, arguments, node, deep=True)


def _copied(run: Run, arguments: Arguments, node: cst.CSTNode, *, deep: bool) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else _copy_of(run, value, node, {}, deep=deep)


def _copy_of(run: Run, value: Value, node: cst.CSTNode, known: dict[int, Atom], *, deep: bool) -> Value:
    return value_of((where, _copied_atom(run, atom, node, known, deep=deep)) for where, atom in value.alternatives)


def _copied_atom(run: Run, atom: Atom, node: cst.CSTNode, known: dict[int, Atom], *, deep: bool) -> Atom:
    if not isinstance(atom, (DictRef, ListRef)):
        return atom
    content = run.content(atom.key)
    if content is None:
        return UNKNOWN
    if atom.key not in known:
        number = run.number(node, "copy", len(known))
        known[atom.key] = type(atom)(number)
        run.state.heap[number] = _deep_content(run, content, node, known) if deep else content
    return known[atom.key]


def _deep_content(run: Run, content: Content, node: cst.CSTNode, known: dict[int, Atom]) -> Content:
    def copied(entry: Entry) -> Entry:
        return replace(entry, value=_copy_of(run, entry.value, node, known, deep=True))

    if isinstance(content, DictContent):
        entries = {k: copied(e) for k, e in content.entries.items()}
        return replace(content, entries=entries, others=_copy_of(run, content.others, node, known, deep=True))
    if isinstance(content, ListContent):
        others = _copy_of(run, content.others, node, known, deep=True)
        return replace(content, elements=tuple(copied(e) for e in content.elements), others=others)
    return content
