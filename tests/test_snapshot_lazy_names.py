"""PEP 562: which names a module's ``__getattr__`` answers, from how it is written."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from driftwatch.snapshot.collect.lazy_names import LazyNames, lazy_names
from driftwatch.snapshot.collect.source_facts import LazyTarget


def read(source: str, module: str = "pkg", *, is_package: bool = True) -> LazyNames:
    return lazy_names(ast.parse(dedent(source)), module, is_package)


SHAPES = {
    "comparison": """
        def __getattr__(name):
            if name == "a":
                from .part import a
                return a
            elif "b" == name:
                from pkg import part
                return part.b
            raise AttributeError(name)
    """,
    "set": """
        from importlib import import_module
        def __getattr__(name):
            if name in {"a", "b"}:
                value = getattr(import_module(f"{__name__}.part"), name)
                globals()[name] = value
                return value
            raise AttributeError(name)
    """,
    "refused first": """
        _NAMES = ("a",) + ("b",)
        def __getattr__(name):
            if name not in _NAMES:
                raise AttributeError(name)
            from . import part
            return getattr(part, name)
    """,
    "dictionary of modules": """
        import importlib
        _WHERE = {"a": ".part", "b": ".part"}
        def __getattr__(name: str):
            if name in _WHERE:
                return getattr(importlib.import_module(_WHERE[name], __package__), name)
            raise AttributeError(name)
    """,
    "dictionary of pairs": """
        import importlib
        _WHERE: dict[str, tuple[str, str]] = {"a": ("pkg.part", "a"), "b": ("pkg.part", "b")}
        def __getattr__(name):
            try:
                module, attribute = _WHERE[name]
            except KeyError:
                raise AttributeError(name) from None
            return getattr(importlib.import_module(module), attribute)
    """,
    "get": """
        import importlib
        _WHERE = dict(a=".part", b=".part")
        def __getattr__(name):
            where = _WHERE.get(name)
            if where is None:
                raise AttributeError(name)
            return getattr(importlib.import_module(where, __name__), name)
    """,
    "walrus": """
        import importlib
        _WHERE = {"a": ".part", **{"b": ".part"}}
        def __getattr__(name):
            if (where := _WHERE.get(name)) is not None:
                return getattr(importlib.import_module(where, __name__), name)
            raise AttributeError(name)
    """,
    "wrapped": """
        import importlib
        from types import MappingProxyType
        _WHERE = MappingProxyType({"a": ".part", "b": ".part"})
        def __getattr__(name):
            if (where := _WHERE.get(name)) is None:
                raise AttributeError(name)
            return getattr(importlib.import_module(where, __name__), name)
    """,
    "match": """
        def __getattr__(name):
            match name:
                case "a" | "b":
                    from . import part
                    return getattr(part, name)
            raise AttributeError(name)
    """,
    "and": """
        import sys
        def __getattr__(name):
            if not name.startswith("_") and name in frozenset(["a", "b"]):
                from . import part
                return getattr(part, name)
            raise AttributeError(name)
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_names_are_exactly_those_a_live_module_answers(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read(SHAPES[shape])
    assert not found.open
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text(dedent(SHAPES[shape]))
    (package / "part.py").write_text("a, b, c = 'A', 'B', 'C'\n")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        live = importlib.import_module("pkg")
        answered = {name: getattr(live, name) for name in ("a", "b", "c", "d") if hasattr(live, name)}
    finally:
        for name in ("pkg", "pkg.part"):
            sys.modules.pop(name, None)
    assert answered == {"a": "A", "b": "B"}
    assert sorted(found.targets) == sorted(answered)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_target_is_where_the_value_comes_from(shape: str) -> None:
    found = read(SHAPES[shape])
    assert {name: targets[0] for name, targets in found.targets.items()} == {
        "a": LazyTarget("pkg.part", "a"),
        "b": LazyTarget("pkg.part", "b"),
    }


@pytest.mark.parametrize(
    "body",
    [
        "return getattr(other, name)",
        "if name == 'a':\n        return 1\n    return getattr(other, name)",
        "try:\n        return other[name]\n    except KeyError:\n        raise AttributeError(name)",
        "for module in modules:\n        return getattr(module, name, None)\n    raise AttributeError(name)",
        "if name.startswith('get_'):\n        return make(name)\n    raise AttributeError(name)",
        "if name in names_from_elsewhere():\n        return 1\n    raise AttributeError(name)",
    ],
)
def test_what_may_answer_any_name_is_open(body: str) -> None:
    assert read(f"def __getattr__(name):\n    {body}\n").open


def test_a_module_without_one_has_no_lazy_names() -> None:
    assert read("class C:\n    def __getattr__(self, name):\n        return 1\n") == LazyNames()


def test_a_submodule_given_lazily() -> None:
    source = """
        import importlib
        def __getattr__(name):
            if name in ("part",):
                return importlib.import_module("." + name, __name__)
            raise AttributeError(name)
    """
    assert read(source).targets == {"part": (LazyTarget("pkg.part", ""),)}


def test_relative_to_a_module_that_is_no_package() -> None:
    source = """
        def __getattr__(name):
            if name == "a":
                from .part import a
                return a
            raise AttributeError
    """
    assert read(source, "pkg.inner", is_package=False).targets["a"][0] == LazyTarget("pkg.part", "a")
