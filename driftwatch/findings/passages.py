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
from itertools import accumulate

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
        self._passages: dict[Location, Passage] = {}

    def at(self, place: Location) -> Passage:
        """The passage of a place; of one that has several statements in it, the first, which is its header."""
        if place not in self._passages:
            self._passages[place] = self._read(place)
        return self._passages[place]

    def _read(self, place: Location) -> Passage:
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
    """The logical lines of a file: where each begins, and the definition it is in.

    One pass over the file answers for all of its lines, so that many findings in one definition cost no more than few.
    """

    def __init__(self, text: str) -> None:
        breaks = [(0, 1), *_ends(text)]
        self._numbers = [number for _, number in breaks]
        lines = [_line(text, offset) for offset, _ in breaks]
        self._says = [bool(rest) and not rest.startswith("#") for _, rest in lines]
        self._last = list(accumulate((n if says else -1 for n, says in enumerate(self._says)), max))
        """The last line that says something, up to each; -1 for none."""
        self._next = self._following(lines, "#")
        self._scopes: list[tuple[int, str | None]] = []
        """For each logical line, the next one before it that is indented less (-1 for none), and what it defines."""
        self._decorators: dict[int, tuple[int, str | None]] = {}
        """The same of decorators, which belong to the definition below them."""
        undecorated = self._following(lines, "@")
        around: list[int] = []
        for index, (indent, rest) in enumerate(lines):
            if not self._says[index]:
                self._scopes.append((-1, None))
                continue
            below = lines[undecorated[index]] if undecorated[index] < len(lines) else (indent, rest)
            if rest.startswith("@") and (decorated := _DEFINITION.match(below[1])):
                outer = next((line for line in reversed(around) if lines[line][0] < below[0]), -1)
                self._decorators[index] = outer, decorated[1]
            while around and lines[around[-1]][0] >= indent:
                around.pop()
            definition = _DEFINITION.match(rest)
            self._scopes.append((around[-1] if around else -1, definition[1] if definition else None))
            around.append(index)

    def _following(self, lines: Sequence[tuple[int, str]], but: str) -> list[int]:
        """For each logical line, the first from it on that begins otherwise and is not empty; their number for none."""
        found, following = [len(lines)] * (len(lines) + 1), len(lines)
        for index in range(len(lines) - 1, -1, -1):
            if self._says[index] and not lines[index][1].startswith(but):
                following = index
            found[index] = following
        return found

    def scope(self, line: int) -> str:
        """The definitions round a line, the innermost last."""
        index = bisect_right(self._numbers, line) - 1
        index = self._last[index] if index >= 0 else -1
        names: list[str] = []
        decorated = self._decorators.get(index)
        while index >= 0:
            index, name = decorated or self._scopes[index]
            decorated = None
            if name is not None:
                names.append(name)
        return ".".join(reversed(names))

    def last_line(self, line: int) -> int:
        """The last line before the next logical line that says something."""
        index = self._next[bisect_right(self._numbers, line)]
        return self._numbers[index] - 1 if index < len(self._numbers) else 1 << 60


def _line(text: str, start: int) -> tuple[int, str]:
    """The indentation of a logical line, and how it begins: its first line tells."""
    end = text.find("\n", start)
    first = text[start : end if end >= 0 else len(text)]
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
