"""Where output goes: standard output, standard error, a file written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from driftwatch.errors import InputError
from driftwatch.report.safe import safe

_LONGEST = 500
_DECLARING = frozenset({"pyproject.toml", "driftwatch.toml", "setup.cfg"})


def print_anything() -> None:
    """Let both streams print any text whatever their encoding; what they cannot show comes out escaped.

    A stream that was closed before the start takes everything and shows nothing, and no file gets its number.
    """
    # They are None where the descriptor is closed.
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """One line to the person, on standard error; of one that is endless, its beginning and its end."""
    shown = safe(line)
    if len(shown) > _LONGEST:
        shown = f"{shown[: _LONGEST // 2]} [...] {shown[-_LONGEST // 2 :]}"
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{shown}\n")
        sys.stderr.flush()


def emit(text: str, output: Path | None = None, *, for_programs: bool = False, is_source: bool = False) -> None:
    """Print the text, or write it to a file. What is for programs is UTF-8, whatever encoding the terminal has."""
    if output is None:
        _print(text, for_programs)
    else:
        if not is_source:
            spare_sources(output)
        write_whole(output, text)


def _print(text: str, for_programs: bool) -> None:
    bare = getattr(sys.stdout, "buffer", None) if for_programs else None
    try:
        if bare is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            bare.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`). What is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise InputError(f"cannot write to standard output: {error.strerror or type(error).__name__}") from None


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees half of it; a device or a pipe is written to as it is."""
    write_all([(path, text)])


def write_all(files: Sequence[tuple[Path, str]]) -> None:
    """Write files, each whole; where one of them cannot be written, none is.

    All are written under other names beside their places before the first takes its place.
    """
    write_all_bytes([(path, text.encode("utf-8", "backslashreplace")) for path, text in files])


def write_all_bytes(files: Sequence[tuple[Path, bytes]]) -> None:
    """As `write_all`, of what is no text, or not text of ours."""
    drafts: list[tuple[Path, Path, Path]] = []
    streams: list[tuple[Path, bytes]] = []
    try:
        for path, data in files:
            with _told(path):
                if path.exists() and not path.is_file() and not path.is_dir():
                    # Not resolved: /dev/stdout leads to names that cannot be opened.
                    streams.append((path, data))
                else:
                    target = _real(path)
                    drafts.append((path, target, _draft(target, data)))
        for path, data in streams:
            with _told(path):
                path.write_bytes(data)
        for path, target, draft in drafts:
            with _told(path):
                draft.replace(target)
    finally:
        for _, _, draft in drafts:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def spare_sources(path: Path, scanned: Iterable[Path] = ()) -> None:
    """`InputError` where a report would replace what is read for one: Python, a declaration, a file that is named."""
    from driftwatch.project.discovery import SUFFIXES

    target = _real(path)
    with _told(path):
        is_there = target.is_file()
    if is_there and (
        target.suffix in SUFFIXES or target.name in _DECLARING or target in {_real(each) for each in scanned}
    ):
        raise InputError(f"{str(path)!r} is a file that is scanned, and is not replaced", "write to another file")


def check_place(path: Path, scanned: Iterable[Path] = ()) -> None:
    """`InputError` where a report cannot be written, before any work is done for it."""
    spare_sources(path, scanned)
    with _told(path):
        _mode(_real(path))
        folder = _real(path).parent
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _real(path: Path) -> Path:
    """Where a file is, through links; unlike `Path.resolve`, also where they lead in a circle."""
    return Path(os.path.realpath(path))


def _mode(target: Path) -> int | None:
    """The mode of the file that is there, if there is one; OSError where none can be."""
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system has against a file, as a failure that a person can do something about."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot write {str(path)!r}: {reason}") from None


def _draft(target: Path, data: bytes) -> Path:
    """The file under another name: as readable as any file made here, or as the one that it replaces."""
    from driftwatch.system import atomic_files

    mode = _mode(target)
    return atomic_files.draft(target, data, mode=0o666 & ~_umask() if mode is None else mode)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
