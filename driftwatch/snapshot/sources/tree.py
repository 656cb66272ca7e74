"""A place to read a library's sources from; the one thing that collecting asks of an origin."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class SourceTree(Protocol):
    """Files of one release, addressed by posix paths relative to the folder that holds the top-level package."""

    def read(self, path: str) -> bytes | None:
        """The file's bytes, or None when the release has no such file."""
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """Names directly in a folder, sorted; empty when there is no such folder."""
        ...


class FolderTree:
    """A source tree in a folder on disk; paths that would leave the folder do not exist."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def read(self, path: str) -> bytes | None:
        target = self._inside(path)
        return target.read_bytes() if target is not None and target.is_file() else None

    def names(self, path: str) -> tuple[str, ...]:
        target = self._inside(path)
        return tuple(sorted(p.name for p in target.iterdir())) if target is not None and target.is_dir() else ()

    def _inside(self, path: str) -> Path | None:
        target = (self._root / path).resolve()
        return target if target.is_relative_to(self._root) else None


class FileTree:
    """A source tree of files that are at hand, by their paths; `prefix` is the folder of the top-level package."""

    def __init__(self, files: Mapping[str, bytes], prefix: str) -> None:
        self._files = {path.removeprefix(prefix): data for path, data in files.items() if path.startswith(prefix)}

    def read(self, path: str) -> bytes | None:
        return self._files.get(posixpath.normpath(path))

    def names(self, path: str) -> tuple[str, ...]:
        folder = posixpath.normpath(path) if path else "."
        inside = "" if folder == "." else f"{folder}/"
        below = (name.removeprefix(inside) for name in self._files if name.startswith(inside))
        return tuple(sorted({name.partition("/")[0] for name in below}))
