"""Another process that works ahead of this one, and hands over what it has found out.

Enters: what the helper is to do. Leaves: an `Inbox`, in which results are found by key as soon as they are there. A
helper is a copy of this process; it ends with the block, whatever it is doing. What it hands over depends on its key
alone, so that with it or without it the same comes out; whoever finds nothing does the work.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

_HEADER = struct.Struct("<16sQ")
_PATIENCE = 20.0
"""Seconds after which a helper is not waited for any longer."""
_PAUSE = 0.002


class Outbox:
    """Where a helper puts its results, under keys of 16 bytes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def put(self, key: bytes, result: object) -> None:
        """Hand over a result."""
        data = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        rest = memoryview(_HEADER.pack(key, len(data)) + data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class Inbox:
    """What a helper has handed over so far."""

    def __init__(self, descriptor: int, process: int) -> None:
        self._descriptor = descriptor
        self._process = process
        self._seen = 0
        self._where: dict[bytes, tuple[int, int]] = {}

    def find(self, key: bytes) -> object | None:
        """The result under a key, if it is there by now."""
        if key not in self._where:
            self._look()
        found = self._where.get(key)
        if found is None:
            return None
        start, size = found
        # Written by a copy of this process, and by nobody else.
        result: object = pickle.loads(os.pread(self._descriptor, size, start))  # noqa: S301
        return result

    def wait(self, key: bytes) -> object | None:
        """The result under a key as soon as it is there; None when the helper ends without, or takes too long."""
        until = time.monotonic() + _PATIENCE
        while True:
            ended = self._has_ended()
            found = self.find(key)
            if found is not None or ended or time.monotonic() > until:
                return found
            time.sleep(_PAUSE)

    def _has_ended(self) -> bool:
        try:
            return os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _look(self) -> None:
        size = os.fstat(self._descriptor).st_size
        while self._seen + _HEADER.size <= size:
            key, length = _HEADER.unpack(os.pread(self._descriptor, _HEADER.size, self._seen))
            start = self._seen + _HEADER.size
            if start + length > size:
                break
            self._where[key] = (start, length)
            self._seen = start + length


def can_help() -> bool:
    """Whether this system can make a helper: a copy of this process that shares an unnamed file with it."""
    return sys.platform == "linux" and hasattr(os, "memfd_create") and hasattr(os, "waitid")


@contextmanager
def helper(job: Callable[[Outbox], object]) -> Iterator[Inbox | None]:
    """Have another process do a job while the block lasts; None where none can be had."""
    with contextlib.ExitStack() as stack:
        inbox: Inbox | None = None
        if can_help():
            with contextlib.suppress(OSError):
                descriptor = os.memfd_create("driftwatch")
                stack.callback(os.close, descriptor)
                process = _start(job, descriptor)
                stack.callback(_stop, process)
                inbox = Inbox(descriptor, process)
        yield inbox


def _start(job: Callable[[Outbox], object], descriptor: int) -> int:
    with warnings.catch_warnings():
        # Where a thread shows that something goes on: the copy has no use for what it may be holding.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        _help(job, Outbox(descriptor))
    return process


def _help(job: Callable[[Outbox], object], outbox: Outbox) -> NoReturn:
    """The life of a helper. It says nothing, and nobody minds how it ends."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(silence, stream)
        job(outbox)
    finally:
        # Nothing that belongs to the process that this is a copy of is flushed, closed or removed.
        os._exit(0)


def _stop(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)
