"""Containers that outlive the function that made them: variables of a module, attributes of an instance.

What one function puts into them another one finds there. Where some function other than a constructor changes a
container's content, nobody can say what is in it when the next one looks: all that is known may be gone or replaced,
and anything may have come.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from driftwatch.flow.code import ClassCode, ModuleCode
from driftwatch.flow.state import Content, DictContent, Entry, ListContent, State
from driftwatch.flow.values import DictRef, ListRef, Value, join, unknown
from driftwatch.releases import EMPTY, ReleaseSet


def open_variables(module: ModuleCode, passed_over: Collection[str], everywhere: ReleaseSet) -> None:
    """Open the containers of a module's variables that its functions change.

    A variable that a function assigns may be anything, where that function is among those that were passed over.
    """
    for piece in module.survey.pieces if module.survey is not None else ():
        if piece.defines in passed_over or piece.is_class:
            for name in piece.globals & module.names.keys():
                module.names[name] = join(module.names[name], unknown(everywhere))
    changed = _changes(module, attributes=False)
    for name, value in module.names.items():
        if changed is None or name in changed:
            _open(value, module.heap, everywhere)


def open_attributes(code: ClassCode, everywhere: ReleaseSet) -> None:
    """Open the containers in an instance's attributes that some function of the module changes."""
    changed = _changes(code.module, attributes=True)
    for name, value in code.attributes.items():
        if changed is None or f".{name}" in changed:
            _open(value, code.heap, everywhere)


def keep_content(code: ClassCode, end: State, everywhere: ReleaseSet) -> None:
    """A constructor ends: what it has put into the containers of its attributes by now is what the methods find."""
    for key in code.heap:
        if key in end.heap:
            code.heap[key] = end.heap[key]
    open_attributes(code, everywhere)


def _changes(module: ModuleCode, *, attributes: bool) -> set[str] | None:
    """The names of what functions of a module change; None when that was not surveyed, and may be anything."""
    if module.survey is None:
        return None
    found: set[str] = set()
    for piece in module.survey.pieces:
        if piece.defines is not None:
            local = set() if attributes else piece.binds - piece.globals
            found |= piece.changes - local
    return found


def _open(value: Value, heap: dict[int, Content], everywhere: ReleaseSet) -> None:
    for _, atom in value.alternatives:
        if isinstance(atom, (DictRef, ListRef)) and atom.key in heap:
            heap[atom.key] = opened(heap[atom.key], everywhere)


def opened(content: Content, everywhere: ReleaseSet) -> Content:
    """A container of which anything may have become."""
    if isinstance(content, DictContent):
        return replace(content, entries={k: _loose(e) for k, e in content.entries.items()}, open=everywhere)
    if isinstance(content, ListContent):
        return replace(content, elements=tuple(_loose(e) for e in content.elements), open=everywhere)
    return content


def _loose(entry: Entry) -> Entry:
    return replace(entry, certain=EMPTY, value=join(entry.value, unknown(entry.releases)))
