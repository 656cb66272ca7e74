"""The same for the older pair, whose workspace is for one hidden size and dtype."""

from __future__ import annotations

from typing import Any

import torch

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.simulated import Build, Workspace
from tests.adapter.together import install


def play(fa: Any, rank: int, world: int, given: dict[str, Any]) -> Any:
    install(fa, Build(store.load(shipped_targets()[0].snapshots), "0.5.3"), rank)
    ops, seen = [], []
    for tokens, hidden in ((64, 256), (8, 256), (64, 128), (8, 128)):
        ops.append(fa.FusedAllReduce(None, hidden, torch.bfloat16, tokens, "require", timeout=30, max_bytes=0))
        seen.append(Workspace.alive)
    for op in ops:
        op.allreduce(torch.ones(8, op.request.hidden_dim, dtype=torch.bfloat16))
        assert not op.checkpoint_prepare()
    for op in ops:
        op.close()
    return [*seen, Workspace.alive]
