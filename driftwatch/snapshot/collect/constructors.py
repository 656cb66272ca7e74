"""What a class takes when it is called.

Its own or inherited ``__init__`` or ``__new__``; for dataclasses, named tuples and enumerations what Python makes of
them. Several signatures, where branches of the source decide which of them it is; None among them where a base or
metaclass outside the library decides: then any arguments may be right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.snapshot.collect.attrs_classes import attrs_decorator, attrs_fields, makes_init
from driftwatch.snapshot.collect.decorators import accepted_keywords, is_dataclass, keyword_flag, literal, without_first
from driftwatch.snapshot.collect.fields import fields, named_tuple, strings, tuple_fields
from driftwatch.snapshot.collect.library import NAMED_TUPLE_CALLS, Definition, Foreign, Found, Library
from driftwatch.snapshot.collect.own_decorators import added_by_all
from driftwatch.snapshot.collect.pydantic_models import MODELS, is_model, model_of
from driftwatch.snapshot.collect.source_facts import Bound, ClassFacts, FunctionFacts, ValueFacts
from driftwatch.snapshot.model.standard_bases import ENUMERATIONS, NAMED_TUPLES, PLAIN_BASES, without_constructor
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature

ORDINARY_METACLASSES = frozenset({"abc.ABCMeta", "type", "enum.EnumMeta", "enum.EnumType"})
DEPRECATED = frozenset({"warnings.deprecated", "typing_extensions.deprecated"})
ANYTHING = Signature(
    (Parameter("args", ParameterKind.VAR_POSITIONAL), Parameter("kwargs", ParameterKind.VAR_KEYWORD)),
)
_EITHER = ParameterKind.POSITIONAL_OR_KEYWORD
_UNKNOWN: tuple[Signature | None, ...] = (None,)


def ordinary_metaclass(library: Library, found: Found | None, *special: str) -> bool:
    """Whether a class's metaclass, if it names one, leaves classes as they are as far as these special methods go."""
    facts = found.bound.facts if isinstance(found, Definition) else None
    if not isinstance(facts, ClassFacts) or facts.metaclass is None or facts.metaclass in ORDINARY_METACLASSES:
        return True
    metaclass = library.resolve(facts.metaclass) if library.owns(facts.metaclass) else None
    if not isinstance(metaclass, Definition) or not isinstance(metaclass.bound.facts, ClassFacts):
        return False
    for base in library.lineage(metaclass):
        if isinstance(base, Definition) and isinstance(base.bound.facts, ClassFacts):
            if any(name in base.bound.facts.body for name in special):
                return False
        elif not isinstance(base, Foreign) or base.dotted not in ORDINARY_METACLASSES:
            return False
    return True


def is_enumeration(library: Library, owner: Definition) -> bool:
    return any(isinstance(f, Foreign) and f.dotted in ENUMERATIONS for f in library.lineage(owner))


def makes_own_values(library: Library, owner: Definition) -> bool:
    """Whether an enumeration turns what is written beside a member into another value."""
    makers = (_class(f) for f in library.lineage(owner) if isinstance(f, Definition))
    return is_enumeration(library, owner) and any(m is not None and "__new__" in m.body for m in makers)


def slots(facts: ClassFacts) -> set[str]:
    """The names in a class's ``__slots__``, where it lists them."""
    bound = facts.body.get("__slots__")
    if bound is None or not isinstance(bound.facts, ValueFacts) or bound.facts.text is None:
        return set()
    single = literal(bound.facts.text)
    return {single} if single is not None else set(strings(bound.facts.text))


