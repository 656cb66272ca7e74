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

from driftwatch.adapter.write import make_adapter
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.store.store import snapshot_of
from driftwatch.targets.target import Target
from tests.known_releases import LAST
from tests.stubs import write_stub

KNOWN = f"flashinfer-python<={LAST}"
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
        # Before 0.6.0 there is nothing to bind: that is a note on what a downgrade would cost. An adapter does not
        # change how a release behaves.
        found = [f for f in report["findings"] if f["releases"] and f["code"] != "DW401"]
        findings[folder] = [(f["code"], f["parameter"]) for f in found]
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


def test_an_adapter_of_two_files_is_known_as_one(history: History, target: Target, tmp_path: Path) -> None:
    made = make_adapter(history, target, split="fi_runtime")
    assert made.runtime is not None
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "fi_runtime.py").write_text(made.runtime[1])
    report = scanned(tmp_path, ERRORS, made.text, "DW101,DW201")
    assert {f["path"] for f in report["findings"]} == {"engine/layer.py"}
    assert (15, "DW101", "UnsupportedArgument", "guarded", "0.6.0", "0.7.0.post1") in in_short(report)
    assert report["unresolved"] == []


@pytest.mark.parametrize("preface", ["", "# SPDX-License-Identifier: Apache-2.0\n"])
def test_an_adapter_is_known_by_its_header(preface: str, adapter_file: Path, tmp_path: Path) -> None:
    """What it binds is held against what it accepts, in every release; all else against the library as before."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    (tmp_path / "engine" / "fi.py").write_text(preface + adapter_file.read_text())
    (tmp_path / "engine" / "layer.py").write_text(ENGINE.format(module="fi"))
    command = [sys.executable, "-m", "driftwatch", "scan", ".", "--against", f"{KNOWN},>=0.6.0", "--no-cache"]
    command += ["--select", "DW101,DW201,DW203", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    report = json.loads(done.stdout)
    checked = report["targets"][0]["releases"]["checked"]
    findings = [f for f in report["findings"] if f["releases"]]
    found: dict[tuple[Any, ...], set[str]] = {}  # in one release it is the adapter's own error, in another Python's
    for f in findings:
        found.setdefault((f["code"], f["line"], f["parameter"]), set()).update(f["releases"])
    assert list(found) == [
        ("DW101", 8, "no_such"),
        ("DW101", 9, "no_such"),
        ("DW201", 13, None),
        ("DW203", 14, None),
        ("DW201", 20, None),
    ]
    assert {f["path"] for f in findings} == {"engine/layer.py"}
    assert list(found.values()) == [set(checked), set(checked), {"0.7.4"}, set(checked), set(checked)]
    assert report["unresolved"] == []


ERRORS = """
from engine import fi as comm
from engine.fi import allreduce_fusion


def too_late(x, ws):
    try:
        comm.allreduce_fusion(input=x, workspace=ws, pattern=1, no_such=1)
    except TypeError:
        return None


def in_time(x, ws):
    try:
        comm.allreduce_fusion(input=x, workspace=ws, pattern=1, no_such=1)
    except comm.UnsupportedArgument:
        return None


def one_of_them(x, ws):
    try:
        comm.allreduce_fusion(input=x, workspace=ws, pattern=1, no_such=1)
    except Exception:
        return None


def there_or_not(x, ws):
    allreduce_fusion(input=x, workspace=ws, pattern=1)


def asked_first(x, ws):
    if comm.available("allreduce_fusion"):
        comm.allreduce_fusion(input=x, workspace=ws, pattern=1)
    if hasattr(comm, "allreduce_fusion"):
        comm.allreduce_fusion(input=x, workspace=ws, pattern=2)


def survived(x, ws):
    try:
        allreduce_fusion(input=x, workspace=ws, pattern=1)
    except comm.AdapterError:
        return x
"""


def scanned(folder: Path, layer: str, adapter: str, select: str) -> dict[str, Any]:
    """What a scan says of an engine with an adapter, against all releases that tests speak of."""
    (folder / "engine").mkdir(exist_ok=True)
    (folder / "engine" / "__init__.py").write_text("")
    (folder / "engine" / "fi.py").write_text(adapter)
    (folder / "engine" / "layer.py").write_text(layer)
    command = [sys.executable, "-m", "driftwatch", "scan", ".", "--against", KNOWN, "--no-cache", "--format", "json"]
    done = subprocess.run([*command, "--select", select], capture_output=True, text=True, check=False, cwd=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def in_short(report: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Line, code, exception, outcome, and the first and the last release of each finding."""
    return [
        (f["line"], f["code"], f["exception"], f["outcome"], f["releases"][0], f["releases"][-1])
        for f in report["findings"]
        if f["releases"]
    ]


def test_the_adapter_raises_errors_of_its_own(adapter_file: Path, tmp_path: Path) -> None:
    """What it refuses is no TypeError, but where the name is the library's; and a name that it binds is always there.

    The same calls, run: `test_what_the_scan_says_is_what_happens`.
    """
    report = scanned(tmp_path, ERRORS, adapter_file.read_text(), "DW101,DW201")
    refused, gone = "UnsupportedArgument", "UnavailableFunction"
    assert sorted(in_short(report)) == [
        (8, "DW101", "TypeError", "silent", "0.7.1", "0.7.4"),
        (8, "DW101", refused, "raises", "0.6.0", "0.7.0.post1"),
        (8, "DW201", gone, "raises", "0.2.7.post1", "0.5.3"),
        (15, "DW101", "TypeError", "raises", "0.7.1", "0.7.4"),
        (15, "DW101", refused, "guarded", "0.6.0", "0.7.0.post1"),
        (15, "DW201", gone, "raises", "0.2.7.post1", "0.5.3"),
        (22, "DW101", "TypeError", "silent", "0.7.1", "0.7.4"),
        (22, "DW101", refused, "silent", "0.6.0", "0.7.0.post1"),
        (22, "DW201", gone, "silent", "0.2.7.post1", "0.5.3"),
        (28, "DW201", gone, "raises", "0.2.7.post1", "0.5.3"),
        (35, "DW201", gone, "raises", "0.2.7.post1", "0.5.3"),
        (40, "DW201", gone, "guarded", "0.2.7.post1", "0.5.3"),
    ]
    assert report["unresolved"] == []


