"""MoE finalize patterns: the reference against fractions, the kernels' paths on two ranks, and the compiled backend."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from driftwatch.targets.flashinfer_comm.proving import exact_experts, make_experts  # noqa: E402
from driftwatch.targets.flashinfer_comm.reference import reference_moe_finalize  # noqa: E402
from tests.adapter.together import together  # noqa: E402

MOE = Path(__file__).with_name("moe.py")
BUILD, FOR = "flashinfer-python 0.7.4", "up to 33 tokens, top_k not given"
COMPILED = Path(__file__).with_name("compiled.py")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_the_reference(dtype: str) -> None:
    """Products and sums by fractions, rounded once; -1 is an expert of another rank, whatever stands in its row."""
    kind = getattr(torch, dtype)
    experts = (torch.arange(7 * 16).view(7, 16) % 13 - 6).to(kind)
    experts[6] = float("inf")
    index = torch.tensor([[0, 3, -1], [-1, -1, -1], [5, 5, 2]], dtype=torch.int32)
    factor = torch.tensor([[0.5, -0.25, 9.0], [1.0, 2.0, 3.0], [0.125, 0.75, 1.0]]).to(kind)
    shared = (torch.arange(3 * 16).view(3, 16) % 5 - 2).to(kind)
    for beside in (None, shared):
        got = reference_moe_finalize(experts, index, factor, beside)
        assert got.dtype is kind
        for token in range(3):
            for column in range(16):
                wanted = Fraction(0 if beside is None else float(beside[token, column]))
                for k in range(3):
                    if index[token, k] >= 0:
                        row = int(index[token, k])
                        wanted += Fraction(float(factor[token, k])) * Fraction(float(experts[row, column]))
                assert Fraction(float(got[token, column])) == wanted
    nothing = reference_moe_finalize(experts[:0], index.fill_(-1), factor, shared)
    assert bool((nothing == shared).all())


def test_the_bound_of_the_self_test_holds_the_kernels_own_rounding() -> None:
    """And not much more: one step of a value that is summed is told."""
    from tests.adapter.simulated import _experts

    request: Any = type("Request", (), {"dtype": "bfloat16", "hidden_dim": 64})
    for rank, made in enumerate(make_experts(9, request, 4, 8)):
        whole, off = exact_experts(*made)
        got = _experts(*made, dtype=torch.bfloat16).double()
        assert bool(((got - whole).abs() <= off).all()), rank
        assert bool((off < 0.1 * (1 + whole.abs()) * 8).all())


BY_FUNCTION = [("0.2.7.post1", "trtllm"), ("0.5.3", "auto"), ("0.6.0", "trtllm"), ("0.6.7", "trtllm")]
BY_PATTERN = [("0.6.8", "trtllm"), ("0.6.14", "auto"), ("0.7.4", "auto"), ("0.7.4", "trtllm")]


@pytest.mark.slow
def test_paths(adapter_file: Path, tmp_path: Path) -> None:
    """Fused by trtllm in every release, as a function before 0.6.8 and as a pattern since; never by mnnvl."""
    on = [*BY_FUNCTION, *BY_PATTERN, ("0.7.4", "mnnvl")]
    seen = together(MOE, tmp_path, adapter_file, on=on, dtypes=["bfloat16", "float32"])
    assert seen[0] == seen[1]
    for release, backend in on:
        half, single = (seen[0][f"{release} {backend} {dtype}"] for dtype in ("bfloat16", "float32"))
        able = backend != "mnnvl"
        # Of the three calls of each operation the quantised one has no kernel but a compiled one.
        assert half["named"] == (["trtllm", "fused", "reference"] if able else [None, "reference"])
        chosen = backend if backend != "auto" else "mnnvl" if release > "0.6.12" else "trtllm"
        assert half["not named"] == [chosen, *(["fused"] if chosen == "trtllm" else []), "reference"]
        assert half["quantised"] == [None, "reference"]
        assert half["launched"] > 0 or not able
        assert single["named"] == [None, "reference"], "the kernels are for 16 bit"
        assert single["launched"] == 0
    assert "no kMoEFinalizeARResidualRMSNorm from mnnvl of" in seen[0]["0.7.4 auto bfloat16"]["why"][0]


@pytest.mark.slow
def test_the_compiled_backend(adapter_file: Path, tmp_path: Path) -> None:
    seen = together(COMPILED, tmp_path, adapter_file)
    assert seen[0] == seen[1]
    assert seen[0] == {
        "its patterns": ["mnnvl-cutedsl", 4, "fused"],
        "compiled otherwise": {
            "compiled for rms_eps=1e-05, and the call has 1e-06": 1,
            "compiled for weight_bias=1.0, and the call has 0.0": 1,
            "compiled for include_shared_expert=True, and the call has False": 1,
            "no fp8 output from mnnvl-cutedsl of flashinfer-python 0.7.4 here": 1,
            "more than 33 tokens": 1,
        },
        "required": "the fused allreduce is required, and this call cannot be: "
        "compiled for rms_eps=1e-06, and the call has 0.001",
        "shared by": [2, 1],
        "in order": ["trtllm", "mnnvl-cutedsl", "trtllm"],
        "refused": [
            f"is_mnnvl_cutedsl_supported of {BUILD} says no: kARResidualRMSNorm for 2 ranks, rows of 128, {FOR}",
            "mnnvl-cutedsl is for bfloat16, not float16",
            "no kARResidualRMSNormFP4Quant from mnnvl-cutedsl of flashinfer-python 0.7.4 here",
            "flashinfer-python 0.7.2 has no backend mnnvl-cutedsl",
            "compute capability 9.0 is not one its mnnvl-cutedsl kernels are built for",
            "mnnvl-cutedsl needs NVLink multicast, and the device has none",
        ],
        "failed": "rank 1: making the workspace raised RuntimeError: the compiler failed",
        "alive": 0,
    }
