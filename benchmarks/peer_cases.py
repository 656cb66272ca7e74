"""The cases of `peers.py`: which files there are, what breaks in them, and which of it has been said.

A cell is one case in one release. A case is a file, with those of its folder that it imports. A cell breaks when some
line of it raises in that release because of the library's API; else it must stay silent.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from driftwatch.snapshot.store import store
from tests.differential.programs import ANYTHING, Call, Program, Runner
from tests.differential.shipped import shipped
from tests.differential.truth import Fact, truth
from tests.stubs import write_stub

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODULE = "flashinfer"
RELEASES = ("0.6.7", "0.6.12", "0.7.4")
"""For cases that do not name their releases."""

Line = tuple[str, int]
"""A file's name and a line of it."""

Said = Mapping[str, set[Line]]
"""The lines of which something is said, by release."""


@dataclass(frozen=True)
class Cases:
    """The files of each case, and the lines that raise, by release."""

    folder: Path
    files: Mapping[str, frozenset[str]]
    breaks: Said

    @property
    def releases(self) -> tuple[str, ...]:
        return tuple(self.breaks)

    def lines(self, said: Said, case: str, release: str) -> set[Line]:
        return {line for line in said[release] if line[0] in self.files[case]}

    def breaking(self) -> list[tuple[str, str]]:
        cells = [(case, release) for case in self.files for release in self.releases]
        return [cell for cell in cells if self.lines(self.breaks, *cell)]

    def silent(self) -> list[tuple[str, str]]:
        broken = set(self.breaking())
        return [(case, release) for case in self.files for release in self.releases if (case, release) not in broken]


@dataclass(frozen=True)
class Score:
    """The cells that a tool has caught, those of which it says what is not so, and such lines in cells that break."""

    caught: frozenset[tuple[str, str]]
    false: frozenset[tuple[str, str]]
    elsewhere: frozenset[tuple[str, Line]]


def score(cases: Cases, said: Said) -> Score:
    caught, elsewhere = set(), set()
    for case, release in cases.breaking():
        here = cases.lines(said, case, release)
        raising = cases.lines(cases.breaks, case, release)
        if raising <= here:
            caught.add((case, release))
        elsewhere |= {(release, line) for line in here - raising}
    false = {cell for cell in cases.silent() if cases.lines(said, *cell)}
    return Score(frozenset(caught), frozenset(false), frozenset(elsewhere))


def read_cases(folder: Path) -> Cases:
    files = grouped({path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))})
    expected = folder / "expected.toml"
    if not expected.exists():
        return Cases(folder, files, executed(folder, files))
    facts = tomllib.loads(expected.read_text(encoding="utf-8"))
    breaks: dict[str, set[Line]] = {release: set() for release in facts["releases"]}
    for name, lines in facts["breaks"].items():
        for release, numbers in lines.items():
            breaks[release] |= {(name, number) for number in numbers}
    return Cases(folder, files, breaks)


def grouped(texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The files of each case: one that is imported by another belongs to that one's case."""
    uses = {name: {f"{module}.py" for module in _imported(text)} & texts.keys() for name, text in texts.items()}
    used = set().union(*uses.values())
    cases = {}
    for name in texts.keys() - used:
        files = fresh = {name}
        while fresh := {other for file in fresh for other in uses[file]} - files:
            files = files | fresh
        cases[name] = frozenset(files)
    return dict(sorted(cases.items()))


def _imported(text: str) -> Iterable[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def executed(folder: Path, files: Mapping[str, frozenset[str]]) -> dict[str, set[Line]]:
    """What raises when the functions of the cases run with a stub of each release, as tests/test_cases.py has it."""
    breaks: dict[str, set[Line]] = {release: set() for release in RELEASES}
    with tempfile.TemporaryDirectory() as temporary:
        snapshots = {release: store.snapshot_of(shipped(), release) for release in RELEASES}
        stubs = {release: write_stub(made, Path(temporary, release)) for release, made in snapshots.items()}
        with Runner(stubs, MODULE) as runner:
            for case, parts in files.items():
                texts = {name: (folder / name).read_text(encoding="utf-8") for name in parts}
                program = _program(case, texts)
                for release, (facts, _) in truth(program, runner.run(program), MODULE).items():
                    breaks[release] |= {fact.place for fact in facts if _breaks(fact)}
    return breaks


def _program(case: str, texts: Mapping[str, str]) -> Program:
    functions = [node for node in ast.parse(texts[case]).body if isinstance(node, ast.FunctionDef)]
    runs = [function for function in functions if function.name.startswith("run")]
    calls = tuple(Call(function.name, {a.arg: (ANYTHING,) for a in function.args.args}) for function in runs)
    return Program(texts, case.removesuffix(".py"), calls)


def _breaks(fact: Fact) -> bool:
    """Nobody was ready for it; where it cannot be told whether a handler was, nothing is said."""
    return bool(fact.outcomes & {"raises", "silent"}) and fact.outcomes != {"silent", "guarded"}
