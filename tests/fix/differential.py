"""Programs before and after their repairs, executed against stubs of every release, and what must not differ.

A run that worked does the same: it ends the same way, gives the same, and the library is called in the same order with
the same values. A run that did not raises nothing that it did not raise before; and of what is said to be repaired,
nothing is raised any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Outcome
from driftwatch.project.config import Config
from driftwatch.scan.fix import Fixed, fix
from driftwatch.scan.pipeline import ScanRequest, Watched
from driftwatch.snapshot.model.history import History
from tests.differential.programs import Child, Program

EXECUTED = Path(__file__).with_name("executed.py")
_NAME = re.compile(r"`[^`]*`")
_MISSING = re.compile(r"missing .* arguments?:.* '(\w+)'")
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")


class Runner(Child):
    """Runs programs and records what they give, raise and pass."""

    script = EXECUTED

    def run(self, files: Mapping[str, str], program: Program) -> dict[str, list[dict[str, Any]]]:
        """By release: the import, then each call."""
        found: dict[str, list[dict[str, Any]]] = self.answer(files, program)
        return found


@dataclass
class Tally:
    """What came of the programs: how many were changed, findings fixed and refused, and what is wrong.

    `texts` are the changed files, for other versions of Python to read.
    """

    programs: int = 0
    changed: int = 0
    repaired: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def repair(folder: Path, programs: Sequence[Program], library: History) -> Fixed:
    """All repairs of some programs, safe or not."""
    for program in programs:
        for path, text in program.files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return fix(_request(folder, library), unsafe=True)


def _request(folder: Path, library: History) -> ScanRequest:
    return ScanRequest(paths=(folder,), targets=(Watched(library),), config=Config(), against=("all",), base=folder)


def held(folder: Path, programs: Sequence[Program], library: History, runner: Runner, tally: Tally) -> None:
    """Repair some programs and hold what they do against what they did."""
    fixed = repair(folder, programs, library)
    for finding in fixed.offer.repaired:
        tally.repaired[finding.code] = tally.repaired.get(finding.code, 0) + 1
    for refusal in fixed.offer.refusals:
        tally.refused[refusal.finding.code] = tally.refused.get(refusal.finding.code, 0) + 1
        reason = f"{refusal.finding.code} {_NAME.sub('`?`', refusal.reason)}"
        tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
    after = {file.path: file.texts[1] for file in fixed.offer.files}
    tally.texts += after.values()
    tally.wrong += _again(folder, fixed, library)
    # What its own handler takes care of stays as well.
    guarded = [finding for finding in fixed.before.findings if finding.outcome is Outcome.GUARDED]
    staying = [*guarded, *(refusal.finding for refusal in fixed.offer.refusals)]
    for program in programs:
        tally.programs += 1
        if not after.keys() & program.files.keys():
            continue
        tally.changed += 1
        changed = {path: after.get(path, text) for path, text in program.files.items()}
        for path, text in changed.items():
            compile(text, path, "exec")
        done = [finding for finding in fixed.offer.repaired if finding.location.path in program.files]
        left = [finding for finding in staying if finding.location.path in program.files]
        then, now = runner.run(program.files, program), runner.run(changed, program)
        for release, runs in then.items():
            for what in _differences(runs, now[release], release, done, left, library):
                tally.wrong.append(f"{release}: {what}\n{program}\n--- repaired\n" + "\n".join(changed.values()))
                break


def _again(folder: Path, fixed: Fixed, library: History) -> Iterator[str]:
    """What a second run over what the first has written would change: nothing."""
    for file in fixed.offer.files:
        file.place.write_bytes(file.after)
    for file in fix(_request(folder, library), unsafe=True).offer.files if fixed.offer.files else ():
        yield f"{file.path} is changed again:\n{file.texts[0]}\n--- repaired again\n{file.texts[1]}"


def _differences(
    then: Sequence[Mapping[str, Any]],
    now: Sequence[Mapping[str, Any]],
    release: str,
    done: Sequence[Finding],
    left: Sequence[Finding],
    library: History,
) -> Iterator[str]:
    if len(then) != len(now):
        if len(now) < len(then):
            yield "it cannot be imported any more"
        return
    bit = library.timeline.set_of([release])
    still = {f.parameter for f in left if f.code in ("DW101", "DW102") and not f.releases.isdisjoint(bit)}
    repaired = {f.parameter for f in done if f.code == "DW101" and not f.releases.isdisjoint(bit)}
    repaired -= {f.parameter for f in left if f.code == "DW101"}
    for number, (before, after) in enumerate(zip(then, now, strict=True)):
        where = "import" if number == 0 else f"call {number}"
        if before["ended"] is None and not before["events"]:
            for key in ("ended", "value", "calls"):
                if before[key] != after[key]:
                    yield f"{where}: {key} was {before[key]}, is {after[key]}"
        new = [event for event in after["events"] if event not in before["events"] and not _is_answer(event)]
        # Python tells the first of several faults; what is left is told by the scan.
        if new := [
            event for event in new if not still.intersection([*_MISSING.findall(event), *_KEYWORD.findall(event)])
        ]:
            yield f"{where}: raises {new}, not {before['events']}"
        for event in after["events"]:
            found = _KEYWORD.search(event)
            if found and found[1] in repaired:
                yield f"{where}: still {event}"


def _is_answer(event: str) -> bool:
    """What a question to the build raises, and takes itself, where there is nothing to ask."""
    return event.endswith("is not a callable object")
