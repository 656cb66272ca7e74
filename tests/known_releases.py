"""FlashInfer's releases as tests speak of them: up to one that is named, whatever is recorded after it."""

from __future__ import annotations

from driftwatch.releases import ReleaseSet, Timeline

LAST = "0.7.4"
"""The last release that tests speak of. One that comes out after it changes no expectation."""


def known(timeline: Timeline) -> ReleaseSet:
    """All releases up to the last that tests speak of."""
    return ReleaseSet((1 << timeline.index(LAST) + 1) - 1)


def said(timeline: Timeline, releases: ReleaseSet) -> str:
    """Which of the known releases these are, in words."""
    return timeline.describe(releases & known(timeline))
