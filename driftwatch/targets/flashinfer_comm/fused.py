"""The fused allreduce itself: allreduce, residual add and RMSNorm, in one kernel where every rank can, else in torch.

Enters: a process group and what will be asked of it. Leaves: a `FusedAllReduce` on which all ranks have decided, once,
together. A call decides nothing: which path it takes follows from its shapes by rules that were voted on, so that they
are the same on every rank.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

from driftwatch.adapter.runtime import Adapter
from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.agreement import (
    AUTO,
    NORM_PATTERN,
    OFF,
    PLAIN_PATTERN,
    REQUIRE,
    TRTLLM,
    Decision,
    Terms,
    decide,
    unusable,
    why_not,
)
from driftwatch.targets.flashinfer_comm.asked import asked, name_of_dtype, place_in
from driftwatch.targets.flashinfer_comm.backends import PairKernels, Stuck, UnifiedKernels, make_backend, warm_up
from driftwatch.targets.flashinfer_comm.gates import offers
from driftwatch.targets.flashinfer_comm.machine import Machine, probe_machine, unreachable
from driftwatch.targets.flashinfer_comm.operators import live, operators
from driftwatch.targets.flashinfer_comm.reference import reference_add_rmsnorm, reference_allreduce
from driftwatch.targets.flashinfer_comm.vote import Meeting, VoteFailed

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

_ALONE = "there is one rank, so nothing to reduce"


class FusedUnavailable(AdapterError):
    """The fused allreduce was required and cannot run; the message says on which rank, and why."""


class FusedAllReduce:
    """Allreduce of the input over a group, plus the residual, RMS-normed: ``op(x, residual, weight)``.

    Made by all ranks of the group at the same time. `fused` is "auto" (fused where every rank can), "require" (or every
    rank raises `FusedUnavailable`) or "off". `backend` "auto" leaves it to all ranks together. `max_bytes` is the
    largest message to fuse: None for what engines have found to pay on this machine, 0 for no such limit. Under
    "require", calls of more than `required_tokens` may go unfused. `fallback` and `fallback_allreduce` are what to run
    in the place of the reference; they are called as the op and its `allreduce` are, and write to nothing they are
    given. The environment has the last word: DRIFTWATCH_FUSED, DRIFTWATCH_FUSED_BACKEND, DRIFTWATCH_FUSED_TIMEOUT (in
    seconds, for each wait for the other ranks). Every call must be made by all ranks with the same number of tokens.
    """

    adapter: ClassVar[Adapter]
    latched: ClassVar[dict[tuple[Any, ...], str]] = {}
    """What failed, by ranks, backend, build and request, with the reason: it is not tried again."""
    _made: ClassVar[int] = 0

    def __init__(  # noqa: PLR0913 - each is a question of its own
        self,
        group: Any = None,
        hidden_dim: int = 0,
        dtype: torch.dtype | None = None,
        max_token_num: int = 0,
        fused: str = AUTO,
        *,
        backend: str = AUTO,
        launch_with_pdl: bool = True,
        fp32_acc: bool = True,
        timeout: float = 120.0,
        max_bytes: int | None = None,
        required_tokens: int | None = None,
        fallback: Callable[..., tuple[torch.Tensor, torch.Tensor]] | None = None,
        fallback_allreduce: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> None:
        self.group = group
        self.fallback, self.fallback_allreduce = fallback, fallback_allreduce
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
        }
        self.mode, self.request, self.timeout, fault = asked(given, (fallback, fallback_allreduce))
        self.closed = False
        self.calls = {"fused": 0, "reference": 0, "fallback": 0, "empty": 0, "captured": 0}
        self.unfused_because: dict[str, int] = {}
        self.terms: Terms | None = None
        self._kernels: UnifiedKernels | PairKernels | None = None
        self.rank, self.world_size, self.ranks = place_in(group)
        if self.world_size == 1:
            if fault:
                raise ValueError(fault)
            self.decision = unusable([_ALONE], [self.rank] if self.mode == REQUIRE else [])
        else:
            self.decision = self._decide_together(fault)
        self._conclude()
        FusedAllReduce._made += 1
        self._key = str(FusedAllReduce._made)
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

        They are written to `norm_out` and `residual_out` where both are given; these may be the input and the residual.
        `trigger_completion_at_end` False lets a consumer begin early, which must then wait by itself.
        """
        how = (use_oneshot, trigger_completion_at_end, self._key)
        given = (input, residual, weight, eps, weight_bias)
        if norm_out is None and residual_out is None:
            normed, summed = self._operators.allreduce_rmsnorm(*given, *how)
            return normed, summed
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
        out: torch.Tensor = self._operators.allreduce(input, use_oneshot, trigger_completion_at_end, self._key)
        return out

    def can_run(self, x: torch.Tensor, weight_bias: float = 0.0) -> bool:
        """Whether a call with such an input would be fused; no rank waits for another."""
        return self.why_not(x, weight_bias) is None

    def why_not(self, x: torch.Tensor, weight_bias: float = 0.0) -> str | None:
        """Why a call with such an input would not be fused; None when it would be."""
        if self.closed:
            return "this FusedAllReduce is closed"
        if self._kernels is None or self.terms is None:
            return self.decision.reason
        if self._misfit(x):
            return self._misfit(x)
        return why_not(self.request, self.terms, x.numel() // self.request.hidden_dim, weight_bias)

    def run_norm(
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
    ) -> None:
        """What the custom op does: the results are written to `norm_out` and `residual_out`."""
        self._check(x)
        for what, other in (("residual", residual), ("norm_out", norm_out), ("residual_out", residual_out)):
            if other is not None and (other.shape != x.shape or other.dtype != x.dtype):
                raise ValueError(f"{what} must be like input: {_looks(other)} is not {_looks(x)}")
        if weight.shape != (self.request.hidden_dim,) or weight.dtype != x.dtype:
            # The kernels read a float32 weight as the input's dtype and return noise; no release checks it.
            raise ValueError(f"weight must be [{self.request.hidden_dim}] of {x.dtype}, not {_looks(weight)}")
        if not x.numel():
            self.calls["empty"] += 1
            return
        kernels = self._route(x, weight_bias, self.fallback)
        if kernels is None:
            if self.fallback is not None:
                normed, summed = self.fallback(x, residual, weight, eps, weight_bias)
            else:
                total = reference_allreduce(x, self.group, self.world_size)
                normed, summed = reference_add_rmsnorm(total, residual, weight, eps, weight_bias)
            norm_out.copy_(normed)
            residual_out.copy_(summed)
            return
        before = x.new_zeros(x.shape) if residual is None else residual
        normed, summed = _plain_memory(norm_out), _plain_memory(residual_out)
        more = {"weight_bias": weight_bias} if weight_bias else {}
        kernels.launch(
            self._rows(x),
            NORM_PATTERN,
            use_oneshot,
            trigger_completion_at_end,
            residual_in=self._rows(before),
            residual_out=self._rows(summed),
            norm_out=self._rows(normed),
            rms_gamma=weight.contiguous(),
            rms_eps=eps,
            **more,
        )
        for out, written in ((norm_out, normed), (residual_out, summed)):
            if written is not out:
                out.copy_(written)

    def run_plain(self, x: torch.Tensor, use_oneshot: bool | None, trigger_completion_at_end: bool) -> torch.Tensor:
        """What the custom op of the plain allreduce does."""
        self._check(x)
        if not x.numel():
            self.calls["empty"] += 1
            return x.new_empty(x.shape)
        kernels = self._route(x, 0.0, self.fallback_allreduce)
        if kernels is not None:
            out = x.new_empty(x.shape)
            kernels.launch(self._rows(x), PLAIN_PATTERN, use_oneshot, trigger_completion_at_end, output=self._rows(out))
            return out
        if self.fallback_allreduce is not None:
            return self.fallback_allreduce(x).clone()
        return reference_allreduce(x, self.group, self.world_size)

    def _rows(self, x: torch.Tensor) -> torch.Tensor:
        return x.contiguous().view(-1, self.request.hidden_dim)

    def _misfit(self, x: torch.Tensor) -> str | None:
        request = self.request
        if x.dim() < 2 or x.shape[-1] != request.hidden_dim or name_of_dtype(x.dtype) != request.dtype:
            return f"input must be [tokens, {request.hidden_dim}] of {request.dtype}, not {_looks(x)}"
        return None

    def _check(self, x: torch.Tensor) -> None:
        if self.closed:
            raise RuntimeError("this FusedAllReduce is closed")
        misfit = self._misfit(x)
        if misfit:
            raise ValueError(misfit)

    def _route(
        self, x: torch.Tensor, weight_bias: float, fallback: Callable[..., Any] | None
    ) -> UnifiedKernels | PairKernels | None:
        """The kernels this call goes to, by rules that are the same on every rank; None for the other path."""
        if self._kernels is not None and self.terms is not None:
            tokens = x.numel() // self.request.hidden_dim
            why = why_not(self.request, self.terms, tokens, weight_bias)
            if why is None:
                self.calls["fused"] += 1
                self._count_capture()
                return self._kernels
            self.unfused_because[why] = self.unfused_because.get(why, 0) + 1
            limit = self.request.required_tokens
            if self.decision.required and (limit is None or tokens <= limit):
                raise FusedUnavailable(f"the fused allreduce is required, and this call cannot be: {why}")
        self.calls["reference" if fallback is None else "fallback"] += 1
        return None

    def _count_capture(self) -> None:
        """Replays of a captured graph do not come through here; that this one was captured is said in the report."""
        import torch

        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            self.calls["captured"] += 1

    # -- deciding ----------------------------------------------------------------------

    def _decide_together(self, fault: str | None) -> Decision:
        meeting = Meeting(self.group, self.timeout)
        try:
            decision = self._hold(meeting, fault)
        except BaseException as error:  # also one that ends the process: the others must hear that this rank is gone
            if not isinstance(error, VoteFailed):
                meeting.leave(type(error).__name__)
            self._release()
            raise
        meeting.end()
        return decision

    def _hold(self, meeting: Meeting, fault: str | None) -> Decision:
        """Look, vote, and make what was voted for: the first backend of which every rank could."""
        against = "fused is off" if self.mode == OFF else None
        machine, offered = Machine(cuda=False), {}
        if against is None and fault is None:
            try:
                machine = probe_machine()
                offered = offers(self.adapter, self.request, machine, self.rank, self.world_size, _world_size())
            except Exception as error:  # whatever it is, the other ranks must hear of it
                against = f"looking at what is here raised {type(error).__name__}: {error}"
        for backend, offer in offered.items():
            offer["objection"] = offer["objection"] or self.latched.get(self._latch(backend))
        ballots = meeting.vote(
            {
                "mode": self.mode,
                "fault": fault,
                "objection": against,
                "request": asdict(self.request),
                "backends": offered,
                "node": machine.node,
                "device": machine.device,
                "gpu": machine.gpu,
                "clique": machine.clique,
            }
        )
        decision = decide(ballots, self.ranks)
        failed: list[str] = []
        backends = list(decision.backends)
        if TRTLLM in backends:
            failed = self._ask_peers(meeting, machine, ballots)
            if failed:
                backends.remove(TRTLLM)
        for backend in backends:
            terms = Terms(**ballots[self.rank]["backends"][backend]["terms"])
            failures = self._make_together(meeting, terms, machine, decision.gpus_per_node)
            if not failures:
                self.terms = terms
                return replace(decision, backends=(backend,), passed_over=(*decision.passed_over, *failed))
            failed += failures
        if not decision.fused:
            return decision
        return unusable(failed, [self.ranks[i] for i, b in enumerate(ballots) if b["mode"] == REQUIRE])

    def _ask_peers(self, meeting: Meeting, machine: Machine, ballots: Sequence[Mapping[str, Any]]) -> list[str]:
        """Whether each rank's device reaches those of the others, which are known only now."""
        missing = unreachable(machine, [ballot["gpu"] for ballot in ballots])
        said = meeting.vote({"objection": missing and f"the device cannot reach the memory of {missing}"})
        return [f"rank {self.ranks[i]}: {b['objection']}" for i, b in enumerate(said) if b["objection"]]

    def _make_together(self, meeting: Meeting, terms: Terms, machine: Machine, gpus_per_node: int | None) -> list[str]:
        """Make the workspace, launch once, and vote on both; if any rank fails none keeps it, and it says why."""
        meeting.attempt()

        def make() -> None:
            self._kernels = make_backend(self.adapter, terms, self.request, self.group, meeting, gpus_per_node)

        def launch() -> None:
            assert self._kernels is not None
            warm_up(self._kernels, self.request, machine, self.world_size, self.timeout)

        failed = self._step(meeting, "making the workspace", make)
        if not failed:
            failed = self._step(meeting, "the first launch", launch)
        if failed:
            self._release()
            self.latched[self._latch(terms.backend)] = f"this could not be made before: {failed[0]}"
        return failed

    def _step(self, meeting: Meeting, what: str, do: Callable[[], None]) -> list[str]:
        """Do something that every rank does, and hear from all how it went."""
        failure, own, stuck = None, True, False
        try:
            do()
        except Exception as error:  # whatever it is, the other ranks must hear of it
            failure, own = f"{what} raised {type(error).__name__}: {error}", not _is_of_another(error)
            stuck = isinstance(error, Stuck)
            meeting.give_up()
        ballots = meeting.vote({"objection": failure, "own": own, "stuck": stuck})
        failed = [(not b["own"], self.ranks[i], b["objection"]) for i, b in enumerate(ballots) if b["objection"]]
        said = [f"rank {rank}: {text}" for _, rank, text in sorted(failed)]  # who failed before who waited for it
        if any(ballot["stuck"] for ballot in ballots):
            self._kernels = None  # freeing memory that a kernel still writes to would make it worse
            raise FusedUnavailable(f"a kernel does not end, and its device is of no use any more: {'; '.join(said)}")
        return said

    def _latch(self, backend: str) -> tuple[Any, ...]:
        """All that decides whether making a workspace can work."""
        request = json.dumps(asdict(self.request), sort_keys=True)
        return (self.ranks, backend, self.adapter.installed.described, request)

    @classmethod
    def forget_failures(cls) -> None:
        """Try again what failed before: for a process that has freed memory, say. Every rank should do it."""
        cls.latched.clear()

    def _conclude(self) -> None:
        """Say what was decided, once for the group, and raise what every rank is to raise."""
        decision = self.decision
        first = self.rank == 0
        if decision.error or decision.unmet:
            self.closed = True
            if first:
                logger.warning("%s", decision.error or decision.unmet)
            if decision.error:
                raise ValueError(decision.error)
            raise FusedUnavailable(str(decision.unmet))
        level = logging.INFO if decision.fused or self.mode == OFF or self.world_size == 1 else logging.WARNING
        logger.log(
            level if first else logging.DEBUG,
            "allreduce of %d ranks takes the %s path: %s",
            self.world_size,
            f"fused ({decision.backends[0]})" if decision.fused else "reference",
            "; ".join(decision.objections or decision.passed_over) or decision.reason,
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
        if not getattr(self, "closed", True) and getattr(self, "_kernels", None) is not None:
            warnings.warn(
                "a FusedAllReduce with a workspace was dropped without close()", ResourceWarning, stacklevel=2
            )

    def _release(self) -> None:
        kernels, self._kernels = self._kernels, None
        if kernels is not None:
            try:
                kernels.destroy()
            except Exception:  # the group may be gone; what is left is freed with the process
                logger.exception("freeing the workspace failed")

    @property
    def path(self) -> str:
        """What was launched so far: "fused", "reference", "fallback", several of them, or "none"."""
        return " and ".join(p for p in ("fused", "reference", "fallback") if self.calls[p]) or "none"

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
            "kernels": type(self._kernels).__name__ if self._kernels is not None else None,
            "request": asdict(self.request),
            "path": self.path,
            "calls": dict(self.calls),
            "unfused_because": dict(self.unfused_because),
        }


def install(adapter: Adapter) -> None:
    """Make `FusedAllReduce` use an adapter, and put it into the adapter's report."""
    FusedAllReduce.adapter = adapter
    adapter.sections["fused_allreduce"] = lambda: [
        op.report() for _, op in sorted(live.items(), key=lambda item: int(item[0]))
    ]


def _world_size() -> int:
    import torch.distributed as dist

    return int(dist.get_world_size())


def _plain_memory(out: torch.Tensor) -> torch.Tensor:
    """The tensor, or one like it in plain order where a kernel cannot write to it directly."""
    return out if out.is_contiguous() else out.new_empty(out.shape)


def _is_of_another(error: BaseException | None) -> bool:
    """Whether a failure, or what it came from, is that another rank gave up or was not heard."""
    while error is not None and not isinstance(error, VoteFailed):
        error = error.__cause__ or error.__context__
    return error is not None


def _looks(x: torch.Tensor) -> str:
    return f"{list(x.shape)} of {x.dtype}"
