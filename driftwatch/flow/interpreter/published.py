"""What one function leaves for others to find: the names by which they come to it matter from then on.

Enters: a value that is put into something that outlives the function: a variable of a module, an attribute of a class,
of a function or of an object that is kept, a container. Leaves: where the value is, or holds, something of the library,
the names of it are published: code that mentions them is looked at, in this file and in those that import them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode
from driftwatch.flow.domain.contents import Content, ListContent, PartialContent
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.renaming import held_by, reachable
from driftwatch.flow.domain.taint import tells
from driftwatch.flow.domain.values import Atom, Class, Function, Instance, Value
from driftwatch.releases import EMPTY

if TYPE_CHECKING:
    from driftwatch.flow.interpreter.world import World

Home = ModuleCode | ClassCode | FunctionCode


def publish(
    world: World, home: Home, key: int | str | None, values: Iterable[Value], heap: Mapping[int, Content]
) -> None:
    """Something is put into a module's variable or container, or into an attribute of a class or function."""
    module = home if isinstance(home, ModuleCode) else home.module
    told = [] if module.executing or not module.path else [value for value in values if of_library(value, heap)]
    if not told:
        return
    keep(world, module, told, heap)
    names = _names(home, key)
    if names and not module.published.issuperset(names):
        world.modules.publish(module, names)


def keep(world: World, module: ModuleCode, values: Iterable[Value], heap: Mapping[int, Content]) -> None:
    """What containers hold outlives the function that made them; what can be changed may be changed by others."""
    for key, atom in reachable([each for value in values for each in with_closures(value)], heap).items():
        if key in world.homes or key in world.shared or isinstance(atom, Instance):
            continue
        content = _kept(heap[key])
        fixed = isinstance(content, PartialContent) or (isinstance(content, ListContent) and content.is_tuple)
        world.homes[key] = module
        module.heap[key] = content if fixed else loosened(content, world.all_releases)


def _kept(content: Content) -> Content:
    """What a container holds that is kept: who uses it later does so there, whoever has given it."""
    if isinstance(content, PartialContent):
        return content
    open_ = content.open | content.forwarded
    if isinstance(content, ListContent):
        elements = tuple(replace(entry, location=None) for entry in content.elements)
        return replace(content, elements=elements, open=open_, forwarded=EMPTY)
    entries = {name: replace(entry, location=None) for name, entry in content.entries.items()}
    return replace(content, entries=entries, open=open_, forwarded=EMPTY)


def _names(home: Home, key: int | str | None) -> Collection[str]:
    """The names of a module by which functions come to something that it has."""
    if isinstance(key, str):
        return (key,)
    if isinstance(home, ModuleCode):
        return [name for name, value in home.names.items() if key in reachable(with_closures(value), home.heap)]
    return (home.name,)


def with_closures(value: Value) -> list[Value]:
    """A value, with what the functions know that it may be: of where they were made."""
    found = [value]
    for _, atom in value.alternatives:
        if isinstance(atom, Function) and atom.code.closure:
            found += [each for variables in atom.code.closure for each in variables.values()]
    return found


def of_library(value: Value, heap: Mapping[int, Content]) -> bool:
    """Whether a value is, or holds, something of the library, or of the code base's own that calls it."""
    return tells(value) or any(_is_of_library(atom) for atom in _within(value, heap))


def holds_library(value: Value, heap: Mapping[int, Content]) -> bool:
    """Whether a value is, or holds, something of the library itself."""
    return any(touches_library(atom) for atom in _within(value, heap))


def _within(value: Value, heap: Mapping[int, Content]) -> Iterator[Atom]:
    values = with_closures(value)
    inside = (held for key in reachable(values, heap) for held in held_by(heap[key]))
    return (atom for each in (*values, *inside) for _, atom in each.alternatives)


def _is_of_library(atom: Atom) -> bool:
    if isinstance(atom, Function):
        return atom.code.calls_library or bool(atom.code.summary and atom.code.summary.effects.uses_library)
    if isinstance(atom, Class):
        held = any(holds_library(value, atom.code.heap) for value in atom.code.constants.values())
        return held or any(method.calls_library for method in atom.code.methods.values())
    return touches_library(atom)
