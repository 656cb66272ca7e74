"""The Python files of a code base, searched for words: whoever asks for several reads each file once.

Enters: files, and the words that may be asked for. Leaves: which files have a word, and their bytes and syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from driftwatch.system.python_text import without_warnings


class PythonFiles:
    """The files of a code base. `paths` are they, by what they are called beside each other.

    `words` are those that will be asked for, whatever their case; `changed` are bytes to take for those of a file, by
    its path. No file is read before the first question.
    """

    def __init__(
        self, paths: Mapping[str, Path | str], words: Iterable[str] = (), changed: Mapping[str, bytes] | None = None
    ) -> None:
        self._paths = paths
        self._words = {word.lower() for word in words}
        self._changed = changed or {}
        self._having: dict[str, list[str]] = {}
        self._parsed: dict[str, ast.Module | None] = {}

    def having(self, word: str) -> tuple[str, ...]:
        """The files that have a word, in any case, in order."""
        word = word.lower()
        if word not in self._having:
            self._search({word, *self._words} - self._having.keys())
        return tuple(self._having[word])

    def _search(self, words: Iterable[str]) -> None:
        found = {word.encode(): self._having.setdefault(word, []) for word in words}
        for name in self._paths:
            data = (self.read(name) or b"").lower()
            for word, names in found.items():
                if word in data:
                    names.append(name)

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None where it cannot be read."""
        path = self._paths[name]
        if str(path) in self._changed:
            return self._changed[str(path)]
        try:
            return Path(path).read_bytes()
        except (OSError, ValueError):
            return None

    def syntax(self, name: str) -> ast.Module | None:
        """The syntax of a file; None where there is none, of which the scan tells."""
        if name not in self._parsed:
            data = self.read(name) if name in self._paths else None
            self._parsed[name] = None if data is None else _parse(data)
        return self._parsed[name]


def _parse(data: bytes) -> ast.Module | None:
    try:
        with without_warnings():
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
