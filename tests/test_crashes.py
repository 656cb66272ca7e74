"""What once ended with "driftwatch itself failed": each is an error that a person understands, or none at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from driftwatch.errors import ConfigError, UsageError
from driftwatch.releases import Timeline
from driftwatch.system.tables import read
from tests.cli_process import make_studio, run, surroundings

MANY = "9" * 5000
"""More digits than Python reads as a number."""


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    return make_studio(tmp_path)


def whole(status: int, *arguments: str, cwd: Path) -> str:
    result = run(*arguments, cwd=cwd)
    assert "itself failed" not in result.err
    assert result.status == status, result
    return result.err + result.out


def test_a_number_of_too_many_digits_in_a_comment(studio: Path) -> None:
    source = (studio / "studio.py").read_text()
    (studio / "studio.py").write_text(
        source.replace("return kiln.raku(pot)", f"return kiln.raku(pot)  # driftwatch: ignore until={MANY}")
    )
    assert "is not a release" in whole(1, "scan", cwd=studio)


@pytest.mark.parametrize("requirement", [f"kiln=={MANY}", f"kiln>={MANY}", f"kiln=={MANY}.*", f"kiln=={MANY}!1"])
def test_in_a_requirement(studio: Path, requirement: str) -> None:
    for name in ("requirements.txt", "pyproject.toml"):
        path = studio / name
        before = path.read_text() if path.exists() else ""
        path.write_text(before.replace('"kiln>=1.0"', f'"{requirement}"') or f"{requirement}\n")
        whole(1, "scan", cwd=studio)
        path.write_text(before)


@pytest.mark.parametrize("specifier", [MANY, f">={MANY}", f"kiln=={MANY}", f"kiln>=1,<{MANY}", f"=={MANY}.*"])
def test_in_a_specifier(studio: Path, specifier: str) -> None:
    assert "error: " in whole(2, "scan", "--against", specifier, cwd=studio)


def test_in_a_toml_file(studio: Path) -> None:
    configuration = (studio / "pyproject.toml").read_text()
    (studio / "pyproject.toml").write_text(f"x = {MANY}\n{configuration}")
    said = whole(2, "scan", cwd=studio)
    assert "not valid TOML: exceeds the limit (4300 digits) for integer string conversion" in said
    assert "sys.set" not in said
    with pytest.raises(ConfigError):
        read(studio / "pyproject.toml")


def test_in_what_a_timeline_is_asked_for() -> None:
    timeline = Timeline.of(["1.0", "2.0"])
    with pytest.raises(UsageError, match="is not a version"):
        timeline.index(MANY)
    with pytest.raises(UsageError, match="is not a version specifier"):
        timeline.matching(f"<{MANY}")


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_a_baseline_that_is_no_file(studio: Path, kind: str) -> None:
    place = {"device": Path("/dev/zero"), "pipe": studio / "pipe", "folder": studio}[kind]
    os.mkfifo(studio / "pipe")
    assert "cannot read the baseline" in whole(2, "scan", "--baseline", str(place), cwd=studio)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_searched(studio: Path) -> None:
    closed = studio / "closed"
    closed.mkdir()
    (closed / "x.py").write_text("import kiln\n")
    for mode in (0o000, 0o400, 0o100):
        closed.chmod(mode)
        whole(1, "scan", cwd=studio)
        whole(2, "scan", "closed/x.py", cwd=studio)
    closed.chmod(0o700)


ANNOUNCED = """
import sys
from driftwatch.cli import main

class Finder:
    def find_spec(name, path, target=None):
        if name == "driftwatch.cli.program":
            sys.stdout.write(".")
            sys.stdout.flush()

sys.meta_path.insert(0, Finder)
main()
"""
"""The command line, which writes a full stop once its import of itself is on the way."""


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3])
def test_an_interrupt_at_any_moment_says_nothing(studio: Path, moment: float) -> None:
    """Once driftwatch has begun to be imported: until then it is Python that is interrupted."""
    process = subprocess.Popen(
        [sys.executable, "-c", ANNOUNCED, "scan", "--no-cache"],
        cwd=studio,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(1)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert b"Traceback" not in err
    assert process.returncode in (0, 1, 130)
