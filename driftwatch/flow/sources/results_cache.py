"""Analyses that were made before: the same files, histories and driftwatch give the same one, so it is kept.

Enters: what an analysis depends on. Leaves: the analysis, or None. An entry's name is a digest of all that it depends
on, so none can be out of date; it is JSON under a seal, and one that is damaged, or that somebody else has written, is
dropped unread. Files appear whole or not at all, so that runs side by side can share the folder; the oldest go when
there are too many. A folder that cannot be written only costs time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import driftwatch
from driftwatch.flow import uses
from driftwatch.flow.uses import Analysis
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.system import atomic_files
from driftwatch.system.seals import Seals

FOLDER = "analyses-2"  # another number for another form
MAX_BYTES = 64 * 1024 * 1024
"""How much all entries together may take."""

STALE = 24 * 3600
"""Seconds after which what a killed run was writing is dropped."""


class ResultsCache:
    """The analyses under one folder."""

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER
        self._seals = Seals(root)

    def find(self, key: str) -> Analysis | None:
        """The analysis that was kept under a key, if it is there and whole."""
        path = self._path(key)
        try:
            seal, _, body = path.read_bytes().partition(b"\n")
        except OSError:
            return None
        try:
            if not self._seals.is_right(seal, key.encode(), body):
                raise ValueError
            found = _decoded(json.loads(body))
            if not isinstance(found, Analysis):
                raise TypeError
        except (ValueError, TypeError, LookupError, RecursionError):
            atomic_files.drop(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return found

    def keep(self, key: str, analysis: Analysis) -> None:
        """Keep an analysis; what has no form to keep it in is not kept."""
        try:
            body = json.dumps(_encoded(analysis), separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError):
            return
        if len(body) > MAX_BYTES or not self._seals.possible:
            return
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_files.write(path, self._seals.seal(key.encode(), body) + b"\n" + body)
        self._prune()

    def _path(self, key: str) -> Path:
        return self._folder / key

    def _prune(self) -> None:
        """Drop the entries that were not asked for the longest, when all together are too large."""
        found: list[tuple[float, int, Path]] = []
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                with contextlib.suppress(OSError):
                    state = path.stat()
                    if path.name.startswith("."):
                        if time.time() - state.st_mtime > STALE:
                            atomic_files.drop(path)
                    else:
                        found.append((state.st_mtime, state.st_size, path))
        left = MAX_BYTES
        for _, size, path in sorted(found, key=lambda entry: (-entry[0], entry[2])):
            left -= size
            if left < 0:
                atomic_files.drop(path)


# -- keys --------------------------------------------------------------------------------------------------------------


def key_of(files: str | None, histories: Sequence[History]) -> str | None:
    """The key of an analysis of files with this digest; None when what it depends on cannot be told."""
    if files is None or not all(history.digest for history in histories):
        return None
    parts = [files, tool(), *(f"{h.distribution}\0{h.module}\0{h.digest}" for h in histories)]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=32).hexdigest()


@cache
def tool() -> str:
    """What analyses: this driftwatch down to its source, and the parsers that it uses."""
    digest = hashlib.blake2b(digest_size=32)
    package = Path(driftwatch.__file__).parent
    for path in sorted(package.rglob("*.py")):
        data = path.read_bytes()
        digest.update(b"%b %d %b" % (path.relative_to(package).as_posix().encode(), len(data), data))
    try:
        parser = version("libcst")
    except PackageNotFoundError:
        parser = "?"
    return f"{driftwatch.__version__} {digest.hexdigest()} {parser} {platform.python_version()}"


# -- the form ----------------------------------------------------------------------------------------------------------
#
# A list is what its first element says: the name of a class before the values of its fields, or nothing before the
# elements of a tuple. Everything else stands for itself.

_PLAIN = (str, int, float, bool, type(None))
_RECORDS: dict[str, type[Any]] = {
    Analysis.__name__: Analysis,
    **{name: value for name, value in vars(uses).items() if isinstance(value, type) and is_dataclass(value)},
}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _RECORDS.values()}
_ENUMS: dict[str, type[Enum]] = {
    name: value for name, value in vars(uses).items() if isinstance(value, type) and issubclass(value, Enum)
}


def _encoded(value: object) -> object:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, ReleaseSet):
        return ["ReleaseSet", format(value.mask, "x")]
    if isinstance(value, Ref):
        return ["Ref", value.module, value.qualname]
    if kind is tuple:
        return ["", *map(_encoded, value)]  # type: ignore[call-overload]
    if isinstance(value, Enum) and _ENUMS.get(kind.__name__) is kind:
        return [kind.__name__, value.value]
    if _RECORDS.get(kind.__name__) is kind:
        return [kind.__name__, *(_encoded(getattr(value, name)) for name in _FIELDS[kind])]
    raise TypeError(f"there is no form for a {kind.__name__}")


def _decoded(value: Any) -> Any:
    if not isinstance(value, list):
        if type(value) in _PLAIN:
            return value
        raise TypeError
    name, *rest = value
    if name == "":
        return tuple(map(_decoded, rest))
    if name == "ReleaseSet":
        return ReleaseSet(int(rest[0], 16))
    if name == "Ref":
        return Ref(*rest)
    if name in _ENUMS:
        return _ENUMS[name](*rest)
    kind = _RECORDS[name]
    return kind(**dict(zip(_FIELDS[kind], map(_decoded, rest), strict=True)))
