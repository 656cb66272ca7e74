"""A rule's page as Markdown, made from the rule itself: what ``docs/rules/`` holds, and a test keeps current."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import PurePath

from driftwatch.flow.uses import Outcome
from driftwatch.repair.examples import EXAMPLES, RepairExample
from driftwatch.report.markdown import code, text
from driftwatch.rules.rule import Example, Rule

INDEX = "README.md"
_LANGUAGES = {".py": "python", ".toml": "toml"}
_NOTE = "Made from the rule by `scripts/rule_pages.py`."


def pages(rules: Sequence[Rule]) -> dict[str, str]:
    """Every page by its file name: one a rule, and the index of them."""
    return {INDEX: index(rules), **{f"{rule.code}.md": render(rule) for rule in rules}}


def index(rules: Sequence[Rule]) -> str:
    """All rules in one table."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} | {text(rule.summary)} |"
        for rule in rules
    ]
    lines = [
        "# Rules",
        "",
        "| code | name | severity | what |",
        "|---|---|---|---|",
        *rows,
        "",
        "A code never changes its meaning. `driftwatch explain CODE` prints a page, `select`, `ignore`, `severity` and",
        "`per-file-ignores` in `[tool.driftwatch]` take codes and the beginnings of codes.",
        "",
        _NOTE,
    ]
    return "\n".join(lines) + "\n"


def render(rule: Rule) -> str:
    """One rule's page."""
    return "\n".join(_lines(rule)) + "\n"


def _lines(rule: Rule) -> Iterator[str]:
    yield f"# {rule.code} {rule.name}"
    yield ""
    yield f"**{rule.severity.value}**: {text(rule.summary)}"
    yield ""
    for paragraph in rule.rationale.split("\n\n"):
        yield text(" ".join(paragraph.split()))
        yield ""
    yield f"**What to do**: {text(rule.hint)}"
    for title, examples in (("Found", rule.bad), ("Not found", rule.good)):
        if examples:
            yield ""
            yield f"## {title}"
        for example in examples:
            yield from _example(example)
    if rule.code in EXAMPLES:
        yield ""
        yield "## Fixed"
    for fixed in EXAMPLES.get(rule.code, ()):
        yield from _fixed(fixed)
    yield ""
    yield f"[All rules]({INDEX}). {_NOTE}"


def _fixed(fixed: RepairExample) -> Iterator[str]:
    """What `driftwatch fix` makes of a file, as a diff of the whole."""
    against = f", for {code(fixed.against)}" if fixed.against else ""
    option = f", with {code('--unsafe')}" if fixed.unsafe else ""
    yield ""
    yield f"{text(fixed.title)}{against}{option}:"
    yield ""
    yield "```diff"
    before, after = fixed.before.splitlines(), fixed.after.splitlines()
    yield from list(unified_diff(before, after, n=len(before), lineterm=""))[3:]
    yield "```"


def _example(example: Example) -> Iterator[str]:
    against = f", checked against {code(example.against)}" if example.against else ""
    name = f" In {code(example.file)}:" if example.file != "app.py" else ""
    yield ""
    yield f"{text(example.title)}{against}:{name}"
    yield ""
    yield f"```{_LANGUAGES.get(PurePath(example.file).suffix, 'text')}"
    yield from example.source.rstrip("\n").split("\n")
    yield "```"
    for name, beside in example.beside:
        yield from ("", f"Beside it, in {code(name)}:", "")
        yield f"```{_LANGUAGES.get(PurePath(name).suffix, 'text')}"
        yield from beside.rstrip("\n").split("\n")
        yield "```"
    if example.expected:
        yield ""
    for expected in example.expected:
        how = {Outcome.SILENT: "is lost in silence in", Outcome.RAISES: "breaks in", Outcome.GUARDED: "is guarded in"}
        ending = how[expected.outcome] if expected.outcome is not None else "holds in"
        yield f"- line {expected.line} {ending} {text(expected.releases)}"
