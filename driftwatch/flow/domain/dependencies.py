"""What an analysis of a function has read that other functions may change: so that it is not repeated for nothing.

A class is analysed in rounds, since what one method assigns to an attribute the others read. Only those need another
round that have read something which has changed since. Who has made use of a summary needs one only when there is
another summary: the same one would tell the same again, whatever has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from driftwatch.flow.domain.code import FunctionCode, Place, Reads, Summary

COMPLETES = "completes()"
"""Stands for the releases in which a module can be imported, as a place that changes once it has been executed."""


class Dependencies:
    """When which place changed, and what the analyses that are going on have read."""

    def __init__(self) -> None:
        self._clock = 0
        self._changed: dict[Place, int] = {}
        self._open: list[Reads] = []

    @property
    def moment(self) -> int:
        """Grows with each change."""
        return self._clock

    def read(self, owner: object, name: str) -> None:
        """A place is read, whether there is something or not."""
        if self._open:
            self._open[-1].places.setdefault((owner, name), self._clock)

    def read_early(self, owner: object, name: str) -> None:
        """A place is made use of as it was when the current analysis began."""
        if self._open:
            reads = self._open[-1]
            reads.places.setdefault((owner, name), reads.begun)

    def change(self, owner: object, name: str) -> None:
        """Something else is in a place from now on."""
        self._clock += 1
        self._changed[owner, name] = self._clock

    def rely(self, function: FunctionCode, summary: Summary) -> None:
        """A function's summary is made use of."""
        if self._open:
            self._open[-1].summaries[id(summary)] = (function, summary)

    @contextmanager
    def gathering(self, *, apart: bool = False) -> Iterator[Reads]:
        """Gather what is read from here on; whoever gathers already has read it, too, unless that is `apart`."""
        gathered = Reads(self._clock)
        self._open.append(gathered)
        try:
            yield gathered
        finally:
            self._open.pop()
            if self._open and not apart:
                outer = self._open[-1]
                for place, moment in gathered.places.items():
                    outer.places[place] = min(moment, outer.places.get(place, moment))
                outer.summaries.update(gathered.summaries)

    def stale(self, reads: Reads) -> bool:
        """Whether something has changed after it was read."""
        return self._stale(reads, {})

    def _stale(self, reads: Reads, known: dict[int, bool]) -> bool:
        changed = self._changed
        if any(changed.get(place, 0) > moment for place, moment in reads.places.items()):
            return True
        for key, (function, summary) in reads.summaries.items():
            if function.summary is not summary:
                if key not in known:
                    known[key] = False
                    known[key] = self._stale(summary.reads, known)
                if known[key]:
                    return True
        return False
