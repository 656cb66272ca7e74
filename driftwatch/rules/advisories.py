"""Facts about a library that no signature shows, as data that its target brings.

Enters: ``advisories.toml`` in a target's folder. Leaves: a frozen `Knowledge`, validated in full; a mistake in the data
is a `ConfigError` that names the entry.

An ``[[advisory]]`` is behaviour that drifts under an unchanged signature: a symbol, releases, what to say, evidence,
and conditions over the call. All of its ``[[advisory.when]]`` must hold; each names a parameter and holds when any of
what it lists does: ``omitted``, ``passed``, ``none``, ``equals``, ``may-be``, ``differs``, ``by-position``, ``unless``,
``made-of`` (with ``left-open``) and ``unless-made-of``. One that names an environment ``variable`` holds where the code
base sets it to what ``equals`` lists, sets it at all (``passed``), or asks for it itself (``read``). ``where`` is an
expression over parameters that must be known to be true, and ``swallowed`` asks for a call whose failure a broad
handler hides; with ``unless-used``, nothing is told where the code base itself uses what that names. With ``returns``,
how many values the call then gives, it is about calls whose result is taken apart into another number.

An ``[[import-failure]]`` is what importing a module may raise; with ``python``, it does so on every machine with such a
Python. What is an ImportError is told of releases, and not of code: the guards that code has take it.
A ``[[kernels]]`` is which GPUs some calls run on, by compute capability, with conditions as above.
A ``[[reported]]`` is what people report and no entry tells, with the reason. ``ground`` says what was looked at in the
sources of the releases.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import SpecifierSet

from driftwatch.binding.refused import names_in
from driftwatch.errors import UsageError
from driftwatch.findings.finding import Severity
from driftwatch.flow.uses import NOTHING_GIVEN, Constant
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.system.tables import Table, read_if_there

FILE = "advisories.toml"
_FLAGS = ("omitted", "passed", "none", "by-position")
_LISTS = ("equals", "may-be", "differs", "unless", "made-of", "left-open", "unless-made-of")
_COMPUTE = re.compile(r"[1-9][0-9]?(\.[0-9])?")
_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError")


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be known of a parameter's argument; any one of these is enough.

    `omitted`: nothing is passed. `passed`: something is. `by_position`: it is, by position. `equals`: a literal among
    these. `may_be`: nothing says that it is none of these; what is left to the release is its default. `differs`: a
    literal that is none of these. `unless` is the other way round: it holds where the argument is not known to be one
    of these.

    `made_of`: it is known to be one of these objects, by import path, or to be made of one, or of a call that has one
    of these texts for a parameter, as ``name='text'``; where the code base compares an attribute of that name, what it
    finds counts. `left_open` are what it may be made of and then be one of them, ``name=?`` among them for a text that
    nobody knows. `unless_made_of` holds where it is known to be none of that; "None" among them is None, and what is
    made with nothing else. All that is asked of one parameter must hold of one and the same object.

    With `variable`, an environment variable, there is no parameter: `equals` is what the code base sets it to, `passed`
    that it sets it, `read` that it asks for it.
    """

    parameter: str = ""
    omitted: bool = False
    passed: bool = False
    by_position: bool = False
    equals: tuple[Constant, ...] = ()
    may_be: tuple[Constant, ...] = ()
    differs: tuple[Constant, ...] = ()
    unless: tuple[Constant, ...] = ()
    made_of: tuple[str, ...] = ()
    left_open: tuple[str, ...] = ()
    unless_made_of: tuple[str, ...] = ()
    variable: str = ""
    read: bool = False

    @property
    def is_about_objects(self) -> bool:
        """Whether it asks what an argument is or is made of."""
        return bool(self.made_of or self.unless_made_of)


@dataclass(frozen=True, slots=True)
class Advisory:
    """Behaviour that drifts under an unchanged signature. All conditions must hold; none means every call.

    `symbols` are what is called, each of them. `returns` is how many values the call then gives, where the advisory is
    about taking apart another number. `where` is an expression over parameters, as source text, that must be known to
    be true. `swallowed` asks for a call whose failure a broad handler hides. With `unless_used` nothing is told where
    the code base uses one of these itself.
    """

    id: str
    symbols: tuple[Ref, ...]
    releases: ReleaseSet
    message: str
    hint: str
    severity: Severity
    evidence: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    returns: int | None = None
    where: str | None = None
    swallowed: bool = False
    unless_used: tuple[Ref, ...] = ()
    specifier: str = ""
    ground: str = ""


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """What importing a module may raise, in which releases, and when.

    `python` is a specifier: with such a Python it is raised on every machine. None is for what the machine decides.
    """

    id: str
    module: str
    exception: str
    releases: ReleaseSet
    when: str
    evidence: tuple[str, ...] = ()
    python: str | None = None
    specifier: str = ""
    ground: str = ""

    @property
    def is_import_error(self) -> bool:
        """Whether it is what a guard round an import takes anyway."""
        return self.exception in _IMPORT_ERRORS


