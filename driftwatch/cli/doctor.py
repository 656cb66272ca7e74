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
  driftwatch doctor --after tilelang                 import it first, as an engine does
  driftwatch doctor --require active                 a health check: run the path, on all GPUs

Exit status: 0 nothing is wrong with what is installed, and --require is met; 1 otherwise; 2 usage error.""",
)
@click.option("--python", metavar="EXE", help="The Python whose environment to look at; default: this one.")
@click.option("--import/--no-import", "importing", default=True, help="Import the library, in a process of its own.")
@click.option("--after", multiple=True, metavar="MODULE", help="Import this first; may be given several times.")
@click.option("--run", "running", is_flag=True, help="Run the path as well, in one process for each GPU.")
@click.option(
    "--require",
    type=click.Choice(["active", "can-run"]),
    help="Exit with 1 unless the verdict is this, or better; active implies --run.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=120, show_default=True, help="Seconds for an import, or a run."
)
@format_option("text", "json")
def doctor_command(
    python: str | None,
    importing: bool,
    after: tuple[str, ...],
    running: bool,
    require: str | None,
    timeout: float,
    output_format: Literal["text", "json"],
) -> int:
    """Say whether the accelerated path can run, and why not.

    Nothing is imported in driftwatch's own process, and no process that it starts has more than its time.
    """
    from driftwatch.adapter.write import make_adapter
    from driftwatch.doctor.case import Recorded
    from driftwatch.doctor.examine import examine
    from driftwatch.doctor.model import State
    from driftwatch.doctor.needs import needs_of
    from driftwatch.errors import UsageError
    from driftwatch.report.doctor import render, render_json
    from driftwatch.report.styled import look
    from driftwatch.rules.advisories import load
    from driftwatch.rules.recorded_kernels import with_recorded

    targets = targets_of(configuration(None))
    recorded: dict[str, Recorded] = {}
    adapters: dict[str, str] = {}
    for target in targets:
        # Without its snapshots one can still say what is installed.
        with contextlib.suppress(SnapshotError):
            history = history_of(target)
            known = with_recorded(load(target.data, history.timeline), history)
            recorded[target.distribution] = Recorded(history.timeline, known)
            if running or require == "active":
                # A target without a policy has no adapter, and nothing to run.
                with contextlib.suppress(UsageError):
                    adapters[target.distribution] = make_adapter(history, target).text
    found = examine(
        [needs_of(target) for target in targets],
        recorded,
        python=python,
        importing=importing,
        after=after,
        adapters=adapters,
        seconds=timeout,
    )
    emit(render_json(found) if output_format == "json" else render(found, look(sys.stdout)))
    wanted = {"active": State.ACTIVE, "can-run": State.CAN_RUN, None: State.CANNOT_RUN}[require]
    return 0 if found.healthy and found.reaches(wanted) else 1
