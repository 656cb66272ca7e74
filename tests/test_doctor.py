"""The doctor's parts in real processes: what it asks, how long it waits, what it says, and when a check fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.doctor.asking import ask, run
from driftwatch.doctor.examine import examine
from driftwatch.doctor.model import Examination, State, Weight
from driftwatch.doctor.needs import Needs, needs_of
from driftwatch.doctor.running import run_path
from driftwatch.errors import ConfigError, InputError
from driftwatch.report.doctor import render, render_json
from driftwatch.report.styled import Look
from driftwatch.targets.companions import among, load_companions
from driftwatch.targets.target import shipped_targets
from tests.conftest import ROOT
from tests.made_environment import Made, bare_python

NEEDS = Needs(distribution="kiln", module="kiln.core", feature="the fast path", shown=("clay",))


class Bench:
    """A bare Python with one small library."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = Made(folder / "made", bare_python(folder / "python"))
        for name, value in self.made.environment.items():
            monkeypatch.setenv(name, value)

    def install(self, code: str, version: str = "1.1") -> None:
        self.made.record("kiln", version, modules=("kiln",))
        (self.made.site / "kiln").mkdir()
        (self.made.site / "kiln" / "__init__.py").write_text("")
        (self.made.site / "kiln" / "core.py").write_text(code)

    def examine(self, needs: Needs = NEEDS, **options: object) -> Examination:
        return examine([needs], {}, python=self.made.python, environment={}, **options)  # type: ignore[arg-type]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_a_library_that_needs_no_gpu(bench: Bench) -> None:
    bench.install("X = 1")
    found = bench.examine()
    assert found.healthy
    assert render(found, Look()).startswith("can run: the fast path of kiln 1.1\n\ndriftwatch ")


def test_not_tried_is_not_known(bench: Bench) -> None:
    bench.install("raise RuntimeError")
    found = bench.examine(importing=False)
    assert found.healthy
    assert [(cause.id, cause.weight) for cause in found.verdicts[0].causes] == [("import-untried", Weight.OPEN)]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("raise AssertionError('libcudart is not loaded')", "AssertionError: libcudart is not loaded"),
        ("import missing_package", "ModuleNotFoundError: No module named 'missing_package'"),
        ("raise SystemExit", "SystemExit"),
        ("print('noise'); raise TypeError('a\\nb')", "TypeError: a"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it died of signal 11"),
        ("import os; os._exit(3)", "exit status 3"),
        ("import os; os._exit(0)", "exit status 0"),
    ],
)
def test_an_import_that_fails_is_a_fact(bench: Bench, code: str, error: str) -> None:
    bench.install(code)
    found = bench.examine()
    assert not found.healthy
    (verdict,) = found.verdicts
    assert verdict.state is State.CANNOT_RUN
    assert verdict.trial is not None and verdict.trial.imported is not None
    assert verdict.trial.imported.error == error
    ended = error.startswith(("exit", "it died"))
    assert verdict.causes[0].what == f"`import kiln.core` {'ended the process:' if ended else 'raised'} {error}"


def test_where_it_was_raised_is_told(bench: Bench) -> None:
    bench.install("def f():\n    raise ValueError('cracked')\n\n\nf()")
    (cause,) = bench.examine().verdicts[0].causes
    assert cause.evidence == (f"at {bench.made.site / 'kiln' / 'core.py'}:2",)


def test_what_is_started_by_an_import_is_not_waited_for(bench: Bench) -> None:
    bench.install("import subprocess\nsubprocess.Popen(['sleep', '60'])\nX = 1")
    start = time.monotonic()
    assert bench.examine().verdicts[0].state is State.CAN_RUN
    assert time.monotonic() - start < 50


def test_a_process_and_all_of_its_own_end_with_its_time(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    ended = run(["/bin/sh", "-c", f"sleep 60 & echo $! > {note}; wait"], 1)
    assert ended.status is None and ended.how == "no answer in time"
    state = Path(f"/proc/{note.read_text().strip()}/stat")
    deadline = time.monotonic() + 30
    while is_alive(state) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(state)


def is_alive(state: Path) -> bool:
    """Whether a process runs; a zombie that nobody has buried does not."""
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_not_a_python(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be asked what it has: No such file"):
        examine([NEEDS], {}, python=str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="did not answer as a Python"):
        examine([NEEDS], {}, python="/bin/true")


def test_a_folder_that_hides_python_s_own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('not that one')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InputError, match="RuntimeError: not that one") as caught:
        examine([NEEDS], {}, python=sys.executable)
    assert (
        caught.value.hint
        == "without PYTHONPATH it answers: something there has the name of one of Python's own modules"
    )


def test_what_lies_in_the_current_folder_is_not_installed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.made.bin / "kiln").mkdir()
    (bench.made.bin / "kiln" / "core.py").write_text("")
    monkeypatch.chdir(bench.made.bin)
    assert [cause.id for cause in bench.examine().verdicts[0].causes] == ["not-installed"]


