"""Variables of the code base's modules by their names: ``globals()``, ``vars(module)``, ``module.name = value``.

Enters: a module of the code base, a name, and what is put there. What a function puts there may be there whenever the
variable is looked at; what the module's own statements put there is there from then on.
"""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.domain.contents import Arguments, DictContent
from driftwatch.flow.domain.taint import tainted_within
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Alternative,
    Atom,
    Const,
    Namespace,
    ProjectModule,
    Value,
    const,
    join,
)
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of
from driftwatch.releases import ReleaseSet

PUT = "put into a module under a name that is not known"


def variable(run: Run, code: ModuleCode, name: str, where: ReleaseSet) -> Value:
    """A variable of a module, in the releases in which it has one."""
    if code is run.frame.module and run.frame.function is None and name in run.state.vars:
        return run.state.vars[name].within(where)
    return run.world.modules.attribute(code, name, where)


def set_variable(run: Run, code: ModuleCode, name: str, value: Value) -> None:
    """A variable of a module becomes this."""
    frame, state = run.frame, run.state
    value = value.within(state.reach)
    here = frame.module is code and frame.owner is None
    if here and (frame.function is None or name in frame.globals or name not in state.vars):
        # A function that does this has the variable as its own from now on, as if it had declared it.
        if frame.function is not None:
            frame.globals.add(name)
        before = variable(run, code, name, state.reach - value.defined())
        assign_name(run, name, join(value, before) if before.alternatives else value)
        return
    value = tainted_within(value, state.conditional & value.defined())
    run.world.modules.write_global(code, name, value, state.heap)
    if code is not frame.module:
        run.world.modules.stale.add(code)


def is_out_of_sight(run: Run, atom: Atom, name: object) -> bool:
    """Whether an atom is another module of the code base, in which nobody looks at a variable of this name."""
    if not isinstance(atom, ProjectModule) or atom.code is run.frame.module:
        return False
    survey = atom.code.survey
    if not run.world.modules.files.matters(atom.code) or survey is None:
        return True
    return name not in atom.code.relevant and any(name in piece.mentions for piece in survey.pieces)


def item_of_namespace(run: Run, owner: Namespace, key: Atom, where: ReleaseSet) -> list[Alternative]:
    """``globals()[key]``."""
    if isinstance(key, Const) and isinstance(key.value, str):
        return as_alternatives(variable(run, owner.code, key.value, where), where)
    run.asks_of_library(Value(((where, key),)))
    return [(where, UNKNOWN)]


def set_in_namespace(run: Run, owner: Namespace, index: Value, value: Value, node: cst.CSTNode) -> None:
    """``globals()[index] = value``."""
    for where, key in as_alternatives(index, run.state.reach):
        if isinstance(key, Const) and isinstance(key.value, str):
            set_variable(run, owner.code, key.value, value.within(where))
        else:
            run.asks_constant(key)
            lose(run, value.within(where), node, PUT)


def namespace_method(run: Run, owner: Namespace, name: str, arguments: Arguments, node: cst.CSTNode) -> Value | None:
    """A method of such a dict; None where it is not followed."""
    reach = run.state.reach
    given = [entry.value for entry in arguments.positional.elements]
    if name == "update":
        return _update(run, owner, given, arguments, node)
    if name not in ("get", "setdefault") or not given:
        return None
    found = Value()
    for where, key in as_alternatives(given[0], reach):
        found = join(found, Value(tuple(item_of_namespace(run, owner, key, where))))
    default = given[1] if len(given) > 1 else const(None, reach)
    if name == "setdefault":
        set_in_namespace(run, owner, given[0], join(found, default), node)
    lacks = found.where(lambda atom: atom == UNKNOWN) | (reach - found.defined())
    return join(found, default.within(lacks))


def _update(run: Run, owner: Namespace, given: list[Value], arguments: Arguments, node: cst.CSTNode) -> Value:
    reach = run.state.reach
    _put_each(run, owner, arguments.keywords, reach)
    for value in given:
        for where, atom in as_alternatives(value, reach):
            content = dict_of(run, atom)
            if content is not None:
                _put_each(run, owner, content, where)
            if content is None or content.others.alternatives:
                lose(run, Value(((where, atom),)) if content is None else content.others.within(where), node, PUT)
    return const(None, reach)


def _put_each(run: Run, owner: Namespace, content: DictContent, where: ReleaseSet) -> None:
    for key, entry in content.entries.items():
        if isinstance(key, str):
            set_variable(run, owner.code, key, entry.value.within(entry.releases & where))
