"""What live parity needs: an environment with a library's dependencies, and releases unpacked beside it.

The environment is made once and shared by all releases. It sees the packages of the Python that runs the tests, so that
their torch, by far the largest part, is not installed a second time. A release is only unpacked, not installed, and put
on the path of the process that imports it. Nothing is built. Everything lies in one folder, `DRIFTWATCH_PARITY_DIR` or
a temporary one; what is there already is used again.
"""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.origin import choose_for_snapshot

TORCH = "torch==2.13.0"
DEPENDENCIES = (
    TORCH,
    "apache-tvm-ffi",
    "cuda-python",
    "einops",
    "ninja",
    "numpy",
    "nvidia-cuda-runtime-cu12",
    "nvidia-ml-py",
    "packaging",
    "requests",
    "tabulate",
    "tqdm",
)
"""What `flashinfer` imports on a machine without a GPU. The CUDA runtime is loaded by hand before older releases."""
OPTIONAL = ("cuda-tile", "triton")
"""Without dependencies of their own: some releases of the year 2026 do not import without them."""


@dataclass(frozen=True)
class Environment:
    """A Python with the dependencies, and the shared libraries to load before the import."""

    python: Path
    libraries: tuple[Path, ...]


def environment(folder: Path) -> Environment:
    """The environment in a folder, made if it is not there."""
    home = folder / f"venv-{sys.version_info.major}.{sys.version_info.minor}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    finished = home / "finished"
    if not finished.exists():
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        lines = [f"import site; site.addsitedir({place!r})" for place in site.getsitepackages()]
        _packages(home).joinpath("tests.pth").write_text("\n".join(lines), encoding="utf-8")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *DEPENDENCIES], check=True)
        subprocess.run([*pip, "--no-deps", *OPTIONAL], check=True)
        finished.touch()
    places = (_packages(home), *map(Path, site.getsitepackages()))
    return Environment(
        python, tuple(sorted(path for each in places for path in each.glob("nvidia/**/libcudart.so.12")))
    )


def _packages(home: Path) -> Path:
    """Where the packages of an environment lie."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))


def unpacked(distribution: str, version: str, folder: Path) -> Path:
    """A folder to put on the path, with the Python files and the metadata of one release."""
    target = folder / f"{distribution}-{version}"
    if not (target / "finished").exists():
        shutil.rmtree(target, ignore_errors=True)
        with PackageIndex(cache=Cache(folder / "cache")) as index:
            archive = index.download(choose_for_snapshot(index.project(distribution).artifacts(version)))
        _unpack(archive, target)
        (target / "finished").touch()
    return target


def _unpack(archive: Path, target: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(target, [n for n in wheel.namelist() if n.endswith(".py") or ".dist-info/" in n])
        return
    with tarfile.open(archive) as sdist:
        for member in sdist:
            _, _, inside = member.name.partition("/")
            if member.isfile() and inside.endswith(".py"):
                sdist.extract(member.replace(name=inside, deep=False), target, filter="data")
