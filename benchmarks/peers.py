"""What other tools catch of call sites that break, and what they cost: the table of docs/peers.md, as Markdown.

    python benchmarks/peers.py                      the repository's own cases; what breaks is found by running them
    python benchmarks/peers.py FOLDER               cases with an expected.toml, which says what breaks
    python benchmarks/peers.py FOLDER --no-times

**Counting.** A cell is one case in one release; peer_cases.py says which of them break. Of a tool count the diagnostics
that claim that an import, an attribute, a call or the making of an object fails: `API_RULES` in peer_tools.py, and of
driftwatch errors and warnings with the outcome "raises" or "silent". A cell that breaks is *caught* when there is one
on every line that raises. A cell that must be silent is *false* when there is one on any line of it. Those on other
lines of cells that break are told below the table, where there are any.

The other tools are asked once for each release, with the sources of that release on their search path, from the package
index, unpacked and not installed: nothing of them is run. driftwatch is asked once, for all releases.

**Times** are of whole processes, in turn: medians, and medians of the ratios to a cold scan by driftwatch, run by run.
The other tools check one part of a code base, which can import the rest of it, against the newest of the releases, with
nothing else there that it depends on; driftwatch scans the whole of it against all the releases it knows.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click
from cost import Cost, Program, in_turn, median, ratio
from packaging.version import Version
from peer_cases import MODULE, Cases, Line, Said, Score, read_cases, score
from peer_tools import GRIFFE, LOAD, TOOLS, Place, Tool, environment_with

import driftwatch
from driftwatch.snapshot.sources.fetch import fetch_project

TARGET = "flashinfer-python"
CODE_BASE, PART = "sglang==0.5.23", "sglang/srt/layers"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@click.option("--environment", type=click.Path(path_type=Path), help="Where the tools are installed, to be kept.")
@click.option("--times/--no-times", default=True, help="Whether a real code base is checked, too.")
@click.option("--runs", default=3, show_default=True, help="How often each program runs.")
def main(folder: Path | None, environment: Path | None, times: bool, runs: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary).resolve()
        cases = read_cases((folder or Path(__file__).parent.parent / "tests" / "cases").resolve())
        environment, missing = environment_with((environment or work / "environment").resolve())
        tools = [tool for tool in TOOLS if tool.name not in missing]
        places = {release: prepare(cases, release, work / release) for release in cases.releases}
        newest = places[max(cases.releases, key=Version)].library
        scores = {
            tool.label: score(cases, {release: tool.check(environment, places[release]) for release in places})
            for tool in tools
        }
        own = f"driftwatch {driftwatch.__version__}"
        scores[own] = score(cases, said_by_driftwatch(cases))
        costs = {}
        if times:
            code = work / "code"
            shutil.copytree(fetch_project(f"pypi:{CODE_BASE}").path, code, ignore=_all_but_python)
            programs = timed(tools, environment, Place(code, PART, newest), own, with_griffe="griffe" not in missing)
            programs[f"{own}, warm"].run()
            costs = in_turn(programs, runs)
        print("\n".join(table(cases, scores, costs, own)))
        if times:
            part, whole = (len(list(folder.rglob("*.py"))) for folder in (code / PART, code))
            print(f"\nTimes: medians of {runs} runs in turn. driftwatch: {CODE_BASE}, {whole} files, all releases.")
            print(f"griffe: to load the library. The others: {PART} of it, {part} files, one release.")
        print("\n".join(by_case(cases, scores)))
        for name, why in missing.items():
            print(f"\nNot to be had: {name} ({why})")


# -- what is said ------------------------------------------------------------------------------------------------------


def prepare(cases: Cases, release: str, work: Path) -> Place:
    """A folder with the cases, and one with the library of a release, which nothing runs."""
    library = work / "library"
    library.mkdir(parents=True)
    (library / MODULE).symlink_to(fetch_project(f"pypi:{TARGET}=={release}").path / MODULE)
    shutil.copytree(cases.folder, work / "cases", ignore=shutil.ignore_patterns("*.toml", "__pycache__"))
    return Place(work / "cases", ".", library)


def said_by_driftwatch(cases: Cases) -> Said:
    """One pass over the cases, for all releases."""
    scan = Program([*_scan(cases.folder), "--no-cache", "--format=json"])
    return said_in_report(json.loads(scan.output()), cases.releases)


def said_in_report(report: Mapping[str, object], releases: Sequence[str]) -> Said:
    """The lines of a report of driftwatch's that tell of a break, by release."""
    said: dict[str, set[Line]] = {release: set() for release in releases}
    findings = report["findings"]
    assert isinstance(findings, list)
    for finding in findings:
        if finding["severity"] in {"error", "warning"} and finding["outcome"] in {"raises", "silent"}:
            for release in said.keys() & set(finding["releases"]):
                said[release].add((finding["path"], finding["line"]))
    return said


