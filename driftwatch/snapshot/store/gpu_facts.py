"""snapshots/ <-> what releases say of GPUs: `gpus.jsonl`, beside a history.

One line to a fact, sorted, with the first release that has it (``since``) and the first later one that does not
(``until``), as in a history. A folder without the file has no such facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftwatch.errors import SnapshotError
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.model.gpu_facts import GpuFact, Said
from driftwatch.system import atomic_files

GPUS = "gpus.jsonl"
FORMAT = 1

Facts = Mapping[str, tuple[GpuFact, ...]]
"""The facts of each release."""


def load_facts(folder: Path, timeline: Timeline) -> tuple[tuple[GpuFact, ReleaseSet], ...]:
    """All facts, each with the releases that have it; one that several spans have stands once."""
    path = folder / GPUS
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise SnapshotError(f"{path} cannot be read: {error}") from None
    if not rows or rows[0] != {"format": FORMAT}:
        raise SnapshotError(f"{path}, line 1 is not the header of a file of format {FORMAT}")
    found: dict[GpuFact, int] = {}
    for number, row in enumerate(rows[1:], 2):
        try:
            fact = GpuFact(row["name"], Said(row["says"]), tuple(row["values"]), row["by"], row.get("perhaps", False))
            first = timeline.versions.index(row["since"])
            end = timeline.versions.index(row["until"]) if "until" in row else len(timeline)
        except (KeyError, ValueError, TypeError) as error:
            raise SnapshotError(f"{path}, line {number} is damaged: {error}") from None
        found[fact] = found.get(fact, 0) | (1 << end) - (1 << first)
    return tuple((fact, ReleaseSet(mask)) for fact, mask in sorted(found.items()))


def facts_of(folder: Path, timeline: Timeline, release: str) -> tuple[GpuFact, ...]:
    """The facts of one release."""
    bit = 1 << timeline.index(release)
    return tuple(fact for fact, releases in load_facts(folder, timeline) if releases.mask & bit)


def add_facts(folder: Path, before: Timeline, after: Timeline, made: Facts) -> None:
    """Put in the facts of releases, in the place of what is known of them. `before` is the timeline of the file."""
    known: dict[GpuFact, set[str]] = {}
    for fact, releases in load_facts(folder, before):
        known[fact] = {each for each in before.versions_of(releases) if each not in made}
    for release, facts in made.items():
        for fact in facts:
            known.setdefault(fact, set()).add(release)
    rows = [row for fact in sorted(known) for row in _rows(fact, known[fact], after)]
    if rows:
        atomic_files.write_lines(folder / GPUS, [json.dumps({"format": FORMAT}), *(json.dumps(row) for row in rows)])


def _rows(fact: GpuFact, releases: set[str], timeline: Timeline) -> list[dict[str, Any]]:
    """A line for each run of releases that have the fact."""
    row: dict[str, Any] = {"name": fact.symbol, "says": fact.said.value, "values": list(fact.values), "by": fact.by}
    if fact.perhaps:
        row["perhaps"] = True
    rows: list[dict[str, Any]] = []
    open_row: dict[str, Any] | None = None
    for version in timeline.versions:
        if version in releases and open_row is None:
            open_row = {**row, "since": version}
            rows.append(open_row)
        elif version not in releases and open_row is not None:
            open_row["until"] = version
            open_row = None
    return rows
