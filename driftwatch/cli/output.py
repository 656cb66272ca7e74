"""Where output goes: standard output, standard error, a file written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from driftwatch.errors import InputError
from driftwatch.report.safe import safe


def print_anything() -> None:
    """Let both streams print any text whatever their encoding; what they cannot show comes out escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """One line to the person, on standard error."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{safe(line)}\n")
        sys.stderr.flush()


def emit(text: str, output: Path | None = None) -> None:
    """Print the text, or write it to a file."""
    if output is None:
        _print(text)
    else:
        write_whole(output, text)


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`). What is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees half of it; a device or a pipe is written to as it is."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():
            # Not resolved: /dev/stdout leads to names that cannot be opened.
            path.write_bytes(data)
            return
        _replace(path.resolve(), data)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot write {str(path)!r}: {reason}") from None


def _replace(target: Path, data: bytes) -> None:
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes private files; a report is as readable as any file made here, or as the one it replaces.
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
