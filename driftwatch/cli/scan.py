"""``driftwatch scan``: in which releases does this code break?"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.against import against_option
from driftwatch.cli.completion import codes
from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import (
    FILE,
    carried,
    config_option,
    configuration,
    finder,
    output_option,
    watched,
)
from driftwatch.cli.output import say
from driftwatch.cli.progress import Activity, activity
from driftwatch.errors import InputError, UsageError
from driftwatch.report import FORMATS

if TYPE_CHECKING:
    from driftwatch.project.config import Config
    from driftwatch.scan.pipeline import ScanRequest
    from driftwatch.scan.report_model import Report

FROM_INDEX = "pypi:"
"""Begins an input that is fetched; known here too, so that a local scan imports nothing that fetches."""


@click.command(
    "scan",
    epilog="""\b
Examples:
  driftwatch scan                                        the code base in this folder
  driftwatch scan src tests --against '>=0.6.0,<0.8'     these folders, held against these releases
  driftwatch scan pypi:sglang==0.5.12                    a release from the package index, never run
  driftwatch scan --against all --format json --output drift.json
  driftwatch scan --format github                        annotations of a pull request
  driftwatch scan --diff-base origin/main                only what this branch brings in
  driftwatch scan --format text --format sarif=out.sarif --format html=drift.html

\b
Which releases count: --against, else `against` in [tool.driftwatch], else the dependency that the
project declares, else the newest release. SPEC is '>=0.6.0', '0.7.4', 'all' or 'newest'; with several
libraries, 'NAME>=0.6.0'. What breaks outside of that range is told, and never fails the run.

\b
Exit status: 0 nothing to report, 1 findings, 2 usage, configuration or input error.""",
)
@click.argument("inputs", nargs=-1, metavar="[PATH | pypi:NAME==VERSION]...")
@against_option()
@formats_option(list(FORMATS))
@output_option
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=codes,
    help="Only these rules: codes or their beginnings, with commas.",
)
@click.option("--ignore", multiple=True, metavar="CODES", shell_complete=codes, help="Not these rules.")
@click.option("--baseline", type=FILE, metavar="FILE", help="Known findings; they are told only in new releases.")
@click.option("--diff-base", metavar="REV", help="Only what is new against this revision of the git repository.")
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "never"]), help="What makes the exit status 1; default: error."
)
@click.option("--gpu", metavar="ARCH", help="Hold calls against a GPU as well: sm90, sm100, sm120.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    hidden=True,
    expose_value=False,
    help="Without effect.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of analysed files.")
@click.option("--fixes", is_flag=True, help="Prove what `driftwatch fix` would do, for JSON, SARIF, Markdown and HTML.")
@click.option("--beyond", is_flag=True, help="List what a downgrade would break, release by release.")
@click.option("--unresolved", is_flag=True, help="List the places whose meaning could not be followed.")
@config_option
def scan_command(  # noqa: PLR0913, PLR0917 - one parameter to an option is how click works
    inputs: tuple[str, ...],
    against: tuple[str, ...],
    wanted: tuple[Wanted, ...],
    output: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    baseline: Path | None,
    diff_base: str | None,
    fail_on: str | None,
    gpu: str | None,
    no_cache: bool,
    fixes: bool,
    beyond: bool,
    unresolved: bool,
    config_file: Path | None,
) -> int:
    """Find what breaks in some release of a library: where and why.

    Each finding also says whether anybody would notice. PATH is a folder or a file, by default the current folder.
    Nothing that is scanned is ever run.
    """
    from dataclasses import replace

    from driftwatch.report import render
    from driftwatch.report.options import RenderOptions
    from driftwatch.report.styled import Look, look
    from driftwatch.report.text import summary
    from driftwatch.rules.unsupported_gpu import parse_gpu
    from driftwatch.scan.pipeline import ScanRequest, scan
    from driftwatch.snapshot.sources.cache import cache_root

    start = time.monotonic()
    settled = settle(wanted, output, next(iter(FORMATS)), inputs)
    with activity("looking") as shown:
        paths, config = resolve(inputs or (".",), config_file, shown)
        targets, against = watched(config, against, paths, shown)
        shown.title("analysing")
        request = ScanRequest(
            paths=paths,
            targets=targets,
            config=config,
            against=against,
            select=select,
            ignore=ignore,
            baseline=baseline,
            fail_on=fail_on,
            gpu=parse_gpu(gpu) if gpu is not None else None,
            cache=None if no_cache else cache_root(),
            progress=shown.step,
            find=finder(config, shown),
            carried=carried(shown),
        )
        result = scan(request) if diff_base is None else _scan_new(request, diff_base, inputs)
        report = replace(result, title=title(inputs or (".",)))
        if fixes:
            from driftwatch.scan.fix import fixes as proven

            shown.title("proving repairs")
            report = replace(report, fixes=proven(request, result))
        if any(each.name == "text" for each in settled):
            from driftwatch.scan.fix import prospects

            report = replace(report, fixable=prospects(result, targets))
    if not result.files:
        raise InputError(f"there is no Python file in {', '.join(repr(text) for text in inputs or ('.',))}")
    report = replace(report, seconds=time.monotonic() - start)
    rendered = [
        render(
            each.name, report, RenderOptions(Look() if each.file is not None else look(sys.stdout), unresolved, beyond)
        )
        for each in settled
    ]
    deliver(settled, rendered)
    if all(each.file is not None for each in settled):
        say(summary(report))
    return status_of(result)


def _scan_new(request: ScanRequest, revision: str, inputs: tuple[str, ...]) -> Report:
    from driftwatch.scan.diff_base import scan_new

    if any(text.startswith(FROM_INDEX) for text in inputs):
        raise UsageError("--diff-base is for a git repository, not for a release from the package index")
    return scan_new(request, revision)


def resolve(inputs: tuple[str, ...], config_file: Path | None, shown: Activity) -> tuple[tuple[Path, ...], Config]:
    """The folders and files to scan, and the configuration that applies to them.

    A release from the index is no part of the project that stands in the working folder: of that project's
    configuration, only its targets count for it.
    """
    from driftwatch.project.config import Config, config_for

    local = tuple(Path(text) for text in inputs if not text.startswith(FROM_INDEX))
    if config_file is not None:
        config = configuration(config_file)
    elif local:
        config = config_for(local)
    else:
        nearest = configuration(None)
        config = Config(path=nearest.path, targets=nearest.targets)
    paths: list[Path] = []
    for text in inputs:
        if text.startswith(FROM_INDEX):
            from driftwatch.snapshot.sources.fetch import fetch_project

            shown.title(f"fetching {text}")
            paths.append(fetch_project(text).path)
        else:
            paths.append(Path(text))
    return tuple(paths), config


def title(inputs: tuple[str, ...]) -> str:
    """What the code base is called in a report: ``sglang 0.5.12``, or the names of its folders."""
    names = []
    for text in inputs:
        if text.startswith(FROM_INDEX):
            names.append(" ".join(text.removeprefix(FROM_INDEX).replace("===", "==").split("==")))
        else:
            names.append(Path(text).resolve().name or text)
    return ", ".join(dict.fromkeys(names))


def status_of(result: Report) -> int:
    """1 for findings; 2 where not one file could be looked at; else 0."""
    if result.failed:
        return 1
    unread = {diagnostic.path for diagnostic in result.diagnostics}
    return 2 if len(unread) >= result.files else 0
