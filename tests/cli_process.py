"""The real program in a real process, and a project with a small library of its own to run it on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

LIBRARY = {
    "1.0": "def fire(pot, minutes):\n    return pot\n\n\ndef raku(pot):\n    return pot\n",
    "1.1": "def fire(pot, minutes, glaze=None):\n    return pot\n\n\ndef raku(pot):\n    return pot\n",
    "2.0": "def fire(pot, minutes, glaze=None, *, cone=6):\n    return pot\n",
}
"""kiln: `glaze` comes in 1.1; `raku` goes, and `cone` comes, in 2.0."""

CONFIGURATION = """\
[project]
name = "studio"
version = "1"
dependencies = ["kiln>=1.0"]

[tool.driftwatch]

[[tool.driftwatch.target]]
distribution = "kiln"
module = "kiln"
snapshots = "snapshots/kiln"
"""

STUDIO = """\
import kiln


def bake(pot):
    options = {"minutes": 30}
    options["glaze"] = "blue"
    try:
        return kiln.fire(pot, **options)
    except Exception:
        return None


def finish(pot):
    return kiln.raku(pot)
"""


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


def run(
    *arguments: str,
    cwd: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    code: str | None = None,
    limit: float | None = 600,
) -> Result:
    """``driftwatch ARGUMENTS``; `code` runs first, in the same process.

    `limit` is in seconds, many more than any command takes: it ends what hangs. None where the network decides how long
    it takes, and each request has a limit of its own.
    """
    program = ["-m", "driftwatch"]
    if code is not None:
        program = ["-c", f"import sys\n{code}\nfrom driftwatch.cli import main\nmain()\n"]
    done = subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=cwd,
        env=surroundings(environment),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        timeout=limit,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def surroundings(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without what would change the look or the meaning of a run."""
    dropped = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "GITHUB_", "DRIFTWATCH_DEBUG")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    path = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    return {**kept, "PYTHONPATH": path, **(environment or {})}


def make_studio(folder: Path) -> Path:
    """A project that uses kiln, with kiln's snapshots, as the program itself makes them."""
    (folder / "pyproject.toml").write_text(CONFIGURATION)
    (folder / "studio.py").write_text(STUDIO)
    for path, data in _snapshots().items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return folder


@cache
def _snapshots() -> dict[str, bytes]:
    """The files that ``snapshot add`` writes, by their paths; made once in each process that runs tests."""
    with tempfile.TemporaryDirectory(prefix="driftwatch-studio-") as above:
        folder = Path(above).resolve()
        (folder / "pyproject.toml").write_text(CONFIGURATION)
        for release, source in LIBRARY.items():
            place = folder / ".kiln" / release
            place.mkdir(parents=True)
            (place / "kiln.py").write_text(source)
        made = run("snapshot", "add", "--target", "kiln", *(f"{r}=.kiln/{r}" for r in LIBRARY), cwd=folder)
        assert made.status == 0, made
        shutil.rmtree(folder / ".kiln")
        (folder / "pyproject.toml").unlink()
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
