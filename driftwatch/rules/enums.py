"""Which enum an annotation names, and which of its members a number is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.history import History
from driftwatch.snapshot.model import Ref

_NAME = re.compile(r"[A-Za-z_]\w*")
_ENUM_BASES = frozenset({"enum.Enum", "enum.IntEnum", "enum.Flag", "enum.IntFlag"})


def enum_in(history: History, module: str, annotation: str) -> Ref | None:
    """The enum of the library that an annotation names, as the module of the function, or the root, has it."""
    for name in _NAME.findall(annotation):
        for place in dict.fromkeys((module, history.module)):
            ref = Ref(place, name)
            if any(base in _ENUM_BASES for epoch in history.of(ref) for base in epoch.symbol.bases):
                return ref
    return None


def member_of(history: History, enum: Ref, value: int, releases: ReleaseSet) -> Iterator[tuple[str, ReleaseSet]]:
    """The members that have this value, each with the releases in which it does."""
    for name in history.members(enum):
        here = EMPTY
        for epoch in history.of(enum.member(name)):
            if epoch.symbol.value == str(value):
                here |= epoch.releases & releases
        if here:
            yield name, here
