"""DW303: a number that means something else in another release."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from driftwatch.binding.calls import Part
from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import CallUse, ImportUse, NameUse, Use
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.rules.enums import enum_in, has_other, member_of
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, SymbolKind

_HEADING = Heading("DW303", "changed-constant", Severity.WARNING)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if isinstance(use, CallUse):
        yield from _numbers(use, context)
    elif isinstance(use, ImportUse) and use.name is not None:
        yield from _constant(use, Ref(use.module, use.name), context)
    elif isinstance(use, NameUse) and not use.owner.qualname:
        yield from _constant(use, use.owner.member(use.name), context)


def _constant(use: Use, ref: Ref, context: Context) -> Iterator[Verdict]:
    """A constant that is read by its name: nothing breaks by itself, so that it is worth a note."""
    reached = use.releases & context.checked
    values: dict[str, ReleaseSet] = {}
    for epoch in context.history.of(ref):
        symbol, here = epoch.symbol, epoch.releases & reached
        if here and symbol.kind is SymbolKind.ATTRIBUTE and symbol.value is not None:
            values[symbol.value] = values.get(symbol.value, EMPTY) | here
    if len(values) < 2 or not all(map(_is_literal, values)):
        return
    newest = max(values, key=lambda value: values[value].mask.bit_length())
    where = context.history.timeline.describe
    told = ", ".join(f"{value} in {where(releases)}" for value, releases in values.items())
    differing = EMPTY
    for value, releases in values.items():
        if value != newest:
            differing |= releases
    yield _HEADING.verdict(
        use,
        ref.dotted,
        differing,
        f"`{ref.qualname}` changes its value: {told}",
        "keep nothing that was computed from it in one release for use in another",
        raises=False,
        severity=Severity.NOTE,
    )


def _is_literal(text: str) -> bool:
    """Whether a value is its text. ``Runtime()`` is an object made at import, and how it is made says little of it."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that is passed for an enum's member: which argument, and for which parameter."""

    index: int
    by_name: bool
    parameter: str
    value: int


def _numbers(use: CallUse, context: Context) -> Iterator[Verdict]:
    """A number passed for an enum's member, where the number is another member in another release."""
    meanings: dict[_Number, dict[tuple[Ref, str], ReleaseSet]] = {}
    for part in context.parts(use):
        here = part.releases & context.checked
        if not here:
            continue
        for index, by_name, parameter, annotation in _annotated(use, part):
            argument = use.keywords[index] if by_name else use.positional[index]
            enum = context.once(enum_in, use.callee.module, annotation, here)
            for where, value in argument.values:
                if enum is None or not isinstance(value, int) or isinstance(value, bool):
                    continue
                found = meanings.setdefault(_Number(index, by_name, parameter, value), {})
                for member, releases in member_of(context.history, enum, value, where & here):
                    found[enum, member] = found.get((enum, member), EMPTY) | releases
    for number, members in meanings.items():
        yield from _changed(number, members, use, context)


def _changed(
    number: _Number, members: dict[tuple[Ref, str], ReleaseSet], use: CallUse, context: Context
) -> Iterator[Verdict]:
    if len(members) < 2:
        return
    newest = max(members, key=lambda member: members[member].mask.bit_length())
    enum, name = newest
    others: dict[str, ReleaseSet] = {}
    classes: dict[str, set[str]] = {}
    for (older_enum, older), releases in members.items():
        if older != name and _another(context.history, number.value, newest, (older_enum, older), members):
            others[older] = others.get(older, EMPTY) | releases
            classes.setdefault(older, set()).add(older_enum.qualname)
    if not others:
        return
    where = context.history.timeline.describe
    told = [
        f"`{'.'.join([*(classes[older] if len(classes[older]) == 1 else ()), older])}` in {where(releases)}"
        for older, releases in others.items()
    ]
    yield _HEADING.verdict(
        use,
        use.callee.dotted,
        union(list(others.values())),
        f"{number.value} for `{number.parameter}` is {', '.join(told)}, and `{name}` in {where(members[newest])}",
        f"pass the member of `{enum.qualname}` by its name",
        parameter=number.parameter,
        argument=use.keywords[number.index] if number.by_name else use.positional[number.index],
        raises=False,
    )


def _another(
    history: History,
    value: int,
    newest: tuple[Ref, str],
    older: tuple[Ref, str],
    members: dict[tuple[Ref, str], ReleaseSet],
) -> bool:
    """Whether the number came to mean something else: one that only got a new name is what it was."""
    return has_other(history, newest[0], older[1], value, members[newest]) or has_other(
        history, older[0], newest[1], value, members[older]
    )


def _annotated(use: CallUse, part: Part) -> Iterator[tuple[int, bool, str, str]]:
    """The arguments of a part whose parameter is annotated: index, whether it is a keyword, parameter, annotation."""
    if part.signature is None:
        return
    annotations = {p.name: p.annotation for p in part.signature.parameters if p.annotation}
    for index, place in zip(part.positional, part.bound.places, strict=True):
        if place in annotations:
            yield index, False, place or "", annotations[place or ""] or ""
    for index in part.keywords:
        name = use.keywords[index].name or ""
        if name in annotations:
            yield index, True, name, annotations[name] or ""


_NUMBER = """\
import kiln


def dip(pot):
    return kiln.coat(pot, 1)
"""

_MEMBER = """\
import kiln


def dip(pot):
    return kiln.coat(pot, kiln.Glaze.CELADON)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A number or constant whose meaning differs between the checked releases.",
    rationale=(
        "The members of an enum may get other numbers. Code that passes the number instead of the member then "
        "asks for something else, without an error. driftwatch reports it if the parameter is annotated with "
        "the enum, or with a class that holds nothing but numbers. A member that only got another name still "
        "means the same. A plain constant whose value differs between the checked releases is a note."
    ),
    hint="Pass the member by its name.",
    check=check,
    compares=True,
    bad=(
        Example(
            "1 was another glaze before 2.0",
            _NUMBER,
            (Expected(5, "1.1 to 1.2", None, "glaze"),),
            against=">=1.1",
        ),
    ),
    good=(
        Example("The member by its name", _MEMBER, against=">=1.1"),
        Example("All checked releases agree", _NUMBER, against=">=2.0"),
    ),
)
