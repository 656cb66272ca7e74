"""Two releases -> the changes of the API between them, graded by what they do to callers.

Enters: snapshots, or the history of all releases. Leaves: changes as data, in a total order; nothing is rendered here.
A name that only happens to be importable (`torch`, `Optional`) and a name's private members are no API: they are left
out. The same change seen under several names is reported once, under the name callers use (the shortest), with the
others beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.comparison.annotation_changes import grade_of_given
from driftwatch.snapshot.comparison.changes import Change, ChangeKind, Grade
from driftwatch.snapshot.comparison.signature_changes import (
    parameter_changes,
    refusal_changes,
    result_changes,
    signature_text,
)
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.lineage import linearized
from driftwatch.snapshot.model.symbols import Binding, Ref, Snapshot, Symbol, SymbolKind

__all__ = [
    "Change",
    "ChangeKind",
    "DatedChange",
    "Grade",
    "changes_of",
    "compare",
    "diff",
    "is_foreign",
    "signature_text",
    "summary",
]


@dataclass(frozen=True, slots=True)
class DatedChange:
    """A change and the releases between which it happened; `older` is None where a name appears for the first time."""

    change: Change
    older: str | None
    newer: str


def diff(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """The API changes from one release to another, breaking ones first."""
    before, after = _api(old.symbols), _api(new.symbols)
    found: dict[tuple[object, ...], list[Change]] = {}
    for ref in sorted(before.keys() | after.keys()):
        if _owner_differs(ref, before, after):
            continue
        was, now = _seen(old.symbols, before, ref), _seen(new.symbols, after, ref)
        for change in compare(was, now):
            found.setdefault(_identity(change, was, now, before, after), []).append(change)
    changes = (_with_new_home(_together(same), before, after) for same in found.values())
    return tuple(sorted(changes, key=_order))


def compare(old: Symbol | None, new: Symbol | None) -> tuple[Change, ...]:
    """The changes of one symbol between two states; None where it is absent."""
    if old is None or new is None:
        symbol = old or new
        if symbol is None:
            return ()
        if old is None:
            return (Change(symbol.ref, ChangeKind.SYMBOL_ADDED, _grade_of_new(symbol), after=summary(symbol)),)
        return (Change(symbol.ref, ChangeKind.SYMBOL_REMOVED, Grade.BREAKING, before=summary(symbol)),)
    return tuple(_changes(old, new))


def changes_of(history: History, ref: Ref) -> tuple[DatedChange, ...]:
    """What happened to one symbol, release by release, oldest first; members of a class included."""
    dated = list(_life(history, ref, history.timeline.all, member=False))
    for member in history.epochs:
        if _is_inside(member, ref) and not _is_private(Ref("", member.qualname[len(ref.qualname) :])):
            dated.extend(_life(history, member, history.present(ref), member=True))
    dated.sort(key=lambda item: (item[0], _order(item[1].change)))
    return tuple(change for _, change in dated)


def summary(symbol: Symbol) -> str:
    """A symbol in one line: its kind, and what it takes or is worth."""
    if symbol.kind is SymbolKind.ATTRIBUTE and symbol.value is not None:
        return f"= {symbol.value}"
    if symbol.signature is not None and symbol.kind is not SymbolKind.PROPERTY:
        return signature_text(symbol.signature)
    return symbol.kind.value


# -- which symbols are API -------------------------------------------------------------------------------------------


def is_foreign(symbol: Symbol) -> bool:
    """Whether a name is another distribution's, and importable from here by accident."""
    if symbol.definition is None:
        return False
    return symbol.definition.module.partition(".")[0] != symbol.ref.module.partition(".")[0]


def _api(symbols: Mapping[Ref, Symbol]) -> dict[Ref, Symbol]:
    roots = {ref.module for ref in symbols if not ref.qualname}
    return {
        ref: symbol
        for ref, symbol in symbols.items()
        if ref.module in roots and not _is_private(ref) and not is_foreign(symbol)
    }


def _is_private(ref: Ref) -> bool:
    parts = [*ref.module.split("."), *ref.qualname.split(".")]
    return any(part.startswith("_") and not part.endswith("__") for part in parts if part)


def _is_inside(ref: Ref, owner: Ref) -> bool:
    if ref.module != owner.module:
        return False
    return bool(owner.qualname) and ref.qualname.startswith(owner.qualname + ".")


