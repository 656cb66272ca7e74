"""``driftwatch deps``: do the ranges that a project declares for its dependencies hold?"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import config_option, output_option
from driftwatch.cli.output import say
from driftwatch.cli.progress import Activity, activity
from driftwatch.cli.scan import FROM_INDEX, resolve, status_of, title
from driftwatch.errors import DriftwatchError, InputError, UsageError
from driftwatch.report import FORMATS

WITH_TABLE = ("text", "markdown")
"""The formats with a line for each requirement; others tell what is not checked with the files they could not read."""

UNREACHED = "the package index could not be reached, so only releases that were known before are checked"

if TYPE_CHECKING:
    from driftwatch.flow.uses import Diagnostic
    from driftwatch.project.dependencies import Dependency
    from driftwatch.releases import ReleaseSet
    from driftwatch.scan.pipeline import Watched
    from driftwatch.scan.report_model import Asked, RequirementVerdict
    from driftwatch.snapshot.commands.on_demand import Offered


@click.command(
    "deps",
    epilog="""\b
Examples:
  driftwatch deps                        every runtime dependency, over all the releases that are allowed
  driftwatch deps --lowest               only the lowest release of each, as a resolver may choose it
  driftwatch deps --extra http           with what an extra or a dependency group asks for
  driftwatch deps --write                raise the lower bounds that do not hold
  driftwatch deps pypi:pypi-simple==1.8.0

\b
Requirements are read from pyproject.toml, the metadata of a built distribution, setup.cfg or
requirements.txt, whichever is there first. Releases come from the package index; nothing is
installed, and nothing is run. A release for no Python that the project is for does not count.

\b
Exit status: 0 every range holds, 1 findings, 2 usage, configuration or input error.""",
)
@click.argument("place", default=".", metavar="[PATH | pypi:NAME==VERSION]")
@click.option("--lowest", is_flag=True, help="Only the lowest release that each range allows.")
@click.option("--extra", "extras", multiple=True, metavar="NAME", help="An extra or a dependency group as well.")
@click.option("--write", is_flag=True, help="Raise the lower bounds that do not hold, where they are declared.")
@formats_option(list(FORMATS))
@output_option
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "never"]), help="What makes the exit status 1; default: error."
)
@click.option("--unresolved", is_flag=True, help="List the places whose meaning could not be followed.")
@config_option
def deps_command(
    place: str,
    lowest: bool,
    extras: tuple[str, ...],
    write: bool,
    wanted: tuple[Wanted, ...],
    output: Path | None,
    fail_on: str | None,
    unresolved: bool,
    config_file: Path | None,
) -> int:
    """Check the code against the ranges of its dependencies.

    A requirement such as `requests>=2.20` is a promise that nobody checks: lower bounds rot, and caps are guesses.
    """
    from driftwatch.project.dependencies import dependencies
    from driftwatch.report import render
    from driftwatch.report.dependencies import verdicts
    from driftwatch.report.options import RenderOptions
    from driftwatch.report.styled import Look, look
    from driftwatch.report.text import summary
    from driftwatch.scan.pipeline import ScanRequest, scan
    from driftwatch.scan.report_model import Asked
    from driftwatch.snapshot.sources.cache import cache_root

    if write and place.startswith(FROM_INDEX):
        raise UsageError("--write is for a project of your own, not for a release from the package index")
    if write and lowest:
        raise UsageError("--write needs all releases, to know from which on the code works", "leave out --lowest")
    start = time.monotonic()
    settled = settle(wanted, output, next(iter(FORMATS)), (place,))
    with activity("looking") as shown:
        paths, config = resolve((place,), config_file, shown)
        needed = dependencies(paths[0], extras, title((place,)))
        found: list[Watched] = []
        hint: str | None = None
        asked: list[Asked] = []
        for each in needed:
            why_not, but = each.why_not, ""
            if not why_not:
                try:
                    known = _watched(each, paths, shown, lowest=lowest)
                    but = UNREACHED if any(one.stale for one in known) else ""
                    found += known
                except DriftwatchError as error:
                    why_not, hint = error.message, error.hint
            written = each.declared
            asked.append(Asked(each.distribution, each.requirement, written.path, written.line, why_not, but, lowest))
        if not needed:
            say(f"{title((place,))} requires no other distribution")
            return 0
        shown.title("analysing")
        result = None
        if found:
            told = {watched.history.distribution for watched in found}
            result = scan(
                ScanRequest(
                    paths=paths,
                    targets=tuple(found),
                    config=replace(config, against=()),
                    against=tuple(text for each in needed if each.distribution in told for text in each.against),
                    fail_on=fail_on,
                    cache=cache_root(),
                    progress=shown.step,
                )
            )
    if result is None:
        raise InputError("; ".join(f"{each.distribution} is not checked: {each.why_not}" for each in asked), hint)
    status = status_of(result)
    report = replace(result, title=title((place,)), seconds=time.monotonic() - start)
    report = replace(report, dependencies=verdicts(report, asked))
    whole = replace(report, diagnostics=(*report.diagnostics, *(_not_told(each) for each in asked if each.why_not)))
    rendered = [
        render(
            one.name,
            report if one.name in WITH_TABLE else whole,
            RenderOptions(Look() if one.file is not None else look(sys.stdout), unresolved),
        )
        for one in settled
    ]
    deliver(settled, rendered)
    if all(one.file is not None for one in settled):
        say(summary(report))
    if write:
        _write(needed, report.dependencies, paths[0])
    return status


def _not_told(asked: Asked) -> Diagnostic:
    from driftwatch.flow.uses import Diagnostic

    return Diagnostic(asked.path, asked.line, f"{asked.distribution} is not checked: {asked.why_not}", False)


def _watched(each: Dependency, paths: Sequence[Path], shown: Activity, *, lowest: bool) -> tuple[Watched, ...]:
    from driftwatch.scan.libraries import strange

    def select(offered: Offered) -> ReleaseSet:
        choose = each.lowest if lowest else each.looked_at
        return choose(offered.timeline, offered.requires_python)

    return strange(each.distribution, each.against, paths, shown=shown, select=select)


def _write(needed: Sequence[Dependency], verdicts: Sequence[RequirementVerdict], place: Path) -> None:
    """Raise the bounds that do not hold, each where it is declared, and say what was done."""
    from driftwatch.project.bounds import raised
    from driftwatch.project.discovery import project_of
    from driftwatch.system import atomic_files

    top = project_of([place.resolve()])
    for dependency, verdict in zip(needed, verdicts, strict=True):
        if verdict.state != "breaks" or not verdict.lowest:
            continue
        for way in dependency.ways:
            file = top / way.declared.path
            try:
                text = atomic_files.read(file).decode("utf-8")
                atomic_files.write(file, raised(text, way.declared, verdict.lowest).encode(), mode=file.stat().st_mode)
            except (OSError, UnicodeDecodeError, DriftwatchError) as error:
                say(f"{dependency.requirement} stays as it is: {getattr(error, 'message', error)}")
                continue
            say(f"{way.declared.path}:{way.declared.line}: {dependency.distribution} from {verdict.lowest} on")
