"""Measure which call edges driftwatch finds, by the categories of the PyCG micro-benchmark, as a table.

    python benchmarks/call_graph.py

The programs are those of tests/flow/programs/call_graph. A break is a call that execution saw fail in one release at
one line; a finding is an error told for one release at one line. docs/call_graph.md says what the columns mean.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.differential import library
from tests.differential.compare import Comparison
from tests.differential.programs import Program, Runner
from tests.differential.truth import truth
from tests.flow.marked import Marked, history
from tests.flow.programs.call_graph import CATEGORIES
from tests.stubs import write_stub

COLUMNS = (
    "programs", "complete", "sound", "breaks", "found", "unknown there", "unknown before", "silent", "findings",
    "confirmed", "soundness", "completeness",
)  # fmt: skip


@dataclass(frozen=True)
class Count:
    """Of some programs. `there`: said to be unknown at the line; `before`: said where a value got out of sight."""

    programs: int = 0
    complete: int = 0
    sound: int = 0
    breaks: int = 0
    there: int = 0
    before: int = 0
    silent: int = 0
    findings: int = 0
    refuted: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def cells(self) -> tuple[str, ...]:
        found = self.breaks - self.there - self.before - self.silent
        confirmed = self.findings - self.refuted
        return (
            *map(str, (self.programs, self.complete, self.sound, self.breaks, found, self.there, self.before)),
            *map(str, (self.silent, self.findings, confirmed)),
            _share(found + self.there, self.breaks),
            _share(confirmed, self.findings),
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "programs").mkdir()
        stubs = {s.release: write_stub(s, folder / "stubs" / s.release, "lib-dist") for s in library.snapshots()}
        with Runner(stubs, "lib") as runner:
            comparison = Comparison(history(), runner, folder / "programs")
            print(_row(("category", *COLUMNS)))
            print(_row(("---", *("---:" for _ in COLUMNS))))
            total = Count()
            for category, programs in CATEGORIES.items():
                count = sum((_count(comparison, program) for program in programs), Count())
                total += count
                print(_row((category, *count.cells)))
            print(_row(("all", *total.cells)))


def _count(comparison: Comparison, marked: Marked) -> Count:
    program = marked.program
    said, unresolved = comparison.said([program])
    disagreements = dict.fromkeys(("miss", "unresolved", "alarm", "outcome"), 0)
    for each in comparison.of([program]):
        disagreements[each.kind] += len(each.releases)
    there, missed = disagreements["unresolved"], disagreements["miss"]
    return Count(
        programs=1,
        complete=disagreements["alarm"] == 0,
        sound=missed == 0,
        breaks=_breaks(comparison, program),
        there=there,
        before=missed if unresolved else 0,
        silent=0 if unresolved else missed,
        findings=sum(len(each.releases) for found in said.values() for each in found if each.error),
        refuted=disagreements["alarm"],
    )


def _breaks(comparison: Comparison, program: Program) -> int:
    outcomes = comparison.runner.run(program)
    return sum(len(facts) for facts, _ in truth(program, outcomes, comparison.runner.top).values())


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