def _seen(symbols: Mapping[Ref, Symbol], api: Mapping[Ref, Symbol], ref: Ref) -> Symbol | None:
    """A symbol, or what a class inherits under its name: a method that moves into a base class is not gone."""
    own = api.get(ref)
    head, dot, name = ref.qualname.rpartition(".")
    if own is not None or not dot:
        return own

    def bases(cls: Ref) -> list[Ref]:
        found = symbols.get(cls)
        return [Ref.parse(base) for base in found.bases if ":" in base] if found is not None else []

    for base in linearized(Ref(ref.module, head), bases):
        inherited = symbols.get(base.member(name))
        if inherited is not None:
            return replace(inherited, ref=ref, definition=inherited.definition or inherited.ref)
    return None


def _owner_differs(ref: Ref, before: Mapping[Ref, Symbol], after: Mapping[Ref, Symbol]) -> bool:
    """Whether the change of the owner already says that the member came or went."""
    head = ref.qualname.rpartition(".")[0]
    owners = [Ref(ref.module, head)] if head else []
    if ref.qualname:
        owners.append(Ref(ref.module, ""))
    return any((owner in before) != (owner in after) for owner in owners)


# -- one symbol ------------------------------------------------------------------------------------------------------


def _changes(old: Symbol, new: Symbol) -> Iterator[Change]:
    ref = new.ref
    if old.kind is not new.kind:
        yield Change(ref, ChangeKind.KIND_CHANGED, Grade.BREAKING, before=old.kind.value, after=new.kind.value)
    else:
        yield from _signature_changes(ref, old, new)
        yield from _class_changes(ref, old, new)
        if new.kind is SymbolKind.ATTRIBUTE and old.value != new.value and old.value is not None:
            # What an expression is worth may well be the same.
            grade = Grade.RISKY if _is_literal(old.value) else Grade.INFORMATIONAL
            yield Change(ref, ChangeKind.VALUE_CHANGED, grade, before=old.value, after=new.value)
        if new.kind is SymbolKind.ATTRIBUTE and (said := grade_of_given(old.annotation, new.annotation)) is not None:
            yield Change(ref, ChangeKind.ANNOTATION_CHANGED, said, before=old.annotation, after=new.annotation)
    if old.abstract != new.abstract:
        kind = ChangeKind.BECAME_ABSTRACT if new.abstract else ChangeKind.BECAME_CONCRETE
        yield Change(ref, kind, Grade.BREAKING if new.abstract else Grade.COMPATIBLE)
    if new.deprecated is not None and old.deprecated is None:
        yield Change(ref, ChangeKind.DEPRECATED, Grade.INFORMATIONAL, after=new.deprecated.message)
    elif old.deprecated is not None and new.deprecated is None:
        yield Change(ref, ChangeKind.UNDEPRECATED, Grade.INFORMATIONAL, before=old.deprecated.message)
    if old.requires != new.requires:
        grade = Grade.RISKY if set(new.requires) - set(old.requires) else Grade.COMPATIBLE
        yield Change(ref, ChangeKind.REQUIRES_CHANGED, grade, before=_listed(old.requires), after=_listed(new.requires))
    if old.definition != new.definition and "." not in ref.qualname:
        yield Change(
            ref,
            ChangeKind.SYMBOL_MOVED,
            Grade.INFORMATIONAL,
            before=str(old.definition or old.ref),
            after=str(new.definition or new.ref),
        )


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False
    return True


def _class_changes(ref: Ref, old: Symbol, new: Symbol) -> Iterator[Change]:
    if old.bases != new.bases:
        lost = set(old.bases) - set(new.bases)
        yield Change(
            ref,
            ChangeKind.BASES_CHANGED,
            Grade.RISKY if lost else Grade.COMPATIBLE,
            before=_listed(old.bases),
            after=_listed(new.bases),
        )
    if old.binding is not new.binding:
        fields = {old.binding, new.binding} <= {None, Binding.INSTANCE} and new.kind is SymbolKind.ATTRIBUTE
        grade = Grade.BREAKING
        if fields:
            grade = Grade.COMPATIBLE if new.binding is None else Grade.RISKY
        yield Change(
            ref,
            ChangeKind.BINDING_CHANGED,
            grade,
            before=old.binding.value if old.binding else "class" if fields else None,
            after=new.binding.value if new.binding else "class" if fields else None,
        )


