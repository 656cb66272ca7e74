"""Analysing a class of the code base: its constructor first, then every method, until its attributes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftwatch.flow.attributes import lineage
from driftwatch.flow.code import ClassCode
from driftwatch.flow.values import Value

if TYPE_CHECKING:
    from driftwatch.flow.world import World

MAX_ROUNDS = 3
CONSTRUCTORS = ("__new__", "__init__", "__post_init__", "setUp", "setup_method", "setup_class")


def analyse_class(world: World, code: ClassCode, closure: tuple[dict[str, Value], ...] | None = None) -> None:
    """Analyse the methods of a class; what one assigns to an attribute, the others see."""
    if closure is not None:
        for method in code.methods.values():
            method.closure = closure
    ordered = sorted(code.methods.items(), key=lambda item: item[0] not in CONSTRUCTORS)
    for _ in range(MAX_ROUNDS):
        code.changed = False
        for method in code.methods.values():
            method.summary = None
        for name, method in ordered:
            if name == "__init__":
                code.constructible = world.constructor_completes(code, method)
            if not method.is_private or method.escapes:
                world.analyse_entry(method)
        if not code.changed:
            break


def constructor_of(code: ClassCode) -> ClassCode | None:
    """The class of the lineage whose constructor is used."""
    order, _ = lineage(code)
    return next((c for c in order if "__init__" in c.methods), None)
