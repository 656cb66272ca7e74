"""The backend whose kernels are compiled for what calls will say, on two ranks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.simulated import Build, Compiled, Workspace
from tests.adapter.together import install

NAME = "mnnvl-cutedsl"


def play(fa: Any, rank: int, world: int, given: dict[str, Any]) -> Any:
    history = store.load(shipped_targets()[0].snapshots)
    install(fa, Build(history, "0.7.4"), rank)

    def make(**how: Any) -> Any:
        asked = {"hidden_dim": 64, "dtype": torch.bfloat16, "max_token_num": 33, "backend": NAME, "top_k": 4}
        asked |= {"timeout": 30, "max_bytes": 0, **how}
        return fa.FusedAllReduce(None, **asked)

    said: dict[str, Any] = {}
    dynamic = fa.PATTERNS["dynamic-fp8"]
    patterns = [fa.NORM_PATTERN, fa.MOE_PATTERN, fa.PLAIN_PATTERN, fa.MOE_FP8_PATTERN, *fa.PATTERNS["fp8"], *dynamic]
    with make(patterns=patterns, fused="require") as op:
        said["its patterns"] = [op.terms.backend, *everything(fa, op)]
    said["compiled otherwise"] = otherwise(fa, make)
    with make(fused="require") as op:
        x = torch.ones(2, 64, dtype=torch.bfloat16)
        with pytest.raises(fa.FusedUnavailable) as raised:
            op(x, x, x[0].clone(), 1e-3)
        said["required"] = str(raised.value)
    with make() as one, make(max_token_num=17) as two, make(rms_eps=1e-5) as three:
        said["shared by"] = [op.report()["workspace"]["shared_by"] for op in (one, three)]
        assert one._kernels.share is two._kernels.share
    said["in order"] = order(make)
    said["refused"] = refused(fa, make, history, rank)
    install(fa, Build(history, "0.7.4"), rank)
    said["failed"] = failing(make, rank)
    said["alive"] = Workspace.alive
    return said


def everything(fa: Any, op: Any) -> list[Any]:
    """The self-test's proofs of each pattern; every call is fused."""
    problems: list[str] = []
    before = Workspace.alive
    for tokens in (1, 33):
        proof = fa.Proof(op, tokens, torch.device("cpu"), problems.append)
        x, residual, weight = proof.inputs()
        proof.holds("a call", op(x, residual, weight))
        proof._hold_sum(op.allreduce(x))
        experts, index, factor, shared = fa.make_experts(tokens, op.request, op.world_size, 4)[op.rank]
        op.moe_finalize(experts, index, factor, residual, weight, shared_expert_output=shared)
        scale = torch.ones(1)
        op.moe_finalize(experts, index, factor, residual, weight, shared_expert_output=shared, scale=scale)
        for kind in ("fp8", "dynamic-fp8"):
            for keep_norm in (False, True):
                how = {"kind": kind, "keep_norm": keep_norm, "scale": scale if kind == "fp8" else None}
                made = op.quantized(x, residual, weight, **how)
                norm = op(x, residual, weight)[0]
                assert torch.equal(made.quant.float(), fa.quantize(norm, kind, how["scale"], "linear", 0)[0].float())
                assert made.norm.numel() == (norm.numel() if keep_norm else 0)
    # A view that begins where no kernel can read, and one that is not in plain order.
    odd = torch.ones(2 * 64 + 1, dtype=torch.bfloat16)[1:].view(2, 64)
    for view in (odd, torch.ones(64, 2, dtype=torch.bfloat16).t()):
        assert bool((op(view, view, odd[0])[1] == op.world_size + 1).all())
    assert not problems, problems
    return [before - 2, op.path]


def otherwise(fa: Any, make: Any) -> dict[str, int]:
    made = {"patterns": [fa.NORM_PATTERN, fa.MOE_PATTERN], "rms_eps": 1e-5, "weight_bias": 1.0}
    with make(**made) as op:
        x, weight = torch.ones(2, 64, dtype=torch.bfloat16), torch.ones(64, dtype=torch.bfloat16)
        assert op.can_run(x)
        assert not op.can_run(x, eps=1e-6)
        op(x, x, weight)
        op(x, x, weight, 1e-6)
        op(x, x, weight, weight_bias=0.0)
        op.quantized(x, x, weight, kind="fp8", scale=torch.ones(1))
        long = torch.ones(34, 64, dtype=torch.bfloat16)
        op(long, long, weight)
        experts, index, factor, _ = fa.make_experts(2, op.request, op.world_size, 4)[op.rank]
        op.moe_finalize(experts, index, factor, x, weight)
        assert op.calls["fused"] == 1
        return dict(op.unfused_because)


def order(make: Any) -> list[Any]:
    """Backends are tried in the order in which they are named, or the whole of it is another backend's."""
    said = []
    for backend in (["trtllm", NAME], [NAME, "mnnvl"], f"{NAME}, trtllm"):
        hidden = 128 if isinstance(backend, str) else 64
        with make(backend=backend, hidden_dim=hidden, fused="require") as op:
            said.append(op.terms.backend)
    return said


def refused(fa: Any, make: Any, history: Any, rank: int) -> list[str]:
    said = []

    def why(**how: Any) -> None:
        with make(**how) as op:
            assert op.terms is None
            said.append(op.decision.objections[0].partition(": ")[2])

    why(hidden_dim=128, top_k=None)
    why(dtype=torch.float16)
    why(patterns=["kARResidualRMSNormFP4Quant"])
    install(fa, Build(history, "0.7.2"), rank)
    why()
    install(fa, Build(history, "0.7.4"), rank, capability=(9, 0))
    why()
    install(fa, Build(history, "0.7.4"), rank, multicast=False)
    why()
    return said


def failing(make: Any, rank: int) -> str:
    """One rank's compiler fails before anybody meets: the others wait no longer than their vote."""
    real = Compiled.__init__

    def initialise(self: Any, *args: Any) -> None:
        real(self, *args)
        if rank:
            Workspace.alive -= 1
            raise RuntimeError("the compiler failed")
        self.group = args[0]

    Compiled.__init__ = initialise  # type: ignore[method-assign]
    meet = Build._create_compiled
    Build._create_compiled = lambda self, a: Compiled(a["group"], a)  # type: ignore[method-assign]
    try:
        with make() as op:
            return str(op.decision.objections[0])
    finally:
        Compiled.__init__, Build._create_compiled = real, meet  # type: ignore[method-assign]
