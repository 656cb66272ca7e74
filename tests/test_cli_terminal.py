"""On a real (pseudo) terminal: colours, width and a sign of life; and none of them on the other stream."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_process import surroundings

pty = pytest.importorskip("pty", reason="there are no pseudo terminals here")

SLOW = (
    "import time\nfrom driftwatch.cli.progress import activity\n"
    "with activity('looking') as shown:\n"
    "    for i in range(20):\n        shown.step(f'file {i} [bold]\\x1b[2J')\n        time.sleep(0.1)\n"
    "print('done')"
)


def on_terminal(arguments: list[str], cwd: Path | None = None, **environment: str) -> tuple[str, str]:
    """Run with standard error, or both streams, on a terminal: what went to standard output, and to the terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**surroundings(), "TERM": "xterm", **environment},
        stdin=subprocess.DEVNULL,
        stdout=slave if environment.get("ON") == "both" else subprocess.PIPE,
        stderr=slave,
    )
    os.close(slave)
    shown = bytearray()
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    out = process.stdout.read() if process.stdout is not None else b""
    process.wait(timeout=300)
    if process.stdout is not None:
        process.stdout.close()
    os.close(master)
    return out.decode(), shown.decode()


def test_a_sign_of_life_after_a_moment() -> None:
    out, terminal = on_terminal(["-c", SLOW])
    assert out == "done\n"
    assert "looking file" in terminal
    assert r"[bold]\x1b[2J" in terminal, "what is shown of the scanned code is escaped"
    assert "\x1b[2J" not in terminal
    assert terminal.rstrip().endswith("\x1b[?25h") or "\x1b[?25h" in terminal, "the cursor is back"


def test_no_sign_of_life_for_what_takes_no_time() -> None:
    out, terminal = on_terminal(["-c", SLOW.replace("range(20)", "range(2)")])
    assert (out, terminal) == ("done\n", "")


def test_colours_and_width_on_a_terminal() -> None:
    _, terminal = on_terminal(["-m", "driftwatch", "explain", "DW101"], ON="both", COLUMNS="60")
    assert "\x1b[1" in terminal
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in terminal.splitlines()]
    prose = [line for line in lines if not re.match(r" *[0-9]* \|", line)]
    assert max(len(line) for line in prose) <= 60


def test_no_colour_when_the_person_says_so() -> None:
    _, terminal = on_terminal(["-m", "driftwatch", "explain", "DW101"], ON="both", NO_COLOR="1")
    assert "\x1b" not in terminal
