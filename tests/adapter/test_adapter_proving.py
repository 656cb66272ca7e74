"""The self-test's proofs hold what is right and tell what is wrong, on an operation that is made up here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from driftwatch.targets.flashinfer_comm.patterns import FP8, NVFP4  # noqa: E402
from driftwatch.targets.flashinfer_comm.proving import Proof, _steps_apart  # noqa: E402
from driftwatch.targets.flashinfer_comm.quantised import quantize  # noqa: E402
from driftwatch.targets.flashinfer_comm.reference import (  # noqa: E402
    reference_add_rmsnorm,
    reference_moe_finalize,
)


class Op:
    """One rank of one, whose results are right but for what `fault` says."""

    rank, world_size = 0, 1
    request = SimpleNamespace(hidden_dim=64, dtype="bfloat16")

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.calls = dict.fromkeys(("fused", "reference", "fallback", "empty"), 0)
        self.number = 0

    def __call__(
        self,
        x: Any,
        residual: Any,
        weight: Any,
        eps: float,
        bias: float = 0.0,
        *,
        trigger_completion_at_end: bool = True,
    ) -> Any:
        self.calls["fused"] += 1
        self.number += 1
        normed, summed = reference_add_rmsnorm(x, residual, weight, eps, 0.0 if self.fault == "bias" else bias)
        if self.fault == "norm" or (self.fault == "early" and not trigger_completion_at_end):
            normed[0, 0] += 1
        if self.fault == "residual":
            summed[0, 0] += 1
        return normed, summed

    def allreduce(self, x: Any) -> Any:
        return x + (1 if self.fault == "sum" else 0)

    def quantized(
        self, x: Any, residual: Any, weight: Any, eps: float, *, kind: str, scale: Any, layout: str, **_: Any
    ) -> Any:
        self.calls["fused"] += 1
        normed, summed = reference_add_rmsnorm(x, residual, weight, eps, 0.0)
        quant, scales = quantize(normed * (4 if self.fault == "quant" else 1), kind, scale, layout, 128)
        return SimpleNamespace(quant=quant, scale=scales, norm=normed, residual=summed)

    def moe_finalize(
        self,
        x: Any,
        index: Any,
        factor: Any,
        residual: Any,
        weight: Any,
        eps: float,
        shared_expert_output: Any = None,
        scale: Any = None,
    ) -> Any:
        self.calls["fused"] += 1
        shared = None if self.fault == "shared" else shared_expert_output
        index = index.clamp(min=0) if self.fault == "absent expert" else index
        own = reference_moe_finalize(x, index, factor, shared)
        normed, summed = reference_add_rmsnorm(own, residual, weight, eps, 0.0)
        if scale is not None:
            normed = quantize(normed * (2 if self.fault == "moe scale" else 1), FP8, scale, "linear", 0)[0]
        return normed, summed


def problems(fault: str) -> list[str]:
    said: list[str] = []
    proof = Proof(Op(fault), 5, torch.device("cpu"), said.append)  # type: ignore[arg-type]
    assert proof.numbers()["path"] == "fused"
    proof.quantised()
    proof.moe(4)
    assert proof.chained(6) == "6 calls"
    assert proof.captured() == "there are no graphs on this device"
    return said


def test_what_is_right_is_no_problem() -> None:
    assert problems("") == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("norm", "5 x 64 bfloat16: the norm of the fused path is off by"),
        ("residual", "5 x 64 bfloat16: the residual of the fused path is off by"),
        ("bias", "5 x 64 bfloat16: the norm of a call with a bias is off by"),
        ("sum", "5 x 64 bfloat16: the sum alone is wrong"),
        ("quant", "5 x 64 bfloat16: fp8 output is"),
        ("shared", "5 x 64 bfloat16: the residual of one with a shared expert is off by"),
        ("absent expert", "5 x 64 bfloat16: the residual of a MoE finalize is off by"),
        ("moe scale", "5 x 64 bfloat16: the norm of a quantised one is off by"),
        ("early", "5 x 64 bfloat16: 6 calls of a chain read what was not written yet"),
    ],
)
def test_what_is_wrong_is_told(fault: str, told: str) -> None:
    assert any(each.startswith(told) for each in problems(fault)), problems(fault)


def test_steps_are_counted_over_zero() -> None:
    values = torch.tensor([[-(2.0**-9), 0.0, 2.0**-9, 448.0]]).to(torch.float8_e4m3fn)
    assert _steps_apart(FP8, values, values) == 0
    assert _steps_apart(FP8, values[:, :1], values[:, 2:3]) == 2
    codes = torch.tensor([[0b1001_0001]], dtype=torch.uint8)  # 0.5 and, above it, -0.5
    assert _steps_apart(NVFP4, codes, torch.tensor([[0b0001_0001]], dtype=torch.uint8)) == 2
