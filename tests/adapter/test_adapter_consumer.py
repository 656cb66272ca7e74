"""A consumer that breaks on most releases, switched to the adapter by changing its import: found by scan, and run.

Each release's stub package is imported by a process of its own, with nothing else of the library about.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from driftwatch.snapshot.history import History
from driftwatch.snapshot.store import snapshot_of
from tests.stubs import write_stub

CONSUMER = Path(__file__).with_name("consumer.py").read_text(encoding="utf-8")
PROGRAM = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import consumer
said = {}
for group in (None, object()):
    consumer.manager.__init__()
    consumer.manager.initialize(2, 0, 64, 128, None, group=group)
    said["with group" if group else "without"] = repr(consumer.manager.failure) if consumer.manager.failure else None
try:
    consumer.allreduce_residual_rmsnorm(1, 2, 3, 4, 5)
    said["call"] = None
except Exception as error:
    said["call"] = repr(error)
try:
    import fi_adapter
    said["evidence"] = {name: f["evidence"] for name, f in fi_adapter.report()["functions"].items()}
except ImportError:
    pass
print(json.dumps(said))
"""


def test_scan_finds_nothing_once_the_import_is_changed(adapter_file: Path, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    (before / "consumer.py").write_text(CONSUMER.replace("the_library as", "flashinfer.comm as"))
    (after / "consumer.py").write_text(CONSUMER.replace("the_library as", "fi_adapter as"))
    (after / "fi_adapter.py").write_bytes(adapter_file.read_bytes())
    findings = {}
    for folder in (before, after):
        command = [sys.executable, "-m", "driftwatch", "scan", str(folder), "--against", "flashinfer-python>=0.6.0"]
        done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        report = json.loads(done.stdout)
        # Before 0.6.0 there is nothing to bind: that is a note on what a downgrade would cost.
        findings[folder] = [(f["code"], f["parameter"]) for f in report["findings"] if f["releases"]]
        assert report["summary"]["analysed"] > 0
    assert ("DW101", "group") in findings[before]
    assert ("DW101", "trigger_completion_at_end") in findings[before]
    assert findings[after] == []


ENGINE = """
from engine import {module} as comm
from engine.{module} import trtllm_create_ipc_workspace_for_all_reduce_fusion as create


def run(x, ws):
    comm.allreduce_fusion(input=x, workspace=ws, pattern=1, weight_bias=1.0, moe_finalize_backend="trtllm")
    comm.allreduce_fusion(input=x, workspace=ws, pattern=1, no_such=1)
    create(0, 2, 3, 4, no_such=2)


def others(mapping):
    comm.MoeAlltoAll(mapping, 1, 2, 3)
    comm.AllReduceFusionPattern.kNoSuch
    if comm.available("allreduce_fusion"):
        comm.FusedAllReduce(None, 3).close()


def below():
    from engine.{module}.mnnvl import NoSuchBackend
"""


@pytest.mark.parametrize("preface", ["", "# SPDX-License-Identifier: Apache-2.0\n"])
def test_an_adapter_is_known_by_its_header(preface: str, adapter_file: Path, tmp_path: Path) -> None:
    """What it binds is held against what it accepts, in every release; all else against the library as before."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    (tmp_path / "engine" / "fi.py").write_text(preface + adapter_file.read_text())
    (tmp_path / "engine" / "layer.py").write_text(ENGINE.format(module="fi"))
    command = [sys.executable, "-m", "driftwatch", "scan", ".", "--against", "flashinfer-python>=0.6.0", "--no-cache"]
    command += ["--select", "DW101,DW201,DW203", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    report = json.loads(done.stdout)
    checked = report["targets"][0]["releases"]["checked"]
    findings = [f for f in report["findings"] if f["releases"]]
    found = [(f["code"], f["line"], f["parameter"]) for f in findings]
    assert found == [
        ("DW101", 8, "no_such"),
        ("DW101", 9, "no_such"),
        ("DW201", 13, None),
        ("DW203", 14, None),
        ("DW201", 20, None),
    ]
    assert {f["path"] for f in findings} == {"engine/layer.py"}
    assert [f["releases"] for f in findings] == [checked, checked, ["0.7.4"], checked, checked]
    assert report["unresolved"] == []


SUBMODULES = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import importlib
import flashinfer.comm.mnnvl
spec = flashinfer.comm.mnnvl.__spec__
import engine.fi as fi
from engine.fi.mnnvl import TorchDistBackend
import engine.fi.mnnvl as mnnvl
assert mnnvl is flashinfer.comm.mnnvl
assert mnnvl.__spec__ is spec
assert mnnvl.__name__ == "flashinfer.comm.mnnvl"
assert TorchDistBackend is flashinfer.comm.mnnvl.TorchDistBackend
importlib.reload(fi)
assert sum(getattr(finder, "adapter", None) == "engine.fi" for finder in sys.meta_path) == 1
try:
    import engine.fi.no_such
except ImportError as error:
    assert "import flashinfer.comm.no_such raised ModuleNotFoundError" in str(error)
else:
    raise SystemExit("it was found")
"""


def test_submodules(history: History, adapter_file: Path, tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    (tmp_path / "engine" / "fi.py").write_bytes(adapter_file.read_bytes())
    stub = write_stub(snapshot_of(history, "0.7.4"), tmp_path / "stub")
    command = [sys.executable, "-I", "-c", SUBMODULES, str(stub), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


TURNS = ("0.6.0", "0.6.7.post3", "0.6.8", "0.6.10", "0.6.10.post1", "0.6.12", "0.7.1", "0.7.4")
"""The releases at which a signature that the consumer uses changes, and those just before."""


def test_it_runs_where_signatures_turn(history: History, adapter_file: Path, tmp_path: Path) -> None:
    run_on(TURNS, history, adapter_file, tmp_path)


@pytest.mark.on_request
def test_it_runs_on_every_release(history: History, adapter_file: Path, tmp_path: Path) -> None:
    later = history.timeline.versions_of(history.timeline.matching(">=0.6.0"))
    assert len(later) >= 39
    run_on(later, history, adapter_file, tmp_path)


def run_on(releases: Sequence[str], history: History, adapter_file: Path, tmp_path: Path) -> None:
    (tmp_path / "fi_adapter.py").write_bytes(adapter_file.read_bytes())
    (tmp_path / "consumer.py").write_text(CONSUMER.replace("the_library as", "fi_adapter as"))
    takes_group = set(history.timeline.versions_of(history.timeline.matching(">=0.6.10.post1")))
    for release in releases:
        said = run(history, release, tmp_path)
        assert said["call"] is None, release
        assert said["without"] is None, release
        if release in takes_group:
            assert said["with group"] is None, release
        else:
            assert said["with group"].startswith("UnsupportedArgument("), release
            assert "first taken in 0.6.10.post1" in said["with group"]
        assert set(said["evidence"].values()) <= {"live", "none"}, release
        assert said["evidence"]["allreduce_fusion"] == "live", release


@pytest.mark.parametrize("release", ["0.6.7", "0.6.10"])
def test_it_broke_before(history: History, release: str, tmp_path: Path) -> None:
    (tmp_path / "consumer.py").write_text(CONSUMER.replace("the_library as", "flashinfer.comm as"))
    said = run(history, release, tmp_path)
    assert "unexpected keyword argument 'group'" in said["without"]
    assert (said["call"] is None) == (release == "0.6.10")


def run(history: History, release: str, folder: Path) -> dict[str, Any]:
    stub = write_stub(snapshot_of(history, release), folder / f"stub-{release}")
    command = [sys.executable, "-I", "-c", PROGRAM, str(stub), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (release, done.stderr)
    said: dict[str, Any] = json.loads(done.stdout)
    return said
