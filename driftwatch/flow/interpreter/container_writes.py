"""Items that are set and deleted: which keys and elements a dict or a list has afterwards, and in which releases."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import libcst as cst

from driftwatch.flow.domain.contents import DictContent, Entry, put, take
from driftwatch.flow.domain.facts import kept_under_asked, made_with_key
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.values import (
    Atom,
    Const,
    DictRef,
    ListRef,
    Namespace,
    Value,
    join,
    key_for,
    value_of,
)
from driftwatch.flow.interpreter.containers import bounds_of, elements_of, may_be_another, put_here
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.havoc import mutates
from driftwatch.flow.interpreter.namespaces import set_in_namespace
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, lists_of
from driftwatch.flow.interpreter.sequences import edited, taking
from driftwatch.releases import EMPTY, ReleaseSet


def set_item(run: Run, owner: Value, index: Value, value: Value, node: cst.CSTNode, named: str | None = None) -> None:
    """``owner[index] = value``; `named` is the name that the index is, if it is one."""
    mutates(run, owner)
    single = len(owner.alternatives) == 1
    for where, atom in as_alternatives(owner, run.state.reach):
        content = dict_of(run, atom)
        if isinstance(atom, ListRef):
            _set_element(run, atom, index, value, where)
        if isinstance(atom, Namespace):
            set_in_namespace(run, atom, index.within(where), value, node)
        elif not isinstance(atom, (DictRef, ListRef)):
            lose(run, value.within(where), node, "put into something that is not followed")
        if content is None or not isinstance(atom, DictRef):
            continue
        for there, key in as_alternatives(index, where):
            name = key_for(key)
            if name is not None:
                sure = there if single else EMPTY
                content = put(content, name, Entry(there, sure, value.within(there), put_here(run, node, name)))
            else:
                content = _anywhere(content, there, value, (named, run.frame.uid))
        run.change(atom.key, content)
        if atom.key in run.world.shared:
            # Of a container, functions that share the dict are told nothing.
            lose(
                run,
                value.only(partial(_is_out_of_sight, run)),
                node,
                "in a container that is put into a dict which functions share",
            )


def _is_out_of_sight(run: Run, held: Atom) -> bool:
    """Whether nothing is known of a container elsewhere than here."""
    return isinstance(held, (DictRef, ListRef)) and not (held.key in run.world.shared or held.key in run.world.homes)


def _anywhere(content: DictContent, where: ReleaseSet, value: Value, asked: tuple[str | None, int]) -> DictContent:
    """A dict in which something is put under a key that is not known: it may be one of those that are there."""
    value = kept_under_asked(value, asked)
    entries = {
        k: replace(e, value=join(e.value, made_with_key(value.within(where & e.releases), k)))
        for k, e in content.entries.items()
    }
    return replace(content, entries=entries).opened(where, value)


def _set_element(run: Run, owner: ListRef, index: Value, value: Value, where: ReleaseSet) -> None:
    """``owner[index] = value`` of a list."""
    content = lists_of(run, owner)
    if content is None:
        return
    for there, key in as_alternatives(index, where):
        if isinstance(key, Const) and type(key.value) is int:
            content = edited(run, content, there, partial(_put_element, key.value, value), value)
        else:
            elements = tuple(
                replace(e, value=join(e.value, value.within(there & e.releases))) for e in content.elements
            )
            content = replace(content, elements=elements)
    run.change(owner.key, content)


def _put_element(index: int, value: Value, where: ReleaseSet, listed: list[Entry]) -> None:
    listed[index] = Entry(where, where, value.within(where))


def set_slice(run: Run, owner: Value, piece: cst.Slice, value: Value | None) -> None:
    """``owner[a:b] = value``, or ``del owner[a:b]`` where there is none."""
    mutates(run, owner)
    known = bounds_of(run, piece)
    bounds = known[0][1] if known is not None and len(known) == 1 else None
    parts = [] if value is None else elements_of(run, value)
    for where, atom in as_alternatives(owner, run.state.reach):
        content = lists_of(run, atom)
        if content is None or not isinstance(atom, ListRef):
            continue
        if bounds is None or parts is None:
            run.change(atom.key, loosened(content, where))
        else:
            put = value_of(each for part in parts for each in part.value.within(part.releases).alternatives)
            run.change(atom.key, edited(run, content, where, partial(_put_slice, bounds, parts), put))


def _put_slice(bounds: slice, parts: list[Entry], where: ReleaseSet, listed: list[Entry]) -> None:
    listed[bounds] = [part.within(where) for part in parts if not part.releases.isdisjoint(where)]


def delete_item(run: Run, owner: Value, index: Value) -> None:
    """``del owner[index]``."""
    mutates(run, owner)
    for where, atom in as_alternatives(owner, run.state.reach):
        content = dict_of(run, atom)
        if isinstance(atom, ListRef):
            _delete_element(run, atom, index, where)
        if content is None or not isinstance(atom, DictRef):
            continue
        for there, key in as_alternatives(index, where):
            name = key_for(key)
            if name is not None and (name in content.entries or not may_be_another(key, content)):
                content = take(content, name, there)
            else:
                kept = {k: replace(e, certain=e.certain - there) for k, e in content.entries.items()}
                content = replace(content, entries=kept)
        run.change(atom.key, content)


def _delete_element(run: Run, owner: ListRef, index: Value, where: ReleaseSet) -> None:
    content = lists_of(run, owner)
    if content is None:
        return
    for there, key in as_alternatives(index, where):
        place = key.value if isinstance(key, Const) and type(key.value) is int else None
        content = edited(run, content, there, taking(place))
    run.change(owner.key, content)