def constructor(library: Library, owner: Definition) -> tuple[Signature | None, ...]:
    """The signatures that calling the class may have; None among them when it cannot be known."""
    if any(not ordinary_metaclass(library, found, "__call__") for found in library.lineage(owner)):
        return _UNKNOWN
    if is_enumeration(library, owner):
        return (Signature((Parameter("value", _EITHER),)),)
    possible: list[Signature | None] = []
    for found in library.lineage(owner):
        if isinstance(found, Definition):
            brought = [_own(library, branch) for branch in _branches(library, found)]
            possible += [signature for signatures in brought for signature in signatures or ()]
            if None not in brought:
                return tuple(possible)
        elif isinstance(found, Foreign):
            path = found.dotted
            if path in MODELS and not possible:
                model = model_of(library, owner)
                return model.signatures if model is not None else _UNKNOWN
            if path in NAMED_TUPLES:
                # The base stands behind the class that names it, whose fields have been looked at by then.
                break
            if path not in PLAIN_BASES and not without_constructor(path):
                return _UNKNOWN
        else:
            return _UNKNOWN
    return (*possible, Signature())


def shown_constructor(library: Library, owner: Definition) -> Signature | None:
    """What `inspect.signature` shows of a class, where that is not what it takes.

    A decorator may put a ``__new__`` into the class that takes anything, as Python's own ``@deprecated`` does; where
    the class has one of its own, that looks like it.
    """
    metaclass = _metaclass_call(library, owner)
    if metaclass is not None:
        return metaclass
    if is_model(library, owner):
        model = model_of(library, owner)
        return model.shown if model is not None else None
    shown: Signature | None = None
    for found in library.lineage(owner) if not is_enumeration(library, owner) else ():
        facts = _class(found) if isinstance(found, Definition) else None
        if facts is not None:
            if "__new__" in facts.body:
                return shown or _of_new(library, owner, facts)
            shown = shown or _put_in(library, facts)
            if shown is None and ("__init__" in facts.body or is_dataclass(facts.decorators) is not None):
                return None
    return shown


def _of_new(library: Library, owner: Definition, facts: ClassFacts) -> Signature | None:
    """The ``__new__`` that is shown although it takes whatever there is, and an ``__init__`` decides what fits."""
    new = facts.body["__new__"]
    bodies = (_class(f) for f in library.lineage(owner) if isinstance(f, Definition))
    decided = any(body is not None and "__init__" in body.body for body in bodies)
    if not decided or not isinstance(new.facts, FunctionFacts):
        return None
    differs = constructor(library, owner) == _UNKNOWN
    return Signature(without_first(new.facts.parameters)) if differs or _passes_all(new) else None


def _metaclass_call(library: Library, owner: Definition) -> Signature | None:
    """What a metaclass of the library takes in the place of the constructor, and shows."""
    for found in library.lineage(owner):
        facts = _class(found) if isinstance(found, Definition) else None
        path = facts.metaclass if facts is not None else None
        metaclass = library.resolve(path) if path is not None and library.owns(path) else None
        if isinstance(metaclass, Definition) and isinstance(metaclass.bound.facts, ClassFacts):
            called = metaclass.bound.facts.body.get("__call__")
            if called is not None and isinstance(called.facts, FunctionFacts) and not called.facts.decorators:
                return Signature(without_first(called.facts.parameters))
    return None


def _put_in(library: Library, facts: ClassFacts) -> Signature | None:
    """The ``__new__`` that a decorator puts into a class, as a caller sees it."""
    if any(d.path in DEPRECATED for d in facts.decorators):
        return ANYTHING
    added = dict(added_by_all(library, facts.decorators) or ())
    function = added.get("__new__")
    return Signature(without_first(function.parameters)) if function is not None else None


def _branches(library: Library, found: Definition) -> Iterator[Definition]:
    """A class as each branch of its module defines it."""
    yield found
    for rival in library.rivals(found.bound):
        yield Definition(found.ref, Bound(rival))


