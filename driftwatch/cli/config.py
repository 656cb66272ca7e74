"""``driftwatch config``: what applies to a scan, and where each value comes from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.options import (
    FILE,
    config_option,
    configuration,
    format_option,
    history_of,
    output_option,
    targets_of,
)
from driftwatch.cli.output import emit
from driftwatch.errors import DriftwatchError, InputError

if TYPE_CHECKING:
    from driftwatch.snapshot.model.history import History
    from driftwatch.targets.target import Target


@click.command(
    "config",
    epilog="""\b
Examples:
  driftwatch config                     what a scan of this folder would go by
  driftwatch config src --format json

\b
The nearest driftwatch.toml, or pyproject.toml with [tool.driftwatch], from PATH upward is the only one
that counts. Options of a command come before it.""",
)
@click.argument("path", type=FILE, default=".", metavar="[PATH]")
@format_option("text", "json")
@output_option
@config_option
def config_command(path: Path, output_format: str, output: Path | None, config_file: Path | None) -> None:
    """Show the settings that apply, and where each comes from.

    It also says which releases a scan of PATH would check, and why.
    """
    from driftwatch.project.applied import applied
    from driftwatch.project.config import discover
    from driftwatch.report.applied import render, render_json
    from driftwatch.report.styled import Look, look

    if not path.exists():
        raise InputError(f"{str(path)!r} does not exist")
    config = configuration(config_file) if config_file is not None else discover(path)
    shown = applied(config, [(target, _history(target)) for target in targets_of(config)], path)
    if output_format == "json":
        emit(render_json(shown), output, for_programs=True)
    else:
        emit(render(shown, Look() if output else look(sys.stdout)), output)


def _history(target: Target) -> History | DriftwatchError:
    try:
        return history_of(target)
    except DriftwatchError as error:
        return error
