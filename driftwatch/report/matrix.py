"""What works where, on a terminal and as data: rows of symbols, places or code bases against the library's releases.

Enters: a report, or those of several code bases. Leaves: text in which every release is one character, so that a
terminal shows the whole life of a library at a glance; or JSON with the states in words. States are told apart by their
character alone; colour only helps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from driftwatch.project.declared import Notice
from driftwatch.releases import Timeline
from driftwatch.report.json_v1 import FindingForm, finding_form
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import but_for_the_unread, ranges
from driftwatch.report.safe import safe
from driftwatch.report.states import (
    WORDS,
    Row,
    State,
    beside,
    relabelled,
    runs,
    short_names,
    site_rows,
    symbol_rows,
    where,
    whole_row,
)
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.report.text import not_analysed, summary
from driftwatch.scan.report_model import Report, TargetReport

GLYPHS: dict[State, tuple[str, str]] = {
    State.WORKS: ("=", "good"),
    State.CAUTION: ("w", "warning"),
    State.DEGRADED: ("d", "note"),
    State.BREAKS: ("X", "error"),
    State.SILENT: ("S", "silent"),
    State.UNREACHED: (".", "dim"),
}
"""Each state as one character, and the style that helps the eye."""

BESIDE = "not shown, since the machine decides and not the release"
_LONGEST_NAME, _SHORTEST_NAME = 44, 22
_CHECKED = "checked"


def render(report: Report, options: RenderOptions) -> str:
    """The symbols that one code base uses against the releases of each library."""
    lines: list[Line | Hanging] = []
    for target in _used(report):
        places = site_rows(report, target)
        symbols = symbol_rows(places)
        labelled = relabelled(symbols, short_names((row.symbol for row in symbols), target.module))
        whole = whole_row(report.title or "everything", places, len(target.timeline))
        lines += [*_grid(target, [whole], list(labelled), options.look), ()]
    told = [*_attention(_said(report, report.notices)), *not_analysed(report)]
    lines += [*told, ()] if told else []
    lines.append((Span(summary(report)),))
    return compose(lines, options.look)


@dataclass(frozen=True, slots=True)
class Unread:
    """A code base that could not be looked at, and why: a row all the same."""

    name: str
    reason: str


def render_many(reports: Sequence[Report], unread: Sequence[Unread], look: Look) -> str:
    """Several code bases against the releases of each library they use."""
    lines: list[Line | Hanging] = []
    for distribution in distributions(reports):
        rows = whole_rows(reports, distribution)
        everyone = all_of_them(rows)
        target = next(r.target(distribution) for r in reports if any(t.distribution == distribution for t in r.targets))
        lines += [*_grid(target, [*rows, *everyone], [], look), ()]
        for row in everyone:
            lines += _in_words(target.timeline, row, ())
        for row, notices in zip(rows, _notices(reports, distribution), strict=True):
            lines += _in_words(target.timeline, row, notices)
        lines.append(())
    if not lines:
        lines.append((Span("no code base here uses a library that driftwatch knows", "dim"),))
        for report in reports:
            said = _said(report, report.notices)
            lines += [Hanging((), (Span(safe(report.title), "path"),)), *_attention(said)] if said else []
        lines.append(())
    for each in unread:
        lines.append(Hanging((), (Span(safe(each.name), "path"),)))
        lines.append(Hanging((Span(f"  {'not looked at':<14}", "error"),), (Span(safe(each.reason)),)))
    if not unread:
        lines.pop()
    return compose(lines, look)


def distributions(reports: Sequence[Report]) -> tuple[str, ...]:
    """The libraries that any of the code bases uses; all of them where none is used."""
    used = dict.fromkeys(target.distribution for report in reports for target in _used(report))
    return tuple(sorted(used))


def whole_rows(reports: Sequence[Report], distribution: str) -> list[Row]:
    """A row for each code base."""
    rows: list[Row] = []
    for report in reports:
        target = report.target(distribution)
        row = whole_row(report.title, site_rows(report, target), len(target.timeline))
        rows.append(replace(row, declared=target.declared))
    return rows


def all_of_them(rows: Sequence[Row]) -> list[Row]:
    """How each release fares in all code bases together: what is worst counts. None where fewer than two use it."""
    used = [row for row in rows if row.worst is not State.UNREACHED]
    if len(used) < 2:
        return []
    return [
        Row(f"all {len(used)} code bases", tuple(max(states) for states in zip(*(r.states for r in used), strict=True)))
    ]


def _notices(reports: Sequence[Report], distribution: str) -> list[list[str]]:
    """What must be known of what each code base asks for, and of what could be read of it."""
    return [_said(report, report.target(distribution).notices) for report in reports]


def _said(report: Report, notices: Sequence[Notice]) -> list[str]:
    partly = but_for_the_unread(report)
    return [*(f"{each.path}:{each.line}: {each.message}" for each in notices), *([partly] if partly else [])]


# -- data ----------------------------------------------------------------------------------------------------------


class RunForm(TypedDict):
    state: str
    first: str
    last: str


class RowForm(TypedDict):
    code_base: str
    declared: list[str]
    notices: list[str]
    runs: list[RunForm]
    findings: list[FindingForm]


class GridForm(TypedDict):
    target: str
    releases: list[str]
    rows: list[RowForm]
    all: list[RunForm]


class UnreadForm(TypedDict):
    code_base: str
    reason: str


class MatrixForm(TypedDict):
    schema: int
    matrix: list[GridForm]
    not_looked_at: list[UnreadForm]


def render_json(reports: Sequence[Report], unread: Sequence[Unread] = ()) -> str:
    """Several code bases against releases, as JSON: each row as runs of consecutive releases of one state."""
    grids: list[GridForm] = []
    for distribution in distributions(reports):
        timeline = reports[0].target(distribution).timeline
        found = whole_rows(reports, distribution)
        rows: list[RowForm] = [
            {
                "code_base": row.label,
                "declared": list(timeline.versions_of(row.declared)),
                "notices": notices,
                "runs": _runs(timeline, row),
                "findings": [finding_form(finding, timeline) for finding in row.findings],
            }
            for row, notices in zip(found, _notices(reports, distribution), strict=True)
        ]
        together = [run for row in all_of_them(found) for run in _runs(timeline, row)]
        grids.append({"target": distribution, "releases": list(timeline.versions), "rows": rows, "all": together})
    form: MatrixForm = {
        "schema": 1,
        "matrix": grids,
        "not_looked_at": [{"code_base": each.name, "reason": each.reason} for each in unread],
    }
    return json.dumps(form, indent=2) + "\n"


def _runs(timeline: Timeline, row: Row) -> list[RunForm]:
    return [
        {
            "state": run.state.name.lower(),
            "first": timeline.versions[run.first],
            "last": timeline.versions[run.first + run.length - 1],
        }
        for run in runs(row.states)
    ]


# -- text ----------------------------------------------------------------------------------------------------------


def _used(report: Report) -> list[TargetReport]:
    return [target for target in report.targets if target.uses]


def _grid(target: TargetReport, heads: Sequence[Row], rows: Sequence[Row], look: Look) -> Iterator[Line | Hanging]:
    timeline = target.timeline
    yield Hanging(
        (Span(safe(target.distribution), "path"), Span(f" ({safe(target.module)}): ")),
        (
            Span(f"{len(timeline)} releases, {timeline.versions[0]} to {timeline.versions[-1]}; checked "),
            Span(ranges(timeline, target.checked)),
        ),
    )
    yield ()
    names = [safe(row.label) for row in (*heads, *rows)]
    width = min(max(len(name) for name in (*names, _CHECKED)), _LONGEST_NAME)
    if look.width is not None:
        # Names give way to the releases, as far as a name can still be told.
        width = min(width, max(look.width - len(timeline) - 4, _SHORTEST_NAME))
    for first, last in _chunks(len(timeline), None if look.width is None else look.width - width - 4):
        yield from _scale(target, width, first, last)
        for row in heads:
            yield _cells(row, width, first, last, "path")
        if heads and rows:
            yield ()
        for row in rows:
            yield _cells(row, width, first, last, "error" if row.worst >= State.BREAKS else "")
        yield ()
    yield _legend()
    # In a picture of several code bases each says so for itself.
    aside = beside(heads) if rows else ""
    if aside:
        yield Hanging((Span("  "),), (Span(f"{BESIDE}: {aside}", "dim"),))


def _chunks(length: int, room: int | None) -> Iterator[tuple[int, int]]:
    """Where to break the columns, so that each part fits."""
    if room is None or room >= length:
        yield 0, length
        return
    step = max(room, 10)
    for first in range(0, length, step):
        yield first, min(first + step, length)


def _scale(target: TargetReport, width: int, first: int, last: int) -> Iterator[Line]:
    """Where each series of releases begins, and which releases are checked."""
    text, whole = "", last - first == len(target.timeline)
    for index, name in series(target.timeline):
        fits = whole or index + len(name) <= last
        if first <= index < last and index - first >= len(text) and fits:
            text = f"{text:<{index - first}}{name} "
    ruler = "".join("-" if target.checked.mask >> i & 1 else " " for i in range(first, last))
    yield (Span(f"  {'':<{width}}  "), Span(text.rstrip(), "code"))
    if ruler.strip():
        yield (Span(f"  {_CHECKED:<{width}}  ", "dim"), Span(ruler.rstrip(), "frame"))


def series(timeline: Timeline) -> list[tuple[int, str]]:
    """The first two numbers of the releases, each with the place where it begins."""
    found: dict[str, int] = {}
    for index, version in enumerate(timeline.parsed):
        found.setdefault(f"{version.major}.{version.minor}", index)
    return [(index, name) for name, index in found.items()]


def _cells(row: Row, width: int, first: int, last: int, style: str) -> Line:
    name = safe(row.label)
    if len(name) > width:
        name = f"...{name[len(name) - width + 3 :]}"
    spans = [Span(f"  {name:<{width}}  ", style)]
    for run in runs(row.states[first:last]):
        glyph, look = GLYPHS[run.state]
        spans.append(Span(glyph * run.length, look))
    return tuple(spans)


def _legend() -> Hanging:
    spans: list[Span] = []
    for state, (glyph, style) in GLYPHS.items():
        spans += [Span(glyph, style), Span(f" {WORDS[state]}   ")]
    return Hanging((Span("  "),), tuple(spans))


def _attention(said: Sequence[str]) -> list[Line | Hanging]:
    return [Hanging((Span(f"  {'ATTENTION':<14}", "warning"),), (Span(safe(each)),)) for each in said]


def _in_words(timeline: Timeline, row: Row, notices: Sequence[str]) -> list[Line | Hanging]:
    """A code base's broken and degraded releases; nothing where all is well."""
    lines: list[Line | Hanging] = [Hanging((), (Span(safe(row.label), "path"),))]
    if row.declared:
        lines.append(Hanging((Span(f"  {'asks for':<14}"),), (Span(ranges(timeline, row.declared)),)))
    lines += _attention(notices)
    for state, label in (
        (State.SILENT, "silent with"),
        (State.BREAKS, "breaks with"),
        (State.DEGRADED, "degraded with"),
    ):
        releases = where(row.states, state)
        if releases:
            lines.append(Hanging((Span(f"  {label:<14}", GLYPHS[state][1]),), (Span(ranges(timeline, releases)),)))
    if row.worst is State.UNREACHED:
        return [*lines, (Span("  not used here", "dim"),)]
    works = where(row.states, State.WORKS, State.CAUTION)
    said = Span(ranges(timeline, works)) if works else Span("none", "dim")
    lines.append(Hanging((Span(f"  {'works with':<14}", "good"),), (said,)))
    aside = beside([row])
    if aside:
        lines.append(Hanging((Span(f"  {'besides':<14}", "dim"),), (Span(aside, "dim"),)))
    return lines
