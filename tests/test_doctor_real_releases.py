"""The made-up library of the doctor's tests, held against what releases of FlashInfer themselves do when imported."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.origin import choose_for_snapshot, open_artifact
from driftwatch.snapshot.sources.tree import SourceTree
from tests.made_environment import Made, bare_python

PARTS = ("version.py", "jit/env.py", "comm/cuda_ipc.py")
COMPANIONS = {"flashinfer_cubin": "flashinfer-cubin", "flashinfer_jit_cache": "flashinfer-jit-cache"}
DISTRIBUTED = "class ProcessGroup: ...\n"
CHECK = "import flashinfer.jit.env"
LOOK = "import tilework; import flashinfer.comm.cuda_ipc as c; c.CudaRTLibrary()"
BESIDE = {
    "jit/_cuda_architecture.py": "def cuda_binary_target_compatibility_score(*_): return None\n",
    "compilation_context.py": "class CompilationContext:\n    TARGET_CUDA_ARCHS = set()\n",
    "jit/__init__.py": "",
    "comm/__init__.py": "",
    "__init__.py": "from .version import __version__\nfrom .jit import env\n",
}
GETTERS = (
    "def get_cubin_dir(): return '/a'\ndef get_jit_cache_dir(): return '/b'\ndef get_jit_cache_providers(): return ()\n"
)


@pytest.fixture(scope="module")
def index() -> Iterator[PackageIndex]:
    with PackageIndex() as used:
        yield used


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    return bare_python(tmp_path_factory.mktemp("python"))


def real(folder: Path, tree: SourceTree, stated: str | None) -> None:
    """The parts of a release that look at what is installed, with as little round them as they need."""
    for name, text in BESIDE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in PARTS:
        content = tree.read(f"flashinfer/{name}")
        assert content is not None
        (folder / name).write_bytes(content)
    if stated is not None:
        (folder / "_build_meta.py").write_text(f'__version__ = "{stated}"\n__git_version__ = "a"\n')


def outcome(made: Made, code: str) -> str | None:
    """The type of what a program raises."""
    done = subprocess.run(
        [made.python, "-c", code], env=made.environment, capture_output=True, text=True, check=False, cwd=made.bin
    )
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1].partition(":")[0]


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("release", ["0.6.1", "0.6.17", "0.7.1", "0.7.2"])
def test_what_is_made_up_does_what_the_release_does(
    index: PackageIndex, bare: str, tmp_path: Path, release: str
) -> None:
    artifact = choose_for_snapshot(index.project("flashinfer-python").artifacts(release))
    tree = open_artifact(artifact, "flashinfer.comm", index).tree
    cases = [
        (own, module, other, variables)
        for own in (release, f"{release}+cu130", None)
        for module in COMPANIONS
        for other in (release, f"{release}+cu130", f"{release}1", "0.6.0", None)
        for variables in ({}, {"FLASHINFER_DISABLE_VERSION_CHECK": "0"}, {"FLASHINFER_CUBIN_DIR": "/nowhere"})
    ]
    for number, (own, module, other, variables) in enumerate(cases):
        made = [Made(tmp_path / f"{number}-{kind}", bare, dict(variables)) for kind in ("real", "made")]
        for one in made:
            one.variables["HOME"] = str(tmp_path)
            if other is None:
                (one.site / module / "data").mkdir(parents=True)
            else:
                one.companion(COMPANIONS[module], other)
                with (one.site / module / "__init__.py").open("a") as file:
                    file.write(GETTERS)
        real(made[0].site / "flashinfer", tree, own)
        made[1].flashinfer(release, stated=own)
        found = [outcome(one, code) for one, code in zip(made, (CHECK, "import flashinfer"), strict=True)]
        assert found[0] == found[1], (own, module, other, variables)
    for name, libraries in (("none", ()), ("alike", ("libcudart_stub.so",)), ("below", ("libcudart/lib.so",))):
        made = [Made(tmp_path / f"{name}-{kind}", bare) for kind in ("real", "made")]
        for one in made:
            loaded = [
                one.library(
                    library.rpartition("/")[2], real=False, folder=one.folder / (library.rpartition("/")[0] or "l")
                )
                for library in libraries
            ]
            (one.site / "tilework.py").write_text(
                "import ctypes\n" + "".join(f"ctypes.CDLL({str(path)!r})\n" for path in loaded)
            )
            (one.site / "torch").mkdir()
            (one.site / "torch" / "__init__.py").write_text("")
            (one.site / "torch" / "distributed.py").write_text(DISTRIBUTED)
        real(made[0].site / "flashinfer", tree, release)
        made[1].flashinfer(release)
        found = [outcome(one, LOOK) for one in made]
        assert found[0] == found[1], name
