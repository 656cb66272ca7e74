"""A library that nobody has prepared: its history is read from its sources, and repaired code runs on each release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_process import run

RELEASES = {
    "1.0": {
        "wool/__init__.py": """
            def spin(fleece, twist):
                return ("spin", fleece, twist)

            def card(fleece, teeth=40):
                return ("card", fleece, teeth)

            def felt(fleece, heat, *, soap=1):
                return ("felt", fleece, heat, soap)
            """,
    },
    "1.1": {
        "wool/__init__.py": """
            from wool.tools import card as card

            def spin(fleece, twist):
                return ("spin", fleece, twist)

            def felt(fleece, heat, *, soap=1):
                return ("felt", fleece, heat, soap)
            """,
        "wool/tools.py": """
            def card(fleece, teeth=40):
                return ("card", fleece, teeth)
            """,
    },
    "2.0": {
        "wool/__init__.py": """
            def spin(fleece, turns):
                return ("spin", fleece, turns)

            def felt(fleece, *, heat, soap=1):
                return ("felt", fleece, heat, soap)
            """,
        "wool/tools.py": """
            def card(fleece, teeth=40):
                return ("card", fleece, teeth)
            """,
    },
}

PROGRAM = """\
import wool
from wool import card


def make(fleece):
    return [card(fleece, teeth=60), wool.spin(fleece, twist=3), wool.felt(fleece, 90)]


if __name__ == "__main__":
    print(make("merino"))
"""

HEAD = """\
import inspect

import wool

try:
    from wool.tools import card
except ImportError:
    from wool import card


def _takes(function, parameter):
"""

CONFIGURATION = """\
[project]
name = "mill"
version = "1"
dependencies = ["wool>=1.0"]

[tool.driftwatch]

[[tool.driftwatch.target]]
distribution = "wool"
module = "wool"
snapshots = "snapshots/wool"
"""


@pytest.fixture
def mill(tmp_path: Path) -> Path:
    folder = tmp_path / "mill"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(CONFIGURATION)
    specs = []
    for release, files in RELEASES.items():
        for name, text in files.items():
            place = tmp_path / release / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("\n".join(line.removeprefix(" " * 12) for line in text.splitlines()[1:]) + "\n")
        specs.append(f"{release}={tmp_path / release}")
    made = run("snapshot", "add", "--target", "wool", *specs, cwd=folder)
    assert made.status == 0, made
    (folder / "mill.py").write_text(PROGRAM)
    return folder


def printed(folder: Path, release: str) -> str | None:
    """What the program prints on a release; None where it fails."""
    done = subprocess.run(
        [sys.executable, "mill.py"],
        cwd=folder,
        env={"PYTHONPATH": str(folder.parent / release)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


@pytest.mark.slow
def test_renamed_moved_and_positional_on_each_release(mill: Path) -> None:
    worked = {release: printed(mill, release) for release in RELEASES}
    assert worked["1.0"] == worked["1.1"] is not None
    assert worked["2.0"] is None
    done = run("fix", "--write", "--unsafe", cwd=mill)
    assert done.status == 0, done
    text = (mill / "mill.py").read_text()
    assert text.startswith(HEAD)
    assert '_SPIN_TAKES_TURNS = _takes(wool.spin, "turns")\n' in text
    assert '**({"turns": 3} if _SPIN_TAKES_TURNS else {"twist": 3})' in text
    assert "wool.felt(fleece, heat=90)" in text
    assert {release: printed(mill, release) for release in RELEASES} == dict.fromkeys(RELEASES, worked["1.0"])
    assert run("scan", cwd=mill).status == 0
    again = run("fix", "--unsafe", cwd=mill)
    assert (again.out, again.err) == ("", "nothing to fix\n")
