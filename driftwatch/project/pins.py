"""What is installed together: the pins that one way to install a code base brings.

Enters: what its project declares. Leaves: installations. A pin is a requirement of exactly one version: what leaves a
choice is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from driftwatch.project.declared import Declaration, Requirements


@dataclass(frozen=True, slots=True)
class Installation:
    """Pins that are installed together, in the order in which they are written; each has a version."""

    pins: tuple[Declaration, ...]


def installations(requirements: Requirements, names: Iterable[str]) -> tuple[Installation, ...]:
    """The ways to install a project, as far as they pin these distributions; the first is its subject.

    A requirements file or a Dockerfile that does not pin the subject gets it from the project itself, where all that
    the project says of it is one version.
    """
    wanted = list(dict.fromkeys(canonicalize_name(name) for name in names))
    if len(wanted) < 2:
        return ()
    subject = wanted[0]
    projects, others = (_pinned(sheets, wanted) for sheets in requirements.sheets)
    own = _agreed(projects, subject) or _agreed(others, subject)
    result: dict[Installation, None] = {}
    for pins in projects:
        always = [pin for pin in pins if not pin.group]
        for group in dict.fromkeys(pin.group for pin in pins):
            result[Installation((*always, *(pin for pin in pins if group and pin.group == group)))] = None
    for pins in others:
        there = any(pin.distribution == subject for pin in pins)
        result[Installation(tuple(pins if there or own is None else [own, *pins]))] = None
    return tuple(result)


def _pinned(sheets: Iterable[tuple[Declaration, ...]], wanted: Collection[str]) -> list[list[Declaration]]:
    pinned = ([d for d in sheet if d.version is not None and d.distribution in wanted] for sheet in sheets)
    return [pins for pins in pinned if pins]


def _agreed(found: list[list[Declaration]], name: str) -> Declaration | None:
    """The one version that is always installed of a distribution; None where there are several or none."""
    pins = [pin for pins in found for pin in pins if pin.distribution == name and not pin.group and not pin.marker]
    return pins[0] if pins and len({pin.version for pin in pins}) == 1 else None
