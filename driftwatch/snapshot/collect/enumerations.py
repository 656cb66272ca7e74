"""The values that ``enum.auto()`` gives to the members of an enumeration, in the order in which they stand.

Only where every Python gives the same: a member behind one whose value is not a number, or smaller than an earlier one,
has a value that nobody can tell.
"""

from __future__ import annotations

import ast

from driftwatch.snapshot.collect.library import Definition, Foreign, Library
from driftwatch.snapshot.collect.source_facts import ClassFacts, ValueFacts
from driftwatch.snapshot.model.standard_bases import ENUMERATIONS, FLAGS

_HOOK = "_generate_next_value_"


def auto_values(library: Library, owner: Definition) -> dict[str, str]:
    """The values of the members that are ``auto()``, as source text."""
    facts = owner.bound.facts
    lineage = library.lineage(owner)
    foreign = {found.dotted for found in lineage if isinstance(found, Foreign)}
    if not isinstance(facts, ClassFacts) or not foreign <= ENUMERATIONS | {"object", "abc.ABC"} or None in lineage:
        return {}
    if any(isinstance(f, Definition) and _defines(f, _HOOK) for f in lineage) or not foreign & ENUMERATIONS:
        return {}
    found: dict[str, str] = {}
    highest: int | None = 0
    for name, bound in facts.body.items():
        value = bound.facts
        if not isinstance(value, ValueFacts) or not value.bound or (name.startswith("_") and name.endswith("_")):
            continue
        if value.call is not None and value.call.path == "enum.auto" and not bound.rivals:
            if "enum.StrEnum" in foreign:
                found[name] = repr(name.lower())
            elif highest is not None:
                highest = 1 << highest.bit_length() if foreign & FLAGS else highest + 1
                found[name] = str(highest)
            continue
        number = _number(value.text)
        highest = number if highest is not None and number is not None and number >= highest else None
    return found


def _defines(found: Definition, name: str) -> bool:
    return isinstance(found.bound.facts, ClassFacts) and name in found.bound.facts.body


def _number(text: str | None) -> int | None:
    try:
        value = ast.literal_eval(text or "None")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if type(value) is int else None
