"""Path conditions that cannot be told: tests that depend on the release, which the analysis could not follow.

Such a test lets both ways through, and each of the two states that leave it keeps it in mind, with the releases in
which nobody could tell: what is met there may be reached, and nothing says that it is. Where the two ways of one test
meet again, it is over; where only one of them goes on, all that follows depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from driftwatch.releases import EMPTY, ReleaseSet

Condition = tuple[int, bool]
"""One evaluation of a test, by its number, and the way that was taken."""

Conditions = Mapping[Condition, ReleaseSet]
"""What a state was reached under, each with the releases in which it decided; never changed in place."""

NO_CONDITIONS: Conditions = {}


def spanned(conditions: Conditions) -> ReleaseSet:
    """The releases in which there is a condition."""
    found = EMPTY
    for where in conditions.values():
        found |= where
    return found


def assume(conditions: Conditions, condition: Condition, where: ReleaseSet) -> Conditions:
    """The same and one more."""
    return {**conditions, condition: where} if where else conditions


def meet(
    first: Conditions, reach_first: ReleaseSet, second: Conditions, reach_second: ReleaseSet
) -> tuple[Conditions, ReleaseSet]:
    """What holds where two states meet, and the releases in which the two ways of one test do.

    There, whatever is not the same on both sides depends on that test.
    """
    if not first and not second:
        return NO_CONDITIONS, EMPTY
    both = reach_first & reach_second
    free = both - (spanned(first) & spanned(second))
    over: dict[int, ReleaseSet] = {}
    for (test, way), where in first.items():
        opposite = second.get((test, not way), EMPTY) & where & both
        if opposite:
            over[test] = opposite
    merged: dict[Condition, ReleaseSet] = {}
    for conditions, reach in ((first, reach_first), (second, reach_second)):
        for (test, way), where in conditions.items():
            left = (where & reach) - free - over.get(test, EMPTY)
            if left:
                merged[test, way] = merged.get((test, way), EMPTY) | left
    decided = EMPTY
    for where in over.values():
        decided |= where
    return merged, decided
