"""Classes that attrs makes a constructor for: ``@attr.s``, ``@attrs.define`` and their like.

Enters: a class with such a decorator. Leaves: the parameters of its ``__init__``, as attrs orders them; None where that
depends on something that the source does not spell out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from driftwatch.snapshot.collect.fields import standard
from driftwatch.snapshot.collect.library import Definition, Library
from driftwatch.snapshot.collect.source_facts import CallArgument, ClassFacts, DecoratorFacts, FunctionFacts, ValueFacts
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind

_CLASSIC = frozenset({"attr.s", "attr.attrs", "attr.attributes"})
_ANNOTATED = frozenset({"attr.dataclass"})
_MODERN = frozenset(f"{package}.{name}" for package in ("attr", "attrs") for name in ("define", "mutable", "frozen"))
_FIELDS = frozenset({"attr.ib", "attr.attr", "attr.attrib", "attr.field", "attrs.field"})
_UNTOLD = frozenset({"these", "field_transformer"})


@dataclass(frozen=True, slots=True)
class _Field:
    """One attribute of such a class: its parameter, and whether ``__init__`` takes it."""

    name: str
    parameter: Parameter
    taken: bool = True


def is_attrs(decorator: DecoratorFacts) -> bool:
    return decorator.path in _CLASSIC | _ANNOTATED | _MODERN


def attrs_decorator(decorators: Iterable[DecoratorFacts]) -> DecoratorFacts | None:
    """The decorator that has attrs make the class, when there is one."""
    return next((decorator for decorator in decorators if is_attrs(decorator)), None)


def makes_init(decorator: DecoratorFacts, facts: ClassFacts) -> bool | None:
    """Whether attrs gives the class an ``__init__``; None where that cannot be told."""
    options = _options(decorator.arguments)
    said = options.get("init")
    if said is not None:
        return {"True": True, "False": False}.get(said)
    detects = options.get("auto_detect", str(decorator.path in _MODERN))
    return "__init__" not in facts.body if detects == "True" else True


def attrs_fields(library: Library, owner: Definition) -> tuple[Parameter, ...] | None:
    """The parameters of the ``__init__`` that attrs makes; None when they cannot be told."""
    fields = _all_fields(library, owner)
    if fields is None:
        return None
    taken = [field.parameter for field in fields if field.taken]
    return tuple(sorted(taken, key=lambda parameter: parameter.kind is ParameterKind.KEYWORD_ONLY))


def _all_fields(library: Library, owner: Definition) -> list[_Field] | None:
    """The attributes of a class in the order of attrs: those of bases that it does not define again, then its own."""
    facts = owner.bound.facts
    assert isinstance(facts, ClassFacts)
    decorator = attrs_decorator(facts.decorators)
    options = _options(decorator.arguments) if decorator is not None else {}
    own = _own_fields(facts, decorator, options) if decorator is not None else []
    if own is None or options.keys() & _UNTOLD:
        return None
    inherited: dict[str, _Field] = {}
    for base in reversed(library.lineage(owner)[1:]):
        if base is None:
            return None
        if not isinstance(base, Definition):
            if not standard(base):
                return None
            continue
        if not isinstance(base.bound.facts, ClassFacts):
            continue
        if (of_base := attrs_decorator(base.bound.facts.decorators)) is not None:
            given = _options(of_base.arguments)
            theirs = None if given.keys() & _UNTOLD else _own_fields(base.bound.facts, of_base, given)
            if theirs is None:
                return None
            for field in theirs:
                inherited.pop(field.name, None)
                inherited[field.name] = field
    if options.get("kw_only") == "True" and inherited:
        return None  # releases of attrs differ in whether inherited ones are turned into keywords as well
    names = {field.name for field in own}
    return [*(field for name, field in inherited.items() if name not in names), *own]


def _own_fields(facts: ClassFacts, decorator: DecoratorFacts, options: dict[str, str]) -> list[_Field] | None:
    annotated = _annotated(facts, decorator, options)
    if annotated is None or options.get("kw_only", "False") not in ("True", "False"):
        return None
    return list(_listed(facts, annotated=annotated, only=options.get("kw_only") == "True"))


def _annotated(facts: ClassFacts, decorator: DecoratorFacts, options: dict[str, str]) -> bool | None:
    """Whether annotated names are attributes, whatever their value; None where that cannot be told."""
    default = "True" if decorator.path in _ANNOTATED else "None" if decorator.path in _MODERN else "False"
    said = options.get("auto_attribs", default)
    if said == "None":
        values = [bound.facts for bound in facts.body.values()]
        made = [value for value in values if isinstance(value, ValueFacts) and _is_field(value)]
        return all(value.annotation is not None for value in made)
    return {"True": True, "False": False}.get(said)


def _listed(facts: ClassFacts, *, annotated: bool, only: bool) -> Iterator[_Field]:
    decorated = {d.path for bound in facts.body.values() for d in _decorators(bound.facts)}
    with_default = {path.split(".")[-2] for path in decorated if path.endswith(".default") and path.count(".")}
    for name, bound in facts.body.items():
        value = bound.facts
        if not isinstance(value, ValueFacts):
            continue
        made = _is_field(value)
        if not made and (not annotated or value.annotation is None or value.class_variable):
            continue
        options = _options(value.call.arguments, ("default", "validator")) if made and value.call is not None else {}
        default = _default(options) if made else (value.text or "...") if value.bound else None
        if name in with_default:
            default = "..."
        keyword = only or options.get("kw_only") == "True"
        kind = ParameterKind.KEYWORD_ONLY if keyword else ParameterKind.POSITIONAL_OR_KEYWORD
        alias = options.get("alias", "None").strip("'\"")
        taken = alias if alias != "None" else name.lstrip("_")
        yield _Field(name, Parameter(taken, kind, default, value.annotation), options.get("init") != "False")


def _default(options: dict[str, str]) -> str | None:
    if "factory" in options and options["factory"] != "None":
        return f"{options['factory']}()"
    default = options.get("default")
    return None if default is not None and default.rpartition(".")[2] == "NOTHING" else default


def _is_field(value: ValueFacts) -> bool:
    return value.call is not None and value.call.path in _FIELDS


def _decorators(facts: object) -> tuple[DecoratorFacts, ...]:
    return facts.decorators if isinstance(facts, FunctionFacts) else ()


def _options(arguments: Iterable[CallArgument], positional: tuple[str, ...] = ()) -> dict[str, str]:
    names = iter(positional)
    named = (replace(a, name=a.name or next(names, "?")) for a in arguments)
    return {str(argument.name): argument.value.text for argument in named}
