"""Definitions found in text that is not parsed: never less than there is."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

import driftwatch
from driftwatch.flow.sources.outline import definition, definitions, imports, is_long_class
from driftwatch.flow.syntax.survey import survey

ROOT = Path(driftwatch.__file__).parent

AWKWARD = {
    "a longer string at the margin": 'def wanted():\n    text = """\nleft = 1\n"""\n    return {"last": text}\nx = 1\n',
    "both quotes": "def wanted():\n    text = '''\ndef \"\"\"\n'''\n    return {1: text}\n\nx = 2\n",
    "brackets at the margin": "def wanted(\n    a,\n):\n    return (\n        a\n)\n\n\nx = wanted(1)\n",
    "comments at the margin": "def wanted():\n    a = 1\n# aside\n    return a\n",
    "a continued line": "def wanted():\n    return 1 + \\\n2\n\nx = 1\n",
    "a decorator": "@first\ndef wanted(): return 1\n",
    "decorators over lines": (
        "@first(\n    1,\n    2,\n)\n@second(1,\n    2)\n\n# aside\n@third\nasync def wanted():\n    pass\n"
    ),
    "a decorator of text": "@first('a'\n       'b'\n       )\ndef wanted(): pass\n",
    "twice": "def wanted():\n    return 1\n\nif True:\n    pass\n\nclass wanted:\n    x = 2\n",
    "after another": "def other():\n    return (1)\ndef wanted():\n    return 2\n",
    "no end of line": "def wanted(): return 3",
    "carriage returns": "@first\r\ndef wanted():\r\n    return 1\r\n\r\nx = 1\r\n",
    "form feeds": "x = 1\n\f\ndef wanted():\n    return 1\n\f\ndef other(): pass\n",
}


def parts(text: str) -> dict[str, list[str]]:
    """What `ast` says the definitions are."""
    found: dict[str, list[str]] = {}
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.setdefault(node.name, []).append("\n".join(lines[first - 1 : node.end_lineno]))
    return found


def check(text: str) -> None:
    data = text.encode()
    for name, wanted in parts(text).items():
        found = list(definitions(data, name))
        for part in wanted:
            assert any(part.encode() in each for each in found), f"{part!r} is not in {found!r}"


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_one_definition_is_what_is_written_or_is_not_told(text: str) -> None:
    plain = text.replace("\r\n", "\n")
    for name, wanted in parts(plain).items():
        found = definition(text.encode(), name)
        assert found is None or [found.text] == wanted
        assert found is not None or len(wanted) > 1
    assert definition(text.encode(), "unheard") is None


def test_one_definition_of_each_name_in_this_package() -> None:
    told = 0
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name, wanted in parts(text).items():
            found = definition(text.encode(), name)
            if found is not None:
                told += 1
                assert [found.text] == wanted
                assert found.lines == wanted[0].count("\n")
                assert found.is_class == (f"class {name}" in found.text.replace("\n", " "))
    assert told > 1000


def surveyed(text: str) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    whole = survey(text)
    assert whole is not None
    for piece in whole.pieces:
        for item in piece.imports:
            found.setdefault(item.bound, []).append(item)
    return found


def test_imports_of_a_name_are_those_of_the_whole_file() -> None:
    told = 0
    library = Path(sysconfig.get_path("stdlib"))
    for path in [*ROOT.rglob("*.py"), *library.glob("*.py"), *library.glob("asyncio/*.py")]:
        text = path.read_text(encoding="utf-8", errors="replace")
        for name, wanted in surveyed(text).items():
            found = imports(text.encode(), name)
            if found is not None:
                told += 1
                assert sorted(map(repr, found)) == sorted(map(repr, wanted)), f"{path}: {name}"
    assert told > 2000


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("from a import (\n    b,\n    c as d,  # why\n)\n", True),
        ("def f():\n    from .a import b as d\n", True),
        ("import a.b, d\n", True),
        ("from a import b, \\\n    d\n", True),
        ("try: from a import d\nexcept ImportError: pass\n", False),
        ('"""\nfrom a import d\n"""\n', False),
        ("x = 'from a import d'\n# from a import d\n", True),
        ("from a import *\nd = important\n", True),
    ],
)
def test_imports_in_all_forms(text: str, known: bool) -> None:
    found = imports(text.encode(), "d")
    assert (found is not None) == known
    assert found is None or found == surveyed(text).get("d", [])


def test_a_class_is_called_long_only_if_it_is() -> None:
    long = 0
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name, (wanted, *others) in parts(text).items():
            body = wanted[wanted.index(f" {name}") :]
            is_long = not others and f"class {name}" in wanted and body.count("\n") > 20
            assert is_long_class(text.encode(), name, 20) == is_long, f"{path}: {name}"
            long += is_long
    assert long > 30


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("    a = 1\n" * 3, True),
        ("    a = 1\n" * 2, False),
        ("    a = 1\n    # aside\n    # aside\n", False),
        ("    a = 1\n\n\n\nb = 2\ndef f():\n    return 1\n", False),
        ('    """\ntext\n    """\n    a = 1\n', False),
        ("    a = 1\n\n# at the margin\n    b = 2\n", True),
    ],
)
def test_how_long_a_class_is(rest: str, expected: bool) -> None:
    assert is_long_class(f"x = 1\nclass Wanted:\n{rest}".encode(), "Wanted", 2) == expected


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_nothing_of_a_definition_is_left_out(text: str) -> None:
    assert "wanted" in parts(text)
    check(text)


def test_nothing_is_left_out_in_this_package() -> None:
    for path in ROOT.rglob("*.py"):
        check(path.read_text())


def test_it_ends_where_the_next_statement_begins() -> None:
    data = b"x = 1\n\ndef wanted():\n    return {}\n\ny = kwargs\n"
    assert list(definitions(data, "wanted")) == [b"def wanted():\n    return {}\n\n"]


def test_a_name_that_is_not_defined_at_the_margin() -> None:
    assert (
        list(definitions(b"class A:\n    def wanted(self): pass\nwanted2 = 1\ndef wanted2(): pass\n", "wanted")) == []
    )
