"""Which code bases a fleet is made of: a file, with what it refers to worked out.

Enters: a list, one to a line or TOML. Leaves: members in the order of the list, each once, and what they are held
against. ``pypi:NAME>=1.0`` means each release; ``dependents:NAME`` those that a list shipped with driftwatch names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwatch.errors import DriftwatchError, InputError, UsageError
from driftwatch.project.ranges import is_source
from driftwatch.scan.code_bases import FROM_INDEX, each_release, read_list
from driftwatch.system.tables import read, read_if_there
from driftwatch.targets.target import Target, choose

DEPENDENTS = "dependents:"
"""Begins what stands for the known dependents of a library."""
_FILE = "dependents.toml"


@dataclass(frozen=True, slots=True)
class Member:
    """A code base as it is written, or the reason why what is written names none."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fleet:
    """The members, and the specifiers that a list itself asks for; none means all releases."""

    members: tuple[Member, ...]
    against: tuple[str, ...] = ()


def read_fleet(path: Path, targets: Sequence[Target], releases: Callable[[str], Sequence[str]]) -> Fleet:
    """The fleet in a file. `releases` are the final releases of a project of the index, oldest first.

    What cannot be worked out is a member with its reason: the others stand.
    """
    found: dict[str, Member] = {}
    for text in _dependents(_written(path), targets):
        try:
            for each in each_release(text, releases):
                found.setdefault(each, Member(each))
        except DriftwatchError as error:
            found.setdefault(text, Member(text, error.message))
    if not found:
        raise InputError(f"{path} names no code base")
    return Fleet(tuple(found.values()), _against(path))


def _written(path: Path) -> list[str]:
    """The entries of a list; those that stand for others are no paths below its folder."""
    return [text if DEPENDENTS not in text else DEPENDENTS + text.partition(DEPENDENTS)[2] for text in read_list(path)]


def _against(path: Path) -> tuple[str, ...]:
    if path.suffix != ".toml":
        return ()
    table = read(path)
    table.only(("code", "against"))
    value = table.strings("against")
    place = next((each for each in value if is_source(each)), None)
    if place is not None:
        raise table.error(f"{place!r} is a place, and no releases", "against", f"name it yourself: --against {place}")
    return value


def _dependents(texts: Sequence[str], targets: Sequence[Target]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text.startswith(DEPENDENTS):
            target = choose(targets, text.removeprefix(DEPENDENTS).strip())
            found += [f"{FROM_INDEX}{name}" for name in dependents(target).names]
        else:
            found.append(text)
    return found


@dataclass(frozen=True, slots=True)
class Dependents:
    """The projects that are known to use a library, and the day on which that was looked at."""

    date: str
    names: tuple[str, ...]


def dependents(target: Target) -> Dependents:
    """The dependents of a library as they are shipped; `UsageError` where nobody keeps a list."""
    table = read_if_there(target.data, _FILE)
    if table is None:
        raise UsageError(
            f"driftwatch has no list of the dependents of {target.distribution}",
            "the package index has no reverse look-up: write the list yourself",
        )
    return Dependents(table.string("date"), table.strings("dependents"))
