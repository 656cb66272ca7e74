"""Syntax made of what `ast` says is what libcst's parser makes, and stands where its provider says: on real files."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from driftwatch.flow.syntax import concrete, positions, syntax
from driftwatch.flow.syntax.children import children, walk
from driftwatch.flow.syntax.syntax import Tree, parse
from driftwatch.system.python_text import SourceError

LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES = (
    "abc.py",
    "ast.py",
    "asyncio/base_events.py",
    "asyncio/streams.py",
    "bdb.py",
    "collections/__init__.py",
    "contextlib.py",
    "dataclasses.py",
    "enum.py",
    "functools.py",
    "graphlib.py",
    "json/decoder.py",
    "pathlib.py",
    "statistics.py",
    "textwrap.py",
    "tokenize.py",
    "traceback.py",
)
"""Real code of many styles, with decorators, comprehensions, starred arguments and formatted strings."""

FOUND = tuple(name for name in FILES if (LIBRARY / name).exists())

TRICKY = (
    "x = 'größe'; comm.f(ä=1, **b)\n",
    "@d(1)\n@e.f\nclass A(B, *C, metaclass=D, **E): x: int = f(y)\n",
    "async def f(a=g(1), /, b: h = 2, *, c, d=3, **e) -> h(2):\n    async with a(b) as c, d(e): await f(*a, **b)\n",
    "def f(a, b=1, *args: int, c=2, d): return\n",
    "f(g)(h)(i).j.k[l](m)\n",
    "f(*a, b=1, *c, **d, e=2)\n",
    "print(f'{a.b(c.d)!r:>{w(1)}}', x.y(1))\n",
    "print('a' f'{b(1)}' 'c'\n  f'{d[e]:{f}}{g=}', h)\n",
    "(a\n .b(c,\n    d=e)\n .f())\n",
    "try: f()\nexcept A.b as c: pass\nexcept (D, E): pass\nexcept: raise F from g(1)\nelse: g()\nfinally: h()\n",
    "import a.b.c as d, e\nfrom . import (f as g,\n  h)\nfrom i import *\nfrom ..j.k import l\n",
    "{a(1): b(2), **c(3), 'd': {e: f}, **{}}\n",
    "x = [a(i) for i in b(1) if c(i) if d for j in i] + [*d(2)]\ny = {i: j for i, j in k}\nz = {*a, 'b' 'c'}\n",
    "async def f():\n    return [x async for x in y], (z for z in w)\n",
    "lambda a=b(1), /, *c, d=e(2), **f: f(a)\n",
    "f(a)if g(b)else h(c)\n",
    "x[a(1):b(2), c(3)] = d(4)\nx[a] = x[a, b] = x[(a, b)] = x[::2]\nx[:, None]\n",
    "def f(): # comment\n\tg(1)\n\n\th(2)\n",
    "x = '''\n''' ; f(1); \\\n  g(2)\n",
    "if a: b\nelif c: d\nelse:\n    if e: f()\nif a: b\nelse:\n    if c: d\n    g()\n",
    "while a < b <= c is not d not in e: break\nelse: f()\nfor a, *b in c, d: continue\nelse: g()\n",
    "with a: pass\nwith (b as c, d as (e, f)): pass\nassert a, b\nassert c\n",
    "del a\ndel a, b[c]\ndel (d)\n",
    "a = b = c, d\na: int\nb: 'str' = c\nd += 1; e |= f; g @= h\n",
    "def f():\n    global a, b\n    def g():\n        nonlocal c; yield\n        x = yield a\n        yield from d\n",
    "not a and b or c and (d or e)\n-1 ** ~a + +b\na @ b // c % d << e >> f & g ^ h | i\n(x := y)\n",
    "1_000, 0xFF, 1e3, 1e999, 2j, 0o17, b'a' b'b', r'\\d', ..., None, True, 'a' \"b\", '\\N{BULLET}'\n",
    "match a, b:\n    case 1 | -2 | 3 + 4j: c\n    case None | True: d\n    case [e, (f, *_), *g]: h\n    case {}: u\n",
    "match a:\n    case {'i': j, **k} if l: m\n    case n.o(p, q=r) as s: t\n    case 'v' 'w': x\n    case _: y\n",
    "class A:\n    '''Text.'''\n    @b\n    def c(self): return self\n    class D:\n        async def e(self): f\n",
    "*a, b = c, *d\nfor e in *f, g: h\ndel [i, j]\n",
    "async def \\\n  f(): pass\nclass  A : pass\n",
    "123456789012345678901234567890, 0x" + "f" * 5000 + "\n",
    "",
    "# nothing\n",
)

if sys.version_info >= (3, 12):
    TRICKY += (
        "type A[T] = dict[str, T]\ntype B = A[int] | f(1)\n",
        "def f[T: int](x: T) -> T: return g(x)\nclass A[T, *U, **V](B[T]): pass\n",
        "print(f'{a['b']!r} {c(f'{d(1)}')}')\n",
    )
if sys.version_info >= (3, 14):
    TRICKY += ("t'{a(b)!r:>{c(1)}} d {e=}'\n",)


def whole(text: str) -> Tree:
    """A tree with the bodies that were left out put where they belong."""
    tree = parse("a.py", text)
    assert tree.concrete is not None
    waiting = [node for node in walk(tree.module) if isinstance(node, cst.FunctionDef)]
    for node in waiting:
        body = tree.body(node)
        object.__setattr__(node, "body", body)
        waiting.extend(inner for inner in walk(body) if isinstance(inner, cst.FunctionDef))
    return tree


def shape(node: cst.CSTNode) -> object:
    """All that a node says but for its layout; what can be written in two ways is the same."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)):
        return text_of(node)
    if isinstance(node, (cst.Integer, cst.Float, cst.Imaginary)):
        return "number", ast.literal_eval(node.value)
    if isinstance(node, cst.BaseSuite):
        return "block", *(shape(each) for each in flat(node.body))
    if isinstance(node, cst.If):
        orelse = node.orelse
        if isinstance(orelse, cst.Else):
            inner = flat(orelse.body.body)
            orelse = inner[0] if len(inner) == 1 and isinstance(inner[0], cst.If) else orelse
        return "if", shape(node.test), shape(node.body), None if orelse is None else shape(orelse)
    if isinstance(node, cst.Subscript):
        parts: tuple[object, ...] = tuple(shape(part) for part in node.slice)
        if all(isinstance(part.slice, cst.Index) and part.slice.star is None for part in node.slice):
            parts = tuple(shape(part) for part in syntax.subscript_parts(node))
        return "subscript", shape(node.value), parts
    if isinstance(node, cst.Del) and isinstance(node.target, cst.Tuple) and len(node.target.elements) == 1:
        return "del", shape(node.target.elements[0].value)
    kind = "sequence" if isinstance(node, cst.MatchSequence) else type(node).__name__
    passed_over = (cst.ParamSlash, cst.TypeParameters, *((cst.BitOr,) if isinstance(node, cst.MatchOrElement) else ()))
    below = [each for each in children(node) if not isinstance(each, passed_over)]
    if isinstance(node, cst.Module):
        below = flat(below)
    plain = node.value if isinstance(node, cst.Name) else getattr(node, "star", None)
    here = kind, plain if isinstance(plain, str) else "", len(getattr(node, "relative", ()))
    return *here, *(shape(each) for each in below)


