"""What a target's policy file says, checked in full before anything is made of it.

Enters: the path of a ``policy.toml``. Leaves: a frozen `Policy`. Unknown keys, values
that are no Python literals of plain scalars, actions that do not exist: each is a
`ConfigError` that names the row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from driftwatch import whole
from driftwatch.adapter.rules import DROP, REFUSE, WARN
from driftwatch.errors import ConfigError
from driftwatch.toml import TomlError, parse

_KEYS = {"functions", "classes", "embed", "conditions", "install", "main", "exports"}
_RULE_KEYS = {
    "functions",
    "parameters",
    "action",
    "because",
    "evidence",
    "equals",
    "given",
    "condition",
    "needs",
    "releases",
    "taken",
}


@dataclass(frozen=True)
class PolicyRule:
    """One row as written.

    `releases` is a specifier over the library's releases, None for any build.
    """

    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    action: str
    because: str
    evidence: str
    equals: tuple[Any, ...] | None
    given: tuple[tuple[str, Any], ...]
    condition: str | None
    needs: tuple[str, ...]
    releases: str | None
    taken: bool


@dataclass(frozen=True)
class Policy:
    """All rows of a target, and what the generated file takes from the target's own
    modules.

    `embed` are modules of the policy's folder, in order. `conditions` names the table
    of conditions in them, `install` the function that is given the adapter, `main` the
    one that ``python FILE`` runs, `exports` further public names.
    """

    path: Path
    functions: tuple[str, ...]
    classes: tuple[str, ...]
    rules: tuple[PolicyRule, ...]
    embed: tuple[str, ...]
    conditions: str | None
    install: str | None
    main: str | None
    exports: tuple[str, ...]
    target: Mapping[str, Any]


def load_policy(path: Path) -> Policy:
    """Read and check a policy file."""
    try:
        raw = parse(whole.read(path).decode())
    except OSError as error:
        raise ConfigError(f"cannot read the policy {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not valid UTF-8") from None
    except TomlError as error:
        raise ConfigError(f"{path}:{error.line}: {error.reason}") from None
    _only(raw, _KEYS | {"rule", "target"}, str(path))
    names = {
        key: _texts(raw.get(key, []), f"{path}: {key}")
        for key in ("functions", "classes", "embed", "exports")
    }
    for name in (name for listed in names.values() for name in listed):
        if not name.isidentifier():
            raise ConfigError(f"{path}: {name!r} is not a name")
    single = {key: raw.get(key) for key in ("conditions", "install", "main")}
    for key, value in single.items():
        if value is not None and not (isinstance(value, str) and value.isidentifier()):
            raise ConfigError(f"{path}: {key} must be a name")
    rules = tuple(
        _rule(row, f"{path}: rule {i}")
        for i, row in enumerate(raw.get("rule", []), start=1)
    )
    return Policy(
        path=path,
        functions=names["functions"],
        classes=names["classes"],
        rules=rules,
        embed=names["embed"],
        conditions=single["conditions"],
        install=single["install"],
        main=single["main"],
        exports=names["exports"],
        target=raw.get("target", {}),
    )


def extended(policy: Policy, path: Path) -> Policy:
    """A policy with the functions and rules of a file of the user's.

    These rules come first, so that they may say more, or otherwise, than the target's.
    """
    more = load_policy(path)
    if more.embed or more.exports or more.target or more.main or more.install:
        raise ConfigError(
            f"{path} may say no more than functions, classes and rules",
            "the rest is the target's own",
        )
    return replace(
        policy,
        functions=tuple(dict.fromkeys((*policy.functions, *more.functions))),
        classes=tuple(dict.fromkeys((*policy.classes, *more.classes))),
        rules=(*more.rules, *policy.rules),
    )


def _rule(row: Mapping[str, Any], where: str) -> PolicyRule:
    _only(row, _RULE_KEYS, where)
    for key in ("action", "because", "evidence"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise ConfigError(f"{where}: {key} must be given, as text")
    if row["action"] not in (DROP, WARN, REFUSE):
        raise ConfigError(
            f"{where}: no such action: {row['action']}",
            f"one of {DROP}, {WARN}, {REFUSE}",
        )
    given = row.get("given", {})
    equals = row.get("equals")
    return PolicyRule(
        functions=_texts(row.get("functions", []), f"{where}: functions", some=True),
        parameters=_texts(row.get("parameters", []), f"{where}: parameters", some=True),
        action=row["action"],
        because=row["because"],
        evidence=row["evidence"],
        equals=None
        if equals is None
        else tuple(
            _literal(text, where) for text in _texts(equals, f"{where}: equals")
        ),
        given=tuple(
            (name, _literal(text, where)) for name, text in sorted(given.items())
        ),
        condition=row.get("condition"),
        needs=_texts(row.get("needs", []), f"{where}: needs"),
        releases=row.get("releases"),
        taken=row.get("taken", False) is True,
    )


def _literal(text: str, where: str) -> Any:
    """The value of a literal in quotes: None, a bool, a number or a string."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        raise ConfigError(f"{where}: {text!r} is not a literal") from None
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise ConfigError(f"{where}: {text!r} is not a plain value")
    return value


def _texts(value: Any, where: str, *, some: bool = False) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or not all(isinstance(item, str) for item in value)
        or (some and not value)
    ):
        raise ConfigError(f"{where} must be a list of texts")
    return tuple(value)


def _only(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ConfigError(
            f"{where}: unknown key {unknown[0]}",
            f"known are {', '.join(sorted(known))}",
        )
