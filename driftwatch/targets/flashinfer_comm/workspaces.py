"""Workspaces of FlashInfer's fused kernels.

Making one, asking what fits it, giving its memory back for a while.

Enters: agreed terms and the group they were agreed in. Leaves: a workspace whose
kernels can be launched, and which can be destroyed. Making one is collective: every
rank of the group does it, at the same time, after all have agreed to. What a build does
not take is never passed: that is in the terms.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import random
from collections.abc import Iterator
from typing import Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import (
    CUTEDSL,
    MNNVL,
    PAIR,
    Request,
    Terms,
)
from driftwatch.targets.flashinfer_comm.compiled import CompiledWorkspaces
from driftwatch.targets.flashinfer_comm.gates import CREATE, PAIR_CREATE, PAIR_DESTROY
from driftwatch.targets.flashinfer_comm.vote import Meeting

_STAGES = 32
"""Two stages of a two-shot buffer, each aligned to what one access takes."""
_CHECKPOINT = {"prepare": "checkpoint_prepare", "restore": "checkpoint_restore"}


def make_workspace(
    adapter: Adapter,
    terms: Terms,
    request: Request,
    group: Any,
    meeting: Meeting,
    gpus_per_node: int | None,
) -> UnifiedWorkspace | PairWorkspace | CompiledWorkspaces:
    """Create the workspace of a group whose ranks are in a meeting."""
    if terms.kind == PAIR:
        return PairWorkspace(adapter, request, meeting)
    if terms.backend == CUTEDSL:
        # It meets on `group` alone, and refuses what says otherwise
        place = {
            "world_size": len(meeting.ranks),
            "rank": meeting.rank,
            "group": group,
        }
        return CompiledWorkspaces(adapter.bindings[CREATE].target, request, place)
    return UnifiedWorkspace(adapter, terms, request, group, meeting, gpus_per_node)


class UnifiedWorkspace:
    """What `create_allreduce_fusion_workspace` gives."""

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

        create = adapter.bindings[CREATE]
        assert create.target is not None
        self.made_for, self.backend, self.size = (
            request,
            terms.backend,
            len(meeting.ranks),
        )
        self._adapter, self._group = adapter, group
        _load_kernels(adapter, terms.backend)
        arguments: dict[str, Any] = {
            "backend": terms.backend,
            "world_size": self.size,
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
            self.object = create.target(**arguments)
        if terms.backend == MNNVL and not getattr(self.object, "mc_ptr", None):
            # Before 0.6.16 a release looks at this nowhere, and its kernels write to
            # address 0.
            self.destroy()
            raise RuntimeError("the workspace has no multicast pointer")
        if terms.backend == MNNVL and self.object.buffer_size_bytes % _STAGES:
            # Before 0.6.18 nothing rounds it to two stages, and a second one that is
            # not aligned ends in an exception on the device, which no process survives
            # (pull request 4473).
            self.destroy()
            raise RuntimeError(
                "the stages of the workspace's buffers would not be aligned in "
                "this release"
            )

    def fits(self, request: Request) -> bool:
        """Whether calls of such a request can use it.

        What the release's own checks of sizes allow.
        """
        made = self.made_for
        if (request.dtype == "float32") != (made.dtype == "float32"):
            return False
        if self.backend != MNNVL:
            return (
                request.max_token_num * request.hidden_dim
                <= made.max_token_num * made.hidden_dim
            )
        if request.row_bytes == made.row_bytes:
            return request.max_token_num <= made.max_token_num
        # One shot is chosen up to a number of bytes, and takes as many; two shots take
        # two stages of rounded tokens.
        module: Any = importlib.import_module(
            f"{self._adapter.installed.module_name}.trtllm_mnnvl_ar"
        )
        threshold, there = (
            getattr(module, "MNNVL_ONE_SHOT_THRESHOLD", None),
            self.object.buffer_size_bytes,
        )
        rounded = -(-request.max_token_num // self.size) * self.size
        return (
            threshold is not None
            and max(threshold, 2 * rounded * request.row_bytes) <= there
        )

    def checkpoint(self, step: str, meeting: Meeting) -> bool:
        """Give the memory back, or get it again, as its method of this step does.

        False where there is none.
        """
        method = getattr(self.object, _CHECKPOINT[step], None)
        if method is None:
            return False
        try:
            method(
                *(
                    [_comm_backend(self._adapter, self._group, meeting)]
                    if step == "restore"
                    else []
                )
            )
        except NotImplementedError:
            # A workspace of torch's symmetric memory stays where it is
            return False
        return True

    def destroy(self) -> None:
        self.object.destroy()


class PairWorkspace:
    """What `trtllm_create_ipc_workspace_for_all_reduce_fusion` gives, before 0.6.0."""

    def __init__(self, adapter: Adapter, request: Request, meeting: Meeting) -> None:
        create, destroy = (
            adapter.bindings[PAIR_CREATE].target,
            adapter.bindings[PAIR_DESTROY].target,
        )
        assert create is not None and destroy is not None
        self._destroy = destroy
        self.made_for, self.rank, self.size = request, meeting.rank, len(meeting.ranks)
        # Its functions wait in collectives of a group: one on the CPU, of these ranks
        # alone, whose waits are bounded.
        if meeting.ranks in _abandoned:
            raise RuntimeError(
                "the CPU group of these ranks was given up after a failure, and "
                "cannot be made again"
            )
        self._group = _cpu_group(meeting)
        # No metadata is asked for: it would change what is returned, and the sizes are
        # checked before every call.
        try:
            self._handles, self.object = create(
                tp_rank=self.rank,
                tp_size=self.size,
                max_token_num=request.max_token_num,
                hidden_dim=request.hidden_dim,
                use_fp32_lamport=request.dtype == "float32",
                group=self._group,
            )
        except BaseException:  # whatever it is, the others wait in that group
            _abandon_group(meeting)
            raise

    def fits(self, request: Request) -> bool:
        """Whether calls of such a request can use it.

        No release that has it says more than what it was made for.
        """
        made = self.made_for
        same = (request.hidden_dim, request.dtype) == (made.hidden_dim, made.dtype)
        return same and request.max_token_num <= made.max_token_num

    def checkpoint(self, step: str, meeting: Meeting) -> bool:
        """No release that has it can give its memory back."""
        return False

    def destroy(self) -> None:
        self._destroy(self._handles, group=self._group)


def _load_kernels(adapter: Adapter, backend: str) -> None:
    """Compile what the first launch would compile.

    A rank where that fails must say so before others are in a kernel.

    trtllm's are loaded by the making of its workspace.
    """
    if backend == MNNVL:
        module: Any = importlib.import_module(
            f"{adapter.installed.module_name}.trtllm_mnnvl_ar"
        )
        load = getattr(module, "get_trtllm_mnnvl_comm_module", None)
        if load is not None:
            load()


@contextlib.contextmanager
def _own_randomness() -> Iterator[None]:
    """Up to 0.6.10.post1 the workspace names its sockets by Python's global random
    numbers.

    Two groups that are seeded alike would take the same name, and the caller's sequence
    would not be its own.
    """
    state = random.getstate()
    random.seed()
    try:
        yield
    finally:
        random.setstate(state)


def _comm_backend(adapter: Adapter, group: Any, meeting: Meeting) -> Any:
    """A TorchDistBackend of the group whose ranks talk through their meeting.

    The library exchanges handles and waits through it. So its waits end, also when
    another rank has failed; and its broadcast takes the root within the group, which
    the library's own, up to 0.6.12, mistakes for a global rank.
    """
    base: Any = importlib.import_module(
        f"{adapter.installed.module_name}.mnnvl"
    ).TorchDistBackend

    class MeetingBackend(base):  # type: ignore[misc]
        def allgather(self, data: Any) -> list[Any]:
            return meeting.gather(data)

        def bcast(self, data: Any, root: int) -> Any:
            return meeting.gather(data if meeting.rank == root else None)[root]

        def barrier(self) -> None:
            meeting.gather(None)

    return MeetingBackend(group=group)


_cpu_groups: dict[tuple[int, ...], Any] = {}
"""Groups made here, by their ranks.

Torch names such a group by its ranks, so a second one could not be told apart.
"""


_abandoned: set[tuple[int, ...]] = set()


def _cpu_group(meeting: Meeting) -> Any:
    """A gloo group of these ranks, for which no other rank has to do anything."""
    import torch.distributed as dist

    if meeting.ranks not in _cpu_groups:
        seconds = datetime.timedelta(seconds=meeting.timeout)
        _cpu_groups[meeting.ranks] = dist.new_group(
            list(meeting.ranks),
            timeout=seconds,
            backend="gloo",
            use_local_synchronization=True,
        )
    return _cpu_groups[meeting.ranks]


def _abandon_group(meeting: Meeting) -> None:
    """Leave the group for good.

    Those who wait in it for this rank are told by the closed connection.
    """
    import torch.distributed as dist

    _abandoned.add(meeting.ranks)
    with contextlib.suppress(Exception):  # WORLD may have gone before it
        dist.destroy_process_group(_cpu_groups.pop(meeting.ranks))
