"""The API changes between two releases: graded, grouped, for a person and as JSON.

What breaks comes first, the names of the public root before those of its submodules. What only adds something is listed
by name for the root and counted elsewhere, unless all of it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

from driftwatch.report.changes import GRADE_STYLES, ChangeForm, change_form, words
from driftwatch.report.phrases import count
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.rules.behaviour import BehaviourChange
from driftwatch.snapshot.comparison.diff import Change, ChangeKind, Grade
from driftwatch.snapshot.model.symbols import Ref, Symbol

_TITLES = {
    Grade.BREAKING: "BREAKING: some call, import or subclass that was right fails",
    Grade.RISKY: "RISKY: nothing fails, but something means something else",
    Grade.COMPATIBLE: "COMPATIBLE: all that was right stays right",
    Grade.INFORMATIONAL: "INFORMATIONAL: nothing changes for a caller yet",
}


class DiffChangeForm(ChangeForm):
    also: list[str]


class DiffSummary(TypedDict):
    removed: int
    breaking: int
    risky: int
    compatible: int
    informational: int


class BehaviourForm(TypedDict):
    begins: bool
    name: str
    about: list[str]
    message: str
    releases: list[str]
    evidence: list[str]


class DiffForm(TypedDict):
    schema: int
    target: str
    module: str
    old: str
    new: str
    changes: list[DiffChangeForm]
    behaviour: list[BehaviourForm]
    summary: DiffSummary


class Comparison:
    """Two releases of a target and the changes between them; `symbols` are those of the newer one.

    `behaviour` is what changed whether or not a signature shows it.
    """

    def __init__(
        self,
        distribution: str,
        module: str,
        releases: tuple[str, str],
        changes: Sequence[Change],
        symbols: Mapping[Ref, Symbol],
        behaviour: Sequence[BehaviourChange] = (),
    ) -> None:
        self.distribution = distribution
        self.module = module
        self.old, self.new = releases
        self.changes = tuple(changes)
        self.symbols = symbols
        self.behaviour = tuple(behaviour)

    def of(self, grade: Grade) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.grade is grade)

    def is_root(self, change: Change) -> bool:
        return change.ref.module == self.module and bool(change.ref.qualname)

    def removed_names(self) -> tuple[Change, ...]:
        """Names that the public root no longer has."""
        return tuple(
            change
            for change in self.changes
            if change.kind is ChangeKind.SYMBOL_REMOVED and self.is_root(change) and "." not in change.ref.qualname
        )


def render_json(comparison: Comparison) -> str:
    numbers = {grade: len(comparison.of(grade)) for grade in Grade}
    form: DiffForm = {
        "schema": 1,
        "target": comparison.distribution,
        "module": comparison.module,
        "old": comparison.old,
        "new": comparison.new,
        "changes": [
            {**change_form(change), "also": [str(ref) for ref in change.also]} for change in comparison.changes
        ],
        "behaviour": behaviour_forms(comparison.behaviour),
        "summary": {
            "removed": len(comparison.removed_names()),
            "breaking": numbers[Grade.BREAKING],
            "risky": numbers[Grade.RISKY],
            "compatible": numbers[Grade.COMPATIBLE],
            "informational": numbers[Grade.INFORMATIONAL],
        },
    }
    return json.dumps(form, indent=2) + "\n"


def behaviour_forms(changes: Iterable[BehaviourChange]) -> list[BehaviourForm]:
    return [
        {
            "begins": change.begins,
            "name": change.name,
            "about": list(change.about),
            "message": change.message,
            "releases": list(change.releases),
            "evidence": list(change.evidence),
        }
        for change in changes
    ]


def render(comparison: Comparison, look: Look, *, everything: bool = False) -> str:
    return compose(_lines(comparison, everything), look)


def _lines(comparison: Comparison, everything: bool) -> Iterator[Line | Hanging]:
    yield (
        Span(f"{safe(comparison.distribution)} {comparison.old} -> {comparison.new}", "heading"),
        Span(f"  {safe(comparison.module)}"),
    )
    for grade in Grade:
        changes = comparison.of(grade)
        if changes:
            yield ()
            yield (Span(_TITLES[grade], GRADE_STYLES[grade]),)
            loud = everything or grade in (Grade.BREAKING, Grade.RISKY)
            yield from _section(comparison, changes, loud)
    yield from _behaviour(comparison.behaviour)
    yield ()
    yield _summary(comparison, everything)


def _behaviour(changes: Sequence[BehaviourChange]) -> Iterator[Line | Hanging]:
    if changes:
        yield ()
        yield (Span("BEHAVIOUR: what no signature shows", "warning"),)
    for change in changes:
        sign, style = ("+", "added") if change.begins else ("-", "removed")
        about = safe(", ".join(change.about))
        yield Hanging((Span(f"  {sign} ", style),), (Span(about, "code"), Span(f"  {safe(change.message)}")))
        evidence = safe(f"   {'begins' if change.begins else 'ends'}: {change.name}; see {', '.join(change.evidence)}")
        yield Hanging((Span("  "),), (Span(evidence, "dim"),))


def _section(comparison: Comparison, changes: Sequence[Change], loud: bool) -> Iterator[Line | Hanging]:
    root = [change for change in changes if comparison.is_root(change)]
    below = [change for change in changes if not comparison.is_root(change)]
    yield from _module(comparison, comparison.module, root)
    if not loud:
        if below:
            modules = {change.ref.module for change in below}
            said = f"  and {count(len(below), 'change')} in {count(len(modules), 'submodule')} (--all lists them)"
            yield (Span(said, "dim"),)
        return
    for module, here in _by_module(below).items():
        yield from _module(comparison, module, here)


def _by_module(changes: Iterable[Change]) -> dict[str, list[Change]]:
    """Changes by the module they are in; a module that comes or goes stands with its parent."""
    found: dict[str, list[Change]] = {}
    for change in sorted(changes, key=lambda change: change.ref):
        module = change.ref.module if change.ref.qualname else change.ref.module.rpartition(".")[0]
        found.setdefault(module, []).append(change)
    return found


def _module(comparison: Comparison, module: str, changes: Sequence[Change]) -> Iterator[Line | Hanging]:
    for kind, what in ((ChangeKind.SYMBOL_REMOVED, "removed from"), (ChangeKind.SYMBOL_ADDED, "new in")):
        for noun in ("name", "member", "submodule"):
            here = [c for c in changes if c.kind is kind and _noun(c.ref) == noun]
            if here:
                yield Hanging((), (Span(f"  {count(len(here), noun)} {what} {safe(module)}", "code"),))
                yield from _names(here, kind)
    changed: dict[Ref, list[Change]] = {}
    for change in changes:
        if change.kind not in (ChangeKind.SYMBOL_REMOVED, ChangeKind.SYMBOL_ADDED):
            changed.setdefault(change.ref, []).append(change)
    if changed:
        yield Hanging((), (Span(f"  {count(len(changed), 'symbol')} changed in {safe(module)}", "code"),))
    for ref, here in changed.items():
        yield from _symbol(comparison, ref, here)


def _names(changes: Sequence[Change], kind: ChangeKind) -> Iterator[Line | Hanging]:
    """Names that go, each on a line of its own, for each is somebody's import; names that come, together."""
    if kind is ChangeKind.SYMBOL_ADDED:
        names = ", ".join(safe(_name(change.ref)) for change in changes)
        yield Hanging((Span("    + ", "added"),), (Span(names, "added"),))
        return
    for change in changes:
        remark = words(change).remark
        said = (Span(f"   {remark}", "dim"),) if remark else ()
        yield Hanging((Span("    - ", "removed"),), (Span(safe(_name(change.ref)), "removed"), *said))