@dataclass(frozen=True, slots=True)
class Kernels:
    """The GPUs that the kernels behind some calls are there for.

    `compute` are compute capabilities, "9" for all that begin with it, "9.0" for this one. The rest is as for an
    `Advisory`.
    """

    id: str
    symbols: tuple[Ref, ...]
    releases: ReleaseSet
    compute: tuple[str, ...]
    evidence: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    where: str | None = None
    specifier: str = ""
    ground: str = ""

    def are_for(self, gpu: tuple[int, int]) -> bool:
        return not {f"{gpu[0]}", f"{gpu[0]}.{gpu[1]}"}.isdisjoint(self.compute)


@dataclass(frozen=True, slots=True)
class Reported:
    """What people report and no entry tells, and why."""

    what: str
    reason: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that a target brings beside its snapshots."""

    advisories: tuple[Advisory, ...] = ()
    import_failures: tuple[ImportFailure, ...] = ()
    reported: tuple[Reported, ...] = ()
    kernels: tuple[Kernels, ...] = ()


def load(folder: Path | None, timeline: Timeline) -> Knowledge:
    """What the file in a target's folder says; nothing where there is none."""
    table = read_if_there(folder, FILE)
    return knowledge(table, timeline) if table is not None else Knowledge()


def within(known: Knowledge, releases: ReleaseSet) -> Knowledge:
    """What is known of these releases alone."""
    return replace(
        known,
        advisories=tuple(replace(each, releases=each.releases & releases) for each in known.advisories),
        import_failures=tuple(replace(each, releases=each.releases & releases) for each in known.import_failures),
        kernels=tuple(replace(each, releases=each.releases & releases) for each in known.kernels),
    )


def knowledge(table: Table, timeline: Timeline) -> Knowledge:
    """Tables as read from TOML, checked."""
    table.only(("advisory", "import-failure", "reported", "kernels"))
    found = Knowledge(
        tuple(_advisory(entry, timeline) for entry in table.tables("advisory")),
        tuple(_import_failure(entry, timeline) for entry in table.tables("import-failure")),
        tuple(_reported(entry) for entry in table.tables("reported")),
        tuple(_kernels(entry, timeline) for entry in table.tables("kernels")),
    )
    entries: list[Advisory | ImportFailure | Kernels] = [*found.advisories, *found.import_failures, *found.kernels]
    ids = [each.id for each in entries]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise table.error(f"there are two entries {twice!r}")
    return found


def _advisory(entry: Table, timeline: Timeline) -> Advisory:
    keys = ("id", "symbol", "releases", "message", "hint", "severity", "evidence")
    entry.only((*keys, "when", "returns", "where", "swallowed", "unless-used", "ground"))
    returns = entry.get("returns")
    if returns is not None and (type(returns) is not int or returns < 2):
        raise entry.wrong("returns", "a number of values, 2 or more")
    return Advisory(
        id=entry.string("id"),
        symbols=_symbols(entry),
        releases=_releases(entry, timeline),
        message=entry.string("message"),
        hint=entry.string("hint"),
        severity=Severity(entry.one_of("severity", [each.value for each in Severity])),
        evidence=_evidence(entry),
        conditions=tuple(map(_condition, entry.tables("when"))),
        returns=returns,
        where=_expression(entry),
        swallowed=_flag(entry, "swallowed"),
        unless_used=_symbols(entry, "unless-used") if "unless-used" in entry else (),
        specifier=entry.string("releases"),
        ground=entry.maybe("ground") or "",
    )


