"""The changes between two signatures of one callable, parameter by parameter, graded for its callers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from driftwatch.snapshot.comparison.annotation_changes import grade_of_given, grade_of_taken
from driftwatch.snapshot.comparison.changes import Change, ChangeKind, Grade
from driftwatch.snapshot.model.symbols import Flavour, Parameter, ParameterKind, Ref, Signature

_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_NAMED = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
_VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)


def parameter_changes(ref: Ref, old: Signature, new: Signature) -> Iterator[Change]:
    """The changes of what a callable takes, parameter by parameter."""
    renamed = _renamed(old, new)
    before = {renamed.get(p.name, p.name): p for p in old.parameters}
    after = {p.name: p for p in new.parameters}
    displacing = _displacing(old, new, renamed)
    for name, parameter in before.items():
        current = after.get(name)
        if current is None:
            yield Change(
                ref,
                ChangeKind.PARAMETER_REMOVED,
                _grade_of_removal(parameter, new),
                parameter.name,
                before=parameter_text(parameter),
            )
            continue
        if parameter.name != name:
            positional_only = ParameterKind.POSITIONAL_ONLY in (parameter.kind, current.kind)
            variadic = parameter.kind in _VARIADIC
            grade = Grade.COMPATIBLE if positional_only or variadic else Grade.BREAKING
            if parameter.name in new.extra_keywords:
                grade = Grade.COMPATIBLE
            yield Change(ref, ChangeKind.PARAMETER_RENAMED, grade, parameter.name, before=parameter.name, after=name)
        yield from _parameter_change(ref, parameter, current)
    for name, parameter in after.items():
        if name not in before:
            yield Change(
                ref,
                ChangeKind.PARAMETER_ADDED,
                _grade_of_addition(parameter, name in displacing, old),
                name,
                after=parameter_text(parameter),
            )
    for name, (was, now) in _moved(old, new, renamed).items():
        yield Change(
            ref, ChangeKind.PARAMETER_MOVED, Grade.BREAKING, name, f"position {was + 1}", f"position {now + 1}"
        )
    for keyword in sorted(set(new.refused) - set(old.refused) - before.keys()):
        yield Change(ref, ChangeKind.KEYWORD_REMOVED, Grade.BREAKING, keyword, before=keyword)
    for keyword in sorted(set(old.refused) - set(new.refused) - after.keys()):
        yield Change(ref, ChangeKind.KEYWORD_ADDED, Grade.COMPATIBLE, keyword, after=keyword)
    for keyword in sorted(set(new.extra_keywords) - set(old.extra_keywords) - {p.name for p in old.parameters}):
        yield Change(ref, ChangeKind.KEYWORD_ADDED, Grade.COMPATIBLE, keyword, after=keyword)
    for keyword in sorted(set(old.extra_keywords) - set(new.extra_keywords) - {p.name for p in new.parameters}):
        yield Change(ref, ChangeKind.KEYWORD_REMOVED, Grade.BREAKING, keyword, before=keyword)


def _parameter_change(ref: Ref, old: Parameter, new: Parameter) -> Iterator[Change]:
    if old.kind is not new.kind:
        narrower = (old.kind in _POSITIONAL and new.kind not in _POSITIONAL) or (
            old.kind in _NAMED and new.kind not in _NAMED
        )
        grade = Grade.BREAKING if narrower else Grade.COMPATIBLE
        yield Change(
            ref, ChangeKind.PARAMETER_KIND_CHANGED, grade, new.name, before=old.kind.value, after=new.kind.value
        )
    if old.required and not new.required:
        yield Change(ref, ChangeKind.BECAME_OPTIONAL, Grade.COMPATIBLE, new.name, after=parameter_text(new))
    elif new.required and not old.required:
        yield Change(ref, ChangeKind.BECAME_REQUIRED, Grade.BREAKING, new.name, before=parameter_text(old))
    elif old.default != new.default:
        yield Change(ref, ChangeKind.DEFAULT_CHANGED, Grade.RISKY, new.name, before=old.default, after=new.default)
    optional = "None" in (old.default, new.default)
    if (said := grade_of_taken(old.annotation, new.annotation, optional=optional)) is not None:
        yield Change(ref, ChangeKind.ANNOTATION_CHANGED, said, new.name, before=old.annotation, after=new.annotation)


def result_changes(ref: Ref, old: Signature, new: Signature) -> Iterator[Change]:
    """The changes of what a call gives."""
    if old.flavour is not new.flavour:
        before, after = ((s.flavour or Flavour.PLAIN).value for s in (old, new))
        yield Change(ref, ChangeKind.FLAVOUR_CHANGED, Grade.BREAKING, before=before, after=after)
    if old.gives and new.gives and old.gives != new.gives:
        fits = not set(old.gives).isdisjoint(new.gives)
        yield Change(
            ref,
            ChangeKind.LENGTH_CHANGED,
            Grade.RISKY if fits else Grade.BREAKING,
            before=" or ".join(map(str, old.gives)),
            after=" or ".join(map(str, new.gives)),
        )
    if (grade := grade_of_given(old.returns, new.returns)) is not None:
        yield Change(ref, ChangeKind.RETURNS_CHANGED, grade, before=old.returns, after=new.returns)


def refusal_changes(ref: Ref, old: Signature, new: Signature) -> Iterator[Change]:
    """Combinations of arguments that are refused from here on, and those that no longer are."""
    before, after = ({r.condition: r.exception for r in s.refusals} for s in (old, new))
    names = {p.name for p in old.parameters}
    for condition, exception in after.items():
        if condition not in before:
            # Over a new parameter alone, nobody can have passed it.
            told = any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(ast.parse(condition)))
            grade = Grade.RISKY if told else Grade.INFORMATIONAL
            yield Change(ref, ChangeKind.REFUSAL_ADDED, grade, before=exception, after=condition)
    for condition, exception in before.items():
        if condition not in after:
            yield Change(ref, ChangeKind.REFUSAL_REMOVED, Grade.COMPATIBLE, before=condition, after=exception)


def _renamed(old: Signature, new: Signature) -> dict[str, str]:
    """Old names whose parameter goes on under a new one: same position and kind, same default and annotation.

    Counted as renamed only where nothing else came or went between its neighbours, so that a parameter replaced by
    another is a removal and an addition.
    """
    if len(old.parameters) != len(new.parameters):
        return {p.name: n.name for p, n in _variadic_pairs(old, new)}
    gone = {p.name for p in old.parameters} - {p.name for p in new.parameters}
    come = {p.name for p in new.parameters} - {p.name for p in old.parameters}
    renamed: dict[str, str] = {}
    for a, b in zip(old.parameters, new.parameters, strict=True):
        if a.name in gone and b.name in come and a.kind is b.kind and a.default == b.default:
            if a.annotation == b.annotation or a.annotation is None or b.annotation is None:
                renamed[a.name] = b.name
    return renamed


def _variadic_pairs(old: Signature, new: Signature) -> Iterator[tuple[Parameter, Parameter]]:
    for kind in _VARIADIC:
        a = [p for p in old.parameters if p.kind is kind]
        b = [p for p in new.parameters if p.kind is kind]
        if a and b and a[0].name != b[0].name:
            yield a[0], b[0]


def _moved(old: Signature, new: Signature, renamed: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Positional parameters that have changed their order among those that stay: old and new position."""
    before = [renamed.get(p.name, p.name) for p in old.parameters if p.kind in _POSITIONAL]
    after = [p.name for p in new.parameters if p.kind in _POSITIONAL]
    kept = [name for name in before if name in after]
    settled: set[str] = set()
    for block in SequenceMatcher(None, kept, [n for n in after if n in before], autojunk=False).get_matching_blocks():
        settled.update(kept[block.a : block.a + block.size])
    return {name: (before.index(name), after.index(name)) for name in kept if name not in settled}


