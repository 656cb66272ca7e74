"""``driftwatch snapshot``: the recorded API of each release of a library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.completion import releases as recorded
from driftwatch.cli.options import (
    config_option,
    configuration,
    format_option,
    one_target,
    output_option,
    target_option,
    targets_of,
    writable,
)
from driftwatch.cli.output import emit
from driftwatch.cli.progress import Activity, activity
from driftwatch.errors import InputError, SnapshotError

if TYPE_CHECKING:
    from driftwatch.targets.target import Target


@click.group(
    "snapshot",
    epilog="""\b
Examples:
  driftwatch snapshot update                 record the releases that came out since
  driftwatch snapshot add 0.7.5rc1           one release by hand: VERSION or NAME==VERSION
  driftwatch snapshot add git:../lib@main    a branch, a folder, an archive: kept in your own store, and
                                             meant only where it is named: --against ==0.7.4+g1a2b3c4d5
  driftwatch snapshot verify --sample 5      make some again, and compare byte for byte""",
)
def snapshot_command() -> None:
    """Record the API of each release of a library.

    No code of the library is ever run.
    """


@snapshot_command.command("update")
@click.option("--pre", is_flag=True, help="Pre-releases too.")
@target_option
@config_option
def update_command(pre: bool, target_name: str | None, config_file: Path | None) -> int:
    """Record the releases that the package index has added."""
    from driftwatch.report.snapshots import render_update
    from driftwatch.report.styled import look
    from driftwatch.snapshot.commands.update import update

    failed = False
    config = configuration(config_file)
    for target in [writable(config, target) for target in _chosen(target_name, config_file)]:
        previous = _newest(target)
        with storing(target), activity(f"updating {target.distribution}") as shown:
            result = update(target, pre=pre, progress=_counting(shown))
        emit(render_update(target, result, previous, look(sys.stdout)))
        failed = failed or bool(result.failed)
    return 2 if failed else 0


@snapshot_command.command("add")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@target_option
@config_option
def add_command(releases: tuple[str, ...], target_name: str | None, config_file: Path | None) -> int:
    """Record given releases.

    RELEASE is VERSION, NAME==VERSION, a folder, git:FOLDER@REF, a wheel, an sdist or 'installed'. What is
    no release goes into your own store, and counts only where it is named.
    """
    from driftwatch.report.snapshots import render_update
    from driftwatch.report.styled import look
    from driftwatch.snapshot.commands.update import add

    config = configuration(config_file)
    target = writable(config, one_target(config, target_name))
    previous = _newest(target)
    with storing(target), activity(f"reading {', '.join(releases)}"):
        result = add(target, releases)
    emit(render_update(target, result, previous, look(sys.stdout)))
    return 2 if result.failed else 0


@snapshot_command.command("list")
@format_option("text", "json")
@output_option
@target_option
@config_option
def list_command(output_format: str, output: Path | None, target_name: str | None, config_file: Path | None) -> None:
    """List the recorded releases, and what each was made from."""
    from driftwatch.report.snapshots import Recorded, render_records, render_records_json
    from driftwatch.report.styled import Look, look
    from driftwatch.snapshot.commands.update import early, list_, users_own

    targets = _chosen(target_name, config_file)
    found = [Recorded(target, list_(target), early(target), users_own(target)) for target in targets]
    if output_format == "json":
        emit(render_records_json(found), output, for_programs=True)
        return
    shape = Look() if output else look(sys.stdout)
    emit("\n".join(render_records(recorded, shape) for recorded in found), output)


@snapshot_command.command("remove")
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@target_option
@config_option
def remove_command(states: tuple[str, ...], target_name: str | None, config_file: Path | None) -> None:
    """Take states out of your own store.

    STATE is a version as `snapshot list` shows it. Releases stay.
    """
    from driftwatch.snapshot.commands.update import remove

    remove(one_target(configuration(config_file), target_name), states)


@snapshot_command.command("verify")
@click.argument("releases", nargs=-1, metavar="[RELEASE]...", shell_complete=recorded)
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Only so many, spread evenly over time.")
@target_option
@config_option
def verify_command(
    releases: tuple[str, ...], sample: int | None, target_name: str | None, config_file: Path | None
) -> int:
    """Make snapshots again, and compare them byte for byte.

    They are made from the artifacts that they were made from before.
    """
    from dataclasses import replace

    from driftwatch.report.snapshots import render_verify
    from driftwatch.report.styled import look
    from driftwatch.snapshot.commands.update import early
    from driftwatch.snapshot.commands.verify import verify
    from driftwatch.snapshot.store.store import EARLY

    status = 0
    targets = (one_target(configuration(config_file), target_name),) if releases else _chosen(target_name, config_file)
    if not releases:
        beside = [replace(each, snapshots=each.snapshots / EARLY, data=None) for each in targets if early(each)]
        targets = (*targets, *beside)
    for target in targets:
        with activity(f"verifying {target.distribution}") as shown:
            result = verify(target, releases or None, sample=sample, progress=_counting(shown))
        emit(render_verify(target, result, look(sys.stdout)))
        status = max(status, 2 if result.failed else 0 if result.right else 1)
    return status


def _chosen(name: str | None, config_file: Path | None) -> tuple[Target, ...]:
    config = configuration(config_file)
    return (one_target(config, name),) if name is not None else targets_of(config)


def _newest(target: Target) -> str | None:
    """The newest release that is recorded; None where there is none yet."""
    from driftwatch.snapshot.commands.update import list_

    try:
        records = list_(target)
    except SnapshotError:
        # Nothing yet, or damaged: what comes next says which.
        return None
    return records[-1].version if records else None


@contextmanager
def storing(target: Target) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"the snapshots in {target.snapshots} cannot be written: {reason}",
            "name a folder of your own with `snapshots` in [[tool.driftwatch.target]]",
        ) from None


def _counting(shown: Activity) -> Callable[[int, int, str], None]:
    """Progress, in releases."""

    def count(done: int, total: int, release: str) -> None:
        shown.step(f"{done + 1} of {total}: {release}" if release else "")

    return count
