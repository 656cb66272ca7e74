"""The fused allreduce itself: allreduce, residual add and RMSNorm, in one kernel where every rank can, else in torch.

Enters: a process group and what will be asked of it. Leaves: a `FusedAllReduce` on which all ranks have decided, once,
together. A call decides nothing: which path it takes follows from its shapes by a rule fixed beforehand, the same on
every rank. It is a custom op of torch, so compilers and graph captures take it as one step.
"""

from __future__ import annotations

import logging
import operator
import os
import re
import warnings
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from driftwatch.adapter.runtime import Adapter
from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.backends import PairKernels, UnifiedKernels, make_backend
from driftwatch.targets.flashinfer_comm.conditions import group_ranks
from driftwatch.targets.flashinfer_comm.gates import (
    AUTO,
    BACKENDS,
    MODES,
    OFF,
    REQUIRE,
    Decision,
    Interface,
    Request,
    decide,
    find_interface,
    objection,
    probe_machine,
)
from driftwatch.targets.flashinfer_comm.reference import reference_add_rmsnorm, reference_allreduce
from driftwatch.targets.flashinfer_comm.vote import Meeting, VoteFailed

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

MODE_VARIABLE = "DRIFTWATCH_FUSED"
BACKEND_VARIABLE = "DRIFTWATCH_FUSED_BACKEND"
TIMEOUT_VARIABLE = "DRIFTWATCH_FUSED_TIMEOUT"
_ALONE = "there is one rank, so nothing to reduce"


class FusedUnavailable(AdapterError):
    """The fused allreduce was required and cannot run; the message says on which rank, and why."""


