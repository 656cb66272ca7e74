"""Names: where a variable is looked up, and what an assignment does to it."""

from __future__ import annotations

from driftwatch.flow.domain.frames import Frame
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.taint import tainted_within
from driftwatch.flow.domain.values import MODULE_NAME, NOTHING, OUTER, Atom, External, Outer, Value, join, unknown
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.syntax.builtin_names import BUILTIN_NAMES


def look_up(run: Run, name: str) -> Value:
    """The value of a name here: local, enclosing, of the module, builtin."""
    local, frame = run.state.vars.get(name), run.frame
    if local is not None:
        if (frame.globals or frame.nonlocals) and (name in frame.globals or name in frame.nonlocals):
            local = _with_outer(run, name, local)
        return _bound(run, local)
    return _outside(run, name)


def declare_outer(run: Run, name: str) -> None:
    """From here on, a variable of this scope is one of another scope."""
    run.state.vars[name] = Value(((run.state.reach, OUTER),))


def _with_outer(run: Run, name: str, value: Value) -> Value:
    """The value of such a variable: what was assigned here, and where nothing was, what it is outside."""
    where = value.where(_is_outer)
    if not where:
        return value
    reach = run.state.reach
    outside = _outside(run, name).within(where)
    run.state.reach = reach
    return join(value.only(lambda atom: not _is_outer(atom)), outside)


def assigned_outside(run: Run, frame: Frame, end: State) -> dict[str, Value]:
    """The variables of the scope in which a call stands that the call has assigned."""
    function, caller = frame.function, run.frame
    names: set[str] = set()
    if function is not None and function.parent is not None and function.parent is caller.function:
        names = frame.nonlocals
    elif caller.function is None and caller.owner is None and frame.module is caller.module:
        names = frame.globals
    found = {}
    for name in names:
        value, before = end.vars.get(name), run.state.vars.get(name)
        kept = value.only(lambda atom: not _is_outer(atom)) if value is not None else NOTHING
        if value is not None and before is not None and kept.alternatives:
            found[name] = join(kept, before.within(value.where(_is_outer)))
    return found


def _is_outer(atom: Atom) -> bool:
    return isinstance(atom, Outer)


def _outside(run: Run, name: str) -> Value:
    """A name that the current scope does not bind: enclosing, of the module, builtin."""
    reach = run.state.reach
    if name not in run.frame.globals:
        for enclosing in run.frame.closure:
            if name in enclosing and not enclosing[name].where(_is_outer):
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
    if name == "__name__":
        return Value(((reach, MODULE_NAME),))
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
        run.world.modules.write_global(run.frame.module, name, value, run.state.heap)
