"""A fleet's answer as one page that needs nothing beside it: code bases against releases, and what is behind a cell.

Enters: the merged answer. Leaves: HTML. The table is there without scripts; the script searches, sorts, filters, and
shows what is behind a cell, out of the data that the page carries. What is seen stands in the address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from driftwatch.fleet.forms import headline
from driftwatch.fleet.merged import Library, Member, Merged
from driftwatch.report.html.markup import Child, Markup, breakable, tag
from driftwatch.report.html.page import footer, framed, plain_header
from driftwatch.report.phrases import count
from driftwatch.report.safe import safe
from driftwatch.report.states import WORDS, State

_MOST_VALUES = 12
_SHOWN = (State.SILENT, State.BREAKS, State.DEGRADED, State.CAUTION, State.WORKS)


def render(merged: Merged) -> str:
    """The page."""
    main = tag("main", list(_main(merged)))
    data = tag("script", Markup(_data(merged)), type="application/json", id="data")
    panel = tag("aside", id="panel", hidden=True, tabindex=-1, aria_label="Findings")
    inside = [plain_header(), main, footer(), panel, data]
    longest = max((len(library.versions) for library in merged.libraries), default=0)
    widths = "".join(f".n{number}{{width:calc({number}*var(--cell))}}" for number in range(1, longest + 1))
    return framed("A fleet", inside, ("page.css", "fleet.css"), "fleet.js", widths)


def _main(merged: Merged) -> Iterator[Child]:
    yield tag("h1", "Code bases and releases")
    yield tag("p", headline(merged), class_="lead")
    yield _controls(merged)
    for number, library in enumerate(merged.libraries):
        yield _library(library, number)
    for number, library in enumerate(merged.libraries):
        yield _usage(library, number)
    if merged.missing:
        rows = [tag("tr", tag("th", name, scope="row"), tag("td", reason)) for name, reason in merged.missing]
        yield tag("section", tag("h2", "Not looked at"), tag("table", tag("tbody", rows)), id="missing")
    if merged.idle:
        said = count(len(merged.idle), "code base uses", "code bases use")
        rows = [tag("li", name) for name in merged.idle]
        yield tag("details", tag("summary", f"{said} none of the libraries"), tag("ul", rows))


def _controls(merged: Merged) -> Markup:
    chips = [
        tag(
            "button",
            WORDS[state],
            type="button",
            class_=f"chip s{int(state)}",
            data_state=int(state),
            aria_pressed="false",
        )
        for state in _SHOWN
    ]
    options = [tag("option", "any release", value="")]
    for number, library in enumerate(merged.libraries):
        for index in reversed(range(len(library.versions))):
            said = f"{library.distribution} {library.versions[index]}: {len(library.broken(index))} break"
            options.append(tag("option", said, value=f"{number}:{index}"))
    sorts = [tag("option", name, value=value) for value, name in _SORTS]
    return tag(
        "div",
        tag("input", type="search", id="search", placeholder="name, symbol, code", aria_label="Search"),
        tag("select", options, id="release", aria_label="Release"),
        tag("select", sorts, id="sort", aria_label="Order"),
        tag("span", chips, class_="chips"),
        tag("output", id="shown"),
        class_="controls",
        hidden=True,
        id="controls",
    )


_SORTS = (("list", "as listed"), ("name", "by name"), ("worst", "what breaks first"), ("uses", "most uses first"))


def _library(library: Library, number: int) -> Markup:
    head = [tag("th", "code base", scope="col", class_="corner")]
    for index, version in enumerate(library.versions):
        broken = len(library.broken(index))
        button = tag(
            "button",
            version,
            type="button",
            data_release=f"{number}:{index}",
            title=f"{version}: {broken} of {len(library.members)} break",
        )
        head.append(tag("th", button, scope="col"))
    rows = [_row(library, member, number, place) for place, member in enumerate(library.members)]
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="fleet", data_library=number)
    title = tag("h2", f"{library.distribution} ", tag("small", f"{library.module}, {len(library.versions)} releases"))
    return tag("section", title, tag("div", table, class_="scroll", tabindex=0), id=f"library{number}")


def _row(library: Library, member: Member, number: int, place: int) -> Markup:
    declared = set(member.declared)
    # Runs of releases that look alike: a cell each would be thousands of elements to lay out at every letter typed.
    looks = [(state, version in declared) for state, version in zip(member.states, library.versions, strict=True)]
    runs = [
        tag("i", class_=f"s{int(state)}{' d' if asked else ''} n{len(list(same))}")
        for (state, asked), same in groupby(looks)
    ]
    cells = tag("td", tag("div", runs, class_="runs"), colspan=len(library.versions))
    symbols = " ".join(dict.fromkeys(f"{f['symbol']} {f['code']}" for f in member.findings))
    return tag(
        "tr",
        tag("th", tag("span", member.name, title=member.source), scope="row"),
        cells,
        data_row=f"{number}:{place}",
        data_states="".join(str(int(state)) for state in member.states),
        data_text=f"{member.name} {member.source} {symbols}",
        data_uses=member.uses,
    )


def _usage(library: Library, number: int) -> Markup:
    rows: list[Markup] = []
    for usage in library.usage:
        users = ", ".join(f"{name} {places}" for name, places in usage.by)
        parameters = [
            tag(
                "li",
                tag("code", each.name),
                f" in {count(each.places, 'place')}: ",
                ", ".join(f"{value} ({places})" for value, places in each.values[:_MOST_VALUES]),
            )
            for each in usage.parameters
        ]
        inner = tag("details", tag("summary", count(len(usage.parameters), "parameter")), tag("ul", parameters))
        rows.append(
            tag(
                "tr",
                tag("th", tag("code", breakable(usage.symbol)), scope="row"),
                tag("td", len(usage.by)),
                tag("td", usage.places),
                tag("td", users, class_="users"),
                tag("td", inner if parameters else None),
                data_usage=True,
                data_text=f"{usage.symbol} {users}",
            )
        )
    heads = ("symbol", "code bases", "places", "by whom", "with what")
    table = tag("table", tag("thead", tag("tr", [tag("th", h, scope="col") for h in heads])), tag("tbody", rows))
    return tag("section", tag("h2", f"How {library.distribution} is used"), table, id=f"usage{number}", class_="usage")


def _data(merged: Merged) -> str:
    """What the script shows behind a cell, as JSON that no parser of HTML takes for anything else."""
    form = [
        {
            "library": library.distribution,
            "versions": library.versions,
            "rows": [
                {
                    "name": safe(member.name),
                    "notices": [safe(each) for each in member.notices],
                    "findings": [
                        {
                            "code": finding["code"],
                            "name": finding["name"],
                            "severity": finding["severity"],
                            "outcome": finding["outcome"],
                            "place": safe(f"{finding['path']}:{finding['line']}"),
                            "line": finding["line"],
                            "message": safe(finding["message"]),
                            "hint": safe(finding["hint"]),
                            "states": finding["states"],
                            "excerpt": [[number, safe(line)] for number, line in finding["excerpt"]],
                        }
                        for finding in member.findings
                    ],
                }
                for member in library.members
            ],
        }
        for library in merged.libraries
    ]
    text = json.dumps(form, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
