"""The page about what a target knows beside its snapshots, as Markdown: each entry with its releases and its evidence.

Releases stand as the data selects them, so that a new release leaves the page as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from driftwatch.findings.finding import RELEASES
from driftwatch.rules.advisories import Knowledge

_INTRODUCTION = """\
A scan tells these as DW401, and what fails on import as DW501; `driftwatch diff` and `driftwatch watch` tell which of
them begin or end in a release. Each was looked for in the sources of the releases it names, and of those beside them:
the column "in the sources" says where. An advisory is not told of a release in which the call fails anyway."""

_GPUS = "`driftwatch scan --gpu sm120` holds calls against these (DW402), and `driftwatch history` shows them."


def page(title: str, knowledge: Knowledge) -> str:
    """The whole page. `title` is the library's module."""
    lines = [f"# What no signature of `{title}` shows", "", *_INTRODUCTION.split("\n")]
    lines += ["", "## Advisories", "", *_advisories(knowledge)]
    lines += ["", "## Failing imports", "", *_failures(knowledge)]
    lines += ["", "## GPUs that kernels are there for", "", _GPUS, "", *_kernels(knowledge)]
    lines += ["", "## Reported, and not told", "", *_reported(knowledge)]
    return "\n".join([*lines, "", "Made from the target's data by `scripts/rule_pages.py`.", ""])


def _advisories(knowledge: Knowledge) -> Iterator[str]:
    yield from _head("name", "releases", "of", "what", "in the sources", "references")
    for each in knowledge.advisories:
        names = dict.fromkeys(symbol.qualname for symbol in each.symbols)
        what = each.message.replace(f" in {RELEASES}", "")
        what = f"**{each.severity.value}**: {what}; {each.hint}"
        yield _row(each.id, f"`{each.specifier}`", _code(names), what, each.ground, _links(each.evidence))


def _failures(knowledge: Knowledge) -> Iterator[str]:
    yield from _head("name", "releases", "of", "what", "in the sources", "references")
    for each in knowledge.import_failures:
        what = f"`{each.exception}` {each.when}"
        yield _row(each.id, f"`{each.specifier}`", f"`{each.module}`", what, each.ground, _links(each.evidence))


def _kernels(knowledge: Knowledge) -> Iterator[str]:
    yield from _head("name", "releases", "of", "compute capabilities", "in the sources", "references")
    for each in knowledge.kernels:
        names = _code(dict.fromkeys(symbol.qualname for symbol in each.symbols))
        compute = ", ".join(one if "." in one else f"{one}.x" for one in each.compute)
        yield _row(each.id, f"`{each.specifier}`", names, compute, each.ground, _links(each.evidence))


def _reported(knowledge: Knowledge) -> Iterator[str]:
    yield from _head("what", "why it is not told", "references")
    for each in knowledge.reported:
        yield _row(each.what, each.reason, _links(each.evidence))


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield f"|{'---|' * len(titles)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _links(evidence: Iterable[str]) -> str:
    """References by project and number, as people write them."""
    return ", ".join(f"[{_short(link)}]({link})" for link in evidence)


def _short(link: str) -> str:
    parts = link.rstrip("/").split("/")
    if "blob" in parts:
        return f"{parts[4]} {parts[6]} {parts[-1]}"
    return f"{parts[-3]} {parts[-1]}"
