"""The analysis against Python itself: programs over the shapes real code uses, executed and analysed, compared.

The number of programs is bounded here; ``benchmarks/differential.py`` runs any number with any seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import UNCAUGHT
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import History, merge
from tests.differential import compare, library
from tests.differential.analysis import analysed
from tests.differential.compare import Comparison, Disagreement
from tests.differential.computed import computed
from tests.differential.generate import generate
from tests.differential.menu import Menu
from tests.differential.programs import Runner
from tests.differential.shipped import shipped, shipped_stubs
from tests.stubs import write_stub

SHIPPED_PROGRAMS = 300
SMALL_PROGRAMS = 1000
TRAVELLING_PROGRAMS = 300
COMPUTED_PROGRAMS = 20
BATCH = 50


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    folder = tmp_path_factory.mktemp("small")
    snapshots = library.snapshots()
    stubs = {s.release: write_stub(s, folder / "stubs" / s.release, "lib-dist") for s in snapshots}
    (folder / "programs").mkdir()
    with Runner(stubs, "lib") as runner:
        yield Comparison(merge("lib-dist", "lib.comm", snapshots), runner, folder / "programs")


@pytest.fixture(scope="module")
def flashinfer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    folder = tmp_path_factory.mktemp("flashinfer")
    (folder / "programs").mkdir()
    with Runner(shipped_stubs(folder / "stubs"), "flashinfer") as runner:
        yield Comparison(shipped(), runner, folder / "programs")


def disagreements(
    comparison: Comparison, history: History, count: int, seed: int, *, journeys: bool = False
) -> list[Disagreement]:
    menu = Menu.of(history)
    found: list[Disagreement] = []
    for start in range(seed, seed + count, BATCH):
        numbers = range(start, min(start + BATCH, seed + count))
        found += comparison.of(
            [generate(random.Random(number), menu, f"p{number}", journeys=journeys) for number in numbers]
        )
    return found


def test_what_is_computed_of_a_release(flashinfer: Comparison) -> None:
    found = list(flashinfer.of([computed(seed) for seed in range(COMPUTED_PROGRAMS)]))
    assert not found, "\n".join(map(str, found[:5]))


def test_a_small_library(small: Comparison) -> None:
    found = disagreements(small, small.history, SMALL_PROGRAMS, seed=0)
    assert not found, "\n".join(map(str, found[:5]))


def test_what_travels(small: Comparison) -> None:
    """Nothing is missed and nothing is told that is not so. What becomes of an exception behind a loop over a list that
    functions have filled is not always told right: `benchmarks/differential.py --journeys` shows it."""
    found = disagreements(small, small.history, TRAVELLING_PROGRAMS, seed=0, journeys=True)
    found = [each for each in found if each.kind != "outcome"]
    assert not found, "\n".join(map(str, found[:5]))


@pytest.mark.slow
def test_every_release_of_flashinfer(flashinfer: Comparison) -> None:
    found = disagreements(flashinfer, flashinfer.history, SHIPPED_PROGRAMS, seed=0)
    assert not found, "\n".join(map(str, found[:5]))


@settings(max_examples=60, derandomize=True, phases=(Phase.generate, Phase.shrink))
@given(rng=st.randoms(use_true_random=False))
def test_whatever_hypothesis_thinks_of(small: Comparison, rng: random.Random) -> None:
    found = list(small.of([generate(rng, Menu.of(small.history), "p", functions=1)]))
    assert not found, "\n".join(map(str, found[:1]))


def forgetful(verdicts: Sequence[Verdict], everywhere: ReleaseSet) -> Sequence[Verdict]:
    return verdicts[::2]


def loud(verdicts: Sequence[Verdict], everywhere: ReleaseSet) -> Sequence[Verdict]:
    return [replace(verdict, releases=everywhere) for verdict in verdicts]


def misplaced(verdicts: Sequence[Verdict], everywhere: ReleaseSet) -> Sequence[Verdict]:
    return [*verdicts, *(replace(v, location=replace(v.location, line=v.location.line - 1)) for v in verdicts)]


def fearful(verdicts: Sequence[Verdict], everywhere: ReleaseSet) -> Sequence[Verdict]:
    return [replace(v, catch=UNCAUGHT, severity=Severity.ERROR) if v.catch is not None else v for v in verdicts]


@pytest.mark.parametrize(
    ("wrong", "kind"), [(forgetful, "miss"), (loud, "alarm"), (misplaced, "alarm"), (fearful, "outcome")]
)
def test_a_wrong_analysis_would_be_noticed(
    small: Comparison,
    monkeypatch: pytest.MonkeyPatch,
    wrong: Callable[[Sequence[Verdict], ReleaseSet], Sequence[Verdict]],
    kind: str,
) -> None:
    """With half of what the analysis says kept back, with all of it said of all releases, also said of the line above,
    or said to raise whatever takes it, there must be disagreements of that kind: none of them is explained away."""
    real = analysed

    def changed(folder: Path, history: History) -> object:
        verdicts, unresolved = real(folder, history)
        return wrong(verdicts, history.timeline.all), unresolved

    monkeypatch.setattr(compare, "analysed", changed)
    kinds = {each.kind for each in disagreements(small, small.history, 20, seed=0)}
    assert kind in kinds
