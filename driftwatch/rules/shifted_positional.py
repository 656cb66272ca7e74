"""DW104: a positional argument that lands in another parameter in some release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftwatch.binding.calls import Part
from driftwatch.binding.kinds import other_kind
from driftwatch.binding.signature import Fault
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import CallUse, Use
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import ordinal
from driftwatch.snapshot.model.symbols import ParameterKind, Signature

_HEADING = Heading("DW104", "shifted-positional", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse) or not use.positional:
        return
    parts = context.parts(use)
    yield from _given_twice(use, parts)
    yield from _shifted(use, parts, context)


def _given_twice(use: CallUse, parts: tuple[Part, ...]) -> Iterator[Verdict]:
    """A positional argument lands in a parameter that a keyword fills as well: TypeError."""
    twice: dict[tuple[int, int, str], ReleaseSet] = {}
    for part in parts:
        for problem in part.bound.problems:
            if problem.fault is Fault.TWICE and problem.position is not None and problem.parameter is not None:
                key = (part.positional[problem.position], problem.position, problem.parameter)
                twice[key] = twice.get(key, EMPTY) | part.releases
    for (index, position, name), releases in twice.items():
        argument = use.positional[index]
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            releases,
            f"`{use.callee.qualname}` gets `{name}` twice in {RELEASES}: its {ordinal(position)} positional argument "
            f"lands in it, and a keyword fills it too",
            "pass the positional argument by the name of the parameter it is meant for",
            parameter=name,
            argument=argument,
        )


def _shifted(use: CallUse, parts: tuple[Part, ...], context: Context) -> Iterator[Verdict]:
    """An argument that lands elsewhere than in the release that is meant: nothing is raised, the meaning is another.

    One verdict for the first argument that moves and where it lands; those behind it move with it. Where the code base
    does not say which release that is, both readings are told.
    """
    clear = [part for part in parts if part.signature is not None]
    said = [part for part in clear if not part.releases.isdisjoint(context.meant)]
    reference = (
        _newest(said, context.meant) or _newest(clear, context.checked) or _newest(clear, context.history.timeline.all)
    )
    if reference is None:
        return
    certain = bool(said) and not _moved(said, reference)
    for (i, position, lands, wanted), releases in _moved(clear, reference).items():
        argument = use.positional[i]
        agreeing = union([part.releases for part in parts if part.bound.places[position : position + 1] == (wanted,)])
        there = context.history.timeline.describe(agreeing & context.checked or agreeing)
        what = f"the {ordinal(position)} positional argument of `{use.callee.qualname}` is `{lands}` in {RELEASES}"
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            releases,
            f"{what}, and `{wanted}` in {there}",
            "pass it by keyword" if certain else f"pass by keyword what it is, `{lands}` or `{wanted}`",
            parameter=wanted,
            argument=argument,
            raises=False,
        )


def _newest(parts: Sequence[Part], among: ReleaseSet) -> Part | None:
    """The part that has the newest of these releases."""
    inside = [part for part in parts if not part.releases.isdisjoint(among)]
    return max(inside, key=lambda part: (part.releases & among).mask.bit_length(), default=None)


def _moved(parts: Sequence[Part], reference: Part) -> dict[tuple[int, int, str, str], ReleaseSet]:
    """The first argument that lands elsewhere in a release: which, at what place, in what, and in what it is meant."""
    moved: dict[tuple[int, int, str, str], ReleaseSet] = {}
    meant = {i: (position, reference.bound.places[position]) for position, i in enumerate(reference.positional)}
    for part in parts:
        if any(problem.fault is Fault.TWICE for problem in part.bound.problems):
            continue
        assert part.signature is not None
        assert reference.signature is not None
        for position, i in enumerate(part.positional):
            lands = part.bound.places[position]
            position_there, wanted = meant.get(i, (None, None))
            if lands is None or wanted is None or position_there != position or lands == wanted:
                continue
            if not renamed_in_place(part.signature, reference.signature, position):
                key = (i, position, lands, wanted)
                moved[key] = moved.get(key, EMPTY) | part.releases
                break
    return moved


def renamed_in_place(one: Signature, other: Signature, position: int) -> bool:
    """Whether the parameters at this position are one parameter under two names.

    They are when neither name occurs in the other signature, and what stands round them (and round their neighbours
    that were renamed with them) is the same on both sides, or is the end of a list. One that takes another kind of
    value is another parameter.
    """
    first, second = _positional_names(one), _positional_names(other)
    all_first = {p.name for p in one.parameters} | set(one.extra_keywords)
    all_second = {p.name for p in other.parameters} | set(other.extra_keywords)

    def strange(i: int) -> bool:
        return (
            i < len(first)
            and i < len(second)
            and first[i] != second[i]
            and first[i] not in all_second
            and second[i] not in all_first
        )

    if not strange(position):
        # A decorator that still takes the old keyword says that it is a renaming.
        return first[position] in other.extra_keywords or second[position] in one.extra_keywords
    if other_kind(_annotation(one, first[position]), _annotation(other, second[position])):
        return False
    left = position
    while left > 0 and strange(left - 1):
        left -= 1
    right = position + 1
    while strange(right):
        right += 1
    same_left = left == 0 or first[left - 1] == second[left - 1]
    same_right = right >= len(first) or right >= len(second) or first[right] == second[right]
    return same_left and same_right


def _annotation(signature: Signature, name: str) -> str | None:
    return next(parameter.annotation for parameter in signature.parameters if parameter.name == name)


def _positional_names(signature: Signature) -> list[str]:
    kinds = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
    return [p.name for p in signature.parameters if p.kind in kinds]


_POSITIONAL = """\
import kiln


def decorate(pot, brush):
    return kiln.paint(pot, brush, "red")
"""

_KEYWORD = """\
import kiln


def decorate(pot, brush):
    return kiln.paint(pot, brush, colour="red")
"""

_RENAMED = """\
import kiln


def clean(pot):
    return kiln.wash(pot, 40)
"""

_TWICE = """\
import kiln


def decorate(pot, brush):
    return kiln.paint(pot, brush, "red", primer=False)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A positional argument that lands in another parameter in some release.",
    rationale=(
        "A parameter that is inserted before the last one, or removed, moves every positional argument behind "
        "it: the call is still valid and means something else. Meant is the release that the project pins or "
        "declares; where it declares none, or several that disagree, driftwatch reports those that disagree with the "
        "newest checked one, and names both readings. A "
        "parameter that only changed its name, in the same place between the same neighbours, is no shift; "
        "one whose annotation asks for another kind of value is."
    ),
    hint="Pass the argument by keyword.",
    check=check,
    compares=True,
    bad=(
        Example(
            "A parameter was put in before it",
            _POSITIONAL,
            (Expected(5, "1.0 to 1.2", None, "primer"),),
        ),
        Example(
            "It lands where a keyword goes as well",
            _TWICE,
            (Expected(5, "2.0 to 2.1", parameter="primer"),),
            against=">=2.0",
        ),
    ),
    good=(
        Example("Named", _KEYWORD),
        Example("All checked releases agree", _POSITIONAL, against=">=2.0"),
        Example("A parameter got another name at its place", _RENAMED),
    ),
)
