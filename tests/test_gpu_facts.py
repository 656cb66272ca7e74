"""What releases say of GPUs, sizes and dtypes: read, stored, shown, and the same as the target's own data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftwatch.adapter.policy import load_policy
from driftwatch.errors import ConfigError, SnapshotError
from driftwatch.releases import Timeline, union
from driftwatch.snapshot.collect.gpu_facts import gpu_facts
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.gpu_facts import GpuFact, GpuWords, KernelList, Said
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.snapshot.sources.tree import FolderTree
from driftwatch.snapshot.store.gpu_facts import GPUS, add_facts, load_facts
from driftwatch.snapshot.store.store import load
from driftwatch.targets.gpu_words import FILE, load_gpu_words
from driftwatch.targets.target import choose, shipped_targets
from tests.cli_process import run
from tests.known_releases import known

TARGET = choose(shipped_targets(), "flashinfer-python")
HISTORY = load(TARGET.snapshots)

LIBRARY = {
    "kiln/__init__.py": "",
    "kiln/build.py": (
        "MAJORS = [9, 10]\n"
        "def compile_for(name):\n    return flags(majors=MAJORS)\n"
        "def compile_new():\n    return flags(majors=[12])\n"
        "def unknown(which):\n    return flags(majors=which)\n"
    ),
    "kiln/fire.py": (
        "from functools import cache\n"
        "from .build import compile_for, compile_new, unknown\n"
        "from . import build as b\n"
        "@cache\ndef module():\n    made = compile_for('fire')\n"
        "    def inner():\n        compile_new()\n    return made\n"
        "def direct(x):\n    module().run(x)\n"
        "def by_module():\n    return b.compile_for('x')\n"
        "def choosing(x, fast):\n    if fast:\n        compile_new()\n    module()\n"
        "def leaving(x):\n    if x is None:\n        return None\n    return module()\n"
        "def either(fast):\n    return compile_new() if fast else module()\n"
        "def nothing(which):\n    return unknown(which)\n"
        "def again(n):\n    again(n - 1)\n    module()\n"
        "def later():\n    return lambda: module()\n"
        "@capable([90, 100])\ndef decorated():\n    pass\n"
        "@capable(LIST)\ndef decorated_otherwise():\n    pass\n"
        "def _private():\n    module()\n"
        "class Oven:\n    def __init__(self, size, dtype):\n        self.check(size)\n        self.size = size\n"
        "        _check(dtype=dtype, size=3)\n        module()\n"
        "    def check(self, size):\n        if size not in (2, 4):\n            raise ValueError('size')\n"
        "    def bake(self):\n        self.check(self.size)\n"
        "def _check(dtype, size):\n    if dtype != torch.half:\n        raise TypeError('no')\n"
        "    if size > 7:\n        raise ValueError('too large')\n"
        "def own(size):\n    if size > 3:\n        raise ValueError('too large')\n"
        "def handed(size, dtype):\n    size = size + 1\n    own(size)\n    own(size=4)\n    _check(dtype, size)\n"
    ),
    "cuda/fire.cuh": "switch (pattern) { case 1: default: }\nswitch (p.nranks) { case 2: x; case 16: default: }\n",
}
WORDS = GpuWords(
    ("capable",),
    ("majors",),
    ("size", "dtype"),
    (
        KernelList(
            Said.RANKS, ("kiln.fire:direct",), ("gone.cuh", "cuda/fire.cuh"), r"case (\d+):", "nranks", "default"
        ),
        KernelList(Said.RANKS, ("kiln.fire:no_such",), ("cuda/fire.cuh",), r"case (\d+):"),
    ),
)


def read(tmp_path: Path) -> dict[str, set[tuple[str, tuple[str, ...], str, bool]]]:
    for name, text in LIBRARY.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    tree = FolderTree(tmp_path)
    found = gpu_facts(tree, collect(tree, "kiln", "1.0"), "kiln", WORDS)
    assert list(found) == sorted(found)
    said: dict[str, set[tuple[str, tuple[str, ...], str, bool]]] = {}
    for fact in found:
        by = fact.by.rpartition(":")[2]
        said.setdefault(fact.symbol, set()).add((fact.said.value, fact.values, by, fact.perhaps))
    return {name.partition(":")[2]: facts for name, facts in said.items() if name.startswith("kiln.fire:")}


def test_what_is_read_of_a_release(tmp_path: Path) -> None:
    """A condition, a return, a nested function and a lambda leave it open; what calls itself ends."""
    sure = ("majors", ("9", "10"), "compile_for", False)
    perhaps, other = (*sure[:3], True), ("majors", ("12",), "compile_new", True)
    half = ("refuses", ("dtype != torch.half", "TypeError"), "_check", False)
    assert read(tmp_path) == {
        "module": {sure},
        "direct": {sure, ("ranks", ("2", "16"), "fire.cuh", False)},
        "by_module": {sure},
        "choosing": {sure, other},
        "leaving": {perhaps},
        "either": {perhaps, other},
        "again": {sure},
        "decorated": {("capabilities", ("9.0", "10.0"), "decorated", False)},
        # What a callee checks is told of what it is handed under its own name, and of nothing else.
        "Oven": {sure, half, ("refuses", ("size not in (2, 4)", "ValueError"), "Oven.check", False)},
        "handed": {half},
    }


def test_no_words_no_facts(tmp_path: Path) -> None:
    read(tmp_path)
    tree = FolderTree(tmp_path)
    assert gpu_facts(tree, collect(tree, "kiln", "1.0"), "kiln", GpuWords()) == ()


ONE = GpuFact("kiln:fire", Said.MAJORS, ("9",), "kiln:build")
TWO = GpuFact("kiln:fire", Said.REFUSES, ("x > 1", "ValueError"), "kiln:check", perhaps=True)


def test_facts_are_stored_by_spans_of_releases(tmp_path: Path) -> None:
    old, new = Timeline(["1.0", "1.2", "2.0"]), Timeline(["1.0", "1.1", "1.2", "2.0"])
    add_facts(tmp_path, Timeline(()), old, {"1.0": (ONE,), "1.2": (ONE, TWO), "2.0": (TWO,)})
    first = (tmp_path / GPUS).read_bytes()
    assert {fact: old.versions_of(where) for fact, where in load_facts(tmp_path, old)} == {
        ONE: ("1.0", "1.2"),
        TWO: ("1.2", "2.0"),
    }
    add_facts(tmp_path, old, new, {"1.1": (), "2.0": (ONE,)})
    assert {fact: new.versions_of(where) for fact, where in load_facts(tmp_path, new)} == {
        ONE: ("1.0", "1.2", "2.0"),
        TWO: ("1.2",),
    }
    add_facts(tmp_path, new, old, {"1.0": (ONE,), "1.2": (ONE, TWO), "2.0": (TWO,)})
    assert (tmp_path / GPUS).read_bytes() == first, "the same facts are the same bytes"


@pytest.mark.parametrize(
    "text", ["", "{}\n", '{"format": 1}\n{"name": 3}\n', '{"format": 1}\nnothing\n', '{"format": 2}\n']
)
def test_a_damaged_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / GPUS).write_text(text)
    with pytest.raises(SnapshotError, match=GPUS):
        load_facts(tmp_path, Timeline(["1.0"]))


@pytest.mark.parametrize("text", ["[[kernels]]\nsays = 'x'", "[[kernels]]\nsays = 'ranks'", "decorators = 3", "x = ["])
def test_words_that_cannot_be_read_are_told(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ConfigError, match=FILE):
        load_gpu_words(tmp_path)


def test_the_policy_of_the_adapter_says_what_is_recorded() -> None:
    """Majors from 0.3.1 on, and sizes of groups in every release, of both backends."""
    assert TARGET.data is not None
    hardware = load_policy(TARGET.data / "policy.toml").target["hardware"]
    of = {"trtllm": "trtllm_allreduce_fusion", "mnnvl": "trtllm_mnnvl_fused_allreduce_add_rmsnorm"}
    for row in hardware:
        releases = HISTORY.timeline.matching(row["releases"])
        for fact, where in HISTORY.gpu_facts if row["backend"] in of else ():
            if Ref.parse(fact.symbol).qualname == of[row["backend"]] and where & releases and not fact.perhaps:
                key = {Said.MAJORS: "majors", Said.RANKS: "ranks"}.get(fact.said)
                assert key is None or list(map(int, fact.values)) == row[key], (row, fact)
    ranks = union([where for fact, where in HISTORY.gpu_facts if fact.said is Said.RANKS])
    assert not known(HISTORY.timeline) - ranks


def test_history_shows_them() -> None:
    done = run("history", "flashinfer.comm.trtllm_allreduce_fusion")
    assert "  kernels for sm9x, sm10x in 0.3.1 to 0.6.16.post4, 38 releases\n" in done.out
    assert "  dtypes bfloat16, float16, float32 in 0.4.0 to " in done.out
    found = json.loads(run("history", "flashinfer.comm.trtllm_allreduce_fusion", "--format", "json").out)["symbols"]
    (ranks,) = [each for each in found[0]["accepts"] if each["says"] == "ranks"]
    assert ranks["values"] == ["2", "4", "8", "16"]
    assert set(HISTORY.timeline.versions_of(known(HISTORY.timeline))) <= set(ranks["releases"])
    (symbol,) = json.loads(run("history", "flashinfer.comm.allreduce_fusion", "--format", "json").out)["symbols"]
    assert {each["perhaps"] for each in symbol["accepts"]} == {True}
    assert {each["says"] for each in symbol["accepts"]} == {"majors", "refuses"}
