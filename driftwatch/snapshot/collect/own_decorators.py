"""What the decorators of the library itself make of its functions and classes.

Enters: a decorator as it is written, and the library to look it up in. Leaves: the attributes that it adds to a class,
the function it puts in another's place, the keywords it takes for itself; and whether nobody can tell what becomes of
what it stands on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from driftwatch.snapshot.collect.attrs_classes import is_attrs
from driftwatch.snapshot.collect.decorators import BINDING, last_name, may_add_members
from driftwatch.snapshot.collect.library import Definition, Foreign, Library
from driftwatch.snapshot.collect.source_facts import (
    CallArgument,
    ClassFacts,
    DecoratorFacts,
    Facts,
    FunctionFacts,
    NamedExpression,
    ValueFacts,
)
from driftwatch.snapshot.model.symbols import ParameterKind

Added = tuple[tuple[str, FunctionFacts | None], ...]


def _facts(library: Library, decorator: DecoratorFacts) -> Facts | None:
    found = library.resolve(decorator.path) if library.owns(decorator.path) else None
    return found.bound.facts if isinstance(found, Definition) else None


def applied(library: Library, decorator: DecoratorFacts) -> FunctionFacts | None:
    """The function of the library that is given what a decorator stands on; None where that is something else."""
    found = library.resolve(decorator.path) if library.owns(decorator.path) else None
    facts = found.bound.facts if isinstance(found, Definition) and not library.rivals(found.bound) else None
    if isinstance(facts, ClassFacts) and decorator.called:
        bound = facts.body.get("__call__")
        return bound.facts if bound is not None and isinstance(bound.facts, FunctionFacts) else None
    if not isinstance(facts, FunctionFacts):
        return None
    if facts.makes is not None and (decorator.called or facts.applies):
        return facts.makes
    return None if decorator.called else facts


# -- on classes --------------------------------------------------------------------------------------------------------


def added_by_all(library: Library, decorators: Iterable[DecoratorFacts]) -> Added | None:
    """The attributes that decorators set on the class below them, each with the function that it is.

    None where nobody can tell, since one is not the library's or gives something else than the class.
    """
    found: list[tuple[str, FunctionFacts | None]] = []
    for decorator in decorators:
        added = _added_by(library, decorator)
        if added is None or any(not name for name, _ in added):
            return None
        found += added
    return tuple(found)


def _added_by(library: Library, decorator: DecoratorFacts) -> Added | None:
    if not may_add_members((decorator,)) or is_attrs(decorator):
        return ()
    function = applied(library, decorator)
    return function.adds if function is not None and function.gives_back else None


# -- on functions ------------------------------------------------------------------------------------------------------


def hides_function(library: Library, decorator: DecoratorFacts) -> bool:
    """Whether nobody can tell what is called once a decorator of the library stands on a function.

    An instance takes the function's place, or a wrapper that passes other arguments on; or it is a method of some
    object that the library has made.
    """
    if not library.owns(decorator.path):
        return False
    if library.resolve(decorator.path) is None:
        owner = library.resolve(decorator.path.rpartition(".")[0])
        return isinstance(owner, Definition) and isinstance(owner.bound.facts, ValueFacts)
    facts = _facts(library, decorator)
    if isinstance(facts, ClassFacts):
        given = applied(library, decorator)
        return not _stands_in(facts, decorator) and (given is None or not given.gives_back)
    return isinstance(facts, FunctionFacts) and facts.changes_arguments


def _stands_in(facts: ClassFacts, decorator: DecoratorFacts) -> bool:
    """Whether an instance of the class takes the function's place and wraps it, be it made in a second step."""
    if not facts.stands_in or not decorator.called:
        return facts.stands_in
    makers = [facts.body[name].facts for name in ("__new__", "__init__") if name in facts.body]
    first = [each.parameters[1:2] for each in makers if isinstance(each, FunctionFacts)]
    return all(a.name is not None for a in decorator.arguments) and any(p and not p[0].required for p in first)


def hides_signature(library: Library, decorator: DecoratorFacts) -> bool:
    """Whether what `inspect.signature` shows of a function is whatever a decorator above it has set."""
    facts = _facts(library, decorator)
    if isinstance(facts, ClassFacts):
        return "__signature__" in facts.body
    return isinstance(facts, FunctionFacts) and facts.sets_signature


def put_in_place(library: Library, decorator: DecoratorFacts) -> FunctionFacts | None:
    """The function that a decorator gives instead of the one that it stands on, and that shows its own parameters."""
    function = applied(library, decorator)
    made = function.makes if function is not None and not function.applies else None
    return made if made is not None and not made.decorators else None


def keywords_added(library: Library, decorator: DecoratorFacts) -> set[str]:
    """The keywords that a decorator of the library itself takes out of a call."""
    facts = _facts(library, decorator)
    if isinstance(facts, ClassFacts) and facts.stands_in and "__call__" in facts.body:
        call = facts.body["__call__"].facts
        taken = call.parameters if isinstance(call, FunctionFacts) else ()
        return {p.name for p in taken if p.kind is ParameterKind.KEYWORD_ONLY}
    return set(facts.wrapper_keywords) if isinstance(facts, FunctionFacts) else set()


# -- as written --------------------------------------------------------------------------------------------------------


def as_python_has_it(library: Library, decorator: DecoratorFacts) -> DecoratorFacts:
    """A decorator; where it is the library's own kind of ``classmethod`` or ``property``, that."""
    found = library.resolve(decorator.path) if library.owns(decorator.path) and not decorator.called else None
    if not isinstance(found, Definition) or not isinstance(found.bound.facts, ClassFacts):
        return decorator
    for base in library.lineage(found):
        if isinstance(base, Foreign) and last_name(base.dotted) in BINDING:
            return DecoratorFacts(last_name(base.dotted))
    return decorator


def spelled_out(library: Library, decorator: DecoratorFacts) -> DecoratorFacts:
    """A decorator with arguments that name a constant of the library replaced by the constant."""
    arguments = []
    for argument in decorator.arguments:
        path = argument.value.path
        found = library.resolve(path) if path is not None and library.owns(path) else None
        if isinstance(found, Definition) and isinstance(found.bound.facts, ValueFacts):
            text = found.bound.facts.text
            argument = CallArgument(argument.name, NamedExpression(text, None)) if text else argument
        arguments.append(argument)
    return replace(decorator, arguments=tuple(arguments))
