"""What a state of a library does to code bases, on a terminal: change after change, with the places that it reaches.

Enters: an impact. Leaves: text whose last line says whether anything breaks. What touches nobody is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from driftwatch.report.changes import words
from driftwatch.report.excerpt import excerpt
from driftwatch.report.phrases import count, outcome
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.snapshot.comparison.diff import Change, ChangeKind
from driftwatch.watching.reach import Effect, Impact, Reach, Touch, by_code

LABELS: dict[Effect, tuple[str, str]] = {
    Effect.BREAKS: ("breaks", "error"),
    Effect.SILENT: ("SILENT", "silent"),
    Effect.OFF: ("off", "note"),
    Effect.DEPRECATED: ("deprecated", "warning"),
    Effect.DIFFERS: ("differs", "warning"),
    Effect.LOOK: ("look", "note"),
}
"""Each effect as a word, and the style that helps the eye."""

DID: dict[Effect, tuple[str, str]] = {
    Effect.BREAKS: ("breaks", "place"),
    Effect.SILENT: ("breaks silently", "place"),
    Effect.OFF: ("switches off", "place"),
    Effect.DEPRECATED: ("deprecates", "place"),
    Effect.DIFFERS: ("changes what is done at", "place"),
    Effect.LOOK: ("is worth a look at", "place"),
}
_MOST_UNUSED = 200


def render(impact: Impact, look: Look, *, everything: bool = False) -> str:
    """The text; with `everything`, the changes that touch nobody as well."""
    return compose(_lines(impact, look, everything), look)


def headline(impact: Impact) -> str:
    """One line: what it does to whom; plain text."""
    return safe(f"{impact.distribution} {impact.now.version}: {verdict(impact)}")


def verdict(impact: Impact) -> str:
    """What it does to whom, worst first."""
    touches = impact.touches()
    said: list[str] = []
    broken = [touch for touch in touches if touch.effect in (Effect.BREAKS, Effect.SILENT)]
    if broken:
        silent = sum(touch.effect is Effect.SILENT for touch in broken)
        names = dict.fromkeys(touch.code for touch in broken)
        quiet = f" ({silent} silently)" if silent else ""
        said.append(f"breaks {count(len(broken), 'place')}{quiet} of {', '.join(names)}")
    else:
        said.append(f"breaks nothing in {count(len(impact.release.code), 'code base')}")
    for effect in (Effect.OFF, Effect.DEPRECATED, Effect.DIFFERS):
        number = sum(touch.effect is effect for touch in touches)
        if number:
            said.append(f"{DID[effect][0]} {count(number, 'place')}")
    if impact.unread:
        said.append(f"{count(len(impact.unread), 'code base')} could not be looked at")
    return ", ".join(said)


def change_words(impact: Impact, change: Change) -> str:
    """A change in words, with the name that it is of."""
    said = words(change, impact.release.symbols.get(change.ref))
    name = safe(change.ref.dotted.removeprefix(f"{impact.module}."))
    if change.kind is ChangeKind.SYMBOL_ADDED:
        return f"{name} is new"
    if change.kind is ChangeKind.SYMBOL_REMOVED:
        return f"{name} is removed{f' ({said.remark})' if said.remark else ''}"
    return f"{name}: {said.sign} {said.text}{f' ({said.remark})' if said.remark else ''}"


def counted(touches: Sequence[Touch]) -> str:
    """``breaks 3 places, deprecates 1 place``."""
    found = Counter(touch.effect for touch in touches)
    return ", ".join(f"{DID[effect][0]} {count(found[effect], DID[effect][1])}" for effect in Effect if found[effect])


def _lines(impact: Impact, look: Look, everything: bool) -> Iterator[Line | Hanging]:
    yield Hanging(
        (Span(f"{safe(impact.distribution)} {safe(impact.now.version)}", "heading"), Span(" ")),
        (Span(f"({safe(impact.now.said)}) held against {safe(impact.base.version)} ({safe(impact.base.said)})"),),
    )
    yield ()
    for reach in impact.reaching:
        yield Hanging(
            (Span(f"{change_words(impact, reach.change)}", "changed"),), (Span(f"  {counted(reach.touches)}", "dim"),)
        )
        for touch in reach.touches:
            yield from _touch(impact, touch, look)
        yield ()
    if impact.besides:
        yield (Span("What no change of the API shows", "changed"),)
        for touch in impact.besides:
            yield from _touch(impact, touch, look)
        yield ()
    for begin in impact.release.behaviour:
        what = "begins" if begin.begins else "ends"
        yield Hanging((Span(f"behaviour {what}: ", "changed"),), (Span(safe(begin.message)),))
    if impact.used:
        yield (Span(f"{count(len(impact.used), 'change')} of what is used, all places of it as right as before:"),)
        for reach in impact.used:
            yield Hanging((Span("  "),), (Span(change_words(impact, reach.change)), Span(f"  {_users(reach)}", "dim")))
        yield ()
    if impact.unused:
        more = "" if everything else "; --all lists them"
        yield (Span(f"{count(len(impact.unused), 'change')} touch nobody here{more}"),)
        for change in impact.unused[:_MOST_UNUSED] if everything else ():
            yield Hanging((Span("  "),), (Span(change_words(impact, change)),))
        if everything and len(impact.unused) > _MOST_UNUSED:
            yield (Span(f"  and {len(impact.unused) - _MOST_UNUSED} more"),)
        yield ()
    if not impact.release.changes:
        yield (Span("the API is the same"),)
        yield ()
    yield from _code(impact)
    yield (Span(headline(impact), "error" if impact.breaks else "good"),)


def _touch(impact: Impact, touch: Touch, look: Look) -> Iterator[Line | Hanging]:
    finding, hits = touch.finding, impact.hits(touch.code)
    label, style = LABELS[touch.effect]
    place = f"{finding.location.path}:{finding.location.line}:{finding.location.column}"
    yield Hanging(
        (Span(f"  {label:<10} ", style),),
        (Span(f"{safe(touch.code)} ", "path"), Span(safe(place), "path"), Span(f" {finding.code} {finding.name}")),
    )
    yield Hanging((Span("             "),), (Span(safe(finding.message)),))
    said = outcome(finding, hits.source)
    if said is not None:
        yield Hanging((Span("             "),), (Span(said),))
    yield from excerpt(finding, hits.source, look.width, "             ")


def _users(reach: Reach) -> str:
    return ", ".join(f"{safe(name)} in {count(number, 'place')}" for name, number in reach.used)


def _code(impact: Impact) -> Iterator[Line | Hanging]:
    touched = by_code(impact)
    width = max(len(safe(name)) for name in (*touched, *(each.name for each in impact.unread)))
    for hits in impact.release.code:
        touches = touched[hits.name]
        breaks = any(touch.effect in (Effect.BREAKS, Effect.SILENT) for touch in touches)
        said = counted(touches) or ("works as before" if hits.sites else "does not use it")
        if hits.already:
            said += f"; {count(hits.already, 'place')} broken before"
        if hits.unresolved:
            said += f"; {count(hits.unresolved, 'call')} could not be followed"
        if hits.unread:
            said += f"; {count(hits.unread, 'file')} could not be read whole"
        yield Hanging(
            (Span(f"  {safe(hits.name):<{width}}  ", "path"),),
            (Span(said, "error" if breaks else ""),),
        )
    for each in impact.unread:
        yield Hanging(
            (Span(f"  {safe(each.name):<{width}}  ", "path"),),
            (Span(f"not looked at: {safe(each.reason)}", "error"),),
        )
    yield ()
