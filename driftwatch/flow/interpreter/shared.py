"""Containers that outlive the function that made them: variables of a module, attributes of an instance.

What one function puts into them another one finds there. Where all that change the content of a dict or a list are
analysed, it holds whatever any of them has put into it, at any time; the functions that read it are analysed anew when
that turns out to be more. Where others may change it, nobody can say what is in it when the next one looks: all that is
known may be gone or replaced, and anything may have come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from driftwatch.flow.domain.code import ClassCode, ModuleCode
from driftwatch.flow.domain.contents import Content, DictContent, Entry, ListContent, PartialContent
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.renaming import Renaming, held_by, reachable
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.taint import anonymous
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Alternative,
    Atom,
    Const,
    DictRef,
    External,
    Instance,
    ListRef,
    Opaque,
    Partial,
    Value,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.published import of_library, publish, with_closures
from driftwatch.releases import EMPTY

if TYPE_CHECKING:
    from driftwatch.flow.interpreter.world import World

CONTENTS = "contents()"
"""Stands for what is in containers that functions share, as a place that may change."""


MAX_KINDS = 24
"""How many things a dict may hold under keys that are not known before it may hold anything."""


@dataclass(eq=False)
class Shared:
    """A dict or list that functions share; its content is in its home's heap under `key`.

    `readers` are the modules that look at it.
    """

    home: ModuleCode | ClassCode
    key: int
    readers: set[ModuleCode] = field(default_factory=set)

    def content(self) -> Content | None:
        return self.home.heap.get(self.key)


def open_variables(world: World, module: ModuleCode, passed_over: Collection[str]) -> None:
    """A module has been executed: its functions share the containers in its variables from here on.

    A variable that a function assigns may be anything, where that function is among those that were passed over.
    """
    everywhere = world.all_releases
    for key in [key for key in module.heap if key in world.shared and world.shared[key].home is not module]:
        # The instances whose methods share it have it.
        del module.heap[key]
    for piece in module.survey.pieces if module.survey is not None else ():
        if piece.defines in passed_over or piece.is_class:
            for name in piece.globals & module.names.keys():
                module.names[name] = join(module.names[name], unknown(everywhere))
    kept = reachable([each for value in module.names.values() for each in with_closures(value)], module.heap)
    for key, atom in kept.items():
        world.homes.setdefault(key, module)
        if isinstance(atom, Instance):
            world.objects.lasting.add(key)
            _loosen_held(world, module, key)
    held = [name for name, value in module.names.items() if any(_is_container(atom) for _, atom in value.alternatives)]
    if not held:
        return
    changed = _changed_variables(module)
    elsewhere = world.modules.files.changed_elsewhere(module, held)
    for name in held:
        seen = _variable_is_seen(module, name, passed_over) and name not in elsewhere
        if changed is None or name in changed or name in elsewhere:
            _loosen(world, module, module.names[name], seen=seen)
        elif seen:
            _share(world, module, module.names[name])


def _loosen_held(world: World, module: ModuleCode, key: int) -> None:
    """An instance is kept in a variable of a module: functions may change the containers that it holds."""
    content, changed = module.heap[key], module.changed_in_functions
    for name, entry in content.entries.items() if isinstance(content, DictContent) else ():
        if changed is None or f".{name}" in changed:
            _loosen(world, module, entry.value, seen=False)


def share_attribute(world: World, code: ClassCode, name: str, value: Value, heap: Mapping[int, Content]) -> Value:
    """A value is assigned to an attribute: the dicts that each instance has there are one, which the methods share."""
    if not any(isinstance(atom, DictRef) for _, atom in value.alternatives):
        return value
    if name not in code.shares:
        changed = code.module.changed_in_functions
        seen = changed is not None and f".{name}" in changed and _attribute_is_seen(code, name)
        code.shares[name] = None if seen else False
    if code.shares[name] is False:
        return value
    found: list[Alternative] = []
    for where, atom in value.alternatives:
        content = heap.get(atom.key) if isinstance(atom, DictRef) else None
        if not isinstance(atom, DictRef) or not isinstance(content, DictContent):
            found.append((where, atom))
            continue
        number = code.shares[name]
        if number is None and atom.key not in world.shared:
            number = code.shares[name] = atom.key
            world.shared[number] = Shared(code, number)
            code.heap[number] = _uncertain_items(content)
        elif number is not None and atom.key not in world.shared:
            world.shared[atom.key] = world.shared[number]
            changed_content(world, atom.key, content, heap)
        found.append((where, atom if number is None else DictRef(number)))
    return value_of(found)


def share_constants(world: World, code: ClassCode) -> None:
    """A class body has been executed: its methods share the dicts that stand in it and that they change."""
    for key, atom in reachable(code.constants.values(), code.heap).items():
        world.homes.setdefault(key, code)
        if isinstance(atom, Instance):
            world.objects.lasting.add(key)
    changed = code.module.changed_in_functions
    for name, value in code.constants.items():
        held = [atom.key for _, atom in value.alternatives if isinstance(atom, DictRef) and atom.key in code.heap]
        if held and changed is not None and f".{name}" in changed and _attribute_is_seen(code, name):
            for key in held:
                content = code.heap[key]
                if isinstance(content, DictContent):
                    code.heap[key] = _uncertain_items(content)
                    world.shared.setdefault(key, Shared(code, key))


def open_attribute(world: World, code: ClassCode, name: str) -> None:
    """Open the containers in an attribute of an instance if some function of the module changes them."""
    value = code.attributes.get(name, Value())
    if any(_is_container(atom) for _, atom in value.alternatives):
        changed = code.module.changed_in_functions
        if changed is None or f".{name}" in changed:
            _loosen(world, code, value, seen=False)


def keep_content(world: World, code: ClassCode, end: State) -> None:
    """A constructor ends: what it has put into the containers of its attributes by now is what the methods find."""
    before = dict(code.heap)
    for key in code.heap:
        if key in end.heap:
            keep_one(world, code, key, end.heap)
    for name in code.attributes:
        open_attribute(world, code, name)
    if contents_differ(world, before, code.heap):
        world.dependencies.change(code, CONTENTS)


def contents_differ(world: World, before: Mapping[int, Content], after: Mapping[int, Content]) -> bool:
    """Whether what is in some containers is something else, but for those that the same code has made anew."""
    other = {key: content for key, content in after.items() if before.get(key) is not content}
    other = {key: content for key, content in other.items() if before.get(key) != content}
    if not other:
        return False
    first = world.identities.first_number
    alike = {first(key) for key in other}
    keys = {key: first(key) for key in (*before, *after)}
    naming = Renaming(keys, {})
    known = {first(key): naming.content(content) for key, content in before.items() if first(key) in alike}
    return any(known.get(first(key)) != naming.content(content) for key, content in other.items())


def keep_one(world: World, code: ClassCode, key: int, heap: Mapping[int, Content]) -> None:
    """A container is found in an attribute, with the content that it has in a heap."""
    if key in world.shared:
        changed_content(world, key, heap[key], heap)
    else:
        code.heap[key] = heap[key]


def keep_held(world: World, code: ClassCode, key: int, heap: Mapping[int, Content]) -> None:
    """An instance is found in an attribute, with what it holds in a heap: it outlives what has made it."""
    home = code.heap
    for held, atom in reachable([Value(((world.all_releases, DictRef(key)),))], heap).items():
        if isinstance(atom, Instance) or held == key:
            world.objects.lasting.add(held)
        if held not in world.shared:
            home[held] = heap[held]


def changed_content(world: World, key: int, content: Content, heap: Mapping[int, Content]) -> None:
    """A function has changed a dict that it shares with others."""
    shared = world.shared[key]
    before = shared.content()
    after: Content
    if content != before:
        publish(world, shared.home, shared.key, held_by(content), heap)
    if isinstance(before, ListContent) and isinstance(content, ListContent):
        after = _absorbed_list(before, content, shared.home, heap, world)
    elif isinstance(before, DictContent) and isinstance(content, DictContent):
        _keep_partials(world, shared.home.heap, heap, [content.others, *(e.value for e in content.entries.values())])
        after = _absorbed(before, content, shared.home.heap, world)
    else:
        return
    if after != before:
        shared.home.heap[shared.key] = after
        world.dependencies.change(shared, CONTENTS)
        world.modules.written = True
        world.modules.outdated |= shared.readers
        if isinstance(shared.home, ClassCode):
            shared.home.changed = True


def keep_elsewhere(
    world: World, home: ModuleCode | ClassCode, key: int, content: Content, heap: Mapping[int, Content]
) -> None:
    """A function puts something of the library into what a module or class has and others may change as well."""
    before = home.heap.get(key)
    if isinstance(before, DictContent) and isinstance(content, DictContent):
        put = [entry.value for name, entry in content.entries.items() if entry != before.entries.get(name)]
        after: Content = _uncertain_items(before).opened(world.all_releases)
    elif isinstance(before, ListContent) and isinstance(content, ListContent):
        put = [entry.value for entry in content.elements if entry not in before.elements]
        after = loosened(before, world.all_releases)
    else:
        return
    put += [content.others] if content.others != before.others else []
    if any(of_library(value, heap) for value in put):
        home.heap[key] = after
        world.shared[key] = Shared(home, key)
        if isinstance(home, ClassCode):
            # The class alone has it from now on.
            home.module.heap.pop(key, None)
        publish(world, home, key, put, heap)


def put_back(world: World, module: ModuleCode, before: Mapping[int, Content]) -> None:
    """A module is executed after others have put something into its containers: it is there still."""
    for key, content in before.items():
        shared, now = world.shared.get(key), module.heap.get(key)
        if shared is not None and shared.home is module and isinstance(content, DictContent):
            known = now if isinstance(now, DictContent) else DictContent()
            module.heap[key] = _absorbed(known, content, module.heap, world)
        elif key not in module.heap:
            module.heap[key] = content


# -- who changes what --------------------------------------------------------------------------------------------------


def _changed_variables(module: ModuleCode) -> set[str] | None:
    """The variables that functions of a module change; None when that was not surveyed, and may be any."""
    if module.survey is None:
        return None
    found: set[str] = set()
    for piece in module.survey.pieces:
        if piece.defines is not None:
            found |= piece.changes - (piece.binds - piece.globals)
    return found


def _variable_is_seen(module: ModuleCode, name: str, passed_over: Collection[str]) -> bool:
    """Whether all functions of a module that change a variable's content are analysed."""
    if module.survey is None:
        return False
    for piece in module.survey.pieces:
        if piece.defines is not None and name in piece.changes:
            if piece.defines in passed_over or (piece.is_class and name not in module.relevant):
                return False
    return True


