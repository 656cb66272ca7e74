"""The fused allreduce as a custom op: whole graphs, no recompiles, torch's own checks; and what a call must refuse."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

HIDDEN = 64


@pytest.fixture(scope="module")
def fa(adapter_file: Path) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("fi_adapter_compiled", adapter_file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def op(fa: ModuleType) -> Iterator[Any]:
    with fa.FusedAllReduce(None, HIDDEN, torch.bfloat16, 128) as made:
        yield made


def tensors(tokens: int, dtype: Any = None) -> tuple[Any, Any, Any]:
    dtype = dtype or torch.bfloat16
    generator = torch.Generator().manual_seed(tokens)
    x, residual = (torch.randn(tokens, HIDDEN, generator=generator).to(dtype) for _ in range(2))
    return x, residual, torch.randn(HIDDEN, generator=generator).to(dtype)


def exact(x: Any, residual: Any, weight: Any, eps: float, bias: float) -> Any:
    total = x.double() + residual.double()
    return total * torch.rsqrt(total.square().mean(-1, keepdim=True) + eps) * (weight.double() + bias)


@pytest.mark.parametrize("tokens", [0, 1, 5])
def test_opcheck(op: Any, tokens: int) -> None:
    x, residual, weight = tensors(tokens)
    operators = op._operators
    for bias in (0.0, 1.0):
        given = (x, residual, weight, 1e-6, bias)
        torch.library.opcheck(operators.allreduce_rmsnorm.default, (*given, None, True, op._key))
        into = (torch.empty_like(x), torch.empty_like(x))
        torch.library.opcheck(operators.allreduce_rmsnorm_into.default, (*given, *into, None, True, op._key))
    torch.library.opcheck(operators.allreduce.default, (x, None, True, op._key))


@pytest.mark.parametrize("kind", ["fp8", "dynamic-fp8", "group-fp8", "nvfp4", "mxfp8"])
def test_quantised(fa: ModuleType, op: Any, kind: str) -> None:
    x, residual, weight = tensors(5)
    scale = torch.tensor([0.5]) if kind in fa.SCALED else None
    given = (x, residual, weight, 1e-6, 0.0, scale, kind, "128x4", 32, True, None, True, op._key)
    torch.library.opcheck(op._operators.allreduce_rmsnorm_quantized.default, given)

    def layer(x: Any) -> Any:
        return op.quantized(x * 2, residual, weight, kind=kind, scale=scale, group_size=32, keep_norm=True)

    made, compiled = layer(x), torch.compile(layer, fullgraph=True, backend="aot_eager")(x)
    for got, want in zip(compiled, made, strict=True):
        assert got.shape == want.shape
        assert got.stride() == want.stride()
        assert got.dtype == want.dtype
        assert torch.equal(*(t.view(torch.uint8) if t.dtype.itemsize == 1 else t for t in (got, want)))
    normed, summed = op(x * 2, residual, weight)
    assert torch.equal(made.norm, normed)
    assert torch.equal(made.residual, summed)
    with pytest.raises(ValueError, match="is none of"):
        op.quantized(x, residual, weight, kind="int8")


@pytest.mark.parametrize("quantised", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_moe(fa: ModuleType, op: Any, shared: bool, quantised: bool) -> None:
    (experts, index, factor, more), (_, residual, weight) = fa.make_experts(5, op.request, 1, 4)[0], tensors(5)
    beside, scale = more if shared else None, torch.tensor([0.5]) if quantised else None
    given = (experts, residual, weight, 1e-6, 0.0, index, factor, beside, scale, op._key)
    torch.library.opcheck(op._operators.allreduce_moe_finalize.default, given)

    def layer(x: Any) -> Any:
        return op.moe_finalize(x * 2, index, factor, residual, weight, shared_expert_output=beside, scale=scale)

    made, compiled = layer(experts), torch.compile(layer, fullgraph=True, backend="aot_eager")(experts)
    for got, want in zip(compiled, made, strict=True):
        assert got.dtype == want.dtype
        assert torch.equal(got.float(), want.float())
    finalized = fa.reference_moe_finalize(experts * 2, index, factor, beside)
    normed, summed = op(finalized, residual, weight)
    wanted = fa.quantize(normed, "fp8", scale, "linear", 0)[0] if quantised else normed
    assert torch.equal(made[0].float(), wanted.float())
    assert torch.equal(made[1], summed)
    with pytest.raises(ValueError, match="one float32 number"):
        op.moe_finalize(experts, index, factor, residual, weight, scale=torch.ones(2))


def test_what_an_operation_is_made_for_is_what_calls_omit(fa: ModuleType) -> None:
    x, residual, weight = tensors(3)
    made = {"rms_eps": 1e-3, "weight_bias": 1.0}
    with fa.FusedAllReduce(None, HIDDEN, torch.bfloat16, 8, **made) as op:
        for got, want in (
            (op(x, residual, weight), op(x, residual, weight, 1e-3, 1.0)),
            (op(x, residual, weight, weight_bias=0.0), op(x, residual, weight, 1e-3, 0.0)),
        ):
            assert torch.equal(got[0], want[0])
        kind = {"kind": "dynamic-fp8"}
        assert torch.equal(
            op.quantized(x, residual, weight, **kind).scale, op.quantized(x, residual, weight, 1e-3, 1.0, **kind).scale
        )


def test_buffers_shapes_and_no_residual(op: Any) -> None:
    x, residual, weight = tensors(6)
    normed, summed = op(x, residual, weight)
    folded = [t.view(2, 3, HIDDEN) for t in (x, residual)]
    for got, want in zip(op(*folded, weight), (normed, summed), strict=True):
        assert torch.equal(got, want.view(2, 3, HIDDEN))
    for got, want in zip(op(x, None, weight), op(x, torch.zeros_like(x), weight), strict=True):
        assert torch.equal(got, want)
    columns = torch.empty(HIDDEN, 6, dtype=x.dtype).t()
    a, b = x.clone(), residual.clone()
    op(a, b, weight, norm_out=columns, residual_out=b)
    assert torch.equal(columns, normed)
    assert torch.equal(b, summed)
    op(a, residual, weight, norm_out=a, residual_out=summed)
    assert torch.equal(a, normed)
    with pytest.raises(ValueError, match="both"):
        op(x, residual, weight, norm_out=a)


def test_the_engines_own_path(fa: ModuleType) -> None:
    seen = []

    def mine(x: Any, residual: Any, weight: Any, eps: float, bias: float) -> Any:
        seen.append((eps, bias))
        return x + 1, residual + 2

    made = fa.FusedAllReduce(None, HIDDEN, torch.bfloat16, 8, fallback=mine, fallback_allreduce=lambda x: x)
    with made as op:
        x, residual, weight = tensors(3)
        normed, summed = op(x, residual, weight, 1e-5, 1.0)
        assert torch.equal(normed, x + 1)
        assert torch.equal(summed, residual + 2)
        assert torch.equal(op.allreduce(x), x)
        assert seen == [(1e-5, 1.0)]
        assert op.path == "fallback"
        assert not op.can_run(x)
        assert op.why_not(x) == "there is one rank, so nothing to reduce"


def test_whole_graph_without_recompiles(op: Any) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")

    def layer(x: Any, residual: Any, weight: Any) -> Any:
        normed, summed = op(x * 2, residual, weight, 1e-5, 1.0)
        return normed + 1, summed, op.allreduce(x)

    compiled = torch.compile(layer, fullgraph=True, backend=counter)
    for tokens in (5, 5, 5):
        x, residual, weight = tensors(tokens)
        for got, want in zip(compiled(x, residual, weight), layer(x, residual, weight), strict=True):
            assert torch.equal(got, want)
    assert counter.frame_count == 1
    for tokens in (6, 7, 11, 64, 127):  # the first of these makes the number of tokens symbolic
        compiled(*tensors(tokens))
    assert counter.frame_count == 2


@pytest.mark.on_request
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, of its own modules
def test_inductor(op: Any) -> None:
    def layer(x: Any, residual: Any, weight: Any) -> Any:
        return op(x, residual, weight)

    compiled = torch.compile(layer, fullgraph=True)
    x, residual, weight = tensors(9)
    for got, want in zip(compiled(x, residual, weight), op(x, residual, weight), strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_reference_is_right(fa: ModuleType, dtype: str) -> None:
    kind = getattr(torch, dtype)
    with fa.FusedAllReduce(None, HIDDEN, kind, 8) as op:
        for tokens in (0, 1, 7, 33):
            x, residual, weight = tensors(tokens, kind)
            normed, summed = op(x, residual, weight, 1e-6, 1.0)
            bound = 4 * torch.finfo(kind).eps * (exact(x, residual, weight, 1e-6, 1.0).abs() + 1)
            assert ((normed.double() - exact(x, residual, weight, 1e-6, 1.0)).abs() <= bound).all()
            assert torch.equal(summed, (x.float() + residual.float()).to(kind))
            assert normed.dtype == summed.dtype == kind


def test_what_a_call_refuses(fa: ModuleType, op: Any) -> None:
    x, residual, weight = tensors(3)
    for bad in (
        (x, residual, weight.float()),
        (x.float(), residual, weight),
        (x, residual[:2], weight),
        (x[:, :32], residual[:, :32], weight[:32]),
        (x[0], residual[0], weight),
        (x, residual.to("meta"), weight),
        (x, residual, weight.to("meta")),
        (x.to("meta"), residual, weight),
    ):
        with pytest.raises(ValueError, match="must be"):
            op(*bad)
    op.close()
    op.close()
    with pytest.raises(RuntimeError, match="closed"):
        op(x, residual, weight)


def test_what_is_asked_for(fa: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(fa.FusedUnavailable, match="one rank"):
        fa.FusedAllReduce(None, HIDDEN, torch.bfloat16, 8, "require")
    for wrong in (
        {"fused": "always"},
        {"backend": "nccl"},
        {"max_bytes": -1},
        {"required_tokens": "all"},
        {"fallback": 3},
        {"hidden_dim": 0},
        {"dtype": torch.float64},
        {"timeout": 0},
        {"timeout": None},
        {"timeout": "soon"},
        {"hidden_dim": None},
        {"hidden_dim": 64.0},
        {"max_token_num": "8"},
        {"dtype": None},
        {"fused": None},
        {"backend": []},
        {"backend": "auto,trtllm"},
        {"backend": ["trtllm", "trtllm"]},
        {"patterns": "kNoSuch"},
        {"patterns": ["kMoEFinalizeARResidualRMSNorm"]},
        {"patterns": 3},
        {"top_k": 0},
        {"top_k": "many"},
        {"rms_eps": 0.0},
        {"rms_eps": float("inf")},
        {"weight_bias": None},
        {"group": "WORLD"},
    ):
        arguments = {"group": None, "hidden_dim": HIDDEN, "dtype": torch.bfloat16, "max_token_num": 8, **wrong}
        with pytest.raises(ValueError):  # noqa: PT011 - as many messages
            fa.FusedAllReduce(**arguments)
    monkeypatch.setenv("DRIFTWATCH_FUSED", "require")
    with pytest.raises(fa.FusedUnavailable):
        fa.FusedAllReduce(None, HIDDEN, torch.bfloat16, 8, "off")


def test_the_report_knows_the_calls(fa: ModuleType, op: Any) -> None:
    x, residual, weight = tensors(3)
    op(x, residual, weight)
    op(x, residual, weight)
    (section,) = [s for s in fa.report()["fused_allreduce"] if s["calls"]["reference"]]
    assert section["calls"] == {"fused": 0, "reference": 2, "fallback": 0, "empty": 0, "captured": 0}
    assert section["path"] == "reference"
    assert section["why"]
    assert "calls" in fa.as_table(fa.report())
