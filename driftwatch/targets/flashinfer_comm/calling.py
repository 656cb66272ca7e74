"""What a call of the fused allreduce does, once all ranks have decided.

Enters: tensors, and what was decided. Leaves: results, by the kernels or by the other
path. Which of them a call takes follows from its shapes by rules that were voted on, so
that it is the same on every rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftwatch.targets.flashinfer_comm.agreement import (
    most_tokens,
    why_not,
    why_not_moe,
    why_not_quantised,
)
from driftwatch.targets.flashinfer_comm.backends import Kernels, quantised_arguments
from driftwatch.targets.flashinfer_comm.deciding import Decided, FusedUnavailable
from driftwatch.targets.flashinfer_comm.patterns import (
    FP8,
    MOE_FP8_PATTERN,
    MOE_PATTERN,
    NORM_PATTERN,
    PATTERNS,
    PLAIN_PATTERN,
    SWIZZLED,
)
from driftwatch.targets.flashinfer_comm.quantised import quantize
from driftwatch.targets.flashinfer_comm.reference import (
    reference_add_rmsnorm,
    reference_allreduce,
    reference_moe_finalize,
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
        self._serves: frozenset[str] = frozenset()
        # The only bias and eps that the kernels take; None is any
        self._bias: float | None = None
        self._eps: float | None = None
        if self.terms is not None:
            self._serves = frozenset(self.terms.serves)
            self._bias = None if self.terms.has("weight_bias") else 0.0
            self._bias = self.terms.compiled.get("weight_bias", self._bias)
            self._eps = self.terms.compiled.get("rms_eps")

    def can_run(
        self,
        x: torch.Tensor,
        weight_bias: float | None = None,
        *,
        eps: float | None = None,
        pattern: str = NORM_PATTERN,
    ) -> bool:
        """Whether a call with such an input would be fused.

        No rank waits for another. For a MoE finalize, `x` is like the residual.
        """
        return self.why_not(x, weight_bias, eps=eps, pattern=pattern) is None

    def why_not(
        self,
        x: torch.Tensor,
        weight_bias: float | None = None,
        *,
        eps: float | None = None,
        pattern: str = NORM_PATTERN,
    ) -> str | None:
        """Why a call with such an input would not be fused; None when it would be."""
        if self.closed:
            return "this FusedAllReduce is closed"
        if self._kernels is None or self.terms is None:
            return self.decision.reason
        if self._kernels.share.detached:
            return _DETACHED
        if self._misfit(x):
            return self._misfit(x)
        tokens = x.numel() // self.request.hidden_dim
        return why_not(
            self.request,
            self.terms,
            tokens,
            self.request.weight_bias if weight_bias is None else weight_bias,
            self.request.rms_eps if eps is None else eps,
            pattern,
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
        kernels = self._route(x, NORM_PATTERN, weight_bias, eps, self.fallback)
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
            rms_gamma=_plain(weight),
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
        pattern, why = PATTERNS[kind][keep_norm], None
        if self.terms is not None:
            why = why_not_quantised(self.terms, pattern, kind, layout)
        kernels = self._route(x, pattern, weight_bias, eps, self.fallback, why)
        if kernels is None:
            normed, total = self._unfused(*given)
            made = quantize(self._rows(normed), kind, scale, layout, group_size)
            quant.copy_(made[0].view(quant.shape))
            scales.copy_(made[1])
            summed.copy_(total)
            if keep_norm:
                norm.copy_(normed)
            return
        more = quantised_arguments(
            kernels.terms, kind, scale, layout, group_size, (quant, scales)
        )
        if keep_norm:
            more["norm_out"] = self._rows(norm)
        if weight_bias:
            more["weight_bias"] = weight_bias
        kernels.launch(
            self._rows(x),
            pattern,
            use_oneshot,
            trigger_completion_at_end,
            residual_in=self._before(x, residual),
            residual_out=self._rows(summed),
            rms_gamma=_plain(weight),
            rms_eps=eps,
            **more,
        )

    def run_moe(
        self,
        given: tuple[torch.Tensor, torch.Tensor | None, torch.Tensor, float, float],
        moe: tuple[torch.Tensor, torch.Tensor, torch.Tensor | None],
        scale: torch.Tensor | None,
        out: tuple[torch.Tensor, torch.Tensor],
    ) -> None:
        """What the custom op of the MoE finalize does.

        `moe` are index, factor and the shared expert. The results are written to `out`,
        which is new: the norm, quantised where there is a `scale`, and the residual.
        """
        x, residual, weight, eps, weight_bias = given
        index, factor, shared = moe
        norm, summed = out
        self._check(x, weight)
        self._check_moe(x, residual, moe)
        if not summed.numel():
            self.calls["empty"] += 1
            return
        why = None
        tokens, top_k = index.shape
        if self.terms is not None:
            why = why_not_moe(
                self.terms, tokens, x.shape[0], top_k, shared=shared is not None
            )
        pattern = MOE_PATTERN if scale is None else MOE_FP8_PATTERN
        kernels = self._route(summed, pattern, weight_bias, eps, self.fallback, why)
        if kernels is None:
            own = reference_moe_finalize(x, index, factor, shared)
            normed, total = self._unfused(own, residual, weight, eps, weight_bias)
            if scale is not None:
                normed = quantize(normed, FP8, scale, SWIZZLED, 0)[0]
            norm.copy_(normed)
            summed.copy_(total)
            return
        more = {"norm_out": norm}
        if scale is not None:
            more = {"quant_out": norm, "scale_factor": scale}
        kernels.launch_moe(
            _plain(x),
            pattern,
            expanded_idx_to_permuted_idx=_plain(index),
            expert_scale_factor=_plain(factor),
            shared_expert_output=None if shared is None else _plain(shared),
            residual_in=self._before(summed, residual),
            residual_out=summed,
            rms_gamma=_plain(weight),
            rms_eps=eps,
            **more,
            **({"weight_bias": weight_bias} if weight_bias else {}),
        )

    def _check_moe(
        self,
        x: torch.Tensor,
        residual: torch.Tensor | None,
        moe: tuple[torch.Tensor, torch.Tensor, torch.Tensor | None],
    ) -> None:
        import torch

        index, factor, shared = moe
        if x.dim() != 2:
            raise ValueError(f"input must be [rows, {self._hidden}], not {_looks(x)}")
        if index.dim() != 2 or index.dtype is not torch.int32 or not index.shape[1]:
            raise ValueError(
                "expanded_idx_to_permuted_idx must be [tokens, top_k] of torch.int32, "
                f"not {_looks(index)}"
            )
        if factor.shape != index.shape or factor.dtype is not self._dtype:
            raise ValueError(
                f"expert_scale_factor must be {list(index.shape)} of {self._dtype}, "
                f"not {_looks(factor)}"
            )
        for what, other in (("residual", residual), ("shared_expert_output", shared)):
            wanted = (index.shape[0], self._hidden)
            if other is not None and (
                other.shape != wanted or other.dtype is not self._dtype
            ):
                raise ValueError(
                    f"{what} must be {list(wanted)} of {self._dtype}, "
                    f"not {_looks(other)}"
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
        kernels = self._route(x, PLAIN_PATTERN, None, None, self.fallback_allreduce)
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
        x = _plain(x)
        return x if x.dim() == 2 else x.view(-1, self._hidden)

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
        pattern: str,
        weight_bias: float | None,
        eps: float | None,
        fallback: Callable[..., Any] | None,
        why: str | None = None,
    ) -> Kernels | None:
        """The kernels this call goes to, by rules that are the same on every rank.

        None for the other path. `x` has a row for each token. A bias and eps of None
        are those of a pattern that has none.
        """
        kernels = self._kernels
        if kernels is not None and self.terms is not None:
            if kernels.share.detached:
                raise RuntimeError(_DETACHED)
            tokens = x.numel() // self._hidden
            if (
                why is None
                and tokens <= self._most
                and pattern in self._serves
                and (self._bias is None or weight_bias in (self._bias, None))
                and (self._eps is None or eps in (self._eps, None))
            ):
                self.calls["fused"] += 1
                if x.is_cuda:
                    self._count_capture()
                return kernels
            bias = weight_bias or 0.0
            why = why or why_not(self.request, self.terms, tokens, bias, eps, pattern)
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


_ALIGNMENT = 16
"""Bytes that one access of a kernel takes: what begins elsewhere it cannot read."""


def _plain(x: torch.Tensor) -> torch.Tensor:
    """The tensor, or a copy where a kernel cannot read it directly."""
    if x.is_contiguous() and not x.data_ptr() % _ALIGNMENT:
        return x
    import torch

    return x.clone(memory_format=torch.contiguous_format)


def _plain_memory(out: torch.Tensor) -> torch.Tensor:
    """The tensor, or one like it in plain order where a kernel cannot write to it
    directly.
    """
    if out.is_contiguous() and not out.data_ptr() % _ALIGNMENT:
        return out
    return out.new_empty(out.shape)


def _looks(x: torch.Tensor) -> str:
    return f"{list(x.shape)} of {x.dtype}"
