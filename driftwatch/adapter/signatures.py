"""What a callable takes, as data: read from the live object, or recorded for a release.

Enters: a callable, or rows of a recorded signature. Leaves: a `Shape`, and the ways two
shapes differ. Reading a live signature never raises: a callable that does not tell is
the reason in words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class AdapterError(RuntimeError):
    """A call the installed build cannot carry out as it was meant. Never a TypeError.

    Those get swallowed.
    """


class UnsupportedArgument(AdapterError):
    """An argument that the installed build does not take, and that may not be dropped.

    It is made of what it says and what it knows. It has no constructor of its own:
    torch.compile follows none of an exception, and would hide this one behind its own
    complaint.
    """

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def function(self) -> str:
        return str(self.args[1])

    @property
    def parameter(self) -> str:
        return str(self.args[2])

    @property
    def value(self) -> Any:
        return self.args[3]

    @property
    def release(self) -> str:
        """The installed build, in words."""
        return str(self.args[4])

    @property
    def first(self) -> str | None:
        """The first release that takes the argument."""
        return None if self.args[5] is None else str(self.args[5])

    @property
    def why(self) -> str:
        return str(self.args[6])


def refusal_text(
    function: str,
    parameter: str,
    value: object,
    release: str,
    first: str | None,
    why: str,
) -> str:
    """The refusal of one argument, in one sentence."""
    since = f"first taken in {first}" if first else "taken in no known release"
    return (
        f"{function}: {parameter}={_shown(value)} is not supported by {release} "
        f"({since}): {why}"
    )


class MissingArgument(AdapterError):
    """An argument that the installed build requires was not passed."""


class UnavailableFunction(AdapterError):
    """The installed build does not have the function, or cannot be imported.

    The message says which.
    """


class Parameter(NamedTuple):
    """One parameter: `kind` is POSITIONAL_ONLY, EITHER or KEYWORD_ONLY.

    The two open kinds are flags of `Shape`.
    """

    name: str
    kind: str
    required: bool


POSITIONAL_ONLY = "positional-only"
EITHER = "positional-or-keyword"
KEYWORD_ONLY = "keyword-only"

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: EITHER,
    inspect.Parameter.KEYWORD_ONLY: KEYWORD_ONLY,
}


class Shape(NamedTuple):
    """What may be passed.

    Named parameters in order, and whether more of either sort is taken.
    """

    parameters: tuple[Parameter, ...]
    any_positional: bool = False
    any_keyword: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset(p.name for p in self.parameters)

    @property
    def positional(self) -> tuple[str, ...]:
        """The names in the order in which positional arguments fill them."""
        return tuple(p.name for p in self.parameters if p.kind != KEYWORD_ONLY)

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters if p.required)

    @property
    def opaque(self) -> bool:
        """Takes anything and names nothing: a wrapper that hides what it wraps."""
        return not self.parameters and self.any_positional and self.any_keyword

    def covers(self, other: Shape) -> bool:
        """Whether every call that fits the other shape fits this one, argument for
        argument.
        """
        mine = {p.name: p for p in self.parameters}
        for parameter in other.parameters:
            own = mine.get(parameter.name)
            if own is None or (own.kind == POSITIONAL_ONLY) != (
                parameter.kind == POSITIONAL_ONLY
            ):
                return False
        if self.positional[: len(other.positional)] != other.positional:
            return False
        needed = {p.name for p in other.parameters if p.required}
        return all(p.name in needed for p in self.parameters if p.required)


def recorded(row: Iterable[str]) -> Shape:
    """The shape a recorded signature tells.

    Names in order, ``name=`` for an optional one, and the marks of a ``def``.

    As there, ``/`` ends the positional-only ones, ``*`` begins the keyword-only ones,
    and ``*args`` and ``**kwargs`` open the signature.
    """
    parameters: list[Parameter] = []
    kind = EITHER
    any_positional = any_keyword = False
    for mark in row:
        if mark == "/":
            parameters = [p._replace(kind=POSITIONAL_ONLY) for p in parameters]
        elif mark.startswith("**"):
            any_keyword = True
        elif mark.startswith("*"):
            kind = KEYWORD_ONLY
            any_positional = any_positional or mark != "*"
        else:
            parameters.append(Parameter(mark.rstrip("="), kind, not mark.endswith("=")))
    return Shape(tuple(parameters), any_positional, any_keyword)


def read_live(function: Callable[..., Any]) -> Shape | str:
    """The shape of a live callable, or why it cannot be told."""
    try:
        signature = inspect.signature(function)
    except Exception as error:
        # ValueError and TypeError are documented; a broken descriptor can raise
        # anything
        return f"inspect.signature raised {type(error).__name__}: {error}"
    parameters: list[Parameter] = []
    any_positional = any_keyword = False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            any_positional = True
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            any_keyword = True
        else:
            required = parameter.default is inspect.Parameter.empty
            parameters.append(
                Parameter(parameter.name, _KINDS[parameter.kind], required)
            )
    shape = Shape(tuple(parameters), any_positional, any_keyword)
    if shape.opaque:
        return "the signature is (*args, **kwargs), which tells nothing"
    return shape


def shared(shapes: Sequence[Shape]) -> Shape:
    """The part that all shapes have.

    Names known to all, in an order only as far as all agree on it.

    A parameter past the agreed order is keyword-only here. One that any shape requires
    is required.
    """
    if not shapes:
        return Shape(())
    names = frozenset.intersection(*(s.names for s in shapes))
    prefix = 0
    for column in zip(*(s.positional for s in shapes), strict=False):
        if len(set(column)) != 1:
            break
        prefix += 1
    agreed = shapes[0].positional[:prefix]
    required = {name for s in shapes for name in s.required}
    rows = [Parameter(name, EITHER, name in required) for name in agreed]
    rows += [
        Parameter(p.name, KEYWORD_ONLY, p.name in required)
        for p in shapes[0].parameters
        if p.name in names and p.name not in agreed
    ]
    return Shape(
        tuple(rows),
        all(s.any_positional for s in shapes),
        all(s.any_keyword for s in shapes),
    )


def differences(live: Shape, expected: Shape) -> tuple[str, ...]:
    """How a live signature differs from the recorded one, in words.

    Empty when a caller could not tell.
    """
    found = [
        f"takes {name}, which is not recorded"
        for name in sorted(live.names - expected.names)
    ]
    found += [
        f"does not take {name}, which is recorded"
        for name in sorted(expected.names - live.names)
    ]
    if not found and live.positional != expected.positional:
        found.append("takes its positional parameters in another order than recorded")
    recorded_required = set(expected.required)
    found += [
        f"requires {name}, which is recorded as optional"
        for name in live.required
        if name in expected.names and name not in recorded_required
    ]
    return tuple(found)


def _shown(value: object) -> str:
    """A short text of a value.

    A tensor or an object with a costly or broken repr is shown by its type.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    return f"<{type(value).__name__}>"
