"""The rules: uses and installations held against the history, verdicts out. One file a rule."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module

from driftwatch.findings.finding import Severity, Verdict, is_aside
from driftwatch.flow.uses import ImportUse, LookUse, NameUse, Use
from driftwatch.project.pins import Installation
from driftwatch.rules import switched_off
from driftwatch.rules.rule import Context, Rule

_MOST_PLACES = 3


def _found() -> Iterator[Rule]:
    """The rule of each module beside this one that has one."""
    for each in pkgutil.iter_modules(__path__):
        rule = getattr(import_module(f"{__name__}.{each.name}"), "RULE", None)
        if isinstance(rule, Rule):
            yield rule


RULES: tuple[Rule, ...] = tuple(sorted(_found(), key=lambda rule: rule.code))
"""Every rule, in the order of their codes."""


def rule(code: str) -> Rule | None:
    """The rule with this code or name, in any case."""
    wanted = code.strip().lower()
    return next((rule for rule in RULES if wanted in (rule.code.lower(), rule.name)), None)


def suggestion(wanted: str) -> str:
    """What somebody may have meant who names no rule."""
    text = wanted.strip().lower()
    if re.fullmatch(r"dw\d*", text):
        # A number that is merely near means something else.
        family = [rule.code for rule in RULES if rule.code.lower().startswith(text)]
        return f"there are {', '.join(family)}" if family else "`driftwatch explain` lists all"
    near = get_close_matches(text, [name for each in RULES for name in (each.code.lower(), each.name)], n=1, cutoff=0.5)
    found = rule(near[0]) if near else None
    return f"did you mean {found.code} ({found.name})?" if found else "`driftwatch explain` lists all"


def apply(uses: Iterable[Use], contexts: Mapping[str, Context], rules: Iterable[Rule] = RULES) -> Iterator[Verdict]:
    """What the rules say of the uses; `contexts` are by distribution."""
    chosen = tuple(rules)
    known = list(switched_off.joined(uses))
    used: dict[str, dict[str, set[str]]] = {name: {} for name in contexts}
    for use in known:
        if isinstance(use, LookUse) and use.asked is None:
            contexts[use.distribution].looks.setdefault(use.location.path, use)
        taken = _taken(use)
        if taken is not None:
            used[use.distribution].setdefault(taken, set()).add(use.location.path)
    for name, context in contexts.items():
        context.used = used[name]
    for use in known:
        context = contexts[use.distribution]
        for each in chosen:
            for verdict in each.check(use, context):
                # What releases have that were not read, nobody can tell.
                yield verdict if context.history.whole else replace(verdict, in_no_release=False)


def _taken(use: Use) -> str | None:
    """The path of a name that is taken from a module or a class of the library."""
    if isinstance(use, NameUse):
        return f"{use.owner.dotted}.{use.name}"
    return f"{use.module}.{use.name}" if isinstance(use, ImportUse) and use.name is not None else None


def told_once(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts; of a rule that is told once of a code base, the gravest of the product's own first place."""
    once = {rule.code for rule in RULES if rule.once}
    kept: list[Verdict] = []
    alike: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.code in once:
            alike.setdefault((verdict.code, verdict.distribution, verdict.symbol), []).append(verdict)
        else:
            kept.append(verdict)
    severities = list(Severity)
    for same in alike.values():
        same.sort(key=lambda v: (severities.index(v.severity), is_aside(v.location.path), v.location))
        places = dict.fromkeys(f"{verdict.location.path}:{verdict.location.line}" for verdict in same[1:])
        more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
        others = f"; the same at {', '.join(list(places)[:_MOST_PLACES])}{more}" if places else ""
        kept.append(replace(same[0], hint=f"{same[0].hint}{others}"))
    return kept


def apply_to_installations(
    installations: Iterable[Installation], context: Context, rules: Iterable[Rule] = RULES
) -> Iterator[Verdict]:
    """What the rules say of the ways in which a code base is installed with one library."""
    chosen = tuple(rules)
    for installation in installations:
        for each in chosen:
            yield from each.check_installation(installation, context)
