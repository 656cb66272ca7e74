"""Compiled modules: what the stubs in a wheel say of them."""

from __future__ import annotations

from pathlib import Path

from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.sources.tree import FolderTree
from tests.collecting import collected, symbol
from tests.test_snapshot_made_callables import signature

STUB = """
from typing import overload
def plain(a: int, b: str = ...) -> int: ...
@overload
def many(a: int) -> int: ...
@overload
def many(a: str, b: int) -> str: ...
class Period:
    def __new__(cls, value: int = ..., freq: str = ...) -> Period: ...
    def shift(self, by: int) -> Period: ...
"""


def test_a_compiled_module_is_what_its_stub_says_and_perhaps_more(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.fast import Period, plain\n", encoding="utf-8")
    for name in ("fast", "bare"):
        (package / f"{name}.cpython-311-x86_64-linux-gnu.so").write_bytes(b"")
    (package / "fast.pyi").write_text(STUB, encoding="utf-8")
    (package / "only.pyi").write_text("def f(a): ...\n", encoding="utf-8")
    snapshot = collect(FolderTree(tmp_path), "pkg", "1")
    assert [p.name for p in signature(snapshot, "plain").parameters] == ["a", "b"]
    assert [p.required for p in signature(snapshot, "Period").parameters] == [False, False]
    assert symbol(snapshot, "pkg.fast").open
    assert symbol(snapshot, "pkg.bare").open
    many = symbol(snapshot, "pkg.fast:many")
    assert [[p.name for p in each.parameters] for each in many.variants] == [["a"], ["a", "b"]]
    assert "pkg.only" not in {ref.module for ref in snapshot.symbols}


def test_overloads_beside_a_definition_say_nothing(tmp_path: Path) -> None:
    source = "from typing import overload\n@overload\ndef f(a): ...\n@overload\ndef f(a, b): ...\ndef f(*args): ...\n"
    snapshot = collected(tmp_path, __init__=source)
    assert [p.name for p in signature(snapshot, "f").parameters] == ["args"]
