"""What an analysis of a function has read that other functions may change: so that it is not repeated for nothing.

A class is analysed in rounds, since what one method assigns to an attribute the others read. Only those need another
round that have read something which has changed since.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Place = tuple[object, str]
"""A class of the code base and the name of an attribute, or a module and a variable."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What was read, and when that began."""

    since: int
    places: frozenset[Place]


@dataclass(slots=True)
class Gathering:
    """The reads of an analysis that is going on."""

    since: int
    places: set[Place] = field(default_factory=set)

    def reads(self) -> Reads:
        """What has been read so far."""
        return Reads(self.since, frozenset(self.places))


class Dependencies:
    """When which place changed, and what the analyses that are going on have read."""

    def __init__(self) -> None:
        self._clock = 0
        self._changed: dict[Place, int] = {}
        self._open: list[Gathering] = []

    def read(self, owner: object, name: str) -> None:
        """A place is read, whether there is something or not."""
        if self._open:
            self._open[-1].places.add((owner, name))

    def change(self, owner: object, name: str) -> None:
        """Something else is in a place from now on."""
        self._clock += 1
        self._changed[owner, name] = self._clock

    def rely(self, reads: Reads) -> None:
        """What an earlier analysis found is made use of."""
        if self._open:
            self._open[-1].places.update(reads.places)
            self._open[-1].since = min(self._open[-1].since, reads.since)

    @contextmanager
    def gathering(self) -> Iterator[Gathering]:
        """Gather what is read from here on; whoever gathers already has read it, too."""
        gathered = Gathering(self._clock)
        self._open.append(gathered)
        try:
            yield gathered
        finally:
            self._open.pop()
            self.rely(gathered.reads())

    def stale(self, reads: Reads) -> bool:
        """Whether something that was read has changed since."""
        changed = self._changed
        return any(changed.get(place, 0) > reads.since for place in reads.places)
