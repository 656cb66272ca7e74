"""What can be told of an atom by itself: whether it is true, is None or only itself, or is of the library."""

from __future__ import annotations

from collections.abc import Iterable

from driftwatch.flow.domain.frozen import frozen
from driftwatch.flow.domain.values import (
    UNKNOWN,
    ArgSpecOf,
    Atom,
    CodeOf,
    Const,
    DictRef,
    External,
    Instance,
    Lazy,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    LibTuple,
    ListRef,
    NamesOf,
    ParameterInfo,
    ParameterMap,
    SignatureOf,
    Unknown,
    Value,
)


@frozen
class Sentinel(Atom):
    """What ``object()`` gives where a module is executed: itself and nothing else. `place` is where it is made."""

    place: str


def truth(atom: Atom) -> bool | None:
    """Whether an atom counts as true in a test; None when that is not known.

    Containers of the heap are asked for by the caller, who has the heap.
    """
    if isinstance(atom, Const):
        return bool(atom.value)
    if isinstance(atom, LibTuple):
        return all(atom.lengths) or (None if any(atom.lengths) else False)
    if isinstance(atom, (ParameterMap, External)):
        return None if isinstance(atom, External) else bool(atom.parameters)
    if isinstance(atom, Unknown):
        return atom.truth
    if isinstance(atom, (Lazy, DictRef, ListRef, LibInstance, Instance)):
        # Instances may define __bool__ or __len__; of the library's and the project's own we assume they do not.
        return True if isinstance(atom, (LibInstance, Instance)) else None
    return True


def is_none(atom: Atom) -> bool | None:
    """Whether an atom is None; None when that is not known."""
    if isinstance(atom, Const):
        return atom.value is None
    if isinstance(atom, External):
        # What a foreign package holds under a name may well be None: `torch.version.hip`.
        return False if "." not in atom.dotted or atom.dotted.startswith("builtins.") else None
    if isinstance(atom, Unknown):
        return False if atom.truth else None
    return None if isinstance(atom, Lazy) else False


def may_be_ghosts(values: Iterable[Value]) -> bool:
    """Whether there is something of the library among values: most have nothing."""
    return any(type(atom) is LibInstance for value in values for _, atom in value.alternatives)


def touches_library(atom: Atom) -> bool:
    """Whether an atom is, or was made from, something of the library."""
    return isinstance(
        atom,
        (
            LibModule,
            LibObject,
            LibInstance,
            LibMethod,
            SignatureOf,
            ArgSpecOf,
            ParameterMap,
            ParameterInfo,
            CodeOf,
            NamesOf,
        ),
    )


def overlaps(value: Value) -> bool:
    """Whether a value may be one of several things in one release."""
    return sum(where.mask.bit_count() for where, _ in value.alternatives) > value.defined().mask.bit_count()


def is_undecided(returns: Value) -> bool:
    """Whether a function gives a constant, of which nobody can tell which in one release."""
    atoms = [atom for _, atom in returns.alternatives]
    return UNKNOWN in atoms or (overlaps(returns) and any(isinstance(atom, Const) for atom in atoms))
