"""The text of a file's top-level definitions, found without parsing it.

Enters: a file's bytes, and a name. Leaves: for each definition of that name its lines, decorators included. Where the
text alone does not say where one ends, it is more than that, never less: enough to tell that a definition does not hold
a word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from driftwatch.flow.sources.first_look import import_lines
from driftwatch.flow.syntax.survey import Import, imported_by

_MARGIN = re.compile(rb"^[^\s#)\]}]", re.MULTILINE)
"""A line that stands at the margin begins a statement, but within a bracket or a longer string."""

_INDENTED = re.compile(rb"^[ \t]+[^\s#]", re.MULTILINE)

_BEFORE_NAME = re.compile(rb"(?:async[ \t]+def|def|class)[ \t]+")
_WORD_GOES_ON = re.compile(rb"[\w\x80-\xff]")

_QUOTES = (b'"""', b"'''")


def definitions(data: bytes, name: str) -> Iterator[bytes]:
    """The text of each top-level function or class of this name."""
    for start, end in heads(data, name):
        yield data[_first(data, start) : _end(data, end)]


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class, from its first decorator to its last line."""

    text: str
    is_class: bool

    @property
    def lines(self) -> int:
        """How many lines it has after the first."""
        return self.text.count("\n")


def definition(data: bytes, name: str) -> Definition | None:
    """The one top-level function or class of this name; None where more than its own text is needed to tell."""
    found = list(definitions(data, name))
    if len(found) != 1:
        return None
    try:
        text = found[0].decode().replace("\r\n", "\n").replace("\r", "\n")
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            lines = text.split("\n")[first - 1 : node.end_lineno]
            return Definition("\n".join(lines), isinstance(node, ast.ClassDef))
    return None


def assigned(data: bytes, name: str) -> ast.expr | None:
    """What the one statement that binds a name assigns to it, at top level; None where more than that may bind it."""
    found: tuple[int, int] | None = None
    word = name.encode("utf-8", "surrogateescape")
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        if not _WORD_GOES_ON.match(data, end) and not (at and _WORD_GOES_ON.match(data, at - 1)):
            start = data.rfind(b"\n", 0, at) + 1
            if _BINDS_BEFORE.search(data, start, at):
                return None
            if _ASSIGNS.match(data, end):
                if found is not None or start != at:
                    return None
                found = at, end
        at = data.find(word, end)
    if found is None or _in_a_string(data[: found[0]]) or any(word in data for word in _BY_NAME):
        return None
    try:
        body = ast.parse(data[found[0] : _end(data, found[1])].decode()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    statement = body[0] if body else None
    return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None


_BINDS_BEFORE = re.compile(rb"\b(?:as|class|def|del|for|global|nonlocal)[ \t]+(?:[\w, \t]*,[ \t]*)?\Z")
_ASSIGNS = re.compile(rb"[ \t]*(?::[^=\n]*=(?!=)|:=|[-+*/|&^%]?=(?!=))")
_BY_NAME = (b"globals()", b"vars()", b"locals()[")


def is_long_class(data: bytes, name: str, lines: int) -> bool:
    """Whether the one top-level definition of this name is a class that goes on for more lines, as its layout shows."""
    places = list(heads(data, name))
    if len(places) != 1 or not data.startswith(b"class", places[0][0]):
        return False
    start = places[0][0]
    for _ in range(lines + 1):
        start = data.find(b"\n", start) + 1
        if not start:
            return False
    # What is indented belongs to it, as long as no statement has begun at the margin.
    margin = _MARGIN.search(data, places[0][1])
    inside = _INDENTED.search(data, start)
    return inside is not None and (margin is None or inside.start() < margin.start())


def imports(data: bytes, name: str) -> list[Import] | None:
    """The imports that bind a name, wherever they stand; None where the file has to be parsed to tell."""
    word = name.encode("utf-8", "surrogateescape")
    found: list[Import] = []
    for start, end in import_lines(data):
        if data.find(word, start, end) < 0:
            continue
        if _in_a_string(data[:start]):
            return None
        try:
            tree = ast.parse(data[start:end].decode().replace("\r", "").strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found += [item for item in imported_by(node) if item.bound == name]
    return found


def heads(data: bytes, name: str) -> Iterator[tuple[int, int]]:
    """Where each top-level function or class of this name begins, and where its name ends."""
    # A pattern for each name would take longer to make than to use.
    word = name.encode("utf-8", "surrogateescape")
    at = data.find(word)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, at + len(word)
        if _BEFORE_NAME.fullmatch(data, start, at) and not _WORD_GOES_ON.match(data, end):
            yield start, end
        at = data.find(word, end)


def _end(data: bytes, start: int) -> int:
    end = start
    while end < len(data):
        found = _MARGIN.search(data, end + 1)
        end = found.start() if found is not None else len(data)
        text = data[start:end]
        if not _in_a_string(text) and not text.rstrip().endswith(b"\\"):
            break
    return end


def _in_a_string(text: bytes) -> bool:
    """Whether what begins or ends here may be in the middle of a longer string."""
    return any(text.count(quotes) % 2 for quotes in _QUOTES)


def _first(data: bytes, start: int) -> int:
    """Where its decorators begin."""
    while start:
        before = data[:start].rstrip()
        last = before[before.rfind(b"\n") + 1 :]
        if not (last.startswith(b"@") or last.endswith((b")", b"]", b"}", b"'", b'"')) or b"#" in last):
            break
        # The last line of a decorator, or what looks like it.
        above = before.rfind(b"\n") + 1
        while above and (not _MARGIN.match(data, above) or _in_a_string(data[above:start])):
            above = data.rfind(b"\n", 0, above - 1) + 1
        start = above
        if not data.startswith(b"@", above):
            break
    return start
