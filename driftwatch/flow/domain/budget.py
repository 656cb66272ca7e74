"""How much work an entry point may make: what is followed through loops and calls grows faster than the code does.

The work is counted in executed statements. What is given up when it is spent, is told as unresolved where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_STATEMENTS = 6_000
"""Statements executed for one entry point, by all that it calls; none of a serving engine needs as many."""

RESERVE = 600_000
"""Statements that all entry points of a run have together, beside what each brings with it."""

OWN = 40
"""What each entry point brings with it; those of a serving engine need 30 to 36 on average."""

_SHARE = 8
"""One of so many parts of what is left is what a single entry point may have."""


@dataclass(slots=True)
class Budget:
    """The work that is left. Once there is none, loops are gone through once and no further call is followed."""

    left: int = MAX_STATEMENTS

    @property
    def spent(self) -> bool:
        return self.left < 0


@dataclass(slots=True)
class Allowance:
    """What the entry points of a code base may spend on one library: it grows with their number, and no faster.

    A code base that uses a library in every other function, each of which calls the next one, would else be followed
    to the limit from each of them.
    """

    left: int = RESERVE

    def grant(self) -> Budget:
        """The budget of one more entry point."""
        self.left += OWN
        return Budget(min(MAX_STATEMENTS, max(OWN, self.left // _SHARE)))

    def settle(self, granted: int, budget: Budget) -> None:
        """An entry point has ended: what it has spent of what it was granted is gone."""
        self.left -= granted - budget.left
