"""Something of the code base is put in the place of one of the library's names: which use that is, and its effect."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.values import Atom, LibModule, LibObject, Value
from driftwatch.flow.interpreter.library import missing
from driftwatch.flow.interpreter.replaced import leave_replaced
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.uses import PatchUse
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.symbols import Ref


def use_patch(
    run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode, *, requires: bool = False, now: bool = True
) -> None:
    """Record the replacement of one of the library's names.

    Where it requires a name that is not there, it raises: `now`, or when what it gives is entered.
    """
    if isinstance(atom, LibModule) and run.target.is_inside(atom.module):
        owner = Ref(atom.module, "")
    elif isinstance(atom, LibObject) and atom.is_class:
        owner = atom.ref
    else:
        return
    run.touch()
    if run.recording.records:
        catch = run.catch("AttributeError")
        run.record(
            PatchUse(
                run.history.distribution, run.location(node), where, catch, run.frame.way_in(), owner, name, requires
            )
        )
    if requires and now and not owner.qualname:
        has_module = run.history.has_module(owner.module)
        missing(run, raised_of("AttributeError"), (where & has_module) - run.history.importable(owner.module, name))


def put_in_place(run: Run, atom: Atom, name: str, value: Value) -> None:
    """Something is put in the place of one of the library's names, and stays there."""
    owner = owner_of(run, atom)
    if owner is not None:
        leave_replaced(run, owner, name, value)


def owner_of(run: Run, atom: Atom) -> str | None:
    """The module or class of the library that something is, by its path."""
    if isinstance(atom, LibModule) and run.target.is_inside(atom.module):
        return atom.module
    return atom.ref.dotted if isinstance(atom, LibObject) and atom.is_class else None
