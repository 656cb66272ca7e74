"""A finding's source as HTML: the lines around its place and around the way its value took, with the places marked.

Enters: a finding and what gives the lines of files. Leaves: one block for each file, the finding's own file last. A
file that can no longer be read has no block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Outcome
from driftwatch.report.html.markup import Markup, breakable, join, tag, text, ticked
from driftwatch.report.phrases import Source, exception
from driftwatch.report.safe import safe_character

_AROUND = 2
_MOST_STEPS = 8
_LONGEST_CALL = 16
_LONGEST_LINE = 400
_TAB = "    "


@dataclass(frozen=True, slots=True)
class _Note:
    line: int
    words: str
    kind: str


def source(read: Source, finding: Finding) -> Iterator[Markup]:
    """The blocks of source behind a finding."""
    notes = _notes(finding)
    place = finding.location
    paths = [path for path in notes if path != place.path]
    for path in (*paths, place.path):
        lines = read(path)
        if lines is None:
            continue
        here = [note for note in notes.get(path, []) if 0 < note.line <= len(lines)]
        last = min(place.end_line, place.line + _LONGEST_CALL) if path == place.path else 0
        own = range(place.line, min(last, len(lines)) + 1) if path == place.path else range(0)
        wanted = set(own)
        wanted |= {note.line for note in here}
        if not wanted:
            continue
        around = {n for line in wanted for n in range(line - _AROUND, line + _AROUND + 1) if 0 < n <= len(lines)}
        yield tag(
            "figure",
            tag("figcaption", breakable(path)),
            tag("pre", join(_lines(finding, lines, sorted(around), own, here)), tabindex=0),
            class_="source",
        )


def _notes(finding: Finding) -> dict[str, list[_Note]]:
    notes: dict[str, list[_Note]] = {}
    for step in finding.trace[-_MOST_STEPS:]:
        notes.setdefault(step.path, []).append(_Note(step.line, step.note, "step"))
    if finding.caught_at is not None:
        path, line = finding.caught_at
        words = f"takes the {exception(finding)}"
        if finding.outcome is Outcome.RAISES:
            words = "raises it again"
        notes.setdefault(path, []).append(_Note(line, words, "caught"))
    return notes


def _lines(
    finding: Finding, lines: tuple[str, ...], shown: list[int], own: range, notes: list[_Note]
) -> Iterator[Markup]:
    previous = 0
    # What all lines are indented by tells nothing, and on a phone there is no room for it.
    indents = [len(line) - len(line.lstrip(" ")) for line in (lines[n - 1] for n in shown) if line.strip()]
    drop = min(indents, default=0)
    for number in shown:
        if previous and number > previous + 1:
            yield tag("span", "⋯", class_="gap")
        previous = number
        kinds = {note.kind for note in notes if note.line == number}
        mark = "here" if number in own else "caught" if "caught" in kinds else "step" if kinds else ""
        yield tag(
            "span",
            tag("span", number, class_="no"),
            tag("span", _code(finding, lines[number - 1], number, own, drop), class_="text"),
            class_=f"ln {mark}".rstrip(),
        )
        for note in dict.fromkeys(note for note in notes if note.line == number):
            indent = len(lines[number - 1]) - len(lines[number - 1].lstrip()) - drop
            yield tag(
                "span",
                tag("span", class_="no"),
                tag("span", " " * min(indent, 40), "↑ ", ticked(note.words), class_="text"),
                class_=f"ln note {note.kind}",
            )


def _code(finding: Finding, line: str, number: int, own: range, drop: int) -> Markup:
    """One line, with what the finding is about marked: where it begins, and the parameter where it is passed."""
    line = line.rstrip()
    span = _marked(finding, line, number) if number in own else None
    if span is None:
        return _pieces(line[drop : drop + _LONGEST_LINE], len(line) - drop)
    first, last = span
    last = min(last, first + _LONGEST_LINE)
    begin = max(drop, first - _LONGEST_LINE // 2)
    return join(
        [
            "…" if begin > drop else None,
            _pieces(line[begin:first], first - begin),
            tag("mark", _pieces(line[first:last], last - first)),
            _pieces(line[last : last + _LONGEST_LINE], len(line) - last),
        ]
    )


def _marked(finding: Finding, line: str, number: int) -> tuple[int, int] | None:
    place, at = finding.location, finding.written
    if at is not None and number > place.line:
        here = at.path == place.path and at.line == number and at.end_column <= len(line) + 1
        return (at.column - 1, at.end_column - 1) if here else None
    if number != place.line:
        return None
    last = place.end_column - 1 if place.end_line == place.line else len(line)
    first = min(place.column - 1, len(line))
    return (first, min(last, len(line))) if first < min(last, len(line)) else None


def _pieces(part: str, length: int) -> Markup:
    shown = "".join(_TAB if character == "\t" else safe_character(character) for character in part)
    return text(shown + ("…" if length > len(part) else ""))
