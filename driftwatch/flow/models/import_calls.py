"""Importing by name, and asking whether and in which version something is installed."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.taint import of_parameter
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Alternative,
    Atom,
    Const,
    External,
    LibModule,
    Opaque,
    ProjectModule,
    Unknown,
    Value,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, one_argument
from driftwatch.flow.interpreter.library import look, use_import
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run, as_alternatives


@model("importlib.import_module")
def _import_module(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0, "name")
    if value is None:
        return unknown(run.state.reach)
    found = Value()
    for where, atom in as_alternatives(value, run.state.reach):
        here = where & run.state.reach
        if isinstance(atom, Const) and isinstance(atom.value, str):
            name = atom.value
            package = argument(arguments, 1, "package")
            anchor = package.single() if package is not None else None
            if name.startswith(".") and isinstance(anchor, Const) and isinstance(anchor.value, str):
                name = anchor.value + "." + name.lstrip(".") if name.count(".", 0, 2) == 1 else name
            if run.target.is_inside(name) or run.target.is_above(name):
                outer = run.state
                run.state = outer.fork(here)
                found = join(found, use_import(run, name, None, name, node))
                gone = here - run.state.reach
                run.state = outer
                run.state.reach -= gone
            else:
                run.may_raise("ImportError")
                module = run.world.modules.find(name, run.frame.module)
                atom_there: Atom = run.world.modules.atom(module) if module is not None else External(name)
                found = join(found, Value(((here, atom_there),)))
        else:
            _asks_for_name(run, atom)
            run.may_raise("ImportError")
            found = join(found, unknown(here))
    return found


@model("builtins.__import__")
def _dunder_import(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``__import__("a.b")`` gives ``a``, unless names are asked for that are in ``a.b``."""
    imported = _import_module(run, arguments, node)
    if argument(arguments, 3, "fromlist") is not None or argument(arguments, 4, "level") is not None:
        return imported
    found: list[Alternative] = []
    for where, atom in as_alternatives(imported, run.state.reach):
        if isinstance(atom, LibModule):
            atom = LibModule(atom.module.partition(".")[0])
        elif isinstance(atom, External):
            atom = External(atom.dotted.partition(".")[0])
        elif isinstance(atom, ProjectModule) and "." in atom.code.name:
            top = run.world.modules.find(atom.code.name.partition(".")[0], run.frame.module)
            atom = run.world.modules.atom(top) if top is not None else UNKNOWN
        found.append((where, atom))
    return value_of(found)


@model("importlib.util.find_spec", "importlib.find_loader", "pkgutil.find_loader")
def _find_spec(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0, "name")
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Const) and isinstance(atom.value, str):
            if run.target.is_inside(atom.value):
                run.touch()
                parent = atom.value.rpartition(".")[0]
                if parent:
                    look(run, parent, node, asked=atom.value)
                if run.target.is_inside(parent):
                    # It imports the parent package, and that may be what is missing.
                    gone = where - run.history.has_module(parent)
                    if gone and run.is_caught("ModuleNotFoundError"):
                        run.throw("ModuleNotFoundError", gone)
                        run.state.reach -= gone
                        where -= gone
                has = run.history.has_module(atom.value) & where
                found.extend([(has, Opaque("spec")), (where - has, Const(None))])
                continue
            if run.target.is_above(atom.value):
                run.touch()
                found.append((where, Opaque("spec")))
                continue
        _asks_for_name(run, atom)
        found.append((where, UNKNOWN))
    return value_of(found)


def _asks_for_name(run: Run, atom: Atom) -> None:
    """What is imported depends on a parameter; what is made from one may be of the library, whatever that is."""
    if of_parameter(atom) and atom.derived:
        run.asks_of_library(Value(((run.state.reach, atom),)))
    run.asks_constant(atom)


@model("importlib.metadata.version", "importlib_metadata.version")
def _version(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Const) and isinstance(atom.value, str) and run.target.is_distribution(atom.value):
            run.touch()
            found.extend(run.target.versions(where))
        else:
            run.asks_constant(atom)
            found.append((where, UNKNOWN))
    if any(isinstance(a, Unknown) for _, a in found):
        run.may_raise("ImportError")
    return value_of(found)


@model("pytest.importorskip")
def _importorskip(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``pytest.importorskip("module", minversion="1.0")``: what follows is reached where it is there."""
    atom = one_argument(arguments, 0, "modname")
    if not (isinstance(atom, Const) and isinstance(atom.value, str)):
        return unknown(run.state.reach)
    inside, above = run.target.is_inside(atom.value), run.target.is_above(atom.value)
    if not inside and not above:
        return unknown(run.state.reach)
    run.touch()
    if inside:
        run.state.reach &= run.history.has_module(atom.value)
    least = argument(arguments, 1, "minversion")
    asked = least.single() if least is not None and above else None
    if isinstance(asked, Const) and isinstance(asked.value, str):
        run.state.reach -= run.target.before(asked.value)
    return Value(((run.state.reach, LibModule(atom.value)),)) if run.state.reach else Value()
