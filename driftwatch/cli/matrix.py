"""``driftwatch matrix``: several code bases against the releases of a library, in one picture."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.against import against_option
from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import config_option, output_option, watched
from driftwatch.cli.output import say
from driftwatch.cli.progress import Activity, activity
from driftwatch.cli.scan import resolve, title
from driftwatch.errors import DriftwatchError, InputError

if TYPE_CHECKING:
    from driftwatch.scan.report_model import Report

FORMATS = ("text", "html", "json")


@click.command(
    "matrix",
    epilog="""\b
Examples:
  driftwatch matrix pypi:sglang==0.5.12 pypi:sglang==0.5.13     two releases of a code base
  driftwatch matrix src ../other --against '>=0.6.0'            two folders
  driftwatch matrix pypi:vllm==0.33.0 . --format html=matrix.html

\b
Each code base is a row, each release of the library a column. It is no check: findings do not change
the exit status, which is 0, or 2 for a usage, configuration or input error, also where only one of
the code bases cannot be looked at: the others stand.""",
)
@click.argument("inputs", nargs=-1, required=True, metavar="(PATH | pypi:NAME==VERSION)...")
@against_option("default: all known.")
@formats_option(FORMATS)
@output_option
@config_option
def matrix_command(
    inputs: tuple[str, ...],
    against: tuple[str, ...],
    wanted: tuple[Wanted, ...],
    output: Path | None,
    config_file: Path | None,
) -> int:
    """Show which code base works with which release of a library.

    Every input is a code base of its own: a folder, a file, or a release from the package index.
    """
    from driftwatch.report import html, matrix
    from driftwatch.report.options import RenderOptions
    from driftwatch.report.styled import Look, look

    settled = settle(wanted, output, FORMATS[0], inputs)
    reports: list[Report] = []
    failed: list[tuple[str, DriftwatchError]] = []
    with activity("looking") as shown:
        for text in inputs:
            try:
                reports.append(_report(text, against or ("all",), config_file, shown))
            except DriftwatchError as error:
                failed.append((title((text,)), error))
    if not reports:
        raise failed[0][1]
    unread = [matrix.Unread(name, why.message) for name, why in failed]
    rendered = []
    for each in settled:
        if each.name == "html":
            rendered.append(html.render_many(reports, RenderOptions(), unread))
        elif each.name == "json":
            rendered.append(matrix.render_json(reports, unread))
        else:
            rendered.append(matrix.render_many(reports, unread, Look() if each.file is not None else look(sys.stdout)))
    deliver(settled, rendered)
    for each in settled:
        if each.file is not None:
            say(f"{each.file}: {len(reports)} code bases")
    for name, why in failed:
        say(f"error: {name}: {why.message}")
    return 2 if failed else 0


def _report(text: str, against: Sequence[str], config_file: Path | None, shown: Activity) -> Report:
    """One code base, held against the releases."""
    from driftwatch.scan.pipeline import ScanRequest, scan
    from driftwatch.snapshot.sources.cache import cache_root

    paths, config = resolve((text,), config_file, shown)
    shown.title(f"analysing {title((text,))}")
    targets, named = watched(config, against, paths, shown)
    aliases = {alias: target.history.distribution for target in targets for alias in target.aliases}
    result = scan(
        ScanRequest(
            paths=paths,
            targets=targets,
            config=config,
            against=named,
            cache=cache_root(),
            progress=shown.step,
        )
    )
    if not result.files:
        raise InputError(f"there is no Python file in {text!r}")
    return _with_declared(replace(result, title=title((text,))), paths[0], aliases)


def _with_declared(report: Report, path: Path, aliases: Mapping[str, str]) -> Report:
    """The report with the releases that the code base itself asks for."""
    from driftwatch.project.declared import Requirements
    from driftwatch.project.ranges import choose
    from driftwatch.releases import EMPTY

    requirements = Requirements(path, [target.distribution for target in report.targets], aliases=aliases)
    targets = []
    for target in report.targets:
        own = choose(target.distribution, target.timeline, requirements=requirements)
        notices = tuple(dict.fromkeys((*own.notices, *target.notices))) if own.declared else target.notices
        targets.append(replace(target, declared=own.releases if own.declared else EMPTY, notices=notices))
    return replace(report, targets=tuple(targets))
