"""Environments that are made up, and what is true of them: a bare Python, packages in folders, fake tools, a library
that behaves as FlashInfer's releases do where it is imported and where a workspace is made.

The library here is no copy: it does in its own words what the releases were seen to do (tests hold it against real
releases where the index can be reached). What it does is the truth that the doctor's verdicts are held against.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass, field
from pathlib import Path

LIBRARY = '''\
"""Stands in for a release: looks at its companions when it is imported."""
import importlib.util
import logging
import os

from .version import __version__

RELEASE = {release!r}


def _look(name, fits):
    if importlib.util.find_spec(name) is None:
        return
    other = __import__(name).__version__
    if os.environ.get("FLASHINFER_DISABLE_VERSION_CHECK") or fits(other):
        return
    if __version__ == "0.0.0+unknown" and RELEASE >= (0, 6, 10):
        return
    if RELEASE >= (0, 7, 2):
        logging.getLogger("stub").warning("another version of %s is ignored", name)
        return
    raise RuntimeError(f"{{name}} is {{other}}, this is {{__version__}}")


if RELEASE >= (0, 4, 0):
    if not (RELEASE >= (0, 6, 16) and os.environ.get("FLASHINFER_CUBIN_DIR")):
        _look("flashinfer_cubin", lambda other: other == __version__)
    if RELEASE >= (0, 7, 0):
        _look("flashinfer_jit_cache", lambda other: other == __version__ or other.startswith(__version__ + "+"))
    else:
        _look("flashinfer_jit_cache", lambda other: other.startswith(__version__))
'''

VERSION = """\
try:
    from ._build_meta import __version__
except ImportError:
    __version__ = "0.0.0+unknown"
"""

COMM = '''\
import importlib.util
import os
import shutil
import sys

import torch

from .. import RELEASE
from .cuda_ipc import CudaRTLibrary

if (0, 6, 16) <= RELEASE <= (0, 6, 16, 3) and sys.version_info < (3, 12):
    raise TypeError("'type' object is not subscriptable")


def create_allreduce_fusion_workspace(world_size=2):
    """What making a trtllm workspace needs, in the order in which it fails."""
    if not torch.cuda.is_available():
        raise RuntimeError("no CUDA")
    if torch.cuda.device_count() < world_size:
        raise RuntimeError("too few GPUs")
    served = (9, 10, 12) if RELEASE >= (0, 6, 17) else (9, 10)
    good = [i for i in range(torch.cuda.device_count()) if torch.cuda.get_device_capability(i)[0] in served]
    pairs = [(a, b) for a in good for b in good if a < b and torch.cuda.can_device_access_peer(a, b)]
    if not pairs:
        raise RuntimeError("no two GPUs that are served and reach each other")
    if (0, 6, 0) <= RELEASE < (0, 6, 10) and not getattr(torch, "multicast", True):
        raise RuntimeError("no multicast")
    CudaRTLibrary()
    here = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    places = [f"{here}/{name}/jit_cache" for name in os.listdir(here) if name.startswith("flashinfer_jit_cache")]
    if importlib.util.find_spec("flashinfer_jit_cache") is None:
        places.append(f"{here}/flashinfer/data/aot")
    brought = any(os.path.isfile(f"{place}/trtllm_comm/trtllm_comm.so") for place in places)
    if not brought and shutil.which("nvcc") is None:
        raise RuntimeError("nothing to compile with")
    return "a workspace"
'''

CUDA_IPC = """\
import ctypes
import re

from .. import RELEASE


class CudaRTLibrary:
    def __init__(self):
        lines = [line.strip() for line in open("/proc/self/maps") if "libcudart" in line]
        if RELEASE >= (0, 7, 1):
            real = r"libcudart(?:-[0-9a-fA-F]+)?[.]so(?:[.][0-9]+)*"
            lines = [line for line in lines if re.fullmatch(real, line.rpartition("/")[2])]
        assert lines, "libcudart is not loaded in the current process"
        path = lines[0][lines[0].index("/"):]
        assert path.rpartition("/")[2].startswith("libcudart"), "unexpected name"
        ctypes.CDLL(path).cosf  # the function that the made-up libcudart has


if RELEASE < (0, 6, 14):
    CudaRTLibrary()
