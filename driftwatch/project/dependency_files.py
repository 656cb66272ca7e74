"""Where in a folder the files are that declare dependencies."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from driftwatch.project.discovery import is_project, listed


def root_of(folder: Path) -> Path:
    """The root of the project that a folder belongs to; itself where nothing above it says so."""
    if any(folder.glob("*.dist-info")):
        return folder
    return next((place for place in (folder, *folder.parents) if is_project(place)), folder)


def subfolders(folder: Path) -> list[Path]:
    return [folder / name for name in listed(folder)[1] if not name.startswith(".")]


def metadata_files(folder: Path, names: Collection[str]) -> list[Path]:
    found = [name for name in ("PKG-INFO", "METADATA") if name in names]
    found += [f"{name}/METADATA" for name in names if name.endswith(".dist-info")]
    found += [f"{name}/PKG-INFO" for name in names if name.endswith(".egg-info")]
    return [folder / name for name in found]