def _attribute_is_seen(code: ClassCode, name: str) -> bool:
    """Whether all that change the content of an attribute are methods of the class: these are analysed."""
    survey = code.module.survey
    if survey is None or code.parent is not None:
        return False
    return all(piece.defines == code.name for piece in survey.pieces if f".{name}" in piece.changes)


# -- content -----------------------------------------------------------------------------------------------------------


def _is_container(atom: object) -> bool:
    return isinstance(atom, (DictRef, ListRef))


def _share(world: World, home: ModuleCode | ClassCode, value: Value) -> None:
    for _, atom in value.alternatives:
        if isinstance(atom, DictRef) and atom.key in home.heap:
            world.shared.setdefault(atom.key, Shared(home, atom.key))


def _loosen(world: World, home: ModuleCode | ClassCode, value: Value, *, seen: bool) -> None:
    """Something changes the content of these containers."""
    for _, atom in value.alternatives:
        if not isinstance(atom, (DictRef, ListRef)) or atom.key not in home.heap or atom.key in world.shared:
            continue
        content = home.heap[atom.key]
        if seen and isinstance(content, ListContent):
            home.heap[atom.key] = replace(content, elements=tuple(map(_uncertain, content.elements)))
            world.shared[atom.key] = Shared(home, atom.key)
        elif seen and isinstance(content, DictContent):
            home.heap[atom.key] = _uncertain_items(content)
            world.shared[atom.key] = Shared(home, atom.key)
        else:
            home.heap[atom.key] = loosened(content, world.all_releases)


