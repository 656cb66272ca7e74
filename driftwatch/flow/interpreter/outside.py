"""Attributes that a file assigns on an object nobody can tell: any object that has such an attribute may be that one.

Enters: an assignment to an attribute of something unknown. Leaves: what the attribute may be of any object that the
file reads it of. Where the file assigns it in code that is not analysed, that is anything.
"""

from __future__ import annotations

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.domain.taint import anonymous, tainted_within
from driftwatch.flow.domain.values import NOTHING, UNKNOWN, Const, Value, join, key_of, unknown, value_of
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import ReleaseSet

MAX_KINDS = 24
"""How many things an attribute may be before it may be anything."""


def assign_outside(run: Run, name: str, value: Value) -> None:
    """An attribute is assigned on an object that is not known."""
    module = run.frame.module
    if not _is_followed(run, module, name):
        return
    value = tainted_within(value, run.state.conditional & value.defined())
    said = value_of((where, UNKNOWN if key_of(a) is not None else anonymous(a)) for where, a in value.alternatives)
    before = module.outside.get(name, NOTHING)
    after = join(before, said)
    if len(after.alternatives) > MAX_KINDS:
        after = unknown(after.defined())
    if set(after.alternatives) != set(before.alternatives):
        module.outside[name] = after
        run.world.dependencies.change(module, _place(name))
        run.world.modules.written = True
        run.world.modules.stale.add(module)


def assigned_outside(run: Run, module: ModuleCode, name: str, where: ReleaseSet) -> Value:
    """What an attribute may be that a file assigns on an object nobody can tell."""
    if name not in module.set_outside:
        return NOTHING
    constants = module.set_outside[name]
    if constants is not None:
        plain = (bool, int, float, str, type(None))
        return value_of((where, Const(value) if isinstance(value, plain) else UNKNOWN) for value in constants)
    if not _is_followed(run, module, name):
        return unknown(where)
    run.world.dependencies.read(module, _place(name))
    return module.outside.get(name, NOTHING).within(where)


def _is_followed(run: Run, module: ModuleCode, name: str) -> bool:
    """Whether what a file assigns to an attribute of unknown objects, not constants alone, all stands in code that is
    analysed."""
    if module.survey is None or module.set_outside.get(name, ()) is not None:
        return False
    passed_over = run.world.modules.passed_over(module)
    return not any(name in piece.outside for piece in passed_over)


def _place(name: str) -> str:
    """Stands for an attribute of the unknown objects of a file, as a place that may change."""
    return f"outside.{name}"