def test_nothing_it_prints_can_act(bench: Bench) -> None:
    bench.install("raise ValueError('\\x1b[2J')")
    assert "\x1b" not in render(bench.examine(), Look())


def test_the_library_is_not_imported_here() -> None:
    before = set(sys.modules)
    examine([needs_of(target) for target in shipped_targets()], {})
    assert not {name.partition(".")[0] for name in set(sys.modules) - before} & {"torch", "flashinfer"}


def test_a_target_without_an_environment_file_asks_for_no_gpu(bench: Bench) -> None:
    needs = needs_of(replace(shipped_targets()[0], data=None))
    assert needs.kernels_of is None and needs.companions.companions == ()
    assert [cause.id for cause in bench.examine(needs).verdicts[0].causes] == ["not-installed"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="a driver's library is made with a C compiler")
def test_the_driver_itself_is_asked(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "cuda.c"
    source.write_text(DRIVER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "libcuda.so.1"), str(source)], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (said,) = ask(bench.made.python, {"task": "driver"}, 30).said
    assert said["cuda"] == "13.0" and said["fabric"] is False
    assert said["devices"] == [
        {"index": "0", "name": "made up", "capability": "9.0", "multicast": True},
        {"index": "1", "name": "made up", "capability": "9.0", "multicast": True},
    ]
    assert said["peers"] == [[0, 1, True], [1, 0, False]]


DRIVER = """
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "made up", length); return 0; }
int cuDeviceGetAttribute(int *v, int attribute, int device) {
  *v = attribute == 75 ? 9 : attribute == 132 ? 1 : 0;
  return 0;
}
int cuDeviceCanAccessPeer(int *v, int one, int other) { *v = one < other; return 0; }
"""


# -- running the path --------------------------------------------------------------------------------------------------

OUTCOME = '{{\n  "asked": "require",\n  "cases": [{{"path": "{path}"}}],\n  "problems": {problems}\n}}'
LAUNCHER = "import runpy, sys\ndef main():\n    sys.argv = sys.argv[3:]\n    runpy.run_path(sys.argv[0])\n"


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("print('noise'); print('''" + OUTCOME.format(path="fused", problems="[]") + "''')", None),
        ("print('''" + OUTCOME.format(path="reference", problems="[]") + "''')", "it went by reference"),
        ("print('''" + OUTCOME.format(path="fused", problems='["off by 3"]') + "''')", "off by 3"),
        ("raise SystemExit('no ranks')", "exit status 1: no ranks"),
    ],
)
def test_only_the_fused_path_with_right_numbers_is_active(bench: Bench, program: str, problem: str | None) -> None:
    package = bench.made.site / "torch" / "distributed"
    package.mkdir(parents=True)
    (package / "run.py").write_text(LAUNCHER)
    done = run_path(bench.made.python, program, 3, (2, 4), 30)
    assert done.gpus == 2 and not done.unfinished
    assert (problem is None and done.problems == ()) or (problem is not None and done.problems[0].startswith(problem))


def test_a_run_that_does_not_end_says_nothing(bench: Bench) -> None:
    package = bench.made.site / "torch" / "distributed"
    package.mkdir(parents=True)
    (package / "run.py").write_text(LAUNCHER)
    assert run_path(bench.made.python, "import time; time.sleep(60)", 2, (2, 4), 1).unfinished
    assert run_path(bench.made.python, "", 1, (2, 4), 1).unfinished


@pytest.mark.parametrize(
    ("path", "state"), [("fused", State.ACTIVE), ("reference", State.CANNOT_RUN)], ids=["fused", "reference"]
)
def test_what_ran_is_the_verdict(bench: Bench, path: str, state: State) -> None:
    needs = needs_of(shipped_targets()[0])
    bench.made.flashinfer("0.6.14")
    bench.made.torch("10.0", "10.0")
    package = bench.made.site / "torch" / "distributed"
    package.mkdir()
    (package / "run.py").write_text(LAUNCHER)
    program = "print('''" + OUTCOME.format(path=path, problems="[]") + "''')"
    found = bench.examine(needs, adapters={needs.distribution: program})
    assert found.verdicts[0].state is state
    assert found.reaches(State.ACTIVE) is (state is State.ACTIVE)


