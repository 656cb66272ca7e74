"""Where the library has a name: of a module, a class, an instance, and what an import finds.

Enters: something of the library and a name. Leaves: the releases in which it is there, and where nobody can tell.
"""

from __future__ import annotations

from driftwatch.flow.domain.values import Atom, LibInstance, LibModule, LibObject
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.history import Lookup
from driftwatch.snapshot.model.symbols import Ref


def module_lookup(run: Run, module: str, name: str, where: ReleaseSet) -> Lookup:
    """Where a module of the library has an attribute; unknown where that needs an optional package.

    A submodule is one where the library or the code base has imported it.
    """
    if run.target.is_above(module):
        child = f"{module}.{name}"
        if run.target.is_inside(child) or run.target.is_above(child):
            return Lookup(where & run.history.has_module(run.history.module))
        return Lookup(EMPTY, where)
    if name.startswith("__"):
        return Lookup(where)
    if "." in name:
        # What a member of it is called is the name of nothing.
        return Lookup(EMPTY)
    present, perhaps = run.history.attribute(module, name) & where, EMPTY
    apart = (run.history.importable(module, name) & where) - present
    if apart:
        below, loading = f"{module}.{name}", run.world.loading
        brought = loading.brings(run.frame.module, below)
        present |= brought.present & apart
        perhaps = (brought.unknown | loading.elsewhere(run.frame.module, below)) & apart
    return _as_far_as_known(run, module, name, where, Lookup(present, perhaps))


def import_lookup(run: Run, module: str, name: str, where: ReleaseSet) -> Lookup:
    """Where ``from module import name`` works; unknown where that needs an optional package."""
    if run.target.is_above(module) or name.startswith("__"):
        return module_lookup(run, module, name, where)
    return _as_far_as_known(run, module, name, where, Lookup(run.history.importable(module, name) & where))


def _as_far_as_known(run: Run, module: str, name: str, where: ReleaseSet, found: Lookup) -> Lookup:
    """What needs an optional package, and what a module with names of its own making may have, is not known."""
    optional = EMPTY
    for epoch in run.history.of(Ref(module, name)):
        if epoch.symbol.requires:
            optional |= epoch.releases
    open_ = run.history.is_open(Ref(module, "")) & where
    present = found.present
    return Lookup(present - optional, (present & optional) | ((open_ | found.unknown) - present))


def class_lookup(run: Run, cls: Ref, name: str, where: ReleaseSet) -> Lookup:
    """Where a class of the library has a member."""
    if name.startswith("__"):
        return Lookup(EMPTY, where)
    return run.history.member(cls, name, where)


def instance_lookup(run: Run, atom: LibInstance, name: str, where: ReleaseSet) -> Lookup:
    """Where an instance has a member. What only some class below the known one has is not known."""
    found = class_lookup(run, atom.cls, name, where)
    if atom.exact:
        return found
    below = run.history.member_below(atom.cls, name) & where
    return Lookup(found.present, (found.unknown | below) - found.present)


def lookup(run: Run, atom: Atom, name: str, where: ReleaseSet) -> Lookup | None:
    """Where something of the library has an attribute; None when the atom is not of the library."""
    if isinstance(atom, LibModule):
        return module_lookup(run, atom.module, name, where)
    if isinstance(atom, LibObject) and atom.is_class:
        return class_lookup(run, atom.ref, name, where)
    if isinstance(atom, LibInstance):
        return instance_lookup(run, atom, name, where)
    return None
