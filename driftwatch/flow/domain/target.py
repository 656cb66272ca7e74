"""What the interpreter asks of the library as such: its import paths, its versions, whether a call of it fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packaging.version import Version

from driftwatch.binding.calls import parts
from driftwatch.binding.signature import Fault, Problem
from driftwatch.flow.domain.values import Alternative, Const
from driftwatch.flow.uses import CallUse
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref


@dataclass(frozen=True, slots=True)
class Refusal:
    """The releases in which a call fails with a TypeError of this text; whether it `surely` does, as far as it goes."""

    releases: ReleaseSet
    text: str
    surely: bool


class Target:
    """The library that a code base is held against."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._root = history.module
        self._top = history.module.partition(".")[0]
        self._distribution = _normal(history.distribution)
        self._refused: dict[object, tuple[Refusal, ...]] = {}

    def is_above(self, module: str) -> bool:
        """Whether a module is a package above the library's public root."""
        return self._root.startswith(module + ".")

    def is_inside(self, module: str) -> bool:
        """Whether a module is the public root or below it."""
        return module == self._root or module.startswith(self._root + ".")

    def is_named_by(self, text: str) -> bool:
        """Whether text could be the import path or the distribution name of something of the library."""
        return text == self._top or text.startswith(self._top + ".") or self.is_distribution(text)

    def is_distribution(self, text: str) -> bool:
        """Whether text is the library's name on the index, in any spelling."""
        return _normal(text) == self._distribution

    def versions(self, where: ReleaseSet) -> list[Alternative]:
        """The library's version, one constant per release."""
        versions = self.history.timeline.versions
        return [(ReleaseSet(1 << i), Const(versions[i])) for i in where.indices()]

    def before(self, version: str) -> ReleaseSet:
        """The releases older than a version; none where that is no version."""
        try:
            least = Version(version)
        except ValueError:
            return EMPTY
        versions = self.history.timeline.versions
        return self.history.timeline.set_of(each for each in versions if Version(each) < least)

    def misfits(self, callee: Ref, where: ReleaseSet) -> list[tuple[ReleaseSet, str | None]]:
        """What a call of something raises that does not fit, by release; None is Python's own TypeError."""
        found = [(e.releases & where, e.symbol.misfit) for e in self.history.of(callee) if e.symbol.misfit is not None]
        rest = where - union([EMPTY, *(releases for releases, _ in found)])
        by_kind: dict[str | None, ReleaseSet] = {None: rest} if rest or not found else {}
        for releases, misfit in found:
            by_kind[misfit] = by_kind.get(misfit, EMPTY) | releases
        return [(releases, misfit) for misfit, releases in by_kind.items() if releases or len(by_kind) == 1]

    def refusals(self, use: CallUse) -> tuple[Refusal, ...]:
        """The releases in which a call cannot be bound, and what Python says of it."""
        # One place is met again and again: by every caller, in every turn of a loop.
        key = (
            use.callee,
            use.releases,
            tuple([(each.releases, each.certain) for each in use.positional]),
            tuple([(each.name, each.releases, each.certain) for each in use.keywords]),
            (use.unknown_positional, use.unknown_keywords, use.method, use.exact, use.unbound),
        )
        refused = self._refused.get(key)
        if refused is None:
            found: dict[tuple[str, bool], ReleaseSet] = {}
            for part in parts(use, self.history):
                if not part.bound.fits:
                    what = _said(use, part.bound.problems), any(_is_sure(use, each) for each in part.bound.problems)
                    found[what] = found.get(what, EMPTY) | part.releases
            refused = self._refused[key] = tuple(Refusal(where, *what) for what, where in found.items())
        return refused

    def public_names(self, module: str) -> Iterator[str]:
        """What ``from module import *`` may bring."""
        for ref in self.history.epochs:
            if ref.module == module and ref.qualname and "." not in ref.qualname and not ref.qualname.startswith("_"):
                yield ref.qualname


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _said(use: CallUse, problems: tuple[Problem, ...]) -> str:
    """Python's own words for the first of these problems."""
    name = f"{use.callee.qualname.rpartition('.')[2]}()"
    first = problems[0]
    same = [f"'{each.parameter}'" for each in problems if each.fault is first.fault and each.parameter is not None]
    if first.fault is Fault.UNKNOWN_KEYWORD:
        return f"{name} got an unexpected keyword argument '{first.parameter}'"
    if first.fault is Fault.POSITIONAL_ONLY:
        return f"{name} got some positional-only arguments passed as keyword arguments: {', '.join(same)}"
    if first.fault is Fault.TWICE:
        return f"{name} got multiple values for argument '{first.parameter}'"
    if first.fault is Fault.MISSING:
        listed = " and ".join(same) if len(same) < 3 else f"{', '.join(same[:-1])}, and {same[-1]}"
        return f"{name} missing {len(same)} required positional argument{'s' * (len(same) > 1)}: {listed}"
    return f"{name} takes fewer positional arguments but {len(use.positional)} were given"


def _is_sure(use: CallUse, problem: Problem) -> bool:
    """Whether it is there whatever is passed only under a condition."""
    if problem.position is not None:
        return problem.position < len(use.positional) and use.positional[problem.position].certain
    return all(each.certain for each in use.keywords if each.name == problem.parameter)
