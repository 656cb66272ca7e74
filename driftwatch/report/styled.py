"""Lines of styled text, and their two ways out: plain, and with colours for a terminal.

Enters: lines made of spans whose text is already safe to print. Leaves: one string that ends in a newline. Without
colour there is not a single escape sequence in it. With a width, long lines are wrapped at words and hang below where
their text began; without one (a pipe, a file) a line is never broken, so that `grep` finds whole sentences.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES: Mapping[str, str] = {
    "": "",
    "error": "bold red",
    "silent": "bold white on red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "good": "bold green",
    "path": "bold",
    "code": "bold",
    "dim": "dim",
    "frame": "blue",
    "primary": "bold red",
    "secondary": "blue",
    "added": "green",
    "removed": "red",
    "changed": "yellow",
    "heading": "bold underline",
}


class Span(NamedTuple):
    text: str
    style: str = ""


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Hanging:
    """A line that may be wrapped: what follows `lead` stays in the column where it began."""

    lead: Line
    body: Line


@dataclass(frozen=True, slots=True)
class Look:
    """How the output is to look: with colours or not, and how wide; None is as wide as it comes."""

    color: bool = False
    width: int | None = None


def look(stream: IO[str], environment: Mapping[str, str] = os.environ) -> Look:
    """What suits a stream: NO_COLOR and FORCE_COLOR decide before the terminal does, COLUMNS before its width."""
    terminal = stream.isatty()
    color = terminal and environment.get("TERM") not in ("dumb", "unknown")
    if environment.get("FORCE_COLOR"):
        color = environment["FORCE_COLOR"] not in ("0", "false")
    if environment.get("NO_COLOR"):
        color = False
    return Look(color, _width(stream, environment) if terminal else None)


def _width(stream: IO[str], environment: Mapping[str, str]) -> int:
    columns = environment.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(int(columns), 40)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, 40)
    except OSError:
        return 80


def plain(line: Line) -> str:
    return "".join(span.text for span in line)


def compose(lines: Iterable[Line | Hanging], shape: Look) -> str:
    """All lines as one string in the wanted look."""
    if not shape.color and shape.width is None:
        # rich takes longer to import than all of this.
        whole = (plain(line.lead + line.body if isinstance(line, Hanging) else line) for line in lines)
        return "".join(f"{text.rstrip()}\n" for text in whole)
    from rich.console import Console  # noqa: PLC0415

    console = Console(
        file=StringIO(),
        force_terminal=shape.color,
        color_system="standard" if shape.color else None,
        no_color=not shape.color,
        width=shape.width or 100,
        legacy_windows=False,
    )
    texts: list[Text] = []
    for line in lines:
        if isinstance(line, Hanging):
            texts.extend(_wrapped(line, shape.width, console))
        else:
            texts.append(_text(line))
    if not shape.color:
        return "".join(f"{text.plain.rstrip()}\n" for text in texts)
    with console.capture() as capture:
        for text in texts:
            console.print(text, soft_wrap=True)
    return capture.get()


def _text(line: Line) -> Text:
    from rich.text import Text  # noqa: PLC0415

    text = Text()
    for span in line:
        text.append(span.text, STYLES[span.style])
    return text


def _wrapped(line: Hanging, width: int | None, console: Console) -> list[Text]:
    from rich.text import Text  # noqa: PLC0415

    lead, body = _text(line.lead), _text(line.body)
    if width is None or lead.cell_len + body.cell_len <= width:
        return [lead + body]
    hang = lead.cell_len if lead.cell_len <= width // 2 else 4
    first, *rest = body.wrap(console, max(width - hang, 20))
    for part in (first, *rest):
        part.rstrip()
    if hang != lead.cell_len:
        lead.rstrip()
        return [lead, *(Text(" " * hang) + part for part in (first, *rest))]
    return [lead + first, *(Text(" " * hang) + part for part in rest)]