def flat(nodes: object) -> list[cst.CSTNode]:
    """Statements one by one, whether they share a line or not."""
    return list(syntax.statements(nodes))  # type: ignore[arg-type]


def text_of(node: cst.CSTNode) -> object:
    """A string by its value; a formatted one by what it formats."""
    pieces = list(literals(node))
    if any(isinstance(piece, cst.FormattedString) for piece in pieces):
        return "formatted", *(part for piece in pieces for part in formatted(piece))
    values = [piece.evaluated_value for piece in pieces if isinstance(piece, cst.SimpleString)]
    joined = values[0]
    for value in values[1:]:
        joined = joined + value  # type: ignore[operator]
    return "text", joined


def literals(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.ConcatenatedString):
        yield from literals(node.left)
        yield from literals(node.right)
    else:
        yield node


def formatted(node: cst.CSTNode) -> Iterator[object]:
    for part in node.parts if isinstance(node, cst.FormattedString) else ():
        if isinstance(part, cst.FormattedStringExpression):
            spec = [shape(each) for each in part.format_spec or () if isinstance(each, cst.FormattedStringExpression)]
            # ``{a=}`` shows how a value would be written, but where it says how to format it.
            shows = part.equal is not None and part.format_spec is None
            yield shape(part.expression), part.conversion or ("r" if shows else None), spec


