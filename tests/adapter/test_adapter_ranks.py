"""Two and four processes: whatever befalls a rank, all survivors take one path or raise, within the time-outs.

The builds are simulated (tests/adapter/simulated.py), the processes, the store and the collectives are real.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.adapter.rounds import serves_moe

PROGRAM = Path(__file__).with_name("rounds.py")
TIMEOUT = 20.0


def run(
    folder: Path, adapter: Path, *, world: int, size: int, rounds: int, seed: int = 1, limit: float = 240.0, **only: Any
) -> tuple[list[list[dict[str, Any]]], list[int | None]]:
    """What every rank saw, and how it ended; a rank that outlives the limit is a hang, and fails the test."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = folder / "given.json"
    settings = {"world": world, "size": size, "rounds": rounds, "seed": seed, "port": port, "adapter": str(adapter)}
    given.write_text(
        json.dumps({**settings, "timeout": TIMEOUT if only.get("trouble") != "dead" else 3.0, "only": only})
    )
    ranks = []
    for rank in range(world):
        command = [sys.executable, str(PROGRAM), str(given), str(rank)]
        # Into files: a pipe that nobody reads yet fills up, and its rank would wait, and the others for that rank.
        with (folder / f"stdout{rank}").open("w") as out, (folder / f"stderr{rank}").open("w") as errors:
            ranks.append(subprocess.Popen(command, stdout=out, stderr=errors))
    deadline = time.monotonic() + limit
    try:
        for rank in ranks:
            rank.wait(timeout=max(0.0, deadline - time.monotonic()))
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    written = [(folder / f"stdout{number}").read_text() for number in range(world)]
    seen = [[json.loads(line) for line in text.splitlines()] for text in written]
    return seen, [rank.returncode for rank in ranks]


def expected(plan: dict[str, Any], modes: list[str]) -> set[str]:
    """What all ranks must come to: one of these, the same on all."""
    trouble = plan["trouble"]
    if trouble in ("request", "junk"):
        return {"ValueError"}
    if trouble in ("interrupt", "exit"):
        return {"VoteFailed", {"interrupt": "KeyboardInterrupt", "exit": "SystemExit"}[trouble]}
    able = trouble in ("none", "require") or (trouble == "build" and plan["release"] == "0.6.16")
    able = able and (not plan["moe"] or serves_moe(plan))
    if able:
        return {"fused"}
    return {"FusedUnavailable"} if "require" in modes else {"reference"}


@pytest.mark.slow
@pytest.mark.parametrize(("world", "size", "rounds"), [(2, 2, 119), (4, 4, 34), (4, 2, 34)])
def test_rounds(world: int, size: int, rounds: int, adapter_file: Path, tmp_path: Path) -> None:
    play(tmp_path, adapter_file, world=world, size=size, rounds=rounds)


@pytest.mark.on_request
@pytest.mark.parametrize(("world", "size", "seed"), [(2, 2, 2), (2, 2, 3), (4, 4, 4), (4, 2, 5)])
def test_many_more_rounds(world: int, size: int, seed: int, adapter_file: Path, tmp_path: Path) -> None:
    play(tmp_path, adapter_file, world=world, size=size, rounds=330, seed=seed, limit=900)


def play(
    folder: Path, adapter: Path, *, world: int, size: int, rounds: int, seed: int = 1, limit: float = 240.0
) -> None:
    """Rounds with all sorts of trouble, and what every one of them must have come to."""
    seen, codes = run(folder, adapter, world=world, size=size, rounds=rounds, seed=seed, limit=limit)
    assert codes == [0] * world, (folder / "stderr0").read_text()[-2000:]
    assert [len(rank) for rank in seen] == [rounds] * world
    for number in range(rounds):
        for group in range(0, world, size):
            ranks = [seen[rank][number] for rank in range(group, group + size)]
            plan = ranks[0]["plan"]
            part = size != world and plan["release"] == "0.6.10" and plan["backend"] != "mnnvl"
            if part and plan["trouble"] in ("none", "require"):
                allowed = {"FusedUnavailable"} if "require" in [r["mode"] for r in ranks] else {"reference"}
            else:
                allowed = expected(plan, [r["mode"] for r in ranks])
            came = {r.get("path") or r["raised"] for r in ranks}
            assert came == allowed, (plan, ranks)
            for r in ranks:
                assert not r.get("bad"), (plan, r)
                assert r["seconds"] < TIMEOUT / 2, "it waited for a time-out"
                assert r["alive"] == 0, "a workspace outlived its close()"
            culprit = f"rank {group + plan['who']}: "
            if plan["trouble"] in ("import", "hardware", "early", "late", "off", "junk", "look", "compile"):
                told = [r.get("message") or " ".join(r["why"]) for r in ranks]
                assert all(culprit in text for text in told), "every rank knows which rank it was"
            if plan["trouble"] in ("interrupt", "exit"):
                for place, r in enumerate(ranks):
                    assert (r["raised"] == "VoteFailed") == (place != plan["who"])
                    assert place == plan["who"] or f"{culprit[:-2]} left" in r["message"]
            if plan["trouble"] in ("early", "late"):
                again = f"rank {group}: this could not be made before: {culprit}"
                assert all(any(text.startswith(again) for text in r["again"]) for r in ranks), (
                    "a failure is remembered, not tried again"
                )
                assert all(r["smaller"] for r in ranks), "a failure says nothing of another request"
                assert all(r["forgotten"] for r in ranks), "what is forgotten is tried again"
    groups = {rank[-1]["groups"] for rank in seen}
    assert max(groups) <= 2 + (world // size if size != world else 0), "process groups pile up"


@pytest.mark.slow
@pytest.mark.parametrize("who", [0, 2])
def test_a_rank_that_dies_before_the_vote(who: int, adapter_file: Path, tmp_path: Path) -> None:
    """Also the rank in whose process the store lives."""
    seen, codes = run(tmp_path, adapter_file, world=4, size=4, rounds=1, limit=60, trouble="dead", who=who)
    assert codes[who] == 7
    for rank, rounds in enumerate(seen):
        if rank != who:
            assert [r["raised"] for r in rounds] == ["VoteFailed"]
            assert who == 0 or f"rank {who}" in rounds[0]["message"]
            assert rounds[0]["seconds"] < 20


@pytest.mark.parametrize("release", [pytest.param("0.4.1", marks=pytest.mark.slow), "0.5.3"])
def test_a_failure_of_the_older_pair(release: str, adapter_file: Path, tmp_path: Path) -> None:
    """Its own collectives hold the others: they are let go when the rank that failed leaves the group."""
    seen, codes = run(
        tmp_path,
        adapter_file,
        world=2,
        size=2,
        rounds=1,
        limit=60,
        trouble="early",
        who=1,
        release=release,
        mode="auto",
    )
    assert codes == [0, 0]
    assert [rank[0]["path"] for rank in seen] == ["reference", "reference"]
    assert all(rank[0]["seconds"] < TIMEOUT / 2 for rank in seen)


@pytest.mark.slow
def test_a_part_of_the_ranks_on_the_release_that_always_meets_on_all(adapter_file: Path, tmp_path: Path) -> None:
    seen, codes = run(
        tmp_path,
        adapter_file,
        world=4,
        size=2,
        rounds=2,
        limit=90,
        trouble="none",
        release="0.6.10",
        mode="auto",
        backend="trtllm",
    )
    assert codes == [0] * 4
    for rank in seen:
        assert all(r["path"] == "reference" and "no call of it is safe for a part" in r["why"][0] for r in rank)
        assert not any(r["bad"] for r in rank)
