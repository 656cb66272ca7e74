"""What an analysis of a function has read that other functions may change: so that it is not repeated for nothing.

A class is analysed in rounds, since what one method assigns to an attribute the others read. Only those need another
round that have read something which has changed since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

Place = tuple[object, str]
"""A class of the code base and the name of an attribute, or a module and a variable."""

COMPLETES = "completes()"
"""Stands for the releases in which a module can be imported, as a place that changes once it has been executed."""

Reads = Mapping[Place, int]
"""What was read, and when it was first."""


class Dependencies:
    """When which place changed, and what the analyses that are going on have read."""

    def __init__(self) -> None:
        self._clock = 0
        self._changed: dict[Place, int] = {}
        self._open: list[dict[Place, int]] = []
        self._begun: list[int] = []

    @property
    def moment(self) -> int:
        """Grows with each change."""
        return self._clock

    def read(self, owner: object, name: str) -> None:
        """A place is read, whether there is something or not."""
        if self._open:
            self._open[-1].setdefault((owner, name), self._clock)

    def read_early(self, owner: object, name: str) -> None:
        """A place is made use of as it was when the current analysis began."""
        if self._open:
            self._open[-1].setdefault((owner, name), self._begun[-1])

    def change(self, owner: object, name: str) -> None:
        """Something else is in a place from now on."""
        self._clock += 1
        self._changed[owner, name] = self._clock

    def rely(self, reads: Reads) -> None:
        """What an earlier analysis found is made use of."""
        if self._open:
            known = self._open[-1]
            for place, moment in reads.items():
                if known.get(place, moment) >= moment:
                    known[place] = moment

    @contextmanager
    def gathering(self) -> Iterator[Reads]:
        """Gather what is read from here on; whoever gathers already has read it, too."""
        gathered: dict[Place, int] = {}
        self._open.append(gathered)
        self._begun.append(self._clock)
        try:
            yield gathered
        finally:
            self._open.pop()
            self._begun.pop()
            self.rely(gathered)

    def stale(self, reads: Reads) -> bool:
        """Whether something has changed after it was read."""
        changed = self._changed
        return any(changed.get(place, 0) > moment for place, moment in reads.items())
