"""Replacing the library's names: by assignment, ``setattr``, ``monkeypatch`` and ``mock.patch``.

An assignment makes a name that is not there; the others raise AttributeError, unless they are asked not to.
"""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.frames import ENTER
from driftwatch.flow.domain.values import (
    Alternative,
    Atom,
    Const,
    External,
    LibModule,
    LibObject,
    Replacing,
    Unknown,
    Value,
    const,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, one_argument, unknown_call
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.library import use_import, use_name
from driftwatch.flow.interpreter.library_writes import owner_of, use_patch
from driftwatch.flow.interpreter.member_writes import set_any, set_attribute
from driftwatch.flow.interpreter.namespaces import is_out_of_sight
from driftwatch.flow.interpreter.registry import method, model
from driftwatch.flow.interpreter.replaced import MOCK, enter_patches
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.symbols import Ref


def _replacing(run: Run, owner: Value | None, name: Value | None, given: Value | None, arguments: Arguments) -> Value:
    """What a patch of these names is: nothing is known of a mock, unless it is made after what it replaces."""
    reach = run.state.reach
    if owner is None or name is None or any(option in arguments.keywords.entries for option in _AFTER_THE_ORIGINAL):
        return unknown(reach)
    gives = given if given is not None else Value(((reach, MOCK),))
    found: list[Alternative] = []
    for where, atom in as_alternatives(owner, reach):
        path = owner_of(run, atom)
        for there, key in as_alternatives(name, where):
            if path is not None and isinstance(key, Const) and isinstance(key.value, str):
                found.append((there, Replacing(path, key.value, gives.within(there))))
    return join(value_of(found), unknown(reach - value_of(found).defined()))


_AFTER_THE_ORIGINAL = ("autospec", "wraps")
"""Options of a patch with which a call goes by the signature of what is replaced."""


def _split_path(run: Run, target: Value | None) -> tuple[Value | None, Value | None]:
    """What a path in text names: the module or class of the library, and the name in it."""
    atom = target.single() if target is not None else None
    if not (isinstance(atom, Const) and isinstance(atom.value, str)):
        return None, None
    path, _, name = atom.value.rpartition(".")
    reach = run.state.reach
    module, _, cls = path.rpartition(".")
    owner: Atom = LibModule(path)
    if not run.history.has_module(path) and run.history.of(Ref(module, cls)):
        owner = LibObject(Ref(module, cls), is_class=True)
    return Value(((reach, owner),)), const(name, reach)


@model("builtins.setattr", "builtins.object.__setattr__")
def _setattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name, given = (argument(arguments, i) for i in range(3))
    _patch_each(run, owner, name, node, requires=False)
    enter_patches(run, _replacing(run, owner, name, given, arguments))
    if owner is not None and name is not None and given is not None:
        _set_by_name(run, owner, name, given, node)
    return const(None, run.state.reach)


def _set_by_name(run: Run, owner: Value, name: Value, given: Value, node: cst.CSTNode) -> None:
    """An attribute of an instance or class of the code base is set by its name, which need not be known."""
    for where, key in as_alternatives(name, run.state.reach):
        if isinstance(key, Const) and isinstance(key.value, str):
            set_attribute(run, owner.within(where), key.value, given.within(where))
            continue
        run.asks_constant(key)
        for there, atom in as_alternatives(owner, where):
            set_any(run, atom, given.within(there), there)
    known = name.single()
    for where, atom in as_alternatives(owner, run.state.reach):
        if isinstance(atom, Unknown) or is_out_of_sight(run, atom, known.value if isinstance(known, Const) else None):
            run.asks(getattr(atom, "parameter", None))
            run.effects.mutates = True
            lose(run, given.within(where), node, "kept in an attribute of an object that is not known")


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


@model("unittest.mock.patch", "mock.patch")
def _mock_patch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mock.patch("package.module.name")`` fails when the name is not there, unless ``create=True``."""
    requires = not _asked(arguments, "create", True)
    target, given = argument(arguments, 0, "target"), argument(arguments, 1, "new")
    _patch_path(run, target, node, requires=requires, now=run.purpose.is_to(ENTER, node))
    return _replacing(run, *_split_path(run, target), given, arguments)


@model("unittest.mock.patch.object", "mock.patch.object")
def _mock_patch_object(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mock.patch.object(owner, "name")``, likewise."""
    owner, name = argument(arguments, 0, "target"), argument(arguments, 1, "attribute")
    if not _asked(arguments, "create", True):
        _patch_each(run, owner, name, node, requires=True, now=run.purpose.is_to(ENTER, node))
    return _replacing(run, owner, name, argument(arguments, 2, "new"), arguments)


@model("pytest.MonkeyPatch.setattr")
def _monkeypatch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``monkeypatch.setattr(owner, "name", value)`` or with a path, fails likewise, unless ``raising=False``."""
    owner, name = argument(arguments, 0, "target"), argument(arguments, 1, "name")
    requires = not _asked(arguments, "raising", False)
    if argument(arguments, 2, "value") is None:
        _patch_path(run, owner, node, requires=requires, now=True, imports=True)
        replacing = _replacing(run, *_split_path(run, owner), name, arguments)
    else:
        if requires:
            _patch_each(run, owner, name, node, requires=True)
        replacing = _replacing(run, owner, name, argument(arguments, 2, "value"), arguments)
    enter_patches(run, replacing)
    return const(None, run.state.reach)


@model("pytest_mock.mocker.patch")
def _mocker_patch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mocker.patch``: ``mock.patch``, entered at once."""
    requires = not _asked(arguments, "create", True)
    target, given = argument(arguments, 0, "target"), argument(arguments, 1, "new")
    _patch_path(run, target, node, requires=requires, now=True)
    enter_patches(run, _replacing(run, *_split_path(run, target), given, arguments))
    return unknown(run.state.reach)


@model("pytest_mock.mocker.patch.object")
def _mocker_patch_object(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name = argument(arguments, 0, "target"), argument(arguments, 1, "attribute")
    if not _asked(arguments, "create", True):
        _patch_each(run, owner, name, node, requires=True)
    enter_patches(run, _replacing(run, owner, name, argument(arguments, 2, "new"), arguments))
    return unknown(run.state.reach)


@model("pytest.MonkeyPatch")
def _new_monkeypatch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, External("pytest.MonkeyPatch")),))


@method("unittest.mock.patch.start")
def _start(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """A patch that is entered without a ``with``."""
    atom = one_argument(arguments, 0)
    if not isinstance(atom, Replacing):
        return unknown_call(run, arguments, node)
    enter_patches(run, Value(((run.state.reach, atom),)))
    return atom.gives.within(run.state.reach)
