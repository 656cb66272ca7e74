"""Other processes, asked for facts: the environment's Python, and the machine's own tools.

Enters: a Python, and what to ask. Leaves: answers as JSON, or why there is none. Every process has an end: it is the
leader of a session of its own, and when its time is up all of that session goes, whoever holds its output open.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import IO, Any

from driftwatch.system.subprocesses import python_command, python_environment

_TAIL = 4000


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left. `status` is None when its time was up; `failed` is why it did not start."""

    out: str = ""
    err: str = ""
    status: int | None = None
    failed: str | None = None

    @property
    def how(self) -> str:
        """How it ended, for a person, with the last that it said."""
        if self.failed is not None:
            return self.failed
        if self.status is None:
            return "no answer in time"
        last = self.err.strip().splitlines()
        how = f"it died of signal {-self.status}" if self.status < 0 else f"exit status {self.status}"
        return f"{how}: {last[-1]}" if last else how


@dataclass(frozen=True, slots=True)
class Answer:
    """The probe's answers, in order, and how the process ended."""

    said: tuple[Mapping[str, Any], ...]
    ended: Ended


def ask(python: str, question: Mapping[str, Any], seconds: float, *, without: Collection[str] = ()) -> Answer:
    """Ask the probe in another Python, `without` some of the variables of the environment."""
    source = resources.files("driftwatch.doctor").joinpath("probe.py").read_text(encoding="utf-8")
    # What an environment's own start files print is no answer.
    mark = secrets.token_hex(8)
    given = json.dumps({**question, "mark": mark})
    environment = {name: value for name, value in python_environment().items() if name not in without}
    ended = run(python_command(python, source), seconds, given=given, environment=environment)
    said: list[Mapping[str, Any]] = []
    for line in ended.out.splitlines():
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict) and found.pop("mark", None) == mark:
                said.append(found)
    return Answer(tuple(said), ended)


def run(
    command: Sequence[str], seconds: float, *, given: str = "", environment: Mapping[str, str] | None = None
) -> Ended:
    """Run a program to its end, or to the end of its time."""
    # Into files: a pipe would be waited for as long as anything that the process has started holds it open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as told:
        told.write(given.encode())
        told.seek(0)
        try:
            process = subprocess.Popen(
                list(command), stdin=told, stdout=out, stderr=err, env=environment, start_new_session=True
            )
        except OSError as error:
            return Ended(failed=error.strerror or type(error).__name__)
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        except BaseException:
            _stop(process)
            raise
        _stop(process)
        return Ended(_read(out), _read(err)[-_TAIL:], status)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and whatever it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
