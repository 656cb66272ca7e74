"""FlashInfer's fused kernels behind one face.

The unified API, and the function before it.

Enters: agreed terms and a workspace of the group they were agreed in. Leaves: kernels
that can be launched. What a build does not take is never passed: that is in the terms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import (
    CUTEDSL,
    PAIR,
    PAIR_RUN,
    RUN,
    Request,
    Terms,
    oneshot,
)
from driftwatch.targets.flashinfer_comm.gates import MOE_RUN
from driftwatch.targets.flashinfer_comm.machine import Machine
from driftwatch.targets.flashinfer_comm.patterns import (
    BLOCKS,
    FP8,
    GROUP_FP8,
    KINDS,
    MOE_FP8_PATTERN,
    MOE_PATTERNS,
    NORM_PATTERN,
    NVFP4,
    PATTERNS,
    PLAIN_PATTERN,
    SCALED,
    SWIZZLED,
)
from driftwatch.targets.flashinfer_comm.quantised import empty_outputs, fault_of
from driftwatch.targets.flashinfer_comm.sharing import Share
from driftwatch.targets.flashinfer_comm.workspaces import PairWorkspace

if TYPE_CHECKING:
    import torch


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
            # Compiled kernels refuse it: they sum in a way of their own
            "fp32_acc": request.fp32_acc and terms.backend != CUTEDSL,
        }
        self._moe = None
        if MOE_RUN in terms.takes:
            self._moe = adapter.bindings[MOE_RUN].target

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

    def launch_moe(self, x: torch.Tensor, pattern: str, **arguments: Any) -> None:
        """Run a MoE finalize on contiguous [rows, hidden_dim]."""
        if self._moe is None:
            self.launch(x, pattern, None, True, **arguments)
            return
        workspace: Any = self.share.workspace.object
        _launch_moe_function(
            self._moe,
            x,
            arguments,
            workspace_ptrs=workspace.workspace_tensor,
            world_rank=workspace.rank,
            world_size=self._size,
            launch_with_pdl=self._fixed["launch_with_pdl"],
        )


class CompiledKernels(UnifiedKernels):
    """`allreduce_fusion` on the workspace that is compiled for a pattern."""

    def launch(
        self,
        x: torch.Tensor,
        pattern: str,
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
        **arguments: Any,
    ) -> None:
        """As for the others; its kernels choose for themselves how, and when to say
        that they are done.
        """
        self._run(
            input=x,
            workspace=self.share.workspace.object[pattern],
            pattern=self.terms.patterns[pattern],
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
        self._moe: Any = adapter.bindings[MOE_RUN].target
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

    def launch_moe(self, x: torch.Tensor, pattern: str, **arguments: Any) -> None:
        """As for the unified API."""
        _launch_moe_function(
            self._moe,
            x,
            arguments,
            workspace_ptrs=self.share.workspace.object,
            world_rank=self._rank,
            world_size=self._size,
            launch_with_pdl=self._request.launch_with_pdl,
        )


Kernels = UnifiedKernels | PairKernels


def make_kernels(
    adapter: Adapter, terms: Terms, request: Request, share: Share
) -> Kernels:
    """The kernels of agreed terms, on a workspace that the group has."""
    if terms.kind == PAIR:
        return PairKernels(adapter, terms, request, share)
    kind = CompiledKernels if terms.backend == CUTEDSL else UnifiedKernels
    return kind(adapter, terms, request, share)


def _launch_moe_function(
    run: Callable[..., Any],
    x: torch.Tensor,
    arguments: Mapping[str, Any],
    **place: Any,
) -> None:
    """The MoE finalize of the releases in which it is no pattern yet, up to 0.6.7."""
    given = dict(arguments)
    given["norm_weight"] = given.pop("rms_gamma")
    given["eps"] = given.pop("rms_eps")
    run(allreduce_in=x, **given, **place)


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
    kernels: Kernels, request: Request, machine: Machine, size: int, timeout: float
) -> None:
    """Launch the basic patterns and those that are asked for once each, wait for them
    no longer than `timeout`, and look at what they wrote.

    Every rank gives ones, whose sum every dtype holds exactly.
    """
    import torch

    dtype = getattr(torch, request.dtype)
    device = torch.device(f"{machine.kind}:{machine.device or 0}")
    ones = torch.ones(1, request.hidden_dim, dtype=dtype, device=device)
    summed: dict[str, torch.Tensor] = {}
    normed: dict[str, torch.Tensor] = {}
    for pattern in dict.fromkeys((PLAIN_PATTERN, NORM_PATTERN, *request.patterns)):
        if pattern not in kernels.terms.serves:
            continue
        total, norm, kind = torch.empty_like(ones), torch.empty_like(ones), None
        more: dict[str, Any] = {
            "residual_in": torch.zeros_like(ones),
            "residual_out": total,
            "norm_out": norm,
            "rms_gamma": torch.ones(request.hidden_dim, dtype=dtype, device=device),
            "rms_eps": request.rms_eps,
        }
        if request.weight_bias and kernels.terms.has("weight_bias"):
            more["weight_bias"] = request.weight_bias
        if pattern in KINDS or pattern == MOE_FP8_PATTERN:
            kind = KINDS.get(pattern, FP8)
            keep_norm = pattern in KINDS and PATTERNS[kind].index(pattern) == 1
            if not keep_norm:
                del more["norm_out"]
            scale = None
            if kind in SCALED:
                scale = torch.ones(1, dtype=torch.float32, device=device)
            if fault_of(kind, SWIZZLED, _GROUP, request.hidden_dim, scale):
                continue
            out = empty_outputs(ones, kind, SWIZZLED, _GROUP, keep_norm=keep_norm)
            more |= quantised_arguments(
                kernels.terms, kind, scale, SWIZZLED, _GROUP, out[:2]
            )
        summed[pattern] = total
        if "norm_out" in more and pattern != PLAIN_PATTERN:
            normed[pattern] = norm
        if pattern == PLAIN_PATTERN:
            kernels.launch(ones, pattern, None, True, output=total)
        elif pattern in MOE_PATTERNS:
            _launch_ones_of_experts(kernels, request, ones, pattern, more)
        else:
            kernels.launch(ones, pattern, None, True, **more)
    if machine.kind == "cuda":
        _wait_for_device(timeout)
    for pattern, result in summed.items():
        if not bool((result == size).all()):
            raise RuntimeError(f"{pattern}: {size} ones were not summed to {size}")
    bias = request.weight_bias if kernels.terms.has("weight_bias") else 0.0
    wanted = size / (size * size + request.rms_eps) ** 0.5 * (1 + bias)
    for pattern, result in normed.items():
        if not bool(((result - wanted).abs() < 0.01 * max(1.0, abs(wanted))).all()):
            raise RuntimeError(
                f"{pattern}: equal numbers were not normed to {wanted:g}"
            )


_GROUP = 128


def _launch_ones_of_experts(
    kernels: Kernels,
    request: Request,
    ones: torch.Tensor,
    pattern: str,
    more: Mapping[str, Any],
) -> None:
    """One token of which the first expert counts alone."""
    import torch

    top_k = request.top_k or 1
    scales = ones.new_zeros((1, top_k))
    scales.narrow(1, 0, 1).fill_(1.0)
    index = torch.arange(top_k, dtype=torch.int32).view(1, top_k)
    kernels.launch_moe(
        ones.new_ones((top_k, request.hidden_dim)),
        pattern,
        expanded_idx_to_permuted_idx=index.to(ones.device),
        expert_scale_factor=scales,
        shared_expert_output=(
            torch.zeros_like(ones) if request.include_shared_expert else None
        ),
        **more,
    )


def _wait_for_device(timeout: float) -> None:
    import torch

    make_event: Any = torch.cuda.Event  # not typed in every release of torch
    event = make_event()
    event.record()
    deadline = time.monotonic() + timeout
    while not event.query():
        if time.monotonic() >= deadline:
            raise Stuck(f"it has not ended within {timeout:g} s")
        time.sleep(0.001)


def quantised_arguments(
    terms: Terms,
    kind: str,
    scale: torch.Tensor | None,
    layout: str,
    group_size: int,
    out: Sequence[torch.Tensor],
) -> dict[str, Any]:
    """What a quantised pattern is given beside the rest: `out` are the quantised output
    and its scales.
    """
    import torch

    quant, scales = out
    more: dict[str, Any] = {"quant_out": quant.view(-1, quant.shape[-1])}
    if kind != FP8:
        # The same bytes, in the dtype in which the build wants scales of NVFP4
        more["scale_out"] = (
            scales.view(torch.float8_e4m3fn) if kind == NVFP4 else scales
        )
    if kind in BLOCKS:
        more["layout_code"] = terms.layouts[layout]
    if kind == GROUP_FP8:
        more["block_quant_group_size"] = group_size
    if scale is not None:
        more["scale_factor"] = scale
    return more
