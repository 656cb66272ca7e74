"""The program as a whole: help, versions, every way to end, and how quickly it starts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import driftwatch
from driftwatch.cli.scan import FROM_INDEX
from driftwatch.rules import RULES
from driftwatch.snapshot.sources.fetch import SCHEME
from tests.cli_process import run, surroundings

CRASH = (
    "from driftwatch.scan import pipeline\n"
    "def boom(request): raise ValueError('first\\nsecond\\x1b[2J')\n"
    "pipeline.scan = boom"
)


def test_version() -> None:
    assert run("--version").out == f"driftwatch {driftwatch.__version__}\n"
    assert run("-V").status == 0


@pytest.mark.parametrize(
    "command",
    [
        "",
        "scan",
        "history",
        "diff",
        "snapshot",
        "snapshot update",
        "snapshot add",
        "snapshot verify",
        "doctor",
        "explain",
        "baseline write",
        "config",
        "watch",
    ],
)
def test_help_has_examples(command: str) -> None:
    result = run(*command.split(), "--help")
    assert (result.status, result.err) == (0, "")
    assert "Usage: driftwatch" in result.out
    if command not in ("snapshot update", "snapshot add", "snapshot verify"):
        assert "Examples:\n" in result.out
    assert all(len(line) <= 110 for line in result.out.splitlines())


def test_no_command_shows_the_help() -> None:
    result = run()
    assert result.status == 2
    assert "Usage: driftwatch" in result.out + result.err


@pytest.mark.parametrize(
    "arguments", [["scam"], ["--nonsense"], ["explain", "DW101", "DW102"], ["history"], ["diff", "1"]]
)
def test_usage_errors(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.status, result.out) == (2, "")
    assert "Error: " in result.err and "Traceback" not in result.err


def test_what_a_person_has_typed_comes_back_harmless() -> None:
    for arguments in (["--\x1b[2J"], ["\x1b]0;owned\x07"], ["scan", "--fail-on", "\u202e"], ["explain", "a\nerror: b"]):
        result = run(*arguments)
        assert (result.status, result.out) == (2, "")
        assert not {"\x1b", "\x07", "\u202e"} & set(result.err)
        assert "\nerror: b" not in result.err


@pytest.mark.parametrize("command", ["scan", "deps", "config", "matrix .", "baseline write", "watch --dry-run"])
def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, command: str) -> None:
    leave = f"import os; os.mkdir({str(tmp_path / 'a')!r}); os.chdir({str(tmp_path / 'a')!r}); os.rmdir(os.getcwd())"
    result = run(*command.split(), cwd=tmp_path, code=leave)
    assert (result.status, result.out) == (2, "")
    assert result.err.splitlines() == ["error: the working folder is no longer there, or may not be entered"]


def test_a_crash_is_2_and_says_how_to_report(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    result = run("scan", cwd=tmp_path, code=CRASH)
    assert (result.status, result.out) == (2, "")
    message, hint = result.err.splitlines()
    assert message == "error: driftwatch itself failed: ValueError: first"
    assert hint.startswith(
        "hint: this is a defect; please report it with the output of the same command under DRIFTWATCH_"
    )


def test_a_crash_shows_where_when_asked(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    result = run("scan", cwd=tmp_path, code=CRASH, environment={"DRIFTWATCH_DEBUG": "1"})
    assert result.status == 2
    assert result.err.startswith("Traceback (most recent call last):\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_an_interrupt_is_130(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    code = (
        # Whoever runs the tests may have it ignored, as a shell does for what it runs in the background.
        "import signal, sys, time, driftwatch.scan.pipeline\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def slow(request):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "driftwatch.scan.pipeline.scan = slow\n"
        "from driftwatch.cli import main\nmain()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "scan"],
        cwd=tmp_path,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ there")
@pytest.mark.parametrize("arguments", [["explain"], ["explain", "DW101"], ["--help"]])
def test_a_reader_that_has_seen_enough(arguments: list[str]) -> None:
    code = "import time; time.sleep(0.5)\nfrom driftwatch.cli import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(timeout=300)
    process.stderr.close()


def test_explain() -> None:
    index = run("explain")
    assert index.status == 0
    assert [line.split()[0] for line in index.out.splitlines()] == [rule.code for rule in RULES]
    page = run("explain", "unknown-keyword")
    assert page.out == run("explain", "dw101").out
    assert page.out.startswith("DW101 unknown-keyword  error\n")
    assert "<- breaks in 1.0" in page.out and "<- silently lost in 1.0" in page.out
    family = run("explain", "DW20")
    assert family.err == "error: there is no rule 'DW20'\nhint: there are DW201, DW202, DW203\n"
    none = run("scan", "--select", "DW9")
    assert none.err == "error: there is no rule 'DW9'\nhint: `driftwatch explain` lists all\n"
    release = run("scan", "vllm==0.33.0")
    assert release.err.endswith("\nhint: a release of the package index is written pypi:vllm==0.33.0\n")
    address = run("scan", "https://example.org/x.git")
    assert address.err.endswith("\nhint: a repository is not fetched: clone it, and scan the folder\n")
    unknown = run("explain", "DW1O1")
    assert unknown.status == 2
    assert unknown.err == "error: there is no rule 'DW1O1'\nhint: did you mean DW101 (unknown-keyword)?\n"


def test_doctor() -> None:
    result = run("doctor")
    assert result.err == ""
    assert re.search(r"^python +\d+\.\d+", result.out, re.MULTILINE)
    assert re.search(r"^flashinfer-python +", result.out, re.MULTILINE)
    assert "the fused allreduce " in result.out
    missing = run("doctor", "--python", "/nowhere/python")
    assert missing.status == 2
    assert missing.err.startswith("error: '/nowhere/python' cannot be asked what it has: No such file or directory\n")


def test_it_starts_quickly_beside_python_itself() -> None:
    """The cost of the program over an interpreter that imports click, in CPU time, which a busy machine does not change
    much: no heavy library may come into the way of ``--version`` and ``--help``."""

    def cpu(*arguments: str) -> float:
        best = 10.0
        for _ in range(5):
            start = children()
            subprocess.run([sys.executable, *arguments], env=surroundings(), stdout=subprocess.DEVNULL, check=True)
            best = min(best, children() - start)
        return best

    base = cpu("-c", "import click")
    for arguments in (["--version"], ["--help"], ["scan", "--help"]):
        assert cpu("-m", "driftwatch", *arguments) < base + 0.1


def children() -> float:
    """CPU seconds of the processes that have ended so far."""
    times = os.times()
    return times.children_user + times.children_system


def test_a_local_scan_imports_nothing_that_fetches(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    code = (
        "import os, sys\nfrom driftwatch.cli.program import execute\nexecute(['scan'], {})\n"
        "sys.stderr.write(repr(sorted({'requests', 'pypi_simple', 'griffe', 'torch'} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=surroundings(), capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]"


def test_the_scheme_of_the_index_is_known_everywhere() -> None:
    assert FROM_INDEX == SCHEME


def test_starting_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom driftwatch.cli.program import execute\nexecute(['--help'], {})\n"
        "heavy = {'rich', 'libcst', 'griffe', 'requests', 'packaging', 'torch', 'pypi_simple', 'tempfile', 'json'}\n"
        "sys.stderr.write(repr(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=surroundings(), capture_output=True, text=True, check=True)
    assert done.stderr == "[]"
