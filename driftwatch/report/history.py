"""What happened to one symbol, release by release, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypedDict

from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.report.changes import ChangeForm, change_form, words
from driftwatch.report.phrases import ranges
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.rules.advisories import Condition, Kernels
from driftwatch.rules.unsupported_gpu import compute, told
from driftwatch.snapshot.comparison.diff import Change, ChangeKind, DatedChange, Grade, changes_of, summary
from driftwatch.snapshot.model.gpu_facts import GpuFact, Said
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, Symbol, SymbolKind


class DatedForm(ChangeForm):
    release: str
    previous: str | None


class KernelsForm(TypedDict):
    compute: list[str]
    releases: list[str]
    conditional: bool
    evidence: list[str]


class AcceptsForm(TypedDict):
    says: str
    values: list[str]
    releases: list[str]
    by: str
    perhaps: bool


class SymbolForm(TypedDict):
    symbol: str
    kind: str
    releases: list[str]
    changes: list[DatedForm]
    kernels: list[KernelsForm]
    accepts: list[AcceptsForm]


class HistoryForm(TypedDict):
    schema: int
    target: str
    symbols: list[SymbolForm]


def render(history: History, refs: Sequence[Ref], look: Look, kernels: Sequence[Kernels] = ()) -> str:
    """The life of each reference, and the GPUs that it runs on where `kernels` say so."""
    lines: list[Line | Hanging] = []
    for ref in refs:
        if lines:
            lines.append(())
        lines.extend(_life(history, ref))
        lines.extend(_accepts(history, ref))
        lines.extend(_runs_on(history, ref, kernels))
    return compose(lines, look)


def render_json(history: History, refs: Sequence[Ref], kernels: Sequence[Kernels] = ()) -> str:
    symbols: list[SymbolForm] = [
        {
            "symbol": str(ref),
            "kind": history.of(ref)[-1].symbol.kind.value,
            "releases": list(history.timeline.versions_of(history.present(ref))),
            "changes": [
                {**change_form(dated.change), "release": dated.newer, "previous": dated.older}
                for dated in changes_of(history, ref)
            ],
            "kernels": [
                {
                    "compute": list(each.compute),
                    "releases": list(history.timeline.versions_of(each.releases & history.present(ref))),
                    "conditional": bool(each.conditions),
                    "evidence": list(each.evidence),
                }
                for each in kernels
                if ref in each.symbols
            ],
            "accepts": [
                {
                    "says": fact.said.value,
                    "values": list(fact.values),
                    "releases": list(history.timeline.versions_of(releases)),
                    "by": fact.by,
                    "perhaps": fact.perhaps,
                }
                for fact, releases in _facts(history, ref)
            ],
        }
        for ref in refs
    ]
    form: HistoryForm = {"schema": 1, "target": history.distribution, "symbols": symbols}
    return json.dumps(form, indent=2) + "\n"


def _life(history: History, ref: Ref) -> Iterator[Line | Hanging]:
    present = history.present(ref)
    newest = history.of(ref)[-1].symbol
    changes = changes_of(history, ref)
    yield Hanging(
        (Span(safe(ref.dotted), "heading"), Span("  ")),
        (Span(f"{_kind(newest)} of {safe(history.distribution)}, in {ranges(history.timeline, present)}"),),
    )
    width = max((len(dated.newer) for dated in changes), default=0)
    for release, same in groupby(changes, key=lambda dated: dated.newer):
        yield ()
        first = True
        for dated in sorted(same, key=lambda dated: _place(history, ref, dated)):
            lead = release if first else ""
            yield _change(history, ref, dated, f"  {lead:<{width}}  ")
            first = False
    yield ()
    last = changes[-1].newer if changes else history.timeline.versions_of(present)[0]
    if newest.kind is SymbolKind.MODULE:
        yield (Span("  its names: `driftwatch diff OLD NEW` shows which of them came, went and changed", "dim"),)
    elif history.timeline.newest() <= present:
        form = "" if newest.kind is SymbolKind.CLASS else f": {safe(summary(newest))}"
        yield Hanging((Span("  unchanged since ", "dim"), Span(last, "code")), (Span(form),))
    else:
        yield (Span(f"  gone: the last release that has it is {history.timeline.versions_of(present)[-1]}", "removed"),)


_SAID = {
    Said.MAJORS: "kernels for",
    Said.CAPABILITIES: "kernels for",
    Said.RANKS: "groups of",
    Said.DTYPES: "dtypes",
    Said.PATTERNS: "patterns",
    Said.REFUSES: "raises",
}


def _accepts(history: History, ref: Ref) -> Iterator[Line | Hanging]:
    """What the releases' own sources say of machines and sizes; what may be asked instead of another stands last."""
    found: dict[tuple[bool, str, str], ReleaseSet] = {}
    for fact, releases in _facts(history, ref):
        what = ", ".join(map(str, fact.values))
        if fact.said in (Said.MAJORS, Said.CAPABILITIES):
            what = compute(fact.values)
        elif fact.said is Said.RANKS:
            what = f"{what} ranks"
        elif fact.said is Said.REFUSES:
            what = f"{fact.values[1]} if {fact.values[0]}"
        key = (fact.perhaps, _SAID[fact.said], what)
        found[key] = found.get(key, EMPTY) | releases
    for (perhaps, lead, what), releases in sorted(found.items(), key=lambda each: each[0][0]):
        when = ", on one of its ways" if perhaps else ""
        said = f"{safe(what)} in {ranges(history.timeline, releases)}{when}"
        yield Hanging((Span(f"  {lead} ", "dim"),), (Span(said),))


