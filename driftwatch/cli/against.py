"""The option ``--against``, which a shell completes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from driftwatch.cli.completion import specifiers

_Command = TypeVar("_Command", bound=Callable[..., object])


def against_option(more: str = "may be given several times.") -> Callable[[_Command], _Command]:
    """``--against``."""
    return click.option(
        "--against", multiple=True, metavar="SPEC", shell_complete=specifiers, help=f"The releases to check; {more}"
    )
