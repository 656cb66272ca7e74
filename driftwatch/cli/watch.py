"""``driftwatch watch``: what came out upstream, and which call sites of which code bases it breaks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import (
    config_option,
    configuration,
    one_target,
    output_option,
    target_option,
    targets_of,
    writable,
)
from driftwatch.cli.output import say
from driftwatch.cli.progress import Activity, activity
from driftwatch.cli.scan import FROM_INDEX, resolve, title
from driftwatch.cli.snapshot import storing

if TYPE_CHECKING:
    from driftwatch.project.config import Config
    from driftwatch.scan.code_bases import CodeBase

FORMATS = ("markdown", "json")


@click.command(
    "watch",
    epilog="""\b
Examples:
  driftwatch watch --code . --code pypi:vllm             what a new release does to these
  driftwatch watch --dry-run --json                      look, and record nothing
  driftwatch watch --pre                                 pre-releases too
  driftwatch watch --format markdown=body.md --format json=watch.json

\b
Code bases are those of --code, else `watch` in [tool.driftwatch]; `pypi:NAME` is the newest release.

\b
Exit status: 0 nothing new, or nothing that breaks a call site; 1 a new release breaks one; 2 usage,
configuration or input error, or a release that could not be read.""",
)
@click.option(
    "--code", multiple=True, metavar="PATH|pypi:NAME[==VERSION]", help="A code base to hold releases against."
)
@click.option("--pre", is_flag=True, help="Pre-releases too; they are recorded beside the others.")
@click.option("--dry-run", is_flag=True, help="Record nothing.")
@formats_option(FORMATS)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@output_option
@target_option
@config_option
def watch_command(
    code: tuple[str, ...],
    pre: bool,
    dry_run: bool,
    wanted: tuple[Wanted, ...],
    as_json: bool,
    output: Path | None,
    target_name: str | None,
    config_file: Path | None,
) -> int:
    """Find new upstream releases, and the calls that they break.

    New releases are recorded, and what they change in the API is told.
    What is printed is Markdown: the body of a pull request, or a text to read. No upstream code is ever run.
    """
    from driftwatch.report.watch import render, render_json
    from driftwatch.snapshot.sources.cache import cache_root
    from driftwatch.watching.watch import WatchRequest, watch

    settled = settle((*wanted, *((Wanted("json"),) if as_json else ())), output, FORMATS[0])
    config = configuration(config_file)
    targets = (one_target(config, target_name),) if target_name is not None else targets_of(config)
    if not dry_run:
        targets = tuple(writable(config, target) for target in targets)
    with activity("looking") as shown:
        request = WatchRequest(
            targets=targets,
            code=_code_bases(code, config, config_file, shown),
            pre=pre,
            write=not dry_run,
            cache=cache_root(),
            title=shown.title,
            progress=lambda done, total, release: shown.step(f"{done + 1} of {total}: {release}" if release else ""),
        )
        with storing(targets[0]):
            news = watch(request)
    deliver(settled, [render_json(news) if each.name == "json" else render(news) for each in settled])
    if any(each.failed for each in news):
        for failure in (failure for each in news for failure in each.failed):
            say(f"error: {failure.release}: {failure.error.message}")
        return 2
    return 1 if any(each.breaks for each in news) else 0


def _code_bases(
    named: Sequence[str], config: Config, config_file: Path | None, shown: Activity
) -> tuple[CodeBase, ...]:
    from driftwatch.scan.code_bases import CodeBase

    found: list[CodeBase] = []
    for word in named or config.watch:
        # A path in the configuration starts at its file, one on the command line where the person is.
        written = word
        if not named and config.folder is not None and not word.startswith(FROM_INDEX):
            written = os.path.relpath(config.folder / word)
        paths, applied = resolve((written,), config_file, shown)
        name = title((written,))
        if word.startswith(FROM_INDEX) and "==" not in word:
            # The newest, whatever that is today: its folder says which.
            name = " ".join(paths[0].name.rsplit("-", 1))
        found.append(CodeBase(name, paths, applied))
    return tuple(found)
