"""Requirements as they are written: lines that are joined, where each stands, and how a distribution may be spelt."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from packaging.version import Version

_COMMENT = re.compile(r"(^|\s)#.*")


def logical_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The lines of a requirements file as pip joins them: the number and text of the first, and the whole line."""
    first, source = 0, ""
    parts: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not parts:
            first, source = number, line
        comment = line.lstrip().startswith("#")
        goes_on = line.endswith("\\") and not comment
        parts.append(f" {line}" if comment else line.removesuffix("\\"))
        if goes_on and number < len(lines):
            continue
        yield first, source, _COMMENT.sub("", "".join(parts)).strip()
        parts = []


class Places:
    """Where requirements stand in a text. Of equal ones behind the same place, each is the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._begins = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._next: dict[int, int] = {}

    def of(self, requirement: str, start: int) -> tuple[int, str]:
        """The line of a requirement behind a place in the text, and that line."""
        found = -1
        if requirement:
            found = self._text.find(requirement, self._next.get(start, start))
            if found < 0:
                found = self._text.find(requirement, start)
        if found >= 0:
            self._next[start] = found + len(requirement)
        index = bisect_right(self._begins, found if found >= 0 else start) - 1
        return index + 1, self._lines[index]


def public_version(version: str) -> Version | None:
    """A version without its local part; None where it is none, such as one that a variable was to give."""
    try:
        return Version(Version(version).public)
    except ValueError:
        return None


def table_of(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


@cache
def beginnings(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(spelling, sorted(names, key=len, reverse=True))) or r"(?!)", re.IGNORECASE)


def spelling(name: str) -> str:
    """A pattern for a distribution's name in any spelling."""
    return "[-_.]+".join(re.escape(part) for part in name.split("-"))
