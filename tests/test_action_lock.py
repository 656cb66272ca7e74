"""What the action installs: exact releases, whose files have to have the hashes that were locked."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from driftwatch.system.toml import parse
from tests.conftest import ROOT
from tests.fake_index import FakeIndex, make_wheel, serving
from tests.test_action import SCRIPTS, script


@pytest.mark.slow
def test_the_action_installs_nothing_but_what_is_locked(tmp_path: Path) -> None:
    """A file of another hash, and one that would have to be built, end the check as an error and not as findings."""
    shutil.copytree(SCRIPTS, tmp_path / "scripts")
    wheel = make_wheel({"demo.py": "", "demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n"})
    index = FakeIndex()
    index.add("demo", "demo-1.0-py3-none-any.whl", wheel)
    index.add("built", "built-1.0.tar.gz", wheel)
    fine = hashlib.sha256(wheel).hexdigest()
    locks = {
        f"demo==1.0 --hash=sha256:{'0' * 64}\n": "DO NOT MATCH THE HASHES",
        f"built==1.0 --hash=sha256:{fine}\n": "No matching distribution found for built==1.0",
        f"demo==1.0 --hash=sha256:{fine}\n": "nowhere",
    }
    with serving(index):
        for lock, told in locks.items():
            (tmp_path / "scripts" / "action.lock").write_text(lock)
            own = {
                "RUNNER_TEMP": str(tmp_path),
                "DRIFTWATCH_PYTHON": sys.executable,
                "DRIFTWATCH_SOURCE": str(tmp_path / "nowhere"),
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_INDEX_URL": f"{index.base}/simple/",
                "PIP_NO_CACHE_DIR": "1",
                "PYTHONPATH": "",
            }
            result = script("action.sh", cwd=tmp_path, environment=own, of=tmp_path / "scripts")
            assert (result.status, result.out) == (
                2,
                "::error::driftwatch could not be installed; the lines above say why\n",
            )
            assert told in result.err, result.err


def test_the_lock_holds_all_that_the_program_needs() -> None:
    """Exact releases with hashes, from no named place, for what pyproject.toml declares and what that needs in turn."""
    text = (SCRIPTS / "action.lock").read_text()
    assert "://" not in text and "@" not in text
    locked: dict[str, list[Requirement]] = {}
    for entry in re.split(r"\n(?=\S)", text):
        line, *rest = [line.strip().removesuffix("\\").strip() for line in entry.splitlines()]
        requirement = Requirement(line)
        assert re.fullmatch(r"==[\w.!+]+", str(requirement.specifier)), line
        assert any(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in rest), line
        assert all(each.startswith(("--hash=sha256:", "#")) for each in rest), line
        locked.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    project = parse((ROOT / "pyproject.toml").read_text())
    for declared in map(Requirement, [*project["project"]["dependencies"], *project["build-system"]["requires"]]):
        for each in locked[canonicalize_name(declared.name)]:
            (version,) = each.specifier
            assert declared.specifier.contains(version.version), (str(declared), str(each))
    waiting = [canonicalize_name(Requirement(each).name) for each in project["project"]["dependencies"]]
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in needed or (name == "tomli" and sys.version_info >= (3, 11)):
            continue
        needed.add(name)
        further = map(Requirement, metadata.requires(name) or ())
        waiting += [canonicalize_name(r.name) for r in further if not r.marker or r.marker.evaluate({"extra": ""})]
    assert needed <= locked.keys(), needed - locked.keys()
