"""What a state of a library does to code bases, as one page that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftwatch.report.html.findings import badge
from driftwatch.report.html.markup import Child, Markup, copied, tag, ticked
from driftwatch.report.html.page import footer, framed, plain_header
from driftwatch.report.html.source import source
from driftwatch.report.impact import LABELS, change_words, counted, headline
from driftwatch.report.phrases import count, outcome, position
from driftwatch.report.states import State
from driftwatch.watching.reach import Effect, Impact, Touch, by_code

_STATES = {
    Effect.BREAKS: State.BREAKS,
    Effect.SILENT: State.SILENT,
    Effect.OFF: State.DEGRADED,
    Effect.DEPRECATED: State.CAUTION,
    Effect.DIFFERS: State.CAUTION,
    Effect.LOOK: State.WORKS,
}


def render(impact: Impact) -> str:
    """The page."""
    main = tag("main", list(_body(impact)))
    return framed(headline(impact), [plain_header(), main, footer()], ("page.css",), None)


def _body(impact: Impact) -> Iterator[Child]:
    yield tag("h1", headline(impact))
    yield tag(
        "p",
        f"{impact.now.version} ({impact.now.said}) held against {impact.base.version} ({impact.base.said})",
        class_="lead",
    )
    yield tag("section", tag("table", _table(impact), class_="plain"), id="code", aria_label="Code bases")
    for number, reach in enumerate(impact.reaching):
        head = tag("h2", change_words(impact, reach.change), " ", tag("small", counted(reach.touches)))
        yield tag("section", head, _cards(impact, reach.touches, number), class_="cards")
    if impact.besides:
        head = tag("h2", "What no change of the API shows")
        yield tag("section", head, _cards(impact, impact.besides, len(impact.reaching)), class_="cards")
    for title, rows in (
        (
            f"{count(len(impact.used), 'change')} of what is used, all places as right as before",
            [f"{change_words(impact, r.change)} ({', '.join(f'{n}: {c}' for n, c in r.used)})" for r in impact.used],
        ),
        (
            f"{count(len(impact.unused), 'change')} touch nobody here",
            [change_words(impact, change) for change in impact.unused],
        ),
    ):
        if rows:
            yield tag("details", tag("summary", title), tag("ul", [tag("li", tag("code", row)) for row in rows]))


def _table(impact: Impact) -> Iterator[Markup]:
    touched = by_code(impact)
    heads = ("code base", "uses it in", "what it meets", "broken before")
    yield tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads]))
    rows: list[Markup] = []
    for hits in impact.release.code:
        touches = touched[hits.name]
        state = _STATES[touches[0].effect] if touches else State.WORKS if hits.sites else State.UNREACHED
        said = counted(touches) or ("works as before" if hits.sites else "does not use it")
        cells = (count(len(hits.sites), "place"), (badge(state), " ", said), hits.already or "none")
        rows.append(tag("tr", tag("th", hits.name, scope="row"), [tag("td", cell) for cell in cells]))
    for each in impact.unread:
        told = (tag("td", "not looked at"), tag("td", each.reason), tag("td"))
        rows.append(tag("tr", tag("th", each.name, scope="row"), told))
    yield tag("tbody", rows)


def _cards(impact: Impact, touches: Sequence[Touch], number: int) -> list[Markup]:
    return [_card(impact, touch, f"c{number}-{place}") for place, touch in enumerate(touches)]


def _card(impact: Impact, touch: Touch, anchor: str) -> Markup:
    finding, hits = touch.finding, impact.hits(touch.code)
    said = outcome(finding, hits.source)
    head = tag(
        "summary",
        badge(_STATES[touch.effect]),
        tag(
            "span",
            tag("b", touch.code),
            " ",
            tag("span", LABELS[touch.effect][0], class_="chip"),
            " ",
            tag("span", f"{finding.code} {finding.name}", class_="rule"),
            " ",
            copied(position(finding)),
            class_="meta",
        ),
        tag("span", ticked(finding.message), class_="message"),
    )
    body: list[Child] = [tag("p", ticked(said)) if said is not None else None, list(source(hits.source, finding))]
    return tag("details", head, tag("div", body, class_="body"), class_="finding", id=anchor, open=True)
