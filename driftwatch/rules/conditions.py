"""Whether a call is what an entry about a library speaks of: symbol, conditions, and whether it gets there at all.

Enters: a call, and an entry of the target's data. Leaves: the releases in which all that the entry asks for is known
of the call; what is not known does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from driftwatch.binding.calls import Part
from driftwatch.binding.literals import outside_literals
from driftwatch.binding.refused import default_in, known_arguments, names_in, refused_by, truth_of
from driftwatch.findings.finding import is_aside
from driftwatch.flow.uses import Argument, CallUse, Constant, Told, Unknown
from driftwatch.project.variables import How, Touch
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.rules.advisories import Advisory, Condition, Kernels
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.symbols import Ref

_UNKNOWN = Unknown.UNKNOWN

Way = tuple[ReleaseSet, tuple[Told, ...]]
"""Releases, and what tests have said of objects there."""


def holding(use: CallUse, about: Advisory | Kernels, context: Context) -> ReleaseSet:
    """The releases in which a call is known to be one that an entry is about, and does not fail before."""
    alike = [each for each in about.symbols if _last(each) == _last(use.callee)]
    if not alike:
        return EMPTY
    same = union([context.history.same_in(use.callee, each) for each in alike])
    reach = use.releases & about.releases & same
    holds = EMPTY
    for part in context.parts(use) if reach else ():
        if part.bound.problems:
            continue  # the call fails, and never gets to what the entry is about
        for here, told in _ways(about.conditions, use, part, part.releases & reach, context):
            if here <= holds:
                continue
            for each in (c for c in about.conditions if c.is_about_objects):
                here &= _of_objects(each, _passed(use, part, each.parameter), told, here, about.conditions)
            holds |= _where(about.where, use, part, here)
    return holds - _fails(use, context) if holds else EMPTY


def _ways(conditions: Iterable[Condition], use: CallUse, part: Part, reach: ReleaseSet, context: Context) -> list[Way]:
    """The releases in which all that does not ask for objects is known to hold, with what tests have said there."""
    ways: list[Way] = [(reach, use.told)]
    for condition in conditions:
        if not condition.is_about_objects:
            found = list(_holds(condition, use, part, reach, context))
            ways = [(a & b, (*told, *more)) for a, told in ways for b, more in found if not a.isdisjoint(b)]
    return ways


def _fails(use: CallUse, context: Context) -> ReleaseSet:
    """Where the callee refuses the arguments, so that a call that binds fails all the same."""
    refused = union([releases for _, releases in refused_by(use, context.history)])
    outside = outside_literals(use, context.parts(use))
    return refused | union([each.releases for each in outside if each.certain])


def _where(expression: str | None, use: CallUse, part: Part, releases: ReleaseSet) -> ReleaseSet:
    """The releases of a part in which an expression over the parameters is known to be true."""
    if expression is None or not releases:
        return releases
    known = known_arguments(use, part, names_in(expression))
    return union([here & releases for here, values in known if truth_of(expression, values)])


def _last(ref: Ref) -> str:
    return ref.qualname.rpartition(".")[2]


def touching(condition: Condition, use: CallUse, context: Context) -> tuple[Touch, ...]:
    """Where the code base does with a variable what a condition asks for.

    What tests and examples do is about the calls of the same file alone: they are programs of their own.
    """
    if not condition.variable:
        return ()
    path = use.location.path
    near = [each for each in context.variable(condition.variable) if each.path == path or not is_aside(each.path)]
    if condition.read:
        return tuple(each for each in near if each.how is How.READ)
    found = [each for each in near if each.how is How.SET]
    return tuple(each for each in found if condition.passed or _in(each.value, condition.equals))


def _holds(condition: Condition, use: CallUse, part: Part, releases: ReleaseSet, context: Context) -> Iterator[Way]:
    """The releases of a part in which a condition is known to hold, and under which tests; unknown does not."""
    if condition.variable:
        if releases and touching(condition, use, context):
            yield releases, ()
        return
    arguments = _passed(use, part, condition.parameter)
    if condition.by_position and condition.parameter in part.bound.places:
        yield releases, ()
    elif condition.may_be:
        yield releases & _may_be(arguments, part, condition), ()
    elif condition.unless:
        yield releases - union([_known_among(argument, condition.unless) for argument in arguments]), ()
    elif not arguments:
        shape = part.shape
        known = not shape.open_keywords and not shape.open_positional and shape.firm == len(shape.positional)
        if condition.omitted and known:
            yield releases, ()
    elif condition.passed:
        yield releases, ()
    else:
        for argument in arguments:
            yield from _among(argument, condition, releases)


def _passed(use: CallUse, part: Part, parameter: str) -> list[Argument]:
    """What a call passes for a parameter, by name or by position."""
    places = zip(part.positional, part.bound.places, strict=True)
    by_name = [use.keywords[i] for i in part.keywords if use.keywords[i].name == parameter]
    return by_name + [use.positional[i] for i, place in places if place == parameter]


def _among(argument: Argument, condition: Condition, within: ReleaseSet) -> Iterator[Way]:
    """Where the argument may be a literal that a condition asks for."""
    for releases, value in argument.values:
        if isinstance(value, Unknown):
            continue
        if _in(value, condition.equals) or (condition.differs and not _in(value, condition.differs)):
            said = next((told for each, told in argument.told if _in(value, (each,))), ())
            yield releases & within, said


def _may_be(arguments: list[Argument], part: Part, condition: Condition) -> ReleaseSet:
    """Where nothing says that the argument is none of what a condition asks for."""
    result = EMPTY
    if not arguments or not all(argument.certain for argument in arguments):
        default = default_in(part, condition.parameter)
        result = part.releases if isinstance(default, Unknown) or _in(default, condition.may_be) else EMPTY
    for argument in arguments:
        others = [where for where, value in argument.values if not (value is _UNKNOWN or _in(value, condition.may_be))]
        chosen = [where for where, value in argument.values if value is _UNKNOWN or _in(value, condition.may_be)]
        result |= union(chosen) | (argument.releases - union(others))
    return result


def _known_among(argument: Argument, constants: tuple[Constant, ...]) -> ReleaseSet:
    """Where the argument is certainly one of these literals."""
    may, other = EMPTY, EMPTY
    for releases, value in argument.values:
        if not isinstance(value, Unknown) and _in(value, constants):
            may |= releases
        else:
            other |= releases
    return may - other if argument.certain else EMPTY


def _of_objects(
    condition: Condition,
    arguments: list[Argument],
    told: tuple[Told, ...],
    releases: ReleaseSet,
    conditions: Iterable[Condition],
) -> ReleaseSet:
    """Where what a parameter is given may be one thing of which all holds that is asked of the parameter's objects."""
    of_same = [each for each in conditions if each.is_about_objects and each.parameter == condition.parameter]
    if not arguments:
        return EMPTY if any(each.made_of for each in of_same) else releases
    found, all_known = EMPTY, EMPTY
    for argument in arguments:
        for where, objects in argument.objects:
            all_known |= where
            said = [each for each in told if each.of == objects]
            if all(_is_of(each, objects, said) for each in of_same):
                found |= where
        rest = argument.releases - all_known if argument.certain else releases
        if not any(each.made_of for each in of_same):
            found |= rest
    return found


def _is_of(condition: Condition, objects: tuple[str, ...], told: list[Told]) -> bool:
    """Whether a condition holds of an object that is these, or is made of them, and of which tests have said this."""
    if condition.unless_made_of:
        return set(objects).isdisjoint(condition.unless_made_of)
    possible = set(condition.made_of)
    for each in told:
        named = _named(each.among)
        possible = {text for text in possible if _named((text,)) != named or (text in each.among) is each.holds}
    sure = any(each.holds and each.among and possible.issuperset(each.among) for each in told)
    left_open = _named(possible) & _named(set(condition.left_open).intersection(objects))
    return sure or bool(left_open) or not possible.isdisjoint(objects)


def _named(texts: Iterable[str]) -> frozenset[str]:
    """The names in texts such as ``name='text'``."""
    return frozenset(text.partition("=")[0] for text in texts if "=" in text)


def _in(value: Constant, constants: tuple[Constant, ...]) -> bool:
    """Whether a literal is one of these, where True is not 1."""
    return any(type(value) is type(constant) and value == constant for constant in constants)
