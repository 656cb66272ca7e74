"""Options and lookups that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., object])


def format_option(*names: str) -> Callable[[_Command], _Command]:
    """``--format``, the first name being the default."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
        help="Output format.",
    )
