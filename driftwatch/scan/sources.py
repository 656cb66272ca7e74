"""The files of a project by the paths that reports show, read again when asked for.

Enters: the project's folder, and bytes that stand for those of some files. Leaves: lines, as Python reads them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from driftwatch.system.python_text import SourceError, decode


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a project by their paths in it, read again when asked for."""

    project: Path
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    """The lines to take for those of a file, by its absolute path."""
    _known: dict[str, tuple[str, ...] | None] = field(default_factory=dict, repr=False, compare=False)

    def path(self, shown: str) -> Path:
        """Where a file is. What lies outside of the project is shown by a path that leads out of it."""
        return Path(os.path.normpath(self.project / shown))

    def text(self, shown: str) -> str | None:
        lines = self.lines(shown)
        return None if lines is None else "\n".join(lines)

    def lines(self, shown: str) -> tuple[str, ...] | None:
        """The lines of a file; None when it cannot be read any more."""
        if shown not in self._known:
            try:
                path = self.path(shown)
                self._known[shown] = self.changed.get(str(path)) or lines_of(path.read_bytes())
            except (OSError, ValueError, SourceError):
                self._known[shown] = None
        return self._known[shown]


def lines_of(data: bytes) -> tuple[str, ...]:
    """The lines of a Python file; `SourceError` where they cannot be told."""
    return tuple(decode(data).split("\n"))
