"""Instances of the code base's classes, told apart by where they are made: what each of them holds.

What an instance holds is a dict in the heap, as in Python. One that outlives the execution that made it, in a variable
of a module or an attribute of another one, may later be changed by any function: what those set on it is kept apart,
and may be there at any time.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, ModuleCode
from driftwatch.flow.domain.contents import DictContent, Entry, put
from driftwatch.flow.domain.lineage import holds_what_is_set, lineage
from driftwatch.flow.domain.taint import anonymous, depends_on_release, tainted_within
from driftwatch.flow.domain.values import (
    NOTHING,
    UNKNOWN,
    Atom,
    Const,
    Instance,
    Value,
    join,
    key_of,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.published import publish
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.syntax.children import walk
from driftwatch.flow.syntax.survey import CONSTRUCTORS
from driftwatch.releases import EMPTY, ReleaseSet


class Objects:
    """The instances that outlive the execution that made them.

    `lasting` are their heap numbers, `later` what functions have set on them since, `readers` who looks at them.
    """

    def __init__(self) -> None:
        self.lasting: set[int] = set()
        self.later: dict[int, dict[str, Value]] = {}
        self.readers: dict[int, set[ModuleCode]] = {}


def make(run: Run, code: ClassCode, node: cst.CSTNode) -> Instance:
    """A new instance, before its constructor is called."""
    made = Instance(code, run.number(node, "object"))
    begin(run, made)
    return made


def begin(run: Run, made: Instance) -> None:
    """An instance holds nothing yet, and nothing else than what is set on it, if its class leaves that to Python."""
    assert made.site is not None
    run.made.add(made.site)
    reach = run.state.reach
    run.state.heap[made.site] = DictContent(open=EMPTY if holds_what_is_set(made.code) else reach)


def content_of(run: Run, atom: Atom | None) -> DictContent | None:
    """What an instance holds, where that is known."""
    if not isinstance(atom, Instance) or atom.site is None:
        return None
    content = run.content(atom.site)
    return content if isinstance(content, DictContent) else None


def held_by(run: Run, atom: Instance, content: DictContent, name: str, where: ReleaseSet) -> tuple[Value, ReleaseSet]:
    """An attribute that an instance holds, and the releases in which it does so for certain."""
    entry = content.entries.get(name)
    value, certain = NOTHING, EMPTY
    if entry is not None:
        here = entry.releases & where
        value, certain = entry.value.within(here), entry.certain & where
        value = join(value, unknown(here - value.defined()))
    later = _later(run, atom, name).within(where)
    if later.alternatives:
        others = join(value, later)
        if len(others.alternatives) > len(value.alternatives) or others.defined() != value.defined():
            # Nobody can tell whether it has been set by then; what was a guard may be one still.
            value = tainted_within(others, depends_on_release(value))
    return value, certain


def _later(run: Run, atom: Instance, name: str) -> Value:
    """What functions have set on an instance that outlives the execution that made it."""
    objects, site = run.world.objects, atom.site
    if site is None or site not in objects.lasting or site in run.made:
        return NOTHING
    objects.readers.setdefault(site, set()).add(run.frame.module)
    run.world.dependencies.read(site, name)
    found = objects.later.get(site, {}).get(name, NOTHING)
    for code in lineage(atom.code)[0]:
        run.world.dependencies.read(code, name)
        if code.passed_over and name in _set_by_methods(code):
            found = join(found, unknown(run.world.all_releases))
        for function, value in code.set_later.get(name, {}).items():
            if function.called_later or function.escapes or function.kept or not function.is_private:
                found = join(found, value)
    return found


def _set_by_methods(code: ClassCode) -> frozenset[str]:
    """The attributes that a class's methods set, others than constructors, as it is written."""
    if code.set_in_methods is None:
        code.set_in_methods = frozenset(
            target.target.attr.value
            for name, method in code.methods.items()
            if name not in CONSTRUCTORS and isinstance(method.node, cst.FunctionDef)
            for node in walk(method.tree.body(method.node))
            if isinstance(node, cst.Assign)
            for target in node.targets
            if isinstance(target.target, cst.Attribute)
        )
    return code.set_in_methods


def set_on_any(run: Run, code: ClassCode, name: str, value: Value) -> None:
    """A method sets an attribute of any instance of its class."""
    function = run.entry.function
    if function is None or run.in_constructor:
        return
    known = code.set_later.setdefault(name, {})
    before = known.get(function, NOTHING)
    after = known[function] = join(before, value_of((where, _lasting(run, atom)) for where, atom in value.alternatives))
    if set(after.alternatives) != set(before.alternatives):
        run.world.dependencies.change(code, name)


def in_constructor_of(run: Run, code: ClassCode) -> bool:
    """Whether a constructor of a class, of a base or of a subclass is being executed."""
    return any(code in lineage(each)[0] or each in lineage(code)[0] for each in run.frame.constructed())


def as_left(code: ClassCode, name: str, value: Value) -> Value:
    """What was ever set in an attribute of an instance, but for the constants that its constructor puts others over.

    ``self.enabled = True``, and False in a handler: where the handler is always entered, it is False.
    """
    entry = code.left.get(name)
    if entry is None or name in code.set_after or len(value.alternatives) < 2:
        return value
    open_, said = EMPTY, dict[Atom, ReleaseSet]()
    for where, atom in entry.value.alternatives:
        if isinstance(atom, Const):
            said[atom] = said.get(atom, EMPTY) | where
        else:
            open_ |= where
    closed = entry.certain - open_
    return value_of(
        (where - closed | (where & said.get(atom, EMPTY)) if isinstance(atom, Const) else where, atom)
        for where, atom in value.alternatives
    )


def hold(run: Run, atom: Instance, name: str, value: Value, where: ReleaseSet, *, certain: bool) -> None:
    """An attribute is set on an instance in these releases."""
    site, content = atom.site, content_of(run, atom)
    if site is None or content is None:
        return
    entry = Entry(where, where if certain else EMPTY, value.within(where))
    run.change(site, put(content, name, entry))
    objects = run.world.objects
    if site in objects.lasting and site not in run.made:
        home = run.world.homes.get(site)
        if home is not None:
            publish(run.world, home, site, (value,), run.state.heap)
        known = objects.later.setdefault(site, {})
        before = known.get(name, NOTHING)
        said = value_of((there, _lasting(run, held)) for there, held in value.within(where).alternatives)
        after = known[name] = join(before, said)
        if set(after.alternatives) != set(before.alternatives):
            run.world.dependencies.change(site, name)
            run.world.modules.written = True
            run.world.modules.stale |= objects.readers.get(site, set())


def _lasting(run: Run, atom: Atom) -> Atom:
    """What is known of a thing when the execution that has made it is over."""
    if isinstance(atom, Instance):
        return atom if is_known(run, atom) else replace(atom, site=None)
    key = key_of(atom)
    return anonymous(atom) if key is None or key in run.world.homes else UNKNOWN


def is_known(run: Run, atom: Instance) -> bool:
    """Whether an instance is the same another time: it is kept, or made where it is made but once."""
    return atom.site is None or atom.site in run.world.objects.lasting or run.frame.constructs or run.in_module


def for_any(run: Run, value: Value) -> Value:
    """A value for what is said of all instances of a class: what comes and goes in it is any instance of its class."""
    if not any(isinstance(atom, Instance) for _, atom in value.alternatives):
        return value
    return value_of(
        (where, replace(atom, site=None) if isinstance(atom, Instance) and not is_known(run, atom) else atom)
        for where, atom in value.alternatives
    )
