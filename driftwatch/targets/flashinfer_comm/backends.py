"""FlashInfer's fused kernels behind one face: the unified API, and the pair of functions before it.

Enters: a decided request and the group it was decided in. Leaves: a workspace that can be run and destroyed. Making one
is collective: every rank of the group does it, at the same time, after all have agreed to. What a build does not take
is never passed: that was settled when the adapter was bound.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.gates import PAIR, Interface, Request
from driftwatch.targets.flashinfer_comm.vote import Meeting

if TYPE_CHECKING:
    import torch

_ALLREDUCE, _ALLREDUCE_RESIDUAL_RMSNORM = "kAllReduce", "kARResidualRMSNorm"


def make_backend(
    adapter: Adapter, interface: Interface, request: Request, group: Any, meeting: Meeting
) -> UnifiedKernels | PairKernels:
    """Create the workspace of a group whose ranks are in a meeting."""
    kind = PairKernels if interface.kind == PAIR else UnifiedKernels
    return kind(adapter, interface, request, group, meeting)


class UnifiedKernels:
    """`create_allreduce_fusion_workspace` and `allreduce_fusion`."""

    def __init__(self, adapter: Adapter, interface: Interface, request: Request, group: Any, meeting: Meeting) -> None:
        import torch

        create, run = adapter.bindings["create_allreduce_fusion_workspace"], adapter.bindings["allreduce_fusion"]
        assert create.target is not None and run.target is not None
        size = len(meeting.ranks)
        arguments: dict[str, Any] = {
            "backend": request.backend,
            "world_size": size,
            "rank": meeting.rank,
            "max_token_num": request.max_token_num,
            "hidden_dim": request.hidden_dim,
            "dtype": getattr(torch, request.dtype),
            "comm_backend": _comm_backend(adapter, group, meeting),
        }
        if create.takes("group"):
            arguments["group"] = group
        self.takes_weight_bias = run.takes("weight_bias")
        self._run = run.target
        self._fixed: dict[str, Any] = {"launch_with_pdl": request.launch_with_pdl, "fp32_acc": request.fp32_acc}
        if run.takes("trigger_completion_at_end"):
            # An early completion lets a consumer read what is not yet written, where the kernel is one-shot.
            self._fixed["trigger_completion_at_end"] = True
        patterns = adapter.attribute("AllReduceFusionPattern")
        self._plain, self._norm = getattr(patterns, _ALLREDUCE), getattr(patterns, _ALLREDUCE_RESIDUAL_RMSNORM)
        self._size = size
        self.workspace = create.target(**arguments)

    def norm(
        self, x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float, weight_bias: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        normed, summed = x.new_empty(x.shape), x.new_empty(x.shape)
        more = {"weight_bias": weight_bias} if weight_bias else {}
        self._run(
            input=x,
            workspace=self.workspace,
            pattern=self._norm,
            residual_in=residual,
            residual_out=summed,
            norm_out=normed,
            rms_gamma=weight,
            rms_eps=eps,
            use_oneshot=self._oneshot(x.shape[0]),
            **self._fixed,
            **more,
        )
        return normed, summed

    def plain(self, x: torch.Tensor) -> torch.Tensor:
        out = x.new_empty(x.shape)
        self._run(
            input=x,
            workspace=self.workspace,
            pattern=self._plain,
            output=out,
            use_oneshot=self._oneshot(x.shape[0]),
            **self._fixed,
        )
        return out

    def destroy(self) -> None:
        self.workspace.destroy()

    def _oneshot(self, tokens: int) -> bool | None:
        """The library's own choice, but where that could be two-shot for fewer tokens than ranks, which it asserts."""
        return True if tokens <= self._size else None


