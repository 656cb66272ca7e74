"""Passages: what stands at a place stays the same when it moves or is laid out anew, and only then."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.findings.passages import Passage, Passages
from driftwatch.flow.uses import Location
from tests.conftest import ROOT


def passages(text: str) -> Passages:
    return Passages(lambda path: text.split("\n"))


def passage(text: str, part: str, path: str = "a.py") -> Passage:
    """The passage of a part of the text."""
    begin = text.index(part)
    end = begin + len(part)
    line, last = (text.count("\n", 0, place) + 1 for place in (begin, end))
    column, end_column = (place - (text.rfind("\n", 0, place) + 1) + 1 for place in (begin, end))
    return passages(text).at(Location(path, line, column, last, end_column))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b=1)", "f(\n        a,\n        b=1,\n    )"),
        ("f(a, b=1)", "f( a,b = 1 )"),
        ("f(a, b=1)", "f(a,  # why\n      b=1)"),
        ("f(a, b=1)", "f(a, \\\n      b=1)"),
        ('f("a", b"c", r"d")', "f('a', B'c', R'd')"),
        ('f("a")', "f(u'a')"),
    ],
)
def test_layout_is_no_part_of_it(one: str, other: str) -> None:
    text = "def g():\n    {}\n"
    assert passage(text.format(one), one) == passage(text.format(other), other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b=1)", "f(a, b=2)"),
        ("f(a, b)", "f(ab)"),
        ("f(a, b)", "f(b, a)"),
        ('f("a")', 'f(b"a")'),
        ('f("#a")', 'f("#b")'),
        ("""f('"')""", """f("'")"""),
        ("f('a b')", "f('a  b')"),
        ("not a", "nota"),
    ],
)
def test_what_is_said_is(one: str, other: str) -> None:
    assert passage(one, one).text != passage(other, other).text


def test_of_a_definition_only_the_header_counts() -> None:
    text = "class A(\n    Base,\n):\n    x = 1\n\n    def f(self):\n        pass\n"
    assert passage(text, text.rstrip()) == Passage("A", "class A ( Base ) :")


def test_what_is_no_python_has_no_definitions() -> None:
    assert passage("class x\n  lib==1.0 \n", "lib==1.0", "requirements.txt") == Passage("", "lib = = 1 . 0")


def test_a_file_that_cannot_be_read_any_more_has_empty_passages() -> None:
    gone = Passages(lambda path: None)
    assert gone.at(Location("a.py", 3, 1, 3, 9)) == Passage()
    assert gone.scope("a.py", 3) == ""


DECORATED = "@mark(lib.x)\n# why\n@again\ndef f(a=lib.y):\n    return lib.z\n\n\nw = lib.w\n"


@pytest.mark.parametrize(
    ("part", "scope"), [("lib.x", "f"), ("again", "f"), ("lib.y", "f"), ("lib.z", "f"), ("lib.w", "")]
)
def test_a_decorator_belongs_to_its_function(part: str, scope: str) -> None:
    assert passage(DECORATED, part).scope == scope


def test_an_open_bracket_swallows_no_definition() -> None:
    text = "x = (\n\n\ndef f():\n    lib.z\n"
    assert passage(text, "lib.z").scope == "f"


def test_brackets_and_definitions_in_strings_are_none() -> None:
    text = 'x = "("\ny = """\nclass No:\n    def no(self): [\n"""\n\n\ndef f():\n    z = \'\\\'{\'\n    lib.z\n'
    assert passage(text, "lib.z").scope == "f"


def named(node: ast.AST, names: tuple[str, ...] = ()) -> Iterator[tuple[int, str]]:
    """Every statement's line, and the definition it is in or begins."""
    for child in ast.iter_child_nodes(node):
        inside = names
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = (*names, child.name)
        if isinstance(child, ast.stmt):
            yield child.lineno, ".".join(inside)
        yield from named(child, inside)


def test_scopes_are_those_of_the_syntax_tree() -> None:
    statements = 0
    for path in sorted([*(ROOT / "driftwatch").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        found = passages(text)
        for line, scope in named(ast.parse(text)):
            statements += 1
            assert found.scope("a.py", line) == scope, f"{path}:{line}"
    assert statements > 10_000


@given(
    st.lists(st.sampled_from([*"ab(){}[]'\"\\#,\n :@f", "def f"])).map("".join), st.integers(1, 9), st.integers(1, 9)
)
def test_any_text_has_passages(text: str, line: int, column: int) -> None:
    place = Location("a.py", line, column, line + 1, column)
    assert passages(text).at(place) == passages(text).at(place)
