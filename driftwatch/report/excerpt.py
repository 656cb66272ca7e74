"""The source a finding is about: its lines with the place marked, and the lines its value came by.

Enters: a finding, the lines of its files, a width. Leaves: styled lines, safe to print, each within the width. A file
that can no longer be read simply has no excerpt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Outcome
from driftwatch.report.phrases import Source, exception
from driftwatch.report.safe import safe, safe_character
from driftwatch.report.styled import Line, Span

_TAB = "    "
_WIDEST = 500
"""Cells of a line, where nothing else says how wide it may be."""
_REACH = 2
"""How many characters are looked at for each cell: some have no width."""
_MOST_STEPS = 6


@dataclass(frozen=True, slots=True)
class _Mark:
    """One marked line: the columns from `start` to `end` (1-based, end excluded; None is the text's own extent)."""

    path: str
    line: int
    start: int | None
    end: int | None
    note: str
    primary: bool


def excerpt(finding: Finding, source: Source, width: int | None, indent: str = "  ") -> Iterator[Line]:
    """The finding's source lines, file by file, its own file last and its own place marked with carets."""
    marks = [*_marks(finding, source), *_argument(finding)]
    paths = [mark.path for mark in marks if mark.path != finding.location.path]
    gutter = len(str(max(mark.line for mark in marks)))
    for path in (*dict.fromkeys(paths), finding.location.path):
        lines = source(path)
        if lines is None:
            continue
        here = sorted((mark for mark in marks if mark.path == path), key=lambda mark: (mark.line, not mark.primary))
        here = [mark for mark in here if 0 < mark.line <= len(lines)]
        if not here:
            continue
        if path == finding.location.path:
            yield (Span(f"{indent}{' ' * gutter} |", "frame"),)
        else:
            yield (Span(f"{indent}{' ' * gutter}--> ", "frame"), Span(f"{safe(path)}:{here[0].line}", "path"))
        yield from _block(here, lines, gutter, width, indent)


def _marks(finding: Finding, source: Source) -> list[_Mark]:
    place = finding.location
    end = place.end_column if place.end_line == place.line else None
    marks = [_Mark(place.path, place.line, place.column, end, "", True)]
    taken = {(place.path, place.line)}
    for step in finding.trace[-_MOST_STEPS:]:
        if (step.path, step.line) not in taken:
            taken.add((step.path, step.line))
            marks.append(_Mark(step.path, step.line, None, None, step.note, False))
    if finding.caught_at is not None and finding.caught_at not in taken:
        note = f"takes the {exception(finding)}"
        if finding.outcome is Outcome.RAISES:
            note = "raises it again"
        marks.append(_Mark(*finding.caught_at, None, None, note, False))
    return marks


def _argument(finding: Finding) -> Iterator[_Mark]:
    """The keyword itself, where a call of several lines has it on a later one."""
    place, at = finding.location, finding.written
    if at is not None and at.path == place.path and place.line < at.line <= place.end_line:
        yield _Mark(at.path, at.line, at.column, at.end_column, "", True)


def _block(marks: list[_Mark], lines: tuple[str, ...], gutter: int, width: int | None, indent: str) -> Iterator[Line]:
    blank = f"{indent}{' ' * gutter} | "
    previous: int | None = None
    for mark in marks:
        if previous is not None and mark.line > previous + 2:
            yield (Span(f"{indent}{' ' * gutter} :", "frame"),)
        elif previous is not None and mark.line == previous + 2:
            text, _, _ = _shown(lines[previous], 1, 1, _room(width, blank))
            yield (Span(f"{indent}{previous + 1:>{gutter}} | ", "frame"), Span(text))
        text, before, length = _shown(lines[mark.line - 1], mark.start, mark.end, _room(width, blank))
        yield (Span(f"{indent}{mark.line:>{gutter}} | ", "frame"), Span(text))
        if length:
            style = "primary" if mark.primary else "secondary"
            note = f" {safe(mark.note)}" if mark.note else ""
            underline = ("^" if mark.primary else "-") * length
            yield (Span(blank, "frame"), Span(" " * before), Span(underline + note, style))
        previous = mark.line


def _room(width: int | None, prefix: str) -> int:
    return _WIDEST if width is None else min(max(width - len(prefix), 20), _WIDEST)


def _shown(line: str, start: int | None, end: int | None, room: int) -> tuple[str, int, int]:
    """The line as it is printed, the cells before its marked part, and the cells of that part.

    Of a line of any length, no more is looked at than can be shown.
    """
    line = line.rstrip()
    first = len(line) - len(line.lstrip()) if start is None else min(start - 1, len(line))
    last = len(line) if end is None else min(end - 1, len(line))
    begin = max(first - _REACH * room, 0)
    part = line[begin : first + _REACH * room]
    pieces = [_TAB if character == "\t" else safe_character(character) for character in part]
    before = cell_len("".join(pieces[: first - begin]))
    length = cell_len("".join(pieces[first - begin : max(last, first) - begin]))
    text = "".join(pieces)
    if len(part) == len(line) and cell_len(text) <= room:
        return text, before, length
    return _window(pieces, first - begin, before, length, room)


def _window(pieces: list[str], first: int, before: int, length: int, room: int) -> tuple[str, int, int]:
    """A line too long for the width, cut so that the marked part's beginning stays in sight."""
    drop = 0
    if before + min(length, room // 2) > room - 1:
        lead = 0
        while drop < first and before - lead > room // 4:
            lead += cell_len(pieces[drop])
            drop += 1
        before = before - lead + 1
    kept = "…" if drop else ""
    used = len(kept)
    for piece in pieces[drop:]:
        used += cell_len(piece)
        if used > room - 1:
            kept += "…"
            break
        kept += piece
    return kept, before, max(0, min(length, cell_len(kept) - before))