class FusedAllReduce:
    """Allreduce of the input over a group, plus the residual, RMS-normed: ``op(x, residual, weight)``.

    Made by all ranks of the group at the same time. `fused` is "auto" (fused where every rank can), "require" (or every
    rank raises `FusedUnavailable`) or "off". The environment has the last word: DRIFTWATCH_FUSED,
    DRIFTWATCH_FUSED_BACKEND, DRIFTWATCH_FUSED_TIMEOUT (in seconds, for each wait for the other ranks).
    Every call must be made by all ranks with the same number of tokens.
    """

    adapter: ClassVar[Adapter]
    latched: ClassVar[dict[tuple[int, ...], str]] = {}
    """Groups, by their ranks, on which making a workspace failed, with the reason: it is not tried again."""
    live: ClassVar[weakref.WeakValueDictionary[str, FusedAllReduce]] = weakref.WeakValueDictionary()
    _made: ClassVar[int] = 0

    def __init__(
        self,
        group: Any = None,
        hidden_dim: int = 0,
        dtype: torch.dtype | None = None,
        max_token_num: int = 0,
        fused: str = AUTO,
        *,
        backend: str = "trtllm",
        launch_with_pdl: bool = True,
        fp32_acc: bool = True,
        timeout: float = 120.0,
    ) -> None:
        self.group = group
        self.mode, self.request, self.timeout, fault = _asked(
            hidden_dim, dtype, max_token_num, fused, backend, launch_with_pdl, fp32_acc, timeout
        )
        self.closed = False
        self.calls = {"fused": 0, "reference": 0, "captured": 0}
        self.reference_because: dict[str, int] = {}
        self._kernels: UnifiedKernels | PairKernels | None = None
        self.rank, self.world_size, self.ranks = _place(group)
        if self.world_size == 1:
            if fault:
                raise ValueError(fault)
            required = self.mode == REQUIRE
            unmet = f"rank {self.rank} requires the fused allreduce, and {_ALONE}" if required else None
            self.decision = Decision(fused=False, reason=_ALONE, unmet=unmet, required=required)
        else:
            self.decision = self._decide_together(fault)
        self._conclude()
        FusedAllReduce._made += 1
        self._key = str(FusedAllReduce._made)
        FusedAllReduce.live[self._key] = self
        self._operators = _operators()

    # -- calling -------------------------------------------------------------------------------------------------

    def __call__(
        self,
        input: torch.Tensor,  # noqa: A002 - the library's own name for it
        residual: torch.Tensor,
        weight: torch.Tensor,
        eps: float = 1e-6,
        weight_bias: float = 0.0,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The normed sum, and the sum itself as the new residual: both [tokens, hidden_dim]."""
        normed, summed = self._operators.allreduce_rmsnorm(input, residual, weight, eps, weight_bias, self._key)
        return normed, summed

    def allreduce(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - as above
        """The sum alone."""
        out: torch.Tensor = self._operators.allreduce(input, self._key)
        return out

    def run_norm(
        self, x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float, weight_bias: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What the custom op does."""
        self._check(x)
        _check_devices(x, residual, weight)
        if residual.shape != x.shape or residual.dtype != x.dtype:
            raise ValueError(f"residual must be like input: {_looks(residual)} is not {_looks(x)}")
        if weight.shape != (self.request.hidden_dim,) or weight.dtype != x.dtype:
            # The kernels read a float32 weight as the input's dtype and return noise; no release checks it.
            raise ValueError(f"weight must be [{self.request.hidden_dim}] of {x.dtype}, not {_looks(weight)}")
        if not x.shape[0]:
            return x.new_empty(x.shape), x.new_empty(x.shape)
        kernels = self._route(x.shape[0], weight_bias)
        if kernels is not None:
            return kernels.norm(x.contiguous(), residual.contiguous(), weight.contiguous(), eps, weight_bias)
        summed = reference_allreduce(x, self.group, self.world_size)
        return reference_add_rmsnorm(summed, residual, weight, eps, weight_bias)

    def run_plain(self, x: torch.Tensor) -> torch.Tensor:
        """What the custom op of the plain allreduce does."""
        self._check(x)
        kernels = self._route(x.shape[0], 0.0) if x.shape[0] else None
        if kernels is not None:
            return kernels.plain(x.contiguous())
        return reference_allreduce(x, self.group, self.world_size)

    def _check(self, x: torch.Tensor) -> None:
        if self.closed:
            raise RuntimeError("this FusedAllReduce is closed")
        if x.dim() != 2 or x.shape[1] != self.request.hidden_dim or _name(x.dtype) != self.request.dtype:
            raise ValueError(
                f"input must be [tokens, {self.request.hidden_dim}] of {self.request.dtype}, not {_looks(x)}"
            )

    def _route(self, tokens: int, weight_bias: float) -> UnifiedKernels | PairKernels | None:
        """The kernels this call goes to, by rules that are the same on every rank; None for the reference path."""
        kernels = self._kernels
        why = None
        if kernels is not None:
            if tokens > self.request.max_token_num:
                why = f"more than {self.request.max_token_num} tokens"
            elif weight_bias and not kernels.takes_weight_bias:
                why = "this release has no weight_bias"
            if why is None:
                self.calls["fused"] += 1
                self._count_capture()
                return kernels
            if self.decision.required:
                raise FusedUnavailable(f"the fused allreduce is required, and this call cannot be: {why}")
            self.reference_because[why] = self.reference_because.get(why, 0) + 1
        self.calls["reference"] += 1
        return None

    def _count_capture(self) -> None:
        """Replays of a captured graph do not come through here; that this one was captured is said in the report."""
        import torch

        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            self.calls["captured"] += 1

    # -- deciding ------------------------------------------------------------------------------------------------

    def _decide_together(self, fault: str | None) -> Decision:
        meeting = Meeting(self.group, self.timeout)
        against = "fused is off" if self.mode == OFF else self.latched.get(self.ranks)
        machine = probe_machine()
        if against is None and fault is None:
            try:
                against = objection(self.adapter, self.request, machine, self.rank, self.world_size, _world_size())
            except Exception as error:  # whatever it is, the other ranks must hear of it
                against = f"looking at what is here raised {type(error).__name__}: {error}"
        ballots = meeting.vote(
            {
                "mode": self.mode,
                "fault": fault,
                "objection": against,
                "request": vars(self.request),
                "build": self.adapter.installed.described,
                "node": machine.node if self.request.backend == "trtllm" else "",
            }
        )
        decision = decide(ballots, self.ranks)
        if decision.fused:
            decision = self._make_together(meeting, decision.required)
        meeting.end()
        return decision

    def _make_together(self, meeting: Meeting, required: bool) -> Decision:
        """Make the workspace, and vote on whether every rank has one; if not, none keeps it."""
        failure, own = None, True
        interface = find_interface(self.adapter)
        assert isinstance(interface, Interface)
        try:
            self._kernels = make_backend(self.adapter, interface, self.request, self.group, meeting)
        except Exception as error:  # whatever it is, the other ranks must hear of it
            failure, own = f"making the workspace raised {type(error).__name__}: {error}", not _is_of_another(error)
            meeting.give_up()
        try:
            ballots = meeting.vote({"objection": failure, "own": own})
        except VoteFailed:
            self._release()
            raise
        failed = [(not b["own"], self.ranks[i], b["objection"]) for i, b in enumerate(ballots) if b["objection"]]
        objections = [f"rank {rank}: {text}" for _, rank, text in sorted(failed)]  # who failed before who waited for it
        if not objections:
            return Decision(fused=True, reason="every rank can", required=required)
        self._release()
        self.latched[self.ranks] = f"a workspace for these ranks could not be made before: {objections[0]}"
        unmet = f"the fused allreduce is required, and cannot run: {'; '.join(objections)}" if required else None
        return Decision(False, objections[0], tuple(objections), unmet=unmet, required=required)

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
        path = "fused" if decision.fused else "reference"
        level = logging.INFO if decision.fused or self.mode == OFF or self.world_size == 1 else logging.WARNING
        logger.log(
            level if first else logging.DEBUG,
            "allreduce of %d ranks takes the %s path: %s",
            self.world_size,
            path,
            "; ".join(decision.objections) or decision.reason,
        )

    # -- ending --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Free the workspace; every rank does it. Calling it again does nothing."""
        if not self.closed:
            self.closed = True
            FusedAllReduce.live.pop(self._key, None)
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

    def report(self) -> dict[str, Any]:
        """What was decided, why, and how often each path ran."""
        return {
            "ranks": list(self.ranks),
            "rank": self.rank,
            "asked": self.mode,
            "path": "fused" if self.decision.fused else "reference",
            "why": self.decision.reason,
            "objections": list(self.decision.objections),
            "kernels": type(self._kernels).__name__ if self._kernels is not None else None,
            "request": vars(self.request),
            "calls": dict(self.calls),
            "reference_because": dict(self.reference_because),
        }


def install(adapter: Adapter) -> None:
    """Make `FusedAllReduce` use an adapter, and put it into the adapter's report."""
    FusedAllReduce.adapter = adapter
    adapter.sections["fused_allreduce"] = lambda: [
        op.report() for _, op in sorted(FusedAllReduce.live.items(), key=lambda item: int(item[0]))
    ]


def _asked(
    hidden_dim: Any,
    dtype: Any,
    max_token_num: Any,
    mode: Any,
    backend: Any,
    launch_with_pdl: bool,
    fp32_acc: bool,
    timeout: Any,
) -> tuple[str, Request, float, str | None]:
    """What is asked for, the environment included, and what is wrong with it.

    It never raises, whatever was passed: the other ranks must hear of it too, or they would wait for this one.
    """
    mode = os.environ.get(MODE_VARIABLE) or mode
    backend = os.environ.get(BACKEND_VARIABLE) or backend
    hidden, limit, seconds = _count(hidden_dim), _count(max_token_num), _seconds(timeout)
    fault = None
    if mode not in MODES:
        fault = f"fused={mode!r} is none of {', '.join(MODES)}"
    elif backend not in BACKENDS:
        fault = f"backend={backend!r} is none of {', '.join(BACKENDS)}"
    elif hidden <= 0 or limit <= 0:
        fault = f"hidden_dim and max_token_num must be positive integers, not {hidden_dim!r} and {max_token_num!r}"
    elif _name(dtype) not in ("float16", "bfloat16", "float32"):
        fault = f"dtype must be float16, bfloat16 or float32, not {dtype}"
    elif not seconds:
        fault = f"timeout must be a number of seconds, not {os.environ.get(TIMEOUT_VARIABLE) or timeout!r}"
    request = Request(hidden, _name(dtype), limit, str(backend), bool(launch_with_pdl), bool(fp32_acc))
    return str(mode), request, seconds or 120.0, fault


def _count(value: Any) -> int:
    """An integer of any sort as an int; 0 for what is none."""
    try:
        return operator.index(value)
    except Exception:  # a tensor of many elements raises what it likes
        return 0


def _seconds(timeout: Any) -> float:
    """The time to wait, the environment included; 0 for what cannot be one."""
    try:
        seconds = float(os.environ.get(TIMEOUT_VARIABLE) or timeout)
    except Exception:  # as above
        return 0.0
    return seconds if 0 < seconds < 1e6 else 0.0


def _place(group: Any) -> tuple[int, int, tuple[int, ...]]:
    """This process's rank in the group, the group's size, and its global ranks."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()):
        if group is not None:
            raise ValueError("torch.distributed is not initialized, so there is no group")
        return 0, 1, (0,)
    try:
        ranks = group_ranks(group)
    except Exception as error:  # each release of torch has its own way
        raise ValueError(f"group is no process group that this process is in: {group!r}") from error
    if dist.get_rank() not in ranks:
        raise ValueError("this process is not in the group")
    return ranks.index(dist.get_rank()), len(ranks), ranks


def _world_size() -> int:
    import torch.distributed as dist

    return int(dist.get_world_size())


_operator_cache: list[Any] = []


def _operators() -> Any:
    """The custom ops, registered when the first is needed: importing this module does not need torch."""
    if _operator_cache:
        return _operator_cache[0]
    import torch

    make_library: Any = torch.library.Library  # not typed in every release of torch
    base = "driftwatch_" + re.sub(r"\W", "_", __name__)
    for number in range(1000):  # a reloaded module finds its own name taken
        name = f"{base}_{number}" if number else base
        library = make_library(name, "FRAGMENT")
        try:
            tags = (torch.Tag.pt2_compliant_tag,)
            library.define(
                "allreduce_rmsnorm(Tensor input, Tensor residual, Tensor weight, float eps, float weight_bias, str key)"
                " -> (Tensor, Tensor)",
                tags=tags,
            )
            library.define("allreduce(Tensor input, str key) -> Tensor", tags=tags)
        except RuntimeError:
            continue
        library.impl("allreduce_rmsnorm", _run_norm, "CompositeExplicitAutograd")
        library.impl("allreduce", _run_plain, "CompositeExplicitAutograd")
        torch.library.register_fake(f"{name}::allreduce_rmsnorm", _fake_norm, lib=library)
        torch.library.register_fake(f"{name}::allreduce", _fake_plain, lib=library)
        operators = getattr(torch.ops, name)
        _operator_cache.extend([operators, library])
        return operators
    raise AdapterError("no free name for the custom ops")


def _is_of_another(error: BaseException | None) -> bool:
    """Whether a failure, or what it came from, is that another rank gave up or was not heard."""
    while error is not None and not isinstance(error, VoteFailed):
        error = error.__cause__ or error.__context__
    return error is not None


def _find(key: str) -> FusedAllReduce:
    op = FusedAllReduce.live.get(key)
    if op is None:
        raise RuntimeError("this FusedAllReduce is closed")
    return op


def _run_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float, weight_bias: float, key: str
) -> tuple[torch.Tensor, torch.Tensor]:
    return _find(key).run_norm(x, residual, weight, eps, weight_bias)


def _run_plain(x: torch.Tensor, key: str) -> torch.Tensor:
    return _find(key).run_plain(x)


def _fake_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float, weight_bias: float, key: str
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_devices(x, residual, weight)  # torch also comes here for real tensors when one of them is on meta
    return x.new_empty(x.shape), x.new_empty(x.shape)


def _fake_plain(x: torch.Tensor, key: str) -> torch.Tensor:
    return x.new_empty(x.shape)


def _check_devices(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> None:
    """A kernel takes pointers as they are, whichever memory they are of."""
    if residual.device != x.device or weight.device != x.device:
        raise ValueError(f"residual and weight must be on {x.device}, not {residual.device} and {weight.device}")


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _looks(x: torch.Tensor) -> str:
    return f"{list(x.shape)} of {x.dtype}"
