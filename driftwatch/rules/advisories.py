"""Facts about a library that no signature shows, as data that its target brings.

Enters: ``advisories.toml`` in a target's folder. Leaves: a frozen `Knowledge`, validated in full; a mistake in the data
is a `ConfigError` that names the entry.

An ``[[advisory]]`` is behaviour that drifts under an unchanged signature: a symbol, releases, what to say, evidence,
and conditions over the call. All of its ``[[advisory.when]]`` must hold; each names a parameter and holds when any of
what it lists does: ``omitted``, ``passed``, ``none``, ``equals``, ``may-be``, ``differs``, ``by-position``, ``unless``,
``made-of`` (with ``left-open``) and ``unless-made-of``. One that names an environment ``variable`` holds where the code
base sets it to what ``equals`` lists, sets it at all (``passed``), or asks for it itself (``read``). ``where`` is an
expression over parameters that must be known to be true, and ``swallowed`` asks for a call whose failure a broad
handler hides. With ``returns``, how many values the call then gives, it is about calls whose result is taken apart into
another number.

An ``[[import-failure]]`` is what importing a module may raise; with ``python``, it does so on every machine with such a
Python. What is an ImportError is told of releases, and not of code: the guards that code has take it.
A ``[[kernels]]`` is which GPUs some calls run on, by compute capability, with conditions as above.
A ``[[reported]]`` is what people report and no entry tells, with the reason. ``ground`` says what was looked at in the
sources of the releases.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from driftwatch.binding.refused import names_in
from driftwatch.errors import ConfigError, UsageError
from driftwatch.findings import Severity
from driftwatch.flow.uses import NOTHING_GIVEN, Constant
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.toml import parse

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
    be true. `swallowed` asks for a call whose failure a broad handler hides.
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
    path = folder / FILE if folder is not None else None
    if path is None or not path.is_file():
        return Knowledge()
    try:
        data = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return knowledge(data, timeline, str(path))


def within(known: Knowledge, releases: ReleaseSet) -> Knowledge:
    """What is known of these releases alone."""
    return replace(
        known,
        advisories=tuple(replace(each, releases=each.releases & releases) for each in known.advisories),
        import_failures=tuple(replace(each, releases=each.releases & releases) for each in known.import_failures),
        kernels=tuple(replace(each, releases=each.releases & releases) for each in known.kernels),
    )


def knowledge(data: Mapping[str, Any], timeline: Timeline, where: str) -> Knowledge:
    """Tables as read from TOML, checked."""
    _keys(data, ("advisory", "import-failure", "reported", "kernels"), where)
    found = Knowledge(
        tuple(_advisory(entry, timeline, where) for entry in _tables(data, "advisory", where)),
        tuple(_import_failure(entry, timeline, where) for entry in _tables(data, "import-failure", where)),
        tuple(_reported(entry, where) for entry in _tables(data, "reported", where)),
        tuple(_kernels(entry, timeline, where) for entry in _tables(data, "kernels", where)),
    )
    entries: list[Advisory | ImportFailure | Kernels] = [*found.advisories, *found.import_failures, *found.kernels]
    ids = [each.id for each in entries]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{where}: there are two entries {twice!r}")
    return found


def _advisory(entry: Mapping[str, Any], timeline: Timeline, where: str) -> Advisory:
    name = _text(entry, "id", where)
    where = f"{where}: {name}"
    keys = ("id", "symbol", "releases", "message", "hint", "severity", "evidence")
    _keys(entry, (*keys, "when", "returns", "where", "swallowed", "ground"), where)
    severity = _text(entry, "severity", where)
    if severity not in {each.value for each in Severity}:
        raise ConfigError(f"{where}: severity {severity!r} is none of error, warning, note")
    returns = entry.get("returns")
    if returns is not None and (type(returns) is not int or returns < 2):
        raise ConfigError(f"{where}: returns must be a number of values, 2 or more")
    return Advisory(
        id=name,
        symbols=_symbols(entry, where),
        releases=_releases(entry, timeline, where),
        message=_text(entry, "message", where),
        hint=_text(entry, "hint", where),
        severity=Severity(severity),
        evidence=_evidence(entry, where),
        conditions=tuple(_condition(each, where) for each in _tables(entry, "when", where)),
        returns=returns,
        where=_expression(entry, where),
        swallowed=_flag(entry, "swallowed", where),
        specifier=_text(entry, "releases", where),
        ground=_text(entry, "ground", where) if "ground" in entry else "",
    )


def _kernels(entry: Mapping[str, Any], timeline: Timeline, where: str) -> Kernels:
    name = _text(entry, "id", where)
    where = f"{where}: {name}"
    _keys(entry, ("id", "symbol", "releases", "compute", "evidence", "when", "where", "ground"), where)
    compute = entry.get("compute")
    if (
        not isinstance(compute, list)
        or not compute
        or not all(isinstance(each, str) and _COMPUTE.fullmatch(each) for each in compute)
    ):
        raise ConfigError(f"{where}: compute must be a list of compute capabilities, such as '9' and '9.0'")
    return Kernels(
        id=name,
        symbols=_symbols(entry, where),
        releases=_releases(entry, timeline, where),
        compute=tuple(compute),
        evidence=_evidence(entry, where),
        conditions=tuple(_condition(each, where) for each in _tables(entry, "when", where)),
        where=_expression(entry, where),
        specifier=_text(entry, "releases", where),
        ground=_text(entry, "ground", where) if "ground" in entry else "",
    )


def _condition(entry: Mapping[str, Any], where: str) -> Condition:
    if "variable" in entry:
        return _of_variable(entry, where)
    _keys(entry, ("parameter", *_LISTS, *_FLAGS), where)
    none: tuple[Constant, ...] = (None,) if _flag(entry, "none", where) else ()
    condition = Condition(
        _text(entry, "parameter", where),
        omitted=_flag(entry, "omitted", where),
        passed=_flag(entry, "passed", where),
        by_position=_flag(entry, "by-position", where),
        equals=none + _constants(entry, "equals", where),
        may_be=_constants(entry, "may-be", where),
        differs=_constants(entry, "differs", where),
        unless=_constants(entry, "unless", where),
        made_of=_paths(entry, "made-of", where),
        left_open=_paths(entry, "left-open", where),
        unless_made_of=_paths(entry, "unless-made-of", where),
    )
    if len(entry) == 1:
        raise ConfigError(f"{where}: the condition on {condition.parameter!r} says nothing")
    if condition.left_open and not condition.made_of:
        raise ConfigError(f"{where}: left-open needs made-of beside it")
    return condition


def _of_variable(entry: Mapping[str, Any], where: str) -> Condition:
    _keys(entry, ("variable", "equals", "passed", "read"), where)
    condition = Condition(
        variable=_text(entry, "variable", where),
        passed=_flag(entry, "passed", where),
        read=_flag(entry, "read", where),
        equals=_constants(entry, "equals", where),
    )
    if len(entry) == 1 or not all(isinstance(each, str) for each in condition.equals):
        raise ConfigError(f"{where}: the condition on {condition.variable!r} must say `passed`, `read`, or texts")
    return condition


def _import_failure(entry: Mapping[str, Any], timeline: Timeline, where: str) -> ImportFailure:
    name = _text(entry, "id", where)
    where = f"{where}: {name}"
    _keys(entry, ("id", "module", "exception", "releases", "when", "evidence", "python", "ground"), where)
    exception = _text(entry, "exception", where)
    kind = getattr(builtins, exception, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise ConfigError(f"{where}: {exception!r} is no exception of Python's")
    return ImportFailure(
        name,
        _text(entry, "module", where),
        exception,
        _releases(entry, timeline, where),
        _text(entry, "when", where),
        _evidence(entry, where),
        _python(entry, where),
        _text(entry, "releases", where),
        _text(entry, "ground", where) if "ground" in entry else "",
    )


def _reported(entry: Mapping[str, Any], where: str) -> Reported:
    _keys(entry, ("what", "reason", "evidence"), where)
    return Reported(_text(entry, "what", where), _text(entry, "reason", where), _evidence(entry, where))


def _python(entry: Mapping[str, Any], where: str) -> str | None:
    if "python" not in entry:
        return None
    specifier = _text(entry, "python", where)
    try:
        return str(SpecifierSet(specifier))
    except ValueError:
        raise ConfigError(f"{where}: python = {specifier!r} is not a version specifier") from None


def _symbols(entry: Mapping[str, Any], where: str) -> tuple[Ref, ...]:
    value = entry.get("symbol")
    if not isinstance(value, list):
        return (Ref.parse(_text(entry, "symbol", where)),)
    if not value or not all(isinstance(item, str) and item for item in value):
        raise ConfigError(f"{where}: symbol must be a reference, or a list of some")
    return tuple(map(Ref.parse, value))


def _flag(entry: Mapping[str, Any], key: str, where: str) -> bool:
    if key in entry and entry[key] is not True:
        raise ConfigError(f"{where}: {key} can only be true")
    return key in entry


def _expression(entry: Mapping[str, Any], where: str) -> str | None:
    if "where" not in entry:
        return None
    text = _text(entry, "where", where)
    try:
        names_in(text)
    except SyntaxError:
        raise ConfigError(f"{where}: where = {text!r} is no expression") from None
    return text


def _releases(entry: Mapping[str, Any], timeline: Timeline, where: str) -> ReleaseSet:
    specifier = _text(entry, "releases", where)
    try:
        return timeline.matching("" if specifier == "all" else specifier)
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", error.hint) from None


def _evidence(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    value = entry.get("evidence")
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
        raise ConfigError(f"{where}: evidence must be a list of at least one reference")
    return tuple(value)


def _constants(entry: Mapping[str, Any], key: str, where: str) -> tuple[Constant, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, (bool, int, float, str)) for item in value):
        raise ConfigError(f"{where}: {key} must be a list of numbers, texts and booleans")
    return tuple(value)


def _paths(entry: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    named = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if not named or not all("." in item or "=" in item or item == NOTHING_GIVEN for item in value):
        raise ConfigError(f"{where}: {key} must be a list of import paths, name='text', or {NOTHING_GIVEN!r}")
    return tuple(value)


def _tables(data: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ConfigError(f"{where}: {key} must be an array of tables")
    return value


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{where}: an entry lacks the text {key!r}")
    return value


def _keys(entry: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    strange = next((key for key in entry if key not in known), None)
    if strange is not None:
        raise ConfigError(f"{where}: unknown key {strange!r}", f"known are {', '.join(known)}")