def provided(module: cst.Module) -> dict[cst.CSTNode, positions.Span]:
    ranges = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {node: (r.start.line, r.start.column, r.end.line, r.end.column) for node, r in ranges.items()}


@pytest.mark.parametrize("text", TRICKY)
def test_small_programs_are_what_libcst_makes_of_them(text: str) -> None:
    assert shape(whole(text).module) == shape(cst.parse_module(text))


@pytest.mark.parametrize("name", FOUND)
def test_real_files_are_what_libcst_makes_of_them(name: str) -> None:
    text = (LIBRARY / name).read_text(encoding="utf-8")
    tree, expected = whole(text), cst.parse_module(text)
    for mine, theirs in zip(flat(tree.module.body), flat(expected.body), strict=True):
        assert shape(mine) == shape(theirs)


LOCATED = (
    cst.Call, cst.Attribute, cst.ImportAlias, cst.ExceptHandler, cst.FunctionDef, cst.ClassDef, cst.DictElement,
    cst.Subscript,
)  # fmt: skip
"""What findings and the steps that lead to them stand at, and keywords besides."""


def places(tree: Tree, expected: cst.Module) -> tuple[list[object], list[object]]:
    """Where the nodes of interest stand, as they are known here and as the provider says."""
    known = positions.Positions(tree.module, tree.text, tree.concrete.origins if tree.concrete is not None else None)
    spans = provided(expected)
    mine: list[object] = [(type(node), shown(node, known.span(node))) for node in interesting(tree.module)]
    theirs: list[object] = [(type(node), shown(node, spans[node])) for node in interesting(expected)]
    return mine, theirs


def shown(node: cst.CSTNode, span: positions.Span) -> tuple[int, ...]:
    """An element of a dict may end with a parenthesis of which `ast` knows nothing; only its line is ever shown."""
    return span[:2] if isinstance(node, cst.DictElement) else span


def interesting(module: cst.Module) -> Iterator[cst.CSTNode]:
    # The dotted name of an import is no expression to `ast`.
    dotted = {
        part for node in walk(module) if isinstance(node, (cst.ImportFrom, cst.ImportAlias)) for part in walk(node)
    }
    for node in walk(module):
        if isinstance(node, cst.ImportAlias) or node not in dotted:
            if isinstance(node, LOCATED) or (isinstance(node, cst.Arg) and node.keyword is not None):
                yield node
            if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
                yield node.name


@pytest.mark.parametrize("text", TRICKY)
def test_small_programs_stand_where_the_provider_says(text: str) -> None:
    mine, theirs = places(whole(text), cst.parse_module(text))
    assert mine == theirs


@pytest.mark.parametrize("name", FOUND[:8])
def test_real_files_stand_where_the_provider_says(name: str) -> None:
    text = (LIBRARY / name).read_text(encoding="utf-8")
    mine, theirs = places(whole(text), cst.parse_module(text))
    assert mine == theirs
    assert len(mine) > 10


