"""The fused allreduce itself.

Allreduce, residual add and RMSNorm, in one kernel where every rank can, else in torch.

Enters: a process group and what will be asked of it. Leaves: a `FusedAllReduce` on
which all ranks have decided, once, together. A call decides nothing: which path it
takes follows from its shapes by rules that were voted on, so that they are the same on
every rank.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import AUTO
from driftwatch.targets.flashinfer_comm.asked import asked
from driftwatch.targets.flashinfer_comm.calling import Calls
from driftwatch.targets.flashinfer_comm.gates import workspace_bytes
from driftwatch.targets.flashinfer_comm.operators import live, operators
from driftwatch.targets.flashinfer_comm.patterns import FP8, SWIZZLED
from driftwatch.targets.flashinfer_comm.quantised import Quantized, fault_of

if TYPE_CHECKING:
    import torch


class FusedAllReduce(Calls):
    """Allreduce of the input over a group, plus the residual, RMS-normed.

    ``op(x, residual, weight)``.

    Made by all ranks of the group at the same time. `fused` is "auto" (fused where
    every rank can), "require" (or every rank raises `FusedUnavailable`) or "off".
    `backend` "auto" leaves it to all ranks together; "trtllm", "mnnvl" and
    "mnnvl-cutedsl", or several in the order in which to try them, are whose kernels to
    use. `max_bytes` is the largest message
    to fuse: None for what engines have found to pay on this machine, 0 for no such
    limit. Under "require", calls of more than `required_tokens` may go unfused.
    `fallback` and `fallback_allreduce` are what to run in the place of the reference;
    they are called as the op and its `allreduce` are, and write to nothing they are
    given. Operations of a group `share` one workspace, whatever their shapes: they must
    not run on several streams at once. The environment has the last word:
    DRIFTWATCH_FUSED, DRIFTWATCH_FUSED_BACKEND, DRIFTWATCH_FUSED_TIMEOUT. Every call
    must be made by all ranks with the same number of tokens.

    `patterns` are the fusion patterns that it is for, by their upstream names: only a
    backend with all of them is used, and each is launched once to prove that it works.
    None is the sum and the norm, and whatever else the backend has. The kernels of
    mnnvl-cutedsl are compiled for them (None: the norm alone), and for `top_k`,
    `rms_eps`, `weight_bias` and `include_shared_expert`: calls that say otherwise go
    unfused. A call without eps or weight_bias has these.

    `group` is a process group of torch, None for WORLD. Inputs are `[..., hidden_dim]`
    of `dtype`, which is float16, bfloat16 or float32; `max_token_num` is how many rows
    the workspace is for, and more go unfused. `timeout` is in seconds, for each wait
    for the other ranks. `fp32_acc` sums in float32 where the kernels have the choice.

    Raises ValueError on every rank when an argument of any rank is wrong or differs,
    `FusedUnavailable` under "require", `VoteFailed` when a rank is not heard in time.
    """

    _made: ClassVar[int] = 0

    def __init__(  # noqa: PLR0913 - each is a question of its own
        self,
        group: Any,
        hidden_dim: int,
        dtype: torch.dtype,
        max_token_num: int,
        fused: str = AUTO,
        *,
        backend: str | Sequence[str] = AUTO,
        launch_with_pdl: bool = True,
        fp32_acc: bool = True,
        timeout: float = 120.0,
        max_bytes: int | None = None,
        required_tokens: int | None = None,
        share: bool = True,
        fallback: Callable[..., tuple[torch.Tensor, torch.Tensor]] | None = None,
        fallback_allreduce: Callable[[torch.Tensor], torch.Tensor] | None = None,
        patterns: Sequence[str] | None = None,
        top_k: int | None = None,
        rms_eps: float = 1e-6,
        weight_bias: float = 0.0,
        include_shared_expert: bool = True,
    ) -> None:
        given = {
            "hidden_dim": hidden_dim,
            "dtype": dtype,
            "max_token_num": max_token_num,
            "fused": fused,
            "backend": backend,
            "launch_with_pdl": launch_with_pdl,
            "fp32_acc": fp32_acc,
            "timeout": timeout,
            "max_bytes": max_bytes,
            "required_tokens": required_tokens,
            "share": share,
            "patterns": patterns,
            "top_k": top_k,
            "rms_eps": rms_eps,
            "weight_bias": weight_bias,
            "include_shared_expert": include_shared_expert,
        }
        self.fallback, self.fallback_allreduce = fallback, fallback_allreduce
        self.calls = {
            "fused": 0,
            "reference": 0,
            "fallback": 0,
            "empty": 0,
            "captured": 0,
        }
        self.unfused_because: dict[str, int] = {}
        FusedAllReduce._made += 1
        self.number = FusedAllReduce._made
        mode, request, seconds, fault = asked(given, (fallback, fallback_allreduce))
        super().__init__(group, mode, request, seconds, fault)
        self._know_limits()
        self._key = str(self.number)
        live[self._key] = self
        self._operators = operators()

    # -- calling -----------------------------------------------------------------------

    def __call__(
        self,
        input: torch.Tensor,  # noqa: A002 - the library's own name for it
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float | None = None,
        weight_bias: float | None = None,
        *,
        norm_out: torch.Tensor | None = None,
        residual_out: torch.Tensor | None = None,
        use_oneshot: bool | None = None,
        trigger_completion_at_end: bool = True,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The normed sum, and the sum itself as the new residual: both like the input.

        With `s` the input summed over ranks plus the residual (None: zeros), the norm
        is `s * rsqrt(mean(s * s) + eps) * (weight + weight_bias)` over the last
        dimension. `input` and `residual` are `[..., hidden_dim]` of the operation's
        dtype, `weight` is `[hidden_dim]` of that dtype, all on one device; nothing of
        them is written to but what is also given as `norm_out` and `residual_out`,
        which are like the input. `eps` and `weight_bias` None are those that the
        operation was made for. `use_oneshot` None leaves the strategy to the build.
        `trigger_completion_at_end` False lets a consumer begin early, which must then
        wait by itself.

        Raises ValueError for a form, dtype or device that does not fit, RuntimeError
        when closed, `FusedUnavailable` when fused is required and this call cannot be.
        """
        if eps is None:
            eps = self.request.rms_eps
        if weight_bias is None:
            weight_bias = self.request.weight_bias
        if norm_out is None and residual_out is None:
            out: tuple[torch.Tensor, torch.Tensor] = self._operators.allreduce_rmsnorm(
                input,
                residual,
                weight,
                eps,
                weight_bias,
                use_oneshot,
                trigger_completion_at_end,
                self._key,
            )
            return out
        how = (use_oneshot, trigger_completion_at_end, self._key)
        given = (input, residual, weight, eps, weight_bias)
        if norm_out is None or residual_out is None:
            raise ValueError("norm_out and residual_out must both be given, or neither")
        self._operators.allreduce_rmsnorm_into(*given, norm_out, residual_out, *how)
        return norm_out, residual_out

    def allreduce(
        self,
        input: torch.Tensor,  # noqa: A002 - as above
        *,
        use_oneshot: bool | None = None,
        trigger_completion_at_end: bool = True,
    ) -> torch.Tensor:
        """The sum over ranks alone, a new tensor like the input.

        `input` and what is raised are as for a call.
        """
        out: torch.Tensor = self._operators.allreduce(
            input, use_oneshot, trigger_completion_at_end, self._key
        )
        return out

    def quantized(  # noqa: PLR0913 - as the constructor
        self,
        input: torch.Tensor,  # noqa: A002 - as above
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float | None = None,
        weight_bias: float | None = None,
        *,
        kind: str,
        scale: torch.Tensor | None = None,
        layout: str = SWIZZLED,
        group_size: int = 128,
        keep_norm: bool = False,
        use_oneshot: bool | None = None,
        trigger_completion_at_end: bool = True,
    ) -> Quantized:
        """The normed sum in a quantised form, with the new residual.

        `keep_norm` returns the normed sum as well.

        `kind` is "fp8" (with `scale`, by which values are divided), "dynamic-fp8" (a
        scale for each row), "group-fp8" (a power of two for each `group_size`), "nvfp4"
        (with `scale`, by which scales are multiplied) or "mxfp8". `layout` is that of
        the scales of the last two: "128x4", "8x4" or "linear".

        `scale` is one float32 number in a tensor on the input's device. `quant` is
        float8_e4m3fn like the input, and for nvfp4 uint8 `[..., hidden_dim / 2]`, the
        first of two values in the low four bits. Scales are float32 `[rows, 1]` for
        dynamic-fp8, int32 words of four exponents, columns apart by the rows rounded up
        to four, for group-fp8, and uint8 in the layout for the last two: E4M3 for each
        16 values, or exponents for each 32. Raises as a call does, and ValueError for a
        kind, scale, layout or group that does not fit.
        """
        how = (use_oneshot, trigger_completion_at_end, self._key)
        asked_for = (scale, kind, layout, group_size, keep_norm)
        fault = fault_of(kind, layout, group_size, self.request.hidden_dim, scale)
        if fault:
            raise ValueError(fault)
        given = (input, residual, weight, *self._numbers(eps, weight_bias))
        return Quantized(
            *self._operators.allreduce_rmsnorm_quantized(*given, *asked_for, *how)
        )

    def moe_finalize(
        self,
        input: torch.Tensor,  # noqa: A002 - as above
        expanded_idx_to_permuted_idx: torch.Tensor,
        expert_scale_factor: torch.Tensor,
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float | None = None,
        weight_bias: float | None = None,
        *,
        shared_expert_output: torch.Tensor | None = None,
        scale: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The experts' rows brought together, summed over ranks, and normed.

        What a rank has of a token is the sum of its experts' rows, each by its factor,
        and of the shared expert's output; the rest is as a call does it. Returns the
        norm and the new residual, both new. `input` is `[rows, hidden_dim]`, as many
        rows on every rank, `expanded_idx_to_permuted_idx` int32 `[tokens, top_k]`, the
        row of each expert of a token or -1, `expert_scale_factor` as large, of the
        operation's dtype. `residual` and `shared_expert_output` are `[tokens,
        hidden_dim]`, `weight` is `[hidden_dim]`. With `scale`, one float32 number in a
        tensor, the norm is divided by it and float8_e4m3fn. Raises as a call does.
        """
        fault = scale is not None and fault_of(FP8, SWIZZLED, 1, 1, scale)
        if fault:
            raise ValueError(fault)
        out: tuple[torch.Tensor, torch.Tensor] = self._operators.allreduce_moe_finalize(
            input,
            residual,
            weight,
            *self._numbers(eps, weight_bias),
            expanded_idx_to_permuted_idx,
            expert_scale_factor,
            shared_expert_output,
            scale,
            self._key,
        )
        return out

    def _numbers(
        self, eps: float | None, weight_bias: float | None
    ) -> tuple[float, float]:
        """What a call says of them, or what the operation was made for."""
        return (
            self.request.rms_eps if eps is None else eps,
            self.request.weight_bias if weight_bias is None else weight_bias,
        )

    # -- ending ------------------------------------------------------------------------

    def close(self) -> None:
        """Free the workspace; every rank does it. Calling it again does nothing."""
        if not self.closed:
            self.closed = True
            live.pop(self._key, None)
            self._release()

    def __enter__(self) -> FusedAllReduce:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if (
            not getattr(self, "closed", True)
            and getattr(self, "_kernels", None) is not None
        ):
            warnings.warn(
                "a FusedAllReduce with a workspace was dropped without close()",
                ResourceWarning,
                stacklevel=2,
            )

    @property
    def path(self) -> str:
        """What was launched so far.

        "fused", "reference", "fallback", several of them, or "none".
        """
        return (
            " and ".join(p for p in ("fused", "reference", "fallback") if self.calls[p])
            or "none"
        )

    def report(self) -> dict[str, Any]:
        """What was decided, why, and how often each path ran."""
        return {
            "ranks": list(self.ranks),
            "rank": self.rank,
            "asked": self.mode,
            "decided": "fused" if self.decision.fused else "reference",
            "why": self.decision.reason,
            "objections": list(self.decision.objections),
            "passed_over": list(self.decision.passed_over),
            "backend": self.terms.backend if self.terms is not None else None,
            "kernels": type(self._kernels).__name__
            if self._kernels is not None
            else None,
            "workspace": self._workspace_report(),
            "request": asdict(self.request),
            "path": self.path,
            "calls": dict(self.calls),
            "unfused_because": dict(self.unfused_because),
        }

    def _workspace_report(self) -> dict[str, Any] | None:
        if self._kernels is None or self.terms is None:
            return None
        share = self._kernels.share
        made = share.workspace.made_for
        return {
            "bytes": workspace_bytes(made, self.terms.backend, self.world_size),
            "made_for": [made.max_token_num, made.hidden_dim, made.dtype],
            "shared_by": len(share.users),
            "detached": share.detached,
        }


def install(adapter: Adapter) -> None:
    """Make `FusedAllReduce` use an adapter, and put it into the adapter's report."""
    FusedAllReduce.adapter = adapter
    adapter.sections["fused_allreduce"] = lambda: [
        op.report() for _, op in sorted(live.items(), key=lambda item: int(item[0]))
    ]
