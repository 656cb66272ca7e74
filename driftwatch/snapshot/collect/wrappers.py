"""What a decorator of the library makes of a function's parameters, as its source shows.

Enters: the ``def`` of a decorator. Leaves: whether what it puts in the function's place passes other arguments on than
those it is given; then nobody knows what the decorated function takes; and which keywords it keeps to itself.
`functools.wraps` shows the parameters of the function inside, whatever the wrapper takes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from driftwatch.snapshot.collect.bodies import FunctionNode, statements


def changes_arguments(decorator: FunctionNode) -> bool:
    """Whether every call that a wrapper makes of the function inside is seen to give it other arguments."""
    seen = [_passes_on(call, wrapper) for wrapper, inside in _wrappers(decorator) for call in _calls(wrapper, inside)]
    return bool(seen) and not any(seen)


def _wrappers(outer: FunctionNode) -> Iterator[tuple[FunctionNode, str]]:
    """Each function that is made in a function with one parameter or more, with the name of the first of these."""
    parameters = [*outer.args.posonlyargs, *outer.args.args]
    for inner in _functions_in(outer.body):
        if parameters:
            yield inner, parameters[0].arg
        yield from _wrappers(inner)


def _functions_in(body: list[ast.stmt]) -> Iterator[FunctionNode]:
    for statement in body:
        if isinstance(statement, FunctionNode):
            yield statement
        elif not isinstance(statement, ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                yield from _functions_in(getattr(statement, name, []))


def _calls(wrapper: FunctionNode, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(wrapper):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _passes_on(call: ast.Call, wrapper: FunctionNode) -> bool:
    """Whether a call gives on what the wrapper takes, in its order and by its names, or may do so."""
    own = wrapper.args
    if own.vararg is None and own.kwarg is None:
        # It takes no more than it says; that is what the decorated function takes, if it gives all of it on.
        return _plain(call.args) == [p.arg for p in (*own.posonlyargs, *own.args)] and not call.keywords
    plain = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    named = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    return _plain(plain) == [p.arg for p in (*own.posonlyargs, *own.args)] and not set(named) - {
        p.arg for p in own.kwonlyargs
    }


def _plain(arguments: list[ast.expr]) -> list[str | None]:
    return [argument.id if isinstance(argument, ast.Name) else None for argument in arguments]


def keywords_taken(node: FunctionNode) -> tuple[str, ...]:
    """Keywords that a wrapper defined inside a decorator takes for itself before it passes the rest on."""
    found: set[str] = set()
    for inner in statements(node.body):
        if not isinstance(inner, FunctionNode) or inner.args.kwarg is None:
            continue
        if not any("wraps" in ast.unparse(d) for d in inner.decorator_list):
            continue
        found.update(a.arg for a in inner.args.kwonlyargs)
        rest = inner.args.kwarg.arg
        for call in ast.walk(inner):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "pop"
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id == rest
                and call.args
                and isinstance(call.args[0], ast.Constant)
                and isinstance(call.args[0].value, str)
            ):
                found.add(call.args[0].value)
    return tuple(sorted(found))