def _scan(folder: Path) -> list[str]:
    return [sys.executable, "-m", "driftwatch", "scan", str(folder), "--against=all", "--fail-on=never"]


# -- what it costs -----------------------------------------------------------------------------------------------------


def timed(tools: Sequence[Tool], environment: Path, place: Place, own: str, *, with_griffe: bool) -> dict[str, Program]:
    """What is timed, by the label of its row."""
    programs = {tool.label: tool.program(environment, place) for tool in tools}
    if with_griffe:
        command = [str(environment / "bin" / "python"), "-c", LOAD, MODULE, str(place.library)]
        programs[f"griffe {GRIFFE}"] = Program(command)
    cache = {"DRIFTWATCH_CACHE_DIR": str(place.library.parent / "cache")}
    programs[own] = Program([*_scan(place.folder), "--no-cache"], cache)
    programs[f"{own}, warm"] = Program(_scan(place.folder), cache)
    return programs


def _all_but_python(folder: str, names: list[str]) -> set[str]:
    """Settings of the code base would speak to some of the tools."""
    return {name for name in names if not name.endswith(".py") and not Path(folder, name).is_dir()}


# -- the tables --------------------------------------------------------------------------------------------------------


def table(cases: Cases, scores: Mapping[str, Score], costs: Mapping[str, Sequence[Cost]], own: str) -> Iterable[str]:
    breaking, silent = len(cases.breaking()), len(cases.silent())
    yield f"{len(cases.files)} cases, releases {', '.join(cases.releases)}\n"
    yield f"| tool | caught of {breaking} | false of {silent} | wall s | / driftwatch, cold | cpu s | knows releases |"
    yield "|---|---|---|---|---|---|---|"
    for label in dict.fromkeys([*costs, *scores]):
        found = scores.get(label)
        marks = [str(len(found.caught)), str(len(found.false))] if found else _not_scored(label, own)
        took = ["", "", ""]
        if label in costs:
            wall, cpu = (median(costs[label], what) for what in ("wall", "cpu"))
            took = [f"{wall:.1f}", f"{ratio(costs[label], costs[own], 'wall'):.2f}", f"{cpu:.1f}"]
        knows = "all, in one run" if label.startswith(own) else "two" if label.startswith("griffe") else "one"
        yield f"| {' | '.join([label, *marks, *took, knows])} |"
    for label, found in scores.items():
        for release, (name, line) in sorted(found.elsewhere):
            yield f"\n{label} also says something of {name}:{line} in {release}, where another line raises."


def _not_scored(label: str, own: str) -> list[str]:
    return ["", ""] if label.startswith(own) else ["no call sites", ""]


def by_case(cases: Cases, scores: Mapping[str, Score]) -> Iterable[str]:
    """For each case, how many of the releases in which it breaks are caught, and in how many others it is false."""
    yield f"\n| case | breaks in | {' | '.join(scores)} |"
    yield f"|---|---|{'---|' * len(scores)}"
    for case in cases.files:
        breaks = [release for name, release in cases.breaking() if name == case]
        marks = []
        for found in scores.values():
            caught = sum(name == case for name, _ in found.caught)
            false = [release for name, release in sorted(found.false) if name == case]
            marks.append(" ".join([str(caught)] * bool(breaks) + [f"false: {', '.join(false)}"] * bool(false)))
        yield f"| {case} | {', '.join(breaks) or 'never'} | {' | '.join(marks)} |"


if __name__ == "__main__":
    main()
