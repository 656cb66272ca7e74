"""The page as a whole: verdict, matrix, findings, signatures, and the policy that lets nothing else in.

Enters: the reports of one or several code bases. Leaves: one HTML document that needs nothing beside it. Its policy
names the hashes of its one style sheet and its one script, so that a browser runs and loads nothing else, whatever the
scanned code was called. Without scripts it is all there; the script filters, finds and points.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

from driftwatch import __version__
from driftwatch.findings.finding import Finding
from driftwatch.project.declared import Notice
from driftwatch.releases import EMPTY as NONE
from driftwatch.releases import ReleaseSet
from driftwatch.report.html.findings import badge, cards, links
from driftwatch.report.html.markup import Child, Markup, breakable, copied, join, tag, ticked
from driftwatch.report.html.symbols import symbols
from driftwatch.report.html.tracks import CLASSES, rules, scale, track
from driftwatch.report.matrix import BESIDE, Unread, all_of_them, distributions, whole_rows
from driftwatch.report.phrases import apart, before, but_for_the_unread, count, outlook, ranges, silently, way_out
from driftwatch.report.states import (
    WORDS,
    Row,
    State,
    beside,
    short_names,
    site_rows,
    symbol_rows,
    where,
    whole_row,
)
from driftwatch.scan.report_model import Report, TargetReport

_LONGEST_ASKED = 24
_ASSETS = files("driftwatch.report.html")
_LEGEND = (State.WORKS, State.CAUTION, State.DEGRADED, State.BREAKS, State.SILENT, State.UNREACHED)


def document(reports: Sequence[Report], *, unresolved: bool = False, unread: Sequence[Unread] = ()) -> str:
    """The page for these code bases."""
    names = distributions(reports) or tuple(target.distribution for target in reports[0].targets[:1])
    targets = [reports[0].target(name) for name in names]
    tracks = rules([len(target.timeline) for target in targets], [target.timeline for target in targets])
    title = reports[0].title if len(reports) == 1 else count(len(reports), "code base")
    return framed(title, _body(reports, names, title, unresolved, unread), ("page.css",), "page.js", tracks)


def plain_header() -> Markup:
    """What stands above a page that has no sections to lead to."""
    return tag("header", tag("span", tag("b", "drift"), "watch", class_="brand"), class_="top")


def footer() -> Markup:
    return tag("footer", f"driftwatch {__version__}. Nothing of the scanned code was run to make this page.")


def framed(title: str, inside: Child, styles: Sequence[str], script_name: str | None, more: str = "") -> str:
    """A document with its policy: style sheets as one, with `more` rules, and at most one script."""
    style = "".join(_ASSETS.joinpath(name).read_text(encoding="utf-8") for name in styles) + more
    script = _ASSETS.joinpath(script_name).read_text(encoding="utf-8") if script_name is not None else ""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} · driftwatch"),
        tag("style", Markup(style)),
    )
    body = tag("body", inside, tag("script", Markup(script)) if script else None)
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _policy(style: str, script: str) -> str:
    def digest(content: str) -> str:
        return base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")

    return (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; script-src 'sha256-{digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _body(
    reports: Sequence[Report], names: Sequence[str], title: str, unresolved: bool, unread: Sequence[Unread]
) -> Iterator[Markup]:
    yield tag("a", "Skip to the matrix", href="#matrix", class_="skip")
    yield tag(
        "header",
        tag("span", tag("b", "drift"), "watch", class_="brand"),
        tag(
            "nav",
            tag("a", "Matrix", href="#matrix"),
            tag("a", "Findings", href="#findings"),
            tag("a", "Signatures", href="#signatures"),
            aria_label="Sections",
        ),
        tag("button", "Theme", type="button", id="theme", title="light or dark (t)", hidden=True),
        tag("button", "Keys", type="button", id="keys", title="keyboard (?)", hidden=True),
        class_="top",
    )
    main: list[Child] = [list(_verdict(reports, names, title)), _controls(reports, names)]
    main.append(tag("section", [_matrix(reports, n, i) for i, n in enumerate(names)], id="matrix", aria_label="Matrix"))
    if unread:
        said = [tag("li", tag("b", each.name), f": {each.reason}") for each in unread]
        main.append(tag("section", tag("h2", "Not looked at"), tag("ul", said), aria_label="Not looked at"))
    main.append(tag("section", _findings(reports, names), id="findings"))
    main.append(tag("section", _signatures(reports, names), id="signatures"))
    main.append(_unseen(reports, unresolved))
    yield tag("main", main)
    yield footer()
    yield tag("output", id="tip", hidden=True)
    yield _help()


# -- verdict -------------------------------------------------------------------------------------------------------


def _verdict(reports: Sequence[Report], names: Sequence[str], title: str) -> Iterator[Markup]:
    several = len(reports) > 1
    counts = [report.counts for report in reports]
    silent = sum(c.silent for c in counts)
    said = [
        count(sum(c.errors for c in counts), "error") + (f", {silent} silent" if silent else ""),
        count(sum(c.warnings for c in counts), "warning"),
        count(sum(c.notes for c in counts), "note"),
        f"{count(sum(c.files for c in counts), 'file')}, {sum(c.analysed for c in counts)} analysed",
    ]
    unresolved = sum(c.unresolved for c in counts)
    if unresolved:
        said.append(count(unresolved, "unresolved call"))
    yield tag("h1", title or "This code base")
    yield tag("p", " · ".join(said), class_="lead")
    if several:
        for each in reports:
            yield from _attention(each.notices, each.title)
            partly = but_for_the_unread(each)
            if partly is not None:
                yield tag("p", tag("b", "Attention: "), f"{each.title} is {partly}.", class_="way-out")
        return
    report = reports[0]
    partly = but_for_the_unread(report)
    if partly is not None:
        yield tag("p", tag("b", "Attention: "), f"this is {partly}.", class_="way-out")
    shown = {notice for name in names if report.target(name).uses for notice in report.target(name).notices}
    yield from _attention(notice for notice in report.notices if notice not in shown)
    for name in names:
        target = report.target(name)
        if not target.uses:
            where = "in what could be read" if report.unread else "here"
            yield tag("p", tag("code", target.module), f" is not used {where}.", class_="lead")
            continue
        yield from _standing(report, target)


def _attention(notices: Iterable[Notice], title: str = "") -> Iterator[Markup]:
    for notice in notices:
        place = copied(f"{notice.path}:{notice.line}")
        whose = f" {title}: " if title else " "
        yield tag("p", tag("b", "Attention:"), whose, place, " ", ticked(notice.message), class_="way-out")


def _standing(report: Report, target: TargetReport) -> Iterator[Markup]:
    timeline = target.timeline
    yield tag(
        "p",
        "against ",
        tag("b", target.distribution),
        f": checked {ranges(timeline, target.checked)} of {len(timeline)} known ",
        tag("small", f"({target.origin})"),
        class_="against",
    )
    yield from _attention(target.notices)
    hopeless = apart(report, target)
    if hopeless:
        yield tag("p", tag("b", "Apart from "), f"{hopeless}:", class_="way-out")
    view = target.but_for_the_hopeless
    tiles = [
        _tile(State.WORKS, "works with", view.compatible - view.degraded, target),
        _tile(State.DEGRADED, "degraded with", view.degraded, target),
        _tile(State.BREAKS, "breaks with", view.broken, target, silently(report, view)),
    ]
    yield tag("div", tiles, class_="tiles")
    old = before(target)
    if old:
        yield tag("p", tag("b", "Before: "), old, class_="way-out")
    out = way_out(report, target, "below")
    if out is not None:
        wanted = tag("code", out[1]) if out[1] else None
        yield tag("p", tag("b", "Way out: "), out[0], wanted, out[2], class_="way-out")
    for label, sentence in outlook(report, target):
        yield tag("p", tag("b", f"{'An' if label == 'upgrade' else 'A'} {label} "), sentence, class_="way-out")


def _tile(state: State, label: str, releases: ReleaseSet, target: TargetReport, aside: str = "") -> Markup:
    return tag(
        "div",
        tag("span", badge(state), label, class_="label"),
        tag(
            "span",
            tag("b", len(releases)),
            f" of {len(target.checked)}{aside}",
            class_="number",
        ),
        tag("span", target.timeline.describe(releases), class_="which"),
        class_=f"tile {CLASSES[state] if releases else 'none'}",
    )


# -- controls ------------------------------------------------------------------------------------------------------


def _controls(reports: Sequence[Report], names: Sequence[str]) -> Markup:
    chips = [
        tag(
            "button",
            badge(state),
            WORDS[state].partition(",")[0] if state is not State.CAUTION else "warning",
            type="button",
            class_="state",
            data_state=int(state),
            aria_pressed="false",
        )
        for state in reversed(_LEGEND[:-1])
    ]
    groups = [
        tag(
            "optgroup",
            [
                tag("option", version, value=f"{number}:{index}")
                for index, version in reversed(list(enumerate(reports[0].target(name).timeline.versions)))
            ],
            label=name,
        )
        for number, name in enumerate(names)
    ]
    return tag(
        "div",
        tag(
            "input",
            type="search",
            id="search",
            placeholder="Filter by symbol, file, rule …",
            aria_label="Filter by symbol, file or rule",
            autocomplete="off",
            spellcheck="false",
        ),
        tag(
            "select",
            tag("option", "any release", value=""),
            groups,
            id="release",
            aria_label="Only with this release",
        ),
        tag("span", chips, class_="chips", role="group", aria_label="Only these states"),
        tag("output", id="shown", aria_live="polite"),
        class_="controls",
        id="controls",
        hidden=True,
    )


# -- matrix --------------------------------------------------------------------------------------------------------


def _matrix(reports: Sequence[Report], name: str, number: int) -> Markup:
    first = reports[0].target(name)
    rows: list[Markup] = []
    for whole in all_of_them(whole_rows(reports, name)) if len(reports) > 1 else ():
        works = where(whole.states, State.WORKS, State.CAUTION)
        said = f"works with {len(works)}" if works else "works with none"
        rows.append(
            tag(
                "div", _head(whole, whole.label, said, replace(first, declared=NONE), number, "div"), class_="row whole"
            )
        )
    for base, report in enumerate(reports):
        target = report.target(name)
        places = site_rows(report, target)
        whole = whole_row(report.title or "the whole code base", places, len(target.timeline))
        inner = list(_symbol_folds(report, target, places, base, number))
        if len(reports) == 1:
            rows.append(tag("div", _head(whole, whole.label, "", target, number, "div"), class_="row whole"))
            rows += inner
        else:
            said = _in_short(target, whole)
            head = _head(whole, whole.label, said, target, number, "summary")
            inside = tag("div", inner or tag("p", "not used here", class_="empty"), class_="inside")
            rows.append(tag("details", head, inside, class_="row base", data_text=f"{whole.label} {said}"))
    head = tag(
        "div",
        tag("span", tag("b", name), tag("small", f"{len(first.timeline)} releases"), class_="name"),
        tag("span", scale(first.timeline, first.checked, number), class_="scale"),
        class_="row-head matrix-head",
    )
    legend = [tag("li", badge(state), WORDS[state]) for state in _LEGEND]
    if any(report.target(name).declared for report in reports):
        legend.append(tag("li", tag("u", class_="badge", aria_hidden="true"), "what the code base itself asks for"))
    aside = beside(site for report in reports for site in site_rows(report, report.target(name)))
    return tag(
        "section",
        tag("h2", "What works where"),
        tag("ul", legend, class_="legend"),
        tag("p", f"{BESIDE[0].upper()}{BESIDE[1:]}: {aside}.", class_="besides") if aside else None,
        tag("div", head, rows, class_="grid"),
        class_="library",
        data_library=number,
    )


def _symbol_folds(
    report: Report, target: TargetReport, places: Sequence[Row], base: int, number: int
) -> Iterator[Markup]:
    rows = symbol_rows(places)
    short = short_names((row.symbol for row in rows), target.module)

    def urgency(row: Row) -> tuple[int, int, str]:
        """Trouble within the checked range first, then trouble elsewhere."""
        here = max((state for i, state in enumerate(row.states) if target.checked.mask >> i & 1), default=0)
        problems = where(row.states, State.BREAKS, State.SILENT)
        return (-int(here) if here >= State.DEGRADED else 0, -len(problems), short[row.symbol])

    for row in sorted(rows, key=urgency):
        sites = [place for place in places if place.symbol == row.symbol]
        parts: list[Child] = [_site(site, target, number) for site in sites]
        parts.append(links(report, sites, base))
        said = count(len(sites), "place")
        yield tag(
            "details",
            _head(row, short[row.symbol], said, target, number, "summary"),
            tag("div", parts, class_="inside"),
            class_="row symbol",
            data_text=" ".join([row.symbol, *(site.label for site in sites), *(f.code for f in row.findings)]),
        )


def _head(row: Row, label: str, small: str, target: TargetReport, number: int, element: str) -> Markup:
    return tag(
        element,
        tag(
            "span",
            tag("code", breakable(label) if row.symbol else label),
            tag("small", small) if small else None,
            class_="name",
        ),
        track(target.timeline, row.states, target.checked, number, NONE if row.symbol else target.declared),
        class_="row-head",
    )


def _site(site: Row, target: TargetReport, number: int) -> Markup:
    folder, slash, file = site.label.rpartition("/")
    name = tag(
        "span",
        tag("small", breakable(f"{folder}{slash}")),
        copied(site.label, file),
        tag("small", site.kind),
        class_="name",
    )
    return tag("div", name, track(target.timeline, site.states, target.checked, number), class_="row-head site")


def _in_short(target: TargetReport, row: Row) -> str:
    broken = where(row.states, State.BREAKS, State.SILENT) & target.checked
    if not target.uses:
        return "not used here"
    said = f"breaks with {len(broken)}" if broken else "breaks with none"
    asked = target.timeline.describe(target.declared)
    return f"asks for {asked} · {said}" if target.declared and len(asked) < _LONGEST_ASKED else said


# -- the rest ------------------------------------------------------------------------------------------------------


def _findings(reports: Sequence[Report], names: Sequence[str]) -> Iterator[Markup]:
    yield tag("h2", "Findings")
    empty = True
    for base, report in enumerate(reports):
        shown: list[Child] = [
            list(cards(report, report.target(name), base, number)) for number, name in enumerate(names)
        ]
        if not any(shown):
            continue
        empty = False
        if len(reports) == 1:
            yield join(shown)
        else:
            counts = report.counts
            said = (
                f"{count(counts.errors, 'error')}, {count(counts.warnings, 'warning')}, {count(counts.notes, 'note')}"
            )
            head = tag("summary", tag("b", report.title), " ", tag("small", said))
            yield tag("details", head, shown, class_="base-findings")
    if empty:
        yield tag("p", "Nothing: every use that could be followed fits.", class_="empty")


def _signatures(reports: Sequence[Report], names: Sequence[str]) -> Iterator[Markup]:
    yield tag("h2", "Signatures over time")
    yield tag("p", "What each used symbol takes, and since when. New parameters are underlined.", class_="about")
    for number, name in enumerate(names):
        history = reports[0].target(name).history
        if history is None:
            continue
        refs = {site.ref for report in reports for site in report.target(name).sites}
        found: list[Finding] = [finding for report in reports for finding in report.findings]
        yield tag("div", list(symbols(history, refs, found, number)), class_="grid", data_library=number)


def _unseen(reports: Sequence[Report], unresolved: bool) -> Markup | None:
    """What was not looked at in full, and decisions that no longer decide anything."""
    items: list[Markup] = []
    for report in reports:
        lead = f"{report.title}: " if len(reports) > 1 else ""
        told = [(item.path, item.line, item.message) for item in report.diagnostics]
        told += [(item.path, item.line, item.message) for item in report.idle]
        if unresolved:
            told += [(item.path, item.line, f"unresolved: {item.reason}") for item in report.unresolved]
        for path, line, words in told:
            at = path if line is None else f"{path}:{line}"
            items.append(tag("li", lead, copied(at), " ", ticked(words)))
    if not items:
        return None
    return tag("section", tag("h2", "To look at"), tag("ul", items), class_="unseen")


def _help() -> Markup:
    keys = (
        ("/", "filter"),
        ("j k", "next, previous row or finding"),
        ("Enter", "open or close it"),
        ("← →", "one release back, forward"),
        ("e", "only what breaks"),
        ("t", "light or dark"),
        ("Esc", "clear all filters"),
        ("click", "on file:line to copy it"),
    )
    rows = [tag("div", tag("dt", tag("kbd", key)), tag("dd", what)) for key, what in keys]
    close = tag("button", "Close", type="button", id="close-help")
    return tag("dialog", tag("h2", "Keyboard"), tag("dl", rows), close, id="help", aria_label="Keyboard")
