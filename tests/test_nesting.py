"""Nesting that CPython takes is analysed; only what it refuses is told as nested too deeply."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.syntax.depth import is_too_deep
from driftwatch.flow.uses import CallUse
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.snapshot.sources.tree import FileTree
from driftwatch.system.deep_stack import on_deep_stack
from tests.flow.marked import history
from tests.hostile_shapes import NESTED, NESTED_LIBRARY, Shape

MOST = 3_000
"""Levels that are looked at: CPython 3.13 takes three times as many of some shapes, other releases fewer than this."""


def taken(shape: Shape) -> int:
    """How many levels of a shape this Python compiles, up to `MOST`."""
    least, most = 0, MOST
    while least < most:
        n = (least + most + 1) // 2
        try:
            compile(shape(n), "a.py", "exec")
        except (SyntaxError, RecursionError, MemoryError):
            most = n - 1
        else:
            least = n
    return least


@pytest.mark.parametrize("kind", NESTED)
def test_what_python_compiles_is_analysed(kind: str, tmp_path: Path) -> None:
    shape = NESTED[kind]
    n = taken(shape)
    assert n >= 90, "Python itself takes that many"
    path = tmp_path / "a.py"
    path.write_bytes(shape(n))
    found = analyse(tmp_path, [path], [history()])
    assert len([use for use in found.uses if isinstance(use, CallUse)]) == 1
    assert found.diagnostics == ()
    assert found.unresolved == ()


@pytest.mark.parametrize("kind", NESTED_LIBRARY)
def test_what_python_compiles_is_collected(kind: str) -> None:
    shape = NESTED_LIBRARY[kind]
    n = taken(shape)
    assert n > 1_000
    snapshot = collect(FileTree({"one.py": shape(n)}, ""), "one", "1")
    assert Ref("one", "f") in snapshot.symbols


@pytest.mark.parametrize("kind", ["sums", "attributes", "negatives", "lists", "blocks", "conditional_expressions"])
def test_what_python_refuses_is_told(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(NESTED[kind](5_000 if kind == "blocks" else 50_000))
    found = analyse(tmp_path, [path], [history()])
    assert not [use for use in found.uses if isinstance(use, CallUse)]
    assert [(each.path, each.mentions) for each in found.diagnostics] == [("a.py", True)]
    assert [each.path for each in found.unresolved] == ["a.py"]


@pytest.mark.parametrize("kind", sorted({*NESTED} - {"and", "tests_of_or", "loops_of_a_comprehension", "elifs"}))
def test_what_another_parser_cannot_bear_is_told_at_once(kind: str) -> None:
    """libcst's own, which is asked where this Python is too old for a file."""
    assert is_too_deep(NESTED[kind](20_000 if kind != "blocks" else 2_000).decode()) == (kind != "blocks")
    assert not is_too_deep(NESTED[kind](90).decode())


def test_what_is_long_is_not_deep() -> None:
    for text in (
        "x = [" + "1 + 1, " * 50_000 + "]\n",
        "x = f(a)\n" * 50_000,
        "x = '" + "." * 50_000 + "'\n",
        'def f():\n    """' + "It's. " * 50_000 + '"""\n',
        "# " + "." * 50_000 + "\n",
        "f(" + "a.b(c)\n, " * 20_000 + ")\n",
        "x = 1." + "0" * 50_000 + "\n",
    ):
        assert not is_too_deep(text)


# -- the thread that it takes ------------------------------------------------------------------------------------------


def test_work_is_done_elsewhere_and_leaves_all_as_it_was() -> None:
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    here = threading.get_ident()
    assert on_deep_stack(threading.get_ident)() != here
    assert on_deep_stack(lambda: on_deep_stack(threading.get_ident)() == threading.get_ident())()
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)


def test_what_the_work_raises_is_raised() -> None:
    def fails() -> None:
        raise LookupError("that")

    with pytest.raises(LookupError, match="that"):
        on_deep_stack(fails)()


def test_endless_calls_end() -> None:
    def endless(each: object) -> object:
        return max([each], key=endless)

    with pytest.raises(RecursionError):
        on_deep_stack(endless)(1)
    assert on_deep_stack(len)("abc") == 3


def test_without_a_thread_the_work_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    path = tmp_path / "a.py"
    path.write_bytes(NESTED["sums"](200))
    deep = tmp_path / "b.py"
    deep.write_bytes(NESTED["and"](20_000))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    found = analyse(tmp_path, [path, deep], [history()])
    assert [use.location.path for use in found.uses if isinstance(use, CallUse)] == ["a.py"]
    assert [(each.path, each.message) for each in found.diagnostics] == [
        ("b.py", "it is nested too deeply to be analysed")
    ]
