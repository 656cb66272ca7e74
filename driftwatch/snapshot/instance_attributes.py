"""The attributes that a class's own methods set on its instances, and those its ``__getattr__`` takes from elsewhere.

They are not members of the class (``from module import Class; Class.x`` fails), but every instance has them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_OPENING = frozenset({"__getattr__", "__getattribute__"})


@dataclass
class InstanceAttributes:
    """Names set on instances, with their annotation where there is one; `dynamic` when others may be there too.

    `delegates` is set where the rest is asked of another object: the calls that make it, and the annotations that say
    what it is.
    """

    names: dict[str, ast.expr | None] = field(default_factory=dict)
    dynamic: bool = False
    delegates: tuple[Delegate, ...] = ()


@dataclass(frozen=True)
class Delegate:
    """An object that ``__getattr__`` asks: what a call gives, or an instance of what an annotation names."""

    called: ast.expr | None = None
    annotation: ast.expr | None = None


def instance_attributes(node: ast.ClassDef) -> InstanceAttributes:
    """What the methods of a class set on ``self``, or on the instance a class method has just made."""
    found = InstanceAttributes()
    for method in _methods(node.body):
        if method.name in _OPENING:
            found.delegates = tuple(_delegates(method, node)) if method.name == "__getattr__" else ()
            found.dynamic |= not found.delegates
        for instance in _instances(method, node.name):
            _collect(method, instance, found)
    return found


def _delegates(method: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.ClassDef) -> Iterator[Delegate]:
    """The one object that all answers of a ``__getattr__`` come from; nothing when there is another answer."""
    returns = [inner.value for inner in ast.walk(method) if isinstance(inner, ast.Return)]
    if len(returns) != 1 or len(method.args.args) != 2:
        return
    answer = returns[0]
    own, name = (argument.arg for argument in method.args.args)
    if not (
        isinstance(answer, ast.Call)
        and isinstance(answer.func, ast.Name)
        and answer.func.id == "getattr"
        and len(answer.args) == 2
        and isinstance(answer.args[1], ast.Name)
        and answer.args[1].id == name
    ):
        return
    asked = answer.args[0]
    if isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and _is_attribute(asked.func, own):
        makers = [m for m in _methods(node.body) if m.name == asked.func.attr]
        if len(makers) == 1 and makers[0].returns is not None:
            yield Delegate(annotation=makers[0].returns)
    elif isinstance(asked, ast.Attribute) and _is_attribute(asked, own):
        yield from _given(asked.attr, node)


def _given(attribute: str, node: ast.ClassDef) -> Iterator[Delegate]:
    """What the class's code ever gives to one attribute; nothing when that is anything but calls."""
    given: list[Delegate] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.AnnAssign):
            targets: list[ast.expr] = [inner.target]
        elif isinstance(inner, ast.Assign):
            targets = inner.targets
        else:
            continue
        for target in targets:
            named = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", None)
            if named != attribute:
                continue
            value = inner.value
            if isinstance(value, ast.Call):
                given.append(Delegate(called=value.func))
            elif not (isinstance(value, ast.Constant) and value.value is None):
                return
    yield from given


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
