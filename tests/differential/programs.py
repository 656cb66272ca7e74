"""A program of the differential test, and running many of them against stubs of every release.

Enters: source files with the functions to call. Leaves: for every release, what happened. The running itself is in
`execute`, in a child process.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

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


class Child:
    """A process that runs programs under every release; use it as a context manager."""

    script = EXECUTE

    def __init__(self, stubs: Mapping[str, Path], top: str) -> None:
        self.top = top
        self._settings = {"top": top, "stubs": {release: str(folder) for release, folder in stubs.items()}}

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile(mode="w+")
        self._child = subprocess.Popen(
            [sys.executable, str(self.script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )
        self._write(self._settings)
        return self

    def __exit__(self, *error: object) -> None:
        self._child.kill()
        self._child.communicate()
        self._errors.close()

    def _write(self, job: object) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(job) + "\n")
        self._child.stdin.flush()

    def answer(self, files: Mapping[str, str], program: Program) -> Any:
        """What the process says of a program whose files have these texts."""
        assert self._child.stdout is not None
        calls = [[call.function, given] for call in program.calls for given in call.runs()]
        self._write({"files": dict(files), "main": program.main, "calls": calls})
        line = self._child.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f"the program could not be run:\n{program}\n{self._errors.read()}")
        return json.loads(line)


class Runner(Child):
    """Runs programs and watches where they get to."""

    def run(self, program: Program) -> dict[str, Outcome]:
        """What the program does in each release."""
        outcomes: dict[str, Outcome] = {}
        for releases, record in self.answer(program.files, program):
            outcomes.update(dict.fromkeys(releases, _outcome(program, record)))
        return outcomes


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
