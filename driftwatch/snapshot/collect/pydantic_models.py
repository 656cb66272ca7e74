"""Models of pydantic: classes whose constructor is made of their fields by another distribution.

Enters: a class of the library that descends from ``pydantic.BaseModel``. Leaves: what it shows, and what a call of it
takes; None where options decide that the source does not spell out. Which pydantic reads it, 1 or 2, nobody knows: what
the two take differently is two signatures.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from driftwatch.snapshot.collect.decorators import literal
from driftwatch.snapshot.collect.fields import standard
from driftwatch.snapshot.collect.library import Definition, Foreign, Library
from driftwatch.snapshot.collect.source_facts import ClassFacts, DecoratorFacts, FunctionFacts, ValueFacts
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature

MODELS = frozenset(
    {"pydantic.BaseModel", "pydantic.main.BaseModel", "pydantic.v1.BaseModel", "pydantic.v1.main.BaseModel"}
)
_FIELDS = frozenset({"pydantic.Field", "pydantic.fields.Field", "pydantic.v1.Field"})
_PRIVATE = frozenset({"pydantic.PrivateAttr", "pydantic.fields.PrivateAttr"})
_UNTOLD = re.compile(r"alias_generator|populate_by_name|allow_population_by_field_name|validate_by_name")
_OPTIONAL = re.compile(r"^(?:typing\.)?Optional\[|\bNone\b|^(?:typing\.)?Any$")
_ALLOWS = re.compile(r"""extra\s*=\s*(?:["']allow["']|(?:\w+\.)?Extra\.allow)|["']extra["']\s*:\s*["']allow["']""")
_ANYTHING = Parameter("data", ParameterKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Model:
    """What a model takes, as each pydantic has it, and what it shows; `signatures` are two where those differ."""

    signatures: tuple[Signature, ...]
    shown: Signature | None


def is_model(library: Library, owner: Definition) -> bool:
    """Whether a class is a model of pydantic's that leaves the making of its constructor to it."""
    return any(isinstance(found, Foreign) and found.dotted in MODELS for found in library.lineage(owner))


def model_of(library: Library, owner: Definition) -> Model | None:
    """The constructor that pydantic makes of a class's fields; None where that cannot be told."""
    fields: dict[str, tuple[Parameter, bool]] = {}
    allows = False
    for found in reversed(library.lineage(owner)):
        if not isinstance(found, Definition):
            if not isinstance(found, Foreign) or not (standard(found) or found.dotted in MODELS):
                return None
            continue
        facts = found.bound.facts
        if not isinstance(facts, ClassFacts) or {"__init__", "__new__"} & facts.body.keys() or facts.decorators:
            return None
        config = _configuration(facts)
        if _UNTOLD.search(config):
            return None
        allows = allows or bool(_ALLOWS.search(config))
        for name, field in _own_fields(facts):
            if field is None:
                return None
            fields[name] = field
    parameters = tuple(field for field, _ in fields.values())
    relaxed = tuple(replace(p, default="None") if optional else p for p, optional in fields.values())
    possible = [parameters] if relaxed == parameters else [parameters, relaxed]
    more = (Parameter("extra_data", ParameterKind.VAR_KEYWORD),) if allows else ()
    return Model(
        # A keyword that is no field is ignored, unless the configuration forbids it.
        tuple(Signature((*each, _ANYTHING)) for each in possible),
        Signature((*parameters, *more)) if len(possible) == 1 else None,
    )


def _configuration(facts: ClassFacts) -> str:
    """What a class says of how its model is made, as text."""
    said = facts.body.get("model_config")
    text = said.facts.text or "" if said is not None and isinstance(said.facts, ValueFacts) else ""
    inner = facts.body.get("Config")
    if inner is not None and isinstance(inner.facts, ClassFacts):
        values = ((n, b.facts.text or "") for n, b in inner.facts.body.items() if isinstance(b.facts, ValueFacts))
        text += "\n".join(f"{name} = {value}" for name, value in values)
    return text


def _own_fields(facts: ClassFacts) -> Iterator[tuple[str, tuple[Parameter, bool] | None]]:
    """The fields that a class declares itself, each with whether it is pydantic's version that makes it required."""
    for name, bound in facts.body.items():
        value = bound.facts
        if name.startswith("_") or name in ("model_config", "Config") or isinstance(value, FunctionFacts | ClassFacts):
            continue
        if not isinstance(value, ValueFacts):
            continue
        if value.class_variable or (value.call is not None and value.call.path in _PRIVATE):
            continue
        if value.annotation is None:
            yield name, None  # a field for one pydantic, an error for the other
            continue
        if "Field(" in value.annotation:
            yield name, None
            continue
        field = _options(value.call) if value.call is not None and value.call.path in _FIELDS else None
        default = _default(value, field)
        alias = (field or {}).get("alias") or (field or {}).get("validation_alias")
        taken = name if alias is None else literal(alias)
        if taken is None or "**" in (field or {}):
            yield name, None
            continue
        if not taken.isidentifier() or keyword.iskeyword(taken):
            taken = name
        optional = default is None and field is None and bool(_OPTIONAL.search(value.annotation))
        yield name, (Parameter(taken, ParameterKind.KEYWORD_ONLY, default, value.annotation), optional)


def _default(value: ValueFacts, field: dict[str, str] | None) -> str | None:
    if not value.bound:
        return None
    if field is None:
        return None if value.text == "..." else value.text or "..."
    if "default_factory" in field:
        return f"{field['default_factory']}()"
    default = field.get("default")
    return None if default in (None, "...") else default


def _options(call: DecoratorFacts) -> dict[str, str]:
    names = iter(("default",))
    return {argument.name or next(names, "**"): argument.value.text for argument in call.arguments}
