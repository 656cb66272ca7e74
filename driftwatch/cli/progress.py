"""A sign of life on a terminal, for what takes more than a moment; nothing at all anywhere else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from driftwatch.report.safe import safe

if TYPE_CHECKING:
    from rich.status import Status

_MOMENT = 0.7
_LONGEST = 60


class Activity:
    """What is being done now. `step` may be called from the work itself, as often as it likes."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._step = ""
        self._status: Status | None = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if sys.stderr.isatty():
            self._timer = threading.Timer(_MOMENT, self._show)
            self._timer.daemon = True
            self._timer.start()

    def step(self, what: object = "", *_more: object) -> None:
        """Say what is being worked on."""
        if self._timer is None:
            return
        text = safe(str(what))
        self._step = text if len(text) <= _LONGEST else f"...{text[-_LONGEST:]}"
        with self._lock:
            if self._status is not None:
                self._status.update(self._text())

    def title(self, title: str) -> None:
        """Say what is being done."""
        self._title = title
        self.step()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._status is not None:
                self._status.stop()
            self._status = self._timer = None

    def _text(self) -> str:
        from rich.markup import escape

        return escape(f"{self._title} {self._step}".rstrip())

    def _show(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if self._timer is not None:
                self._status = Status(self._text(), console=Console(stderr=True))
                self._status.start()


@contextmanager
def activity(title: str) -> Iterator[Activity]:
    """Show that something goes on, until the block ends."""
    shown = Activity(title)
    try:
        yield shown
    finally:
        shown.stop()
