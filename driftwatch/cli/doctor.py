"""``driftwatch doctor``: what this environment has, and whether the accelerated path can run in it."""

from __future__ import annotations

import contextlib
import sys
from typing import Literal

import click

from driftwatch.cli.options import configuration, format_option, history_of, targets_of
from driftwatch.cli.output import emit
from driftwatch.errors import SnapshotError


@click.command(
    "doctor",
    epilog="""\b
Examples:
  driftwatch doctor                                  this Python environment
  driftwatch doctor --python .venv/bin/python        another one
  driftwatch doctor --import                         import the library too, in a process of its own

Exit status: 0 nothing is wrong with what is installed, 1 something is, 2 usage error.""",
)
@click.option("--python", metavar="EXE", help="The Python whose environment to look at; default: this one.")
@click.option("--import", "attempt", is_flag=True, help="Import the library, in a process of its own.")
@format_option("text", "json")
def doctor_command(python: str | None, attempt: bool, output_format: Literal["text", "json"]) -> int:
    """Say what an environment has, and whether the accelerated path can run in it.

    Nothing is imported unless --import asks for it: versions come from package metadata, GPUs from nvidia-smi.
    """
    from driftwatch.doctor import examine, needs_of
    from driftwatch.report.doctor import render, render_json
    from driftwatch.report.styled import look

    targets = targets_of(configuration(None))
    known: dict[str, tuple[str, ...]] = {}
    for target in targets:
        # Without its snapshots one can still say what is installed.
        with contextlib.suppress(SnapshotError):
            known[target.distribution] = history_of(target).timeline.versions
    found = examine([needs_of(target) for target in targets], known, python=python, attempt_import=attempt)
    emit(render_json(found) if output_format == "json" else render(found, look(sys.stdout)))
    return 0 if found.healthy else 1