"""

TORCH = '''\
"""Stands in for torch: sees the GPUs that it is told of."""
import ctypes
import os
import types

FACTS = {facts!r}
__version__ = FACTS["version"]
version = types.SimpleNamespace(cuda=FACTS["cuda"], hip=FACTS["hip"])
multicast = FACTS["multicast"]
if FACTS["libcudart"]:
    ctypes.CDLL(FACTS["libcudart"], ctypes.RTLD_GLOBAL)


def _seen():
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    every = list(range(len(FACTS["capabilities"])))
    return every if given is None else [int(part) for part in given.split(",") if part.isdecimal()]


def _capability(index=0):
    return tuple(map(int, FACTS["capabilities"][_seen()[index]].split(".")))


cuda = types.SimpleNamespace(
    is_available=lambda: bool(FACTS["cuda"] and _seen()),
    device_count=lambda: len(_seen()),
    get_device_capability=_capability,
    get_device_name=lambda index=0: "NVIDIA B200",
    can_device_access_peer=lambda one, other: FACTS["peers"],
)
'''

TRUTH = """\
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import flashinfer.comm
flashinfer.comm.create_allreduce_fusion_workspace()
print("\\nit works")
"""

SMI = """\
#!/bin/sh
case "$*" in
{refuses}  *--query-gpu=*compute_cap*) printf '%s' '{whole}' ;;
  *--query-gpu=*) printf '%s' '{short}' ;;
  -q) printf 'CUDA Version : {cuda}\\n        Fabric\\n            State : {fabric}\\n' ;;
  topo*) printf 'GPU0 X NV18\\nGPU1 NV18 X\\n' ;;
