"""How much work one entry point may make: what is followed through loops and calls grows faster than the code does.

The work is counted in executed statements. What is given up when it is spent, is told as unresolved where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_STATEMENTS = 6_000
"""Statements executed for one entry point, by all that it calls; none of a serving engine needs as many."""


@dataclass(slots=True)
class Budget:
    """The work that is left. Once there is none, loops are gone through once and no further call is followed."""

    left: int = MAX_STATEMENTS

    @property
    def spent(self) -> bool:
        return self.left < 0
