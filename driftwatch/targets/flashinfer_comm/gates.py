"""Whether this rank could run the fused kernel, and what all ranks together make of it.

Enters: the adapter, what is asked for, and what this machine has. Leaves: a reason against it in one sentence, or None;
and, from the ballots of all ranks, one decision. `decide` is a pure function of the ballots, so every rank comes to the
same end.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftwatch.adapter.runtime import Adapter

AUTO, REQUIRE, OFF = "auto", "require", "off"
MODES = (AUTO, REQUIRE, OFF)
BACKENDS = ("trtllm", "mnnvl")
UNIFIED, PAIR = "unified", "pair"
_CREATE = "create_allreduce_fusion_workspace"
_MAX_EXCHANGE = 2**31
"""No release makes an exchange buffer larger than this."""


@dataclass(frozen=True)
class Request:
    """What is asked of the fused allreduce; every rank of a group must ask for the same."""

    hidden_dim: int
    dtype: str
    max_token_num: int
    backend: str
    launch_with_pdl: bool
    fp32_acc: bool

    @property
    def item_size(self) -> int:
        return 4 if self.dtype == "float32" else 2


@dataclass(frozen=True)
class Machine:
    """What this process has to run on."""

    cuda: bool
    capability: tuple[int, int] | None = None
    device: int | None = None
    free_memory: int | None = None
    peers: bool = True
    node: str = ""


@dataclass(frozen=True)
class Interface:
    """How the installed build is called: `kind` is UNIFIED or PAIR; the rest says how its workspace meets."""

    kind: str
    meets_on: str
    sub_group: bool
    device_is_rank: bool


def probe_machine() -> Machine:
    """Look at the hardware; anything that raises counts as not there."""
    import torch

    node = _node()
    try:
        if not torch.cuda.is_available():
            return Machine(cuda=False, node=node)
        device = torch.cuda.current_device()
        others = [i for i in range(torch.cuda.device_count()) if i != device]
        return Machine(
            cuda=True,
            capability=torch.cuda.get_device_capability(device),
            device=device,
            free_memory=torch.cuda.mem_get_info(device)[0],
            peers=all(torch.cuda.can_device_access_peer(device, other) for other in others),
            node=node,
        )
    except Exception:  # a driver that is there and does not work
        return Machine(cuda=False, node=node)


def find_interface(adapter: Adapter) -> Interface | str:
    """How the installed build is called, or why it cannot be."""
    if adapter.installed.module is None:
        return adapter.installed.error or "FlashInfer is not installed"
    release = adapter.installed.release
    unified = adapter.bindings.get(_CREATE)
    if unified and unified.target and adapter.available("allreduce_fusion"):
        try:
            importlib.import_module(f"{adapter.installed.module_name}.mnnvl")
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # it needs more packages than the rest, and an import can even exit
            return f"import {adapter.installed.module_name}.mnnvl raised {type(error).__name__}: {error}"
        row = None if unified.drift else _row(adapter.target["regimes"], release)
        if row is not None:
            return Interface(UNIFIED, row["meets_on"], row["sub_group"], row["device_is_rank"])
        # A build of no known release: the portable call passes both, so whichever it looks at is the right one.
        both = unified.takes("group") and unified.takes("comm_backend")
        return Interface(UNIFIED, "comm_backend", sub_group=both, device_is_rank=False)
    if adapter.available("trtllm_allreduce_fusion") and _row(adapter.target["pair"], release) is not None:
        return Interface(PAIR, "group", sub_group=True, device_is_rank=False)
    described = adapter.installed.described
    return f"{described} has neither the unified allreduce_fusion nor an older pair that is known"


def objection(adapter: Adapter, request: Request, machine: Machine, rank: int, size: int, world: int) -> str | None:
    """Why this rank cannot run fused; None when nothing speaks against it."""
    target = adapter.target
    interface = find_interface(adapter)
    if size not in target["world_sizes"]:
        return f"the kernels are for groups of {_listed(target['world_sizes'])} ranks, not {size}"
    if isinstance(interface, str):
        return interface
    if request.dtype not in target["dtypes"]:
        return f"the kernels are for {_listed(target['dtypes'])}, not {request.dtype}"
    if request.hidden_dim * request.item_size % target["alignment"]:
        return f"a row of {request.hidden_dim} {request.dtype} is not a multiple of {target['alignment']} bytes"
    if interface.kind == PAIR and request.backend != "trtllm":
        return f"{adapter.installed.described} has the backend trtllm alone"
    if size != world and not interface.sub_group:
        return f"{adapter.installed.described} always meets on all ranks: no call of it is safe for a part of them"
    return _hardware_objection(adapter, request, machine, rank, size, interface)


def _hardware_objection(
    adapter: Adapter, request: Request, machine: Machine, rank: int, size: int, interface: Interface
) -> str | None:
    if not machine.cuda or machine.capability is None:
        return "there is no CUDA device"
    release = adapter.installed.release
    row = _row([r for r in adapter.target["hardware"] if r["backend"] == request.backend], release)
    # The newest known release stands in for a build that is none of them: what it gates, later ones gate.
    majors = (
        row["majors"]
        if row
        else [r for r in adapter.target["hardware"] if r["backend"] == request.backend][-1]["majors"]
    )
    if machine.capability[0] not in majors:
        major, minor = machine.capability
        return f"compute capability {major}.{minor} is not one its {request.backend} kernels are built for"
    if interface.device_is_rank and machine.device != rank:
        return f"this release allocates on device {rank}, the rank's own number, and runs on device {machine.device}"
    if request.backend == "trtllm" and not machine.peers:
        return "the device cannot reach the memory of its peers"
    needed = workspace_bytes(request, size)
    if machine.free_memory is not None and machine.free_memory < needed:
        return f"the workspace needs {needed >> 20} MiB, and {machine.free_memory >> 20} MiB are free"
    return None


def workspace_bytes(request: Request, size: int) -> int:
    """What a workspace takes on each device: one buffer for exchange, three for one-shot messages."""
    message = size * request.max_token_num * request.hidden_dim * request.item_size
    return message + 3 * min(message, _MAX_EXCHANGE)


@dataclass(frozen=True)
class Decision:
    """What the ballots say. `error` is for all ranks to raise, `unmet` when one required what cannot be.

    `required` says that any rank did: then a call that cannot be fused raises on every rank.
    """

    fused: bool
    reason: str
    objections: tuple[str, ...] = ()
    error: str | None = None
    unmet: str | None = None
    required: bool = False


def decide(ballots: Sequence[Mapping[str, Any]], ranks: Sequence[int]) -> Decision:
    """One decision from the ballots of all ranks: fused when every one can and asks the same."""
    faults = [f"rank {ranks[i]}: {b['fault']}" for i, b in enumerate(ballots) if b["fault"]]
    for i, ballot in enumerate(ballots):
        if not faults and ballot["request"] != ballots[0]["request"]:
            faults.append(f"rank {ranks[i]} asks for {ballot['request']}, rank {ranks[0]} for {ballots[0]['request']}")
    if faults:
        return Decision(fused=False, reason=faults[0], objections=tuple(faults), error="; ".join(faults))
    objections = [f"rank {ranks[i]}: {b['objection']}" for i, b in enumerate(ballots) if b["objection"]]
    if not objections:
        for what, label in (("build", "has"), ("node", "is on")):
            for i, ballot in enumerate(ballots):
                if ballot[what] != ballots[0][what]:
                    objections.append(
                        f"rank {ranks[i]} {label} {ballot[what]}, rank {ranks[0]} {label} {ballots[0][what]}"
                    )
                    break
    reason = objections[0] if objections else "every rank can"
    required = [ranks[i] for i, ballot in enumerate(ballots) if ballot["mode"] == REQUIRE]
    unmet = None
    if objections and required:
        unmet = f"rank {_listed(required)} requires the fused allreduce, and it cannot run: {'; '.join(objections)}"
    return Decision(not objections, reason, tuple(objections), unmet=unmet, required=bool(required))


def _row(rows: Sequence[Mapping[str, Any]], release: str | None) -> Mapping[str, Any] | None:
    """The row that holds for a release."""
    return next((row for row in rows if release in row["releases"]), None)


def _node() -> str:
    """A name that processes on one machine share: the boot, and where there is none the host."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return platform.node()


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)
