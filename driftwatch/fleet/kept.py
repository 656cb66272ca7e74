"""Rows that were worked out before, by all that they depend on: a run goes on where another ended.

A row's name is a digest of the code base, of the libraries' histories, of what was asked and of driftwatch itself, so
that none can be out of date. Files appear whole or not at all; a damaged one is worked out again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from driftwatch.fleet.unit import Row
from driftwatch.flow.sources.results_cache import tool
from driftwatch.system import atomic_files

FOLDER = "fleet-1"  # another number for another form


def key_of(digest: str, source: str, histories: Sequence[str], against: Sequence[str]) -> str:
    """The name of a row. A code base is told apart by how it is written as well, since that is how it is called."""
    parts = [digest, source, *histories, "", *against, tool()]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


class Kept:
    """Rows in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, key: str) -> Row | None:
        """The row with this name, if it is there and whole."""
        try:
            text = self._path(key).read_text(encoding="utf-8")
            digest, _, body = text.partition("\n")
            if digest != hashlib.sha256(body.encode()).hexdigest():
                return None
            row = json.loads(body)
        except (OSError, ValueError):
            return None
        return row if isinstance(row, dict) else None

    def keep(self, key: str, text: str) -> None:
        """Keep a row; a folder that cannot be written only costs time."""
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_files.write(path, f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}".encode())

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
