"""Dataclasses that are never changed, made as fast as any: the type checker holds them frozen, not the program.

A dataclass that is frozen at run time sets each of its fields by a call, which takes several times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


_C = TypeVar("_C", bound=type)


@dataclass_transform(frozen_default=True)
def frozen(cls: _C) -> _C:
    """A frozen dataclass with slots."""
    own = "__hash__" in cls.__dict__
    made: Any = dataclass(slots=True, unsafe_hash=not own)(cls)
    return made  # type: ignore[no-any-return]