esac
"""


@dataclass
class Made:
    """An environment: packages below `site` on the path of `python`, tools below `bin`, variables."""

    folder: Path
    python: str
    variables: dict[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.site = self.folder / "site"
        self.bin = self.folder / "bin"
        self.site.mkdir(parents=True)
        self.bin.mkdir()

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(self.site), self.variables.get("PYTHONPATH")]))
        return {"PATH": f"{self.bin}{os.pathsep}/usr/bin{os.pathsep}/bin", **self.variables, "PYTHONPATH": path}

    def truth(self) -> str | None:
        """What importing and calling raises; None where it works."""
        command = [self.python, "-c", TRUTH, *self.after]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, cwd=self.bin)
        if done.returncode == 0 and done.stdout.endswith("\nit works\n"):
            return None
        return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]

    # -- packages ----------------------------------------------------------------------------------------------------

    def record(
        self, name: str, version: str, *requires: str, modules: tuple[str, ...] = (), site: Path | None = None
    ) -> None:
        """What a package manager leaves of a distribution."""
        info = (site or self.site) / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        wanted = "".join(f"Requires-Dist: {text}\n" for text in requires)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wanted}")
        (info / "RECORD").write_text("".join(f"{module}/__init__.py,,\n" for module in modules))

    def flashinfer(
        self,
        version: str,
        *requires: str,
        release: str | None = None,
        stated: str | None = "",
        name: str = "flashinfer-python",
        site: Path | None = None,
    ) -> None:
        """The library. `release` is the one that it behaves as, `stated` what its module says it is."""
        place = site or self.site
        self.record(name, version, *requires, modules=("flashinfer",), site=place)
        package = place / "flashinfer"
        (package / "comm").mkdir(parents=True)
        numbers = tuple(int(part.removeprefix("post")) for part in (release or version).partition("+")[0].split("."))
        (package / "__init__.py").write_text(LIBRARY.format(release=numbers))
        (package / "version.py").write_text(VERSION)
        if stated is not None:
            (package / "_build_meta.py").write_text(f"__version__ = {stated or version!r}\n")
        (package / "comm" / "__init__.py").write_text(COMM)
        (package / "comm" / "cuda_ipc.py").write_text(CUDA_IPC)

    def companion(self, name: str, version: str, *, recorded: bool = True, whole: bool = True) -> None:
        """A companion; one that is not `whole` has nothing in the folder that it is there for."""
        module = name.replace("-", "_")
        (self.site / module).mkdir()
        if whole:
            inside = "cubins/kernel.cubin" if name.endswith("cubin") else "jit_cache/trtllm_comm/trtllm_comm.so"
            (self.site / module / inside).parent.mkdir(parents=True)
            (self.site / module / inside).write_text("")
        (self.site / module / "__init__.py").write_text("from ._build_meta import __version__\n")
        (self.site / module / "_build_meta.py").write_text(f"__version__ = {version!r}\n")
        if recorded:
            self.record(name, version, modules=(module,))

    def provider(self, name: str, version: str) -> None:
        """A package of kernels beside the jit-cache, whose record says what it has."""
        module = name.replace("-", "_")
        path = f"{module}/jit_cache/trtllm_comm/trtllm_comm.so"
        (self.site / path).parent.mkdir(parents=True)
        (self.site / path).write_text("")
        self.record(name, version, modules=(module,))
        with (self.site / f"{module}-{version}.dist-info" / "RECORD").open("a") as file:
            file.write(f"{path},,\n")

    def torch(
        self,
        *capabilities: str,
        version: str = "2.9.0+cu130",
        cuda: str | None = "13.0",
        hip: str | None = None,
        peers: bool = True,
        multicast: bool = True,
        libcudart: bool = True,
    ) -> None:
        """A torch that sees GPUs, and that has mapped a libcudart."""
        facts = {
            "version": version,
            "cuda": cuda,
            "hip": hip,
            "capabilities": capabilities,
            "peers": peers,
            "multicast": multicast,
            "libcudart": str(self.library("libcudart.so.12", real=True)) if libcudart else None,
        }
        (self.site / "torch").mkdir()
        (self.site / "torch" / "__init__.py").write_text(TORCH.format(facts=facts))
        self.record("torch", version, modules=("torch",))

    def library(self, name: str, *, real: bool, folder: Path | None = None) -> Path:
        """A shared library of a name: one that has what a libcudart needs, or one that has not."""
        place = folder or self.folder / "lib"
        place.mkdir(exist_ok=True)
        if real:
            ctypes.CDLL("libm.so.6")
            lines = Path("/proc/self/maps").read_text().splitlines()
            source = next(line[line.index("/") :] for line in lines if "/libm.so" in line or "/libm-" in line)
        else:
            source = str(next(Path(sysconfig.get_config_var("DESTSHARED")).glob("*.so")))
        return Path(shutil.copy(source, place / name))

    def imitator(self, name: str = "tilework") -> None:
        """A package that maps a library which only looks like libcudart."""
        (self.site / name).mkdir()
        path = self.library("libcudart_stub.so", real=False, folder=self.site / name)
        (self.site / name / "__init__.py").write_text(f"import ctypes\nctypes.CDLL({str(path)!r})\n")
        self.record(name, "1.0", modules=(name,))
        with (self.site / f"{name}-1.0.dist-info" / "RECORD").open("a") as file:
            file.write(f"{name}/libcudart_stub.so,,\n")

    # -- tools -------------------------------------------------------------------------------------------------------

    def smi(self, *capabilities: str, old: bool = False, cuda: str = "13.0", fabric: str = "N/A") -> None:
        rows = [f"{i}, NVIDIA B200, 580.1, 183359 MiB" for i in range(len(capabilities))]
        whole = "".join(f"{row}, {c}\n" for row, c in zip(rows, capabilities, strict=True))
        short = "".join(f"{row}\n" for row in rows)
        refuses = (
            "  *compute_cap*) echo 'Field \"compute_cap\" is not a valid field to query.'; exit 2 ;;\n" if old else ""
        )
        self.tool("nvidia-smi", SMI.format(refuses=refuses, whole=whole, short=short, cuda=cuda, fabric=fabric))

    def compiler(self, release: str = "13.0") -> None:
        for name, text in (
            ("nvcc", f"echo 'Cuda compilation tools, release {release}, V1'"),
            ("ninja", ""),
            ("c++", ""),
        ):
            self.tool(name, f"#!/bin/sh\n{text}\n")

    def tool(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def bare_python(folder: Path) -> str:
    """A Python with nothing installed."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    assert json.loads(subprocess.check_output([python, "-c", "import sys; print(len(sys.path))"])) > 0
    return str(python)


def own_python() -> str:
    """The Python of these tests, which has a real torch that is built without CUDA."""
    return sys.executable
