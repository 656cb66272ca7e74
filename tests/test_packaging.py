"""What is shipped: the wheel is whole, is the same from a checkout and from the sdist, and works away from both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

SMALL_FILE = """\
import flashinfer.comm as comm


def norm(x, workspace):
    return comm.allreduce_fusion(input=x, workspace=workspace, pattern=0, trigger_completion_at_end=True)
"""


def build(source: Path, target: Path, *kinds: str) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", str(target), str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    build(ROOT, target, "--wheel")
    return only(target, "*.whl")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sdist")
    build(ROOT, target, "--sdist")
    return only(target, "*.tar.gz")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a fresh environment that has the wheel and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", wheel], check=True)
    return scripts / "driftwatch"


def run(command: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        [command, *arguments], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_the_wheel_has_the_package_and_the_snapshots_and_nothing_else(wheel: Path) -> None:
    shipped = {name for name in contents(wheel) if ".dist-info/" not in name}
    expected = {
        f"{prefix}/{path.relative_to(folder).as_posix()}"
        for folder, prefix in ((ROOT / "driftwatch", "driftwatch"), (ROOT / "snapshots", "driftwatch/_snapshots"))
        for path in folder.rglob("*")
        if path.is_file() and {"__pycache__", ".ruff_cache"}.isdisjoint(path.parts)  # what is ignored is not packed
    }
    assert shipped == expected
    assert {
        "driftwatch/py.typed",
        "driftwatch/_snapshots/flashinfer-python/history.jsonl",
        "driftwatch/_snapshots/flashinfer-python/pre/history.jsonl",
        "driftwatch/_snapshots/flashinfer-python/releases.jsonl",
        "driftwatch/targets/flashinfer_comm/target.toml",
    } <= shipped


def test_the_wheel_carries_licence_and_readme(wheel: Path) -> None:
    files = contents(wheel)
    (licence,) = (body for name, body in files.items() if name.endswith(".dist-info/licenses/LICENSE"))
    (metadata,) = (body.decode() for name, body in files.items() if name.endswith(".dist-info/METADATA"))
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert "License-Expression: Apache-2.0" in metadata
    assert (ROOT / "README.md").read_text(encoding="utf-8") in metadata


def test_the_wheel_from_the_sdist_is_the_wheel_from_the_checkout(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    build(only(tmp_path, "driftwatch-*"), tmp_path / "out", "--wheel")
    again = only(tmp_path / "out", "*.whl")
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def test_the_sdist_has_no_leftovers(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert not [name for name in names if "__pycache__" in name or "/." in name.replace("/.gitignore", "")]


@pytest.mark.network
@pytest.mark.slow
def test_an_installed_wheel_scans(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(SMALL_FILE, encoding="utf-8")
    result = run(installed, "scan", ".", "--against", "flashinfer-python>=0.6.0", "--format", "json", folder=tmp_path)
    assert (result.returncode, result.stderr) == (1, "")
    report = json.loads(result.stdout)
    (finding,) = (each for each in report["findings"] if each["severity"] == "error")
    assert (finding["code"], finding["parameter"], finding["path"], finding["line"]) == (
        "DW101",
        "trigger_completion_at_end",
        "engine.py",
        5,
    )
    assert (finding["releases"][0], finding["releases"][-1], len(finding["releases"])) == ("0.6.0", "0.6.7.post3", 11)
    assert len(report["targets"][0]["releases"]["known"]) >= 61


@pytest.mark.network
@pytest.mark.slow
def test_an_installed_wheel_knows_the_history(installed: Path, tmp_path: Path) -> None:
    result = run(installed, "history", "flashinfer.comm.allreduce_fusion", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    for release, parameter in {
        "0.6.8": "trigger_completion_at_end",
        "0.6.11": "block_quant_group_size",
        "0.6.12": "weight_bias",
        "0.7.1": "moe_finalize_backend",
    }.items():
        assert release in result.stdout
        assert parameter in result.stdout
