"""Whatever a file holds, looking at it takes no longer than its size allows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.sources import files, first_look
from driftwatch.flow.uses import CallUse, SubclassUse
from driftwatch.report import FORMATS, render
from driftwatch.report.options import RenderOptions
from driftwatch.report.styled import Look
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from tests.flow.marked import history
from tests.hostile_shapes import FOLLOWED, NESTED, SEARCHED, TOLD, Shape

MORE = 8
GROWTH = 10
"""How many times as long `MORE` times as much may take: of what is quadratic it is 64."""


class Held:
    """Contents that are not read from anywhere."""

    def __init__(self, held: Mapping[str, bytes]) -> None:
        self._held = held
        self.paths: Sequence[str] = list(held)

    def read(self, path: str) -> bytes | None:
        return self._held[path]


def searched(data: bytes) -> float:
    """The time of all searches of bytes, of several tries the least."""
    held = Held({"a.py": data})
    times: list[float] = []
    for _ in range(3):
        start = time.process_time()
        first_look.mentioning(held, "lib.comm")  # type: ignore[arg-type]
        first_look.importers(held)  # type: ignore[arg-type]
        first_look.seems_to_import(data, b"lib", [b"nothing"])
        times.append(time.process_time() - start)
    return min(times)


def followed(folder: Path, data: bytes) -> float:
    path = folder / "a.py"
    path.write_bytes(data)
    times: list[float] = []
    for _ in range(2):
        start = time.process_time()
        analyse(folder, [path], [history()])
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("kind", SEARCHED)
def test_the_search_of_bytes_grows_as_the_file(kind: str) -> None:
    shape, n = SEARCHED[kind], 4000
    assert searched(shape(MORE * n)) <= GROWTH * max(searched(shape(n)), FLOOR / 10)


@pytest.mark.parametrize("kind", FOLLOWED)
def test_the_analysis_grows_as_the_file(kind: str, tmp_path: Path) -> None:
    shape, n = FOLLOWED[kind], 60
    followed(tmp_path, shape(2))
    assert followed(tmp_path, shape(MORE * n)) <= GROWTH * max(followed(tmp_path, shape(n)), FLOOR)


@pytest.mark.parametrize("kind", sorted({*NESTED} - {"arguments", "blocks", "comparisons_in_brackets", "lists"}))
def test_the_analysis_grows_as_what_is_nested(kind: str, tmp_path: Path) -> None:
    """The others are brackets and blocks, of which Python itself takes no more than 200."""
    shape, n = NESTED[kind], 300
    followed(tmp_path, shape(2))
    assert followed(tmp_path, shape(MORE * n)) <= GROWTH * max(followed(tmp_path, shape(n)), FLOOR)


def told(folder: Path, data: bytes) -> dict[str, float]:
    """The time of a whole scan, and of each format of its report."""
    (folder / "a.py").write_bytes(data)
    start = time.process_time()
    request = ScanRequest((folder,), (Watched(history()),), against=("all",), base=folder)
    report = scan(request)
    times = {"scan": time.process_time() - start}
    for name in FORMATS:
        start = time.process_time()
        render(name, report, RenderOptions(Look(), unresolved=True, beyond=True))
        times[name] = time.process_time() - start
    return times


@pytest.mark.parametrize("kind", TOLD)
def test_a_report_grows_as_its_findings(kind: str, tmp_path: Path) -> None:
    """The whole way: findings with their places, suppression, and every format."""
    shape, n = TOLD[kind], 100
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    told(tmp_path, shape(2))
    once, more = told(tmp_path, shape(n)), told(tmp_path, shape(MORE * n))
    # What is fast is measured too coarsely, and the first lines of a report cost the same whatever follows.
    assert {name: (once[name], took) for name, took in more.items() if took > 2 * GROWTH * max(once[name], 0.03)} == {}


@pytest.mark.parametrize("kind", SEARCHED)
def test_what_only_looks_like_a_mention_is_none(kind: str) -> None:
    """Nor does a shape turn up because it is long."""
    found = {n: first_look.mentioning(Held({"a": SEARCHED[kind](n)}), "lib.comm") for n in (3, 300)}  # type: ignore[arg-type]
    assert found[3] == found[300]


def test_a_file_that_is_too_large_to_be_parsed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_SOURCE", 1000)
    large: Shape = lambda n: b"import lib.comm as comm\nx = '" + b"x" * n + b"'\ncomm.fuse(1)\n"  # noqa: E731
    (tmp_path / "a.py").write_bytes(large(10))
    (tmp_path / "b.py").write_bytes(large(1000))
    (tmp_path / "c.py").write_bytes(b"x = 1\n" * 1000)
    found = analyse(tmp_path, sorted(tmp_path.glob("*.py")), [history()])
    assert {use.location.path for use in found.uses} == {"a.py"}
    assert [(d.path, d.line, d.message, d.mentions) for d in found.diagnostics] == [
        ("b.py", None, "it is larger than 1,000 bytes", True)
    ]
    assert [(u.path, u.line, u.reason) for u in found.unresolved] == [
        ("b.py", 1, "not analysed: it is larger than 1,000 bytes")
    ]


def test_any_number_of_elifs_is_analysed(tmp_path: Path) -> None:
    """At top level, in a function, in what takes an exception: none of them is deeper than the one before."""
    n = 2000
    chain = "{0}if x == 0:\n{0}    {1}\n" + "".join(f"{{0}}elif x == {i}:\n{{0}}    {{1}}\n" for i in range(1, n))
    raising = f"try:\n    comm.fuse(1)\nexcept Exception:\n{chain.format('    ', 'raise')}    else:\n        raise\n"
    sources = {
        "a": chain.format("", "comm.fuse(1)") + "else:\n    comm.fuse(1)\n",
        "b": "def f(x):\n" + chain.format("    ", "comm.fuse(1)"),
        "c": raising + "comm.fuse(1)\n",
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(f"import lib.comm as comm\n\nx = input()\n{source}")
    found = analyse(tmp_path, sorted(tmp_path.glob("*.py")), [history()])
    calls = [(use.location.path, use.location.line) for use in found.uses if isinstance(use, CallUse)]
    assert found.diagnostics == ()
    assert [line for path, line in calls if path == "a.py"] == [5 + 2 * i for i in range(n + 1)]
    assert [line for path, line in calls if path == "b.py"] == [6 + 2 * i for i in range(n)]
    assert [line for path, line in calls if path == "c.py"] == [5, 4 + 3 + 2 * n + 2]


def test_a_class_that_descends_from_very_many_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(FOLLOWED["subclasses"](101))
    found = analyse(tmp_path, [tmp_path / "a.py"], [history()])
    assert [use.class_name for use in found.uses if isinstance(use, SubclassUse)] == [f"C{i}" for i in range(100)]
    assert [(u.line, u.reason) for u in found.unresolved] == [
        (line, "this class has more bases than are followed") for line in (102, 103)
    ]


FLOOR = 0.1
"""Seconds of processor time below which the machine decides more than the shape."""
