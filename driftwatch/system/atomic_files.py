"""Files that are read or written whole or not at all: whoever reads one sees the old content or the new one.

Enters: a place and its bytes. Leaves: the file, or an `OSError` and nothing beside what was there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

_READABLE = 0o644


def read(path: Path) -> bytes:
    """The bytes of a regular file; `OSError` for anything else, of which reading may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path.read_bytes()


def draft(place: Path, data: bytes, *, mode: int | None = None, durable: bool = False) -> Path:
    """The file under another name in the same folder, from where it takes its place by `Path.replace`.

    Without a `mode` nobody else may read it. A `durable` one is on the disk when this returns.
    """
    # The name of the file may be as long as names can be.
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:40]}.", dir=place.parent)
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            made.chmod(mode)
    except BaseException:
        drop(made)
        raise
    return made


def write(place: Path, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Write a file in a folder that is there."""
    made = draft(place, data, mode=mode, durable=durable)
    try:
        made.replace(place)
    except BaseException:
        drop(made)
        raise


def write_lines(place: Path, lines: Iterable[str]) -> None:
    """Write a file that belongs to a project: readable for all, and on the disk."""
    write(place, "".join(line + "\n" for line in lines).encode(), mode=_READABLE, durable=True)


def drop(path: Path) -> None:
    """Remove a file, if it is there and can be removed."""
    with contextlib.suppress(OSError):
        path.unlink()
