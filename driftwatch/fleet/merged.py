"""One answer of many rows: a matrix for each library, who breaks in which release, and which symbol is used how.

Enters: rows in the order of the list. Leaves: frozen data in its final order: the same rows give the same answer,
whoever worked them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftwatch.fleet.run import titles
from driftwatch.fleet.unit import Row
from driftwatch.releases import Timeline
from driftwatch.report.states import State

BROKEN = (State.BREAKS, State.SILENT)


@dataclass(frozen=True, slots=True)
class Member:
    """A code base against one library. `states` are by release; findings and notices are as its row has them."""

    name: str
    source: str
    states: tuple[State, ...]
    declared: tuple[str, ...]
    notices: tuple[str, ...]
    uses: int
    findings: tuple[Mapping[str, Any], ...]

    def broken_in(self, index: int) -> tuple[int, int]:
        """How many findings break a release, and how many of these silently."""
        states = [State(int(finding["states"][index])) for finding in self.findings]
        return sum(state in BROKEN for state in states), sum(state is State.SILENT for state in states)


@dataclass(frozen=True, slots=True)
class Filled:
    """A parameter that calls fill: in how many places, and with which literals, ``?`` for what is no literal."""

    name: str
    places: int
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """A symbol that is called: by whom, in how many places, and with what."""

    symbol: str
    places: int
    by: tuple[tuple[str, int], ...]
    parameters: tuple[Filled, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """One library: its releases, the code bases that use it, and how they do."""

    distribution: str
    module: str
    versions: tuple[str, ...]
    members: tuple[Member, ...]
    usage: tuple[Usage, ...]

    def broken(self, index: int) -> tuple[Member, ...]:
        """Who breaks in a release."""
        return tuple(member for member in self.members if member.states[index] in BROKEN)


@dataclass(frozen=True, slots=True)
class Merged:
    """The fleet as a whole. `missing` are the members of which there is no row, each with the reason."""

    libraries: tuple[Library, ...]
    members: int
    missing: tuple[tuple[str, str], ...]
    idle: tuple[str, ...]
    """Those that use none of the libraries."""


def merge(rows: Sequence[Row], timelines: Mapping[str, tuple[str, Timeline]]) -> Merged:
    """The rows as one; `timelines` has the module and the releases of each library."""
    names = titles(rows)
    found: list[Library] = []
    using: set[str] = set()
    for distribution, (module, timeline) in sorted(timelines.items()):
        members: list[Member] = []
        uses: list[tuple[str, Sequence[Any]]] = []
        for name, row in zip(names, rows, strict=True):
            for each in row.get("libraries", ()):
                if each["distribution"] == distribution:
                    members.append(_member(name, row, each))
                    uses.append((name, each["usage"]))
                    using.add(name)
        if members:
            found.append(Library(distribution, module, timeline.versions, tuple(members), _usage(uses)))
    return Merged(
        tuple(found),
        len(rows),
        tuple((name, row["reason"]) for name, row in zip(names, rows, strict=True) if "reason" in row),
        tuple(name for name, row in zip(names, rows, strict=True) if "reason" not in row and name not in using),
    )


def _member(name: str, row: Row, library: Mapping[str, Any]) -> Member:
    return Member(
        name,
        row["source"],
        tuple(State(int(digit)) for digit in library["states"]),
        tuple(library["declared"]),
        tuple(library["notices"]),
        library["uses"],
        tuple(library["findings"]),
    )


def _usage(uses: Sequence[tuple[str, Sequence[Any]]]) -> tuple[Usage, ...]:
    by: dict[str, dict[str, int]] = {}
    filled: dict[str, Counter[str]] = {}
    values: dict[tuple[str, str], Counter[str]] = {}
    for name, symbols in uses:
        for symbol, places, parameters in symbols:
            by.setdefault(symbol, {})[name] = places
            for parameter, number, literals in parameters:
                filled.setdefault(symbol, Counter())[parameter] += number
                values.setdefault((symbol, parameter), Counter()).update(dict(literals))
    found = [
        Usage(
            symbol,
            sum(users.values()),
            tuple(sorted(users.items(), key=lambda pair: (-pair[1], pair[0]))),
            tuple(
                Filled(name, number, tuple(sorted(values[symbol, name].items(), key=lambda pair: (-pair[1], pair[0]))))
                for name, number in sorted(filled.get(symbol, Counter()).items(), key=lambda pair: (-pair[1], pair[0]))
            ),
        )
        for symbol, users in by.items()
    ]
    return tuple(sorted(found, key=lambda usage: (-len(usage.by), -usage.places, usage.symbol)))
