"""What setuptools writes into a project's ``.egg-info``: its requirements, where its metadata does not have them.

Metadata before version 2.2 need not say in a source distribution what a project requires; ``requires.txt`` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path


def built_requirements(folder: Path, names: Collection[str]) -> list[Path]:
    """The files in which it stands, among the names of what is in a folder."""
    return [folder / name / "requires.txt" for name in names if name.endswith(".egg-info")]


def in_sections(text: str) -> Iterator[tuple[int, str, str]]:
    """The requirements in what setuptools writes: the line of each, its text with its marker, and the extra it is for.

    A section is called ``[extra:marker]``, where either may be missing.
    """
    extra = marker = ""
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if line.startswith("[") and line.endswith("]"):
            extra, _, marker = line[1:-1].partition(":")
        elif line and not line.startswith("#"):
            yield number, f"{line} ; {marker}" if marker else line, extra
