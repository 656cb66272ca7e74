"""What stands at a place of a source file, in words that survive moving and reformatting it.

Enters: places, and the lines of their files. Leaves: the definitions round a place (``Worker.forward``) and its text
without layout, comments and style of quotes. No line number leaves. Nothing is parsed, so that every Python gives the
same answer, for files it cannot read too; what no Python can read gets some answer, and always the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
            self._outlines[path] = _outline("\n".join(lines))
        return self._outlines[path]


@dataclass(frozen=True, slots=True)
class _Outline:
    """The logical lines of a file: where each begins, and the definition it is in."""

    starts: list[int] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)

    def scope(self, line: int) -> str:
        index = bisect_right(self.starts, line) - 1
        return self.scopes[index] if index >= 0 else ""

    def last_line(self, line: int) -> int:
        index = bisect_right(self.starts, line)
        return self.starts[index] - 1 if index < len(self.starts) else 1 << 60


def _outline(text: str) -> _Outline:
    outline = _Outline()
    round_here: list[tuple[int, str]] = []
    decorators = 0
    for line, indent, rest in _logical_lines(text):
        while round_here and round_here[-1][0] >= indent:
            round_here.pop()
        definition = _DEFINITION.match(rest)
        if definition:
            round_here.append((indent, definition[1]))
        scope = ".".join(name for _, name in round_here)
        outline.starts.append(line)
        outline.scopes.append(scope)
        if rest.startswith("@"):
            decorators += 1
        else:
            if definition and decorators:
                outline.scopes[-1 - decorators : -1] = [scope] * decorators
            decorators = 0
    return outline


def _logical_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Each logical line that says something: its number, its indentation, and how it begins."""
    breaks = [(0, 1), *_ends(text)]
    for (start, line), (end, _) in pairwise([*breaks, (len(text), 0)]):
        # A logical line never begins with one of several lines' worth of anything: its first line tells.
        first = text[start:end].split("\n", 1)[0]
        rest = first.lstrip(" \t\f")
        if rest and not rest.startswith("#"):
            yield line, len(first[: len(first) - len(rest)].expandtabs(8)), rest


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
