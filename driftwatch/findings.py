"""What is reported: a verdict of a rule about one place, with the exact releases it holds for.

A `Finding` is final but for suppression. Its fingerprint names the problem, not the line, so that it survives edits
elsewhere in the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

from driftwatch.flow.uses import Catch, Location, Outcome, Step
from driftwatch.releases import ReleaseSet


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says about a use, before the checked range is known.

    `releases` is every release in which it holds. `severity` is what it is when one of them is in the range; a drift
    that is guarded is a note whatever the rule says.
    """

    code: str
    name: str
    severity: Severity
    distribution: str
    location: Location
    symbol: str
    parameter: str | None
    releases: ReleaseSet
    catch: Catch | None
    message: str
    hint: str
    trace: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict within the checked range: `releases` are those in the range, `beyond` those outside it."""

    code: str
    name: str
    severity: Severity
    distribution: str
    location: Location
    symbol: str
    parameter: str | None
    releases: ReleaseSet
    beyond: ReleaseSet
    outcome: Outcome | None
    caught_at: tuple[str, int] | None
    message: str
    hint: str
    trace: tuple[Step, ...]
    fingerprint: str


def fingerprint(verdict: Verdict, occurrence: int) -> str:
    """A stable name: what, where by file and symbol, and the how-manieth of its kind there; no line numbers."""
    parts = (
        verdict.code,
        verdict.distribution,
        verdict.location.path,
        verdict.symbol,
        verdict.parameter or "",
        str(occurrence),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
