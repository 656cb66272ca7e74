"""What the analysis says of programs, held against what they did.

Enters: programs, a history, stubs of its releases. Leaves: disagreements, each reproducible from the program it shows.
A program without unknown conditions must agree exactly: in every release, the same lines, and the same end. One with
unknown conditions must be covered: whatever can be raised is reported.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwatch.flow.uses import Outcome as Ends
from driftwatch.snapshot.model.history import History
from tests.differential.analysis import analysed
from tests.differential.programs import Place, Program, Runner
from tests.differential.truth import Fact, Source, hidden, truth


@dataclass(frozen=True)
class Said:
    """What the analysis says about a line. `error` is False for what it holds to be guarded on purpose, or says only
    may be reached."""

    place: Place
    code: str
    parameter: str | None
    symbol: str
    releases: frozenset[str]
    outcome: str | None
    error: bool


@dataclass(frozen=True)
class Disagreement:
    """`kind` is miss, alarm, outcome, crash, or unresolved (a miss where the analysis says that it does not know)."""

    kind: str
    program: Program
    place: Place
    releases: tuple[str, ...]
    expected: str
    got: str

    def __str__(self) -> str:
        path, line = self.place
        return (
            f"{self.kind} at {path}:{line} in {', '.join(self.releases)}\n"
            f"  expected: {self.expected}\n  got:      {self.got}\n{self.program}"
        )


CODES = {
    "keyword": ("DW101",),
    "arguments": ("DW101", "DW102", "DW103", "DW104", "DW302"),
    "name": ("DW201", "DW202"),
    "member": ("DW203", "DW201"),
    "result": ("DW105",),
}

EXECUTED = frozenset(code for codes in CODES.values() for code in codes)
"""Codes of what the stubs raise. They do not refuse arguments, which only the bodies of real functions do."""


class Comparison:
    """Compares programs in batches, since one analysis of a folder of many costs less than many of one."""

    def __init__(self, history: History, runner: Runner, folder: Path) -> None:
        self.history = history
        self.runner = runner
        self.folder = folder

    def of(self, programs: Sequence[Program]) -> Iterator[Disagreement]:
        """All disagreements over these programs, whose files have distinct names."""
        try:
            said, unresolved = self.said(programs)
        except Exception:  # noqa: BLE001  # a defect like any other: which program does it?
            if len(programs) > 1:
                for program in programs:
                    yield from self.of([program])
            else:
                error = traceback.format_exc(limit=-3)
                yield Disagreement("crash", programs[0], (f"{programs[0].main}.py", 1), (), "an analysis", error)
            return
        for program in programs:
            yield from self._compare(program, said, unresolved)

    def said(self, programs: Iterable[Program]) -> tuple[dict[str, list[Said]], set[Place]]:
        for old in self.folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()
        for program in programs:
            for path, text in program.files.items():
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).write_text(text, encoding="utf-8")
        verdicts, unresolved = analysed(self.folder, self.history)
        found: dict[str, list[Said]] = {}
        for verdict in verdicts:
            outcome = verdict.catch.outcome if verdict.catch else None
            place = (verdict.location.path, verdict.location.line)
            each = Said(
                place,
                verdict.code,
                verdict.parameter,
                verdict.symbol,
                frozenset(self.history.timeline.versions_of(verdict.releases)),
                outcome.value if outcome else None,
                verdict.severity.value == "error"
                and outcome is not None
                and outcome is not Ends.GUARDED
                and not verdict.conditional,
            )
            found.setdefault(place[0], []).append(each)
        return found, {(each.path, each.line) for each in unresolved}

    def _compare(
        self, program: Program, everything: Mapping[str, list[Said]], unresolved: set[Place]
    ) -> Iterator[Disagreement]:
        source = Source(program)
        outcomes = self.runner.run(program)
        said = [each for path in program.files for each in everything.get(path, ())]
        exact = all(call.exact for call in program.calls)
        found: dict[tuple[str, Place, str, str], list[str]] = {}
        for release, (facts, runs) in truth(program, outcomes, self.runner.top).items():
            here = [each for each in said if release in each.releases]
            for fact in facts:
                for kind, got in self._of_fact(fact, here, unresolved, exact):
                    found.setdefault((kind, fact.place, _described(fact), got), []).append(release)
            for each in here if exact else ():
                if (
                    each.error
                    and each.code in EXECUTED
                    and not _explained(each, facts)
                    and not hidden(each.place, source, runs)
                ):
                    key = ("alarm", each.place, "nothing", f"{each.code} {each.symbol} {each.parameter or ''}")
                    found.setdefault(key, []).append(release)
        for (kind, place, expected, got), releases in found.items():
            yield Disagreement(kind, program, place, tuple(dict.fromkeys(releases)), expected, got)

    def _of_fact(self, fact: Fact, here: list[Said], unresolved: set[Place], exact: bool) -> Iterator[tuple[str, str]]:
        places = {fact.place} | (fact.way if fact.kind == "arguments" else set())
        about = [
            each
            for each in here
            if each.place in places
            and each.code in CODES[fact.kind]
            and (fact.keyword is None or each.parameter == fact.keyword)
        ]
        if not about:
            if not exact and not fact.always and fact.kind == "arguments":
                return  # passed or not as an unknown condition goes: it counts as passed
            yield ("unresolved" if fact.place in unresolved else "miss"), "nothing"
            return
        ends = any(each.outcome in fact.outcomes for each in about)
        if exact and (not ends or (fact.outcomes == {"guarded"} and any(each.error for each in about))):
            yield "outcome", ", ".join(sorted({f"{each.code} {each.outcome}" for each in about}))


def _described(fact: Fact) -> str:
    return f"{'/'.join(sorted(fact.outcomes))}: {fact.text}"


def _explained(said: Said, facts: Iterable[Fact]) -> bool:
    for fact in facts:
        if said.place == fact.place:
            return True
        if said.place in fact.way and not (fact.keyword is not None and said.parameter == fact.keyword):
            return True
    return False
