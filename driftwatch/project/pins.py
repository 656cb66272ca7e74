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
    """Pins that are installed together, in the order in which they are written; each has a version.

    `loose` are the requirements beside them that leave a choice which no pin of the project makes.
    """

    pins: tuple[Declaration, ...]
    loose: tuple[Declaration, ...] = ()


def installations(requirements: Requirements, names: Iterable[str]) -> tuple[Installation, ...]:
    """The ways to install a project, as far as they pin these distributions; the first is its subject.

    A requirements file or a Dockerfile that does not pin the subject gets it from the project itself, where all that
    the project says of it is one version. Where the project says nothing of it, it comes with a pinned carrier.
    """
    wanted = list(dict.fromkeys(canonicalize_name(name) for name in names))
    if len(wanted) < 2:
        return ()
    subject = wanted[0]
    projects, others = ([_wanted(sheet, wanted) for sheet in sheets] for sheets in requirements.sheets)
    own = _agreed(projects, subject) or _agreed(others, subject)
    brought = next((each for each in requirements.carried(subject) if each.version is not None), None)
    pinned = {each.distribution for sheet in (*projects, *others) for each in sheet if each.version is not None}
    result: dict[Installation, None] = {}
    for sheet in projects:
        for group in dict.fromkeys(each.group for each in sheet):
            together = [each for each in sheet if not each.group]
            together += [each for each in sheet if group and each.group == group]
            found = _installation(together, pinned)
            if found.pins:
                result[_with(brought, found, subject)] = None
    for sheet in others:
        found = _installation(sheet, pinned)
        if not found.pins:
            continue
        result[_with(own or brought, found, subject)] = None
    return tuple(result)


def _with(own: Declaration | None, found: Installation, subject: str) -> Installation:
    """An installation with a pin of the subject that comes from elsewhere, where it has none itself."""
    if own is None or any(pin.distribution == subject for pin in found.pins):
        return found
    return Installation((own, *found.pins), found.loose)


def _wanted(sheet: tuple[Declaration, ...], wanted: Collection[str]) -> list[Declaration]:
    return [declared for declared in sheet if declared.distribution in wanted]


def _installation(together: Iterable[Declaration], pinned: Collection[str]) -> Installation:
    pins: list[Declaration] = []
    loose: list[Declaration] = []
    for declared in together:
        if declared.version is not None:
            pins.append(declared)
        elif not declared.url and declared.distribution not in pinned:
            loose.append(declared)
    return Installation(tuple(pins), tuple(loose))


def _agreed(found: list[list[Declaration]], name: str) -> Declaration | None:
    """The one version that is always installed of a distribution; None where there are several or none."""
    pins = [
        pin
        for sheet in found
        for pin in sheet
        if pin.distribution == name and pin.version is not None and not pin.group and not pin.marker
    ]
    return pins[0] if pins and len({pin.version for pin in pins}) == 1 else None
