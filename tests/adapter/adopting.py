"""SGLang's and vLLM's ways of calling, through their integrations rewritten on the adapter, on two ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.simulated import Build
from tests.adapter.together import install, load

HIDDEN, EPS = 64, 1e-5
ADOPTED = Path(__file__).with_name("adopted")


def play(fa: Any, rank: int, world: int, given: dict[str, Any]) -> Any:
    history = store.load(shipped_targets()[0].snapshots)
    sglang, vllm = (load(ADOPTED / f"{name}_fusion.py", name) for name in ("sglang", "vllm"))
    said = {}
    for release in given["releases"]:
        build = Build(history, release)
        install(fa, build, rank)
        said[release] = {"sglang": as_sglang(fa, sglang, rank), "vllm": as_vllm(fa, vllm, rank, build)}
        said[release]["kernels"] = len(build.calls)
    return said


def near(got: torch.Tensor, exact: tuple[torch.Tensor, torch.Tensor]) -> None:
    want, bound = exact
    excess = float(((got.double() - want).abs() - bound).max())
    assert excess <= 0, excess


def drawn(fa: Any, rank: int, tokens: int, bias: float = 0.0, *, residual: bool = True) -> Any:
    """An input, its residual and weight, and what is right."""
    parts, before, weight = fa.make_inputs(tokens, HIDDEN, "bfloat16", 2)
    before = before if residual else torch.zeros_like(before)
    return parts[rank], before, weight, fa.exact_result(parts, before, weight, EPS, bias)


def as_sglang(fa: Any, engine: Any, rank: int) -> Any:
    """Two workspaces before graphs are captured, norms of a prefill and of decoding, then sums alone."""
    engine.pre_initialize([None, None], 32, HIDDEN, torch.bfloat16)
    paths = []
    for tokens, oneshot, end in ((1, None, False), (2, True, False), (32, False, True)):
        x, residual, weight, exact = drawn(fa, rank, tokens)
        norm, total = engine.allreduce_residual_rmsnorm(None, x, residual, weight, EPS, 32, oneshot, end)
        paths.append(norm is not None)
        if norm is not None:
            near(norm, exact[0])
            near(total, exact[1])
    x = drawn(fa, rank, 33)[0]
    assert engine.allreduce_residual_rmsnorm(None, x, x, x[0], EPS, 32) == (None, None)
    assert not engine.can_allreduce(None, x)
    able = engine.can_allreduce(None, x[:3])
    if able:
        parts = fa.make_inputs(33, HIDDEN, "bfloat16", 2)[0]
        assert torch.equal(engine.allreduce(None, x[:3]), (parts[0].float() + parts[1].float())[:3].to(x.dtype))
    engine.allreduce_residual_rmsnorm(None, x, x, x[0], EPS, 64)  # a larger batch makes it anew, all ranks together
    engine.cleanup()
    return [*paths, able]


def as_vllm(fa: Any, engine: Any, rank: int, build: Build) -> Any:
    """Every pattern of the pass, with and without a residual, then what the communicator does."""
    norms = engine.FusedNorms(None, HIDDEN, torch.bfloat16, 32)
    fused = norms.op.terms is not None
    assert norms.covers(32) == fused
    assert not norms.covers(33)
    for bias in (0.0, 1.0):
        x, residual, weight, exact = drawn(fa, rank, 5, bias)
        norm, total = norms.add_norm(x, residual, weight, EPS, bias)
        assert norm is x
        assert total is residual
        near(norm, exact[0])
        near(total, exact[1])
        x, residual, weight, exact = drawn(fa, rank, 1, bias, residual=False)
        norm, total = norms.norm(x, weight, EPS, bias)
        near(norm, exact[0])
        near(total, exact[1])
    scale = torch.tensor([0.5])
    kinds = []
    for kind in ("fp8", "nvfp4"):
        before = norms.op.calls["fused"]
        for given in (True, False):
            x, residual, weight, exact = drawn(fa, rank, 5, residual=given)
            quant, *scales, total = getattr(norms, kind)(x, residual if given else None, weight, EPS, scale)
            near(total, exact[1])
            wanted = norms.op(x, residual if given else None, weight, EPS)[0]
            if kind == "nvfp4":
                assert scales[0].shape == (128, 4)
            # The sum of the one path is rounded elsewhere than that of the other: bytes are compared within a path.
            if norms.op.calls["reference"] == 0 or not fused:
                want = fa.quantize(wanted, kind, scale, "128x4", 128)
                assert torch.equal(quant.view(torch.uint8), want[0].view(torch.uint8))
        kinds.append(norms.op.calls["fused"] - before == 4)
    x, *_ = drawn(fa, rank, 33)
    assert norms.allreduce(x) is None
    able = norms.allreduce(x[:4]) is not None
    suspended = norms.suspend()
    norms.resume()
    norms.norm(x[:4], torch.ones(HIDDEN, dtype=x.dtype), EPS)
    norms.op.close()
    return [fused, *kinds, able, suspended, sorted(norms.op.unfused_because)]
