"""The attributes that a class's own methods set on its instances.

They are not members of the class (``from module import Class; Class.x`` fails), but every instance has them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_OPENING = frozenset({"__getattr__", "__getattribute__"})


@dataclass
class InstanceAttributes:
    """Names set on instances, with their annotation where there is one; `dynamic` when others may be there too."""

    names: dict[str, ast.expr | None] = field(default_factory=dict)
    dynamic: bool = False


def instance_attributes(node: ast.ClassDef) -> InstanceAttributes:
    """What the methods of a class set on ``self``, or on the instance a class method has just made."""
    found = InstanceAttributes()
    for method in _methods(node.body):
        if method.name in _OPENING:
            found.dynamic = True
        for instance in _instances(method, node.name):
            _collect(method, instance, found)
    return found


def _methods(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        elif isinstance(statement, ast.If | ast.Try):
            yield from _methods([*statement.body, *statement.orelse])


def _instances(method: ast.FunctionDef | ast.AsyncFunctionDef, class_name: str) -> set[str]:
    """The local names that hold an instance of the class in a method."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    marks = {ast.unparse(d).rpartition(".")[2] for d in method.decorator_list}
    names: set[str] = set()
    makers = {class_name}
    if arguments and "staticmethod" not in marks:
        if "classmethod" in marks or method.name == "__new__":
            makers.add(arguments[0].arg)
        else:
            names.add(arguments[0].arg)
            return names
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = node.value.func
            made = isinstance(called, ast.Name) and called.id in makers
            made = made or (isinstance(called, ast.Attribute) and called.attr == "__new__")
            if made:
                names.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return names


def _collect(method: ast.FunctionDef | ast.AsyncFunctionDef, instance: str, found: InstanceAttributes) -> None:
    for node in ast.walk(method):
        if isinstance(node, ast.AnnAssign) and _is_attribute(node.target, instance):
            assert isinstance(node.target, ast.Attribute)
            found.names[node.target.attr] = node.annotation
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_attribute(node, instance):
            found.names.setdefault(node.attr, None)
        elif isinstance(node, ast.Call):
            _collect_call(node, instance, found)
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "__dict__"
            and _is_attribute(node.value, instance)
        ):
            found.dynamic = True


def _collect_call(call: ast.Call, instance: str, found: InstanceAttributes) -> None:
    arguments: list[ast.expr] = call.args
    if isinstance(call.func, ast.Name):
        named = call.func.id
    elif isinstance(call.func, ast.Attribute):
        named = call.func.attr
        if named == "update":
            found.dynamic |= ast.unparse(call.func.value) == f"{instance}.__dict__"
        elif named == "__setattr__" and ast.unparse(call.func.value) == "super()":
            arguments = [ast.Name(instance), *arguments]
    else:
        return
    if named not in ("setattr", "__setattr__") or len(arguments) < 2:
        return
    if not (isinstance(arguments[0], ast.Name) and arguments[0].id == instance):
        return
    name = arguments[1]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        found.names.setdefault(name.value, None)
    elif named == "setattr":
        found.dynamic = True


def _is_attribute(node: ast.expr, instance: str) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == instance