# -- the command -------------------------------------------------------------------------------------------------------


def command(made: Made, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "driftwatch", "doctor", "--python", made.python, *arguments]
    environment = {**made.environment, "PYTHONPATH": os.pathsep.join([str(made.site), str(ROOT)])}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, cwd=made.folder)


def can_run(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch("10.0", "10.0")
    made.compiler()


def is_not_known(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch("10.0")
    made.smi("10.0", fabric="Completed")
    made.compiler()


def has_no_gpu(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch()


def is_skewed(made: Made) -> None:
    can_run(made)
    made.companion("flashinfer-cubin", "0.6.13")


@pytest.mark.parametrize(
    ("build", "arguments", "status"),
    [
        (can_run, (), 0),
        (can_run, ("--require", "can-run"), 0),
        (is_not_known, (), 0),
        (is_not_known, ("--require", "can-run"), 1),
        (has_no_gpu, (), 0),
        (has_no_gpu, ("--require", "active"), 1),
        (is_skewed, (), 1),
    ],
)
def test_the_exit_status(bench: Bench, build: Callable[[Made], None], arguments: tuple[str, ...], status: int) -> None:
    build(bench.made)
    done = command(bench.made, *arguments, "--format", "json")
    assert (done.returncode, done.stderr) == (status, "")
    assert json.loads(done.stdout)["python"]["executable"] == bench.made.python


def test_an_earlier_import_is_asked_for_by_name(bench: Bench) -> None:
    bench.made.flashinfer("0.6.14")
    bench.made.torch("10.0", "10.0", libcudart=False)
    bench.made.compiler()
    bench.made.imitator()
    done = command(bench.made, "--after", "tilework")
    assert done.returncode == 1
    assert "tilework/libcudart_stub.so" in done.stdout
    assert "driftwatch doctor --after tilework" in command(bench.made).stdout


# -- what fixes --------------------------------------------------------------------------------------------------------


def test_uv_is_told_which_python(bench: Bench) -> None:
    configuration = Path(bench.made.python).parent.parent / "pyvenv.cfg"
    configuration.write_text(f"{configuration.read_text()}uv = 0.9\n")
    (cause,) = bench.examine().verdicts[0].causes
    assert cause.fix == (f"uv pip install --python {bench.made.python} kiln",)


def test_json_has_what_the_text_has(bench: Bench) -> None:
    bench.install("raise ValueError('cracked')")
    form = json.loads(render_json(bench.examine()))
    assert form["verdicts"][0]["verdict"] == "cannot run"
    assert form["verdicts"][0]["versions"] == {"kiln": "1.1", "clay": None}
    assert form["verdicts"][0]["import"]["error"] == "ValueError: cracked"


# -- the data ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "releases", "yes"),
    [
        ("0.6.14+cu130", ">=0.4.0,<0.7.2", True),
        ("0.7.2rc1", "<0.7.2", False),
        ("0.7.2.dev3", ">=0.7.2", True),
        ("0.6.16.post4", ">=0.6.16", True),
        ("forge", ">=0", False),
    ],
)
def test_which_release_a_version_is_like(version: str, releases: str, yes: bool) -> None:
    assert among(version, releases) is yes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("skew = 1", ":1: 'skew' must be an array of tables, [[skew]], not 1"),
        (
            "[[skew]]\nreleases = '>=1'\ndoes = 'sulks'",
            ":3: 'does' must be one of raises, ignores, not 'sulks' in [[skew]] 1",
        ),
        ("[[companion]]\ndistribution = 'a'", ":1: 'module' is missing in [[companion]] 'a'"),
        ("[[skew]]\nreleases = 'new'\ndoes = 'raises'", ":2: 'releases' must be a version specifier, not 'new'"),
        ("\n\n[[skew]]\nreleases = '>=1'\ndoes = 'raises'\n[[skew]]\nreleases = 3", ":7: 'releases' must be a string"),
    ],
)
def test_a_mistake_in_the_data_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "companions.toml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(f"companions.toml{said}")):
        load_companions(tmp_path)
