"""Which rules apply, and how severe each is: codes, their beginnings and names, as they are asked for or configured."""

from __future__ import annotations

from collections.abc import Sequence

from driftwatch.errors import ConfigError, DriftwatchError, UsageError
from driftwatch.findings.finding import Severity
from driftwatch.findings.suppress import matches
from driftwatch.project.config import Config
from driftwatch.rules import RULES, suggestion
from driftwatch.rules.rule import Rule


def chosen_rules(select: Sequence[str], ignore: Sequence[str], config: Config) -> tuple[Rule, ...]:
    """The rules that are selected and not ignored; what is asked for goes before what is configured."""
    select = codes_of(select, None) if select else codes_of(config.select, config)
    ignore = codes_of(ignore, None) if ignore else codes_of(config.ignore, config)
    return tuple(
        rule for rule in RULES if (not select or matches(rule.code, select)) and not matches(rule.code, ignore)
    )


def codes_of(selectors: Sequence[str], config: Config | None) -> tuple[str, ...]:
    """Selectors as codes or prefixes of codes; a rule's name is as good as its code. `config` is where they stand."""
    result: list[str] = []
    for selector in (part for text in selectors for part in text.split(",")):
        wanted = selector.strip()
        named = [rule.code for rule in RULES if rule.name == wanted.lower()]
        if named:
            result += named
        elif wanted and any(rule.code.startswith(wanted.upper()) for rule in RULES):
            result.append(wanted.upper())
        else:
            raise _no_such_rule(wanted, config)
    return tuple(result)


def _no_such_rule(wanted: str, config: Config | None) -> DriftwatchError:
    hint = suggestion(wanted)
    if config is None:
        return UsageError(f"there is no rule {wanted!r}", hint)
    return ConfigError(f"{config.path}: there is no rule {wanted!r}", hint)


def severities_of(config: Config) -> dict[str, Severity]:
    """Configured severities by code; the most specific selector decides."""
    result: dict[str, tuple[int, Severity]] = {}
    for selector, severity in config.severity.items():
        for code in codes_of((selector,), config):
            for rule in RULES:
                if matches(rule.code, (code,)) and len(code) >= result.get(rule.code, (0, severity))[0]:
                    result[rule.code] = (len(code), Severity(severity))
    return {code: severity for code, (_, severity) in result.items()}
