"""What annotations tell: an instance of the class that one names, be it of the library or of the code base."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import FunctionCode
from driftwatch.flow.domain.frames import SILENT, Frame
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    Alternative,
    Class,
    Const,
    Instance,
    Lazy,
    LibInstance,
    LibObject,
    Value,
    join,
    value_of,
)
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.syntax.syntax import subscript_parts
from driftwatch.releases import ReleaseSet

MAX_LITERALS = 8
"""Longer lists of texts that a parameter may be are not followed."""


def annotated(run: Run, function: FunctionCode, node: cst.BaseExpression, *, eager: bool = False) -> Value | None:
    """An instance of what an annotation of a function's parameter names; None when no class is known by it."""
    frame = Frame(function.module, function.tree, closure=function.closure or (), recording=SILENT)
    return _annotation(run, frame, node, eager=eager)


def by_annotation(run: Run, parameter: str | None) -> Value | None:
    """A parameter of the current function, by its annotation, where the arguments of a library's call need it."""
    function = run.frame.function
    if parameter is None or function is None or not run.eager:
        return None
    params = function.node.params
    for each in (*params.posonly_params, *params.params, *params.kwonly_params):
        if each.name.value == parameter and each.annotation is not None:
            return annotated(run, function, each.annotation.annotation, eager=True)
    return None


def annotated_here(run: Run, node: cst.BaseExpression) -> Value | None:
    closure = (run.state.vars, *run.frame.closure)
    frame = Frame(run.frame.module, run.frame.tree, closure=closure, recording=SILENT)
    return _annotation(run, frame, node)


def _annotation(run: Run, frame: Frame, node: cst.BaseExpression, *, eager: bool = False) -> Value | None:
    if isinstance(node, cst.SimpleString):
        text = node.evaluated_value
        parsed = frame.tree.quoted(text, node) if isinstance(text, str) else None
        if parsed is None:
            return None
        node = parsed
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        return _either(run, frame, [node.left, node.right], eager)
    if isinstance(node, cst.Subscript):
        name = node.value.attr.value if isinstance(node.value, cst.Attribute) else getattr(node.value, "value", "")
        parts = subscript_parts(node)
        if name in ("Optional", "Annotated", "Final", "ClassVar") and parts:
            inner = _annotation(run, frame, parts[0], eager=eager)
            return _or_none(run, inner) if name == "Optional" else inner
        if name == "Union":
            return _either(run, frame, parts, eager)
        return None
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    value = run.apart(frame, State(run.world.all_releases)).eval(node, callee=True)
    single = value.single()
    if isinstance(single, Lazy) and eager:
        value = run.world.modules.look_at(single) or value
    found: list[Alternative] = []
    for where, atom in value.alternatives:
        if isinstance(atom, LibObject) and atom.is_class:
            found.append((where, LibInstance(atom.ref)))
        elif isinstance(atom, Class):
            found.append((where, Instance(atom.code)))
        elif isinstance(atom, Const) and atom.value is None:
            found.append((where, atom))
    return value_of(found) if any(not isinstance(a, Const) for _, a in found) else None


def _or_none(run: Run, value: Value | None) -> Value | None:
    return None if value is None else join(value, Value(((run.world.all_releases, Const(None)),)))


def _either(run: Run, frame: Frame, nodes: list[cst.BaseExpression], eager: bool) -> Value | None:
    known: list[Value] = []
    none = False
    for node in nodes:
        if isinstance(node, cst.Name) and node.value == "None":
            none = True
            continue
        value = _annotation(run, frame, node, eager=eager)
        if value is None:
            return None
        known.append(value)
    merged = Value()
    for value in known:
        merged = join(merged, value)
    if not merged.alternatives:
        return None
    return _or_none(run, merged) if none else merged


def default_of(run: Run, function: FunctionCode, node: cst.BaseExpression, where: ReleaseSet) -> Value:
    """The value of a parameter's default, which belongs to the function's module."""
    frame = Frame(function.module, function.tree, closure=function.closure or (), recording=SILENT)
    return run.apart(frame, State(where, {}, run.state.heap)).eval(node)


def texts_of(function: FunctionCode, parameter: cst.Param) -> tuple[str, ...]:
    """The texts that a parameter is said to be: its default, and those that its annotation lists."""
    literals = _literals(function, parameter.annotation.annotation) if parameter.annotation is not None else []
    written = [parameter.default, *(literals if len(literals) <= MAX_LITERALS else [])]
    texts = [node.evaluated_value for node in written if isinstance(node, cst.SimpleString)]
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str)))


def _literals(
    function: FunctionCode, node: cst.BaseExpression, followed: frozenset[str] = frozenset()
) -> list[cst.BaseExpression]:
    """What stands in the Literals of an annotation; `followed` are the names of the file that it has gone through."""
    if isinstance(node, cst.SimpleString):
        text = node.evaluated_value
        quoted = function.tree.quoted(text, node) if isinstance(text, str) else None
        return [] if quoted is None or isinstance(quoted, cst.SimpleString) else _literals(function, quoted, followed)
    if isinstance(node, cst.Name) and node.value not in followed:
        meant = function.module.literal_types.get(node.value)
        written = None if meant is None else function.tree.quoted(meant, node)
        return [] if written is None else _literals(function, written, followed | {node.value})
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        return [*_literals(function, node.left, followed), *_literals(function, node.right, followed)]
    if not isinstance(node, cst.Subscript):
        return []
    name = node.value.attr if isinstance(node.value, cst.Attribute) else node.value
    if not isinstance(name, cst.Name) or name.value not in ("Literal", "Optional", "Union"):
        return []
    parts = subscript_parts(node)
    return (
        parts if name.value == "Literal" else [each for part in parts for each in _literals(function, part, followed)]
    )
