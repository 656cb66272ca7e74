"""``driftwatch adapter``: write the module that calls whatever build is installed, or check one that was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwatch.cli.options import FILE, config_option, configuration, history_of, one_target, target_option
from driftwatch.cli.output import emit, say

if TYPE_CHECKING:
    from driftwatch.releases import Timeline


@click.group("adapter")
def adapter_command() -> None:
    """Write or check a module that fits whatever is installed.

    An adapter is one Python file. It calls the library's functions with what the installed build takes.
    """


@adapter_command.command(
    "write",
    epilog="""\b
Examples:
  driftwatch adapter write -o engine/fi_adapter.py
  driftwatch adapter write -o fi_adapter.py --against '>=0.6.0' --functions allreduce_fusion""",
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Where to write it; without it, it is printed.")
@click.option("--against", metavar="SPEC", help="The releases it is for (all by default).")
@click.option("--functions", metavar="NAMES", help="The functions it is for, separated by commas.")
@click.option("--split", is_flag=True, help="Two files: the adapter with its data, and its run time beside it.")
@target_option
@config_option
def write_command(
    output: Path | None,
    against: str | None,
    functions: str | None,
    split: bool,
    target_name: str | None,
    config_file: Path | None,
) -> None:
    """Write an adapter.

    The same releases, policy and driftwatch give the same bytes.
    """
    from driftwatch.adapter.write import ALL, make_adapter

    config = configuration(config_file)
    target = one_target(config, target_name)
    names = [name.strip() for name in (functions or "").split(",") if name.strip()]
    history = history_of(target)
    against = _specifier(history.timeline, against, ALL)
    made = make_adapter(
        history,
        target,
        against=against,
        functions=names,
        split=_runtime_name(output, split),
        more=config.adapter_policy,
    )
    if made.runtime is not None and output is not None:
        emit(made.runtime[1], output.with_name(made.runtime[0]), for_programs=True, is_source=True)
    emit(made.text, output, for_programs=True, is_source=True)
    if output is not None:
        say(f"{output}: {len(made.functions)} functions of {made.library}")


@adapter_command.command("check")
@click.argument("file", type=FILE)
@target_option
@config_option
def check_command(file: Path, target_name: str | None, config_file: Path | None) -> int:
    """Say whether an adapter FILE is up to date, and why not.

    The exit status is 1 when it is not.
    """
    from driftwatch.adapter.write import check_adapter

    config = configuration(config_file)
    target = one_target(config, target_name)
    checked = check_adapter(history_of(target), target, file, config.adapter_policy)
    if checked.current:
        emit(f"{file}: current\n")
        return 0
    emit("".join(f"{file}: {reason}\n" for reason in checked.reasons))
    say("hint: 'driftwatch adapter write' makes it again")
    return 1


def _runtime_name(output: Path | None, split: bool) -> str | None:
    """The name of the module for the run time, beside the file; None for one file."""
    from driftwatch.errors import UsageError

    if not split:
        return None
    if output is None or not output.stem.isidentifier():
        raise UsageError("--split writes two files", "name the first, a Python module, with -o")
    return f"{output.stem}_runtime"


def _specifier(timeline: Timeline, against: str | None, everything: str) -> str:
    """The specifier, whichever way of those that scan takes it is written in."""
    from driftwatch.project.ranges import series

    if against is None or against.strip() == "all":
        return everything
    written = series(against.strip())
    if written in ("newest", "latest"):
        return f"=={timeline.versions[-1]}"
    start = next((i for i, character in enumerate(written) if character in "<>=!~"), None)
    if start is None:
        return f"=={written}" if written[:1].isdigit() else written
    return written[start:]