def _own(library: Library, found: Definition) -> tuple[Signature | None, ...] | None:
    """The constructor that one class of the lineage brings; None when it brings none."""
    facts = found.bound.facts
    if isinstance(facts, ValueFacts) and facts.call is not None:
        return _told(named_tuple(library, facts.call))
    if not isinstance(facts, ClassFacts):
        return _UNKNOWN
    made = _made_of_fields(library, found, facts)
    if made is not None:
        return made
    makers = [facts.body[name] for name in ("__init__", "__new__") if name in facts.body]
    deciding = [bound for bound in makers if not _passes_all(bound)] or makers
    if deciding:
        inside = found.ref.qualname.rpartition(".")[2]
        signatures = [tuple(_from_function(library, bound, inside)) for bound in deciding]
        # Both are given the same arguments; where they want different ones, no signature says what fits.
        return signatures[0] if len(set(map(_takes, signatures))) == 1 else _UNKNOWN
    added = added_by_all(library, facts.decorators)
    if any(name == "__init__" for name, _ in added or ()) or (added is None and _has_fields(facts)):
        # It may make a constructor of the fields, as attrs and its like do.
        return _UNKNOWN
    return None


def _made_of_fields(library: Library, found: Definition, facts: ClassFacts) -> tuple[Signature | None, ...] | None:
    """The constructor that is made of a class's fields; None where none is made."""
    of_attrs = attrs_decorator(facts.decorators)
    dataclass = is_dataclass(facts.decorators)
    if of_attrs is not None:
        makes = makes_init(of_attrs, facts)
        parameters = attrs_fields(library, found) if makes else None
        return None if makes is False else _told(parameters)
    if dataclass is not None and "__init__" not in facts.body and keyword_flag(dataclass, "init") is not False:
        return _told(fields(library, found))
    if "__new__" in facts.body:
        return None
    call = next((b.call for b in facts.bases if b.call is not None and b.call.path in NAMED_TUPLE_CALLS), None)
    if call is not None:
        return _told(named_tuple(library, call)) if "__init__" not in facts.body else None
    if any(isinstance(b, Foreign) and b.dotted in NAMED_TUPLES for b in library.bases(found)):
        return (Signature(tuple(tuple_fields(facts))),)
    return None


def _has_fields(facts: ClassFacts) -> bool:
    """Whether a class has names that a decorator may make fields of: annotated ones, or such that a call made."""
    values = (bound.facts for bound in facts.body.values() if isinstance(bound.facts, ValueFacts))
    return any(value.annotation is not None or value.call is not None for value in values)


def _told(parameters: tuple[Parameter, ...] | None) -> tuple[Signature | None, ...]:
    return _UNKNOWN if parameters is None else (Signature(parameters),)


def _from_function(library: Library, bound: Bound, owner: str) -> Iterator[Signature | None]:
    for function in (bound.facts, *library.rivals(bound)):
        if isinstance(function, FunctionFacts):
            parameters = as_kept(without_first(function.parameters), owner)
            accepted, refused = accepted_keywords(function), function.refused_keywords
            yield Signature(parameters, extra_keywords=accepted, refused=refused, refusals=function.refusals)
        else:
            yield None


def as_kept(parameters: tuple[Parameter, ...], owner: str) -> tuple[Parameter, ...]:
    """The parameters of a method, with their names as Python keeps them inside a class."""
    if not any(p.name.startswith("__") for p in parameters):
        return parameters
    return tuple(replace(p, name=mangled(p.name, owner)) for p in parameters)


def mangled(name: str, owner: str) -> str:
    """A name as Python keeps it when it is written inside a class."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{owner.lstrip('_')}{name}" if private and owner.strip("_") else name


def _takes(signatures: tuple[Signature | None, ...]) -> tuple[tuple[Parameter, ...] | None, ...]:
    return tuple(signature.parameters if signature is not None else None for signature in signatures)


def _passes_all(bound: Bound) -> bool:
    """Whether a function takes whatever it is given, so that another one decides."""
    if not isinstance(bound.facts, FunctionFacts):
        return False
    kinds = [p.kind for p in without_first(bound.facts.parameters)]
    return kinds == [ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD]


def _class(found: Definition) -> ClassFacts | None:
    return found.bound.facts if isinstance(found.bound.facts, ClassFacts) else None
