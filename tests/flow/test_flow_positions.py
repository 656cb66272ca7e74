"""Where nodes stand: what pairing with `ast` says is what libcst's own provider says, on real files."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from driftwatch.flow import positions
from driftwatch.flow.children import children, walk
from driftwatch.flow.positions import Positions

LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES = (
    "abc.py",
    "ast.py",
    "asyncio/base_events.py",
    "contextlib.py",
    "dataclasses.py",
    "functools.py",
    "graphlib.py",
    "json/decoder.py",
    "textwrap.py",
    "tokenize.py",
)
"""Real code of many styles, with decorators, comprehensions, starred arguments and formatted strings."""


def provided(module: cst.Module) -> dict[cst.CSTNode, positions.Span]:
    ranges = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {node: (r.start.line, r.start.column, r.end.line, r.end.column) for node, r in ranges.items()}


@pytest.mark.parametrize("name", FILES)
def test_every_position_is_the_providers(name: str) -> None:
    text = (LIBRARY / name).read_text(encoding="utf-8")
    module = cst.parse_module(text)
    expected = provided(module)
    found = Positions(module, text)
    nodes = [n for n in walk(module) if isinstance(n, tuple(positions.PAIRED))]
    assert len(nodes) > 10
    wrong = [(type(n).__name__, found.span(n), expected[n]) for n in nodes if found.span(n) != expected[n]]
    assert not wrong


@pytest.mark.parametrize("name", FILES)
def test_the_provider_is_hardly_ever_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of formatted strings, pairing answers for every call, attribute, import, argument and definition."""
    text = (LIBRARY / name).read_text(encoding="utf-8")
    module = cst.parse_module(text)
    monkeypatch.setattr(Positions, "_provide", lambda self, node: pytest.fail(f"asked for a {type(node).__name__}"))
    found = Positions(module, text)
    for node in walk(module, skip=(cst.FormattedString,)):
        if isinstance(node, (cst.Call, cst.ImportAlias, cst.FunctionDef, cst.ClassDef, cst.ExceptHandler)):
            found.span(node)


TRICKY = (
    "x = 'größe'; comm.f(ä=1, **b)\n",
    "@d(1)\n@e.f\nclass A(B, metaclass=C): x: int = f(y)\n",
    "async def f(a=g(1)) -> h(2):\n    async with a(b) as c, d(e): await f(*a, **b)\n",
    "f(g)(h)(i).j.k[l](m)\n",
    "print(f'{a.b(c.d)!r:>{w(1)}}', x.y(1))\n",
    "(a\n .b(c,\n    d=e)\n .f())\n",
    "try: f()\nexcept A.b as c: pass\nexcept (D, E): pass\nelse: g()\n",
    "import a.b.c as d, e\nfrom . import (f as g,\n  h)\nfrom i import *\n",
    "{a(1): b(2), **c(3), 'd': {e: f}}\n",
    "x = [a(i) for i in b(1) if c(i)] + [*d(2)]\n",
    "lambda a=b(1), *c, d=e(2): f(a)\n",
    "f(a)if g(b)else h(c)\n",
    "x[a(1):b(2), c(3)] = d(4)\n",
    "def f(): # comment\n\tg(1)\n\n\th(2)\n",
    "x = '''\n''' ; f(1); \\\n  g(2)\n",
)


@pytest.mark.parametrize("text", TRICKY)
def test_small_programs_with_everything_in_one_line(text: str) -> None:
    module = cst.parse_module(text)
    expected = provided(module)
    found = Positions(module, text)
    for node in walk(module):
        assert found.span(node) == expected[node], type(node).__name__


@pytest.mark.parametrize(
    "text",
    [
        "def f(: pass\n",  # no Python at all: what libcst would not have parsed either
        "x = f(a)\n\x0cy = g(b)\n",
    ],
)
def test_what_ast_cannot_parse_is_asked_of_the_provider(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = cst.parse_module("x = f(a)\ny = g(b)\n")

    def refuse(source: str) -> None:
        raise SyntaxError(source)

    monkeypatch.setattr(positions.ast, "parse", refuse)
    found, expected = Positions(module, text), provided(module)
    assert {n: found.span(n) for n in walk(module)} == {n: expected[n] for n in walk(module)}


@pytest.mark.parametrize("name", FILES)
def test_children_are_in_the_order_of_the_source_and_none_is_left_out(name: str) -> None:
    module = cst.parse_module((LIBRARY / name).read_text(encoding="utf-8"))
    places = provided(module)
    for node in walk(module):
        below = list(children(node))
        shown = [places[child] for child in below if child in places and places[child][:2] != places[child][2:]]
        assert shown == sorted(shown), type(node).__name__
        kept = {id(child) for child in below}
        for child in node.children:
            if isinstance(child, MEANT):
                assert id(child) in kept, (type(node).__name__, type(child).__name__)


MEANT = (
    cst.BaseExpression,
    cst.BaseStatement,
    cst.BaseSmallStatement,
    cst.BaseSuite,
    cst.BaseElement,
    cst.BaseDictElement,
    cst.Arg,
    cst.Param,
    cst.ExceptHandler,
    cst.CompFor,
    cst.CompIf,
    cst.ImportAlias,
    cst.AsName,
)
"""What an expression or a statement can be found in."""


def test_dotted_imports_among_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an import calls a module is no attribute of anything, to `ast`."""
    text = "import a.b.c as d, e.f\nfrom g.h import i\nfrom .j.k import (l as m)\nfrom . import n\nx = d.o(e.f.p).q\n"
    module = cst.parse_module(text)
    expected = provided(module)
    monkeypatch.setattr(Positions, "_provide", lambda self, node: pytest.fail(f"asked for a {type(node).__name__}"))
    found = Positions(module, text)
    attributes = [node for node in walk(module.body[-1]) if isinstance(node, cst.Attribute)]
    assert [found.span(node) for node in attributes] == [expected[node] for node in attributes]
    assert len(attributes) == 4
