"""Generated programs and the cases that driftwatch began with, before and after their repairs, executed.

The number of programs is bounded here; ``benchmarks/repairs.py`` runs any number with any seed.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftwatch.repair import keywords, probes
from driftwatch.repair.model import Probe
from driftwatch.snapshot.model.history import History, merge
from tests.conftest import ROOT
from tests.differential import library
from tests.differential.generate import generate
from tests.differential.menu import Menu
from tests.differential.programs import ANYTHING, Call, Program
from tests.differential.shipped import shipped, shipped_stubs
from tests.fix.differential import Runner, Tally, held
from tests.stubs import write_stub

SMALL_PROGRAMS = 90
SHIPPED_PROGRAMS = 30
BATCH = 30
Repaired = tuple[History, Runner]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repaired]:
    folder = tmp_path_factory.mktemp("small")
    snapshots = library.snapshots()
    stubs = {s.release: write_stub(s, folder / s.release, "lib-dist") for s in snapshots}
    with Runner(stubs, "lib") as runner:
        yield merge("lib-dist", "lib.comm", snapshots), runner


@pytest.fixture(scope="module")
def flashinfer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repaired]:
    with Runner(shipped_stubs(tmp_path_factory.mktemp("flashinfer")), "flashinfer") as runner:
        yield shipped(), runner


def tally_of(repaired: Repaired, folder: Path, count: int, seed: int = 0) -> Tally:
    history, runner = repaired
    menu, tally = Menu.of(history), Tally()
    for start in range(seed, seed + count, BATCH):
        programs = [generate(random.Random(n), menu, f"p{n}") for n in range(start, min(start + BATCH, seed + count))]
        place = folder / str(start)
        place.mkdir()
        held(place, programs, history, runner, tally)
    return tally


EXPECTED: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "capability_flag": ({"DW502": 1}, {"DW201": 1}),
    "dict_built_by_steps": ({"DW101": 1}, {"DW201": 1}),
    "direct_keyword": ({"DW101": 1}, {"DW201": 1}),
    "enum_member": ({}, {"DW203": 1}),
    "getattr_with_default": ({"DW101": 1}, {}),
    "global_that_may_be_none": ({"DW101": 1}, {"DW201": 1}),
    "hasattr_guard": ({}, {"DW201": 1}),
    "import_guarded": ({}, {"DW301": 1}),
    "import_unguarded": ({}, {"DW201": 1, "DW301": 1}),
    "imported_by_string": ({"DW101": 1}, {"DW201": 1}),
    "instance_keyword": ({}, {"DW201": 1, "DW101": 1}),
    "instance_method": ({}, {"DW201": 1, "DW203": 1}),
    "local_alias": ({"DW101": 1}, {}),
    "module_attribute": ({"DW101": 1}, {"DW201": 1, "DW107": 1}),
    "partial_application": ({"DW101": 1}, {"DW201": 1}),
    "second_try_without_it": ({}, {"DW201": 1}),
    "subclass_complete": ({}, {"DW201": 1}),
    "subclass_lacking_methods": ({}, {"DW201": 1, "DW302": 1}),
    "swallowed": ({"DW101": 1}, {"DW201": 1}),
    "version_guard": ({"DW101": 1}, {}),
    "wrapper": ({}, {"DW201": 1}),
    "wrapper_in_another_file": ({}, {"DW201": 1, "DW101": 1}),
}
"""What of each case is repaired and what is not, by code: what no release before 0.6.0 has is recorded nowhere else."""


def test_programs_over_a_small_library(small: Repaired, tmp_path: Path) -> None:
    tally = tally_of(small, tmp_path, SMALL_PROGRAMS)
    assert not tally.wrong, "\n".join(tally.wrong[:3])
    assert tally.changed > SMALL_PROGRAMS / 3
    assert tally.repaired["DW101"] > SMALL_PROGRAMS / 3


@pytest.mark.slow
def test_programs_over_every_release_of_flashinfer(flashinfer: Repaired, tmp_path: Path) -> None:
    tally = tally_of(flashinfer, tmp_path, SHIPPED_PROGRAMS)
    assert not tally.wrong, "\n".join(tally.wrong[:3])
    assert tally.changed > 0


CASES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "cases").glob("*.py"))}


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_repaired_or_refused_and_does_what_it_did(flashinfer: Repaired, tmp_path: Path, name: str) -> None:
    history, runner = flashinfer
    text = CASES[name]
    files = {f"{other}.py": CASES[other] for other in CASES if other == name or f"from {other} import" in text}
    calls = [
        Call(each.name, {a.arg: (ANYTHING,) for a in (*each.args.args, *each.args.kwonlyargs)})
        for each in ast.parse(text).body
        if isinstance(each, ast.FunctionDef)
    ]
    tally = Tally()
    held(tmp_path, [Program(files, name, tuple(calls))], history, runner, tally)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert (tally.repaired, tally.refused) == EXPECTED[name]


@pytest.mark.slow
def test_a_wrong_repair_would_be_noticed(small: Repaired, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the tests turned round, the proof lets nothing wrong through; with no proof, it is seen to be wrong."""
    real: Callable[..., str] = probes.asked

    def wrong(source: object, probe: Probe) -> str:
        return f"not {real(source, probe)}"

    monkeypatch.setattr(keywords, "asked", wrong)
    assert not tally_of(small, tmp_path, BATCH).wrong
    monkeypatch.setattr("driftwatch.scan.fix._Proof.failures", lambda self, repairs: [])
    assert tally_of(small, tmp_path, BATCH, seed=1000).wrong
