"""What a state of a library does to code bases: the data between the analysis and its reports.

Everything is frozen and in its final order; nothing here looks anything up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from driftwatch.findings.finding import Finding
from driftwatch.snapshot.comparison.diff import Change
from driftwatch.watching.news import Hits, NewRelease


class Effect(str, Enum):
    """What a change does at a place, worst first."""

    BREAKS = "breaks"
    SILENT = "silent"
    """It breaks, and the program goes on without the feature."""
    OFF = "switched-off"
    """A guard leads past it, on purpose."""
    DEPRECATED = "deprecated"
    DIFFERS = "differs"
    """Nothing fails, and it does not do the same: another default, value or parameter."""
    LOOK = "look"
    """A warning or a note of another kind."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A place of a code base that a change reaches."""

    code: str
    finding: Finding
    effect: Effect


@dataclass(frozen=True, slots=True)
class Reach:
    """A change, the places that it reaches, and in how many places each code base uses what it changes."""

    change: Change
    touches: tuple[Touch, ...]
    used: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """A code base that could not be looked at, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Side:
    """The library as it is, or as it was: its version, and for a person what that was read from."""

    version: str
    said: str


@dataclass(frozen=True, slots=True)
class Impact:
    """What a state of a library does to code bases.

    `reaching` are the changes that reach a place, worst first; `used` those of what somebody uses that reach none;
    `unused` those that touch nobody. `besides` are places at which something begins that no change of the API shows.
    """

    distribution: str
    module: str
    now: Side
    base: Side
    release: NewRelease
    reaching: tuple[Reach, ...]
    used: tuple[Reach, ...]
    unused: tuple[Change, ...]
    besides: tuple[Touch, ...]
    unread: tuple[Unread, ...] = ()

    @property
    def breaks(self) -> bool:
        """Whether a place that worked breaks."""
        return any(each.errors for each in self.release.code)

    def touches(self) -> tuple[Touch, ...]:
        return (*(touch for reach in self.reaching for touch in reach.touches), *self.besides)

    def hits(self, code: str) -> Hits:
        return next(each for each in self.release.code if each.name == code)


def by_code(impact_: Impact) -> Mapping[str, tuple[Touch, ...]]:
    """The places of each code base, worst first."""
    order = list(Effect)
    found: dict[str, list[Touch]] = {each.name: [] for each in impact_.release.code}
    for touch in impact_.touches():
        found[touch.code].append(touch)
    return {
        name: tuple(sorted(touches, key=lambda t: (order.index(t.effect), t.finding.location)))
        for name, touches in found.items()
    }
