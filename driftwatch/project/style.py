"""How a project lays out its code, as far as it says so: the length of a line."""

from __future__ import annotations

from pathlib import Path

from driftwatch.errors import ConfigError
from driftwatch.system.tables import read

USUAL = 88
"""What ruff and black take where nothing is configured."""


def line_width(path: Path) -> int:
    """The characters of a line that ruff or black are told for a file, by the nearest file that tells them."""
    for folder in path.resolve().parents:
        for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
            place = folder / name
            if place.is_file() and (found := _width(place)) is not None:
                return found
    return USUAL


def _width(place: Path) -> int | None:
    try:
        document = read(place)
    except ConfigError:
        return None
    tables: list[object] = [document]
    if place.name == "pyproject.toml":
        tool = document.get("tool")
        tables = [tool.get("ruff"), tool.get("black")] if isinstance(tool, dict) else []
    for table in tables:
        if isinstance(table, dict):
            found = table.get("line-length")
            if isinstance(found, int) and 40 <= found <= 320:
                return found
    return None
