"""What a call of the fused allreduce does, once all ranks have decided.

Enters: tensors, and what was decided. Leaves: results, by the kernels or by the other
path. Which of them a call takes follows from its shapes by rules that were voted on, so
that it is the same on every rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftwatch.targets.flashinfer_comm.agreement import (
    NORM_PATTERN,
    PLAIN_PATTERN,
    most_tokens,
    why_not,
    why_not_quantised,
)
from driftwatch.targets.flashinfer_comm.backends import PairKernels, UnifiedKernels
from driftwatch.targets.flashinfer_comm.deciding import Decided, FusedUnavailable
from driftwatch.targets.flashinfer_comm.quantised import (
    BLOCKS,
    FP8,
    GROUP_FP8,
    NVFP4,
    PATTERNS,
    quantize,
)
from driftwatch.targets.flashinfer_comm.reference import (
    reference_add_rmsnorm,
    reference_allreduce,
)

if TYPE_CHECKING:
    import torch


_DETACHED = "the workspace is given back for a checkpoint"


class Calls(Decided):
    """What was decided, and what calls come to under it."""

    fallback: Callable[..., tuple[torch.Tensor, torch.Tensor]] | None
    fallback_allreduce: Callable[[torch.Tensor], torch.Tensor] | None
    unfused_because: dict[str, int]

    def _know_limits(self) -> None:
        """Keep what `why_not` says in the form in which a call asks for it."""
        import torch

        self._hidden = self.request.hidden_dim
        self._of_weight = (self._hidden,)
        self._dtype: torch.dtype = getattr(torch, self.request.dtype)
        self._most = most_tokens(self.request, self.terms)
        self._biased = self.terms is not None and self.terms.has("weight_bias")

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
