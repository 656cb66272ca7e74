"""Wrappers.

Functions with the reference's parameters that call an installed one which takes others.

Enters: a callable, its shape, and a `Settler`. Leaves: a function made once. It passes
on what it was given, as it was given where that means the same to the build, and by
name elsewhere. It never passes what the shape lacks, and no value that the caller did
not give.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from driftwatch.adapter.settler import OMITTED, Record, Settler
from driftwatch.adapter.signatures import EITHER, KEYWORD_ONLY, POSITIONAL_ONLY, Shape

Prepare = Callable[
    [tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]
]
"""Makes of the arguments that a caller gave those that the build takes, or raises."""


def wrap(
    record: Record, target: Callable[..., Any], shape: Shape, settler: Settler
) -> Callable[..., Any]:
    """The wrapper for a target of this shape."""
    prepare = preparing(record, shape, settler)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = prepare(args, kwargs)
        return target(*args, **kwargs)

    return dress(wrapper, record, target)


def preparing(record: Record, shape: Shape, settler: Settler) -> Prepare:
    """What a wrapper of a target of this shape does with its arguments."""
    order = record.reference.positional
    leading = tuple(p.name for p in shape.parameters if p.kind == POSITIONAL_ONLY)
    agreed = 0 if leading else _agreed(order, shape.positional)
    accepted = shape.names
    placed = [frozenset(order[:count]) for count in range(agreed + 1)]
    needed = [
        tuple(name for name in shape.required if name not in placed[count])
        for count in range(agreed + 1)
    ]
    checked = tuple(settler.unusable)
    harmless = {
        name: settler.harmless(name) for name in record.reference.names - accepted
    }

    def prepare(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        count = len(args)
        if count > agreed:
            kwargs = settler.by_name(args, kwargs)
            args, count = (), 0
        elif count and not placed[count].isdisjoint(kwargs):
            raise settler.twice(order[:count], kwargs)
        if not shape.any_keyword:
            extra = [name for name in kwargs if name not in accepted]
            for name in extra:
                value = kwargs[name]
                for wanted, other, beside in harmless.get(name, ()):
                    # What is the same class as a plain value is a plain value:
                    # comparing it does nothing else.
                    if value is wanted or (
                        value.__class__ is wanted.__class__ and value == wanted
                    ):
                        if other is None or (
                            kwargs.get(other) is beside and other not in placed[count]
                        ):
                            break
                else:
                    settler.settle(name, value, settler.given(args, kwargs))
            for name in extra:
                del kwargs[name]
        for name in needed[count]:
            if name not in kwargs:
                raise settler.missing([*order[:count], *kwargs])
        if checked:
            settler.check_all(args, kwargs)
        if leading:
            args = tuple(_taken_out(leading, kwargs, settler))
        return args, kwargs

    return prepare


def _agreed(order: tuple[str, ...], own: tuple[str, ...]) -> int:
    """How many positional arguments mean the same to the caller and to the build."""
    for count, (mine, other) in enumerate(zip(order, own, strict=False)):
        if mine != other:
            return count
    return min(len(order), len(own))


def _taken_out(
    leading: tuple[str, ...], kwargs: dict[str, Any], settler: Settler
) -> list[Any]:
    """The arguments that the build takes by position alone.

    One that is left out ends them.
    """
    values: list[Any] = []
    for number, name in enumerate(leading):
        if name in kwargs:
            if len(values) < number:
                after = leading[len(values)]
                raise settler.refusal(
                    name, kwargs[name], f"the build takes it after {after} alone"
                )
            values.append(kwargs.pop(name))
    return values


def dress(
    wrapper: Callable[..., Any],
    record: Record,
    target: Callable[..., Any] | None,
    *,
    receiver: bool = False,
) -> Callable[..., Any]:
    """Give a wrapper the name, the documentation and the reference signature of what it
    stands for.
    """
    wrapper.__name__, wrapper.__qualname__ = record.name.rpartition(".")[2], record.name
    wrapper.__module__ = __name__
    try:
        documentation = getattr(target, "__doc__", None)
    except Exception:  # a broken descriptor can raise anything
        documentation = None
    wrapper.__doc__ = documentation if isinstance(documentation, str) else None
    kinds = {
        POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
        EITHER: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
    }
    parameters: list[inspect.Parameter] = []
    if receiver:
        parameters.append(inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY))
    optional = False
    for p in record.reference.parameters:
        optional = (optional or not p.required) and p.kind != KEYWORD_ONLY
        default = OMITTED if optional or not p.required else inspect.Parameter.empty
        parameters.append(inspect.Parameter(p.name, kinds[p.kind], default=default))
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper
