"""What the base classes that Python itself provides bring into a class.

Asked of the running Python, for a few modules whose classes keep nothing on instances that the class does not show.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import NamedTuple

_MODULES = frozenset({"abc", "builtins", "collections.abc", "enum", "typing"})
_SAME = {"typing_extensions": "typing"}


class _AnyTuple(NamedTuple):
    """Stands for every named tuple: its own members are those of all."""


@lru_cache(maxsize=256)
def standard_members(base: str) -> frozenset[str] | None:
    """The members a foreign base gives to its subclasses and their instances; None where that is not known."""
    module, _, name = base.partition("[")[0].rpartition(".")
    module = _SAME.get(module, module) or "builtins"
    if module not in _MODULES:
        return None
    found = _AnyTuple if name == "NamedTuple" else getattr(importlib.import_module(module), name, None)
    if module == "typing" and not isinstance(found, type):
        # `List[int]` and its like stand for the class behind them.
        found = getattr(found, "__origin__", None)
    if not isinstance(found, type):
        return None
    return frozenset(member for cls in found.__mro__ for member in vars(cls))


_ABSTRACT = frozenset({"collections.abc", "contextlib", "numbers"})


@lru_cache(maxsize=256)
def without_constructor(base: str) -> bool:
    """Whether a base is one of Python's abstract classes, which bring no constructor."""
    module, _, name = base.rpartition(".")
    module = _SAME.get(module, module)
    if module not in _ABSTRACT | {"typing"}:
        return False
    found = getattr(importlib.import_module(module), name, None)
    found = getattr(found, "__origin__", found)
    if not isinstance(found, type) or found.__module__ not in _ABSTRACT:
        return False
    makers = {name for cls in found.__mro__[:-1] for name in vars(cls)}
    return not makers & {"__init__", "__new__"}
