"""Functions that other code makes: lambdas, and what a function gives that defines one inside itself.

Enters: nodes of Python's own `ast`. Leaves: parameters, the one function that a call always gives, and whether a call
gives back what it is given first. What may also be something else is none of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from driftwatch.snapshot.collect.bodies import FunctionNode, inside
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind

_LOOKS = frozenset({"getattr", "hasattr", "isinstance", "issubclass", "callable", "id", "repr", "str", "type", "vars"})
"""Functions that change nothing of what they are given."""


def parameters_of(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """Parameters as a ``def`` or ``lambda`` writes them."""
    return tuple(_parameters_of(arguments))


def _parameters_of(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        only = number < len(arguments.posonlyargs)
        kind = ParameterKind.POSITIONAL_ONLY if only else ParameterKind.POSITIONAL_OR_KEYWORD
        yield _parameter(argument, kind, default)
    if arguments.vararg is not None:
        yield _parameter(arguments.vararg, ParameterKind.VAR_POSITIONAL, None)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, ParameterKind.KEYWORD_ONLY, default)
    if arguments.kwarg is not None:
        yield _parameter(arguments.kwarg, ParameterKind.VAR_KEYWORD, None)


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    annotation = ast.unparse(argument.annotation) if argument.annotation is not None else None
    return Parameter(argument.arg, kind, ast.unparse(default) if default is not None else None, annotation)


def parameters_of_lambda(text: str | None) -> tuple[Parameter, ...] | None:
    """The parameters of a lambda that is written so; None for every other expression."""
    if text is None or not text.startswith("lambda"):
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    return parameters_of(tree.args) if isinstance(tree, ast.Lambda) else None


def given_function(node: FunctionNode) -> tuple[FunctionNode, bool] | None:
    """The function defined inside that a call always gives, and whether some calls give what that one gives instead."""
    if isinstance(node, ast.AsyncFunctionDef) or not isinstance(node.body[-1], ast.Return):
        return None
    name = _given(node.body[-1].value)
    if name is None:
        return None
    values = [each.value for each in inside(node) if isinstance(each, ast.Return)]
    bound = [statement for statement in inside(node) if _binds(statement, name)]
    made = bound[0] if len(bound) == 1 else None
    if not isinstance(made, FunctionNode) or any(_given(value) != name for value in values):
        return None
    return made, any(isinstance(value, ast.Call) for value in values)


def shows_another(outer: FunctionNode, made: FunctionNode) -> bool:
    """Whether the function that is defined inside shows what another one takes: ``update_wrapper``, ``__wrapped__``."""
    for node in inside(outer):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is(node.value, made.name):
            if node.attr in ("__wrapped__", "__signature__"):
                return True
        elif isinstance(node, ast.Call) and any(_is(argument, made.name) for argument in node.args):
            return True
    return False


def sets_signature(node: FunctionNode) -> bool:
    """Whether code in a function, or in one inside it, sets the ``__signature__`` of something."""
    stored = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return any(each.attr == "__signature__" for each in stored)


def _given(value: ast.expr | None) -> str | None:
    called = value.func if isinstance(value, ast.Call) else value
    return called.id if isinstance(called, ast.Name) else None


def gives_back(node: FunctionNode, position: int = 0) -> bool:
    """Whether a call gives back the argument in this position, and nothing else."""
    name = _parameter_at(node, position)
    if name is None or isinstance(node, ast.AsyncFunctionDef) or not isinstance(node.body[-1], ast.Return):
        return False
    returned = [each.value for each in inside(node) if isinstance(each, ast.Return)]
    return all(isinstance(value, ast.Name) and value.id == name for value in returned) and not any(
        _binds(statement, name) for statement in inside(node)
    )


def given_attributes(node: FunctionNode, position: int = 0) -> Iterator[tuple[str, FunctionNode | None]]:
    """The attributes that a call sets on the argument in this position, with the function inside that each is.

    The name is empty where nobody can tell which.
    """
    name = _parameter_at(node, position)
    nodes = inside(node) if name is not None else ()
    functions = {each.name: each for each in nodes if isinstance(each, FunctionNode)}
    for each in nodes:
        if isinstance(each, ast.Assign):
            for target in each.targets:
                if isinstance(target, ast.Attribute) and _is(target.value, name):
                    yield target.attr, functions.get(_function_name(each.value))
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "setattr":
            if each.args and _is(each.args[0], name):
                written = each.args[1] if len(each.args) > 1 else None
                yield (str(written.value) if isinstance(written, ast.Constant) else ""), None
        elif isinstance(each, ast.Call) and name is not None and _hands_on(each, name):
            yield "", None


def _hands_on(call: ast.Call, name: str) -> bool:
    """Whether a call may do something to what has this name: it is given it, or is a method of it."""
    if isinstance(call.func, ast.Attribute) and _is(call.func.value, name):
        return True
    looks = isinstance(call.func, ast.Name) and call.func.id in _LOOKS
    return not looks and any(_is(argument, name) for argument in call.args)


def _parameter_at(node: FunctionNode, position: int) -> str | None:
    arguments = [*node.args.posonlyargs, *node.args.args]
    return arguments[position].arg if position < len(arguments) else None


def _function_name(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and len(value.args) == 1:
        value = value.args[0] if value.func.id == "staticmethod" else value
    return value.id if isinstance(value, ast.Name) else ""


def _is(node: ast.AST, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def stands_in(node: ast.ClassDef) -> bool:
    """Whether instances say that they wrap the function they are made with: they set ``__wrapped__`` on themselves."""
    makers = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__"))
    return any(_declares_wrapped(each) for maker in makers for each in ast.walk(maker))


def class_head(node: ast.ClassDef) -> tuple[ast.expr | None, list[ast.expr]]:
    """A class's metaclass and bases; ``with_metaclass(Meta, Base)`` is how both were written for two Pythons."""
    metaclass = next((keyword.value for keyword in node.keywords if keyword.arg == "metaclass"), None)
    bases: list[ast.expr] = []
    for base in node.bases:
        if isinstance(base, ast.Call) and ast.unparse(base.func).rpartition(".")[2] == "with_metaclass" and base.args:
            metaclass = metaclass or base.args[0]
            bases += base.args[1:]
        else:
            bases.append(base)
    return metaclass, bases


def _declares_wrapped(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        named = ast.unparse(node.func).rpartition(".")[2] == "update_wrapper"
        return named and bool(node.args) and _is(node.args[0], "self")
    return isinstance(node, ast.Attribute) and node.attr == "__wrapped__" and isinstance(node.ctx, ast.Store)


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, FunctionNode | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
