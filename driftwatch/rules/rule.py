"""What a rule is: what it says of itself, its predicate, and the examples that are its tests and its documentation.

A predicate sees one use, or one way in which the code base is installed, and the history, and yields verdicts; it never
looks at source text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from driftwatch.binding.calls import Part, parts
from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import Argument, CallUse, LookUse, Outcome, Use
from driftwatch.project.pins import Installation
from driftwatch.project.variables import Touch
from driftwatch.project.version_checks import VersionCheck
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.advisories import Knowledge
from driftwatch.snapshot.model.history import History
from driftwatch.targets.companions import Companions

T = TypeVar("T")


def _untouched(_: str) -> tuple[Touch, ...]:
    return ()


def _unchecked(_: str) -> tuple[VersionCheck, ...]:
    return ()


@dataclass(slots=True)
class Context:
    """What a rule may ask: the library's history, the range that is checked, and what no signature shows.

    `meant` are the releases that the code base says it is for, if it does.
    `companions` are distributions that must be of the library's own version, and `beside` is what its releases do where
    they are not. `pythons` are the specifiers of Python
    that the code base declares. `gpu` is the compute capability that is asked for, if one is. `variable` says where the
    code base sets or reads an environment variable, `version_checks` where it refuses releases of a distribution.
    `used` are the files in which the code base takes a name of the library from where it is.
    `looks` are the first places of files at which a guarded import of a package round the library says whether it is
    there.
    """

    history: History
    checked: ReleaseSet
    knowledge: Knowledge = field(default_factory=Knowledge)
    companions: tuple[str, ...] = ()
    beside: Companions = field(default_factory=Companions)
    pythons: tuple[str, ...] = ()
    gpu: tuple[int, int] | None = None
    meant: ReleaseSet = EMPTY
    looks: dict[str, LookUse] = field(default_factory=dict)
    used: Mapping[str, Collection[str]] = field(default_factory=dict)
    variable: Callable[[str], tuple[Touch, ...]] = field(default=_untouched)
    version_checks: Callable[[str], tuple[VersionCheck, ...]] = field(default=_unchecked)
    _last: tuple[CallUse, tuple[Part, ...]] | None = field(default=None, repr=False)
    _told: set[object] = field(default_factory=set, repr=False)
    _known: dict[object, Any] = field(default_factory=dict, repr=False)

    def parts(self, use: CallUse) -> tuple[Part, ...]:
        """The call in every release, worked out once for all the rules about calls."""
        if self._last is None or self._last[0] is not use:
            self._last = (use, parts(use, self.history))
        return self._last[1]

    def once(self, find: Callable[..., T], *about: Hashable) -> T:
        """What a function finds in the history about these, worked out once however many uses ask for it."""
        key = (find, about)
        if key not in self._known:
            self._known[key] = find(self.history, *about)
        return cast("T", self._known[key])

    def first_time(self, what: object) -> bool:
        """Whether this has not been asked before: for what is worth telling once, and holds of several uses."""
        if what in self._told:
            return False
        self._told.add(what)
        return True


@dataclass(frozen=True, slots=True)
class Expected:
    """What a bad example must give: the line, and the releases of the example library in words."""

    line: int
    releases: str
    outcome: Outcome | None = Outcome.RAISES
    parameter: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A small source file that uses the example library, and what the rule says of it.

    A good one gives nothing worse than a note. `against` is the range it is checked against; None is every release of
    the example library. `file` is what it is the text of, `gpu` what the scan is for.
    """

    title: str
    source: str
    expected: tuple[Expected, ...] = ()
    against: str | None = None
    file: str = "app.py"
    beside: tuple[tuple[str, str], ...] = ()
    gpu: tuple[int, int] | None = None


def _nothing(_: object, __: Context) -> Iterator[Verdict]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `summary` is one line, `rationale` a paragraph or two, `hint` what to do in general.

    `check` is what it says of a use of the library, `check_installation` of a way in which the code base is installed.
    `of_the_machine` says that where it is run decides whether it happens, and that the releases are only those in which
    it may: a picture of releases would say next to nothing if it showed that everywhere. `once` says that it is told
    once of a code base, however many places it holds of. `compares` says that what it tells is that a release does not
    do what the newest checked one does: where nothing is raised, it is as true the other way round.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    rationale: str
    hint: str
    bad: tuple[Example, ...]
    good: tuple[Example, ...]
    check: Callable[[Use, Context], Iterator[Verdict]] = _nothing
    check_installation: Callable[[Installation, Context], Iterator[Verdict]] = _nothing
    of_the_machine: bool = False
    once: bool = False
    compares: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """The part of a rule that its verdicts carry."""

    code: str
    name: str
    severity: Severity

    def verdict(  # noqa: PLR0913 - each is a part of what a verdict says
        self,
        use: Use,
        symbol: str,
        releases: ReleaseSet,
        message: str,
        hint: str,
        *,
        parameter: str | None = None,
        argument: Argument | None = None,
        raises: bool = True,
        severity: Severity | None = None,
        in_no_release: bool = False,
    ) -> Verdict:
        """A verdict on a use, placed where its `argument` was written when that is elsewhere.

        `raises` False says that Python raises nothing, so that there is no outcome; `in_no_release` that no known
        release would do.
        """
        location, catch, trace, conditional = use.location, use.catch, use.trace, use.conditional
        if argument is not None:
            conditional |= argument.conditional
            location = argument.location or location
            catch = argument.catch or catch
            trace = argument.trace or trace
        return Verdict(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            distribution=use.distribution,
            location=location,
            symbol=symbol,
            parameter=parameter,
            releases=releases,
            catch=catch if raises else None,
            message=message,
            hint=hint,
            trace=trace,
            exception=use.exception.rpartition(".")[2] if raises else None,
            conditional=conditional & releases,
            in_no_release=in_no_release,
            written=argument.written if argument is not None else None,
        )