def _symbol(comparison: Comparison, ref: Ref, changes: Sequence[Change]) -> Iterator[Line | Hanging]:
    single = len(changes) == 1
    if not single:
        yield Hanging((), (Span(f"    {safe(_name(ref))}"),))
    for change in changes:
        said = words(change, comparison.symbols.get(ref))
        lead = (Span(f"    {safe(_name(ref))}  "),) if single else (Span("      "),)
        remark = (Span(f"   {said.remark}", "dim"),) if said.remark not in ("", "breaking") else ()
        yield Hanging(lead, (*said.spans(), *remark))


def _noun(ref: Ref) -> str:
    return "submodule" if not ref.qualname else "member" if "." in ref.qualname else "name"


def _name(ref: Ref) -> str:
    return ref.qualname or ref.module.rpartition(".")[2]


def _summary(comparison: Comparison, everything: bool) -> Hanging:
    hidden = f"; {count(len(comparison.behaviour), 'change')} that no signature shows" if comparison.behaviour else ""
    if not comparison.changes:
        return Hanging((), (Span("no change of the API", "good"), Span(hidden)))
    removed = len(comparison.removed_names())
    parts = [Span(f"{count(removed, 'name')} removed from {safe(comparison.module)}", "error" if removed else "good")]
    for grade in Grade:
        number = len(comparison.of(grade))
        if number:
            parts.append(Span("; " if len(parts) == 1 else ", "))
            parts.append(Span(f"{number} {grade.value}"))
    return Hanging((), (*parts, Span(hidden)))
