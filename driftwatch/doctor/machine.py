"""The machine: its GPUs as nvidia-smi lists them, what kernels are compiled with, and what its kernel allows.

Enters: nothing but the machine. Leaves: parts of `Facts`. What a tool does not say, or is not there to say, is None.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from driftwatch.doctor.asking import run
from driftwatch.doctor.model import Device, Driver, Tools
from driftwatch.system.subprocesses import program

_SECONDS = 30
_WITH_CAPABILITY = ("index", "name", "driver_version", "memory.total", "compute_cap")
_SYS_PTRACE = 19


def by_smi() -> Driver:
    """The GPUs that the driver's own tool lists; else none, and why."""
    tool = program("nvidia-smi")
    if tool is None:
        return Driver(note="nvidia-smi is not there")
    # An old one does not know the last field.
    for fields in (_WITH_CAPABILITY, _WITH_CAPABILITY[:-1]):
        ended = run([tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader"], _SECONDS)
        rows = [[part.strip() for part in line.split(",")] for line in ended.out.splitlines() if line.strip()]
        listed = [row for row in rows if len(row) == len(fields) and row[0].isdecimal()]
        if ended.status == 0 and (listed or not rows):
            break
    if ended.status is None or ended.failed is not None:
        return Driver(note=f"nvidia-smi does not answer: {ended.how}")
    if "No devices were found" in ended.out:
        return Driver(devices=())
    if ended.status or (rows and not listed):
        said = (ended.out + ended.err).strip().splitlines()
        return Driver(note=f"nvidia-smi fails: {said[0] if said else f'exit status {ended.status}'}")
    devices = tuple(
        Device(row[0], row[1], row[4] if len(row) > 4 and re.fullmatch(r"\d+\.\d+", row[4]) else None, row[3])
        for row in listed
    )
    whole = run([tool, "-q"], _SECONDS)
    told = whole.out if whole.status == 0 else ""
    cuda = re.search(r"CUDA Version\s*:\s*(\d+\.\d+)", told)
    return Driver(
        version=listed[0][2] if listed else None,
        cuda=cuda[1] if cuda else None,
        devices=devices,
        fabric=_fabric(told) if whole.status == 0 else None,
        links=_links(tool) if len(devices) > 1 else None,
    )


def _fabric(said: str) -> bool:
    """Whether all GPUs have joined an NVLink fabric; a driver that does not speak of it has none."""
    states = re.findall(r"(?m)^\s*Fabric\s*\n\s*State\s*:\s*(\S.*)$", said)
    return bool(states) and all(state.strip() == "Completed" for state in states)


def _links(tool: str) -> str | None:
    """How the GPUs are connected, by ``nvidia-smi topo``: "NVLink", "PCIe" or both; None is not known."""
    said = run([tool, "topo", "-m"], _SECONDS)
    cells = [cell for line in said.out.splitlines() if re.match(r"\s*GPU\d+\s", line) for cell in line.split()[1:]]
    kinds = [
        kind
        for kind, pattern in (("NVLink", r"NV\d+"), ("PCIe", r"PIX|PXB|PHB|NODE|SYS"))
        if any(re.fullmatch(pattern, cell) for cell in cells)
    ]
    return " and ".join(kinds) if said.status == 0 and kinds else None


def tools(environment: Mapping[str, str]) -> Tools:
    """nvcc where CUDA_HOME, CUDA_PATH, PATH or the usual folder has it, and the rest on PATH."""
    home = environment.get("CUDA_HOME") or environment.get("CUDA_PATH")
    places = [Path(home) / "bin/nvcc"] if home else [Path(program("nvcc") or "/usr/local/cuda/bin/nvcc")]
    nvcc = next((str(path) for path in places if path.is_absolute() and os.access(path, os.X_OK)), None)
    release = re.search(r"release (\d+\.\d+)", run([nvcc, "--version"], _SECONDS).out) if nvcc else None
    return Tools(
        nvcc=nvcc,
        nvcc_cuda=release[1] if release else None,
        ninja=program("ninja") is not None,
        compiler=any(program(name) for name in ("c++", "g++", "clang++")),
    )


def ptrace_scope() -> int | None:
    """What Yama lets a process do with another's descriptors; None where it does not say."""
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def may_trace() -> bool | None:
    """Whether this process has CAP_SYS_PTRACE, which a container is rarely given."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"(?m)^CapEff:\s*([0-9a-fA-F]+)$", status)
    return bool(int(found[1], 16) >> _SYS_PTRACE & 1) if found else None


def beside(python: str, name: str) -> bool:
    """Whether a program is in the folder of an environment's Python, where pip puts it."""
    folder = Path(python).parent
    return shutil.which(name, path=str(folder)) is not None if folder.is_absolute() else False
