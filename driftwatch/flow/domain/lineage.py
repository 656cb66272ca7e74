"""The order in which Python looks for an attribute: a class of the code base, then its bases."""

from __future__ import annotations

from driftwatch.flow.domain.code import ClassCode, FunctionCode, Lineage
from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.values import Class, External, Value, unknown
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.lineage import merged
from driftwatch.snapshot.model.standard_bases import NAMED_TUPLES, WITHOUT_ATTRIBUTES

_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})

_HOOKS = ("__setattr__", "__getattribute__", "__new__", "__delattr__")
"""Methods by which a class decides itself what its instances hold."""


MAX_LINEAGE = 100
"""From how many classes of the code base one may descend, until it counts as one that may have any attribute."""


def lineage(code: ClassCode) -> tuple[list[ClassCode], list[Value]]:
    """A class and its bases in the code base, in lookup order, and the other bases' values."""
    known = _lineage(code)
    return known.order, known.others if known.whole else [*known.others, unknown(code.reach)]


def is_too_long(code: ClassCode) -> bool:
    """Whether a class has more bases than are followed."""
    return not _lineage(code).whole


def derive(code: ClassCode, bases: tuple[Value, ...]) -> None:
    """From now on a class has these bases."""
    if code.base_values != bases:
        code.base_values = bases
        changed = [code]
        for each in changed:
            if each.lineage is not None:
                each.lineage = None
                changed.extend(each.subclasses)
    for base in _bases(code):
        base.subclasses[code] = None


def _bases(code: ClassCode) -> list[ClassCode]:
    return list(
        dict.fromkeys(a.code for base in code.base_values for _, a in base.alternatives if isinstance(a, Class))
    )


def _lineage(code: ClassCode) -> Lineage:
    """What is kept with a class; first of all with its bases, without a call for each. Cycles are cut."""
    waiting, entered = [code], set()
    while code.lineage is None:
        current = waiting[-1]
        entered.add(current)
        below = [base for base in _bases(current) if base.lineage is None and base not in entered]
        waiting.extend(below)
        if not below:
            waiting.pop()
            current.lineage = current.lineage or _made(current)
    return code.lineage


def _made(code: ClassCode) -> Lineage:
    """The C3 order of a class whose bases have theirs. Several classes that may be one base stand one after another."""
    bases = [base for base in _bases(code) if base.lineage is not None]
    known = [base.lineage for base in bases[:MAX_LINEAGE] if base.lineage is not None]
    rows = [each.order for each in known]
    order = [code, *(rows[0] if len(rows) == 1 else merged([*rows, bases[:MAX_LINEAGE]]))]
    whole = len(order) <= MAX_LINEAGE and len(bases) <= MAX_LINEAGE and all(each.whole for each in known)
    others: list[Value] = []
    for current in order[:MAX_LINEAGE]:
        for base in current.base_values:
            rest = base.only(lambda a: not isinstance(a, Class))
            if rest.alternatives:
                others.append(rest)
    return Lineage(order[:MAX_LINEAGE], others, whole)


def inheriting(order: list[ClassCode], where: ReleaseSet) -> list[tuple[ClassCode, ReleaseSet]]:
    """The classes of a lineage, each with the releases in which the first one descends from it."""
    reached = {order[0]: where}
    for current in order:
        for base in current.base_values:
            for there, atom in base.alternatives:
                if isinstance(atom, Class):
                    here = reached.get(current, EMPTY) & there
                    reached[atom.code] = reached.get(atom.code, EMPTY) | here
    return [(current, reached.get(current, EMPTY)) for current in order]


def is_tuple(code: ClassCode) -> bool:
    """Whether a class is a named tuple."""
    return _descends(code, NAMED_TUPLES)


def is_typed_dict(code: ClassCode) -> bool:
    """Whether a class says what is in a dict: what it makes is one."""
    return _descends(code, _DICTS)


def is_exception(code: ClassCode) -> bool:
    """Whether what a class makes can be raised."""
    return any(
        isinstance(atom, External) and raised_of(atom.dotted.removeprefix("builtins.")).exact
        for base in lineage(code)[1]
        for _, atom in base.alternatives
    )


def _descends(code: ClassCode, bases: frozenset[str]) -> bool:
    return any(
        isinstance(atom, External) and atom.dotted in bases
        for each in lineage(code)[0]
        for base in each.base_values
        for _, atom in base.alternatives
    )


def holds_what_is_set(code: ClassCode) -> bool:
    """Whether an instance of a class holds what its methods set on it, and nothing else."""
    order, others = lineage(code)
    if any(
        not (isinstance(a, External) and a.dotted in WITHOUT_ATTRIBUTES)
        for base in others
        for _, a in base.alternatives
    ):
        return False
    for each in order:
        if any(hook in each.methods for hook in _HOOKS) or any(
            k.keyword is not None and k.keyword.value == "metaclass" for k in each.node.keywords
        ):
            return False
    return True


def methods_of(code: ClassCode, name: str) -> list[FunctionCode]:
    """The method of this name that a class of the code base has, its own or one that it takes over."""
    return [each.methods[name] for each in lineage(code)[0] if name in each.methods][:1]
