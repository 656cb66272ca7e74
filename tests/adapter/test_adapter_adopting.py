"""docs/adopting.md: engines' integrations rewritten on the adapter, run on all releases as the engines call them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftwatch.snapshot.model.history import History
from tests.adapter.together import together

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "adopting.md"
ENGINES = ("sglang_fusion.py", "vllm_fusion.py")
TURNS = (
    *("0.2.7.post1", "0.2.8", "0.5.0", "0.6.0", "0.6.4", "0.6.8", "0.6.11"),
    *("0.6.12", "0.6.13", "0.6.15", "0.7.1", "0.7.4"),
)
"""Releases in which something begins that the engines use."""


def test_the_document_shows_what_is_run() -> None:
    shown = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert shown == [(HERE / "adopted" / name).read_text(encoding="utf-8") for name in ENGINES]


def test_a_scan_has_nothing_to_say(adapter_file: Path, tmp_path: Path) -> None:
    (tmp_path / "fi_adapter.py").write_bytes(adapter_file.read_bytes())
    for name in ENGINES:
        (tmp_path / name).write_bytes((HERE / "adopted" / name).read_bytes())
    command = [sys.executable, "-m", "driftwatch", "scan", ".", "--against", "all", "--no-cache", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["findings"] == []
    assert report["unresolved"] == []
    assert report["summary"]["analysed"] == len(ENGINES)


@pytest.mark.slow
def test_they_run_where_something_begins(history: History, adapter_file: Path, tmp_path: Path) -> None:
    adopted(TURNS, history, adapter_file, tmp_path)


@pytest.mark.on_request
def test_they_run_on_every_release(history: History, adapter_file: Path, tmp_path: Path) -> None:
    adopted(history.timeline.versions, history, adapter_file, tmp_path)


def adopted(releases: Any, history: History, adapter_file: Path, folder: Path) -> None:
    """No call is lost: what a release has no kernel for is computed, and the reason is told."""
    pytest.importorskip("torch")
    said = together(HERE / "adopting.py", folder, adapter_file, limit=900, releases=list(releases))
    assert said[0] == said[1]

    def has(release: str, since: str) -> bool:
        return not history.timeline.set_of([release]).isdisjoint(history.timeline.matching(f">={since}"))

    for release, seen in said[0].items():
        # mnnvl from 0.6.12 on, and before it trtllm: on SM100, where both could run.
        fp8 = has(release, "0.6.13") or (has(release, "0.5.0") and not has(release, "0.6.12"))
        nvfp4 = has(release, "0.6.13") or (has(release, "0.6.4") and not has(release, "0.6.12"))
        bias = has(release, "0.6.12")
        assert seen["sglang"] == [True] * 4, release
        because = [] if bias else ["this release has no weight_bias"]
        backend, build = "mnnvl" if has(release, "0.6.12") else "trtllm", f"flashinfer-python {release}"
        lacking = [kind for kind, able in (("fp8", fp8), ("nvfp4", nvfp4)) if not able]
        because += [f"no {kind} output from {backend} of {build} here" for kind in lacking]
        assert seen["vllm"] == [True, fp8, nvfp4, True, has(release, "0.6.15"), sorted(because)], release
        assert seen["kernels"] > 0
