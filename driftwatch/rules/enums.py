"""Which enum an annotation names, and which of its members a number is.

A class that holds nothing but numbers is as good as an enum: who passes a number means one of its members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.standard_bases import ENUMERATIONS
from driftwatch.snapshot.model.symbols import Ref, SymbolKind

_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?\d+")


def enum_in(history: History, module: str, annotation: str, releases: ReleaseSet) -> Ref | None:
    """The enum of the library that an annotation names, as the module of the function, or the root, has it.

    It is where these releases define it.
    """
    for name in _NAME.findall(annotation):
        for place in dict.fromkeys((module, history.module)):
            ref = Ref(place, name)
            for epoch in history.of(ref):
                defined = history.definition(epoch, ref)
                if epoch.releases.isdisjoint(releases) or epoch.symbol.kind is not SymbolKind.CLASS:
                    continue
                if ENUMERATIONS.intersection(epoch.symbol.bases) or _holds_numbers_alone(history, defined):
                    return defined
    return None


def _holds_numbers_alone(history: History, cls: Ref) -> bool:
    members = history.members(cls)
    return len(members) > 1 and all(
        epoch.symbol.kind is SymbolKind.ATTRIBUTE and _NUMBER.fullmatch(epoch.symbol.value or "")
        for name in members
        for epoch in history.of(cls.member(name))
    )


def member_of(history: History, enum: Ref, value: int, releases: ReleaseSet) -> Iterator[tuple[str, ReleaseSet]]:
    """The members that have this value, each with the releases in which it does."""
    for name in history.members(enum):
        here = EMPTY
        for epoch in history.of(enum.member(name)):
            if epoch.symbol.value == str(value):
                here |= epoch.releases & releases
        if here:
            yield name, here


def has_other(history: History, enum: Ref, name: str, value: int, releases: ReleaseSet) -> bool:
    """Whether a member of this name has another value in some of these releases."""
    return any(
        epoch.symbol.value != str(value) and not epoch.releases.isdisjoint(releases)
        for epoch in history.of(enum.member(name))
    )
