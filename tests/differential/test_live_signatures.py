"""Calls judged against what real imports take: a truth that driftwatch's own snapshots have no part in.

`tests/live_parity/signatures.json` was recorded from FlashInfer's wheels. Of each signature in it a real function is
made, and called: where Python raises TypeError, and where the name is not there, the scan must say so of that release
and of no other. The names of a release that are not in the record (it has no enumerations, no abstract classes) are
left out.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from driftwatch.flow.project import analyse
from driftwatch.rules import apply
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.store import store
from tests.live_parity.record import DATA, DISTRIBUTION, MODULE

RECORDED = json.loads(DATA.read_text(encoding="utf-8"))
RELEASES: tuple[str, ...] = tuple(RECORDED["releases"])
CALLS = 8
"""For each name."""


def made(signature: str) -> Callable[..., None]:
    """A real function that takes what is recorded."""
    text = ", ".join(f"{word}None" if word.endswith("=") else word for word in signature.split(", "))
    namespace: dict[str, Any] = {}
    exec(f"def function({text}): ...", namespace)
    function: Callable[..., None] = namespace["function"]
    return function


def drawn(name: str, signatures: dict[str, list[str]], chance: random.Random) -> tuple[int, tuple[str, ...]]:
    """How many arguments a call passes by position, and which by name: near what some release takes."""
    words = chance.choice(sorted(signatures)).split(", ")
    named = [word.strip("*=") for word in words if word.strip("*=/")]
    placed = chance.randint(0, min(3, len(named)))
    wanted = [each for each, word in zip(named, [w for w in words if w.strip("*=/")], strict=True) if "*" not in word]
    keywords = [each for each in wanted[placed:] if chance.random() < 0.85]
    if chance.random() < 0.3:
        others = sorted({w.strip("*=") for s in signatures for w in s.split(", ") if w.strip("*=/")} - set(wanted))
        keywords += [chance.choice([*others, f"{name}_that_never_was"])]
    return placed, tuple(dict.fromkeys(keywords))


def breaks(signatures: dict[str, list[str]], release: str, placed: int, keywords: tuple[str, ...]) -> bool:
    """Whether the call raises in a release."""
    signature = next((each for each, held in signatures.items() if release in held), None)
    if signature is None:
        return True
    try:
        made(signature)(*[0] * placed, **dict.fromkeys(keywords, 0))
    except TypeError:
        return True
    return False


@pytest.fixture(scope="module")
def history() -> History:
    return store.load(store.shipped() / DISTRIBUTION)


@pytest.mark.parametrize("way", ["direct", "by a dict", "behind a flag"])
def test_what_raises_is_told_of_each_release_and_nothing_else(history: History, tmp_path: Path, way: str) -> None:
    wrong, refused, taken = differing(history, tmp_path, way, RECORDED["names"])
    assert not wrong, json.dumps(wrong, indent=1)
    assert refused > 300 and taken > 300


def test_another_signature_would_be_noticed(history: History, tmp_path: Path) -> None:
    name = "create_allreduce_fusion_workspace"
    (newest,) = (each for each, held in RECORDED["names"][name].items() if RELEASES[-1] in held)
    changed = {f"{newest}, more" if each == newest else each: held for each, held in RECORDED["names"][name].items()}
    wrong, _, _ = differing(history, tmp_path, "direct", {name: changed})
    assert wrong


def differing(
    history: History, folder: Path, way: str, names: dict[str, dict[str, list[str]]]
) -> tuple[dict[str, tuple[list[str], list[str]]], int, int]:
    """Calls of which something else is told than is true: what is true, and what is told.

    With it, how many calls some release refuses, and how many some release takes."""
    chance = random.Random(way)
    lines, truth = [f"import {MODULE} as comm", ""], {}
    for name, signatures in names.items():
        for _ in range(CALLS):
            placed, keywords = drawn(name, signatures, chance)
            lines += program(name, placed, keywords, len(lines), way)
            truth[len(lines)] = {r for r in RELEASES if breaks(signatures, r, placed, keywords)}
    path = folder / "calls.py"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    analysis = analyse(folder, [path], [history])
    assert not analysis.unresolved and not analysis.diagnostics
    told: dict[int, set[str]] = {number: set() for number in truth}
    for verdict in apply(analysis.uses, {DISTRIBUTION: Context(history, history.timeline.all)}):
        if verdict.exception in ("TypeError", "AttributeError"):
            told[verdict.location.line] |= set(history.timeline.versions_of(verdict.releases)) & set(RELEASES)
    wrong = {
        f"{number}: {lines[number - 1].strip()}": (sorted(expected), sorted(told[number]))
        for number, expected in truth.items()
        if expected != told[number]
    }
    return wrong, sum(map(bool, truth.values())), sum(len(each) < len(RELEASES) for each in truth.values())


def program(name: str, placed: int, keywords: tuple[str, ...], number: int, way: str) -> list[str]:
    """A function that makes the call in its last line."""
    by_place = ", ".join(["x"] * placed)
    by_name = ", ".join(f"{each}=x" for each in keywords)
    arguments = ", ".join(filter(None, [by_place, by_name]))
    if way == "direct":
        return ["", f"def call_{number}(x):", f"    comm.{name}({arguments})"]
    if way == "by a dict":
        items = ", ".join(f"{each!r}: x" for each in keywords)
        spread = ", ".join(filter(None, [by_place, "**given"]))
        return ["", f"def call_{number}(x):", f"    given = {{{items}}}", f"    comm.{name}({spread})"]
    return [
        "",
        f"def call_{number}(x, flag):",
        "    if flag:",
        "        return x",
        f"    return comm.{name}({arguments})",
    ]