class PairKernels:
    """`trtllm_create_ipc_workspace_for_all_reduce_fusion` and `trtllm_allreduce_fusion`, before 0.6.0."""

    takes_weight_bias = False

    def __init__(self, adapter: Adapter, interface: Interface, request: Request, group: Any, meeting: Meeting) -> None:
        create = adapter.bindings["trtllm_create_ipc_workspace_for_all_reduce_fusion"].target
        destroy = adapter.bindings["trtllm_destroy_ipc_workspace_for_all_reduce_fusion"].target
        run = adapter.bindings["trtllm_allreduce_fusion"].target
        assert create is not None and run is not None and destroy is not None
        self._run: Callable[..., Any] = run
        self._destroy: Callable[..., Any] = destroy
        patterns = adapter.attribute("AllReduceFusionPattern")
        self._plain, self._norm = getattr(patterns, _ALLREDUCE), getattr(patterns, _ALLREDUCE_RESIDUAL_RMSNORM)
        self._request, self._rank, self._size = request, meeting.rank, len(meeting.ranks)
        rows = adapter.target["oneshot"]
        self._limit = next((r["tokens"] for r in rows if adapter.installed.release in r["releases"]), None)
        # Its functions wait in collectives of a group: one on the CPU, of these ranks alone, whose waits are bounded.
        self._group = _cpu_group(meeting)
        # No metadata is asked for: it would change what is returned, and the sizes are checked before every call.
        try:
            self._handles, self._pointers = create(
                tp_rank=self._rank,
                tp_size=self._size,
                max_token_num=request.max_token_num,
                hidden_dim=request.hidden_dim,
                use_fp32_lamport=request.dtype == "float32",
                group=self._group,
            )
        except Exception:
            _abandon_group(meeting)
            raise

    def norm(
        self, x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float, weight_bias: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert not weight_bias
        normed, summed = x.new_empty(x.shape), x.new_empty(x.shape)
        self._call(
            x, self._norm, residual_in=residual, residual_out=summed, norm_out=normed, rms_gamma=weight, rms_eps=eps
        )
        return normed, summed

    def plain(self, x: torch.Tensor) -> torch.Tensor:
        out = x.new_empty(x.shape)
        self._call(x, self._plain, allreduce_out=out)
        return out

    def destroy(self) -> None:
        self._destroy(self._handles, group=self._group)

    def _call(self, x: torch.Tensor, pattern: Any, **arguments: Any) -> None:
        tokens = x.shape[0]
        every: dict[str, Any] = dict.fromkeys(
            (
                "allreduce_out",
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
        )
        every.update(arguments)
        self._run(
            allreduce_in=x,
            world_size=self._size,
            world_rank=self._rank,
            token_num=tokens,
            hidden_dim=self._request.hidden_dim,
            workspace_ptrs=self._pointers,
            launch_with_pdl=self._request.launch_with_pdl,
            trigger_completion_at_end=True,
            fp32_acc=self._request.fp32_acc,
            pattern_code=pattern,
            use_oneshot=self._oneshot(tokens),
            **every,
        )

    def _oneshot(self, tokens: int) -> bool | None:
        """As for the unified API; the oldest releases leave the choice to the caller."""
        if tokens <= self._size:
            return True
        return None if self._limit is None else tokens <= self._limit


def _comm_backend(adapter: Adapter, group: Any, meeting: Meeting) -> Any:
    """A TorchDistBackend of the group whose ranks talk through their meeting.

    The library exchanges handles and waits through it. So its waits end, also when another rank has failed; and its
    broadcast takes the root within the group, which the library's own, up to 0.6.13, mistakes for a global rank.
    """
    base: Any = importlib.import_module(f"{adapter.installed.module_name}.mnnvl").TorchDistBackend

    class MeetingBackend(base):  # type: ignore[misc]
        def allgather(self, data: Any) -> list[Any]:
            return meeting.gather(data)

        def bcast(self, data: Any, root: int) -> Any:
            return meeting.gather(data if meeting.rank == root else None)[root]

        def barrier(self) -> None:
            meeting.gather(None)

    return MeetingBackend(group=group)


_cpu_groups: dict[tuple[int, ...], Any] = {}
"""Groups made here, by their ranks. torch names such a group by its ranks, so a second one could not be told apart."""


def _cpu_group(meeting: Meeting) -> Any:
    """A gloo group of these ranks, for which no other rank has to do anything."""
    import torch.distributed as dist

    if meeting.ranks not in _cpu_groups:
        seconds = datetime.timedelta(seconds=meeting.timeout)
        _cpu_groups[meeting.ranks] = dist.new_group(
            list(meeting.ranks), timeout=seconds, backend="gloo", use_local_synchronization=True
        )
    return _cpu_groups[meeting.ranks]


def _abandon_group(meeting: Meeting) -> None:
    """Leave the group for good: those who wait in it for this rank are told by the closed connection."""
    import torch.distributed as dist

    with contextlib.suppress(Exception):  # WORLD may have gone before it
        dist.destroy_process_group(_cpu_groups.pop(meeting.ranks))
