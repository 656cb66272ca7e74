"""A replay of a library's own pull requests: what would `driftwatch impact` have said of each before it was merged?

    python benchmarks/upstream.py REPOSITORY FOLDER [--first N] [--last N]

REPOSITORY is a clone of FlashInfer with its history, FOLDER keeps one result a pull request; one that is there is not
made again. Upstream squashes: each commit of the main line that touches the module is one pull request, base..head.
Each is held against the SGLang and the vLLM that were newest on the day of the merge. Printed are the pull requests
with every claim, to be read in both sources; docs/upstream.md has the verdicts.

Beside that stands a count that shares nothing with the analysis: the names of functions, classes and parameters that
the diff takes away, by Python's own `ast`, and the lines of the code base that have such a name, or such a keyword, in
a file that imports the module. Where one is there and nothing is claimed, someone has to read why.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import time
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from driftwatch.errors import DriftwatchError
from driftwatch.report.impact_forms import render_json
from driftwatch.scan.code_bases import opened
from driftwatch.targets.target import all_targets, choose
from driftwatch.watching.impact import ImpactRequest, impact

TARGET, PACKAGE = "flashinfer-python", "flashinfer/comm"
CODE = {
    "sglang": (
        ("2025-06-10", "0.4.7"), ("2025-06-26", "0.4.8.post1"), ("2025-07-29", "0.4.9.post6"),
        ("2025-08-27", "0.5.1.post3"), ("2025-09-11", "0.5.2"), ("2025-10-16", "0.5.3.post3"),
        ("2025-11-17", "0.5.5.post3"), ("2025-12-11", "0.5.6.post2"), ("2026-01-01", "0.5.7"),
        ("2026-02-05", "0.5.8.post1"), ("2026-04-08", "0.5.10.post1"), ("2026-05-16", "0.5.12"),
        ("2026-06-26", "0.5.14"), ("2026-07-25", "0.5.16"), ("2026-08-08", "0.5.17"),
    ),
    "vllm": (
        ("2025-06-10", "0.9.1"), ("2025-07-25", "0.10.0"), ("2025-08-20", "0.10.1.1"),
        ("2025-09-13", "0.10.2"), ("2025-10-04", "0.11.0"), ("2025-12-03", "0.12.0"),
        ("2025-12-19", "0.13.0"), ("2026-01-29", "0.15.0"), ("2026-03-31", "0.18.1"),
        ("2026-05-10", "0.20.2"), ("2026-06-05", "0.22.1"), ("2026-06-30", "0.24.0"),
        ("2026-07-25", "0.26.0"), ("2026-08-11", "0.27.1"),
    ),
}  # fmt: skip
"""Releases of the code bases, by the day on which the index got them."""


@click.command()
@click.argument("repository", type=click.Path(path_type=Path, exists=True))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--first", type=int, default=1, help="The first pull request, by its place; 1 is the oldest.")
@click.option("--last", type=int, default=10_000, help="The last one.")
def main(repository: Path, folder: Path, first: int, last: int) -> None:
    """Make the results that are missing, and print every claim."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, (commit, day, title) in enumerate(_merged(repository), 1):
        if first <= place <= last:
            kept = folder / f"{commit}.json"
            if not kept.exists():
                kept.write_text(json.dumps(_one(repository, commit, day), indent=1), encoding="utf-8")
            _tell(place, day, title, json.loads(kept.read_text(encoding="utf-8")))


def _merged(repository: Path) -> Iterator[tuple[str, str, str]]:
    """The pull requests that touched the module, oldest first: commit, day and title."""
    form = "--format=%H%x09%cs%x09%s"
    listed = _git(repository, "log", "--first-parent", "--reverse", form, "HEAD", "--", f"{PACKAGE}", f"{PACKAGE}.py")
    for line in listed.splitlines():
        commit, day, title = line.split("\t", 2)
        yield commit, day, title


