"""API changes in words: a sign, what changed, and what that does to callers. Plain strings, safe to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from driftwatch.report.safe import safe
from driftwatch.report.styled import Span
from driftwatch.snapshot.comparison.diff import Change, ChangeKind, Grade
from driftwatch.snapshot.model.symbols import ParameterKind, Symbol

ADDED, REMOVED, CHANGED = "+", "-", "~"
_STYLES = {ADDED: "added", REMOVED: "removed", CHANGED: "changed"}
GRADE_STYLES = {
    Grade.BREAKING: "error",
    Grade.RISKY: "warning",
    Grade.COMPATIBLE: "good",
    Grade.INFORMATIONAL: "dim",
}

_SIGNS = {
    ChangeKind.SYMBOL_ADDED: ADDED,
    ChangeKind.SYMBOL_REMOVED: REMOVED,
    ChangeKind.PARAMETER_ADDED: ADDED,
    ChangeKind.PARAMETER_REMOVED: REMOVED,
    ChangeKind.KEYWORD_ADDED: ADDED,
    ChangeKind.KEYWORD_REMOVED: REMOVED,
}
_PHRASES = {
    ChangeKind.SYMBOL_MOVED: "now defined in {after}, before in {before}",
    ChangeKind.KIND_CHANGED: "is now: {after}, was: {before}",
    ChangeKind.PARAMETER_RENAMED: "{before} is now called {after}",
    ChangeKind.PARAMETER_MOVED: "{parameter} moved from {before} to {after}",
    ChangeKind.PARAMETER_KIND_CHANGED: "{parameter} was {before}, is {after}",
    ChangeKind.BECAME_REQUIRED: "{parameter} is now required, was {before}",
    ChangeKind.BECAME_OPTIONAL: "{parameter} is now optional: {after}",
    ChangeKind.DEFAULT_CHANGED: "default of {parameter}: {before} -> {after}",
    ChangeKind.ANNOTATION_CHANGED: "type of {parameter}: {before} -> {after}",
    ChangeKind.SIGNATURE_LOST: "its signature can no longer be told, was {before}",
    ChangeKind.SIGNATURE_FOUND: "its signature can now be told: {after}",
    ChangeKind.RETURNS_CHANGED: "returns {after}, before {before}",
    ChangeKind.LENGTH_CHANGED: "gives {after} values, before {before}",
    ChangeKind.FLAVOUR_CHANGED: "a call gives {after}, before {before}",
    ChangeKind.BINDING_CHANGED: "bound to its {after}, before to its {before}",
    ChangeKind.VALUE_CHANGED: "value: {before} -> {after}",
    ChangeKind.BASES_CHANGED: "bases: {before} -> {after}",
    ChangeKind.BECAME_ABSTRACT: "is now abstract",
    ChangeKind.BECAME_CONCRETE: "is no longer abstract",
    ChangeKind.DEPRECATED: "deprecated: {after}",
    ChangeKind.UNDEPRECATED: "no longer deprecated",
    ChangeKind.KEYWORD_ADDED: "{parameter} (accepted as a keyword beside the parameters)",
    ChangeKind.KEYWORD_REMOVED: "{parameter} (was accepted as a keyword beside the parameters)",
    ChangeKind.REFUSAL_ADDED: "raises {before} if {after}",
    ChangeKind.REFUSAL_REMOVED: "no longer raises {after} if {before}",
    ChangeKind.REQUIRES_CHANGED: "needs {after}, before {before}",
}


@dataclass(frozen=True, slots=True)
class Words:
    """A change for a person: a sign, the text, and a remark that is empty where there is nothing to add."""

    sign: str
    text: str
    remark: str

    def spans(self) -> tuple[Span, ...]:
        return (Span(f"{self.sign} ", _STYLES[self.sign]), Span(self.text, _STYLES[self.sign]))


class ChangeForm(TypedDict):
    """A change as JSON has it."""

    grade: str
    kind: str
    symbol: str
    parameter: str | None
    before: str | None
    after: str | None


def change_form(change: Change) -> ChangeForm:
    return {
        "grade": change.grade.value,
        "kind": change.kind.value,
        "symbol": str(change.ref),
        "parameter": change.parameter,
        "before": change.before,
        "after": change.after,
    }


def words(change: Change, symbol: Symbol | None = None) -> Words:
    """A change in words; `symbol` is what it is after the change, where that is known."""
    sign = _SIGNS.get(change.kind, CHANGED)
    if change.kind is ChangeKind.SYMBOL_ADDED:
        return Words(sign, safe(change.after or ""), "")
    if change.kind is ChangeKind.SYMBOL_REMOVED:
        return Words(sign, "removed", f"still in {safe(change.after)}" if change.after else "")
    if change.kind in (ChangeKind.PARAMETER_ADDED, ChangeKind.PARAMETER_REMOVED):
        text = safe(change.after or change.before or change.parameter or "")
        return Words(sign, text, _parameter_remark(change, symbol))
    given = {"parameter": change.parameter or "it", "before": change.before or "none", "after": change.after or "none"}
    text = _PHRASES[change.kind].format(**{key: safe(value) for key, value in given.items()})
    return Words(sign, text, "breaking" if change.grade is Grade.BREAKING else "")


def _parameter_remark(change: Change, symbol: Symbol | None) -> str:
    if change.kind is ChangeKind.PARAMETER_REMOVED:
        return "breaking" if change.grade is Grade.BREAKING else ""
    parameters = symbol.signature.parameters if symbol is not None and symbol.signature is not None else ()
    for position, parameter in enumerate(parameters):
        if parameter.name == change.parameter:
            if parameter.kind is ParameterKind.KEYWORD_ONLY:
                return "breaking: required, by keyword" if parameter.required else "by keyword only"
            if change.grade is Grade.BREAKING and parameter.required:
                return f"breaking: required, position {position + 1}"
            if change.grade is Grade.BREAKING:
                return f"breaking: position {position + 1}, so positional arguments after it shift"
    return "breaking" if change.grade is Grade.BREAKING else ""
