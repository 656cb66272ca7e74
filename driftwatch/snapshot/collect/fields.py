"""What classes make of the names in their bodies: dataclasses and named tuples.

Enters: a class, or the call that makes a named tuple. Leaves: the parameters of its constructor; None where a base or
an option decides that cannot be read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from driftwatch.snapshot.collect.decorators import is_dataclass, keyword_flag, last_name, literal
from driftwatch.snapshot.collect.library import STANDARD_LIBRARY, Definition, Foreign, Found, Library
from driftwatch.snapshot.collect.source_facts import ClassFacts, DecoratorFacts, NamedExpression, ValueFacts
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind

_EITHER = ParameterKind.POSITIONAL_OR_KEYWORD


def standard(found: Found) -> bool:
    """Whether something foreign is Python's own, none of which adds fields to a class."""
    return isinstance(found, Foreign) and (not found.ref.module or found.dotted.partition(".")[0] in STANDARD_LIBRARY)


def tuple_fields(facts: ClassFacts) -> Iterator[Parameter]:
    for name, bound in facts.body.items():
        if isinstance(bound.facts, ValueFacts) and bound.facts.annotation is not None:
            default = bound.facts.text if bound.facts.bound else None
            yield Parameter(name, _EITHER, default, bound.facts.annotation)


def fields(library: Library, owner: Definition) -> tuple[Parameter, ...] | None:
    """The parameters of a dataclass's ``__init__``; None when a foreign base may add fields."""
    collected: dict[str, Parameter] = {}
    for found in reversed(library.lineage(owner)):
        if not isinstance(found, Definition):
            if found is None or not standard(found):
                return None
            continue
        facts = found.bound.facts if isinstance(found.bound.facts, ClassFacts) else None
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


def named_tuple(library: Library, call: DecoratorFacts) -> tuple[Parameter, ...] | None:
    """The fields of ``namedtuple("Name", "a b")`` or ``NamedTuple("Name", [("a", int)])``, where they can be read."""
    given = {argument.name: argument.value for argument in call.arguments if argument.name is not None}
    listed = next(iter([a.value for a in call.arguments if a.name is None][1:2]), given.get("field_names"))
    names = _names(_spelled(library, listed)) if listed is not None else []
    defaults = _count(_spelled(library, given["defaults"])) if "defaults" in given else 0
    if not names or "rename" in given or defaults is None or defaults > len(names):
        return None
    without = len(names) - defaults
    return tuple(Parameter(name, _EITHER, None if i < without else "...") for i, name in enumerate(names))


def _spelled(library: Library, value: NamedExpression) -> str:
    """An expression's text; that of the constant which it names, where it names one."""
    found = library.resolve(value.path) if value.path is not None and library.owns(value.path) else None
    facts = found.bound.facts if isinstance(found, Definition) else None
    return facts.text if isinstance(facts, ValueFacts) and facts.text is not None else value.text


def _names(text: str) -> list[str]:
    single = literal(text)
    return single.replace(",", " ").split() if single is not None else strings(text)


def _count(text: str) -> int | None:
    """How many elements a display has that is written so."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    plain = isinstance(tree, ast.List | ast.Tuple) and not any(isinstance(e, ast.Starred) for e in tree.elts)
    return len(tree.elts) if plain and isinstance(tree, ast.List | ast.Tuple) else None


def strings(text: str) -> list[str]:
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
