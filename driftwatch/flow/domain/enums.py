"""Enumerations of the code base: their members are constants, told apart, combined and compared as Python does it.

Enters: what a class body has bound, in order. Leaves: the same, with members in the place of their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from driftwatch.flow.domain.values import Atom, Const, External, Opaque, Value, unknown, value_of
from driftwatch.releases import ReleaseSet

if TYPE_CHECKING:
    from driftwatch.flow.domain.code import ClassCode

AUTO = Opaque("enum.auto")
"""What ``enum.auto()`` gives, until its place among the members says what it is."""

_BASES = {
    "enum.Enum": "plain",
    "enum.IntEnum": "int",
    "enum.StrEnum": "str",
    "enum.Flag": "flag",
    "enum.IntFlag": "intflag",
    "builtins.int": "int",
    "builtins.str": "str",
}

_HEADER = re.compile(rb"^class\s+\w+\s*\([^)]*(?:Enum|Flag)\b", re.MULTILINE)

FLAGS = ("flag", "intflag")
_NUMBERS = ("int", *FLAGS)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of an enumeration, or several of one whose members are flags."""

    cls: ClassCode
    kind: str
    name: str | None
    value: Hashable
    known: bool = True
    """Whether the value is the one that Python gives it; else it only tells the members apart."""

    @property
    def mixes(self) -> bool:
        """Whether it counts as its value."""
        return self.kind in ("int", "str", "intflag")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Member):
            return self.value == other.value and (self.cls is other.cls or (self.mixes and other.mixes))
        return self.mixes and self.value == other

    def __hash__(self) -> int:
        return hash(self.value) if self.mixes else hash((id(self.cls), self.value))

    def __bool__(self) -> bool:
        return self.kind == "plain" or bool(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def _ordered(self, other: object, compare: Callable[[int, int], bool]) -> bool:
        mine, theirs = self.value, other.value if isinstance(other, Member) else other
        if not self.mixes or not isinstance(mine, int) or not isinstance(theirs, int):
            raise TypeError
        return compare(mine, theirs)

    def __lt__(self, other: object) -> bool:
        return self._ordered(other, int.__lt__)

    def __le__(self, other: object) -> bool:
        return self._ordered(other, int.__le__)

    def __gt__(self, other: object) -> bool:
        return self._ordered(other, int.__gt__)

    def __ge__(self, other: object) -> bool:
        return self._ordered(other, int.__ge__)

    def _combined(self, other: object, combine: Callable[[int, int], int]) -> Member | int:
        mine, theirs = self.value, other.value if isinstance(other, Member) else other
        if self.kind not in _NUMBERS or not isinstance(mine, int) or not isinstance(theirs, int):
            raise TypeError
        made = combine(mine, theirs)
        return made if self.kind == "int" else Member(self.cls, self.kind, None, made)

    def __or__(self, other: object) -> Member | int:
        return self._combined(other, int.__or__)

    def __and__(self, other: object) -> Member | int:
        return self._combined(other, int.__and__)

    def __xor__(self, other: object) -> Member | int:
        return self._combined(other, int.__xor__)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __invert__(self) -> Member | int:
        # Of a flag that is not known, nothing is set: what is asked of it then is what of another one is left.
        return self._combined(0, lambda mine, _: ~mine)

    def __contains__(self, other: object) -> bool:
        if self.kind not in FLAGS or not isinstance(other, Member):
            raise TypeError
        mine, theirs = self.value, other.value
        assert isinstance(mine, int) and isinstance(theirs, int)
        return mine & theirs == theirs


def kind_of(bases: Sequence[Value]) -> str | None:
    """What kind of enumeration a class with these foreign bases is; None when it is none."""
    kinds = [
        _BASES[atom.dotted]
        for base in bases
        for _, atom in base.alternatives
        if isinstance(atom, External) and atom.dotted in _BASES
    ]
    is_enumeration = any(
        isinstance(atom, External) and atom.dotted.startswith("enum.")
        for base in bases
        for _, atom in base.alternatives
    )
    if not is_enumeration:
        return None
    return next((kind for kind in kinds if kind != "plain"), "plain")


def is_enumeration(text: bytes) -> bool:
    """Whether a definition, as it is written, seems to be of an enumeration."""
    return _HEADER.search(text) is not None


def members_of(code: ClassCode, kind: str, bound: Mapping[str, Value]) -> dict[str, Value]:
    """What a class body has bound, as members."""
    found: dict[str, Value] = {}
    last = 0
    for name, value in bound.items():
        if name.startswith("_"):
            continue
        alternatives: list[tuple[ReleaseSet, Atom]] = []
        for where, atom in value.alternatives:
            given: Hashable = name
            known = True
            if isinstance(atom, Const):
                given = atom.value[0] if kind == "str" and isinstance(atom.value, tuple) and atom.value else atom.value
            elif atom == AUTO:
                given = _automatic(kind, name, last)
            elif kind in _NUMBERS:
                alternatives.append((where, atom))
                continue
            else:
                known = False
            if isinstance(given, int) and not isinstance(given, bool):
                last = max(last, given)
            alternatives.append((where, Const(Member(code, kind, name, given, known))))
        found[name] = value_of(alternatives)
    return found


def _automatic(kind: str, name: str, last: int) -> Hashable:
    if kind == "str":
        return name.lower()
    return 1 << last.bit_length() if kind in FLAGS else last + 1


def members_in(code: ClassCode) -> list[Value]:
    """The members of an enumeration in order, each once; none where a class is no enumeration, or one is not known."""
    found: dict[str, Value] = {}
    for name, value in code.constants.items():
        atoms = [atom.value for _, atom in value.alternatives if isinstance(atom, Const)]
        members = [each for each in atoms if isinstance(each, Member) and each.cls is code]
        if members and len(members) < len(value.alternatives):
            return []
        if members and value not in found.values():
            found[name] = value
    return list(found.values())


def by_name(code: ClassCode, name: object, where: ReleaseSet) -> Value:
    """The member of that name."""
    found = code.constants.get(name) if isinstance(name, str) else None
    return unknown(where) if found is None else found


def by_value(members: Iterable[Value], wanted: Hashable) -> list[tuple[ReleaseSet, Atom]]:
    """The members that have a value."""
    return [
        (where, atom)
        for value in members
        for where, atom in value.alternatives
        if isinstance(atom, Const)
        and isinstance(atom.value, Member)
        and atom.value.known
        and atom.value.value == wanted
    ]
