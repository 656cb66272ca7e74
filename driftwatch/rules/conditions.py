"""Whether a call is what an entry about a library speaks of: symbol, conditions, and whether it gets there at all.

Enters: a call, and an entry of the target's data. Leaves: the releases in which all that the entry asks for is known
of the call; what is not known does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable

from driftwatch.binding.calls import Part
from driftwatch.binding.literals import outside_literals
from driftwatch.binding.refused import default_in, known_arguments, names_in, refused_by, truth_of
from driftwatch.findings import is_aside
from driftwatch.flow.uses import Argument, CallUse, Constant, Unknown
from driftwatch.project.variables import How, Touch
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.rules.advisories import Advisory, Condition, Kernels
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.symbols import Ref

_UNKNOWN = Unknown.UNKNOWN


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
        here = part.releases & reach
        for condition in about.conditions:
            here = _holds(condition, use, part, here, context)
        holds |= _where(about.where, use, part, here)
    return holds - _fails(use, context) if holds else EMPTY


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


def _holds(condition: Condition, use: CallUse, part: Part, releases: ReleaseSet, context: Context) -> ReleaseSet:
    """The releases of a part in which a condition is known to hold; what is not known does not."""
    if condition.variable:
        return releases if releases and touching(condition, use, context) else EMPTY
    arguments = [use.keywords[i] for i in part.keywords if use.keywords[i].name == condition.parameter]
    places = [
        use.positional[i] for i, p in zip(part.positional, part.bound.places, strict=True) if p == condition.parameter
    ]
    if places and condition.by_position:
        return releases
    arguments += places
    if condition.made_of:
        return releases & _may_be_made_of(arguments, condition.made_of)
    if condition.unless_made_of:
        return releases - _made_of(arguments, condition.unless_made_of)
    if condition.may_be:
        return releases & _may_be(arguments, part, condition)
    if condition.unless:
        excepted = EMPTY
        for argument in arguments:
            excepted |= _known_among(argument, condition.unless)
        return releases - excepted
    if not arguments:
        shape = part.shape
        known = not shape.open_keywords and not shape.open_positional and shape.firm == len(shape.positional)
        return releases if condition.omitted and known else EMPTY
    if condition.passed:
        return releases
    result = EMPTY
    for argument in arguments:
        result |= _among(argument, condition) & releases
    return result


def _among(argument: Argument, condition: Condition) -> ReleaseSet:
    """Where the argument may be a literal that a condition asks for."""
    result = EMPTY
    for releases, value in argument.values:
        if isinstance(value, Unknown):
            continue
        if _in(value, condition.equals) or (condition.differs and not _in(value, condition.differs)):
            result |= releases
    return result


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


def _made_of(arguments: Iterable[Argument], paths: tuple[str, ...]) -> ReleaseSet:
    """Where what is passed, if anything is, is certainly one of these foreign objects, or made of one."""
    result = EMPTY
    for argument in arguments:
        known, other = EMPTY, EMPTY
        for releases, objects in argument.objects:
            if any(path in paths for path in objects):
                known |= releases
            else:
                other |= releases
        result |= known - other
    return result


def _may_be_made_of(arguments: Iterable[Argument], paths: tuple[str, ...]) -> ReleaseSet:
    """Where one of the things that may be passed is one of these objects, or is known to be made of one."""
    found = [
        where for argument in arguments for where, objects in argument.objects if not set(objects).isdisjoint(paths)
    ]
    return union(found)


def _in(value: Constant, constants: tuple[Constant, ...]) -> bool:
    """Whether a literal is one of these, where True is not 1."""
    return any(type(value) is type(constant) and value == constant for constant in constants)
