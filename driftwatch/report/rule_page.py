"""A rule explained from the rule itself: what it is for, what it finds, what to do, and its examples."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from driftwatch.flow.uses import Outcome
from driftwatch.repair.examples import EXAMPLES, RepairExample
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.rules.rule import Example, Expected, Rule


def render(rule: Rule, look: Look) -> str:
    """One rule's page."""
    return compose(_page(rule), look)


def render_index(rules: tuple[Rule, ...], look: Look) -> str:
    """All rules, one line each."""
    width = max(len(rule.name) for rule in rules)
    return compose(
        [
            Hanging(
                (
                    Span(rule.code, "code"),
                    Span(f" {rule.name:<{width}} "),
                    Span(f"{rule.severity.value:<8}", rule.severity.value),
                ),
                (Span(rule.summary),),
            )
            for rule in rules
        ],
        look,
    )


def _page(rule: Rule) -> Iterator[Line | Hanging]:
    yield (
        Span(f"{rule.code} {rule.name}", "heading"),
        Span("  "),
        Span(rule.severity.value, rule.severity.value),
    )
    yield ()
    yield Hanging((), (Span(rule.summary, "code"),))
    yield ()
    for paragraph in rule.rationale.split("\n\n"):
        yield Hanging((), (Span(paragraph.replace("\n", " ")),))
        yield ()
    yield Hanging((Span("What to do: ", "code"),), (Span(rule.hint),))
    for title, style, examples in (("Found", "error", rule.bad), ("Not found", "good", rule.good)):
        for example in examples:
            yield ()
            yield from _example(title, style, example)
    for fixed in EXAMPLES.get(rule.code, ()):
        yield ()
        yield from _fixed(fixed)


def _fixed(fixed: RepairExample) -> Iterator[Line | Hanging]:
    against = f" (for {fixed.against})" if fixed.against else ""
    option = " with --unsafe" if fixed.unsafe else ""
    yield Hanging((Span(f"Fixed by `driftwatch fix`{option}: ", "good"),), (Span(f"{fixed.title}{against}"),))
    before, after = fixed.before.splitlines(), fixed.after.splitlines()
    for line in list(unified_diff(before, after, n=len(before), lineterm=""))[3:]:
        yield (Span("     | ", "frame"), Span(line, {"+": "added", "-": "removed"}.get(line[:1], "")))


def _example(title: str, style: str, example: Example) -> Iterator[Line | Hanging]:
    against = f" (against {example.against})" if example.against else ""
    yield Hanging((Span(f"{title}: ", style),), (Span(f"{example.title}{against}"),))
    expected = {item.line: item for item in example.expected}
    for number, line in enumerate(example.source.splitlines(), 1):
        here = expected.get(number)
        yield (
            Span(f"{number:4} | ", "frame"),
            Span(line),
            *((Span(f"   <- {_verdict(here)}", "primary"),) if here else ()),
        )
    for name, beside in example.beside:
        yield (Span("     | ", "frame"), Span(f"beside it, in {name}:", "frame"))
        for number, line in enumerate(beside.splitlines(), 1):
            yield (Span(f"{number:4} | ", "frame"), Span(line))


def _verdict(expected: Expected) -> str:
    how = "silently lost in" if expected.outcome is Outcome.SILENT else "breaks in" if expected.outcome else "in"
    return f"{how} {expected.releases}"
