"""Advice about a call goes by what the objects were made with that it is given, and by what the code says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.snapshot.store.store import load
from driftwatch.targets.target import shipped_targets

(TARGET,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
FLASHINFER = load(TARGET.snapshots)

CHOSEN = """\
import os
import flashinfer.comm as comm

def _make(backend):
    return comm.create_allreduce_fusion_workspace(backend=backend)

def pick(backend, size):
    if backend == "mnnvl":
        return None
    return size < 64

def layout_of(backend):
    return 1 if backend != "mnnvl" else None

def run(x, size, chosen, given):
"""
OWN = {
    # What is made, what is done with it, and whether the call is one that mnnvl takes no layout in.
    "the code asks before": ("auto", "layout = 1 if w.backend == 'trtllm' else None", False),
    "the other way round": ("auto", "layout = None if 'mnnvl' == w.backend else 1", False),
    "by a statement": ("auto", "layout = None\n    if w.backend == 'trtllm':\n        layout = 1", False),
    "by a variable": ("auto", "b = w.backend\n    layout = 1 if b not in ('mnnvl',) else None", False),
    "by a flag": ("auto", "old = w.backend == 'trtllm'\n    layout = None\n    if old:\n        layout = 1", False),
    "by a match": (
        "auto",
        "layout = None\n    match w.backend:\n        case 'trtllm':\n            layout = 1",
        False,
    ),
    "by getattr": ("auto", "layout = 1 if getattr(w, 'backend', None) == 'trtllm' else None", False),
    "in a closure": ("auto", "layout = (lambda: 1 if w.backend == 'trtllm' else None)()", False),
    "by more": ("auto", "layout = None if size or w.backend == 'mnnvl' else 1", False),
    "or by something else": ("auto", "layout = 1 if w.backend == 'trtllm' or size else None", True),
    "and set again": ("auto", "layout = 1 if w.backend == 'trtllm' else None\n    layout = 2", True),
    "by a helper": ("auto", "layout = layout_of(w.backend)", False),
    "by what leaves": ("auto", "layout = 1\n    if w.backend == 'mnnvl':\n        return None", False),
    "by a refusal": ("auto", "layout = 1\n    assert w.backend == 'trtllm'", False),
    "for both": ("mnnvl", "layout = 1 if w.backend in ('trtllm', 'mnnvl') else None", True),
    "for the wrong one": ("auto", "layout = 1 if w.backend == 'mnnvl' else None", True),
    "of another object": ("auto", "layout = 1 if given.backend == 'trtllm' else None", True),
    "of another attribute": ("auto", "layout = 1 if w.world_size == 8 else None", True),
    "whatever it is": ("auto", "layout = 1\n    if w.backend == 'trtllm':\n        print(w)", True),
    "in both": ("auto", "layout = 1 if w.backend == 'trtllm' else 2", True),
    "not asked": ("trtllm", "layout = 1", False),
}


@pytest.mark.parametrize("name", OWN)
def test_what_an_object_says_of_itself_counts(tmp_path: Path, name: str) -> None:
    made, asked, fires = OWN[name]
    source = f"{CHOSEN}    w = _make({made!r})\n    {asked}\n    comm.allreduce_fusion(x, w, 1, layout_code=layout)\n"
    assert ("mnnvl-without-layout" in told_of(tmp_path, source)) is fires


KEYWORDS = "kw = {}\n    if w.backend == 'trtllm':\n        kw['layout_code'] = 1"


def test_a_keyword_that_goes_with_an_object_is_told_of_no_other(tmp_path: Path) -> None:
    source = f"{CHOSEN}    w = _make('auto')\n    {KEYWORDS}\n    comm.allreduce_fusion(x, w, 1, **kw)\n"
    assert "mnnvl-without-layout" not in told_of(tmp_path, source)
    assert "mnnvl-without-layout" in told_of(tmp_path, source.replace("== 'trtllm'", "!= 'trtllm'"))


@pytest.mark.parametrize(
    ("made", "argument", "fires"),
    [
        ("_make(chosen)", "True", True),
        ("_make(os.environ['B'])", "True", True),
        ("_make('mnnvl')", "True", True),
        ("_make('mnnvl' if size else 'trtllm')", "True", True),
        ("_make('trtllm')", "True", False),
        # Whose it is, nobody here says.
        ("given", "True", False),
        ("_make(chosen)", "pick(w.backend, size)", False),
        ("_make(chosen)", "pick(given, size)", True),
        ("comm.create_allreduce_fusion_workspace(backend=chosen, force_oneshot_support=True)", "True", False),
    ],
)
def test_advice_on_a_workspace_wants_to_know_where_it_is_from(
    tmp_path: Path, made: str, argument: str, fires: bool
) -> None:
    source = f"{CHOSEN}    w = {made}\n    comm.allreduce_fusion(x, w, 1, use_oneshot={argument})\n"
    assert ("one-shot-beyond-mnnvl-workspace" in told_of(tmp_path, source)) is fires


KEPT_BY_NAME = """\
import flashinfer.comm as comm

