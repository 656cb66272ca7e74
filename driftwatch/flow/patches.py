"""Replacing the library's names: by assignment, ``setattr``, ``monkeypatch`` and ``mock.patch``."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from driftwatch.flow.arguments import argument
from driftwatch.flow.run import Run, as_alternatives
from driftwatch.flow.state import Arguments
from driftwatch.flow.uses import PatchUse
from driftwatch.flow.values import Atom, Const, LibModule, LibObject, Value, const, unknown
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model import Ref


def use_patch(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> None:
    """Record the replacement of one of the library's names."""
    if isinstance(atom, LibModule) and run.target.is_inside(atom.module):
        owner = Ref(atom.module, "")
    elif isinstance(atom, LibObject) and atom.is_class:
        owner = atom.ref
    else:
        return
    run.touch()
    if run.frame.records:
        catch = run.catch("AttributeError")
        run.recorder.add(
            PatchUse(run.history.distribution, run.location(node), where, catch, run.frame.way_in(), owner, name)
        )


def _setattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name = argument(arguments, 0), argument(arguments, 1)
    if owner is not None and name is not None:
        for where, atom in as_alternatives(owner, run.state.reach):
            for there, key in as_alternatives(name, where):
                if isinstance(key, Const) and isinstance(key.value, str):
                    use_patch(run, atom, key.value, there, node)
    return const(None, run.state.reach)


def _mock_patch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mock.patch("package.module.name")`` fails when the name is not there, unless ``create=True``."""
    target = argument(arguments, 0, "target")
    if "create" in arguments.keywords.entries or target is None:
        return unknown(run.state.reach)
    for where, atom in as_alternatives(target, run.state.reach):
        if isinstance(atom, Const) and isinstance(atom.value, str):
            module, _, name = atom.value.rpartition(".")
            if name and run.target.is_inside(module):
                use_patch(run, LibModule(module), name, where, node)
    return unknown(run.state.reach)


PATCHES: dict[str, Callable[[Run, Arguments, cst.CSTNode], Value]] = {
    "builtins.setattr": _setattr,
    "unittest.mock.patch": _mock_patch,
    "mock.patch": _mock_patch,
}