def _uncertain_items(content: DictContent) -> DictContent:
    return replace(content, entries={k: _uncertain(e) for k, e in content.entries.items()})


def _uncertain(entry: Entry) -> Entry:
    """An item that may be gone; what is in a container that it holds may be anything."""
    nested = entry.value.where(_is_container)
    return replace(entry, certain=EMPTY, value=join(entry.value, unknown(nested)))


def _absorbed(before: DictContent, content: DictContent, heap: dict[int, Content], world: World) -> DictContent:
    """A dict that may be as it was or as it is now."""
    entries = dict(before.entries)
    for name, entry in content.entries.items():
        known = entries.get(name)
        same = known is not None and _same(entry.value, known.value)
        value = entry.value if same else _lasting(entry.value, heap, world)
        if known is None:
            entries[name] = replace(entry, certain=EMPTY, value=value)
        else:
            certain = known.certain & entry.certain
            entries[name] = replace(
                known, releases=known.releases | entry.releases, certain=certain, value=_few(join(known.value, value))
            )
    for name in entries.keys() - content.entries.keys():
        entries[name] = replace(entries[name], certain=EMPTY)
    after = replace(before, entries=entries)
    where = content.open | content.forwarded
    others = content.under_unknown_keys()
    if not where or (where <= before.open and _same(others, before.under_unknown_keys())):
        return after
    after = after.opened(where, _lasting(others, heap, world))
    return replace(after, others=_few(after.others))


