"""What the installed build offers, backend by backend, and why this rank could not run
it.

Enters: the adapter, what is asked for, and what this machine has. Leaves: for each
backend its `Terms`, and a reason against it in one sentence, or None. What comes of it
is for all ranks to say (see `agreement`).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.agreement import (
    AUTO,
    CUTEDSL,
    MNNVL,
    PAIR,
    PAIR_RUN,
    RUN,
    TRTLLM,
    UNIFIED,
    Request,
    Terms,
    listed,
)
from driftwatch.targets.flashinfer_comm.compiled import (
    COMPILED_MODES,
    compiled_objection,
    compiled_patterns,
    compiled_values,
)
from driftwatch.targets.flashinfer_comm.machine import Machine
from driftwatch.targets.flashinfer_comm.patterns import (
    LINEAR,
    MOE_PATTERN,
    NORM_PATTERN,
    PLAIN_PATTERN,
    SWIZZLED,
)

CREATE = "create_allreduce_fusion_workspace"
PAIR_CREATE = "trtllm_create_ipc_workspace_for_all_reduce_fusion"
PAIR_DESTROY = "trtllm_destroy_ipc_workspace_for_all_reduce_fusion"
MOE_RUN = "trtllm_moe_finalize_allreduce_fusion"
_MAX_MOE = 2**31 - 2**21
"""A MoE finalize of more bytes, over all ranks, is refused by every release."""
_MAX_EXCHANGE = 2**31
"""No release makes an exchange buffer larger than this."""
_MAX_MNNVL = 2**32 - 1
"""The largest of the three buffers of an mnnvl workspace.

Every release refuses more.
"""


@dataclass(frozen=True)
class Interface:
    """How the installed build is called: `kind` is UNIFIED or PAIR.

    The rest says how its workspace meets.

    `device_is` is the device it allocates on: "current", that of the "rank", or that of
    the "local rank".
    """

    kind: str
    sub_group: bool
    device_is: str


def find_interface(adapter: Adapter, backend: str) -> Interface | str:
    """How the installed build is called for a backend, or why it cannot be."""
    if adapter.installed.module is None:
        return adapter.installed.error or "FlashInfer is not installed"
    release = adapter.installed.release
    unified = adapter.bindings.get(CREATE)
    if unified and unified.target and adapter.available(RUN):
        try:
            importlib.import_module(f"{adapter.installed.module_name}.mnnvl")
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            # It needs more packages than the rest, and an import can even exit
            return (
                f"import {adapter.installed.module_name}.mnnvl raised "
                f"{type(error).__name__}: {error}"
            )
        row = (
            None if unified.drift else _row(adapter.target["regimes"], release, backend)
        )
        if row is not None:
            return Interface(UNIFIED, row["sub_group"], row["device_is"])
        if backend == CUTEDSL and not unified.takes("apply_rms_norm"):
            return f"{adapter.installed.described} has no backend {CUTEDSL}"
        # A build of no known release: the portable call passes both, so whichever it
        # looks at is the right one.
        both = unified.takes("group") and unified.takes("comm_backend")
        return Interface(UNIFIED, sub_group=both, device_is="current")
    if (
        adapter.available(PAIR_RUN)
        and _row(adapter.target["pair"], release) is not None
    ):
        if backend != TRTLLM:
            return f"{adapter.installed.described} has the backend {TRTLLM} alone"
        return Interface(PAIR, sub_group=True, device_is="current")
    described = adapter.installed.described
    return (
        f"{described} has neither the unified allreduce_fusion nor an older pair "
        "that is known"
    )


def offers(
    adapter: Adapter,
    request: Request,
    machine: Machine,
    rank: int,
    size: int,
    world: int,
    fitting: Sequence[str] = (),
) -> dict[str, dict[str, Any]]:
    """For each backend that was asked for.

    Its terms as plain data, and what speaks against it on this rank.

    Of the backends in `fitting` there is a workspace already.
    """
    found: dict[str, dict[str, Any]] = {}
    for backend in request.order:
        interface = find_interface(adapter, backend)
        against = interface if isinstance(interface, str) else None
        terms = None
        if isinstance(interface, Interface):
            terms = make_terms(adapter, request, machine, backend, interface, size)
            where = (rank, size, world)
            against = _lacking(request, terms) or objection(
                adapter,
                request,
                machine,
                backend,
                interface,
                *where,
                fits=backend in fitting,
            )
        found[backend] = {
            "objection": against,
            "terms": None if terms is None else asdict(terms),
        }
    return found


def make_terms(
    adapter: Adapter,
    request: Request,
    machine: Machine,
    backend: str,
    interface: Interface,
    size: int,
) -> Terms:
    """All that a later call depends on, taken from this rank's build and machine."""
    names = (
        (CREATE, RUN)
        if interface.kind == UNIFIED
        else (PAIR_CREATE, PAIR_RUN, PAIR_DESTROY)
    )
    patterns = adapter.attribute("AllReduceFusionPattern")
    numbers = {
        name: int(getattr(patterns, name))
        for name in sorted(vars(patterns))
        if name.startswith("k")
    }
    serves, moe = _serves(adapter, request, machine, backend, numbers)
    if moe is not None and MOE_PATTERN not in numbers:
        names = (*names, MOE_RUN)
    shapes = {name: adapter.bindings[name].shape for name in names}
    row = _row(adapter.target["oneshot"], adapter.installed.release)
    limits = adapter.target["sizes"] if request.max_bytes is None else []
    limit = next(
        (
            r["bytes"]
            for r in limits
            if tuple(r["capability"]) == machine.capability and r["ranks"] == size
        ),
        None,
    )
    return Terms(
        backend=backend,
        kind=interface.kind,
        build=adapter.installed.described,
        device_is=interface.device_is,
        takes={
            name: sorted(shape.names) if shape else [] for name, shape in shapes.items()
        },
        patterns=numbers,
        oneshot_tokens=row["tokens"] if row and interface.kind == PAIR else None,
        max_bytes=request.max_bytes or limit,
        serves=serves,
        layouts=_layouts(adapter),
        compiled=compiled_values(request) if backend == CUTEDSL else {},
        **_moe_limits(request, moe, size),
    )


