"""What is lost where an argument is left out: by the policy of a target, and by what the library's defaults say.

Enters: the rows of a policy, a call, the argument and the releases that do not take it. Leaves: nothing where the
release behaves so anyway, else what is lost, in words.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from driftwatch.flow.uses import Argument, CallUse, Constant, Unknown
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.model.history import History

_NOTHING_KNOWN = "leaving it out could change the result"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a policy: for some functions and parameters, whether a release does without it anyway, and why.

    `equals` None fits any value; `given` are values that other arguments must have. `runtime` says that only a
    running program can tell whether it fits. `releases` None means all.
    """

    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    harmless: bool
    because: str
    equals: tuple[object, ...] | None = None
    given: tuple[tuple[str, object], ...] = ()
    runtime: bool = False
    releases: ReleaseSet | None = None


@dataclass(frozen=True, slots=True)
class Losses:
    """What is known of a library: the rows of its policy, first match first."""

    rows: tuple[Row, ...] = ()

    def of(self, use: CallUse, argument: Argument, releases: ReleaseSet, history: History) -> str | None:
        """What is lost; None where it is nothing."""
        wanted = [row for row in self.rows if use.callee.qualname in row.functions and argument.name in row.parameters]
        lost: list[str] = []
        for value in _values(use, argument, releases, history):
            lost += self._of_value(wanted, value, use, releases)
        return "; ".join(dict.fromkeys(lost)) or None

    def _of_value(self, rows: Sequence[Row], value: Constant, use: CallUse, releases: ReleaseSet) -> list[str]:
        lost: list[str] = []
        perhaps: list[str] = []
        left = releases
        for row in rows:
            here = left if row.releases is None else left & row.releases
            if not here:
                continue
            fits = _fits(row, value, use)
            if fits is False:
                continue
            if fits is None:
                # Whether it fits is known at run time alone: what a later row says counts, the harmless one does not.
                if not row.harmless:
                    perhaps.append(row.because)
                continue
            if not row.harmless:
                lost.append(row.because)
            left -= here
        if left and not lost:
            lost = perhaps or [_NOTHING_KNOWN]
        return lost


def _fits(row: Row, value: Constant, use: CallUse) -> bool | None:
    """Whether a row is about this value; None where nobody can tell before the program runs."""
    if row.equals is not None:
        if isinstance(value, Unknown):
            return None
        if not any(_same(value, each) for each in row.equals):
            return False
    for name, wanted in row.given:
        others = [each for each in use.keywords if each.name == name]
        known = [v for each in others for _, v in each.values]
        if not others or not known or any(isinstance(v, Unknown) for v in known):
            return None
        if not all(_same(v, wanted) for v in known):
            return False
    return None if row.runtime else True


def _same(value: object, wanted: object) -> bool:
    return type(value) is type(wanted) and value == wanted


def _values(use: CallUse, argument: Argument, releases: ReleaseSet, history: History) -> list[Constant]:
    """What the argument may be in some releases: where that is not known, a flag is one of two."""
    found: list[Constant] = []
    covered = [value for where, value in argument.values if not where.isdisjoint(releases)]
    for value in covered or [Unknown.UNKNOWN]:
        if isinstance(value, Unknown) and _annotations(use, argument.name or "", history) == {"bool"}:
            found += [False, True]
        else:
            found.append(value)
    return list(dict.fromkeys(found)) if not any(isinstance(v, bool) for v in found) else found


def _annotations(use: CallUse, name: str, history: History) -> set[str]:
    return {
        parameter.annotation or ""
        for epoch in history.of(use.callee)
        for signature in epoch.symbol.possible
        if signature is not None
        for parameter in signature.parameters
        if parameter.name == name
    }


def is_default(pairs: Iterable[tuple[CallUse, Argument]], history: History) -> bool:
    """Whether an argument is always the default that it has in every release which takes it."""
    for use, argument in pairs:
        defaults: set[str | None] = set()
        for epoch in history.of(use.callee):
            for signature in epoch.symbol.possible:
                if signature is None:
                    return False
                defaults |= {p.default for p in signature.parameters if p.name == argument.name}
        values = [value for _, value in argument.values]
        if len(defaults) != 1 or not values or any(isinstance(v, Unknown) for v in values):
            return False
        try:
            default = ast.literal_eval(next(iter(defaults)) or "...")
        except (ValueError, SyntaxError):
            return False
        if not all(_same(value, default) for value in values):
            return False
    return True


def releases_of(specifier: str | None, timeline: Timeline) -> ReleaseSet | None:
    """The releases that a row is for."""
    return None if specifier is None else timeline.matching(specifier)
