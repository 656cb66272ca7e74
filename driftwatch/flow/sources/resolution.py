"""Which file of the code base an import means, by the paths alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath


def stem_of(path: str) -> str:
    """A module's path without what says that it is one: ``a/b`` for ``a/b.py`` and for ``a/b/__init__.py``."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    stem = path[: dot - len(name)] if 0 < dot < len(name) - 1 else path
    return stem.removesuffix("/__init__")


def tail_of(path: str) -> str:
    """A module's last name."""
    return stem_of(path).rpartition("/")[2]


class Resolution:
    """Imports as files. Answers are remembered."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = frozenset(paths)
        self._by_tail: dict[str, list[str]] = {}
        for path in paths:
            self._by_tail.setdefault(tail_of(path), []).append(path)
        self._resolved: dict[tuple[str, str, int], str | None] = {}

    def path_of(self, name: str, importer: str, level: int = 0) -> str | None:
        """The file that ``from <level dots><name> import ...`` means in another file; None when it is none of these."""
        key = (name, importer.rpartition("/")[0], level)
        if key not in self._resolved:
            self._resolved[key] = self._find(name, importer, level)
        return self._resolved[key]

    def is_package(self, folder: str) -> bool:
        """Whether a folder is a package that says so."""
        return f"{folder}/__init__.py" in self._paths

    def _find(self, name: str, importer: str, level: int) -> str | None:
        if level:
            folder = PurePosixPath(importer).parent
            for _ in range(level - 1):
                if folder == folder.parent:
                    return None
                folder = folder.parent
            base = folder.joinpath(*name.split(".")) if name else folder
            return self._file_of(str(base))
        if not name:
            return None
        suffix = name.replace(".", "/")
        found = [
            path
            for path in self._by_tail.get(suffix.rpartition("/")[2], ())
            if (stem_of(path) == suffix or stem_of(path).endswith("/" + suffix))
            and self._is_import_root(stem_of(path)[: -len(suffix)].rstrip("/"), importer)
        ]
        if len(found) <= 1:
            return found[0] if found else None
        return min(found, key=lambda path: _distance(path, suffix, importer))

    def _is_import_root(self, root: str, importer: str) -> bool:
        """Whether Python could have a folder on its path: none inside a package, but for a script's own folder."""
        if not root:
            return True
        if root == importer.rpartition("/")[0]:
            return True
        parts = root.split("/")
        return not any("/".join(parts[: i + 1]) + "/__init__.py" in self._paths for i in range(len(parts)))

    def _file_of(self, base: str) -> str | None:
        for candidate in (f"{base}.py", f"{base}/__init__.py"):
            normal = str(PurePosixPath(candidate))
            if normal in self._paths:
                return normal
        return None


def _distance(path: str, suffix: str, importer: str) -> tuple[int, int, str]:
    """How far the import root of a candidate is from the importing file: a nearer root is on its path more likely."""
    root = stem_of(path)[: -len(suffix)].rstrip("/")
    folder = importer.rpartition("/")[0]
    if not root or folder == root or folder.startswith(root + "/"):
        return (0, folder.count("/") - root.count("/"), path)
    return (1, len(path), path)
