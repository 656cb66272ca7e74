"""MoE finalize patterns on two ranks: what runs them, by release and backend, and whether the numbers are right."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.simulated import Build, Workspace
from tests.adapter.together import install

TOP_K, EPS = 4, 1e-6


def play(fa: Any, rank: int, world: int, given: dict[str, Any]) -> Any:
    history = store.load(shipped_targets()[0].snapshots)
    seen: dict[str, Any] = {}
    for release, backend in given["on"]:
        build = Build(history, release)
        install(fa, build, rank)
        for dtype in given["dtypes"]:
            seen[f"{release} {backend} {dtype}"] = on(fa, build, backend, dtype)
    assert Workspace.alive == 0
    return seen


def on(fa: Any, build: Build, backend: str, dtype: str) -> dict[str, Any]:
    """What a finalize comes to on an operation made for it, and on one made for what is usual."""
    build.calls.clear()
    said: dict[str, Any] = {}
    for how, made_for in (
        ("named", {"patterns": [fa.MOE_PATTERN], "top_k": TOP_K}),
        ("not named", {}),
        ("quantised", {"patterns": [fa.MOE_FP8_PATTERN, fa.MOE_PATTERN, fa.NORM_PATTERN], "top_k": TOP_K}),
    ):
        asked = {"backend": backend, "timeout": 30, "max_bytes": 0, **made_for}
        with fa.FusedAllReduce(None, 64, getattr(torch, dtype), 33, **asked) as op:
            said[how] = [op.terms and op.terms.backend, *finalize(fa, op)]
            if how == "named":
                said["why"] = op.decision.objections[:1] or op.decision.passed_over[:1]
    calls = [call for call in build.calls if call.get("expanded_idx_to_permuted_idx") is not None]
    said["launched"] = len(calls)
    return said


def finalize(fa: Any, op: Any) -> list[str]:
    """The path of each of the self-test's calls, whose problems are errors here."""
    problems: list[str] = []
    paths = []
    for tokens in (1, 5):
        proof = fa.Proof(op, tokens, torch.device("cpu"), problems.append)
        paths += [tried["path"] for tried in proof.moe(TOP_K)]
    assert not problems, problems
    x = torch.ones(3, 64, dtype=getattr(torch, op.request.dtype))
    index = torch.zeros(0, TOP_K, dtype=torch.int32)
    nothing = op.moe_finalize(x, index, x.new_zeros(0, TOP_K), None, x.new_ones(64))
    assert [list(each.shape) for each in nothing] == [[0, 64], [0, 64]]
    index = torch.zeros(2, TOP_K, dtype=torch.int32)
    for wrong, told in (
        ((x, index.long(), x.new_zeros(2, TOP_K), None), "of torch.int32"),
        ((x, index, x.new_zeros(2, 3), None), "expert_scale_factor must be"),
        ((x, index, x.new_zeros(2, TOP_K), x), "residual must be"),
        ((x[0], index, x.new_zeros(2, TOP_K), None), "input must be"),
    ):
        with pytest.raises(ValueError, match=told):
            op.moe_finalize(*wrong, x.new_ones(64))
    return sorted(set(paths))
