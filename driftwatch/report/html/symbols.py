"""The life of each used symbol as HTML: what it took in which releases, and what each change did to its callers.

Enters: the reports and the history of a library. Leaves: one fold for each symbol, with the parameters that came in a
release marked, and those that findings are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from driftwatch.findings.finding import Finding
from driftwatch.releases import ReleaseSet
from driftwatch.report.changes import words
from driftwatch.report.html.markup import Markup, breakable, join, tag
from driftwatch.report.html.tracks import epochs
from driftwatch.report.phrases import ranges
from driftwatch.report.states import short_names
from driftwatch.snapshot.comparison.diff import DatedChange, changes_of, summary
from driftwatch.snapshot.comparison.signature_changes import parameter_text
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Ref, Symbol

_MOST_CHANGES = 12


def symbols(history: History, refs: Iterable[Ref], findings: Sequence[Finding], number: int) -> Iterator[Markup]:
    """A fold for each symbol that has a history, those with most signatures first."""
    told: list[tuple[int, str, Markup]] = []
    names = {ref: ref.dotted for ref in refs}
    short = short_names(names.values(), history.module)
    for ref in sorted(names):
        home = _home(history, ref)
        if home is None or not home.qualname:
            continue
        pieces = _pieces(history, home)
        about = {f.parameter for f in findings if f.symbol == ref.dotted and f.parameter}
        told.append((-len({p[2] for p in pieces}), names[ref], _fold(history, home, short[names[ref]], about, number)))
    return (fold for _, _, fold in sorted(told))


def _home(history: History, ref: Ref) -> Ref | None:
    """The reference itself, or the class it inherits this member from."""
    if history.of(ref):
        return ref
    owner, _, name = ref.qualname.rpartition(".")
    if owner and history.of(Ref(ref.module, owner)):
        inherited = history.member_epochs(Ref(ref.module, owner), name, history.timeline.all)
        if inherited:
            return inherited[-1][0]
    return None


def _pieces(history: History, ref: Ref) -> list[tuple[int, int, int, Symbol]]:
    """Runs of releases with one signature: first, length, the ordinal of the signature, and the symbol there."""
    at: list[Symbol | None] = [None] * len(history.timeline)
    for epoch in history.of(ref):
        for index in epoch.releases.indices():
            at[index] = epoch.symbol
    pieces: list[tuple[int, int, int, Symbol]] = []
    ordinals: dict[str, int] = {}
    first = 0
    for text, same in groupby(at, key=lambda symbol: None if symbol is None else summary(symbol)):
        run = list(same)
        symbol = run[-1]
        if text is not None and symbol is not None:
            ordinal = ordinals.setdefault(text, len(ordinals) + 1)
            pieces.append((first, len(run), ordinal, symbol))
        first += len(run)
    return pieces


def _fold(history: History, ref: Ref, name: str, about: set[str], number: int) -> Markup:
    timeline = history.timeline
    pieces = _pieces(history, ref)
    kinds = len({piece[2] for piece in pieces})
    noun = "form" if pieces and pieces[-1][3].signature is None else "signature"
    present = ranges(timeline, history.present(ref))
    said = f"{kinds} {noun}{'' if kinds == 1 else 's'}, in {present}"
    changes = changes_of(history, ref)
    steps: list[Markup] = []
    previous: Symbol | None = None
    for position, (first, length, ordinal, symbol) in enumerate(pieces):
        releases = ReleaseSet(((1 << length) - 1) << first)
        gone = ""
        if position == len(pieces) - 1 and first + length < len(timeline):
            gone = f"gone in {timeline.versions[first + length]}"
        steps.append(
            tag(
                "li",
                tag("p", tag("b", ordinal, class_="ordinal"), " ", ranges(timeline, releases), class_="when"),
                _signature(symbol, previous, about),
                _changes(
                    [c for c in changes if first <= timeline.index(c.newer) < first + length and c.older is not None],
                    history,
                    ref,
                    timeline.versions[first],
                ),
                tag("p", gone, class_="gone") if gone else None,
            )
        )
        previous = symbol
    head = tag(
        "summary",
        tag(
            "span",
            tag("code", breakable(name)),
            tag("small", f"{kinds} {noun}{'' if kinds == 1 else 's'}", title=said),
            class_="name",
        ),
        epochs(timeline, [(first, length, ordinal) for first, length, ordinal, _ in pieces], number, said),
        class_="row-head",
    )
    return tag("details", head, tag("ol", steps, class_="life-steps"), class_="row symbol", data_text=f"{name} {said}")


def _signature(symbol: Symbol, previous: Symbol | None, about: set[str]) -> Markup:
    """What the symbol takes, a parameter that has just come marked as new."""
    if symbol.signature is None:
        return tag("pre", summary(symbol), class_="signature", tabindex=0)
    old = {p.name for p in previous.signature.parameters} if previous and previous.signature else None
    parts: list[Markup] = []
    kind: ParameterKind | None = None
    for parameter in symbol.signature.parameters:
        if parameter.kind is ParameterKind.KEYWORD_ONLY and kind not in (
            ParameterKind.KEYWORD_ONLY,
            ParameterKind.VAR_POSITIONAL,
        ):
            parts.append(tag("span", "*"))
        kind = parameter.kind
        parts.append(_parameter(parameter, old is not None and parameter.name not in old, parameter.name in about))
    return tag("pre", "(", join(parts, ", "), ")", class_="signature", tabindex=0)


def _parameter(parameter: Parameter, new: bool, about: bool) -> Markup:
    shown = parameter_text(parameter)
    kind = "about" if about else None
    return tag("ins", shown, class_=kind) if new else tag("span", shown, class_=kind)


def _changes(dated: Sequence[DatedChange], history: History, ref: Ref, since: str) -> Markup | None:
    if not dated:
        return None
    items = []
    for each in dated[:_MOST_CHANGES]:
        said = words(each.change, _symbol(history, each.change.ref, each.newer))
        member = each.change.ref.dotted.removeprefix(ref.dotted)
        items.append(
            tag(
                "li",
                tag("span", said.sign, class_="sign"),
                " ",
                tag("code", member, " ") if member else None,
                tag("code", said.text),
                tag("small", f" {said.remark}") if said.remark else None,
                tag("small", f" in {each.newer}") if each.newer != since else None,
                class_={"+": "plus", "-": "minus"}.get(said.sign, "tilde"),
            )
        )
    if len(dated) > _MOST_CHANGES:
        items.append(tag("li", tag("small", f"and {len(dated) - _MOST_CHANGES} more")))
    return tag("ul", items, class_="changes")


def _symbol(history: History, ref: Ref, release: str) -> Symbol | None:
    here = history.timeline.set_of([release])
    return next((epoch.symbol for epoch in history.of(ref) if here <= epoch.releases), None)
