"""Names: where a variable is looked up, and what an assignment does to it."""

from __future__ import annotations

from driftwatch.flow.domain.taint import tainted_within
from driftwatch.flow.domain.values import External, Value, join, unknown
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.syntax.builtin_names import BUILTIN_NAMES


def look_up(run: Run, name: str) -> Value:
    """The value of a name here: local, enclosing, of the module, builtin."""
    reach = run.state.reach
    local = run.state.vars.get(name)
    if local is not None:
        return _bound(run, local)
    for enclosing in run.frame.closure:
        if name in enclosing:
            return _bound(run, enclosing[name])
    module = run.frame.module
    run.world.dependencies.read(module, name)
    value = module.names.get(name)
    written = module.global_writes.get(name)
    if value is not None or written is not None:
        if value is None or written is None:
            return _bound(run, value or written or Value())
        return _bound(run, join(value, written))
    lazy = run.world.modules.unexecuted_name(module, name)
    if lazy is not None:
        return lazy.within(reach)
    if name in BUILTIN_NAMES:
        return Value(((reach, External(f"builtins.{name}")),))
    return unknown(reach)


def _bound(run: Run, value: Value) -> Value:
    """A variable's value where it has one; where it has none, reading it is a NameError and nothing follows."""
    reach = run.state.reach
    alternatives = value.alternatives
    if len(alternatives) == 1 and alternatives[0][0].mask == reach.mask:
        return value
    value = value.within(reach)
    gap = reach - value.defined()
    if gap:
        run.throw("NameError", gap)
        run.state.reach = reach - gap
    return value


def assign_name(run: Run, name: str, value: Value) -> None:
    """Bind a name to a value in the current scope."""
    run.state.vars[name] = value
    run.state.forget(name)
    if name in run.frame.globals:
        value = tainted_within(value, run.state.conditional & value.defined())
        run.world.modules.write_global(run.frame.module, name, value)
