"""What is known of one function, and what becomes of each single argument that the
installed build does not take.

Enters: the recorded signatures and the rules of a function, and the shape of the
installed one. Leaves: a `Settler`, which lets an argument go or raises the refusal that
names it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftwatch.adapter.rules import DROP, REFUSE, WARN, Condition, Rule, verdict
from driftwatch.adapter.signatures import (
    MissingArgument,
    Shape,
    UnsupportedArgument,
    refusal_text,
)

logger = logging.getLogger(__name__)

_MOST_REFUSALS = 32
"""How many different refusals are remembered.

A caller with ever new values must not fill the memory.
"""


class _Omitted:
    """The default of a wrapper's parameters: an argument that was not passed."""

    def __repr__(self) -> str:
        return "<omitted>"


OMITTED: Any = _Omitted()


@dataclass(frozen=True)
class Record:
    """What is known of one function.

    Its signature in each release that has it, and the rules.

    `shapes` are in the order of the last release that has each. `reference` is the
    newest signature: the one by which callers of the adapter pass their arguments.
    `releases` are all the adapter knows, oldest first.
    """

    name: str
    releases: tuple[str, ...]
    shapes: tuple[tuple[tuple[str, ...], Shape], ...]
    rules: tuple[Rule, ...]
    is_class: bool = False

    @property
    def reference(self) -> Shape:
        return self.shapes[-1][1]

    def first(self) -> str | None:
        """The first release that has the function."""
        return self._first(self._holders())

    def last(self) -> str | None:
        """The last release that has the function."""
        return next(
            (
                release
                for release in reversed(self.releases)
                if release in self._holders()
            ),
            None,
        )

    def gone(self) -> str | None:
        """The first known release after the last one that has it.

        None when the newest has it.
        """
        last = self.last()
        later = self.releases[self.releases.index(last) + 1 :] if last else ()
        return later[0] if later else None

    def is_past(self, release: str) -> bool:
        """Whether a known release came after the last one that has the function."""
        last = self.last()
        return last is not None and self.releases.index(release) > self.releases.index(
            last
        )

    def shape_in(self, release: str | None) -> Shape | None:
        return next((shape for held, shape in self.shapes if release in held), None)

    def first_with(self, parameter: str) -> str | None:
        """The first release that takes a parameter."""
        return self._first(
            {
                release
                for held, shape in self.shapes
                if parameter in shape.names
                for release in held
            }
        )

    def _holders(self) -> set[str]:
        return {release for held, _ in self.shapes for release in held}

    def _first(self, held: set[str]) -> str | None:
        return next((release for release in self.releases if release in held), None)


class Settler:
    """Decides about single arguments of one bound function."""

    def __init__(
        self,
        record: Record,
        release: str,
        shape: Shape,
        rules: Sequence[Rule],
        conditions: Mapping[str, Condition],
        *,
        guessed: bool = False,
    ) -> None:
        """`guessed` says that nobody knows which release the shape is of."""
        self.record = record
        self.release = release
        self.shape = shape
        self.conditions = conditions
        self.warned: set[str] = set()
        self.refused: dict[str, int] = {}
        """What was refused so far, in the words of the error, and how often."""
        self.demanded: frozenset[str] = frozenset()
        """What may not be left out, since the build may be one that requires it."""
        if guessed:
            known = [each.required for _, each in record.shapes]
            self.demanded = frozenset(name for names in known for name in names)
        self.rules: dict[str, tuple[Rule, ...]] = {}
        self.unusable: dict[str, tuple[Rule, ...]] = {}
        """Parameters the build has, with values it cannot use."""
        for rule in rules:
            for parameter in rule.parameters:
                if rule.taken == (parameter in shape.names):
                    table = self.unusable if rule.taken else self.rules
                    table[parameter] = (*table.get(parameter, ()), rule)

    def harmless(self, parameter: str) -> tuple[tuple[Any, str | None, Any], ...]:
        """Plain values that may be dropped without a word, each with another argument
        and what that must be.

        Most calls end with one of them. They stand for the drop rules that come first,
        and for no other.
        """
        found: list[tuple[Any, str | None, Any]] = []
        rules = () if parameter in self.demanded else self.rules.get(parameter, ())
        for rule in rules:
            if rule.action != DROP:
                break
            if (
                rule.condition is None
                and rule.equals is not None
                and len(rule.given) < 2
            ):
                other, beside = rule.given[0] if rule.given else (None, None)
                if beside is None or isinstance(beside, bool):
                    found += [(wanted, other, beside) for wanted in rule.equals]
        return tuple(found)

    def check_all(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise when the build has a parameter but cannot use its value."""
        given = kwargs if not args else self.given(args, kwargs)
        for name in self.unusable:
            if name in given:
                self.check_usable(name, given[name], given)

    def by_name(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments by the reference's names; raise where that cannot be."""
        order = self.record.reference.positional
        if len(args) > len(order):
            why = f"{len(order)} are taken by position"
            raise self.refusal(
                f"positional argument {len(order) + 1}", args[len(order)], why
            )
        if not kwargs.keys().isdisjoint(order[: len(args)]):
            raise self.twice(order[: len(args)], kwargs)
        return self.given(args, kwargs)

    def given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments by the reference's names."""
        return {
            **dict(zip(self.record.reference.positional, args, strict=False)),
            **kwargs,
        }

    def settle(self, parameter: str, value: Any, given: Mapping[str, Any]) -> None:
        """Return when an argument that the build does not take may be dropped.

        Raise when not.
        """
        if parameter not in self.record.reference.names:
            raise self.refusal(parameter, value, "the installed build does not take it")
        if parameter in self.demanded:
            why = "which release this is is not known, and some require it"
            raise self.refusal(parameter, value, why)
        action, because = verdict(
            self.rules.get(parameter, ()), value, given, self.conditions
        )
        if action == REFUSE:
            raise self.refusal(parameter, value, because)
        if action == WARN and parameter not in self.warned:
            self.warned.add(parameter)
            logger.warning(
                "%s: %s was left out for %s: %s",
                self.record.name,
                parameter,
                self.release,
                because,
            )

    def check_usable(
        self, parameter: str, value: Any, others: Mapping[str, Any]
    ) -> None:
        """Raise when the build has the parameter but cannot use this value."""
        for rule in self.unusable.get(parameter, ()):
            if rule.action != DROP and rule.fits(value, others, self.conditions):
                raise self.refusal(parameter, value, rule.because)

    def refusal(self, parameter: str, value: Any, because: str) -> UnsupportedArgument:
        first = self.record.first_with(parameter)
        known = (self.record.name, parameter, value, self.release, first, because)
        message = refusal_text(*known)
        self._count(message)
        return UnsupportedArgument(message, *known)

    def twice(
        self, placed: Sequence[str], kwargs: Mapping[str, Any]
    ) -> UnsupportedArgument:
        name = next(name for name in placed if name in kwargs)
        return self.refusal(
            name, kwargs[name], "it is passed twice, by position and by name"
        )

    def missing(self, given: Sequence[str]) -> MissingArgument:
        names = [name for name in self.shape.required if name not in given]
        message = f"{self.record.name}: {self.release} requires {', '.join(names)}"
        self._count(message)
        return MissingArgument(message)

    def _count(self, message: str) -> None:
        if message in self.refused or len(self.refused) < _MOST_REFUSALS:
            self.refused[message] = self.refused.get(message, 0) + 1
