"""The law of conservation: a call of the library is a use, or its way there is said to be out of sight.

Programs that carry a function of the library along every way that Python's grammar and its standard library have are
executed with a library that notes who calls it, and analysed.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import CallUse
from tests.flow.carriers import CARRIERS, Carried, carried, some
from tests.flow.marked import history


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where the library is called from, by the file and the line of the program."""
    places: list[tuple[str, int]] = []

    def fuse(*args: object, **kwargs: object) -> None:
        frame = sys._getframe(1)
        while not frame.f_code.co_filename.startswith("program_"):
            assert frame.f_back is not None
            frame = frame.f_back
        places.append((frame.f_code.co_filename, frame.f_lineno))

    top, comm = types.ModuleType("lib"), types.ModuleType("lib.comm")
    top.comm, comm.fuse = comm, fuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lib", top)
    monkeypatch.setitem(sys.modules, "lib.comm", comm)
    return places


def lost(folder: Path, programs: Sequence[Carried], called: list[tuple[str, int]]) -> Iterator[str]:
    """The programs of which a call is neither a use nor out of sight."""
    paths = {f"program_{i}.py": program for i, program in enumerate(programs)}
    for path, program in paths.items():
        (folder / path).write_text(program.text, encoding="utf-8")
        scope: dict[str, object] = {"__name__": path}
        exec(compile(program.text, path, "exec", dont_inherit=True), scope)  # this file's own text
        run = scope["run"]
        assert callable(run)
        run(1)
    analysis = analyse(folder, [folder / path for path in paths], [history()])
    used = {(use.location.path, use.location.line) for use in analysis.uses if isinstance(use, CallUse)}
    said = {each.path for each in analysis.unresolved}
    assert {path for path, _ in called} == set(paths), "every program calls the library"
    for path, line in dict.fromkeys(called):
        if (path, line) not in used and path not in said:
            yield paths[path].name


def test_nothing_gets_lost_on_any_way(tmp_path: Path, called: list[tuple[str, int]]) -> None:
    assert not list(lost(tmp_path, [carried(way) for way in CARRIERS], called))


def test_nothing_gets_lost_on_several_ways(tmp_path: Path, called: list[tuple[str, int]]) -> None:
    assert not list(lost(tmp_path, some(1, 80), called))
