"""A program of the differential test, and running many of them against stubs of every release.

Enters: source files with the functions to call. Leaves: for every release, what happened. The running itself is in
`execute`, in a child process.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

EXECUTE = Path(__file__).with_name("execute.py")
ANYTHING = "?"
Value = bool | None | str


@dataclass(frozen=True)
class Call:
    """A function to run, with every combination of the values its parameters may have."""

    function: str
    parameters: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether nothing in it depends on what the analysis cannot know."""
        return all(len(values) == 1 for values in self.parameters.values())

    def runs(self) -> list[dict[str, Value]]:
        names = list(self.parameters)
        return [dict(zip(names, each, strict=True)) for each in itertools.product(*self.parameters.values())]


@dataclass(frozen=True)
class Program:
    """Files by path, the module that is imported, and the functions of it that are run."""

    files: Mapping[str, str]
    main: str
    calls: tuple[Call, ...]

    def __str__(self) -> str:
        return "\n".join(f"# {path}\n{_numbered(text)}" for path, text in self.files.items())


def _numbered(text: str) -> str:
    return "\n".join(f"{i:3}  {line}" for i, line in enumerate(text.splitlines(), 1))


Place = tuple[str, int]


@dataclass(frozen=True)
class Event:
    """An exception that unwound frames of the program. `path` is where, innermost first.

    `after` are the next lines that the last of those frames ran. `escaped` says that nobody took it.
    """

    type: str
    text: str
    path: tuple[Place, ...]
    after: tuple[Place, ...]


@dataclass(frozen=True)
class Run:
    """One function run once (or the module imported): what was seen, and how it ended.

    `chain` is the exception that got out, and what it was raised from: positions in `events`, or None.
    """

    events: tuple[Event, ...]
    lines: frozenset[Place]
    ended: str | None
    chain: tuple[int | None, ...]


@dataclass(frozen=True)
class Outcome:
    """What a program does in a release: while it is imported, then the runs of each of its calls."""

    imported: Run
    calls: tuple[tuple[Run, ...], ...]


def execute(programs: Sequence[Program], stubs: Mapping[str, Path], top: str) -> Iterator[dict[str, Outcome]]:
    """For each program, in order: what it does in each release."""
    job = {
        "top": top,
        "stubs": {release: str(folder) for release, folder in stubs.items()},
        "programs": [
            {
                "files": dict(program.files),
                "main": program.main,
                "calls": [[call.function, given] for call in program.calls for given in call.runs()],
            }
            for program in programs
        ],
    }
    done = subprocess.run(
        [sys.executable, str(EXECUTE)], input=json.dumps(job), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the programs could not be run:\n{done.stderr}")
    for program, line in zip(programs, done.stdout.splitlines(), strict=True):
        outcomes: dict[str, Outcome] = {}
        for releases, record in json.loads(line):
            outcome = _outcome(program, record)
            outcomes.update(dict.fromkeys(releases, outcome))
        yield outcomes


def _outcome(program: Program, record: dict[str, object]) -> Outcome:
    given = record["calls"]
    assert isinstance(given, list)
    runs = iter([_run(each) for each in given])
    calls = [tuple(itertools.islice(runs, len(call.runs()))) for call in program.calls] if given else []
    return Outcome(_run(record["import"]), tuple(calls))


def _run(record: object) -> Run:
    assert isinstance(record, dict)
    return Run(
        tuple(
            Event(each["type"], each["text"], _places(each["path"]), _places(each["after"]))
            for each in record["events"]
        ),
        frozenset(_places(record["lines"])),
        record["ended"],
        tuple(record["chain"]),
    )


def _places(pairs: list[list[object]]) -> tuple[Place, ...]:
    return tuple((str(path), int(str(line))) for path, line in pairs)
