"""What the base classes that Python itself provides bring into a class: the one table of them.

Members are asked of the running Python, for a few modules whose classes keep nothing on instances that the class does
not show. Names are import paths; those of builtins stand with their module or without.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import NamedTuple

_MODULES = frozenset({"abc", "builtins", "collections.abc", "enum", "typing"})
_SAME = {"typing_extensions": "typing"}

ENUMERATIONS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "enum.ReprEnum"})
"""Bases that make an enumeration of a class."""
FLAGS = frozenset({"enum.Flag", "enum.IntFlag"})
ABSTRACT_BASES = frozenset({"abc.ABC", "typing.Protocol", "typing_extensions.Protocol"})
"""Bases with which a class cannot be constructed while it has abstract methods."""
NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
PLAIN_BASES = ABSTRACT_BASES | {"object", "builtins.object", "typing.Generic", "typing_extensions.Generic"}
"""Bases that bring neither attributes nor a constructor."""
WITHOUT_ATTRIBUTES = PLAIN_BASES | NAMED_TUPLES


class _AnyTuple(NamedTuple):
    """Stands for every named tuple: its own members are those of all."""


@lru_cache(maxsize=256)
def _standard_class(base: str) -> type | None:
    """The class behind a foreign base; None where that is not one of Python's whose members are known."""
    module, _, name = base.partition("[")[0].rpartition(".")
    module = _SAME.get(module, module) or "builtins"
    if module not in _MODULES:
        return None
    found = _AnyTuple if name == "NamedTuple" else getattr(importlib.import_module(module), name, None)
    if module == "typing" and not isinstance(found, type):
        # `List[int]` and its like stand for the class behind them.
        found = getattr(found, "__origin__", None)
    return found if isinstance(found, type) else None


@lru_cache(maxsize=256)
def standard_members(base: str) -> frozenset[str] | None:
    """The members a foreign base gives to its subclasses and their instances; None where that is not known."""
    found = _standard_class(base)
    return None if found is None else frozenset(member for cls in found.__mro__ for member in vars(cls))


def readable_on_class(base: str, name: str) -> bool:
    """Whether a class has a member, as ``Class.name``, by way of a foreign base or of that one's metaclass."""
    found = _standard_class(base)
    return found is not None and (hasattr(found, name) or hasattr(type(found), name))


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
