"""Replacing the library's names: by assignment, ``setattr``, ``monkeypatch`` and ``mock.patch``.

An assignment makes a name that is not there; the others raise AttributeError, unless they are asked not to.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from driftwatch.flow.arguments import argument
from driftwatch.flow.library import missing, use_import, use_name
from driftwatch.flow.run import Run, as_alternatives
from driftwatch.flow.state import Arguments
from driftwatch.flow.uses import PatchUse
from driftwatch.flow.values import Atom, Const, External, LibModule, LibObject, Value, const, unknown
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model import Ref


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
    if run.frame.records:
        catch = run.catch("AttributeError")
        run.recorder.add(
            PatchUse(
                run.history.distribution, run.location(node), where, catch, run.frame.way_in(), owner, name, requires
            )
        )
    if requires and now and not owner.qualname:
        has_module = run.history.has_module(owner.module)
        missing(run, "AttributeError", (where & has_module) - run.history.attribute(owner.module, name))


def _setattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    _patch_each(run, argument(arguments, 0), argument(arguments, 1), node, requires=False)
    return const(None, run.state.reach)


def _patch_each(
    run: Run, owner: Value | None, name: Value | None, node: cst.CSTNode, *, requires: bool, now: bool = True
) -> None:
    if owner is None or name is None:
        return
    for where, atom in as_alternatives(owner, run.state.reach):
        for there, key in as_alternatives(name, where):
            if isinstance(key, Const) and isinstance(key.value, str):
                use_patch(run, atom, key.value, there & run.state.reach, node, requires=requires, now=now)


def _patch_path(
    run: Run, target: Value | None, node: cst.CSTNode, *, requires: bool, now: bool, imports: bool = False
) -> None:
    """Replace what a path in text names. The module is imported for it; `imports` says that the error is then that."""
    if target is None:
        return
    for where, atom in as_alternatives(target, run.state.reach):
        if not (isinstance(atom, Const) and isinstance(atom.value, str)):
            continue
        module, _, name = atom.value.rpartition(".")
        if name and run.target.is_inside(module) and where & run.history.has_module(module):
            if now and where - run.history.has_module(module):
                if imports:
                    use_import(run, module, None, module, node)
                else:
                    _attributes_to(run, module, where, node)
            if requires:
                use_patch(run, LibModule(module), name, where & run.state.reach, node, requires=True, now=now)


def _attributes_to(run: Run, module: str, where: ReleaseSet, node: cst.CSTNode) -> None:
    """A module is looked for as an attribute of its package, and so is each package on the way."""
    parent, _, last = module.rpartition(".")
    if run.target.is_inside(parent):
        _attributes_to(run, parent, where, node)
        use_name(run, LibModule(parent), last, where & run.state.reach & run.history.has_module(parent), node)


def _asked(arguments: Arguments, name: str, value: bool) -> bool:
    """Whether an option may have this value; what is not known may."""
    entry = arguments.keywords.entries.get(name)
    if entry is None:
        return False
    return any(not isinstance(a, Const) or bool(a.value) is value for _, a in entry.value.alternatives)


def _mock_patch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mock.patch("package.module.name")`` fails when the name is not there, unless ``create=True``."""
    requires = not _asked(arguments, "create", True)
    _patch_path(run, argument(arguments, 0, "target"), node, requires=requires, now=run.entered is node)
    return unknown(run.state.reach)


def _mock_patch_object(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mock.patch.object(owner, "name")``, likewise."""
    owner, name = argument(arguments, 0, "target"), argument(arguments, 1, "attribute")
    if not _asked(arguments, "create", True):
        _patch_each(run, owner, name, node, requires=True, now=run.entered is node)
    return unknown(run.state.reach)


def _monkeypatch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``monkeypatch.setattr(owner, "name", value)`` or with a path, fails likewise, unless ``raising=False``."""
    owner, name = argument(arguments, 0, "target"), argument(arguments, 1, "name")
    requires = not _asked(arguments, "raising", False)
    if argument(arguments, 2, "value") is None:
        _patch_path(run, owner, node, requires=requires, now=True, imports=True)
    elif requires:
        _patch_each(run, owner, name, node, requires=True)
    return const(None, run.state.reach)


def _mocker_patch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mocker.patch``: ``mock.patch``, entered at once."""
    requires = not _asked(arguments, "create", True)
    _patch_path(run, argument(arguments, 0, "target"), node, requires=requires, now=True)
    return unknown(run.state.reach)


def _mocker_patch_object(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    if not _asked(arguments, "create", True):
        owner, name = argument(arguments, 0, "target"), argument(arguments, 1, "attribute")
        _patch_each(run, owner, name, node, requires=True)
    return unknown(run.state.reach)


def _new_monkeypatch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, External("pytest.MonkeyPatch")),))


PATCHES: dict[str, Callable[[Run, Arguments, cst.CSTNode], Value]] = {
    "builtins.setattr": _setattr,
    "unittest.mock.patch": _mock_patch,
    "unittest.mock.patch.object": _mock_patch_object,
    "mock.patch": _mock_patch,
    "mock.patch.object": _mock_patch_object,
    "pytest.MonkeyPatch": _new_monkeypatch,
    "pytest.MonkeyPatch.setattr": _monkeypatch,
    "pytest_mock.mocker.patch": _mocker_patch,
    "pytest_mock.mocker.patch.object": _mocker_patch_object,
}
