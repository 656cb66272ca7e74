"""``driftwatch history`` and ``driftwatch diff``: what changed in a library's API, and when."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from driftwatch.cli.completion import releases, symbols
from driftwatch.cli.options import (
    asked_target,
    config_option,
    configuration,
    format_option,
    history_of,
    one_target,
    output_option,
    target_option,
    targets_of,
)
from driftwatch.cli.output import emit
from driftwatch.cli.progress import activity


@click.command(
    "history",
    epilog="""\b
Examples:
  driftwatch history flashinfer.comm.allreduce_fusion    a function
  driftwatch history allreduce_fusion                    the same: short names do, where they are unique
  driftwatch history flashinfer.comm:MoeAlltoAll         a class with its members
  driftwatch history allreduce_fusion --with ../flashinfer    and what a working tree makes of it""",
)
@click.argument("symbol", shell_complete=symbols)
@click.option(
    "--with",
    "states",
    multiple=True,
    metavar="STATE",
    help="A state beside the releases: a folder, git:FOLDER@REF, an archive, a version that is not recorded.",
)
@format_option("text", "json")
@output_option
@target_option
@config_option
def history_command(
    symbol: str,
    states: tuple[str, ...],
    output_format: str,
    output: Path | None,
    target_name: str | None,
    config_file: Path | None,
) -> None:
    """Show what changed in one symbol, release by release.

    SYMBOL is a dotted path, module:qualname, or the end of a path where that is unique.
    """
    from driftwatch.report.history import render, render_json
    from driftwatch.report.styled import Look, look
    from driftwatch.rules.advisories import load
    from driftwatch.snapshot.model.lookup import find_in

    config = configuration(config_file)
    targets = (one_target(config, target_name),) if target_name else targets_of(config)
    histories = [history_of(target) for target in targets]
    if states:
        from driftwatch.project.states import beside

        with activity("looking"):
            histories = beside(targets, states)
    history, refs = find_in(histories, symbol)
    data = next(target.data for target in targets if target.distribution == history.distribution)
    kernels = load(data, history.timeline).kernels
    if output_format == "json":
        emit(render_json(history, refs, kernels), output, for_programs=True)
    else:
        emit(render(history, refs, Look() if output else look(sys.stdout), kernels), output)


@click.command(
    "diff",
    epilog="""\b
Examples:
  driftwatch diff 0.7.2.post1 0.7.4              what an upgrade brings
  driftwatch diff 0.7.2.post1 0.7.4 --all        every change, in submodules too
  driftwatch diff 0.7.4 ../flashinfer            what a working tree changes
  driftwatch diff urllib3==1.26.18 2.2.3         a library that nobody has set up

\b
OLD and NEW are releases, folders, git:FOLDER@REF or archives, as `driftwatch impact` takes them.""",
)
@click.argument("old", shell_complete=releases)
@click.argument("new", shell_complete=releases)
@click.option("--all", "everything", is_flag=True, help="List every change, also those that break nothing.")
@format_option("text", "json")
@output_option
@target_option
@config_option
def diff_command(
    old: str,
    new: str,
    everything: bool,
    output_format: str,
    output: Path | None,
    target_name: str | None,
    config_file: Path | None,
) -> None:
    """Show what changed in the API between two releases or states.

    What breaks stands first. What no signature shows is told as well.
    """
    from driftwatch.project.states import compared
    from driftwatch.report.diff import Comparison, render, render_json
    from driftwatch.report.styled import Look, look
    from driftwatch.rules.advisories import load
    from driftwatch.rules.behaviour import behaviour_changes
    from driftwatch.snapshot.comparison.diff import diff

    with activity("looking") as shown:
        target, texts = asked_target(configuration(config_file), target_name, (old, new), shown)
        before, after, history = compared(target, texts[0], texts[1])
    steps = (before.release, after.release)
    behaviour = behaviour_changes(load(target.data, history.timeline), history.timeline, *steps)
    comparison = Comparison(history.distribution, history.module, steps, diff(before, after), after.symbols, behaviour)
    if output_format == "json":
        emit(render_json(comparison), output, for_programs=True)
    else:
        emit(render(comparison, Look() if output else look(sys.stdout), everything=everything), output)
