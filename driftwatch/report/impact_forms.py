"""What a state of a library does to code bases, as JSON and as Markdown for a pull request of the library.

Enters: an impact. Leaves: JSON in the form of impact_schema_v1.json, or Markdown that begins with a marker, by which a
comment can be found again, and never grows past what a comment may have. Names, messages and paths have no effect as
markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from driftwatch import __version__
from driftwatch.report.changes import change_form
from driftwatch.report.diff import behaviour_forms
from driftwatch.report.impact import change_words, counted, headline
from driftwatch.report.json_v1 import finding_form
from driftwatch.report.markdown import LONGEST, code, text
from driftwatch.report.phrases import count, outcome
from driftwatch.snapshot.comparison.diff import Change
from driftwatch.watching.reach import Effect, Impact, Reach, Touch, by_code

MARKER = "<!-- driftwatch impact -->"
_MOST_PLACES = 40
_MOST_CHANGES = 100
_SIGNS = {
    Effect.BREAKS: "❌",
    Effect.SILENT: "🤫",
    Effect.OFF: "🔶",
    Effect.DEPRECATED: "⏳",
    Effect.DIFFERS: "⚠️",
    Effect.LOOK: "👀",
}


# -- JSON --------------------------------------------------------------------------------------------------------------


def render_json(impact: Impact) -> str:
    touched = by_code(impact)
    form = {
        "schema": 1,
        "tool": {"name": "driftwatch", "version": __version__},
        "title": headline(impact),
        "breaks": impact.breaks,
        "library": {
            "distribution": impact.distribution,
            "module": impact.module,
            "version": impact.now.version,
            "source": impact.now.said,
        },
        "base": {"version": impact.base.version, "source": impact.base.said},
        "code": [
            {
                "name": hits.name,
                "uses": len(hits.sites),
                "requirement": hits.requirement,
                "allowed": hits.allowed,
                "already_broken": hits.already,
                "unresolved": hits.unresolved,
                "effects": {e.value: sum(t.effect is e for t in touched[hits.name]) for e in Effect},
            }
            for hits in impact.release.code
        ],
        "not_looked_at": [{"code_base": each.name, "reason": each.reason} for each in impact.unread],
        "changes": [_reach(impact, reach) for reach in (*impact.reaching, *impact.used)],
        "besides": [_touch(impact, touch) for touch in impact.besides],
        "behaviour": behaviour_forms(impact.release.behaviour),
        "untouched": [_change(change) for change in impact.unused],
    }
    return json.dumps(form, indent=2) + "\n"


def _change(change: Change) -> dict[str, object]:
    return {**change_form(change), "also": [str(ref) for ref in change.also]}


def _reach(impact: Impact, reach: Reach) -> dict[str, object]:
    return {
        **_change(reach.change),
        "places": [_touch(impact, touch) for touch in reach.touches],
        "used": [{"code_base": name, "places": number} for name, number in reach.used],
    }


def _touch(impact: Impact, touch: Touch) -> dict[str, object]:
    timeline = impact.hits(touch.code).timeline
    return {"code_base": touch.code, "effect": touch.effect.value, "finding": finding_form(touch.finding, timeline)}


# -- Markdown ----------------------------------------------------------------------------------------------------------


def render_markdown(impact: Impact) -> str:
    blocks = list(_blocks(impact))
    fitting: list[str] = []
    room = LONGEST - 200
    for block in blocks:
        room -= len(block) + 2
        if room < 0:
            fitting.append("… and more that would not fit here.")
            break
        fitting.append(block)
    return "\n\n".join(fitting) + "\n"


def _blocks(impact: Impact) -> Iterator[str]:
    yield MARKER
    yield f"## {text(headline(impact))}"
    yield (
        f"{code(impact.now.version)} ({text(impact.now.said)}), held against {code(impact.base.version)} "
        f"({text(impact.base.said)})."
    )
    yield "\n".join(_table(impact))
    for reach in impact.reaching:
        head = f"**{code(change_words(impact, reach.change))}** {text(counted(reach.touches))}"
        yield "\n".join([head, "", *_places(impact, reach.touches)])
    if impact.besides:
        yield "\n".join(["**What no change of the API shows**", "", *_places(impact, impact.besides)])
    for begin in impact.release.behaviour:
        yield f"- behaviour {'begins' if begin.begins else 'ends'}: {text(begin.message)}"
    if impact.used:
        rows = [f"- {code(change_words(impact, reach.change))}: {text(_users(reach))}" for reach in impact.used]
        yield _folded(f"{count(len(impact.used), 'change')} of what is used, all places as right as before", rows)
    if impact.unused:
        rows = [f"- {code(change_words(impact, change))}" for change in impact.unused]
        yield _folded(f"{count(len(impact.unused), 'change')} touch nobody here", rows)


def _table(impact: Impact) -> Iterator[str]:
    touched = by_code(impact)
    yield "| code base | uses it in | what it meets | broken before |"
    yield "|---|---|---|---|"
    for hits in impact.release.code:
        touches = touched[hits.name]
        sign = _SIGNS[touches[0].effect] if touches else "✅"
        said = text(counted(touches)) or ("works as before" if hits.sites else "does not use it")
        before = count(hits.already, "place") if hits.already else "none"
        yield f"| {code(hits.name)} | {count(len(hits.sites), 'place')} | {sign} {said} | {before} |"
    for each in impact.unread:
        yield f"| {code(each.name)} | not looked at | {text(each.reason)} | |"


def _places(impact: Impact, touches: Sequence[Touch]) -> Iterator[str]:
    for touch in touches[:_MOST_PLACES]:
        finding = touch.finding
        how = outcome(finding, impact.hits(touch.code).source)
        place = code(f"{finding.location.path}:{finding.location.line}")
        said = f"; {text(how)}" if how is not None else ""
        yield f"- {_SIGNS[touch.effect]} {code(touch.code)} {place} {finding.code}: {text(finding.message)}{said}"
    if len(touches) > _MOST_PLACES:
        yield f"- … and {len(touches) - _MOST_PLACES} more"


def _users(reach: Reach) -> str:
    return ", ".join(f"{name} in {count(number, 'place')}" for name, number in reach.used)


def _folded(title: str, rows: Sequence[str]) -> str:
    shown = [
        *rows[:_MOST_CHANGES],
        *([f"- … and {len(rows) - _MOST_CHANGES} more"] if len(rows) > _MOST_CHANGES else []),
    ]
    return "\n".join([f"<details><summary>{title}</summary>", "", *shown, "", "</details>"])