def _one(repository: Path, commit: str, day: str) -> dict[str, Any]:
    targets = (choose(all_targets((), Path.cwd()), TARGET),)
    code = []
    for name, releases in CODE.items():
        place = bisect_right([since for since, _ in releases], day) - 1
        if place >= 0:
            code.append(f"pypi:{name}=={releases[place][1]}")
    started = time.process_time()
    try:
        form = json.loads(
            render_json(impact(ImpactRequest(targets, f"git:{repository}@{commit}~1..{commit}", tuple(code))))
        )
    except DriftwatchError as error:
        form = {"error": error.message}
    gone = _gone(repository, commit)
    return {"code": code, "cpu": time.process_time() - started, "gone": sorted(gone), "impact": form,
            "words": [list(hit) for text in code for hit in _words(text, gone)]}  # fmt: skip


# -- beside the analysis -----------------------------------------------------------------------------------------------


def _gone(repository: Path, commit: str) -> set[str]:
    """What was in the module's files and is not any more: functions and classes by name, parameters as keywords."""
    files = _git(repository, "diff", "--name-only", f"{commit}~1", commit, "--", PACKAGE).split()
    before, after = (
        {name for file in files for name in _names(_git(repository, "show", f"{at}:{file}", missing=True))}
        for at in (f"{commit}~1", commit)
    )
    return {f"{name.rpartition('.')[2]}=" if "." in name else name for name in before - after} - {"self=", "cls="}


def _names(text: str) -> Iterator[str]:
    """``function`` and ``function.parameter`` of a file."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            a = node.args
            for each in (*a.posonlyargs, *a.args, *a.kwonlyargs):
                yield f"{node.name}.{each.arg}"
        elif isinstance(node, ast.ClassDef):
            yield node.name


def _words(text: str, gone: set[str]) -> Iterator[tuple[str, str, int, str]]:
    """The lines with such a word, in files that speak of the module."""
    if not gone:
        return
    words = (rf"{re.escape(name[:-1])}\s*=(?!=)" if name.endswith("=") else rf"{re.escape(name)}\b" for name in gone)
    word = re.compile(rf"\b(?:{'|'.join(sorted(words))})")
    imports = re.compile(r"^\s*(?:from|import)\s+flashinfer\.comm|^\s*from flashinfer import .*\bcomm\b", re.MULTILINE)
    with opened(text, None, lambda _text: None) as code:
        (top,) = code.paths
        for file in sorted(top.rglob("*.py")):
            content = file.read_text(encoding="utf-8", errors="replace")
            if imports.search(content):
                for number, line in enumerate(content.splitlines(), 1):
                    if word.search(line):
                        yield text, file.relative_to(top).as_posix(), number, line.strip()


def _git(repository: Path, *words: str, missing: bool = False) -> str:
    done = subprocess.run(["git", "-C", str(repository), *words], check=not missing, capture_output=True, text=True)
    return done.stdout


# -- for reading -------------------------------------------------------------------------------------------------------


def _tell(place: int, day: str, title: str, result: dict[str, Any]) -> None:
    form = result["impact"]
    print(f"## {place} {day} {title}\n   {', '.join(result['code'])}, {result['cpu']:.1f} CPU s")
    if "error" in form:
        print(f"   not compared: {form['error']}")
    else:
        used = sum(bool(change["used"]) for change in form["changes"])
        print(f"   {used} changes of what is used, {len(form['untouched'])} others: {form['title']}")
        touches = [touch for change in form["changes"] for touch in change["places"]] + form["besides"]
        for touch in touches:
            finding = touch["finding"]
            print(f"   {touch['effect']:<12} {touch['code_base']}: {finding['path']}:{finding['line']} "
                  f"{finding['code']} {finding['message']}")  # fmt: skip
    for text, file, number, line in result["words"]:
        print(f"   word         {text} {file}:{number}: {line[:120]}")


if __name__ == "__main__":
    main()
