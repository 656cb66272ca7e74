"""A function that raises by a test turns its callers away as the test would, wherever it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.scan import ScanRequest, Watched, scan
from driftwatch.snapshot.store.store import load
from driftwatch.targets.target import shipped_targets

(TARGET,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
HISTORY = load(TARGET.snapshots)
CHECK = """\
from importlib.metadata import version
from packaging.version import Version


def need(package, least):
    if Version(version(package)) < Version(least):
        raise RuntimeError(package)


def old(x, group):
    return x.allreduce_fusion(group=group)
"""
USE = """\
import flashinfer.comm as comm
from check import need, old


def run(x, w):
    {}
    return comm.allreduce_fusion(input=x, workspace=w, pattern=1)
"""


@pytest.mark.parametrize(
    ("call", "off"),
    [
        ("need('flashinfer_python', '0.6.14')", "0.6.0 to 0.6.13"),
        ("need('flashinfer-python', least='0.6.1')", "0.6.0"),
        ("need('torch', '2.0')", None),
        # What fails of itself decides nothing.
        ("old(comm, w)", None),
    ],
)
def test_a_check_that_is_called(tmp_path: Path, call: str, off: str | None) -> None:
    (tmp_path / "check.py").write_text(CHECK)
    (tmp_path / "app.py").write_text(USE.format(call))
    request = ScanRequest((tmp_path,), (Watched(HISTORY),), against=(">=0.6",), select=("DW503",))
    found = [(f.location.path, f.location.line, HISTORY.timeline.describe(f.releases)) for f in scan(request).findings]
    assert found == ([("app.py", 6, off)] if off else [])
