"""Bytes to text as Python reads them, and the cheap survey of a file's top-level pieces."""

from __future__ import annotations

import ast
import codecs
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.flow.syntax.survey import Import, survey
from driftwatch.system.python_text import SourceError, decode

LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1\n", "x = 1\n"),
        (b"x\r\ny\rz\n", "x\ny\nz\n"),
        (codecs.BOM_UTF8 + b"x\n", "x\n"),
        ("größe = 1\n".encode(), "größe = 1\n"),
        ("# -*- coding: latin-1 -*-\nx = 'ä'\n".encode("latin-1"), "# -*- coding: latin-1 -*-\nx = 'ä'\n"),
        ("#!/bin/python\n# vim: set fileencoding=cp1252 :\n'€'".encode("cp1252"), None),
        ("# coding: shift_jis\n'日本'".encode("shift_jis"), None),
        (b"x = 1\x0c\ny = 2\x0b\n", "x = 1\x0c\ny = 2\x0b\n"),
        # What names the encoding stands behind bytes that only it explains, or behind other ends of lines.
        (b"# \xe4\n# coding: latin-1\nx = '\xe4'\n", "# ä\n# coding: latin-1\nx = 'ä'\n"),
        (b"#" + b"\xe4" * 9000 + b" coding: latin-1\nx = '\xe4'\n", "#" + "ä" * 9000 + " coding: latin-1\nx = 'ä'\n"),
        (b"# coding: latin-1\rx = '\xe4'\r", "# coding: latin-1\nx = 'ä'\n"),
        (b"\r# coding: latin-1\rx = '\xe4'\r", "\n# coding: latin-1\nx = 'ä'\n"),
        (b"\r\n# coding: latin-1\r\nx = '\xe4'\r\n", "\n# coding: latin-1\nx = 'ä'\n"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\nx = '\xc3\xa4'\n", "# coding: utf-8\nx = 'ä'\n"),
        (codecs.BOM_UTF8 + b"\n# coding: utf_8\nx = '\xc3\xa4'\n", "\n# coding: utf_8\nx = 'ä'\n"),
    ],
)
def test_text(data: bytes, text: str | None) -> None:
    found = decode(data)
    assert found == (text if text is not None else found)
    compile(found.replace("\x0b", ""), "f", "exec")
    assert ast.dump(ast.parse(found.replace("\x0b", ""))) == ast.dump(ast.parse(data.replace(b"\x0b", b"")))
    assert "€" in found or "日本" in found or text is not None


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"a\nb\0c\n", 2, "null bytes"),
        (b"a = 1\nb = '\xff'\n", 2, "not valid utf-8"),
        (b"# coding: ascii\n\nx = '\xe4'", 3, "not valid ascii"),
        (b"# coding: no-such-encoding\n", None, "encoding is 'no-such-encoding', which Python does not have"),
        (b"# coding: rot13\n", None, "encoding is 'rot13', which is no encoding of text"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", None, "name different encodings"),
        (codecs.BOM_UTF8 + b"\n# coding: latin-1\n", None, "name different encodings"),
        (b"# one\n# two\n# coding: latin-1 \xe4\n", 3, "not valid utf-8"),
        (b"x = 1\n# coding: latin-1 \xe4\n", 2, "not valid utf-8"),
        (b"# coding: rot13\nx = 1\n", None, "encoding"),
        (b"# coding: hex\nx = 1\n", None, "encoding"),
        ("x = 1\n".encode("utf-16"), 1, "null bytes"),
    ],
)
def test_what_is_no_text_of_python(data: bytes, line: int | None, message: str) -> None:
    with pytest.raises(SourceError, match=message) as refused:
        decode(data)
    if line is not None:
        assert refused.value.line == line
    assert "\n" not in refused.value.message


def attempt(read: Callable[[], object]) -> object:
    """What is read, or why it is not."""
    try:
        return read()
    except SourceError as error:
        return error


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_a_reason(data: bytes) -> None:
    found = attempt(lambda: decode(data))
    if isinstance(found, SourceError):
        assert found.message
    else:
        assert isinstance(found, str)
        assert not {"\r", "\0"} & set(found)


CODINGS = [b"utf-8", b"latin-1", b"ascii", b"utf-7", b"utf-16", b"idna", b"punycode", b"base64", b"undefined", b"mbcs"]


@given(st.sampled_from(CODINGS), st.binary(max_size=80))
def test_any_declared_encoding(coding: bytes, data: bytes) -> None:
    found = attempt(lambda: decode(b"# -*- coding: " + coding + b" -*-\n" + data))
    assert isinstance(found, str) or (isinstance(found, SourceError) and found.message)


def test_pieces() -> None:
    found = survey(
        "import a.b, c as d\n"
        "from ..e import (f as g,\n    h)\n"
        "x = y(z.w, 'text'); q = 1\n"
        "@deco\n"
        "@other(1)\n"
        "def fun(p=default):\n    global counter\n    counter = 1\n"
        "class Cls(Base):\n    attribute = 1\n"
        "if x: t = 1\n"
    )
    assert found is not None
    imports, froms, small, function, klass, test = found.pieces
    assert imports.imports == [Import("a.b", None, "a"), Import("c", None, "d")]
    assert froms.imports == [Import("e", "f", "g", 2), Import("e", "h", "h", 2)]
    assert (froms.first, froms.last) == (2, 3)
    assert (small.first, small.last) == (4, 4)
    assert small.binds == {"x", "q"}
    assert small.attributes == {"w"}
    assert small.strings == {"text"}
    assert (function.first, function.last, function.defines, function.is_class) == (5, 9, "fun", False)
    assert {"deco", "other", "default", "counter"} <= function.mentions
    assert "counter" in function.binds
    assert (klass.defines, klass.is_class) == ("Cls", True)
    assert {"Base"} <= klass.mentions
    assert test.binds == {"t"}


@pytest.mark.parametrize("name", ["argparse.py", "ast.py", "contextlib.py", "os.py", "unittest/mock.py"])
def test_pieces_are_whole_statements_that_cover_the_file(name: str) -> None:
    text = (LIBRARY / name).read_text(encoding="utf-8")
    found = survey(text)
    assert found is not None
    last = 0
    lines = text.split("\n")
    for piece in found.pieces:
        assert last < piece.first <= piece.last
        last = piece.last
        ast.parse("\n".join(lines[piece.first - 1 : piece.last]))
    covered = {n for p in found.pieces for n in range(p.first, p.last + 1)}
    left = [line for n, line in enumerate(lines, 1) if n not in covered]
    assert all(not line.strip() or line.lstrip().startswith("#") for line in left)


def test_statements_that_share_a_line_are_one_piece() -> None:
    found = survey("x = 1; y = '''\n'''; z = 3\nw = 4\n")
    assert found is not None
    assert [(p.first, p.last, p.binds) for p in found.pieces] == [(1, 2, {"x", "y", "z"}), (3, 3, {"w"})]


def test_what_this_python_cannot_parse_is_for_the_caller_to_parse_in_full() -> None:
    assert survey("def f(:\n") is None
    assert survey("print 'two'\n") is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
def test_newer_syntax_than_this_python_knows() -> None:
    assert survey("type X = int\n") is None


def test_too_deep_for_ast_is_a_reason_or_a_full_parse() -> None:
    deep = attempt(lambda: survey("x = " + "(" * 5000 + ")" * 5000))
    assert deep is None or (isinstance(deep, SourceError) and "deeply" in deep.message)
    with pytest.raises(SourceError, match="deeply"):
        survey("x = " + "-" * 100_000 + "1\n")
