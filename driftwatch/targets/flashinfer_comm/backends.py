"""FlashInfer's fused kernels behind one face.

The unified API, and the function before it.

Enters: agreed terms and a workspace of the group they were agreed in. Leaves: kernels
that can be launched. What a build does not take is never passed: that is in the terms.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import (
    NORM_PATTERN,
    PAIR,
    PAIR_RUN,
    PLAIN_PATTERN,
    RUN,
    Request,
    Terms,
    oneshot,
)
from driftwatch.targets.flashinfer_comm.machine import Machine
from driftwatch.targets.flashinfer_comm.sharing import Share
from driftwatch.targets.flashinfer_comm.workspaces import PairWorkspace

if TYPE_CHECKING:
    import torch


def make_kernels(
    adapter: Adapter, terms: Terms, request: Request, share: Share
) -> UnifiedKernels | PairKernels:
    """The kernels of agreed terms, on a workspace that the group has."""
    return (PairKernels if terms.kind == PAIR else UnifiedKernels)(
        adapter, terms, request, share
    )


class UnifiedKernels:
    """`allreduce_fusion` on a shared workspace."""

    def __init__(
        self, adapter: Adapter, terms: Terms, request: Request, share: Share
    ) -> None:
        run = adapter.bindings[RUN].target
        assert run is not None
        self.terms, self.share = terms, share
        self._size = share.workspace.size
        self._triggers = terms.has("trigger_completion_at_end")
        self._run = run
        self._fixed = {
            "launch_with_pdl": request.launch_with_pdl,
            "fp32_acc": request.fp32_acc,
        }

    def launch(
        self,
        x: torch.Tensor,
        pattern: str,
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
        **arguments: Any,
    ) -> None:
        """Run a fusion pattern on contiguous [tokens, hidden_dim].

        The rest is named as the unified API names it.
        """
        if self._triggers:
            arguments["trigger_completion_at_end"] = trigger_completion_at_end
        self._run(
            input=x,
            workspace=self.share.workspace.object,
            pattern=self.terms.patterns[pattern],
            use_oneshot=oneshot(self.terms, self._size, x.shape[0], use_oneshot),
            **self._fixed,
            **arguments,
        )


class PairKernels:
    """`trtllm_allreduce_fusion` on a shared workspace, before 0.6.0."""

    def __init__(
        self, adapter: Adapter, terms: Terms, request: Request, share: Share
    ) -> None:
        run, workspace = adapter.bindings[PAIR_RUN].target, share.workspace
        assert run is not None and isinstance(workspace, PairWorkspace)
        self.terms, self.share = terms, share
        self._run: Callable[..., Any] = run
        self._request, self._rank, self._size = request, workspace.rank, workspace.size

    def launch(
        self,
        x: torch.Tensor,
        pattern: str,
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
        **arguments: Any,
    ) -> None:
        """As for the unified API, whose names for arguments it takes."""
        tokens = x.shape[0]
        every: dict[str, Any] = dict.fromkeys(_PAIR_ARGUMENTS)
        every.update(arguments)
        every["allreduce_out"] = every.pop("output")
        self._run(
            allreduce_in=x,
            world_size=self._size,
            world_rank=self._rank,
            token_num=tokens,
            hidden_dim=self._request.hidden_dim,
            workspace_ptrs=self.share.workspace.object,
            launch_with_pdl=self._request.launch_with_pdl,
            trigger_completion_at_end=trigger_completion_at_end,
            fp32_acc=self._request.fp32_acc,
            pattern_code=self.terms.patterns[pattern],
            use_oneshot=oneshot(self.terms, self._size, tokens, use_oneshot),
            **every,
        )


_PAIR_ARGUMENTS = (
    "output",
    "residual_in",
    "residual_out",
    "norm_out",
    "quant_out",
    "scale_out",
    "rms_gamma",
    "rms_eps",
    "scale_factor",
    "layout_code",
)
"""What every call of the pair must name; None where the pattern has no use for it."""


class Stuck(RuntimeError):
    """A kernel was launched and does not end."""


def warm_up(
    kernels: UnifiedKernels | PairKernels,
    request: Request,
    machine: Machine,
    size: int,
    timeout: float,
) -> None:
    """Launch each basic pattern once, wait for it no longer than `timeout`, and look at
    what it wrote.

    Every rank gives ones, whose sum every dtype holds exactly.
    """
    import torch

    dtype = getattr(torch, request.dtype)
    device = torch.device(f"{machine.kind}:{machine.device or 0}")
    ones = torch.ones(1, request.hidden_dim, dtype=dtype, device=device)
    summed, normed, total = (torch.empty_like(ones) for _ in range(3))
    weight = torch.ones(request.hidden_dim, dtype=dtype, device=device)
    kernels.launch(ones, PLAIN_PATTERN, None, True, output=summed)
    kernels.launch(
        ones,
        NORM_PATTERN,
        None,
        True,
        residual_in=torch.zeros_like(ones),
        residual_out=total,
        norm_out=normed,
        rms_gamma=weight,
        rms_eps=1e-6,
    )
    if machine.kind == "cuda":
        make_event: Any = torch.cuda.Event  # not typed in every release of torch
        event = make_event()
        event.record()
        deadline = time.monotonic() + timeout
        while not event.query():
            if time.monotonic() >= deadline:
                raise Stuck(f"it has not ended within {timeout:g} s")
            time.sleep(0.001)
    if not all(
        bool((result == wanted).all())
        for result, wanted in ((summed, size), (total, size))
    ):
        raise RuntimeError(f"{size} ones were not summed to {size}")
    if not bool(((normed - 1).abs() < 0.01).all()):
        raise RuntimeError("equal numbers were not normed to one")
