"""What a target's policy file says, checked in full before anything is made of it.

Enters: the path of a ``policy.toml``. Leaves: a frozen `Policy`. Unknown keys, values
that are no Python literals of plain scalars, actions that do not exist: each is a
`ConfigError` that names the row.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from driftwatch.adapter.rules import DROP, REFUSE, WARN
from driftwatch.errors import ConfigError
from driftwatch.system.tables import Table, read

_KEYS = (
    "functions",
    "classes",
    "embed",
    "conditions",
    "install",
    "main",
    "exports",
    "rule",
    "target",
)
_RULE_KEYS = (
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
)


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
    table = read(path)
    table.only(_KEYS)
    return Policy(
        path=path,
        functions=_names(table, "functions"),
        classes=_names(table, "classes"),
        rules=tuple(_rule(row) for row in table.tables("rule")),
        embed=_names(table, "embed"),
        conditions=_name(table, "conditions"),
        install=_name(table, "install"),
        main=_name(table, "main"),
        exports=_names(table, "exports"),
        target=table.table("target") or {},
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


def _names(table: Table, key: str) -> tuple[str, ...]:
    return table.listed(key, _is_name, "a list of names")


def _name(table: Table, key: str) -> str | None:
    name = table.maybe(key, "a name")
    if name is not None and not name.isidentifier():
        raise table.wrong(key, "a name")
    return name


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _rule(row: Table) -> PolicyRule:
    row.only(_RULE_KEYS)
    given = row.table("given")
    return PolicyRule(
        functions=row.strings("functions", some=True),
        parameters=row.strings("parameters", some=True),
        action=row.one_of("action", (DROP, WARN, REFUSE)),
        because=row.string("because"),
        evidence=row.string("evidence"),
        equals=tuple(_literal(text, row, "equals") for text in row.strings("equals"))
        if "equals" in row
        else None,
        given=tuple(
            (name, _literal(given.string(name), given, name))
            for name in sorted(given or ())
        )
        if given is not None
        else (),
        condition=row.maybe("condition"),
        needs=row.strings("needs"),
        releases=row.maybe("releases"),
        taken=row.flag("taken"),
    )


def _literal(text: str, table: Table, key: str) -> Any:
    """The value of a literal in quotes: None, a bool, a number or a string."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        raise table.error(f"{text!r} is not a literal", key) from None
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise table.error(f"{text!r} is not a plain value", key)
    return value
