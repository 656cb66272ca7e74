"""How rules say what works where: requirements, ranges and near names, as parts of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import History


def requirement(history: History, works: ReleaseSet) -> str | None:
    """The requirement that selects just these releases, such as ``dist>=0.6.8``; None when no single one does."""
    runs = history.timeline.ranges(works)
    if len(runs) != 1:
        return None
    versions = history.timeline.versions
    first, last = runs[0]
    bounds = []
    if first != versions[0]:
        bounds.append(f">={first}")
    if last != versions[-1]:
        bounds.append(f"<{versions[versions.index(last) + 1]}")
    return f"{history.distribution}{','.join(bounds)}" if bounds else None


def nowhere(history: History) -> str:
    """Which releases do not have what none has: of a library that nobody has set up, only those asked for were read."""
    return "no known release" if history.whole else "no release that was read"


def needs(history: History, works: ReleaseSet) -> str:
    """What must be installed for the code to work, as half a sentence: ``needs dist>=0.6.8``."""
    if not works:
        return f"works in {nowhere(history)} of {history.distribution}"
    wanted = requirement(history, works)
    if wanted is not None:
        return f"needs {wanted}"
    return f"works in {history.timeline.describe(works)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?`` when there is a near name, else nothing."""
    near = get_close_matches(name, sorted(set(known) - {name}), n=1, cutoff=0.75)
    return f"; did you mean `{near[0]}`?" if near else ""


def ordinal(position: int) -> str:
    """A position from 0 for a person: ``1st``, ``2nd``, ``12th``."""
    number = position + 1
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def some(names: Sequence[str], most: int = 3) -> str:
    """As many names as a sentence may have, and how many more there are."""
    if len(names) <= most:
        return code(names)
    return f"{', '.join(f'`{name}`' for name in names[:most])} and {len(names) - most} more"


def code(names: Iterable[str]) -> str:
    """Names in backticks, with commas and an ``and``."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
