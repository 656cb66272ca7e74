"""The attributes that a class's own methods set on its instances, and those its ``__getattr__`` takes from elsewhere.

They are not members of the class (``from module import Class; Class.x`` fails), but every instance has them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from driftwatch.snapshot.collect.bodies import statements

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
    found = InstanceAttributes(dynamic=any(map(_assigns_opening, node.body)))
    for method in _methods(node.body):
        if method.name in _OPENING:
            found.delegates = tuple(_delegates(method, node)) if method.name == "__getattr__" else ()
            found.dynamic |= not found.delegates
        for instance in _instances(method, node.name):
            _collect(method, instance, found)
    return found


def _assigns_opening(statement: ast.stmt) -> bool:
    """Whether a class has a ``__getattr__`` that is assigned, as werkzeug's proxies have it."""
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    return any(isinstance(target, ast.Name) and target.id in _OPENING for target in targets)


def _delegates(method: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.ClassDef) -> Iterator[Delegate]:
    """The one object that all answers of a ``__getattr__`` come from; nothing when there is another answer."""
    returns = [inner.value for inner in statements(method.body) if isinstance(inner, ast.Return)]
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
    for inner in statements(node.body):
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
            handlers = statement.handlers if isinstance(statement, ast.Try) else ()
            yield from _methods([*statement.body, *statement.orelse, *(s for h in handlers for s in h.body)])


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
    names.update(_made(method.body, makers))
    return names


def _made(body: Sequence[ast.stmt], makers: Collection[str]) -> Iterator[str]:
    """The local names that are given a new instance of a class."""
    for statement in statements(body):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            called = statement.value.func
            # `Class(...)`, `cls.__new__(cls)`, `object.__new__(Class)`
            named = [called, *statement.value.args] if isinstance(called, ast.Attribute) else [called]
            if isinstance(called, ast.Attribute) and called.attr != "__new__":
                continue
            if any(isinstance(name, ast.Name) and name.id in makers for name in named):
                yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def attributes_given_outside(tree: ast.Module) -> dict[str, set[str]]:
    """For each class of a module, the attributes that the module's functions set on instances they have just made."""
    classes = {statement.name for statement in tree.body if isinstance(statement, ast.ClassDef)}
    found: dict[str, set[str]] = {}
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for name in classes:
            for instance in set(_made(function.body, {name})):
                given = InstanceAttributes()
                _collect(function, instance, given)
                found.setdefault(name, set()).update(given.names)
    return found


def attributes_given_to_others(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The attributes that functions and methods set on what they have just made, or are given, of a named class.

    Each with the name of what was called, or of the annotation, as it is written: whether that is a class, whoever
    knows the module can tell.
    """
    found: dict[tuple[str, str], None] = {}
    for function in _functions(tree.body):
        instances = _of_named_classes(function)
        for statement in statements(function.body) if instances else ():
            for target in _targets(statement):
                for part in target.elts if isinstance(target, ast.Tuple | ast.List) else (target,):
                    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                        maker = instances.get(part.value.id)
                        if maker is not None and isinstance(part.ctx, ast.Store):
                            found[maker, part.attr] = None
    yield from found


def _functions(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a module and the methods of its classes."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        elif isinstance(statement, ast.ClassDef | ast.If | ast.Try):
            yield from _functions([*statement.body, *getattr(statement, "orelse", ())])


def _of_named_classes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """The local names that are given what a call of a name makes, and the annotated parameters, with that name."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    found = {a.arg: ast.unparse(a.annotation) for a in arguments if isinstance(a.annotation, ast.Name | ast.Attribute)}
    for statement in statements(function.body):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            called = statement.value.func
            if isinstance(called, ast.Name) or (
                isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
            ):
                found.update((t.id, ast.unparse(called)) for t in statement.targets if isinstance(t, ast.Name))
    return found


def _collect(method: ast.FunctionDef | ast.AsyncFunctionDef, instance: str, found: InstanceAttributes) -> None:
    for statement in statements(method.body):
        if isinstance(statement, ast.AnnAssign):
            if _is_attribute(statement.target, instance):
                assert isinstance(statement.target, ast.Attribute)
                found.names[statement.target.attr] = statement.annotation
        elif isinstance(statement, ast.Expr):
            for call in ast.walk(statement.value):
                if isinstance(call, ast.Call):
                    _collect_call(call, instance, found)
        else:
            for target in _targets(statement):
                _collect_target(target, instance, found)


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign | ast.Delete):
        yield from statement.targets
    elif isinstance(statement, ast.AugAssign | ast.For | ast.AsyncFor):
        yield statement.target
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield from (item.optional_vars for item in statement.items if item.optional_vars is not None)


def _collect_target(target: ast.expr, instance: str, found: InstanceAttributes) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            _collect_target(part, instance, found)
    elif isinstance(target, ast.Starred):
        _collect_target(target.value, instance, found)
    elif isinstance(target, ast.Attribute):
        if isinstance(target.ctx, ast.Store) and _is_attribute(target, instance):
            found.names.setdefault(target.attr, None)
    elif isinstance(target, ast.Subscript):
        owner = target.value
        if isinstance(owner, ast.Attribute) and owner.attr == "__dict__" and _is_attribute(owner, instance):
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
