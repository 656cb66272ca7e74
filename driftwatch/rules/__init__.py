"""The rules: uses and installations held against the history, verdicts out. One file a rule; this is the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from driftwatch.findings import Verdict
from driftwatch.flow.uses import Use
from driftwatch.pins import Installation
from driftwatch.rules import (
    advisory,
    changed_constant,
    changed_default,
    deprecated,
    missing_argument,
    missing_member,
    missing_module,
    missing_name,
    narrow_import_guard,
    package_skew,
    result_length,
    shifted_positional,
    subclass_contract,
    switched_off,
    too_many_positional,
    unknown_keyword,
    unsafe_signature_probe,
)
from driftwatch.rules.rule import Context, Rule

RULES: tuple[Rule, ...] = (
    unknown_keyword.RULE,
    missing_argument.RULE,
    too_many_positional.RULE,
    shifted_positional.RULE,
    result_length.RULE,
    missing_name.RULE,
    missing_module.RULE,
    missing_member.RULE,
    deprecated.RULE,
    subclass_contract.RULE,
    changed_constant.RULE,
    changed_default.RULE,
    advisory.RULE,
    narrow_import_guard.RULE,
    unsafe_signature_probe.RULE,
    switched_off.RULE,
    package_skew.RULE,
)
"""Every rule, in the order of their codes."""


def rule(code: str) -> Rule | None:
    """The rule with this code or name, in any case."""
    wanted = code.strip().lower()
    return next((rule for rule in RULES if wanted in (rule.code.lower(), rule.name)), None)


def apply(uses: Iterable[Use], contexts: Mapping[str, Context], rules: Iterable[Rule] = RULES) -> Iterator[Verdict]:
    """What the rules say of the uses; `contexts` are by distribution."""
    chosen = tuple(rules)
    for use in uses:
        context = contexts[use.distribution]
        for each in chosen:
            yield from each.check(use, context)


def apply_to_installations(
    installations: Iterable[Installation], context: Context, rules: Iterable[Rule] = RULES
) -> Iterator[Verdict]:
    """What the rules say of the ways in which a code base is installed with one library."""
    chosen = tuple(rules)
    for installation in installations:
        for each in chosen:
            yield from each.check_installation(installation, context)
