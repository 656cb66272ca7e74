"""The doctor in real processes: a made-up environment on a real interpreter, and every way it can be unwell."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.doctor import Examination, Needs, examine, needs_of
from driftwatch.errors import InputError
from driftwatch.report.doctor import render, render_json
from driftwatch.report.styled import Look
from driftwatch.targets.target import shipped_targets

NEEDS = Needs(
    distribution="kiln",
    module="kiln.core",
    feature="the fast path",
    companions=("kiln-wheels",),
    shown=("clay",),
    hides_mismatch="KILN_NO_CHECK",
    group_sizes=(2, 4),
    hardware=((">=1.0,<2.0", (9, 10)), (">=2.0", (9, 10, 12))),
)


class Bench:
    """An environment: packages on PYTHONPATH of a real interpreter, a fake nvidia-smi on PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site = folder / "site"
        self.bin = folder / "bin"
        self.site.mkdir()
        self.bin.mkdir()
        monkeypatch.setenv("PYTHONPATH", str(self.site))
        monkeypatch.setenv("PATH", str(self.bin))

    def install(self, name: str, version: str, code: str | None = None) -> None:
        info = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        if code is not None:
            (self.site / name).mkdir()
            (self.site / name / "__init__.py").write_text("")
            (self.site / name / "core.py").write_text(code)

    def gpus(self, *capabilities: str, fails: bool = False) -> None:
        rows = "".join(f"{i}, NVIDIA B200, {c}, 580.1, 183359 MiB\n" for i, c in enumerate(capabilities))
        tool = self.bin / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\nprintf '%s' '{rows}'\n" if not fails else "#!/bin/sh\necho no driver; exit 9\n")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    def examine(self, *, attempt: bool = False, environment: Mapping[str, str] | None = None) -> Examination:
        known = {"kiln": ("1.0", "1.1", "2.0")}
        return examine([NEEDS], known, attempt_import=attempt, environment=environment or {})


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def text(found: Examination) -> str:
    return render(found, Look())


def test_all_is_well(bench: Bench) -> None:
    bench.install("kiln", "1.1+cu130", "X = 1")
    bench.install("kiln-wheels", "1.1")
    bench.gpus("10.0", "10.0")
    found = bench.examine(attempt=True)
    assert found.healthy
    assert found.verdicts[0].obstacles == ()
    assert found.verdicts[0].unknown == ()
    assert "the fast path can run here\n" in text(found)
    assert "import kiln.core  works" in text(found)


def test_not_tried_is_not_known(bench: Bench) -> None:
    bench.install("kiln", "1.1", "raise RuntimeError")
    bench.gpus("10.0", "10.0")
    found = bench.examine()
    assert found.healthy
    assert "the fast path may run here; not known: whether `import kiln.core` works: --import tries it" in text(found)


def test_nothing_is_installed(bench: Bench) -> None:
    found = bench.examine(attempt=True)
    assert found.healthy
    assert found.verdicts[0].attempt is None
    assert found.verdicts[0].obstacles == (
        "kiln is not installed",
        "nvidia-smi is not there, so no NVIDIA driver seems to be",
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("raise AssertionError('libcudart is not loaded')", "AssertionError: libcudart is not loaded"),
        ("import missing_package", "ModuleNotFoundError: No module named 'missing_package'"),
        ("raise SystemExit", "SystemExit"),
        ("print('noise'); raise TypeError('a\\nb')", "TypeError: a"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it died of signal 9"),
    ],
)
def test_an_import_that_fails_is_a_fact(bench: Bench, code: str, error: str) -> None:
    bench.install("kiln", "1.1", code)
    found = bench.examine(attempt=True)
    assert not found.healthy
    assert found.verdicts[0].attempt is not None
    assert found.verdicts[0].attempt.error == error
    assert found.verdicts[0].problems == (f"`import kiln.core` raises {error}",)


def test_a_companion_of_another_release(bench: Bench) -> None:
    bench.install("kiln", "1.1")
    bench.install("kiln-wheels", "1.1.post1")
    found = bench.examine(environment={"KILN_NO_CHECK": "1"})
    assert found.verdicts[0].problems == ("kiln-wheels is 1.1.post1, but kiln is 1.1: they must be the same release",)
    assert "KILN_NO_CHECK is set, which hides a mismatch of packages" in found.verdicts[0].unknown


@pytest.mark.parametrize(
    ("version", "capabilities", "obstacles"),
    [
        ("1.1", ("12.0", "12.0"), 2),
        ("2.0", ("12.0", "12.0"), 0),
        ("2.0.dev3+g12", ("12.0", "10.0"), 0),
        ("not-a-version", ("7.5", "7.5"), 0),
        ("2.0", ("9.0",), 1),
        ("2.0", ("8.0", "9.0"), 1),
    ],
)
def test_the_hardware_a_release_serves(
    bench: Bench, version: str, capabilities: tuple[str, ...], obstacles: int
) -> None:
    bench.install("kiln", version)
    bench.gpus(*capabilities)
    assert len(bench.examine().verdicts[0].obstacles) == obstacles


def test_an_unknown_release_is_said(bench: Bench) -> None:
    bench.install("kiln", "3.0")
    assert "kiln 3.0 has no snapshot: only its live signatures can tell" in bench.examine().verdicts[0].unknown


def test_a_driver_that_fails(bench: Bench) -> None:
    bench.gpus(fails=True)
    assert bench.examine().gpu_note == "nvidia-smi fails: no driver"


def test_not_a_python(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be asked what it has: No such file"):
        examine([NEEDS], {}, python=str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="did not answer as a Python"):
        examine([NEEDS], {}, python="/bin/true")


def test_what_lies_in_the_current_folder_is_not_installed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.bin / "kiln").mkdir()
    (bench.bin / "kiln" / "core.py").write_text("")
    bench.install("kiln", "1.1")
    monkeypatch.chdir(bench.bin)
    attempt = bench.examine(attempt=True).verdicts[0].attempt
    assert attempt is not None and attempt.error == "ModuleNotFoundError: No module named 'kiln'"


def test_json_has_all_of_it(bench: Bench) -> None:
    bench.install("kiln", "1.1", "X = 1")
    form = json.loads(render_json(bench.examine(attempt=True)))
    assert form["verdicts"][0]["versions"] == {"kiln": "1.1", "kiln-wheels": None, "clay": None}
    assert form["verdicts"][0]["attempt"]["error"] is None
    assert form["executable"] == sys.executable


def test_nothing_it_prints_can_act(bench: Bench) -> None:
    bench.install("kiln", "1.1", "raise ValueError('\\x1b[2J')")
    assert "\x1b" not in text(bench.examine(attempt=True))


def test_the_library_is_not_imported_here() -> None:
    before = set(sys.modules)
    examine([needs_of(target) for target in shipped_targets()], {}, attempt_import=True, environment=os.environ)
    assert not {name.partition(".")[0] for name in set(sys.modules) - before} & {"torch", "flashinfer"}


def test_a_target_without_an_environment_file_asks_for_no_gpu() -> None:
    target = replace(shipped_targets()[0], data=None)
    needs = needs_of(target)
    assert needs.hardware == ()
    found = examine([needs], {}, environment={})
    assert found.verdicts[0].obstacles == (f"{target.distribution} is not installed",)
