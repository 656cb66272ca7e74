"""What a class takes when it is called.

Its own or inherited ``__init__`` or ``__new__``; for dataclasses, named tuples and enumerations what Python makes of
them. Several signatures, where branches of the source decide which of them it is; None among them where a base or
metaclass outside the library decides: then any arguments may be right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from driftwatch.snapshot.collect.decorators import (
    accepted_keywords,
    is_dataclass,
    keyword_flag,
    last_name,
    literal,
    may_add_members,
    without_first,
)
from driftwatch.snapshot.collect.library import Definition, Foreign, Found, Library
from driftwatch.snapshot.collect.source_facts import (
    Bound,
    CallArgument,
    ClassFacts,
    DecoratorFacts,
    FunctionFacts,
    ValueFacts,
)
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature

ENUMERATIONS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "enum.ReprEnum"})
NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
WITHOUT_CONSTRUCTOR = frozenset(
    {"object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"}
)
ORDINARY_METACLASSES = frozenset({"abc.ABCMeta", "type", "enum.EnumMeta", "enum.EnumType"})
DEPRECATED = frozenset({"warnings.deprecated", "typing_extensions.deprecated"})
ANYTHING = Signature(
    (Parameter("args", ParameterKind.VAR_POSITIONAL), Parameter("kwargs", ParameterKind.VAR_KEYWORD)),
)
_EITHER = ParameterKind.POSITIONAL_OR_KEYWORD
_UNKNOWN: tuple[Signature | None, ...] = (None,)


def dotted(found: Foreign) -> str:
    """The dotted name of something foreign."""
    return ".".join(part for part in found.ref if part)


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
        elif not isinstance(base, Foreign) or dotted(base) not in ORDINARY_METACLASSES:
            return False
    return True


def is_enumeration(library: Library, owner: Definition) -> bool:
    return any(isinstance(f, Foreign) and dotted(f) in ENUMERATIONS for f in library.lineage(owner))


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
    return {single} if single is not None else set(_strings(bound.facts.text))


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
            path = dotted(found)
            if path in NAMED_TUPLES:
                # The base stands behind the class that names it, whose fields have been looked at by then.
                break
            if path not in WITHOUT_CONSTRUCTOR:
                return _UNKNOWN
        else:
            return _UNKNOWN
    return (*possible, Signature())


def hidden_constructor(library: Library, owner: Definition) -> bool:
    """Whether `inspect.signature` shows the ``__new__`` that Python's own ``@deprecated`` puts into a class.

    It takes anything and hands it on; where the class has a ``__new__`` of its own, it looks like that one.
    """
    hidden = False
    for found in library.lineage(owner) if not is_enumeration(library, owner) else ():
        facts = _class(found) if isinstance(found, Definition) else None
        if facts is not None:
            if "__new__" in facts.body:
                return False
            hidden = hidden or any(d.path in DEPRECATED for d in facts.decorators)
            if not hidden and ("__init__" in facts.body or is_dataclass(facts.decorators) is not None):
                return False
    return hidden


def _branches(library: Library, found: Definition) -> Iterator[Definition]:
    """A class as each branch of its module defines it."""
    yield found
    for rival in library.rivals(found.bound):
        yield Definition(found.ref, Bound(rival))


def _own(library: Library, found: Definition) -> tuple[Signature | None, ...] | None:
    """The constructor that one class of the lineage brings; None when it brings none."""
    facts = _class(found)
    if facts is None:
        return _UNKNOWN
    dataclass = is_dataclass(facts.decorators)
    if dataclass is not None and "__init__" not in facts.body and keyword_flag(dataclass, "init") is not False:
        parameters = fields(library, found)
        return _UNKNOWN if parameters is None else (Signature(parameters),)
    if any(isinstance(b, Foreign) and dotted(b) in NAMED_TUPLES for b in library.bases(found)):
        if "__new__" not in facts.body:
            return (Signature(tuple(_tuple_fields(facts))),)
    makers = [facts.body[name] for name in ("__init__", "__new__") if name in facts.body]
    deciding = [bound for bound in makers if not _passes_all(bound)] or makers
    if deciding:
        signatures = [tuple(_from_function(library, bound)) for bound in deciding]
        # Both are given the same arguments; where they want different ones, no signature says what fits.
        return signatures[0] if len(set(map(_takes, signatures))) == 1 else _UNKNOWN
    if may_add_members(facts.decorators):
        # It may make a constructor of the fields (attrs and its like).
        return _UNKNOWN
    return None


def _from_function(library: Library, bound: Bound) -> Iterator[Signature | None]:
    for function in (bound.facts, *library.rivals(bound)):
        if isinstance(function, FunctionFacts):
            parameters = without_first(function.parameters)
            accepted, refused = accepted_keywords(function), function.refused_keywords
            yield Signature(parameters, extra_keywords=accepted, refused=refused, refusals=function.refusals)
        else:
            yield None


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


def _tuple_fields(facts: ClassFacts) -> Iterator[Parameter]:
    for name, bound in facts.body.items():
        if isinstance(bound.facts, ValueFacts) and bound.facts.annotation is not None:
            default = bound.facts.text if bound.facts.bound else None
            yield Parameter(name, _EITHER, default, bound.facts.annotation)


def fields(library: Library, owner: Definition) -> tuple[Parameter, ...] | None:
    """The parameters of a dataclass's ``__init__``; None when a foreign base may add fields."""
    collected: dict[str, Parameter] = {}
    for found in reversed(library.lineage(owner)):
        if isinstance(found, Foreign) and dotted(found) in WITHOUT_CONSTRUCTOR:
            continue
        if not isinstance(found, Definition):
            if found is None:
                return None
            continue
        facts = _class(found)
        decorator = is_dataclass(facts.decorators) if facts is not None else None
        if facts is None or decorator is None:
            continue
        for name, parameter in _own_fields(facts, keyword_flag(decorator, "kw_only") is True):
            if parameter is None:
                collected.pop(name, None)
            else:
                collected[name] = parameter
    ordered = sorted(collected.values(), key=lambda p: p.kind is ParameterKind.KEYWORD_ONLY)
    return tuple(ordered)