OWN = """
from engine import fi as comm


def run(group, dtype):
    comm.FusedAllReduce(group, 64, dtype, 8, backend="trtllm")
    comm.FusedAllReduce(group, 64, dtype, 8, no_such=1)
    comm.FusedAllReduce(group, 64)
    comm.available()
    comm.available("MoeAlltoAll")
"""


def test_what_an_adapter_has_of_its_own_is_checked(adapter_file: Path, tmp_path: Path) -> None:
    report = scanned(tmp_path, OWN, adapter_file.read_text(), "DW101,DW102,DW201")
    assert [(f["line"], f["code"], f["parameter"]) for f in report["findings"]] == [
        (7, "DW101", "no_such"),
        (8, "DW102", "dtype"),
        (8, "DW102", "max_token_num"),
        (9, "DW102", "name"),
    ]
    assert report["unresolved"] == []


CLASSES = """
from engine import fi as comm


def run(mapping, x):
    a2a = comm.MoeAlltoAll(mapping, 1, 2, 3, enable_rank_mask=False, backend="trtllm")
    a2a.dispatch(x, [x], 1, active_rank_mask=None)
    a2a.combine(x, 1, use_low_precision=False, no_such=1)
    a2a.no_such()
"""


def test_classes_take_what_the_adapter_takes(adapter_file: Path, tmp_path: Path) -> None:
    report = scanned(tmp_path, CLASSES, adapter_file.read_text(), "DW101,DW201,DW203")
    refused, gone = "UnsupportedArgument", "UnavailableFunction"
    assert sorted(in_short(report)) == [
        (6, "DW201", gone, "raises", "0.2.7.post1", "0.7.4"),
        (8, "DW101", "TypeError", "raises", "0.6.16", "0.7.2.post1"),
        (8, "DW101", refused, "raises", "0.6.0", "0.6.15.post1"),
        (9, "DW203", "AttributeError", "raises", "0.6.0", "0.7.2.post1"),
    ]


RUN = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from engine import layer
said = {}
for name in ("too_late", "in_time", "one_of_them", "there_or_not", "asked_first", "survived"):
    try:
        getattr(layer, name)(1, 2)
    except Exception as error:
        said[name] = type(error).__name__
print(json.dumps(said))
"""


@pytest.mark.parametrize(
    ("release", "wanted"),
    [
        ("0.5.3", dict.fromkeys(("too_late", "in_time", "there_or_not", "asked_first"), "UnavailableFunction")),
        ("0.7.0.post1", {"too_late": "UnsupportedArgument"}),
        ("0.7.1", {"in_time": "TypeError"}),
    ],
)
def test_what_the_scan_says_is_what_happens(
    release: str, wanted: dict[str, str], history: History, adapter_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    (tmp_path / "engine" / "fi.py").write_bytes(adapter_file.read_bytes())
    (tmp_path / "engine" / "layer.py").write_text(ERRORS)
    stub = write_stub(snapshot_of(history, release), tmp_path / "stub")
    command = [sys.executable, "-I", "-c", RUN, str(stub), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == wanted


PART = """
from engine import fi as comm


def run(x, ws, group):
    comm.allreduce_fusion(input=x, workspace=ws, pattern=1, trigger_completion_at_end=False)
    comm.allreduce_fusion(input=x, workspace=ws, pattern=1, moe_finalize_backend="trtllm")
    comm.create_allreduce_fusion_workspace("trtllm", 2, 0, 8, 64, None, group=group)
    comm.trtllm_moe_allreduce_fusion(no_such=1)
"""


@pytest.mark.parametrize(
    ("against", "functions", "wanted"),
    [
        # What it does not bind is the library's own, whatever the policy says of it.
        (
            "all",
            ("allreduce_fusion",),
            [
                (8, "TypeError", "0.6.0", "0.6.10"),
                (9, "TypeError", "0.2.7.post1", "0.7.4"),
            ],
        ),
        # Beyond the policy, and a reference that does not know the newest arguments: the builds that have them take it.
        (
            "<0.6.9",
            ("allreduce_fusion", "trtllm_moe_allreduce_fusion"),
            [
                (7, "TypeError", "0.6.8", "0.7.0.post1"),
                (7, "UnsupportedArgument", "0.6.0", "0.6.7.post3"),
                (8, "TypeError", "0.6.0", "0.6.10"),
                (9, "TypeError", "0.2.7.post1", "0.7.4"),
            ],
        ),
    ],
)
def test_a_scan_reads_what_an_adapter_was_made_for(
    against: str, functions: tuple[str, ...], wanted: list[Any], history: History, target: Target, tmp_path: Path
) -> None:
    made = make_adapter(history, target, against=against, functions=functions)
    report = scanned(tmp_path, PART, made.text, "DW101")
    found = [
        (f["line"], f["exception"], f["releases"][0], f["releases"][-1])
        for f in report["findings"]
        if f["line"] > 5 and f["releases"]
    ]
    assert sorted(found) == wanted


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


@pytest.mark.slow
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
