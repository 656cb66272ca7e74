"""``driftwatch deps``: do the ranges that a project declares for its dependencies hold?"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import config_option, on_demand_target, output_option
from driftwatch.cli.output import say
from driftwatch.cli.progress import Activity, activity
from driftwatch.cli.scan import report_of, resolve, status_of, title
from driftwatch.errors import DriftwatchError, InputError
from driftwatch.report import FORMATS

if TYPE_CHECKING:
    from driftwatch.flow.uses import Diagnostic
    from driftwatch.project.declared import Declaration
    from driftwatch.releases import ReleaseSet, Timeline
    from driftwatch.scan import Watched

MOST_RELEASES = 200
"""Of a dependency with more releases than this, the newest are looked at."""


@dataclass(frozen=True, slots=True)
class _Dependency:
    """A distribution that the project requires: where, and by which specifiers; each is one way to install it."""

    distribution: str
    declared: Declaration
    specifiers: tuple[str, ...]

    @property
    def against(self) -> tuple[str, ...]:
        return tuple(f"{self.distribution}{specifier}" for specifier in self.specifiers)


@click.command(
    "deps",
    epilog="""\b
Examples:
  driftwatch deps                        every runtime dependency, over all the releases that are allowed
  driftwatch deps --lowest               only the lowest release of each, as a resolver may choose it
  driftwatch deps --extra http           with what an extra or a dependency group asks for
  driftwatch deps pypi:pypi-simple==1.8.0

\b
Requirements are read from pyproject.toml, the metadata of a built distribution, setup.cfg or
requirements.txt, whichever is there first. Releases come from the package index; nothing is
installed, and nothing is run.

\b
Exit status: 0 every range holds, 1 findings, 2 usage, configuration or input error.""",
)
@click.argument("place", default=".", metavar="[PATH | pypi:NAME==VERSION]")
@click.option("--lowest", is_flag=True, help="Only the lowest release that each range allows.")
@click.option("--extra", "extras", multiple=True, metavar="NAME", help="An extra or a dependency group as well.")
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
    wanted: tuple[Wanted, ...],
    output: Path | None,
    fail_on: str | None,
    unresolved: bool,
    config_file: Path | None,
) -> int:
    """Check the code against the ranges of its dependencies.

    A requirement such as `requests>=2.20` is a promise that nobody checks: lower bounds rot, and caps are guesses.
    """
    from driftwatch.report import render
    from driftwatch.report.dependencies import table
    from driftwatch.report.options import RenderOptions
    from driftwatch.report.styled import Look, look
    from driftwatch.report.text import summary
    from driftwatch.scan import ScanRequest, scan
    from driftwatch.snapshot.sources.cache import cache_root

    start = time.monotonic()
    settled = settle(wanted, output, next(iter(FORMATS)), (place,))
    with activity("looking") as shown:
        paths, config = resolve((place,), config_file, shown)
        dependencies = _dependencies(paths[0], extras)
        found: dict[str, Watched] = {}
        untold: list[Diagnostic] = []
        for each in dependencies:
            try:
                found[each.distribution] = _watched(each, paths, shown, lowest=lowest)
            except DriftwatchError as error:
                untold.append(_not_told(each, error.message))
        if not found:
            raise InputError(untold[0].message if untold else "the project has no dependency that can be checked")
        shown.title("analysing")
        result = scan(
            ScanRequest(
                paths=paths,
                targets=tuple(found.values()),
                config=replace(config, against=()),
                against=tuple(text for each in dependencies if each.distribution in found for text in each.against),
                fail_on=fail_on,
                cache=cache_root(),
                progress=shown.step,
            )
        )
    status = status_of(result)
    result = replace(result, diagnostics=(*result.diagnostics, *untold))
    report = report_of(result, title((place,)), time.monotonic() - start)
    lines = {each.distribution: f"{each.distribution}{' or '.join(each.specifiers)}" for each in dependencies}
    rendered = []
    for one in settled:
        style = Look() if one.file is not None else look(sys.stdout)
        text = render(one.name, report, RenderOptions(style, unresolved))
        rendered.append(table(report, lines, style) + text if one.name == "text" else text)
    deliver(settled, rendered)
    if all(one.file is not None for one in settled):
        say(summary(report))
    return status


def _dependencies(path: Path, extras: Sequence[str]) -> list[_Dependency]:
    """What the project requires when it runs, and with the extras that are asked for, by distribution."""
    from driftwatch.project.declared import Requirements

    requirements = Requirements(path, None)
    declared = requirements.all_own()
    groups = {each.group for each in declared if each.group}
    for name in extras:
        if name not in groups:
            raise InputError(f"the project has no extra or group {name!r}", f"it has {', '.join(sorted(groups))}")
    found: dict[str, list[Declaration]] = {}
    for each in declared:
        if not each.group or each.group in extras:
            found.setdefault(each.distribution, []).append(each)
    if not found:
        broken = "; ".join(f"{notice.path}: {notice.message}" for notice in requirements.notices)
        raise InputError(f"no dependency is declared for {str(path)!r}{f' ({broken})' if broken else ''}")
    return [_dependency(name, own) for name, own in found.items()]


def _dependency(name: str, declared: Sequence[Declaration]) -> _Dependency:
    from packaging.requirements import Requirement

    specifiers = dict.fromkeys(
        str(Requirement(each.requirement).specifier) or ">=0" for each in declared if not each.url
    )
    return _Dependency(name, declared[0], tuple(specifiers))


def _watched(each: _Dependency, paths: Sequence[Path], shown: Activity, *, lowest: bool) -> Watched:
    from driftwatch.project.ranges import selected
    from driftwatch.releases import ReleaseSet

    if not each.specifiers:
        raise InputError(f"it comes from {each.declared.url}, not from the package index")

    def select(timeline: Timeline) -> ReleaseSet:
        allowed = selected(each.distribution, timeline, each.against).mask
        first = allowed & -allowed
        if lowest:
            return ReleaseSet(first)
        # What came after the range is looked at as well: whether a cap is needed is worth knowing.
        every = (1 << len(timeline)) - first
        newest = ((1 << MOST_RELEASES) - 1) << max(len(timeline) - MOST_RELEASES, 0)
        return ReleaseSet(every & newest or first)

    return on_demand_target(each.distribution, each.against, paths, shown=shown, select=select)


def _not_told(each: _Dependency, reason: str) -> Diagnostic:
    from driftwatch.flow.uses import Diagnostic

    return Diagnostic(each.declared.path, each.declared.line, f"{each.distribution} is not checked: {reason}", False)
