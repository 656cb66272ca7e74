"""``driftwatch baseline``: take what a code base has now as known, so that only what is new is told."""

from __future__ import annotations

from pathlib import Path

import click

from driftwatch.cli.against import against_option
from driftwatch.cli.options import FILE, config_option, own_place, watched
from driftwatch.cli.output import emit, say
from driftwatch.cli.progress import activity
from driftwatch.cli.scan import resolve
from driftwatch.errors import InputError

DEFAULT = "driftwatch-baseline.json"


@click.group("baseline")
def baseline_command() -> None:
    """Accept today's findings, so that only new ones are told.

    A known finding comes back when it breaks in a release that the file does not name.
    """


@baseline_command.command(
    "write",
    epilog=f"""\b
Examples:
  driftwatch baseline write                      {DEFAULT}, or the configured file
  driftwatch baseline write -o known.json src tests

\b
Name the file with --baseline or with `baseline` in [tool.driftwatch]. An entry holds the path in the
project, no line, and the releases it is known for.""",
)
@click.argument("inputs", nargs=-1, metavar="[PATH]...")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Where to write it; '-' prints it.")
@against_option()
@config_option
def write_command(
    inputs: tuple[str, ...],
    output: Path | None,
    against: tuple[str, ...],
    config_file: Path | None,
) -> None:
    """Write a baseline of today's errors and warnings.

    What a comment or a pattern of the configuration suppresses needs no entry, and gets none.
    """
    from dataclasses import replace

    from driftwatch.findings.finding import Severity
    from driftwatch.findings.suppress import baseline_text
    from driftwatch.report.phrases import count
    from driftwatch.scan.pipeline import ScanRequest, scan
    from driftwatch.snapshot.sources.cache import cache_root

    with activity("looking") as shown:
        paths, config = resolve(inputs or (".",), config_file, shown)
        place = output or own_place(
            config,
            config.baseline or Path(DEFAULT),
            "the baseline",
            "name the file on the command line: --output FILE",
        )
        targets, against = watched(config, against, paths, shown)
        shown.title("analysing")
        result = scan(
            ScanRequest(
                paths=paths,
                targets=targets,
                # A baseline that is there already must hide nothing from the one that replaces it.
                config=replace(config, baseline=None),
                against=against,
                cache=cache_root(),
                progress=shown.step,
            )
        )
    if not result.files:
        raise InputError(f"there is no Python file in {', '.join(repr(text) for text in inputs or ('.',))}")
    timelines = {target.distribution: target.timeline for target in result.targets}
    printed = str(place) == "-"
    emit(baseline_text(result.findings, timelines), None if printed else place, for_programs=True)
    entries = sum(finding.severity is not Severity.NOTE for finding in result.findings)
    if not printed:
        say(f"{place}: {count(entries, 'finding')} taken as known")
    for diagnostic in result.diagnostics:
        where = diagnostic.path if diagnostic.line is None else f"{diagnostic.path}:{diagnostic.line}"
        say(f"{where}: {diagnostic.message}")
