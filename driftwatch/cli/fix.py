"""``driftwatch fix``: the patch that makes findings go away, each repair proven before it is offered."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from driftwatch.cli.against import against_option
from driftwatch.cli.completion import codes
from driftwatch.cli.options import carried, config_option, finder, watched
from driftwatch.cli.output import emit, say, write_all_bytes
from driftwatch.cli.progress import activity
from driftwatch.cli.scan import FROM_INDEX, resolve
from driftwatch.errors import InputError, UsageError


@click.command(
    "fix",
    epilog="""\b
Examples:
  driftwatch fix                        the repairs of this code base, as a diff
  driftwatch fix --write                the same, into the files
  driftwatch fix --select DW101 src     only keywords that some release does not take
  driftwatch fix --pins --write         also require releases that work
  driftwatch fix | git apply            what --write does, by way of git

\b
A repair is offered when a scan of the changed text has shown, in memory and for every checked release,
that its findings are gone, that no other has come, and that each call that worked is still reached with
the same arguments. Nothing of the project is run. Files that are generated or vendored stay as they are.

\b
Exit status: 0 nothing to fix, 1 a diff is shown or findings are left, 2 usage, configuration or input error.""",
)
@click.argument("inputs", nargs=-1, metavar="[PATH]...")
@against_option()
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=codes,
    help="Only what these rules find: codes or their beginnings, with commas.",
)
@click.option("--diff/--write", "only_diff", default=True, help="Print a unified diff, which is the default, or write.")
@click.option("--unsafe", is_flag=True, help="Also repairs that leave something out where a release does not take it.")
@click.option("--pins", "with_pins", is_flag=True, help="Also require releases that work, where any are declared.")
@click.option("--allow-dirty", is_flag=True, help="Write to files with changes that are not committed.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of analysed files.")
@config_option
def fix_command(
    inputs: tuple[str, ...],
    against: tuple[str, ...],
    select: tuple[str, ...],
    only_diff: bool,
    unsafe: bool,
    with_pins: bool,
    allow_dirty: bool,
    no_cache: bool,
    config_file: Path | None,
) -> int:
    """Fix what a scan finds: a patch, or the files themselves.

    Each repair is proven before it is offered. What is not fixed is told with the reason.
    """
    from driftwatch.report.patch import diff, diff_of_pins, done, left, summary
    from driftwatch.report.safe import safe
    from driftwatch.scan.fix import Pins, fix, pins
    from driftwatch.scan.pipeline import ScanRequest
    from driftwatch.snapshot.sources.cache import cache_root

    if any(text.startswith(FROM_INDEX) for text in inputs):
        raise UsageError("fix is for files of your own, not for a release from the package index")
    with activity("looking") as shown:
        paths, config = resolve(inputs or (".",), config_file, shown)
        targets, against = watched(config, against, paths, shown)
        shown.title("analysing")
        request = ScanRequest(
            paths=paths,
            targets=targets,
            config=config,
            against=against,
            cache=None if no_cache else cache_root(),
            progress=shown.step,
            find=finder(config, shown),
            carried=carried(shown),
        )
        fixed = fix(request, select=select, unsafe=unsafe)
        bounds = pins(fixed.after) if with_pins else Pins({})
    if not fixed.before.files:
        raise InputError(f"there is no Python file in {', '.join(repr(text) for text in inputs or ('.',))}")
    if only_diff:
        text = diff(fixed.offer.files) + diff_of_pins(fixed.before.sources.project, bounds.files)
        emit("\n".join(map(safe, text.split("\n"))) if sys.stdout.isatty() else text, for_programs=True)
    else:
        if not allow_dirty:
            _must_be_committed([*(file.place for file in fixed.offer.files), *bounds.files])
        changed = [(file.place, file.after) for file in fixed.offer.files]
        write_all_bytes([*changed, *((place, after) for place, (_, after) in bounds.files.items())])
        for line in done(fixed.offer):
            say(line)
    for line in left(fixed.offer):
        say(line)
    for each in bounds.changed:
        say(f"{each.path}:{each.line}: `{each.before}` {'is now' if not only_diff else 'would be'} `{each.after}`")
    for declared, reason in bounds.refused:
        say(f"{declared.path}:{declared.line}: not changed: {reason}")
    say(summary(fixed.offer, written=not only_diff))
    failed = fixed.before.failed if only_diff else fixed.after.failed
    if only_diff:
        return 1 if failed or fixed.offer.files or bounds.files else 0
    return 1 if failed and not bounds.changed else 0


def _must_be_committed(files: list[Path]) -> None:
    from driftwatch.project.committed import uncommitted

    dirty = uncommitted(files)
    if dirty:
        names = ", ".join(str(path) for path in dirty[:3]) + (f" and {len(dirty) - 3} more" if len(dirty) > 3 else "")
        raise UsageError(f"changes that are not committed: {names}", "commit them, or give --allow-dirty")
