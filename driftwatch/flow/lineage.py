"""The order in which Python looks for an attribute: a class of the code base, then its bases."""

from __future__ import annotations

from driftwatch.flow.code import ClassCode, FunctionCode
from driftwatch.flow.values import Class, External, Value
from driftwatch.releases import EMPTY, ReleaseSet

PLAIN_BASES = frozenset(
    {"builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic", "typing.NamedTuple",
     "typing_extensions.NamedTuple"}
)  # fmt: skip
"""Classes from elsewhere that give their instances no attributes."""

TUPLE_METHODS = frozenset({"_asdict", "_replace"})
"""What a named tuple can do beside what any tuple can."""

_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})

_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})

_HOOKS = ("__setattr__", "__getattribute__", "__new__", "__delattr__")
"""Methods by which a class decides itself what its instances hold."""


def lineage(code: ClassCode) -> tuple[list[ClassCode], list[Value]]:
    """A class and its bases in the code base, in lookup order, and the other bases' values."""
    order = _linearised(code, ())
    if order is None:
        # Python would not make such a class.
        order = _by_breadth(code)
    others: list[Value] = []
    for current in order:
        for base in current.base_values:
            rest = base.only(lambda a: not isinstance(a, Class))
            if rest.alternatives:
                others.append(rest)
    return order, others


def _bases(code: ClassCode) -> list[ClassCode]:
    return list(
        dict.fromkeys(a.code for base in code.base_values for _, a in base.alternatives if isinstance(a, Class))
    )


def _linearised(code: ClassCode, below: tuple[ClassCode, ...]) -> list[ClassCode] | None:
    """The C3 order; None where there is none. Several classes that may be one base stand one after another."""
    bases = _bases(code)
    if code in below:
        return None
    if not bases:
        return [code]
    queues: list[list[ClassCode]] = []
    for base in bases:
        order = _linearised(base, (*below, code))
        if order is None:
            return None
        queues.append(order)
    queues.append(bases)
    merged = [code]
    while queues := [queue for queue in queues if queue]:
        head = next((q[0] for q in queues if not any(q[0] in other[1:] for other in queues)), None)
        if head is None:
            return None
        merged.append(head)
        queues = [queue[1:] if queue[0] is head else queue for queue in queues]
    return merged


def _by_breadth(code: ClassCode) -> list[ClassCode]:
    order: list[ClassCode] = []
    queue = [code]
    while queue:
        current = queue.pop(0)
        if current not in order:
            order.append(current)
            queue.extend(_bases(current))
    return order


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
    return _descends(code, _TUPLES)


def is_typed_dict(code: ClassCode) -> bool:
    """Whether a class says what is in a dict: what it makes is one."""
    return _descends(code, _DICTS)


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
    if any(not (isinstance(a, External) and a.dotted in PLAIN_BASES) for base in others for _, a in base.alternatives):
        return False
    for each in order:
        if any(hook in each.methods for hook in _HOOKS) or any(k.keyword is not None for k in each.node.keywords):
            return False
    return True


def methods_of(code: ClassCode, name: str) -> list[FunctionCode]:
    """The method of this name that a class of the code base has, its own or one that it takes over."""
    return [each.methods[name] for each in lineage(code)[0] if name in each.methods][:1]
