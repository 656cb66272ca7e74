"""Import statements: of the library, of the code base, of anything else."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.domain.values import External, LibModule, ProjectModule, Value, join, unknown, value_of
from driftwatch.flow.interpreter.library import module_member, use_import
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.replaced import replaced_by_import
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.syntax.syntax import dotted_name, import_module_name
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.symbols import Ref


def execute_import(run: Run, node: cst.Import) -> None:
    """``import a.b as c, d``."""
    for alias in node.names:
        name = dotted_name(alias.name) or ""
        bound = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else None
        top = name.partition(".")[0]
        if run.target.is_inside(name) or run.target.is_above(name):
            value = use_import(run, name, None, bound or top, alias)
            if not run.state.reach:
                return
            if bound is not None:
                value = _as_attribute(run, name, value)
            elif name != top:
                value = value_of(
                    (where, LibModule(top) if isinstance(atom, LibModule) else atom)
                    for where, atom in value.alternatives
                )
            assign_name(run, bound or top, value)
            continue
        module = run.world.modules.find(name, run.frame.module)
        if module is None:
            run.may_raise("ImportError")
            assign_name(run, bound or top, Value(((run.state.reach, External(name if bound else top)),)))
            continue
        completes = _execute_module(run, module)
        if not run.state.reach:
            return
        if bound is not None or name == top:
            assign_name(run, bound or top, Value(((completes, run.world.modules.atom(module)),)))
        else:
            package = run.world.modules.find(top, run.frame.module)
            known = ProjectModule(package) if package is not None else External(top)
            assign_name(run, top, Value(((completes, known),)))


def _as_attribute(run: Run, name: str, value: Value) -> Value:
    """``import a.b.c as x`` binds the attribute ``c`` of ``a.b``, which may be an object that hides the module."""
    parent, _, last = name.rpartition(".")
    if not run.target.is_inside(parent):
        return value
    modules = value.where(lambda a: isinstance(a, LibModule))
    hidden = modules & run.history.present(Ref(parent, last))
    shown = [(where - hidden, atom) for where, atom in value.alternatives]
    return value_of([*shown, *module_member(run, parent, last, hidden)])


def execute_import_from(run: Run, node: cst.ImportFrom) -> None:
    """``from a.b import c as d, e``."""
    level, name = import_module_name(node)
    if isinstance(node.names, cst.ImportStar):
        _import_star(run, node, level, name)
        return
    below = run.world.modules.below_adapter(name, run.frame.module, level)
    if below is not None or (level == 0 and (run.target.is_inside(name) or run.target.is_above(name))):
        _from_library(run, below or name, node)
        return
    module = run.world.modules.find(name, run.frame.module, level)
    completes = run.state.reach
    if module is not None and isinstance(atom := run.world.modules.atom(module), LibModule):
        _from_library(run, atom.module, node)
        return
    if module is not None:
        completes = _execute_module(run, module)
        if not run.state.reach:
            return
    else:
        run.may_raise("ImportError")
    for alias in node.names:
        imported = alias.name.value if isinstance(alias.name, cst.Name) else ""
        bound = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else imported
        if module is not None:
            value = run.world.modules.attribute(module, imported, completes)
        else:
            child = run.world.modules.find(f"{name}.{imported}" if name else imported, run.frame.module, level)
            if child is not None:
                value = Value(((_execute_module(run, child), run.world.modules.atom(child)),))
            elif level:
                value = unknown(run.state.reach)
            else:
                value = Value(((run.state.reach, External(f"{name}.{imported}")),))
        assign_name(run, bound, value)


def _from_library(run: Run, module: str, node: cst.ImportFrom) -> None:
    """All names of one statement are looked at, in every release in which the statement is reached."""
    assert not isinstance(node.names, cst.ImportStar)
    start = run.state
    left = start.reach
    values: list[tuple[str, Value]] = []
    for i, alias in enumerate(node.names):
        name = alias.name.value if isinstance(alias.name, cst.Name) else ""
        bound = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else name
        run.state = start.fork()
        value = use_import(run, module, name, bound, alias, statement=node, first=i == 0)
        left &= run.state.reach
        values.append((bound, value))
    run.state = start.fork(left)
    for bound, value in values:
        assign_name(run, bound, value.within(left))


def _execute_module(run: Run, module: ModuleCode) -> ReleaseSet:
    """Execute a module of the code base; where it raises, so does the import of it."""
    completes = run.world.modules.executed(module.path)
    replaced_by_import(run, module.names)
    reach = run.state.reach
    fails = reach - completes
    if fails:
        if run.is_caught("ImportError"):
            run.throw("ImportError", fails)
            run.state.reach = reach - fails
            return run.state.reach
        return reach
    # Importing a module may raise for reasons of its own: its own imports may.
    run.may_raise("ImportError")
    return reach


def _import_star(run: Run, node: cst.ImportFrom, level: int, name: str) -> None:
    if level == 0 and run.target.is_inside(name):
        use_import(run, name, None, "*", node)
        for imported in run.target.public_names(name):
            where = run.history.attribute(name, imported) & run.state.reach
            value = value_of(module_member(run, name, imported, where))
            before = run.state.vars.get(imported)
            assign_name(run, imported, value if before is None else join(before, value))
        return
    module = run.world.modules.find(name, run.frame.module, level)
    if module is None:
        run.may_raise("ImportError")
        return
    completes = _execute_module(run, module)
    for imported in run.world.modules.star_names(module):
        assign_name(run, imported, run.world.modules.attribute(module, imported, completes))
