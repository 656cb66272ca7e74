"""Attributes are set on instances, classes and functions of the code base, by a name that may not be known."""

from __future__ import annotations

from dataclasses import replace

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.contents import DictContent, ListContent
from driftwatch.flow.domain.renaming import reachable
from driftwatch.flow.domain.state import ghosts
from driftwatch.flow.domain.taint import anonymous, tainted_within, tells
from driftwatch.flow.domain.values import (
    NOTHING,
    UNKNOWN,
    Atom,
    Class,
    Const,
    DictRef,
    Function,
    Instance,
    ListRef,
    ProjectModule,
    Value,
    join,
    key_of,
    value_of,
)
from driftwatch.flow.interpreter.members import alternatives_said, anything
from driftwatch.flow.interpreter.namespaces import set_variable
from driftwatch.flow.interpreter.objects import content_of, for_any, hold, in_constructor_of, set_on_any
from driftwatch.flow.interpreter.published import publish
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.interpreter.shared import (
    CONTENTS,
    contents_differ,
    keep_held,
    keep_one,
    open_attribute,
    share_attribute,
)
from driftwatch.releases import EMPTY, ReleaseSet, union


def set_attribute(run: Run, owner: Value, name: str, value: Value) -> None:
    """``owner.name = value``, of instances and classes of the code base."""
    stays(run, value)
    alternatives = as_alternatives(owner, run.state.reach)
    for where, atom in alternatives:
        if isinstance(atom, Class) and atom.code.module is run.entry.module and run.in_module:
            _set_in_body(run, atom.code, name, value.within(where), certain=len(alternatives) == 1)
        elif isinstance(atom, Class):
            _set_on_class(run, atom.code, name, value.within(where))
        elif isinstance(atom, Function):
            _set_on_function(run, atom.code, name, value.within(where))
        elif isinstance(atom, ProjectModule):
            set_variable(run, atom.code, name, value.within(where))
        elif isinstance(atom, Instance):
            if atom.code.passed_over and not run.in_constructor:
                publish(run.world, atom.code, None, (value,), run.state.heap)
            write_attribute(run, atom.code, name, value.within(where))
            if atom.site is None:
                run.effects.sets_attributes = True
                set_on_any(run, atom.code, name, value.within(where))
            hold(run, atom, name, value, where, certain=len(alternatives) == 1)
    if owner.where(lambda atom: isinstance(atom, Instance) and atom.site is not None):
        # What was known of the attribute by another path may be that of the same object.
        ending = f".{name}"
        for path in [path for path in run.state.vars if path.endswith(ending)]:
            del run.state.vars[path]


def stays(run: Run, value: Value) -> None:
    """What a call was given is kept: who uses it later does so there, whoever gave it."""
    for _, atom in value.alternatives:
        if not isinstance(atom, (DictRef, ListRef)):
            continue
        content = run.content(atom.key)
        if isinstance(content, DictContent) and any(e.location is not None for e in content.entries.values()):
            entries = {name: replace(e, location=None) for name, e in content.entries.items()}
            run.state.heap[atom.key] = replace(content, entries=entries)
        elif isinstance(content, ListContent) and any(e.location is not None for e in content.elements):
            elements = tuple(replace(e, location=None) for e in content.elements)
            run.state.heap[atom.key] = replace(content, elements=elements)


def _set_in_body(run: Run, code: ClassCode, name: str, value: Value, *, certain: bool) -> None:
    """An attribute of a class is set while its module is executed: as if it stood in the class's body."""
    rest = EMPTY if certain else run.world.all_releases
    before = code.constants.get(name, Value())
    method = code.methods.get(name)
    if method is not None:
        before = join(before, Value(((method.reach, Function(method)),)))
    code.constants[name] = join(value, before.within(rest | (run.world.all_releases - value.defined())))
    if certain and method is not None and method.reach <= value.defined():
        del code.methods[name]
    code.heap.update({key: run.state.heap[key] for key in reachable([value], run.state.heap)})
    run.world.dependencies.change(code, name)


def _set_on_function(run: Run, code: FunctionCode, name: str, value: Value) -> None:
    """An attribute of a function is set: it may be there whenever it is looked at."""
    before = code.attributes.get(name, Value())
    after = code.attributes[name] = _few(join(before, _as_of_any(run, value, before)))
    if set(after.alternatives) != set(before.alternatives):
        publish(run.world, code, None, (value,), run.state.heap)
        run.world.dependencies.change(code, name)


