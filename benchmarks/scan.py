"""What a scan costs: time beside a search and a type checker, memory, and how both grow.

    python benchmarks/scan.py                           real code bases, fetched from the package index
    python benchmarks/scan.py FOLDER [FOLDER ...]       folders
    python benchmarks/scan.py FOLDER --beside FOLDER/part

Seconds of one machine say little about another, and less on a busy one: the programs run in turn, and what is printed
beside the medians are ratios, taken run by run. Times are of whole processes, start-up included. A scan is against all
releases, cold (nothing kept from before) and warm, each with and without a second process.

`ty`, where it is installed, checks the folder given with ``--beside`` against one release: the newest, whose sources
are fetched and put on its search path, and of which nothing is run. It can import the rest of the code base; once more,
that folder is all it is given. It has an empty environment: what else the code imports, it does not have to read.
"""

from __future__ import annotations

import gc
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from cost import Program, in_turn, median, ratio

from driftwatch.errors import DriftwatchError
from driftwatch.flow.project import analyse
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.sources.fetch import fetch_project
from driftwatch.snapshot.store import store

REAL = {"sglang==0.5.23": "sglang/srt/layers", "vllm==0.33.0": "vllm/model_executor/layers"}
"""Code bases to fetch, and the part of each that a type checker is given."""

TARGET, MODULE = "flashinfer-python", "flashinfer"
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
        _beside_others(folder, part, history.timeline.versions[-1], runs)
        _by_releases(folder, history, runs)
    print("\nten times the files that matter")
    _growth(history, runs)


# -- whole processes ---------------------------------------------------------------------------------------------------


def _beside_others(folder: Path, part: Path | None, newest: str, runs: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary).resolve()
        cache = {"DRIFTWATCH_CACHE_DIR": str(work / "cache")}
        scan = [sys.executable, "-m", "driftwatch", "scan", str(folder), "--against=all", "--fail-on=never"]
        scans = {
            "cold scan": Program([*scan, "--no-cache"], cache),
            "warm scan": Program(scan, cache),
        }
        others = {"grep -rl": Program(["grep", "-rl", "--include=*.py", MODULE, str(folder)])}
        if part is not None:
            others = {**_type_checks(folder, part, newest, work), **others}
        programs = {**scans, **others}
        for program in programs.values():
            program.run()  # the files are in the machine's own cache from here on, and in driftwatch's
        taken = in_turn(programs, runs)
        print(f"  {'':15}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
        for name, program in programs.items():
            wall, cpu = (median(taken[name], what) for what in ("wall", "cpu"))
            print(f"  {name:15}{wall:9.2f}{cpu:9.2f}{program.peak():9.0f}")
    print(f"  {'wall / cpu':15}{''.join(f'{other:>16}' for other in others)}")
    for name in scans:
        ratios = [[ratio(taken[name], taken[other], what) for what in ("wall", "cpu")] for other in others]
        print(f"  {name:15}{''.join(f'{wall:9.2f} /{cpu:5.2f}' for wall, cpu in ratios)}")


def _type_checks(folder: Path, part: Path, newest: str, work: Path) -> dict[str, Program]:
    """``ty`` on a part of a code base and one release of the library, in an environment that is empty."""
    checker = shutil.which("ty", path=str(Path(sys.executable).parent)) or shutil.which("ty")
    if checker is None:
        print("  ty is not installed: no type checker to compare with")
        return {}
    try:
        sources = fetch_project(f"pypi:{TARGET}=={newest}")
    except DriftwatchError as error:
        print(f"  {error}: no type checker to compare with")
        return {}
    library = work / "library"
    library.mkdir()
    (library / MODULE).symlink_to(sources.path / MODULE)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(work / "empty")], check=True)
    settings = work / "ty.toml"  # those of the code base may ask for an environment that is not here
    settings.touch()
    version = subprocess.run([checker, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"  {version}: {_size(part)}, with {sources.label} to import")
    check = [checker, "check", "--exit-zero", "--config-file", str(settings), "--python", str(work / "empty")]
    check += ["--extra-search-path", str(library)]
    return {
        "ty check": Program([*check, "--project", str(folder if part.is_relative_to(folder) else part), str(part)]),
        "ty, part alone": Program([*check, "--project", str(part), str(part)]),
    }


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