def _signature_changes(ref: Ref, old: Symbol, new: Symbol) -> Iterator[Change]:
    if old.signature is None or new.signature is None:
        if old.signature is not None:
            yield Change(ref, ChangeKind.SIGNATURE_LOST, Grade.INFORMATIONAL, before=signature_text(old.signature))
        elif new.signature is not None:
            yield Change(ref, ChangeKind.SIGNATURE_FOUND, Grade.INFORMATIONAL, after=signature_text(new.signature))
        return
    yield from parameter_changes(ref, old.signature, new.signature)
    yield from result_changes(ref, old.signature, new.signature)
    yield from refusal_changes(ref, old.signature, new.signature)


def _grade_of_new(symbol: Symbol) -> Grade:
    return Grade.BREAKING if symbol.abstract else Grade.COMPATIBLE


# -- text and order --------------------------------------------------------------------------------------------------


def _listed(texts: Iterable[str]) -> str | None:
    return ", ".join(texts) or None


_GRADES = list(Grade)


def _order(change: Change) -> tuple[object, ...]:
    return (
        _GRADES.index(change.grade),
        change.ref,
        list(ChangeKind).index(change.kind),
        change.parameter or "",
        change.before or "",
        change.after or "",
    )


def _identity(
    change: Change, old: Symbol | None, new: Symbol | None, before: Mapping[Ref, Symbol], after: Mapping[Ref, Symbol]
) -> tuple[object, ...]:
    """What makes two changes one: the same thing happening to the same definition."""
    if old is not None and new is not None and change.kind is not ChangeKind.SYMBOL_MOVED:
        target = (old.definition or old.ref, new.definition or new.ref)
        return (target, change.kind, change.parameter, change.before, change.after)
    # A name that goes is gone for whoever imports it, whether or not its definition stays.
    symbol = old or new
    if symbol is not None and (old is None or new is None) and _definition_goes_too(symbol, before, after):
        return (symbol.definition or symbol.ref, change.kind)
    return (change.ref, change.kind)


def _with_new_home(change: Change, before: Mapping[Ref, Symbol], after: Mapping[Ref, Symbol]) -> Change:
    """A removed name with the one under which the same thing can still be had, if there is one."""
    if change.kind is not ChangeKind.SYMBOL_REMOVED:
        return change
    definition = before[change.ref].definition or change.ref
    return replace(change, after=str(definition)) if definition in after else change


def _definition_goes_too(symbol: Symbol, before: Mapping[Ref, Symbol], after: Mapping[Ref, Symbol]) -> bool:
    definition = symbol.definition or symbol.ref
    return (definition in before) != (definition in after)


def _together(same: Sequence[Change]) -> Change:
    """One change out of the same change under several names: the shortest module path is the one people use."""
    ordered = sorted(same, key=lambda c: (c.ref.module.count("."), c.ref))
    first = ordered[0]
    return Change(
        first.ref,
        first.kind,
        first.grade,
        first.parameter,
        first.before,
        first.after,
        tuple(c.ref for c in ordered[1:]),
    )


# -- history ---------------------------------------------------------------------------------------------------------


def _life(history: History, ref: Ref, within: ReleaseSet, *, member: bool) -> Iterator[tuple[int, DatedChange]]:
    """The changes of one reference from each release to the next, among those asked about.

    What a member is when its class first appears is part of that appearance, not a change.
    """
    states: list[Symbol | None] = [None] * len(history.timeline)
    head, dot, name = ref.qualname.rpartition(".")
    inherited = history.member_epochs(Ref(ref.module, head), name, within) if dot else ()
    for epoch in (*(replace(e, symbol=replace(e.symbol, ref=ref)) for _, e in inherited), *history.of(ref)):
        for index in epoch.releases.indices():
            states[index] = epoch.symbol
    versions = history.timeline.versions
    indices = list(within.indices())
    pairs: list[tuple[int | None, int]] = [*pairwise(indices)]
    if not member:
        pairs = [*((None, first) for first in indices[:1]), *pairs]
    for old, new in pairs:
        for change in compare(states[old] if old is not None else None, states[new]):
            first = change.kind is ChangeKind.SYMBOL_ADDED and not any(states[:new])
            yield new, DatedChange(change, None if first or old is None else versions[old], versions[new])
