"""Names: where a variable is looked up, and what an assignment does to it."""

from __future__ import annotations

from driftwatch.flow.builtin_names import BUILTIN_NAMES
from driftwatch.flow.run import Run
from driftwatch.flow.values import External, Value, join, unknown


def look_up(run: Run, name: str) -> Value:
    """The value of a name here: local, enclosing, of the module, builtin."""
    reach = run.state.reach
    local = run.state.vars.get(name)
    if local is not None:
        return local.within(reach)
    for enclosing in run.frame.closure:
        if name in enclosing:
            return enclosing[name].within(reach)
    module = run.frame.module
    value = module.names.get(name)
    written = module.global_writes.get(name)
    if value is not None or written is not None:
        if value is None or written is None:
            return (value or written or Value()).within(reach)
        return join(value, written).within(reach)
    lazy = run.world.unexecuted_name(module, name)
    if lazy is not None:
        return lazy.within(reach)
    if name in BUILTIN_NAMES:
        return Value(((reach, External(f"builtins.{name}")),))
    return unknown(reach)


def assign_name(run: Run, name: str, value: Value) -> None:
    """Bind a name to a value in the current scope."""
    run.state.vars[name] = value
    run.state.forget(name)
    if name in run.frame.globals:
        run.world.write_global(run.frame.module, name, value)
