"""What a scan costs: time beside a search and a type checker, memory, and how both grow.

    python benchmarks/scan.py                           real code bases, fetched from the package index
    python benchmarks/scan.py FOLDER [FOLDER ...]       folders
    python benchmarks/scan.py FOLDER --beside FOLDER/part

Seconds of one machine say little about another, and less on a busy one: the programs run in turn, and what is printed
beside the medians are ratios, taken run by run. Times are of whole processes, start-up included. `ty`, where it is
installed, checks the folder given with ``--beside``, against the one release that is installed if any is.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from driftwatch.flow.project import analyse
from driftwatch.snapshot import store
from driftwatch.snapshot.fetch import fetch_project
from driftwatch.snapshot.history import History, merge

REAL = {"sglang==0.5.23": "sglang/srt/layers", "vllm==0.33.0": "vllm/model_executor/layers"}
"""Code bases to fetch, and the part of each that a type checker is given."""

TARGET = "flashinfer-python"
ADAPTER = """\
import inspect

import flashinfer.comm as comm

_TAKES_GROUP = "group" in inspect.signature(comm.create_allreduce_fusion_workspace).parameters


class Fusion{i}:
    def __init__(self, group):
        self.options = {{"trigger_completion_at_end": True}}
        if _TAKES_GROUP:
            self.options["group"] = group

    def reduce(self, x, workspace, **more):
        options = dict(self.options, **more)
        try:
            return comm.allreduce_fusion(input=x, workspace=workspace, pattern=0, **options)
        except TypeError:
            return None


def reduce_{i}(x, workspace, **options):
    return comm.allreduce_fusion(input=x, workspace=workspace, pattern=0, **options)
"""
CALLER = """\
from code.adapter_{i} import Fusion{i}, reduce_{i}


def run(x, workspace, group):
    Fusion{i}(group).reduce(x, workspace, launch_with_pdl=True)
    return reduce_{i}(x, workspace, weight_bias=1.0)
"""


@dataclass(frozen=True)
class Cost:
    """What one process took: wall seconds, processor seconds, and megabytes at its largest."""

    wall: float
    cpu: float
    peak: float


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--beside", type=click.Path(path_type=Path, exists=True), help="What the type checker is given.")
@click.option("--runs", default=5, show_default=True, help="How often each program runs.")
def main(folders: tuple[Path, ...], beside: Path | None, runs: int) -> None:
    """Measure scans."""
    bases = [(folder.resolve(), beside.resolve() if beside is not None else None) for folder in folders]
    if not folders:
        for requirement, checked in REAL.items():
            fetched = fetch_project(f"pypi:{requirement}").path
            bases.append((fetched, fetched / checked))
    history = store.load(store.shipped() / TARGET)
    for folder, part in bases:
        print(f"\n{folder.name}: {_size(folder)}")
        _beside_others(folder, part, runs)
        _by_releases(folder, history, runs)
    print("\nten times the files that matter")
    _growth(history, runs)


# -- whole processes ---------------------------------------------------------------------------------------------------


def _beside_others(folder: Path, part: Path | None, runs: int) -> None:
    scan = [sys.executable, "-m", "driftwatch", "scan", str(folder), "--against", "all", "--fail-on", "never"]
    programs: dict[str, list[str]] = {
        "cold scan": [*scan, "--no-cache"],
        "warm scan": scan,
        "grep -rl": ["grep", "-rl", "--include=*.py", "flashinfer", str(folder)],
    }
    checker = shutil.which("ty") or shutil.which("ty", path=str(Path(sys.executable).parent))
    if checker is None:
        print("  ty is not installed: nothing to compare with")
    with tempfile.TemporaryDirectory() as cache:
        if checker is not None and part is not None:
            # It finds the code base's own modules below the folder that it is told is the project, whose own settings
            # may ask for an environment that is not here.
            settings = Path(cache, "ty.toml")
            settings.touch()
            project = folder if part.is_relative_to(folder) else part
            options = ["--exit-zero", "--config-file", str(settings), "--python", sys.prefix, "--project", str(project)]
            programs["ty check"] = [checker, "check", *options, str(part)]
        environment = {**os.environ, "DRIFTWATCH_CACHE_DIR": cache}
        for command in programs.values():
            _run(command, environment)  # the files are in the machine's own cache from here on, and in driftwatch's
        taken: dict[str, list[Cost]] = {name: [] for name in programs}
        for _ in range(runs):
            for name, command in programs.items():
                taken[name].append(_run(command, environment))
    print(f"  {'':12}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
    for name, costs in taken.items():
        wall, cpu, peak = (statistics.median(getattr(c, what) for c in costs) for what in ("wall", "cpu", "peak"))
        print(f"  {name:12}{wall:9.2f}{cpu:9.2f}{peak:9.0f}")
    for name in ("cold scan", "warm scan"):
        for other in ("ty check", "grep -rl"):
            if other in taken:
                wall, cpu = (_ratio(taken[name], taken[other], what) for what in ("wall", "cpu"))
                print(f"  {name} / {other}: {wall:.2f} wall, {cpu:.2f} cpu")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise click.ClickException(f"{' '.join(command)} ended with status {process.returncode}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def _ratio(some: Sequence[Cost], others: Sequence[Cost], what: str) -> float:
    ratios: list[float] = [getattr(a, what) / getattr(b, what) for a, b in zip(some, others, strict=True)]
    return statistics.median(ratios)


def _size(folder: Path) -> str:
    files = list(folder.rglob("*.py"))
    return f"{len(files)} Python files, {sum(f.stat().st_size for f in files) / 1e6:.0f} MB"


# -- the analysis alone ------------------------------------------------------------------------------------------------


def _by_releases(folder: Path, history: History, runs: int) -> None:
    """All releases against one: against the newest, and against the one with the most names, which most code fits."""
    versions = history.timeline.versions
    snapshots = {version: store.snapshot_of(history, version) for version in versions}
    largest = max(versions, key=lambda version: len(snapshots[version].symbols))
    for version in dict.fromkeys((largest, versions[-1])):
        single = merge(history.distribution, history.module, [snapshots[version]])
        ratios = [_analysis(folder, history) / _analysis(folder, single) for _ in range(runs)]
        print(f"  {len(versions)} releases / {version} alone: {statistics.median(ratios):.2f} cpu")


def _growth(history: History, runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, times in (("one", 20), ("ten", 200)):
            package = Path(folder, name, "code")
            package.mkdir(parents=True)
            (package / "__init__.py").touch()
            for i in range(times):
                (package / f"adapter_{i}.py").write_text(ADAPTER.format(i=i), encoding="utf-8")
                (package / f"caller_{i}.py").write_text(CALLER.format(i=i), encoding="utf-8")
        _analysis(Path(folder, "one"), history)
        ratios = [
            _analysis(Path(folder, "ten"), history) / _analysis(Path(folder, "one"), history) for _ in range(runs)
        ]
    print(f"  400 files / 40 files: {statistics.median(ratios):.2f} cpu")


def _analysis(folder: Path, history: History) -> float:
    files = sorted(folder.rglob("*.py"))
    gc.collect()  # what an analysis before this one has left is not this one's cost
    started = time.process_time()
    analyse(folder, files, [history])
    return time.process_time() - started


if __name__ == "__main__":
    main()
