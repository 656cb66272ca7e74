"""Names of the library in whose place the code base has put something of its own.

Enters: the replacement of an attribute of a module or class, by assignment, ``monkeypatch``, ``mock.patch`` and such.
Leaves: what stands there now. It is kept among a state's variables, under a key that no variable has, so that branches
part and meet as for these; a function that is called sees what its caller sees.
"""

from __future__ import annotations

from collections.abc import Mapping

from driftwatch.flow.domain.effects import Effects
from driftwatch.flow.domain.values import NOTHING, Opaque, Replacing, Value, join
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import ReleaseSet

_MARK = "_/"

MOCK = Opaque("mock")
"""What a patch puts in place of a name when it is given nothing to put there."""


def replacement(run: Run, owner: str, name: str, where: ReleaseSet) -> Value:
    """What stands in the place of an attribute of the library, in the releases in which something does."""
    if not run.world.replaces:
        return NOTHING
    key = _key(owner, name)
    found = run.state.vars.get(key) or run.frame.module.names.get(key)
    return NOTHING if found is None else found.within(where)


def replace_name(run: Run, owner: str, name: str, value: Value) -> None:
    """Something is put in the place of an attribute of the library."""
    run.world.replaces = True
    before = replacement(run, owner, name, run.state.reach - value.defined())
    run.state.vars[_key(owner, name)] = join(before, value)


def leave_replaced(run: Run, owner: str, name: str, value: Value) -> None:
    """Something is put in the place of an attribute of the library, and stays there when the function has ended."""
    replace_name(run, owner, name, value)
    run.effects.replaces.add(_key(owner, name))


def left_replaced(effects: Effects, variables: Mapping[str, Value]) -> dict[str, Value]:
    """What a function that has ended has put in the place of something of the library."""
    return {key: variables[key] for key in effects.replaces if key in variables}


def replaced_by_import(run: Run, names: Mapping[str, Value]) -> None:
    """What a module has put in the place of something of the library, whoever imports it sees there."""
    if run.world.replaces:
        left = {key: value.within(run.state.reach) for key, value in names.items() if key.startswith(_MARK)}
        for key, value in left.items():
            before = run.state.vars.get(key, NOTHING)
            run.state.vars[key] = join(before.within(run.state.reach - value.defined()), value)
            run.effects.replaces.add(key)


def enter_patches(run: Run, value: Value) -> dict[str, Value | None]:
    """What patches replace is replaced from here on; what stood there before comes back."""
    before: dict[str, Value | None] = {}
    for where, atom in value.alternatives:
        if isinstance(atom, Replacing) and where & run.state.reach:
            key = _key(atom.owner, atom.name)
            before.setdefault(key, run.state.vars.get(key))
            replace_name(run, atom.owner, atom.name, atom.gives.within(where))
    return before


def leave_patches(run: Run, before: dict[str, Value | None]) -> None:
    """What stood there before the patches stands there again."""
    for key, value in before.items():
        if value is None:
            run.state.vars.pop(key, None)
        else:
            run.state.vars[key] = value


def carried(run: Run) -> dict[str, Value]:
    """What a function that is called here sees replaced."""
    if not run.world.replaces:
        return {}
    return {key: value for key, value in run.state.vars.items() if key.startswith(_MARK)}


def _key(owner: str, name: str) -> str:
    return f"{_MARK}{owner}/{name}".replace(".", "/")
