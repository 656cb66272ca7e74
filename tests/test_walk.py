"""The walk in ARCHITECTURE.md is the way that a keyword really takes."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from types import FrameType

from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from tests.conftest import ROOT
from tests.flow.marked import history

SOURCE = """\
import lib.comm as comm


def make(g):
    kwargs = {}
    kwargs["group"] = g
    return comm.fuse(**kwargs)
"""


def walk() -> list[str]:
    """The functions that the document names, in its order."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return re.findall(r"(?m)^\| `([\w.]+)` \|", text.partition("## One keyword")[2].partition("\n## ")[0])


def test_the_keyword_passes_the_functions_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (tmp_path / "a.py").write_text(SOURCE)
    request = ScanRequest((tmp_path,), (Watched(history()),), against=("all",), base=tmp_path)
    entered: list[str] = []

    def enter(frame: FrameType, event: str, _argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("driftwatch."):
            entered.append(f"{module.removeprefix('driftwatch.')}.{frame.f_code.co_name}")

    # The scan has a thread of its own.
    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        shown = render("text", scan(request), RenderOptions())
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    assert "does not take `group`" in shown
    named = walk()
    assert len(named) == 10
    left = iter(entered)
    assert [name for name in named if name not in left] == []