def _displacing(old: Signature, new: Signature, renamed: Mapping[str, str]) -> set[str]:
    """New positional parameters that stand before an old one, so that a positional argument lands elsewhere."""
    before = {renamed.get(p.name, p.name) for p in old.parameters if p.kind in _POSITIONAL}
    after = [p.name for p in new.parameters if p.kind in _POSITIONAL]
    last = max((i for i, name in enumerate(after) if name in before), default=-1)
    return {name for name in after[:last] if name not in before}


def _grade_of_removal(parameter: Parameter, new: Signature) -> Grade:
    if parameter.kind in _VARIADIC:
        return Grade.BREAKING
    takes_any = any(p.kind is ParameterKind.VAR_KEYWORD for p in new.parameters)
    if parameter.kind is ParameterKind.KEYWORD_ONLY and (takes_any or parameter.name in new.extra_keywords):
        return Grade.RISKY
    return Grade.RISKY if takes_any and parameter.kind in _NAMED else Grade.BREAKING


def _grade_of_addition(parameter: Parameter, displaces: bool, old: Signature) -> Grade:
    if parameter.required or displaces:
        return Grade.BREAKING
    if any(p.kind is ParameterKind.VAR_KEYWORD for p in old.parameters) and parameter.kind in _NAMED:
        # What went into **kwargs is taken out of it now.
        return Grade.RISKY
    return Grade.COMPATIBLE


def signature_text(signature: Signature) -> str:
    """A signature as Python writes it, without annotations."""
    parts: list[str] = []
    previous: ParameterKind | None = None
    for parameter in signature.parameters:
        if previous is ParameterKind.POSITIONAL_ONLY and parameter.kind is not previous:
            parts.append("/")
        if parameter.kind is ParameterKind.KEYWORD_ONLY and previous not in (
            ParameterKind.KEYWORD_ONLY,
            ParameterKind.VAR_POSITIONAL,
        ):
            parts.append("*")
        parts.append(parameter_text(parameter))
        previous = parameter.kind
    if previous is ParameterKind.POSITIONAL_ONLY:
        parts.append("/")
    return f"({', '.join(parts)})"


def parameter_text(parameter: Parameter) -> str:
    stars = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = f"={parameter.default}" if parameter.default is not None else ""
    return f"{stars}{parameter.name}{default}"
