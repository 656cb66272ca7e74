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
