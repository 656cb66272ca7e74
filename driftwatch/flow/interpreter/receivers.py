"""Whose method a method is: what a base class does with itself depends on what its subclasses put in the place of it.

Enters: what an analysis of a method has read of the object that it belongs to. Leaves: whether it comes out otherwise
for an object of a subclass, which redefines some of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.flow.domain.code import ClassCode, FunctionCode, Summary
from driftwatch.flow.domain.dependencies import Dependencies
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.taint import tells
from driftwatch.flow.domain.values import NONE

NEXT = "super()"
"""Stands for what comes after a class in the order of an object's classes, as a place."""


def differs(code: ClassCode, summary: Summary, dependencies: Dependencies) -> bool:
    """Whether a method, or what it comes to, tells something else about the library for an object of this class."""
    order = lineage(code)[0]
    places = {id(each): i for i, each in enumerate(order)}
    gives = any(atom != NONE for _, atom in summary.returns.alternatives)
    for owner, place in summary.reads.everywhere:
        at = places.get(id(owner), 0)
        if place == NEXT and isinstance(owner, ClassCode) and (gives or summary.effects.uses_library):
            if order[at] is owner and order[at + 1 :] != lineage(owner)[0][1:]:
                return True
            continue
        for each in order[:at]:
            name = place.removesuffix("?")
            # Once it has that, it does.
            dependencies.read(each, name)
            if not _has(each, name):
                continue
            if summary.effects.uses_library or _tells(each, name) or (gives and name in each.constants):
                return True
    return False


def _has(code: ClassCode, name: str) -> bool:
    return any(name in each for each in (code.methods, code.constants, code.attributes, code.set_on_class))


def _tells(code: ClassCode, name: str) -> bool:
    """Whether what a class has under a name is of the library, or uses it."""
    method = code.methods.get(name)
    if method is not None:
        return method.calls_library or (method.summary is not None and method.summary.effects.uses_library)
    return any(tells(each[name]) for each in (code.constants, code.attributes, code.set_on_class) if name in each)


def inherited(code: ClassCode) -> Iterator[FunctionCode]:
    """The methods that a class has from its bases in the code base."""
    seen = set(code.methods)
    for base in lineage(code)[0][1:]:
        for name, method in base.methods.items():
            if name not in seen:
                seen.add(name)
                yield method
