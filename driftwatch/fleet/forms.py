"""A fleet's answer as text, JSON and CSV. The same answer gives the same bytes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

from driftwatch import __version__
from driftwatch.fleet.merged import Library, Member, Merged, Usage
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.report.matrix import GLYPHS, series
from driftwatch.report.phrases import count, ranges
from driftwatch.report.safe import safe
from driftwatch.report.states import WORDS, State, runs
from driftwatch.report.styled import Hanging, Line, Look, Span, compose

_LONGEST_NAME = 36
_MOST_SYMBOLS = 20


# -- JSON --------------------------------------------------------------------------------------------------------------


def render_json(merged: Merged) -> str:
    form = {
        "schema": 1,
        "tool": {"name": "driftwatch", "version": __version__},
        "code_bases": merged.members,
        "libraries": [
            {
                "distribution": library.distribution,
                "module": library.module,
                "releases": list(library.versions),
                "rows": [_row(library, member) for member in library.members],
                "broken": [
                    {"release": version, "code_bases": [member.name for member in library.broken(index)]}
                    for index, version in enumerate(library.versions)
                    if library.broken(index)
                ],
                "usage": [_usage(usage) for usage in library.usage],
            }
            for library in merged.libraries
        ],
        "not_looked_at": [{"code_base": name, "reason": reason} for name, reason in merged.missing],
        "no_use": list(merged.idle),
    }
    return json.dumps(form, indent=1) + "\n"


def _row(library: Library, member: Member) -> dict[str, object]:
    return {
        "code_base": member.name,
        "source": member.source,
        "declared": list(member.declared),
        "notices": list(member.notices),
        "uses": member.uses,
        "runs": [
            {
                "state": run.state.name.lower(),
                "first": library.versions[run.first],
                "last": library.versions[run.first + run.length - 1],
            }
            for run in runs(member.states)
        ],
        "findings": [
            {
                **{key: value for key, value in finding.items() if key not in ("states", "excerpt")},
                "releases": [v for v, state in zip(library.versions, finding["states"], strict=True) if state != "0"],
            }
            for finding in member.findings
        ],
    }


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "symbol": usage.symbol,
        "places": usage.places,
        "by": [{"code_base": name, "places": places} for name, places in usage.by],
        "parameters": [
            {
                "name": each.name,
                "places": each.places,
                "values": [{"value": value, "places": places} for value, places in each.values],
            }
            for each in usage.parameters
        ],
    }


# -- CSV ---------------------------------------------------------------------------------------------------------------


def render_csv(merged: Merged) -> str:
    """A line for each code base, library and release; a text that a spreadsheet would run is told to be a text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("code_base", "source", "library", "release", "state", "errors", "silent", "declared"))
    for library in merged.libraries:
        for member in library.members:
            declared = set(member.declared)
            for index, version in enumerate(library.versions):
                errors, silent = member.broken_in(index)
                asked = "yes" if version in declared else ""
                words = (_cell(member.name), _cell(member.source), library.distribution, version)
                writer.writerow((*words, member.states[index].name.lower(), errors, silent, asked))
    return out.getvalue()


def _cell(text: str) -> str:
    shown = safe(text)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown


# -- text --------------------------------------------------------------------------------------------------------------


def render_text(merged: Merged, look: Look) -> str:
    return compose(_lines(merged), look)


def headline(merged: Merged) -> str:
    """One line: how many, and how the newest release is met."""
    said = [count(merged.members, "code base")]
    for library in merged.libraries:
        broken = library.broken(len(library.versions) - 1)
        met = f"{len(broken)} break" if broken else "none breaks"
        said.append(f"{len(library.members)} use {library.distribution}, {met} with {library.versions[-1]}")
    if merged.missing:
        said.append(f"{len(merged.missing)} could not be looked at")
    return "; ".join(said)


def _lines(merged: Merged) -> Iterator[Line | Hanging]:
    for library in merged.libraries:
        yield from _grid(library)
        yield ()
        timeline = Timeline(library.versions)
        for member in library.members:
            broken = ReleaseSet(sum(1 << i for i, s in enumerate(member.states) if s in (State.BREAKS, State.SILENT)))
            if broken:
                yield Hanging(
                    (Span(f"  {safe(member.name)}  ", "path"), Span("breaks with ", "error")),
                    (Span(ranges(timeline, broken)),),
                )
        yield ()
        shown = library.usage[:_MOST_SYMBOLS]
        more = f", the first {len(shown)}" if len(library.usage) > len(shown) else ""
        yield (Span(f"{count(len(library.usage), 'symbol')} called{more}:", "path"),)
        for usage in shown:
            name = safe(usage.symbol.removeprefix(f"{library.module}."))
            yield (Span(f"  {name:<48} {count(len(usage.by), 'code base')}, {count(usage.places, 'place')}"),)
        yield ()
    for name, reason in merged.missing:
        yield Hanging((Span(f"  {safe(name)}  ", "path"),), (Span(f"not looked at: {safe(reason)}", "error"),))
    for name in merged.idle:
        yield (Span(f"  {safe(name)}  ", "path"), Span("uses none of the libraries", "dim"))
    yield (Span(headline(merged)),)


def _grid(library: Library) -> Iterator[Line | Hanging]:
    timeline = Timeline(library.versions)
    yield (
        Span(safe(library.distribution), "path"),
        Span(f" ({safe(library.module)}): {count(len(library.members), 'code base')}, {len(timeline)} releases"),
    )
    width = min(max(len(safe(member.name)) for member in library.members), _LONGEST_NAME)
    text = ""
    for index, name in series(timeline):
        if index >= len(text):
            text = f"{text:<{index}}{name} "
    yield (Span(f"  {'':<{width}}  "), Span(text.rstrip(), "code"))
    for member in library.members:
        name = safe(member.name)
        shown = name if len(name) <= width else f"...{name[len(name) - width + 3 :]}"
        spans = [Span(f"  {shown:<{width}}  ")]
        for run in runs(member.states):
            glyph, style = GLYPHS[run.state]
            spans.append(Span(glyph * run.length, style))
        yield tuple(spans)
    legend: list[Span] = []
    for state, (glyph, style) in GLYPHS.items():
        legend += [Span(glyph, style), Span(f" {WORDS[state]}   ")]
    yield Hanging((Span("  "),), tuple(legend))
