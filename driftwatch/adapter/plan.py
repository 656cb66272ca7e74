"""History and policy, turned into the plain data that a generated adapter holds.

Enters: a `History`, a `Policy`, the releases the adapter is for. Leaves: a dict of
nothing but tuples, lists, dicts, strings, numbers, bools and None, in a fixed order.
Source text of the library, its defaults and annotations, is left behind here: of a
parameter only its name, kind and whether it is required go on, and the name is checked
to be one.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from typing import Any

from driftwatch.adapter.policy import Policy, PolicyRule
from driftwatch.errors import SnapshotError, UsageError
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import ParameterKind, Ref, Signature, SymbolKind

_OPEN = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}


def make_plan(
    history: History,
    policy: Policy,
    releases: ReleaseSet,
    functions: Sequence[str] = (),
    companions: Sequence[str] = (),
) -> dict[str, Any]:
    """The data of an adapter for these releases.

    The functions named, and those of the policy where there are any.

    The policy's functions are always there, since the target's own modules call them.
    """
    if not releases:
        raise UsageError(
            "no known release is selected",
            f"known are {history.timeline.describe(history.timeline.all)}",
        )
    bound = (*policy.functions, *policy.classes)
    there = [
        name
        for name in bound
        if not history.present(Ref(history.module, name)).isdisjoint(releases)
    ]
    chosen = dict.fromkeys(functions) | dict.fromkeys(there)
    rows = {
        name: _function(history, policy, releases, name)
        for top in chosen
        for name in (
            top,
            *(_members(history, releases, top) if top in policy.classes else ()),
        )
    }
    return {
        "distribution": history.distribution,
        "module": history.module,
        "companions": tuple(companions),
        "releases": history.timeline.versions_of(releases),
        "functions": rows,
        "target": _resolved(policy.target, history, releases),
    }


def _members(history: History, releases: ReleaseSet, name: str) -> list[str]:
    """The public methods of a class whose signatures differ."""
    found = []
    for member in history.members(Ref(history.module, name)):
        epochs = [
            e
            for e in history.of(Ref(history.module, f"{name}.{member}"))
            if not e.releases.isdisjoint(releases)
        ]
        shapes = {
            _row(e.symbol.signature, member)
            for e in epochs
            if e.symbol.signature is not None
        }
        if len(shapes) > 1 and not member.startswith("_"):
            found.append(f"{name}.{member}")
    return found


def _function(
    history: History, policy: Policy, releases: ReleaseSet, name: str
) -> dict[str, Any]:
    epochs = [
        (epoch.releases & releases, epoch.symbol)
        for epoch in history.of(Ref(history.module, name))
        if not epoch.releases.isdisjoint(releases)
    ]
    if not epochs:
        raise UsageError(f"{history.module}.{name} is in none of the selected releases")
    by_row: dict[tuple[str, ...], ReleaseSet] = {}
    for held, symbol in epochs:
        kind = SymbolKind.CLASS if name in policy.classes else SymbolKind.FUNCTION
        if symbol.kind is not kind or symbol.signature is None:
            raise UsageError(
                f"{history.module}.{name} is not a function in "
                f"{history.timeline.describe(held)}"
            )
        row = _row(symbol.signature, name)
        by_row[row] = by_row.get(row, ReleaseSet()) | held
    signatures = sorted(by_row.items(), key=lambda item: item[1].mask.bit_length())
    return {
        "signatures": [
            (_ranges(history, held, releases), row) for row, held in signatures
        ],
        "rules": [
            _rule(rule, history, releases)
            for rule in policy.rules
            if name in rule.functions
        ],
        "is_class": name in policy.classes,
    }


def _row(signature: Signature, function: str) -> tuple[str, ...]:
    """A signature in the marks that the runtime reads (see `signatures.recorded`)."""
    row: list[str] = []
    keyword_only = False
    kinds = [p.kind for p in signature.parameters]
    for i, parameter in enumerate(signature.parameters):
        if not parameter.name.isidentifier() or keyword.iskeyword(parameter.name):
            raise SnapshotError(
                f"{function} has a parameter whose name is not an identifier: "
                f"{parameter.name!r}"
            )
        if parameter.kind in _OPEN:
            row.append(_OPEN[parameter.kind] + parameter.name)
            keyword_only = True
            continue
        if parameter.kind is ParameterKind.KEYWORD_ONLY and not keyword_only:
            row.append("*")
            keyword_only = True
        row.append(parameter.name + ("" if parameter.required else "="))
        last = i + 1 == len(kinds) or kinds[i + 1] is not ParameterKind.POSITIONAL_ONLY
        if parameter.kind is ParameterKind.POSITIONAL_ONLY and last:
            row.append("/")
    extra = [
        name
        for name in signature.extra_keywords
        if name.isidentifier() and not keyword.iskeyword(name)
    ]
    if extra and not keyword_only:
        row.append("*")
    # An open signature takes them anyway, and its ``**`` stands last.
    if ParameterKind.VAR_KEYWORD not in kinds:
        row += [f"{name}=" for name in extra]
    return tuple(row)


def _ranges(
    history: History, held: ReleaseSet, releases: ReleaseSet
) -> tuple[tuple[str, str | None], ...]:
    """The set as runs of the adapter's own releases: first and last, both included.

    A run that goes on to the newest has None for its last, so that a further release
    changes nothing where nothing has changed.
    """
    known = history.timeline.versions_of(releases)
    inside = set(history.timeline.versions_of(held & releases))
    runs: list[tuple[str, str | None]] = []
    previous = False
    for version in known:
        if version in inside:
            last = None if version == known[-1] else version
            runs = (
                [*runs[:-1], (runs[-1][0], last)]
                if previous
                else [*runs, (version, last)]
            )
        previous = version in inside
    return tuple(runs)


def _rule(rule: PolicyRule, history: History, releases: ReleaseSet) -> dict[str, Any]:
    held = None
    if rule.releases is not None:
        held = _ranges(history, history.timeline.matching(rule.releases), releases)
    row = {
        "parameters": rule.parameters,
        "action": rule.action,
        "because": rule.because,
        "evidence": rule.evidence,
        "equals": rule.equals,
        "given": rule.given,
        "condition": rule.condition,
        "needs": rule.needs,
        "releases": held,
        "taken": rule.taken,
    }
    return {key: value for key, value in row.items() if value not in (None, (), False)}


def _resolved(value: Any, history: History, releases: ReleaseSet) -> Any:
    """The target's own tables with each specifier replaced by the releases it selects,
    and no evidence.
    """
    if isinstance(value, Mapping):
        out = {
            k: _resolved(v, history, releases)
            for k, v in value.items()
            if k not in ("evidence", "releases")
        }
        if isinstance(value.get("releases"), str):
            return {
                "releases": _ranges(
                    history, history.timeline.matching(value["releases"]), releases
                ),
                **out,
            }
        return out
    if isinstance(value, list):
        return [_resolved(item, history, releases) for item in value]
    return value