def _set_on_class(run: Run, code: ClassCode, name: str, value: Value) -> None:
    """An attribute of a class is set in a function: it may be there whenever it is looked up."""
    publish(run.world, code, None, (value,), run.state.heap)
    before = code.set_on_class.get(name, Value())
    after = _few(join(before, _as_of_any(run, value, before)))
    if set(after.alternatives) != set(before.alternatives):
        code.set_on_class[name] = after
        code.changed = True
        run.world.dependencies.change(code, name)
        run.world.dependencies.change(code, anything(name))
    for _, atom in value.alternatives:
        key = key_of(atom)
        if key is not None and key in run.state.heap:
            keep_one(run.world, code, key, run.state.heap)


MAX_KINDS = 24
"""How many things an attribute may be in all instances before it may be any text, number or container as well."""


def _few(value: Value) -> Value:
    sites: dict[ClassCode, set[int | None]] = {}
    for _, atom in value.alternatives:
        if isinstance(atom, Instance):
            sites.setdefault(atom.code, set()).add(atom.site)
    if any(len(each) > 1 for each in sites.values()):
        # Which of several it is, nobody can tell here.
        value = value_of(
            (where, Instance(a.code) if isinstance(a, Instance) and len(sites[a.code]) > 1 else a)
            for where, a in value.alternatives
        )
    if len(value.alternatives) <= MAX_KINDS:
        return value
    return value_of((where, UNKNOWN if _is_one_of_many(atom) else atom) for where, atom in value.alternatives)


def _is_one_of_many(atom: Atom) -> bool:
    if isinstance(atom, Const):
        return not isinstance(atom.value, (bool, type(None)))
    return isinstance(atom, (DictRef, ListRef))


def set_any(run: Run, atom: Atom, value: Value, where: ReleaseSet) -> None:
    """An attribute of an instance is set whose name is not known: it may be any."""
    content = content_of(run, atom)
    if not isinstance(atom, Instance) or content is None or atom.site is None:
        return
    for name in [name for name in content.entries if isinstance(name, str)]:
        hold(run, atom, name, value, where, certain=False)
    run.change(atom.site, run.dict_at(atom.site).opened(where, value))


def _as_of_any(run: Run, value: Value, before: Value) -> Value:
    """A value that is set, as it is known where it is not known of which instance, and on which way.

    A test that could not be followed decides nothing where it is set to what it is known to be anyway.
    """
    said = value_of((where, anonymous(atom)) for where, atom in for_any(run, value).alternatives)
    if not run.state.conditions:
        return said
    known = {atom: where for where, atom in before.alternatives}
    new = union([where - known.get(atom, EMPTY) for where, atom in said.alternatives])
    return tainted_within(said, run.state.conditional & new)


def _with_ghosts(run: Run, code: ClassCode, name: str, before: Value, value: Value) -> Value:
    """What has been set, with one more value: what is set where the program has ended counts where nothing else is."""
    ghost, renewed = run.state.ghost & value.defined(), run.world.identities.renewed
    if not ghost.mask and name not in code.ghosts:
        return join(renewed(before, value), value)
    live, dead = code.ghosts.get(name, (before, NOTHING))
    really = value.within(value.defined() - ghost)
    live = join(join(renewed(live, really), really), ghosts(value, ghost))
    dead = join(dead, value.within(ghost))
    code.ghosts[name] = live, dead
    return join(live, dead.within(dead.defined() - live.defined()))


def write_attribute(run: Run, code: ClassCode, name: str, value: Value) -> None:
    """What is said of all instances of a class of the code base, when an attribute of one is set."""
    if name not in code.set_after and not in_constructor_of(run, code):
        code.set_after.add(name)
        run.world.dependencies.change(code, name)
    held = (*value.alternatives, *code.attributes.get(name, NOTHING).alternatives)
    contents = dict(code.heap) if any(key_of(atom) is not None for _, atom in held) else None
    before = code.attributes.get(name, Value())
    value = share_attribute(run.world, code, name, _as_of_any(run, value, before), run.state.heap)
    after = _few(_with_ghosts(run, code, name, before, value))
    if after is not before and set(after.alternatives) != set(before.alternatives):
        code.attributes[name] = after
        said = alternatives_said(run, after)
        if said != alternatives_said(run, before):
            run.world.dependencies.change(code, name)
            if said != {(run.world.all_releases, UNKNOWN)}:
                run.world.dependencies.change(code, anything(name))
            # What tells nothing about the library changes nothing for who reads it, once it is known to be set at all.
            code.changed |= after.defined() != before.defined() or tells(after)
    if contents is None:
        return
    for _, atom in value.alternatives:
        key = key_of(atom)
        if key is not None and key in run.state.heap:
            keep_one(run.world, code, key, run.state.heap)
            if isinstance(atom, Instance):
                keep_held(run.world, code, key, run.state.heap)
    open_attribute(run.world, code, name)
    if contents_differ(run.world, contents, code.heap):
        run.world.dependencies.change(code, CONTENTS)