WORKSPACES = {{}}


def setup(backend, other):
    w = comm.create_allreduce_fusion_workspace(backend=backend)
    {put}


def start(names):
    for name in {names}:
        setup(name, names)


def run(x, name):
    comm.allreduce_fusion(x, WORKSPACES[{key}], 1, use_oneshot=True)
"""


@pytest.mark.parametrize(
    ("put", "names", "key", "fires"),
    [
        ("WORKSPACES[backend] = w", "('trtllm', 'mnnvl')", "'trtllm'", False),
        ("WORKSPACES[backend] = w", "('trtllm', 'mnnvl')", "'mnnvl'", True),
        # Which names there are is not known, and each is its own workspace's all the same.
        ("WORKSPACES[backend] = w", "names", "'trtllm'", False),
        ("WORKSPACES[backend] = w", "names", "'mnnvl'", True),
        ("WORKSPACES[backend] = w", "('trtllm', *names)", "'trtllm'", False),
        ("WORKSPACES[backend] = w", "names", "name", True),
        ("WORKSPACES[other] = w", "names", "'trtllm'", True),
        ("backend = other; WORKSPACES[backend] = w", "names", "'trtllm'", True),
    ],
)
def test_a_workspace_is_the_one_that_it_is_kept_as(tmp_path: Path, put: str, names: str, key: str, fires: bool) -> None:
    source = KEPT_BY_NAME.format(put=put, names=names, key=key)
    assert ("one-shot-beyond-mnnvl-workspace" in told_of(tmp_path, source)) is fires


LOOKED = """\
import flashinfer.comm as comm

def make(device):
    try:
        {}
        return comm.create_allreduce_fusion_workspace(backend="trtllm")
    except Exception:
        return None
"""


@pytest.mark.parametrize(
    ("look", "beside", "fires"),
    [
        ("pass", {}, True),
        ("from flashinfer.comm.cuda_ipc import cudart; cudart.cudaSetDevice(device)", {}, False),
        ("from flashinfer.comm import cuda_ipc; cuda_ipc.cudart.cudaSetDevice(device)", {}, False),
        ("from flashinfer.comm import cuda_ipc; cuda_ipc.CudaRTLibrary()", {}, True),
        ("pass", {"start.py": "from flashinfer.comm.cuda_ipc import cudart\ncudart.cudaSetDevice(0)\n"}, False),
        ("pass", {"tests/test_it.py": "from flashinfer.comm.cuda_ipc import cudart\ncudart.cudaSetDevice(0)\n"}, True),
    ],
)
def test_who_looks_for_libcudart_need_not_be_told(
    tmp_path: Path, look: str, beside: dict[str, str], fires: bool
) -> None:
    for name, text in beside.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert ("libcudart-at-first-use" in told_of(tmp_path, LOOKED.format(look))) is fires


def told_of(tmp_path: Path, source: str) -> set[str]:
    (tmp_path / "app.py").write_text(source)
    request = ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("<=0.7.4",), select=("DW401",))
    return {finding.name for finding in scan(request).findings}
