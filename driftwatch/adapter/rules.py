"""What may become of an argument that the installed build does not take.

Dropped, dropped with a warning, or refused.

Enters: rows of a policy. Leaves: for a function and a release, the rules of each
parameter, and a verdict for a value. An argument that no rule lets go is refused:
silence of the policy is never consent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DROP = "drop"
WARN = "drop-and-warn"
REFUSE = "refuse"

Condition = Callable[[Any, Mapping[str, Any]], bool]
"""A test in code, for what no list of values can say.

Of the value, and of the arguments it asks for by name.
"""


@dataclass(frozen=True)
class Rule:
    """One row. It fits when every test it has does.

    The value, other arguments, a condition in code.

    `releases` None means: whatever is installed. Otherwise it holds for these releases
    alone, so never for a build whose release is not known. `taken` rules are about
    parameters that the build has but whose value it cannot use.
    """

    parameters: tuple[str, ...]
    action: str
    because: str
    equals: tuple[Any, ...] | None = None
    given: tuple[tuple[str, Any], ...] = ()
    condition: str | None = None
    needs: tuple[str, ...] = ()
    releases: frozenset[str] | None = None
    taken: bool = False

    def asked_for(self) -> tuple[str, ...]:
        """The other arguments this rule looks at."""
        return tuple(name for name, _ in self.given) + self.needs

    def applies_to(self, release: str | None) -> bool:
        return self.releases is None or release in self.releases

    def fits(
        self, value: Any, others: Mapping[str, Any], conditions: Mapping[str, Condition]
    ) -> bool:
        if self.equals is not None and not any(
            same(value, wanted) for wanted in self.equals
        ):
            return False
        if not all(same(others.get(name), wanted) for name, wanted in self.given):
            return False
        if self.condition is None:
            return True
        test = conditions.get(self.condition)
        try:
            return test is not None and test(value, others)
        except Exception:  # a condition that cannot be answered is not met
            return False


def span(
    ranges: Sequence[tuple[str, str | None]], releases: Sequence[str]
) -> tuple[str, ...]:
    """The releases in ranges of which both ends are included; None is the newest."""
    found: list[str] = []
    for first, last in ranges:
        end = len(releases) if last is None else releases.index(last) + 1
        found += releases[releases.index(first) : end]
    return tuple(found)


def read_rules(
    rows: Sequence[Mapping[str, Any]], releases: Sequence[str]
) -> tuple[Rule, ...]:
    """The rules that rows of plain data describe."""
    return tuple(
        Rule(
            parameters=tuple(row["parameters"]),
            action=row["action"],
            because=row["because"],
            equals=tuple(row["equals"]) if "equals" in row else None,
            given=tuple(row.get("given", ())),
            condition=row.get("condition"),
            needs=tuple(row.get("needs", ())),
            releases=frozenset(span(row["releases"], releases))
            if "releases" in row
            else None,
            taken=row.get("taken", False),
        )
        for row in rows
    )


def same(value: Any, wanted: Any) -> bool:
    """Equality of plain scalars alone.

    Anything else, a tensor say, equals nothing, and no operator of it is run.

    A bool is not the number it equals, since 1 for a flag and True for a count are
    mistakes to be seen.
    """
    kind = type(value)
    if value is None or wanted is None or kind is bool or type(wanted) is bool:
        return value is wanted
    if kind in (int, float) and type(wanted) in (int, float):
        return bool(value == wanted)
    return kind is str and type(wanted) is str and bool(value == wanted)


def verdict(
    rules: Sequence[Rule],
    value: Any,
    others: Mapping[str, Any],
    conditions: Mapping[str, Condition],
) -> tuple[str, str]:
    """The action of the first rule that fits, with its reason.

    Refusal when none does.
    """
    for rule in rules:
        if rule.fits(value, others, conditions):
            return rule.action, rule.because
    return REFUSE, "leaving it out could change the result"
