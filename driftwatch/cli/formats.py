"""``--format``: several formats in one run, each printed or written to a file of its own.

A format is given as ``NAME`` or ``NAME=FILE``. One without a file is printed, or goes to ``--output``; there can be
only one of those. Nothing is written before everything is rendered, and no file if not all of them can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem

from driftwatch.cli.output import check_place, emit, write_all
from driftwatch.errors import UsageError

FOR_PEOPLE = ("text", "matrix")
"""The formats that are printed in the encoding of the terminal."""

_Command = TypeVar("_Command", bound=Callable[..., object])


class Wanted(NamedTuple):
    """A format, and the file it goes to; None is wherever the printed one goes."""

    name: str
    file: Path | None = None


class FormatType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4, not before
    """``NAME`` or ``NAME=FILE``."""

    name = "format"

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Wanted:
        if isinstance(value, Wanted):
            return value
        name, equals, file = str(value).partition("=")
        if name not in self.names:
            self.fail(f"{name!r} is not one of {', '.join(repr(known) for known in self.names)}.", param, ctx)
        if equals and not file:
            self.fail(f"{value!r} names no file.", param, ctx)
        return Wanted(name, Path(file) if file else None)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        name, equals, _ = incomplete.partition("=")
        if equals:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(known) for known in self.names if known.startswith(name)]


def formats_option(names: Sequence[str]) -> Callable[[_Command], _Command]:
    """``--format`` as often as one likes; nothing given is the first of the names."""
    return click.option(
        "--format",
        "wanted",
        type=FormatType(names),
        multiple=True,
        metavar="NAME[=FILE]",
        help=f"One of {', '.join(names)}; printed, or written to FILE. May be given several times.  [default: "
        f"{names[0]}]",
    )


def settle(
    wanted: Sequence[Wanted], output: Path | None, default: str, inputs: Iterable[str] = ()
) -> tuple[Wanted, ...]:
    """Each format once with its final place; an error where two would go to the same one, or one has nowhere to go."""
    chosen = list(dict.fromkeys(wanted)) or [Wanted(default)]
    printed = [each.name for each in chosen if each.file is None]
    if len(printed) > 1:
        raise UsageError(
            f"only one format can be printed, not {' and '.join(printed)}",
            f"write the others to files: --format {printed[1]}=FILE",
        )
    if output is not None and not printed:
        raise UsageError("--output has no format left to write", "every format given has a file of its own")
    settled = tuple(Wanted(each.name, each.file or output) for each in chosen)
    taken: set[Path] = set()
    for file in (each.file for each in settled if each.file is not None):
        check_place(file, [Path(text) for text in inputs])
        # A device takes several, one after the other, as a terminal does.
        if file.resolve() in taken and (file.is_file() or not file.exists()):
            raise UsageError(f"two formats cannot go to one file, {str(file)!r}")
        taken.add(file.resolve())
    return settled


def deliver(settled: Sequence[Wanted], rendered: Sequence[str]) -> None:
    """Write the files, all or none of them, then print what is to be printed."""
    pairs = list(zip(settled, rendered, strict=True))
    write_all([(each.file, text) for each, text in pairs if each.file is not None])
    for each, text in pairs:
        if each.file is None:
            emit(text, for_programs=each.name not in FOR_PEOPLE)
