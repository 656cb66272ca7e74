"""What whole processes take: seconds by the clock and of the processor, and memory, with everything they start."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

ENDED_WELL = frozenset({0, 1})
PAUSE = 0.02


@dataclass(frozen=True)
class Cost:
    """What one process took, with those that it started: wall seconds and processor seconds."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Program:
    """A command line, where it runs, and the exit statuses with which it has done its work."""

    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    folder: Path | None = None
    ends: frozenset[int] = ENDED_WELL

    def run(self) -> Cost:
        started = time.perf_counter()
        process = self._start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        self._must_have_worked(process.returncode)
        return Cost(wall, usage.ru_utime + usage.ru_stime)

    def peak(self) -> float:
        """Megabytes at its largest, in a run of its own, for looking costs time.

        On Linux that is what all its processes hold together, what they share counted once. Elsewhere it is the largest
        of them.
        """
        process = self._start()
        seen = 0
        looking = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while sys.platform == "linux" and os.waitid(os.P_PID, process.pid, looking) is None:
            seen = max(seen, sum(map(_held, _family(process.pid))))
            time.sleep(PAUSE)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self._must_have_worked(process.returncode)
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
        return seen / 1024 if sys.platform == "linux" else usage.ru_maxrss / unit

    def output(self) -> str:
        """What it prints."""
        environment = {**os.environ, **(self.environment or {})}
        done = subprocess.run(
            self.command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        self._must_have_worked(done.returncode, done.stderr)
        return done.stdout

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **(self.environment or {})}
        out = subprocess.DEVNULL
        return subprocess.Popen(self.command, env=environment, cwd=self.folder, stdout=out, stderr=out)

    def _must_have_worked(self, status: int, said: str = "") -> None:
        if status not in self.ends:
            raise click.ClickException(f"{' '.join(self.command)} ended with status {status}\n{said}".rstrip())


def in_turn(programs: Mapping[str, Program], runs: int) -> dict[str, list[Cost]]:
    """The costs of each program. They run in turn, so that what else a machine does meets all of them."""
    taken: dict[str, list[Cost]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            taken[name].append(program.run())
    return taken


def median(costs: Sequence[Cost], what: str) -> float:
    values: list[float] = [getattr(cost, what) for cost in costs]
    return statistics.median(values)


def ratio(some: Sequence[Cost], others: Sequence[Cost], what: str) -> float:
    """The median of the ratios, run by run."""
    ratios: list[float] = [getattr(a, what) / getattr(b, what) for a, b in zip(some, others, strict=True)]
    return statistics.median(ratios)


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from _family(int(child))


def _held(pid: int) -> int:
    """The kilobytes that a process holds, its share of what it has in common with others."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
