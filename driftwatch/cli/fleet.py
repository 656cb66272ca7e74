"""``driftwatch fleet``: many code bases against the releases of a library, unit by unit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.against import against_option
from driftwatch.cli.formats import Wanted, deliver, formats_option, settle
from driftwatch.cli.options import FILE, config_option, configuration, output_option, targets_of
from driftwatch.cli.output import say
from driftwatch.errors import UsageError
from driftwatch.system.subprocesses import processes

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from driftwatch.fleet.merged import Merged

FORMATS = ("text", "json", "csv", "html")


@click.command(
    "fleet",
    epilog="""\b
Examples:
  driftwatch fleet fleet.txt --format html=fleet.html --format json=fleet.json
  driftwatch fleet fleet.toml --against '>=0.6.0' --jobs 8
  driftwatch fleet fleet.txt --dask tcp://scheduler:8786     the units on a Dask cluster

\b
FILE has a code base to a line (# begins a remark), or `code = [...]` and `against = [...]` in TOML:
a folder, pypi:NAME[==VERSION], git:FOLDER@REF; pypi:NAME>=1.0 is each release of a range, and
dependents:flashinfer-python the projects that are known to use it. Rows are kept in --results, so that
a run which was interrupted goes on, and the next one costs only what changed.

\b
It is no check: findings do not change the exit status, which is 0, or 2 for a usage, configuration or
input error, also where only one of the code bases cannot be looked at: the others stand.""",
)
@click.argument("file", type=FILE, metavar="FILE")
@against_option("default: those of the list, else all known.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; default: as many as there are cores.")
@click.option("--dask", metavar="SCHEDULER", help="Have the units done by a Dask cluster: the scheduler's address.")
@click.option("--results", type=FILE, metavar="FOLDER", help="Where rows are kept; default: the user's cache.")
@formats_option(FORMATS)
@output_option
@config_option
def fleet_command(
    file: Path,
    against: tuple[str, ...],
    jobs: int | None,
    dask: str | None,
    results: Path | None,
    wanted: tuple[Wanted, ...],
    output: Path | None,
    config_file: Path | None,
) -> int:
    """Hold many code bases against the releases of a library.

    One code base is one unit of work, and the answers are put together: who breaks in which release, and which symbol
    is used by whom and how, is one page, one JSON or one table.
    """
    import json

    from driftwatch.fleet.kept import FOLDER
    from driftwatch.fleet.listing import read_fleet
    from driftwatch.fleet.merged import merge
    from driftwatch.fleet.run import FleetRequest, run
    from driftwatch.fleet.unit import Question, timelines
    from driftwatch.scan.libraries import from_anywhere, strangers
    from driftwatch.snapshot.sources.cache import cache_root
    from driftwatch.snapshot.sources.index import PackageIndex

    if dask is not None and jobs is not None:
        raise UsageError("--jobs is for processes on this machine, --dask for a cluster", "leave one of them away")
    settled = settle(wanted, output, FORMATS[0], (str(file),))
    config = configuration(config_file)
    targets = targets_of(config)
    with PackageIndex() as index, processes() as method:

        def releases(name: str) -> Sequence[str]:
            return [str(version) for version in index.project(name).finals()]

        fleet = read_fleet(file, targets, releases)
        question = Question(
            json.dumps([dict(table) for table in config.targets], sort_keys=True, default=str),
            str(config.folder) if config.folder is not None else None,
            tuple(map(from_anywhere, against or fleet.against)),
        )
        for name in strangers(targets, question.against):
            say(f"{name} is not set up: reading its releases")
        ran = run(
            FleetRequest(
                fleet,
                _cluster(dask) if dask is not None else _processes(jobs or os.cpu_count() or 1, method),
                results or cache_root() / FOLDER,
                question,
                lambda done, total, name, how: say(f"[{done}/{total}] {name}: {how}"),
            ),
            index,
        )
    merged = merge(ran.rows, timelines(question))
    deliver(settled, [_rendered(each, merged) for each in settled])
    for name, reason in merged.missing:
        say(f"error: {name}: {reason}")
    return 2 if merged.missing else 0


def _rendered(each: Wanted, merged: Merged) -> str:
    from driftwatch.fleet import forms, page
    from driftwatch.report.styled import Look, look

    if each.name == "text":
        return forms.render_text(merged, Look() if each.file is not None else look(sys.stdout))
    return {"json": forms.render_json, "csv": forms.render_csv, "html": page.render}[each.name](merged)


def _processes(number: int, method: str) -> Callable[[], Executor]:
    """Processes of this machine. They run nothing of the working folder, and end when the run is called off.

    Else each would first do what is waiting for it: the interpreter's own way with an interrupt makes it a result.
    """
    import signal
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    off = (signal.SIGINT, signal.SIG_DFL)
    return lambda: ProcessPoolExecutor(number, get_context(method), signal.signal, off)


def _cluster(address: str) -> Callable[[], Executor]:
    """A Dask cluster, which tries again by itself what a lost worker had."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--dask needs Dask", "pip install 'driftwatch[fleet]'") from None

    def make() -> Executor:
        try:
            client = Client(address, timeout=30)
        except OSError as error:
            raise UsageError(f"there is no Dask scheduler at {address}: {error}") from None
        executor: Executor = client.get_executor(pure=False, retries=2)
        return executor

    return make
