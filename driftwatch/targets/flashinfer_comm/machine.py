"""What this process has to run on: its device, and how that reaches others.

Enters: nothing but the hardware. Leaves: a `Machine`, and which devices of a group
cannot be reached. Anything that raises counts as not there, or not known: no answer of
a driver may keep a rank from its vote.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Machine:
    """What this process has.

    `gpu` names the device in the whole system, `clique` its NVLink domain; "" is not
    known.

    `fabric` and `multicast` are what MNNVL needs one of; None is not known. `kind` is
    torch's word for the device.
    """

    cuda: bool
    capability: tuple[int, int] | None = None
    device: int | None = None
    free_memory: int | None = None
    node: str = ""
    gpu: str = ""
    clique: str = ""
    multicast: bool | None = None
    kind: str = "cuda"

    def wait(self) -> None:
        """Until all that was launched on the device is done."""
        import torch

        if self.kind == "cuda":
            torch.cuda.synchronize(self.device)


def probe_machine() -> Machine:
    """Look at the hardware."""
    import torch

    node = _node()
    try:
        if not torch.cuda.is_available():
            return Machine(cuda=False, node=node)
        device = torch.cuda.current_device()
        gpu = _gpu(device)
        return Machine(
            cuda=True,
            capability=torch.cuda.get_device_capability(device),
            device=device,
            free_memory=torch.cuda.mem_get_info(device)[0],
            node=node,
            gpu=gpu,
            clique=_clique(gpu),
            multicast=_multicast(device),
        )
    except Exception:  # a driver that is there and does not work
        return Machine(cuda=False, node=node)


def unreachable(machine: Machine, gpus: Sequence[str]) -> str | None:
    """The first of a group's devices whose memory this one cannot reach.

    None when there is none that is known.
    """
    import torch

    try:
        visible = {_gpu(index): index for index in range(torch.cuda.device_count())}
    except Exception:  # as above
        visible = {}
    for gpu in gpus:
        if not gpu or not machine.gpu or gpu == machine.gpu:
            continue
        reached: bool | None
        try:
            if gpu in visible:
                reached = bool(
                    torch.cuda.can_device_access_peer(machine.device, visible[gpu])
                )
            else:  # a process that sees its own device alone, as under Ray
                reached = _reached_by_driver(machine.gpu, gpu)
        except Exception:  # making the workspace will tell
            reached = None
        if reached is False:
            return gpu
    return None


def _gpu(index: int) -> str:
    """The device's name in the whole system, whatever CUDA_VISIBLE_DEVICES says.

    "" from a torch that has none.
    """
    import torch

    name = str(getattr(torch.cuda.get_device_properties(index), "uuid", ""))
    return name if not name or name.startswith(("GPU-", "MIG-")) else f"GPU-{name}"


def _reached_by_driver(gpu: str, other: str) -> bool:
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()
    try:
        handles = [nvml.nvmlDeviceGetHandleByUUID(name) for name in (gpu, other)]
        status = nvml.nvmlDeviceGetP2PStatus(*handles, nvml.NVML_P2P_CAPS_INDEX_READ)
        return bool(status == nvml.NVML_P2P_STATUS_OK)
    finally:
        nvml.nvmlShutdown()


def _clique(gpu: str) -> str:
    """The NVLink domain that the fabric manager put the device into.

    "" when there is none.
    """
    try:
        nvml: Any = importlib.import_module("pynvml")
        ctypes: Any = importlib.import_module("ctypes")
        nvml.nvmlInit()
        try:
            info = nvml.c_nvmlGpuFabricInfoV_t()
            nvml.nvmlDeviceGetGpuFabricInfoV(
                nvml.nvmlDeviceGetHandleByUUID(gpu), ctypes.byref(info)
            )
            cluster = bytes(byte & 0xFF for byte in info.clusterUuid)
            if info.state < nvml.NVML_GPU_FABRIC_STATE_COMPLETED or not any(cluster):
                return ""
            return f"{cluster.hex()}/{info.cliqueId}"
        finally:
            nvml.nvmlShutdown()
    except Exception:  # no such package, an old driver, or no fabric
        return ""


def _multicast(device: int) -> bool | None:
    """Whether the device can be part of an NVLink multicast."""
    try:
        distributed: Any = importlib.import_module("torch._C._distributed_c10d")
        autograd: Any = importlib.import_module("torch._C._autograd")
        return bool(
            distributed._SymmetricMemory.has_multicast_support(
                autograd.DeviceType.CUDA, device
            )
        )
    except Exception:  # an older torch does not tell
        return None


def _node() -> str:
    """A name that processes on one machine share.

    The boot, and where there is none the host.
    """
    try:
        return (
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        )
    except (OSError, UnicodeDecodeError):
        return platform.node()