def _facts(history: History, ref: Ref) -> Iterator[tuple[GpuFact, ReleaseSet]]:
    """The facts of a symbol, wherever it is defined, in the releases in which it is that."""
    for fact, releases in history.gpu_facts:
        other = Ref.parse(fact.symbol)
        if other.qualname.rpartition(".")[2] == ref.qualname.rpartition(".")[2]:
            here = releases & history.same_in(ref, other)
            if here:
                yield fact, here


def _runs_on(history: History, ref: Ref, kernels: Sequence[Kernels]) -> Iterator[Line | Hanging]:
    for each in kernels:
        if ref in each.symbols:
            asked = ", ".join(safe(f"{c.parameter} {_asked(c)}") for c in each.conditions)
            when = f" where {asked}" if asked else ""
            said = f"{told(each)} in {ranges(history.timeline, each.releases & history.present(ref))}{when}"
            yield Hanging((Span("  kernels for ", "dim"),), (Span(said),))


def _asked(condition: Condition) -> str:
    return " or ".join(map(str, (*condition.equals, *condition.may_be, *condition.made_of))) or "decides"


def _change(history: History, ref: Ref, dated: DatedChange, lead: str) -> Hanging:
    change = dated.change
    said = words(change, _symbol(history, change.ref, dated.newer))
    spans: list[Span] = [*said.spans()]
    if change.ref != ref:
        name = change.ref.dotted.removeprefix(ref.dotted)
        spans.insert(1, Span(f"{safe(name)}{_gap(change)}", "code"))
    elif change.kind is ChangeKind.SYMBOL_ADDED:
        spans.insert(1, Span(f"{'first release' if dated.older is None else 'back again'}: "))
    if said.remark:
        spans.append(Span(f"   {said.remark}", "error" if said.remark.startswith("breaking") else "dim"))
    return Hanging((Span(lead, "code"),), tuple(spans))


def _place(history: History, ref: Ref, dated: DatedChange) -> tuple[bool, str, int, int]:
    """The symbol itself before its members; what breaks first, and parameters as the signature has them."""
    change = dated.change
    symbol = _symbol(history, change.ref, dated.newer)
    names = [p.name for p in symbol.signature.parameters] if symbol is not None and symbol.signature is not None else []
    position = names.index(change.parameter) if change.parameter in names else -1
    return (change.ref != ref, change.ref.dotted, list(Grade).index(change.grade), position)


def _gap(change: Change) -> str:
    """Between a member's name and what is said of it: nothing where that is its signature."""
    signature = change.kind is ChangeKind.SYMBOL_ADDED and (change.after or "").startswith("(")
    return "" if signature else "  "


def _symbol(history: History, ref: Ref, release: str) -> Symbol | None:
    here = history.timeline.set_of([release])
    return next((epoch.symbol for epoch in history.of(ref) if here <= epoch.releases), None)


def _kind(symbol: Symbol) -> str:
    if symbol.kind is SymbolKind.FUNCTION and "." in symbol.ref.qualname:
        return "method"
    return symbol.kind.value