def _own_fields(facts: ClassFacts, keyword_only: bool) -> Iterator[tuple[str, Parameter | None]]:
    """The fields a dataclass's own body declares; None for one that is not a parameter."""
    for name, bound in facts.body.items():
        value = bound.facts
        if not isinstance(value, ValueFacts) or value.annotation is None or value.class_variable:
            continue
        if last_name(value.annotation_path or "") == "KW_ONLY":
            keyword_only = True
            continue
        options = field_options(value.call)
        if options.get("init") == "False":
            yield name, None
            continue
        default = value.text
        if options:
            default = options.get("default")
            if "default_factory" in options:
                default = f"{options['default_factory']}()"
        only = options["kw_only"] == "True" if "kw_only" in options else keyword_only
        yield name, Parameter(name, ParameterKind.KEYWORD_ONLY if only else _EITHER, default, value.annotation)


def field_options(call: DecoratorFacts | None) -> dict[str, str]:
    if call is None or call.path not in ("dataclasses.field", "pydantic.dataclasses.field"):
        return {}
    return {"": "", **{a.name: a.value.text for a in call.arguments if a.name is not None}}


def functional_fields(call: DecoratorFacts) -> tuple[Parameter, ...] | None:
    """The fields of ``namedtuple("Name", "a b")`` or ``NamedTuple("Name", [("a", int)])`` where they are literal."""
    listed: CallArgument | None = next(iter(call.arguments[1:2]), None)
    if listed is None:
        return None
    text = literal(listed.value.text)
    if text is not None:
        names = text.replace(",", " ").split()
    else:
        names = _strings(listed.value.text)
    if not names or any(a.name in ("defaults", "rename") for a in call.arguments):
        return None
    return tuple(Parameter(name, _EITHER) for name in names)


def _strings(text: str) -> list[str]:
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return []
    if not isinstance(tree, ast.List | ast.Tuple):
        return []
    names: list[str] = []
    for element in tree.elts:
        first = element.elts[0] if isinstance(element, ast.Tuple | ast.List) and element.elts else element
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
            return []
        names.append(first.value)
    return names
