"""What stands at a place of a source file, in words that survive moving and reformatting it.

Enters: places, and the lines of their files. Leaves: the definitions round a place (``Worker.forward``) and its text
without layout, comments and style of quotes. No line number leaves. Nothing is parsed, so that every Python gives the
same answer, for files it cannot read too; what no Python can read gets some answer, and always the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from driftwatch.flow.uses import Location

_STRING = r"""
    \"{3} (?: [^"\\] | \\. | "(?!"") )* (?: \"{3} | \Z )
  | '{3} (?: [^'\\] | \\. | '(?!'') )* (?: '{3} | \Z )
  | " (?: [^"\\\n] | \\. )* (?: " | (?=\n) | \Z )
  | ' (?: [^'\\\n] | \\. )* (?: ' | (?=\n) | \Z )
"""
_MARKS = re.compile(rf"(?P<string>{_STRING}) | \#[^\n]* | \\\n | [\n()\[\]{{}}]", re.VERBOSE | re.DOTALL)
"""All that decides where a logical line ends."""
_LEXEMES = re.compile(
    rf"(?:(?<!\w)(?P<prefix>[A-Za-z]{{1,2}}))? (?P<string>{_STRING}) | \#[^\n]* | \\\n | \w+ | [^\w\s]",
    re.VERBOSE | re.DOTALL,
)
_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")
_CLOSING = frozenset(")]}")


@dataclass(frozen=True, slots=True)
class Passage:
    """`scope` is the dotted name of the definition that a place is in, its own header included; `text` what it says."""

    scope: str = ""
    text: str = ""


class Passages:
    """Passages by place. `lines` gives the lines of a file, and None for one that cannot be read."""

    def __init__(self, lines: Callable[[str], Sequence[str] | None]) -> None:
        self._lines = lines
        self._outlines: dict[str, _Outline] = {}

    def at(self, place: Location) -> Passage:
        """The passage of a place; of one that has several statements in it, the first, which is its header."""
        lines = self._lines(place.path)
        if lines is None:
            return Passage()
        if not place.path.endswith((".py", ".pyi")):
            return Passage("", _plain(_part(lines, place, place.end_line)))
        outline = self._outline(place.path, lines)
        end = min(place.end_line, outline.last_line(place.line))
        return Passage(outline.scope(place.line), _plain(_part(lines, place, end)))

    def scope(self, path: str, line: int) -> str:
        """The definition that a line is in."""
        lines = self._lines(path)
        return "" if lines is None else self._outline(path, lines).scope(line)

    def _outline(self, path: str, lines: Sequence[str]) -> _Outline:
        if path not in self._outlines:
            self._outlines[path] = _Outline("\n".join(lines))
        return self._outlines[path]


class _Outline:
    """The logical lines of a file: where each begins, and the definition it is in."""

    def __init__(self, text: str) -> None:
        self._text = text
        breaks = [(0, 1), *_ends(text)]
        self._offsets = [offset for offset, _ in breaks]
        self._numbers = [number for _, number in breaks]

    def scope(self, line: int) -> str:
        """The definitions round a line, the innermost last."""
        index = self._index(line)
        while index >= 0 and not self._says(index):
            index -= 1
        if index < 0:
            return ""
        names: list[str] = []
        indent, rest = self._line(self._decorated(index))
        definition = _DEFINITION.match(rest)
        if definition:
            names.append(definition[1])
        while indent and index > 0:
            index -= 1
            if not self._says(index):
                continue
            outer, rest = self._line(index)
            if outer < indent:
                indent = outer
                definition = _DEFINITION.match(rest)
                if definition:
                    names.append(definition[1])
        return ".".join(reversed(names))

    def last_line(self, line: int) -> int:
        """The last line before the next logical line that says something."""
        index = bisect_right(self._numbers, line)
        while index < len(self._numbers) and not self._says(index):
            index += 1
        return self._numbers[index] - 1 if index < len(self._numbers) else 1 << 60

    def _index(self, line: int) -> int:
        return bisect_right(self._numbers, line) - 1

    def _decorated(self, index: int) -> int:
        """The definition that a decorator stands above; anything else is itself."""
        following = index
        while following < len(self._offsets):
            if self._says(following) and not self._line(following)[1].startswith("@"):
                break
            following += 1
        if following == index or following == len(self._offsets):
            return index
        return following if _DEFINITION.match(self._line(following)[1]) else index

    def _says(self, index: int) -> bool:
        rest = self._line(index)[1]
        return bool(rest) and not rest.startswith("#")

    def _line(self, index: int) -> tuple[int, str]:
        """The indentation of a logical line, and how it begins: its first line tells."""
        start = self._offsets[index]
        end = self._text.find("\n", start)
        first = self._text[start : end if end >= 0 else len(self._text)]
        rest = first.lstrip(" \t\f")
        return len(first[: len(first) - len(rest)].expandtabs(8)), rest


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """Where the next logical line begins, after each: the offset and the number of its line."""
    depth, line = 0, 1
    for mark in _MARKS.finditer(text):
        found = mark[0]
        if found in ("(", "[", "{"):
            depth += 1
        elif found in _CLOSING:
            depth = max(depth - 1, 0)
        elif found == "\n":
            line += 1
            # A bracket that is never closed must not swallow the rest: no definition begins inside of one.
            if not depth or _DEFINITION.match(text[mark.end() : mark.end() + 200].lstrip(" \t\f")):
                depth = 0
                yield mark.end(), line
        else:
            line += found.count("\n")


def _part(lines: Sequence[str], place: Location, end_line: int) -> str:
    part = list(lines[place.line - 1 : end_line])
    if part and end_line == place.end_line:
        part[-1] = part[-1][: place.end_column - 1]
    if part:
        part[0] = part[0][place.column - 1 :]
    return "\n".join(part)


def _plain(text: str) -> str:
    """The text as its lexemes with one blank between them, but for what only layout needs."""
    words: list[str] = []
    for lexeme in _LEXEMES.finditer(text):
        found = lexeme[0]
        if found.startswith(("#", "\\\n")):
            continue
        if lexeme["string"] is not None:
            found = _string((lexeme["prefix"] or "").lower().replace("u", ""), lexeme["string"])
        if found in _CLOSING and words and words[-1] == ",":
            words.pop()
        words.append(found)
    return " ".join(words)


def _string(prefix: str, quoted: str) -> str:
    body = quoted[1:-1]
    if quoted.startswith("'") and quoted.endswith("'") and not {'"', "'", "\\"} & set(body):
        quoted = f'"{body}"'
    return prefix + quoted