def _absorbed_list(
    before: ListContent, content: ListContent, home: ModuleCode | ClassCode, heap: Mapping[int, Content], world: World
) -> ListContent:
    """A list that may be as it was or as it is now: what has been put into it may be anywhere in it."""
    known = {entry.value for entry in before.elements}
    put = [entry.value.within(entry.releases) for entry in content.elements if entry.value not in known]
    where = content.open | content.forwarded
    put += [content.further()] if where and content.further() != before.further() else []
    _keep_partials(world, home.heap, heap, put)
    others = before.further()
    for value in put:
        lasting = _lasting(value, home.heap, world)
        others = join(world.identities.renewed(others, lasting), lasting)
    if _same(others, before.further()):
        return before
    return replace(before, open=before.open | others.defined(), others=_few(others))


def _same(first: Value, second: Value) -> bool:
    return set(first.alternatives) <= set(second.alternatives)


def _few(value: Value) -> Value:
    return value if len(value.alternatives) <= MAX_KINDS else unknown(value.defined())


def _lasting(value: Value, heap: dict[int, Content], world: World) -> Value:
    """What remains known of a value when the function that has put it there is left."""
    found: list[Alternative] = []
    for where, atom in value.alternatives:
        if isinstance(atom, Instance) and atom.site not in world.objects.lasting:
            # Another time, another one is made there.
            atom = replace(atom, site=None)
        found.append((where, anonymous(atom) if _lasts(atom, heap, world) else UNKNOWN))
    return value_of(found)


def _lasts(atom: Atom, heap: dict[int, Content], world: World) -> bool:
    if isinstance(atom, Const):
        # Of others there may be very many, and they tell nothing about the library.
        return atom.value is None or isinstance(atom.value, bool)
    if isinstance(atom, (DictRef, ListRef, Partial)):
        return atom.key in world.homes or atom.key in (heap if isinstance(atom, Partial) else world.shared)
    return not isinstance(atom, (External, Opaque))


def _keep_partials(
    world: World, home: dict[int, Content], heap: Mapping[int, Content], values: Iterable[Value]
) -> None:
    """Keep what the partials among these values hold with a dict that functions share, as far as it lasts."""

    def lasting(entry: Entry) -> Entry:
        return replace(entry, value=_lasting(entry.value, home, world))

    for value in values:
        for _, atom in value.alternatives:
            content = heap.get(atom.key) if isinstance(atom, Partial) else None
            if isinstance(atom, Partial) and isinstance(content, PartialContent) and atom.key not in home:
                positional, keywords = content.positional, content.keywords
                home[atom.key] = PartialContent(
                    _lasting(content.func, home, world),
                    ListContent(tuple(map(lasting, positional.elements)), positional.open | positional.forwarded),
                    DictContent(
                        {k: lasting(e) for k, e in keywords.entries.items()}, keywords.open | keywords.forwarded
                    ),
                )
