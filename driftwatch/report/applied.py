"""What applies and where from, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from driftwatch.project.applied import DEFAULT, Applied, AppliedTarget
from driftwatch.report.phrases import count
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose

_EMPTY = {
    "against": "what the project declares, else the newest release",
    "select": "all rules",
    "baseline": "none",
    "watch": "none",
}
"""What a key means that is not set."""


def render(shown: Applied, look: Look) -> str:
    return compose(_lines(shown), look)


def render_json(shown: Applied) -> str:
    form = {
        "schema": 1,
        "file": str(shown.path) if shown.path is not None else None,
        "settings": {
            setting.key: {"values": list(setting.values), "source": setting.source} for setting in shown.settings
        },
        "targets": [
            {
                "distribution": target.distribution,
                "module": target.module,
                "source": target.source,
                "snapshots": str(target.snapshots),
                "known": list(target.known),
                "checked": list(target.checked),
                "reason": target.reason,
                "error": target.error,
            }
            for target in shown.targets
        ],
    }
    return json.dumps(form, indent=2) + "\n"


def _lines(shown: Applied) -> Iterator[Line | Hanging]:
    if shown.path is None:
        yield (Span("no configuration file: every value is a default", "dim"),)
    else:
        yield Hanging((Span("configuration  ", "code"),), (Span(safe(str(shown.path))),))
    yield ()
    width = max(len(setting.key) for setting in shown.settings)
    for setting in shown.settings:
        said = "; ".join(setting.values) or _EMPTY.get(setting.key, "nothing")
        where = "" if setting.source == DEFAULT else f"   {setting.source}"
        yield Hanging(
            (Span(f"{setting.key:<{width}}  ", "code"),),
            (Span(safe(said), "" if where else "dim"), Span(safe(where), "dim")),
        )
    for target in shown.targets:
        yield ()
        yield from _target(target)


def _target(target: AppliedTarget) -> Iterator[Line | Hanging]:
    yield (
        Span(safe(target.distribution), "heading"),
        Span(f"  {safe(target.module)}   "),
        Span(safe(target.source), "dim"),
    )
    if target.known:
        known = f"{count(len(target.known), 'release')}, {target.known[0]} to {target.known[-1]}"
        yield Hanging(
            (Span("  known    ", "code"),), (Span(safe(known)), Span(f"   {safe(str(target.snapshots))}", "dim"))
        )
    if target.error is not None:
        yield Hanging((Span("  error    ", "error"),), (Span(safe(target.error)),))
        return
    checked = f"{target.described}, {count(len(target.checked), 'release')}"
    yield Hanging((Span("  checked  ", "code"),), (Span(safe(checked)), Span(f"   {safe(target.reason)}", "dim")))
