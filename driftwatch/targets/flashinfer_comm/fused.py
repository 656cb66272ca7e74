"""The fused allreduce itself.

Allreduce, residual add and RMSNorm, in one kernel where every rank can, else in torch.

Enters: a process group and what will be asked of it. Leaves: a `FusedAllReduce` on
which all ranks have decided, once, together. A call decides nothing: which path it
takes follows from its shapes by rules that were voted on, so that they are the same on
every rank.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import (
    AUTO,
    NORM_PATTERN,
    PLAIN_PATTERN,
    most_tokens,
    why_not,
    why_not_quantised,
)
from driftwatch.targets.flashinfer_comm.asked import asked
from driftwatch.targets.flashinfer_comm.backends import PairKernels, UnifiedKernels
from driftwatch.targets.flashinfer_comm.deciding import Decided, FusedUnavailable
from driftwatch.targets.flashinfer_comm.gates import workspace_bytes
from driftwatch.targets.flashinfer_comm.operators import live, operators
from driftwatch.targets.flashinfer_comm.quantised import (
    BLOCKS,
    FP8,
    GROUP_FP8,
    NVFP4,
    PATTERNS,
    SWIZZLED,
    Quantized,
    fault_of,
    quantize,
)
from driftwatch.targets.flashinfer_comm.reference import (
    reference_add_rmsnorm,
    reference_allreduce,
)

if TYPE_CHECKING:
    import torch


_DETACHED = "the workspace is given back for a checkpoint"


class FusedAllReduce(Decided):
    """Allreduce of the input over a group, plus the residual, RMS-normed.

    ``op(x, residual, weight)``.

    Made by all ranks of the group at the same time. `fused` is "auto" (fused where
    every rank can), "require" (or every rank raises `FusedUnavailable`) or "off".
    `backend` "auto" leaves it to all ranks together. `max_bytes` is the largest message
    to fuse: None for what engines have found to pay on this machine, 0 for no such
    limit. Under "require", calls of more than `required_tokens` may go unfused.
    `fallback` and `fallback_allreduce` are what to run in the place of the reference;
    they are called as the op and its `allreduce` are, and write to nothing they are
    given. Operations of a group `share` one workspace, whatever their shapes: they must
    not run on several streams at once. The environment has the last word:
    DRIFTWATCH_FUSED, DRIFTWATCH_FUSED_BACKEND, DRIFTWATCH_FUSED_TIMEOUT (in seconds,
    for each wait for the other ranks). Every call must be made by all ranks with the
    same number of tokens.
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
        backend: str = AUTO,
        launch_with_pdl: bool = True,
        fp32_acc: bool = True,
        timeout: float = 120.0,
        max_bytes: int | None = None,
        required_tokens: int | None = None,
        share: bool = True,
        fallback: Callable[..., tuple[torch.Tensor, torch.Tensor]] | None = None,
        fallback_allreduce: Callable[[torch.Tensor], torch.Tensor] | None = None,
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
        import torch

        self._hidden = self.request.hidden_dim
        self._of_weight = (self._hidden,)
        self._dtype: torch.dtype = getattr(torch, self.request.dtype)
        # What `why_not` says, in the form in which a call asks for it.
        self._most = most_tokens(self.request, self.terms)
        self._biased = self.terms is not None and self.terms.has("weight_bias")
        self._key = str(self.number)
        live[self._key] = self
        self._operators = operators()

    # -- calling -----------------------------------------------------------------------

    def __call__(
        self,
        input: torch.Tensor,  # noqa: A002 - the library's own name for it
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float = 1e-6,
        weight_bias: float = 0.0,
        *,
        norm_out: torch.Tensor | None = None,
        residual_out: torch.Tensor | None = None,
        use_oneshot: bool | None = None,
        trigger_completion_at_end: bool = True,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The normed sum, and the sum itself as the new residual: both like the input.

        They are written to `norm_out` and `residual_out` where both are given; these
        may be the input and the residual. `trigger_completion_at_end` False lets a
        consumer begin early, which must then wait by itself.
        """
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
        """The sum alone."""
        out: torch.Tensor = self._operators.allreduce(
            input, use_oneshot, trigger_completion_at_end, self._key
        )
        return out

    def quantized(  # noqa: PLR0913 - as the constructor
        self,
        input: torch.Tensor,  # noqa: A002 - as above
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float = 1e-6,
        weight_bias: float = 0.0,
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
        """
        how = (use_oneshot, trigger_completion_at_end, self._key)
        asked_for = (scale, kind, layout, group_size, keep_norm)
        fault = fault_of(kind, layout, group_size, self.request.hidden_dim, scale)
        if fault:
            raise ValueError(fault)
        given = (input, residual, weight, eps, weight_bias)
        return Quantized(
            *self._operators.allreduce_rmsnorm_quantized(*given, *asked_for, *how)
        )

    def can_run(self, x: torch.Tensor, weight_bias: float = 0.0) -> bool:
        """Whether a call with such an input would be fused.

        No rank waits for another.
        """
        return self.why_not(x, weight_bias) is None

    def why_not(self, x: torch.Tensor, weight_bias: float = 0.0) -> str | None:
        """Why a call with such an input would not be fused; None when it would be."""
        if self.closed:
            return "this FusedAllReduce is closed"
        if self._kernels is None or self.terms is None:
            return self.decision.reason
        if self._kernels.share.detached:
            return _DETACHED
        if self._misfit(x):
            return self._misfit(x)
        return why_not(
            self.request, self.terms, x.numel() // self.request.hidden_dim, weight_bias
        )

    def run_norm(  # noqa: PLR0913 - as the constructor
        self,
        x: torch.Tensor,
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float,
        weight_bias: float,
        norm_out: torch.Tensor,
        residual_out: torch.Tensor,
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
        *,
        new: bool = False,
    ) -> None:
        """What the custom op does.

        The results are written to `norm_out` and `residual_out`, which may be `new`.
        """
        self._check(x, weight, residual)
        if not new:
            self._check_like(x, norm_out=norm_out, residual_out=residual_out)
        if not x.numel():
            self.calls["empty"] += 1
            return
        kernels = self._route(x, weight_bias, self.fallback)
        if kernels is None:
            normed, summed = self._unfused(x, residual, weight, eps, weight_bias)
            norm_out.copy_(normed)
            residual_out.copy_(summed)
            return
        normed, summed = norm_out, residual_out
        if not new:
            normed, summed = _plain_memory(norm_out), _plain_memory(residual_out)
        kernels.launch(
            self._rows(x),
            NORM_PATTERN,
            use_oneshot,
            trigger_completion_at_end,
            residual_in=self._before(x, residual),
            residual_out=self._rows(summed),
            norm_out=self._rows(normed),
            rms_gamma=weight if weight.is_contiguous() else weight.contiguous(),
            rms_eps=eps,
            **({"weight_bias": weight_bias} if weight_bias else {}),
        )
        for out, written in ((norm_out, normed), (residual_out, summed)):
            if written is not out:
                out.copy_(written)

    def run_quantized(
        self,
        given: tuple[torch.Tensor, torch.Tensor | None, torch.Tensor, float, float],
        asked_for: tuple[torch.Tensor | None, str, str, int, bool],
        out: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
    ) -> None:
        """What the custom op of the quantised output does.

        The results are written to `out`, which is new.
        """
        x, residual, weight, eps, weight_bias = given
        scale, kind, layout, group_size, keep_norm = asked_for
        quant, scales, norm, summed = out
        self._check(x, weight, residual)
        if not x.numel():
            self.calls["empty"] += 1
            return
        why = None
        if self.terms is not None:
            why = why_not_quantised(self.terms, kind, layout, keep_norm=keep_norm)
        kernels = self._route(x, weight_bias, self.fallback, why)
        if kernels is None:
            normed, total = self._unfused(*given)
            made = quantize(self._rows(normed), kind, scale, layout, group_size)
            quant.copy_(made[0].view(quant.shape))
            scales.copy_(made[1])
            summed.copy_(total)
            if keep_norm:
                norm.copy_(normed)
            return
        more: dict[str, Any] = {"quant_out": quant.view(-1, quant.shape[-1])}
        if kind != FP8:
            more["scale_out"] = _as_e4m3(scales) if kind == NVFP4 else scales
        if kind in BLOCKS:
            more["layout_code"] = kernels.terms.layouts[layout]
        if kind == GROUP_FP8:
            more["block_quant_group_size"] = group_size
        if scale is not None:
            more["scale_factor"] = scale
        if keep_norm:
            more["norm_out"] = self._rows(norm)
        if weight_bias:
            more["weight_bias"] = weight_bias
        kernels.launch(
            self._rows(x),
            PATTERNS[kind][keep_norm],
            use_oneshot,
            trigger_completion_at_end,
            residual_in=self._before(x, residual),
            residual_out=self._rows(summed),
            rms_gamma=weight.contiguous(),
            rms_eps=eps,
            **more,
        )

    def _unfused(
        self,
        x: torch.Tensor,
        residual: torch.Tensor | None,
        weight: torch.Tensor,
        eps: float,
        weight_bias: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if self.fallback is not None:
            return self.fallback(x, residual, weight, eps, weight_bias)
        total = reference_allreduce(x, self.group, self.world_size)
        return reference_add_rmsnorm(total, residual, weight, eps, weight_bias)

    def _before(self, x: torch.Tensor, residual: torch.Tensor | None) -> torch.Tensor:
        """The residual as the kernels want it; none counts as zeros."""
        return self._rows(x.new_zeros(x.shape) if residual is None else residual)

    def run_plain(
        self, x: torch.Tensor, use_oneshot: bool | None, trigger_completion_at_end: bool
    ) -> torch.Tensor:
        """What the custom op of the plain allreduce does."""
        self._check(x)
        if not x.numel():
            self.calls["empty"] += 1
            return x.new_empty(x.shape)
        kernels = self._route(x, 0.0, self.fallback_allreduce)
        if kernels is not None:
            out = x.new_empty(x.shape)
            kernels.launch(
                self._rows(x),
                PLAIN_PATTERN,
                use_oneshot,
                trigger_completion_at_end,
                output=self._rows(out),
            )
            return out
        if self.fallback_allreduce is not None:
            return self.fallback_allreduce(x).clone()
        return reference_allreduce(x, self.group, self.world_size)

    def _rows(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() == 2 and x.is_contiguous():
            return x
        return x.contiguous().view(-1, self._hidden)

    def _misfit(self, x: torch.Tensor) -> str | None:
        if x.dtype is self._dtype and x.dim() > 1 and x.shape[-1] == self._hidden:
            return None
        wanted = f"[tokens, {self._hidden}] of {self.request.dtype}"
        return f"input must be {wanted}, not {_looks(x)}"

    def _check(
        self,
        x: torch.Tensor,
        weight: torch.Tensor | None = None,
        residual: torch.Tensor | None = None,
    ) -> None:
        if self.closed:
            raise RuntimeError("this FusedAllReduce is closed")
        misfit = self._misfit(x)
        if misfit:
            raise ValueError(misfit)
        if residual is not None and (
            residual.dtype is not self._dtype or residual.shape != x.shape
        ):
            self._check_like(x, residual=residual)
        if weight is not None and (
            weight.dtype is not self._dtype or weight.shape != self._of_weight
        ):
            # The kernels read a float32 weight as the input's dtype and return noise;
            # no release checks it.
            raise ValueError(
                f"weight must be [{self._hidden}] of {x.dtype}, not {_looks(weight)}"
            )

    def _check_like(self, x: torch.Tensor, **others: torch.Tensor) -> None:
        for what, other in others.items():
            if other.dtype is not self._dtype or other.shape != x.shape:
                raise ValueError(
                    f"{what} must be like input: {_looks(other)} is not {_looks(x)}"
                )

    def _route(
        self,
        x: torch.Tensor,
        weight_bias: float,
        fallback: Callable[..., Any] | None,
        why: str | None = None,
    ) -> UnifiedKernels | PairKernels | None:
        """The kernels this call goes to, by rules that are the same on every rank.

        None for the other path.
        """
        kernels = self._kernels
        if kernels is not None and self.terms is not None:
            if kernels.share.detached:
                raise RuntimeError(_DETACHED)
            tokens = x.numel() // self._hidden
            if (
                why is None
                and tokens <= self._most
                and (not weight_bias or self._biased)
            ):
                self.calls["fused"] += 1
                if x.is_cuda:
                    self._count_capture()
                return kernels
            why = why or why_not(self.request, self.terms, tokens, weight_bias)
            assert why is not None  # it is why these limits are what they are
            self.unfused_because[why] = self.unfused_because.get(why, 0) + 1
            limit = self.request.required_tokens
            if self.decision.required and (limit is None or tokens <= limit):
                raise FusedUnavailable(
                    f"the fused allreduce is required, and this call cannot be: {why}"
                )
        self.calls["reference" if fallback is None else "fallback"] += 1
        return None

    def _count_capture(self) -> None:
        """Replays of a captured graph do not come through here.

        That this one was captured is said in the report.
        """
        import torch

        if torch.cuda.is_current_stream_capturing():
            self.calls["captured"] += 1

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


def _as_e4m3(scales: torch.Tensor) -> torch.Tensor:
    """The same bytes, in the dtype in which the build wants scales of NVFP4."""
    import torch

    return scales.view(torch.float8_e4m3fn)


def _plain_memory(out: torch.Tensor) -> torch.Tensor:
    """The tensor, or one like it in plain order where a kernel cannot write to it
    directly.
    """
    return out if out.is_contiguous() else out.new_empty(out.shape)


def _looks(x: torch.Tensor) -> str:
    return f"{list(x.shape)} of {x.dtype}"
