"""One workspace for many shapes, on two ranks: who uses what, and what there is of it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.simulated import Build, Workspace
from tests.adapter.together import install


def play(fa: Any, rank: int, world: int, given: dict[str, Any]) -> Any:
    history = store.load(shipped_targets()[0].snapshots)
    return {release: on(fa, rank, Build(history, release), given["backend"]) for release in given["releases"]}


def on(fa: Any, rank: int, build: Build, backend: str) -> list[Any]:
    install(fa, build, rank)
    seen: list[Any] = []

    def make(tokens: int, hidden: int, dtype: Any = torch.bfloat16, **more: Any) -> Any:
        op = fa.FusedAllReduce(None, hidden, dtype, tokens, "require", backend=backend, timeout=30, max_bytes=0, **more)
        note()
        return op

    def note() -> None:
        seen.append(Workspace.alive)

    def works(op: Any) -> bool:
        hidden, dtype = op.request.hidden_dim, getattr(torch, op.request.dtype)
        x = torch.ones(op.request.max_token_num, hidden, dtype=dtype)
        normed, total = op(x, None, torch.ones(hidden, dtype=dtype))
        return bool((total == 2).all()) and bool(((normed - 1).abs() < 0.01).all())

    first = make(64, 256)
    layers = [make(64, 256) for _ in range(3)]
    narrow = make(64, 128, torch.float16)  # a smaller shape, and another dtype of the same size
    wide = make(64, 512)  # too large: made anew, and the others go with it
    assert all(works(op) for op in (first, *layers, narrow, wide))
    seen.append(first.report()["workspace"])
    own = make(8, 128, share=False)
    single = make(8, 128, torch.float32)
    own.close()
    single.close()
    note()
    first.calls["captured"] = rank  # a graph on one rank keeps the workspace for all
    wider = make(64, 1024)
    assert all(works(op) for op in (first, narrow, wide, wider))
    seen.append([op.report()["workspace"]["shared_by"] for op in (first, wider)])
    seen.append([wider.checkpoint_prepare(), wider.checkpoint_prepare()])
    if seen[-1][0]:
        assert (
            wider.why_not(torch.ones(2, 1024, dtype=torch.bfloat16)) == "the workspace is given back for a checkpoint"
        )
        with pytest.raises(RuntimeError, match="given back for a checkpoint"):
            works(wider)
        again = make(8, 64)
        assert works(again)  # what cannot use it makes one of its own
        again.close()
        assert wider.checkpoint_restore()
    assert works(wider)
    for op in (first, *layers, narrow, wide, wider):
        op.close()
    note()
    make(64, 256).close()
    note()
    return seen