def _kernels(entry: Table, timeline: Timeline) -> Kernels:
    entry.only(("id", "symbol", "releases", "compute", "evidence", "when", "where", "ground"))
    return Kernels(
        id=entry.string("id"),
        symbols=_symbols(entry),
        releases=_releases(entry, timeline),
        compute=entry.listed(
            "compute", _is_compute, "a list of compute capabilities, such as '9' and '9.0'", some=True
        ),
        evidence=_evidence(entry),
        conditions=tuple(map(_condition, entry.tables("when"))),
        where=_expression(entry),
        specifier=entry.string("releases"),
        ground=entry.maybe("ground") or "",
    )


def _is_compute(value: object) -> bool:
    return isinstance(value, str) and _COMPUTE.fullmatch(value) is not None


def _condition(entry: Table) -> Condition:
    if "variable" in entry:
        return _of_variable(entry)
    entry.only(("parameter", *_LISTS, *_FLAGS))
    none: tuple[Constant, ...] = (None,) if _flag(entry, "none") else ()
    condition = Condition(
        entry.string("parameter"),
        omitted=_flag(entry, "omitted"),
        passed=_flag(entry, "passed"),
        by_position=_flag(entry, "by-position"),
        equals=none + _constants(entry, "equals"),
        may_be=_constants(entry, "may-be"),
        differs=_constants(entry, "differs"),
        unless=_constants(entry, "unless"),
        made_of=_paths(entry, "made-of"),
        left_open=_paths(entry, "left-open"),
        unless_made_of=_paths(entry, "unless-made-of"),
    )
    if len(entry) == 1:
        raise entry.error(f"the condition on {condition.parameter!r} says nothing")
    if condition.left_open and not condition.made_of:
        raise entry.error("'left-open' needs 'made-of' beside it", "left-open")
    return condition


def _of_variable(entry: Table) -> Condition:
    entry.only(("variable", "equals", "passed", "read"))
    condition = Condition(
        variable=entry.string("variable"),
        passed=_flag(entry, "passed"),
        read=_flag(entry, "read"),
        equals=_constants(entry, "equals"),
    )
    if len(entry) == 1 or not all(isinstance(each, str) for each in condition.equals):
        raise entry.error(f"the condition on {condition.variable!r} must say `passed`, `read`, or strings")
    return condition


def _import_failure(entry: Table, timeline: Timeline) -> ImportFailure:
    entry.only(("id", "module", "exception", "releases", "when", "evidence", "python", "ground"))
    exception = entry.string("exception")
    kind = getattr(builtins, exception, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise entry.wrong("exception", "an exception of Python's")
    return ImportFailure(
        entry.string("id"),
        entry.string("module"),
        exception,
        _releases(entry, timeline),
        entry.string("when"),
        _evidence(entry),
        entry.read_as("python", lambda text: str(SpecifierSet(text)), "a version specifier"),
        entry.string("releases"),
        entry.maybe("ground") or "",
    )


def _reported(entry: Table) -> Reported:
    entry.only(("what", "reason", "evidence"))
    return Reported(entry.string("what"), entry.string("reason"), _evidence(entry))


def _symbols(entry: Table, key: str = "symbol") -> tuple[Ref, ...]:
    if isinstance(entry.get(key), str):
        return (Ref.parse(entry.string(key)),)
    return tuple(map(Ref.parse, entry.strings(key, "a reference, or a list of some", some=True)))


def _flag(entry: Table, key: str) -> bool:
    if key in entry and entry[key] is not True:
        raise entry.wrong(key, "true, or be left out")
    return key in entry


def _expression(entry: Table) -> str | None:
    text = entry.maybe("where")
    entry.read_as("where", names_in, "an expression")
    return text


def _releases(entry: Table, timeline: Timeline) -> ReleaseSet:
    specifier = entry.string("releases")
    try:
        return timeline.matching("" if specifier == "all" else specifier)
    except UsageError as error:
        raise entry.error(error.message, "releases", error.hint) from None


def _evidence(entry: Table) -> tuple[str, ...]:
    return entry.strings("evidence", "a list of at least one reference", some=True)


def _constants(entry: Table, key: str) -> tuple[Constant, ...]:
    fits = (bool, int, float, str)
    return entry.listed(key, lambda item: isinstance(item, fits), "a list of numbers, strings and booleans")


def _paths(entry: Table, key: str) -> tuple[str, ...]:
    what = f"a list of import paths, name='text', or {NOTHING_GIVEN!r}"
    return entry.listed(key, _is_path, what)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and ("." in value or "=" in value or value == NOTHING_GIVEN)
