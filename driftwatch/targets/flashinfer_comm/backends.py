"""FlashInfer's fused kernels behind one face: the unified API, and the pair of functions before it.

Enters: agreed terms and the group they were agreed in. Leaves: a workspace whose kernels can be launched, and which can
be destroyed. Making one is collective: every rank of the group does it, at the same time, after all have agreed to.
What a build does not take is never passed: that is in the terms.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import (
    MNNVL,
    NORM_PATTERN,
    PAIR,
    PAIR_RUN,
    PLAIN_PATTERN,
    RUN,
    Request,
    Terms,
    oneshot,
)
from driftwatch.targets.flashinfer_comm.gates import CREATE, PAIR_CREATE, PAIR_DESTROY
from driftwatch.targets.flashinfer_comm.machine import Machine
from driftwatch.targets.flashinfer_comm.vote import Meeting

if TYPE_CHECKING:
    import torch


def make_backend(
    adapter: Adapter, terms: Terms, request: Request, group: Any, meeting: Meeting, gpus_per_node: int | None
) -> UnifiedKernels | PairKernels:
    """Create the workspace of a group whose ranks are in a meeting."""
    if terms.kind == PAIR:
        return PairKernels(adapter, terms, request, meeting)
    return UnifiedKernels(adapter, terms, request, group, meeting, gpus_per_node)


class UnifiedKernels:
    """`create_allreduce_fusion_workspace` and `allreduce_fusion`."""

    def __init__(
        self,
        adapter: Adapter,
        terms: Terms,
        request: Request,
        group: Any,
        meeting: Meeting,
        gpus_per_node: int | None,
    ) -> None:
        import torch

        create, run = adapter.bindings[CREATE], adapter.bindings[RUN]
        assert create.target is not None and run.target is not None
        self.terms = terms
        self._size = len(meeting.ranks)
        self._run = run.target
        self._fixed = {"launch_with_pdl": request.launch_with_pdl, "fp32_acc": request.fp32_acc}
        _load_kernels(adapter, terms.backend)
        arguments: dict[str, Any] = {
            "backend": terms.backend,
            "world_size": self._size,
            "rank": meeting.rank,
            "max_token_num": request.max_token_num,
            "hidden_dim": request.hidden_dim,
            "dtype": getattr(torch, request.dtype),
            "comm_backend": _comm_backend(adapter, group, meeting),
        }
        if "group" in terms.takes[CREATE]:
            arguments["group"] = group
        if "gpus_per_node" in terms.takes[CREATE]:
            arguments["gpus_per_node"] = gpus_per_node
        with _own_randomness():
            self.workspace = create.target(**arguments)
        if terms.backend == MNNVL and not getattr(self.workspace, "mc_ptr", None):
            # Before 0.6.16 a release looks at this nowhere, and its kernels write to address 0.
            self.destroy()
            raise RuntimeError("the workspace has no multicast pointer")

    def launch(
        self,
        x: torch.Tensor,
        pattern: str,
        use_oneshot: bool | None,
        trigger_completion_at_end: bool,
        **arguments: Any,
    ) -> None:
        """Run a fusion pattern on contiguous [tokens, hidden_dim]; the rest is named as the unified API names it."""
        if self.terms.has("trigger_completion_at_end"):
            arguments["trigger_completion_at_end"] = trigger_completion_at_end
        self._run(
            input=x,
            workspace=self.workspace,
            pattern=self.terms.patterns[pattern],
            use_oneshot=oneshot(self.terms, self._size, x.shape[0], use_oneshot),
            **self._fixed,
            **arguments,
        )

    def destroy(self) -> None:
        self.workspace.destroy()


class PairKernels:
    """`trtllm_create_ipc_workspace_for_all_reduce_fusion` and `trtllm_allreduce_fusion`, before 0.6.0."""

    def __init__(self, adapter: Adapter, terms: Terms, request: Request, meeting: Meeting) -> None:
        create, destroy = adapter.bindings[PAIR_CREATE].target, adapter.bindings[PAIR_DESTROY].target
        run = adapter.bindings[PAIR_RUN].target
        assert create is not None and run is not None and destroy is not None
        self.terms = terms
        self._run: Callable[..., Any] = run
        self._destroy: Callable[..., Any] = destroy
        self._request, self._rank, self._size = request, meeting.rank, len(meeting.ranks)
        # Its functions wait in collectives of a group: one on the CPU, of these ranks alone, whose waits are bounded.
        if meeting.ranks in _abandoned:
            raise RuntimeError("the CPU group of these ranks was given up after a failure, and cannot be made again")
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
        except BaseException:  # whatever it is, the others wait in that group
            _abandon_group(meeting)
            raise

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
            workspace_ptrs=self._pointers,
            launch_with_pdl=self._request.launch_with_pdl,
            trigger_completion_at_end=trigger_completion_at_end,
            fp32_acc=self._request.fp32_acc,
            pattern_code=self.terms.patterns[pattern],
            use_oneshot=oneshot(self.terms, self._size, tokens, use_oneshot),
            **every,
        )

    def destroy(self) -> None:
        self._destroy(self._handles, group=self._group)


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
    kernels: UnifiedKernels | PairKernels, request: Request, machine: Machine, size: int, timeout: float
) -> None:
    """Launch each basic pattern once, wait for it no longer than `timeout`, and look at what it wrote.

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
    if not all(bool((result == wanted).all()) for result, wanted in ((summed, size), (total, size))):
        raise RuntimeError(f"{size} ones were not summed to {size}")
    if not bool(((normed - 1).abs() < 0.01).all()):
        raise RuntimeError("equal numbers were not normed to one")


def _load_kernels(adapter: Adapter, backend: str) -> None:
    """Compile what the first launch would compile: a rank where that fails must say so before others are in a kernel.

    trtllm's are loaded by the making of its workspace.
    """
    if backend == MNNVL:
        module: Any = importlib.import_module(f"{adapter.installed.module_name}.trtllm_mnnvl_ar")
        load = getattr(module, "get_trtllm_mnnvl_comm_module", None)
        if load is not None:
            load()


@contextlib.contextmanager
def _own_randomness() -> Iterator[None]:
    """Up to 0.6.10.post1 the workspace names its sockets by Python's global random numbers.

    Two groups that are seeded alike would take the same name, and the caller's sequence would not be its own.
    """
    state = random.getstate()
    random.seed()
    try:
        yield
    finally:
        random.setstate(state)


def _comm_backend(adapter: Adapter, group: Any, meeting: Meeting) -> Any:
    """A TorchDistBackend of the group whose ranks talk through their meeting.

    The library exchanges handles and waits through it. So its waits end, also when another rank has failed; and its
    broadcast takes the root within the group, which the library's own, up to 0.6.12, mistakes for a global rank.
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


_abandoned: set[tuple[int, ...]] = set()


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

    _abandoned.add(meeting.ranks)
    with contextlib.suppress(Exception):  # WORLD may have gone before it
        dist.destroy_process_group(_cpu_groups.pop(meeting.ranks))