def _serves(
    adapter: Adapter,
    request: Request,
    machine: Machine,
    backend: str,
    numbers: Mapping[str, int],
) -> tuple[list[str], Mapping[str, Any] | None]:
    """The patterns that a backend of this build runs on this machine for this dtype,
    and the row that says so of the MoE finalize.
    """
    release, major = adapter.installed.release, (machine.capability or (0, 0))[0]
    rows = [
        row
        for row in adapter.target["patterns"]
        if release in row["releases"]
        and row["backend"] == backend
        and major >= row["least_major"]
        and request.dtype in row["dtypes"]
    ]
    there = {name for row in rows for name in row["names"] if name in numbers}
    moe = next((row for row in rows if MOE_PATTERN in row["names"]), None)
    if moe is not None and MOE_PATTERN not in numbers and adapter.available(MOE_RUN):
        there.add(MOE_PATTERN)  # as a function of its own, before it was a pattern
    if backend == CUTEDSL:
        wanted = set(compiled_patterns(request)) & set(COMPILED_MODES)
        there = wanted & (there if release is not None else set(numbers))
    else:
        there |= {PLAIN_PATTERN, NORM_PATTERN}  # also of a build that nobody knows
    return sorted(there), moe if MOE_PATTERN in there else None


def _moe_limits(
    request: Request, row: Mapping[str, Any] | None, size: int
) -> dict[str, int]:
    """How large a MoE finalize may be: the release's own checks, and what an index of
    the kernels can reach.
    """
    if row is None or not row.get("one_shot"):
        return {}
    rows = (2**31 - 1) // request.hidden_dim
    if row.get("counts_rows"):
        rows = min(rows, _MAX_MOE // (2 * request.hidden_dim * size))
    return {"moe_rows": rows, "moe_tokens": _MAX_MOE // (request.row_bytes * size)}


def _lacking(request: Request, terms: Terms) -> str | None:
    """Why a backend is not for what the operation is made for."""
    missing = [name for name in request.patterns if name not in terms.serves]
    if missing:
        return f"no {missing[0]} from {terms.backend} of {terms.build} here"
    return None


def _layouts(adapter: Adapter) -> dict[str, int]:
    """The numbers of the layouts that kernels write.

    1 was LINEAR up to 0.2.13, and is the layout of 8x4 since.
    """
    numbers: Any = adapter.attribute(
        "QuantizationSFLayout"
        if adapter.available("QuantizationSFLayout")
        else "FP4QuantizationSFLayout"
    )
    names = {SWIZZLED: ("SWIZZLED_128x4", "SWIZZLED"), LINEAR: ("LINEAR",)}
    return {
        layout: int(getattr(numbers, name))
        for layout, tried in names.items()
        for name in tried
        if hasattr(numbers, name)
    }


def objection(
    adapter: Adapter,
    request: Request,
    machine: Machine,
    backend: str,
    interface: Interface,
    rank: int,
    size: int,
    world: int,
    *,
    fits: bool = False,
) -> str | None:
    """Why this rank cannot run a backend; None when nothing speaks against it.

    `fits` says that there is a workspace for it already.
    """
    target, described = adapter.target, adapter.installed.described
    hardware = [row for row in target["hardware"] if row["backend"] == backend]
    # The newest known release stands in for a build that is none of them: what it
    # gates, later ones gate.
    row = _row(hardware, adapter.installed.release) or hardware[-1]
    if size not in row["ranks"]:
        return (
            f"the {backend} kernels are for groups of {listed(row['ranks'])} ranks, "
            f"not {size}"
        )
    if request.dtype not in target["dtypes"]:
        return f"the kernels are for {listed(target['dtypes'])}, not {request.dtype}"
    if request.row_bytes % target["alignment"]:
        return (
            f"a row of {request.hidden_dim} {request.dtype} is not a multiple of "
            f"{target['alignment']} bytes"
        )
    if size != world and not interface.sub_group:
        return (
            f"{described} always meets on all ranks: no call of it is safe for a "
            "part of them"
        )
    if not machine.cuda or machine.capability is None:
        return "there is no CUDA device"
    if machine.capability[0] not in row["majors"]:
        major, minor = machine.capability
        return (
            f"compute capability {major}.{minor} is not one its {backend} kernels "
            "are built for"
        )
    if backend == CUTEDSL and machine.multicast is False:
        return f"{CUTEDSL} needs NVLink multicast, and the device has none"
    if request.backend == AUTO and backend == MNNVL:
        against = _not_by_itself(
            target["auto"], adapter.installed.release, machine, described
        )
        if against:
            return against
    if backend == MNNVL and machine.multicast is False and not machine.clique:
        return (
            f"{MNNVL} needs NVLink multicast or fabric memory, and the device has "
            "neither"
        )
    if backend == CUTEDSL:
        against = compiled_objection(adapter, request, size)
        if against:
            return against
    if interface.device_is == "rank" and machine.device != rank:
        return (
            f"this release allocates on device {rank}, the rank's own number, and "
            f"runs on device {machine.device}"
        )
    return None if fits else _memory_objection(request, machine, backend, size)


def _not_by_itself(
    rows: Sequence[Mapping[str, Any]],
    release: str | None,
    machine: Machine,
    described: str,
) -> str | None:
    """Why mnnvl is not chosen unasked, though it might run where it is asked for."""
    row = _row(rows, release)
    if row is None:
        return f"{MNNVL} of {described} is used only when it is asked for"
    if list(machine.capability or ()) not in [
        list(capability) for capability in row["capabilities"]
    ]:
        major, minor = machine.capability or (0, 0)
        return (
            f"{MNNVL} is used on compute capability {major}.{minor} only when it is "
            "asked for"
        )
    if not machine.multicast and not machine.clique:
        return (
            f"{MNNVL} is used only when it is asked for where neither multicast nor "
            "fabric is known to be there"
        )
    return None


def _memory_objection(
    request: Request, machine: Machine, backend: str, size: int
) -> str | None:
    needed = workspace_bytes(request, backend, size)
    if backend == MNNVL and needed // 3 > _MAX_MNNVL:
        return (
            f"a buffer of the workspace would need {needed // 3} bytes, and "
            f"{_MAX_MNNVL} is the most"
        )
    if machine.free_memory is not None and machine.free_memory < needed:
        return (
            f"the workspace needs {needed >> 20} MiB, and "
            f"{machine.free_memory >> 20} MiB are free"
        )
    return None


def known_fault(adapter: Adapter, backend: str) -> str | None:
    """What is known to go wrong with a backend of the installed release, though it
    runs.
    """
    row = _row(adapter.target["faults"], adapter.installed.release, backend)
    return None if row is None else str(row["because"])


def workspace_bytes(request: Request, backend: str, size: int) -> int:
    """What a workspace takes on each device.

    trtllm has one buffer for exchange and three for one-shot messages, mnnvl three for
    two stages of rounded tokens. Of mnnvl-cutedsl it is the least: two buffers of all
    tokens for each way of compiling; how many more depends on the build's profiles.
    """
    if backend == CUTEDSL:
        ways = {str(COMPILED_MODES.get(p)) for p in compiled_patterns(request)}
        return 2 * len(ways) * request.max_token_num * request.row_bytes
    if backend == MNNVL:
        rounded = -(-request.max_token_num // size) * size
        return 3 * 2 * rounded * request.row_bytes
    message = size * request.max_token_num * request.row_bytes
    return message + 3 * min(message, _MAX_EXCHANGE)


def _row(
    rows: Sequence[Mapping[str, Any]], release: str | None, backend: str | None = None
) -> Mapping[str, Any] | None:
    """The row that holds for a release, and for a backend where rows are for one."""
    return next(
        (
            row
            for row in rows
            if release in row["releases"] and row.get("backend", backend) == backend
        ),
        None,
    )
