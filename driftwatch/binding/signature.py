"""Python's own binding of arguments to parameters, for one signature and one known shape of call.

Enters: a signature and what is passed. Leaves: the problems for which Python would raise TypeError, and where each
positional argument lands. Where nothing of the call is unknown, `bind` finds a problem exactly when
`inspect.Signature.bind` raises; what is unknown never makes a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature

_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)


class Fault(Enum):
    UNKNOWN_KEYWORD = "unknown keyword"
    POSITIONAL_ONLY = "passed by keyword, taken by position only"
    MISSING = "missing"
    TOO_MANY = "too many positional"
    TWICE = "passed twice"


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for which the call cannot be bound. `position` is that of the positional argument at fault."""

    fault: Fault
    parameter: str | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """What a call passes: for each positional argument, and each keyword, whether it is certainly there.

    `open_positional` and `open_keywords` say that a ``*args`` or ``**kwargs`` of unknown content may add more.
    """

    positional: tuple[bool, ...] = ()
    keywords: Mapping[str, bool] | None = None
    open_positional: bool = False
    open_keywords: bool = False

    @property
    def firm(self) -> int:
        """How many positional arguments stand at a known position."""
        if self.open_positional:
            return 0
        return next((i for i, certain in enumerate(self.positional) if not certain), len(self.positional))


@dataclass(frozen=True, slots=True)
class Bound:
    """The outcome: problems in the order Python looks for them, and the parameter each positional argument lands in.

    A place is None where the position is not known, lands in ``*args``, or has no parameter left.
    """

    problems: tuple[Problem, ...]
    places: tuple[str | None, ...]

    @property
    def fits(self) -> bool:
        return not self.problems


def bind(signature: Signature, shape: Shape) -> Bound:
    """Bind a call to a signature as Python would."""
    keywords = shape.keywords or {}
    parameters = signature.parameters
    slots = [p for p in parameters if p.kind in _BY_POSITION]
    takes_any_positional = any(p.kind is ParameterKind.VAR_POSITIONAL for p in parameters)
    takes_any_keyword = any(p.kind is ParameterKind.VAR_KEYWORD for p in parameters)
    by_keyword = {p.name for p in parameters if p.kind in _BY_KEYWORD}
    only_positional = {p.name for p in parameters if p.kind is ParameterKind.POSITIONAL_ONLY}

    passed = len(shape.positional)
    places = tuple(slots[i].name if i < len(slots) else None for i in range(shape.firm))
    places += (None,) * (passed - len(places))

    problems: list[Problem] = []
    wrongly_named: set[str] = set()
    renamed = False
    for name in keywords:
        if name in by_keyword or (takes_any_keyword and name not in signature.refused):
            continue
        if name in signature.extra_keywords:
            renamed = True
        elif name in only_positional:
            wrongly_named.add(name)
            problems.append(Problem(Fault.POSITIONAL_ONLY, name))
        else:
            problems.append(Problem(Fault.UNKNOWN_KEYWORD, name))

    for position, place in enumerate(places):
        if place in by_keyword and place in keywords:
            problems.append(Problem(Fault.TWICE, place, position))

    too_many = passed > len(slots) and not takes_any_positional
    if too_many:
        problems.append(Problem(Fault.TOO_MANY, None, len(slots)))

    if not shape.open_keywords and not renamed:
        filled = len(slots) if shape.open_positional else passed
        for parameter in _unfilled(slots[filled:], parameters, too_many):
            given = parameter.name in keywords and parameter.name in by_keyword
            if not given and parameter.name not in wrongly_named:
                problems.append(Problem(Fault.MISSING, parameter.name))
    return Bound(tuple(problems), places)


def _unfilled(slots: list[Parameter], parameters: tuple[Parameter, ...], too_many: bool) -> list[Parameter]:
    """Required parameters that no positional argument fills.

    With too many positional arguments the surplus was meant for them, and one problem tells it all.
    """
    if too_many:
        return []
    named = [p for p in parameters if p.kind is ParameterKind.KEYWORD_ONLY]
    return [p for p in (*slots, *named) if p.required]
