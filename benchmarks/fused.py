"""What a call of FusedAllReduce costs in eager mode, as a ratio to a hand-written custom op that does the same checks.

Kernels do nothing here, and there is one process: what is timed is the way to the kernel, op dispatch, checks, outputs
and arguments, which an engine pays for each layer where it captures no graphs. The hand-written op takes what ours
takes, checks what ours checks (forms, dtypes and devices of all tensors, the limit of tokens), makes the same outputs,
and calls the same kernel with the same arguments. Run it as ``python benchmarks/fused.py``: it prints the ratios.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import timeit
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from driftwatch.adapter.write import make_adapter
from driftwatch.snapshot.store import store
from driftwatch.targets.target import choose, shipped_targets
from tests.adapter.simulated import Build
from tests.adapter.together import load

HIDDEN, TOKENS = 1024, 8
_library: list[torch.library.Library] = []


def kernel(**arguments: Any) -> None:
    """What the library would launch."""


def ours() -> Any:
    """A FusedAllReduce of one rank whose calls go to the kernel."""
    target = choose(shipped_targets(), "flashinfer-python")
    history = store.load(target.snapshots)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fi_adapter.py"
        path.write_text(make_adapter(history, target).text, encoding="utf-8")
        Build(history, history.timeline.versions[-1]).install()
        fa = load(path, "fi_adapter")
    op = fa.FusedAllReduce(None, HIDDEN, torch.bfloat16, 64)
    machine = fa.Machine(cuda=True, capability=(10, 0), device=0)
    interface = fa.find_interface(fa.ADAPTER, "trtllm")
    op.terms = fa.make_terms(fa.ADAPTER, op.request, machine, "trtllm", interface, 2)
    share = SimpleNamespace(workspace=SimpleNamespace(object=0, size=2), detached=False, leave=lambda *_: None)
    op._kernels = fa.make_kernels(fa.ADAPTER, op.terms, op.request, share)
    op._kernels._run = kernel
    op._know_limits()
    op._most = 64
    return op


def by_hand() -> Any:
    """The custom op that somebody would write for this one shape."""
    library = torch.library.Library("by_hand", "FRAGMENT")
    _library.append(library)
    tensors = "Tensor x, Tensor? residual, Tensor weight"
    numbers = "float eps, float weight_bias, bool? use_oneshot, bool trigger_completion_at_end"
    library.define(f"fused({tensors}, {numbers}) -> (Tensor, Tensor)")

    def fused(
        x: torch.Tensor,
        residual: torch.Tensor,
        weight: torch.Tensor,
        eps: float,
        weight_bias: float,
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if x.device != residual.device or x.device != weight.device:
            raise ValueError("all tensors must be on one device")
        if x.dim() < 2 or x.shape[-1] != HIDDEN or x.dtype != torch.bfloat16:
            raise ValueError("input must be [tokens, hidden] of bfloat16")
        if residual.shape != x.shape or residual.dtype != x.dtype:
            raise ValueError("residual must be like input")
        if weight.shape != (HIDDEN,) or weight.dtype != x.dtype:
            raise ValueError("weight must be [hidden]")
        tokens = x.numel() // HIDDEN
        if not tokens or tokens > 64:
            raise ValueError("another path")
        normed, summed = torch.empty_like(x), torch.empty_like(x)
        kernel(
            input=x.contiguous().view(-1, HIDDEN),
            workspace=0,
            pattern=1,
            use_oneshot=use_oneshot,
            launch_with_pdl=True,
            fp32_acc=True,
            trigger_completion_at_end=trigger_completion_at_end,
            weight_bias=weight_bias,
            residual_in=residual.contiguous().view(-1, HIDDEN),
            residual_out=summed.view(-1, HIDDEN),
            norm_out=normed.view(-1, HIDDEN),
            rms_gamma=weight.contiguous(),
            rms_eps=eps,
        )
        return normed, summed

    library.impl("fused", fused, "CompositeExplicitAutograd")
    return torch.ops.by_hand.fused


def main() -> None:
    torch.set_num_threads(1)
    op, hand = ours(), by_hand()
    x = torch.zeros(TOKENS, HIDDEN, dtype=torch.bfloat16)
    weight = torch.ones(HIDDEN, dtype=torch.bfloat16)
    calls = {"adapter": lambda: op(x, x, weight, 1e-6), "by hand": lambda: hand(x, x, weight, 1e-6, 0.0, None, True)}
    ratios = []
    with torch.inference_mode(), contextlib.closing(op):
        for _ in range(7):
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(400):  # in short turns, so that both have the same machine
                for name, call in calls.items():
                    best[name] = min(best[name], timeit.timeit(call, number=20) / 20)
            ratios.append(best["adapter"] / best["by hand"])
            print(f"{best['adapter'] * 1e6:6.1f} us, by hand {best['by hand'] * 1e6:6.1f} us: {ratios[-1]:.2f}")
    assert op.calls["fused"] > 0
    print(f"ratio {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
