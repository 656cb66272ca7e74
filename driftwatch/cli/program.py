"""The program as a whole: its commands, and what becomes of every way they can end."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import click

from driftwatch import __version__
from driftwatch.cli.output import print_anything, say
from driftwatch.errors import DriftwatchError

USAGE, INTERRUPTED = 2, 130

_OF_THE_SYSTEM = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.EROFS)
"""What a person can do something about, wherever it happens."""

_COMMANDS = {
    "scan": "driftwatch.cli.scan",
    "fix": "driftwatch.cli.fix",
    "deps": "driftwatch.cli.deps",
    "matrix": "driftwatch.cli.matrix",
    "baseline": "driftwatch.cli.baseline",
    "config": "driftwatch.cli.config",
    "cache": "driftwatch.cli.cache",
    "history": "driftwatch.cli.api",
    "diff": "driftwatch.cli.api",
    "snapshot": "driftwatch.cli.snapshot",
    "watch": "driftwatch.cli.watch",
    "impact": "driftwatch.cli.impact",
    "fleet": "driftwatch.cli.fleet",
    "adapter": "driftwatch.cli.adapter",
    "doctor": "driftwatch.cli.doctor",
    "explain": "driftwatch.cli.explain",
}
"""Every command and the module that defines it as ``<name>_command``, in the order of the help text."""


class Program(click.Group):
    """The top-level group; a command's module is imported when the command is looked at."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(import_module(module), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command


EPILOG = """\b
Examples:
  driftwatch scan                                  the code base in this folder
  driftwatch scan src --against '>=0.6.0'          hold it against these releases
  driftwatch scan pypi:sglang==0.5.12              a release from the package index
  driftwatch fix --write                           fix what can be fixed, each repair proven first
  driftwatch history allreduce_fusion              what changed in one symbol
  driftwatch diff 0.7.2.post1 0.7.4                what changed between two releases

Exit status: 0 nothing to report, 1 findings, 2 usage or input error."""


@click.command(cls=Program, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="driftwatch %(version)s")
def program() -> None:
    """In which releases of a library does this code break, where, why, and would anybody notice?"""


def execute(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the program; every outcome becomes an exit status, and every failure one clear message."""
    print_anything()
    try:
        status = program.main(list(arguments), prog_name="driftwatch", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        for line in shown.getvalue().splitlines():
            say(line)
        return USAGE
    except DriftwatchError as error:
        _complain(error)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if not _has_folder():
            say("error: the working folder is no longer there, or may not be entered")
        elif error.errno not in _OF_THE_SYSTEM:
            _crashed(error, environment)
        else:
            where = f": {error.filename}" if error.filename else ""
            say(f"error: {error.strerror}{where}")
        return USAGE
    except Exception as error:  # noqa: BLE001 - a defect of driftwatch must not look like findings
        _crashed(error, environment)
        return USAGE
    return status if isinstance(status, int) else 0


def _has_folder() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def _complain(error: DriftwatchError) -> None:
    say(f"error: {error.message}")
    if error.hint:
        say(f"hint: {error.hint}")


def _crashed(error: Exception, environment: Mapping[str, str]) -> None:
    if environment.get("DRIFTWATCH_DEBUG") not in (None, "", "0"):
        import traceback

        traceback.print_exc(file=sys.stderr)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    say(f"error: driftwatch itself failed: {what.splitlines()[0]}")
    version = ".".join(str(part) for part in sys.version_info[:3])
    say(
        "hint: this is a defect; please report it with the output of the same command under DRIFTWATCH_DEBUG=1 "
        f"(driftwatch {__version__}, Python {version})"
    )
