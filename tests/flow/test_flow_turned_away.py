"""A function that raises by a test turns its callers away as the test would, wherever it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.scan.pipeline import ScanRequest, Watched, scan
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


CLASS = """\
    class Fused:
        if Version(flashinfer.__version__) < Version('0.6.5'):
            raise ImportError('too old')
        run = staticmethod(comm.allreduce_fusion)
"""
HEAD = "import flashinfer\nimport flashinfer.comm as comm\nfrom packaging.version import Version\n"


@pytest.mark.parametrize(
    ("before", "after", "off"),
    [
        ("if True:\n", "", True),
        ("def make():\n", "    return Fused\n\n\nmake()\n", True),
        # What takes the error goes on without the class alone.
        ("try:\n", "except ImportError:\n    Fused = None\n", False),
    ],
)
def test_a_class_whose_body_raises_turns_away_what_follows(tmp_path: Path, before: str, after: str, off: bool) -> None:
    use = "\n\ndef use(x):\n    return comm.create_allreduce_fusion_workspace(backend=x)\n"
    (tmp_path / "app.py").write_text(HEAD + before + CLASS + after + use)
    request = ScanRequest((tmp_path,), (Watched(HISTORY),), against=(">=0.6",), select=("DW503",))
    led_past = [f for f in scan(request).findings if "`create_allreduce_fusion_workspace`" in f.message]
    assert [HISTORY.timeline.describe(f.releases) for f in led_past] == (["0.6.0 to 0.6.4"] if off else [])


KEPT = """\
try:
    from flashinfer.comm import MoeAlltoAll
    HAS = True
except ImportError:
    HAS = False


class Dispatcher:
    def __init__(self, mapping):
        if not HAS:
            raise ImportError("no one-sided exchange")
        self.all_to_all = MoeAlltoAll(mapping, 1, 1, 1)
"""
MADE = """\
from kept import Dispatcher


def run(mapping):
    dispatcher = Dispatcher(mapping)
    dispatcher.all_to_all.dispatch(1, 2, 3)
"""


def test_a_test_that_turns_everybody_away_is_told_where_it_stands(tmp_path: Path) -> None:
    """A test that depends on what a call passes is told at the call, as above."""
    (tmp_path / "kept.py").write_text(KEPT)
    (tmp_path / "app.py").write_text(MADE)
    request = ScanRequest((tmp_path,), (Watched(HISTORY),), against=("<0.6",), select=("DW503",))
    assert {(f.location.path, f.location.line) for f in scan(request).findings} == {("kept.py", 10)}
