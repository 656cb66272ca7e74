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