@pytest.mark.parametrize("text", [*TRICKY, *(name for name in FOUND[:6])])
def test_every_node_stands_somewhere(text: str) -> None:
    tree = whole((LIBRARY / text).read_text(encoding="utf-8") if text in FOUND else text)
    lines = tree.text.split("\n")
    for node in walk(tree.module):
        if not isinstance(node, UNPLACED):
            location = tree.location(node)
            assert 1 <= location.line <= location.end_line <= len(lines), type(node).__name__


UNPLACED = (cst.BaseUnaryOp, cst.BaseBinaryOp, cst.BaseBooleanOp, cst.BaseCompOp, cst.BaseAugOp, cst.Asynchronous)
"""Operators and the like, of which one node serves for all places."""


def test_a_body_is_made_when_it_is_asked_for() -> None:
    tree = parse("a.py", "def f(x):\n    def g(): return x\n    return g(1)\nclass A:\n    def h(self): return f(2)\n")
    assert [node for node in walk(tree.module) if isinstance(node, cst.Call)] == []
    function = next(node for node in walk(tree.module) if isinstance(node, cst.FunctionDef))
    body = tree.body(function)
    assert tree.body(function) is body
    (call,) = (node for node in walk(body) if isinstance(node, cst.Call))
    assert (tree.location(call).line, tree.location(call).column) == (3, 12)
    inner = next(node for node in walk(body) if isinstance(node, cst.FunctionDef))
    assert tree.body(inner) is inner.body


ONLY_PARSED = ("*a.b(c)\n", "x = *a.b(c)\n", "def f():\n    return lambda: (yield *a.b(c), 1)\n")
"""What `ast` takes and the compiler does not."""


@pytest.mark.parametrize("text", ONLY_PARSED)
def test_what_no_python_executes_is_syntax_all_the_same(text: str) -> None:
    tree = whole(text)
    assert any(isinstance(node, cst.Call) for node in walk(tree.module))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python does not know the syntax")
def test_an_annotation_of_any_number_of_types() -> None:
    text = "def f(*args: *a.b[c]): pass\n"
    assert shape(whole(text).module) == shape(cst.parse_module(text))


def refuse(text: str) -> None:
    raise SyntaxError(text)


@pytest.mark.parametrize("text", TRICKY)
def test_what_ast_cannot_parse_is_parsed_by_libcst(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax.ast, "parse", refuse)
    tree = parse("a.py", text)
    assert tree.concrete is None
    assert tree.module.deep_equals(cst.parse_module(text))
    spans = provided(tree.module)
    known = positions.Positions(tree.module, text, None)
    assert {node: known.span(node) for node in walk(tree.module)} == {n: spans[n] for n in walk(tree.module)}
    for node in walk(tree.module):
        if isinstance(node, cst.FunctionDef):
            assert tree.body(node) is node.body


def test_every_kind_of_node_of_this_python_is_known() -> None:
    if sys.version_info < (3, 15):
        assert not concrete.UNSUPPORTED


def test_what_is_not_known_yet_is_parsed_by_libcst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concrete, "UNSUPPORTED", frozenset({ast.Lambda}))
    tree = parse("a.py", "f(lambda: 1)\n")
    assert tree.concrete is None
    assert any(isinstance(node, cst.Lambda) for node in walk(tree.module))
    assert parse("a.py", "f(1)\n").concrete is not None


def test_what_is_no_python_is_an_error_with_its_line() -> None:
    with pytest.raises(SourceError) as caught:
        parse("a.py", "x = 1\nprint 'x'\n", 10)
    assert caught.value.line == 12


@pytest.mark.parametrize("name", FOUND[:10])
def test_children_are_in_the_order_of_the_source_and_none_is_left_out(name: str) -> None:
    module = cst.parse_module((LIBRARY / name).read_text(encoding="utf-8"))
    spans = provided(module)
    for node in walk(module):
        below = list(children(node))
        shown = [spans[child] for child in below if child in spans and spans[child][:2] != spans[child][2:]]
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
