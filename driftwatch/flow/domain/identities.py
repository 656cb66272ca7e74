"""Identities: each function, class and container of the code base is one thing, however often it is met.

What an activation makes is not what another one makes: but when a function is analysed anew, what it makes is what it
made before, for all that others know. `Identities.first` says of two things whether they are that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.frames import Frame
from driftwatch.flow.domain.values import Atom, DictRef, Function, ListRef, Partial, Value, value_of
from driftwatch.releases import EMPTY


class Identities:
    """Made once each, by the place in the source where they are defined or made."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._first: list[int] = [0]
        """For each number, that of what the same code made there when it was first analysed."""
        self._firsts: dict[tuple[object, ...], int] = {}
        self._first_function: dict[FunctionCode, FunctionCode] = {}
        self._kept: list[object] = []
        self._activations: list[int] = [0]
        """For each activation, the first one that came about in the same way."""
        self._origins: dict[tuple[object, ...], int] = {}
        self._test = 0
        self._repeated: dict[tuple[int, int, int], int] = {}
        self._functions: dict[tuple[int, int], FunctionCode] = {}
        self._classes: dict[int, ClassCode] = {}
        self._definitions: dict[tuple[int, ...], cst.ClassDef] = {}

    def number(self, site: object, uid: int, *what: object, of: int = 0) -> int:
        """The heap number of a container that an activation makes at a place, which is kept alive.

        `of` is what it is another one of, when a function that is not followed has made it.
        """
        key = (id(site), uid, of, *what)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._first)
            alike = (id(site), self._activations[uid], self._first[of], *what)
            self._first.append(self._firsts.setdefault(alike, found))
            self._kept.append(site)
        return found

    def first_number(self, number: int) -> int:
        """The number of what the same code made there when it was first analysed."""
        return self._first[number]

    def first(self, atom: Atom) -> Atom:
        """A thing as it was when what has made it was first analysed: the same for all that are made alike."""
        if isinstance(atom, (DictRef, ListRef, Partial)):
            return replace(atom, key=self._first[atom.key])
        if isinstance(atom, Function):
            bound = self.first(atom.bound) if atom.bound is not None else None
            return Function(self._first_function.get(atom.code, atom.code), bound)
        return atom

    def alike(self, one: Value, other: Value) -> bool:
        """Whether two values are the same, but for what the same code has made anew."""
        first = self.first
        return {(w, first(a)) for w, a in one.alternatives} == {(w, first(a)) for w, a in other.alternatives}

    def renewed(self, before: Value, value: Value) -> Value:
        """What a place held before it got a value, without what the same code had put there when last analysed."""
        again = {self.first(atom): where for where, atom in value.alternatives if _is_made(atom)}
        if not again:
            return before
        new = {atom for _, atom in value.alternatives}
        return value_of(
            (where if atom in new else where - again.get(self.first(atom), EMPTY), atom)
            for where, atom in before.alternatives
        )

    def activation(self, *origin: object) -> int:
        """A number for one activation of a function: what it makes is not what another activation makes.

        `origin` is how it comes about.
        """
        uid = len(self._activations)
        self._activations.append(self._origins.setdefault(origin, uid))
        return uid

    def test(self) -> int:
        """A number for one evaluation of a test that cannot be followed."""
        self._test += 1
        return self._test

    def construction(self, function: FunctionCode) -> int:
        """The number of every analysis of a constructor: there is nothing yet that an earlier one could have made."""
        return self._again((id(function), 0, 0), function)

    def call(self, frame: Frame, node: cst.CSTNode) -> int:
        """A number for the activation of a function that is called from a frame."""
        times = frame.calls[id(node)] = frame.calls.get(id(node), 0) + 1
        if frame.constructs:
            return self._again((frame.uid, id(node), times), node)
        return self.activation(self._activations[frame.uid], id(node), times)

    def _again(self, key: tuple[int, int, int], keep: object) -> int:
        found = self._repeated.get(key)
        if found is None:
            found = self._repeated[key] = self.activation(*key)
            self._kept.append(keep)
        return found

    def function(self, frame: Frame, node: cst.FunctionDef | cst.Lambda, name: str) -> FunctionCode:
        """The one identity of a function; a nested one has one for each activation of the enclosing function."""
        key = (id(node), frame.uid if frame.function is not None else 0)
        found = self._functions.get(key)
        if found is None:
            owner = frame.owner if frame.function is None else None
            prefix = f"{owner.name}." if owner is not None else f"{frame.function.qualname}." if frame.function else ""
            found = FunctionCode(frame.module, frame.tree, node, name, prefix + name, owner)
            found.parent = frame.function
            self._functions[key] = found
            if frame.function is not None:
                alike = self._functions.get((id(node), self._activations[frame.uid]), found)
                self._first_function[found] = alike
        return found

    def definition(self, place: tuple[int, ...], make: Callable[[], cst.ClassDef]) -> cst.ClassDef:
        """The one definition of a class that is made by a call."""
        found = self._definitions.get(place)
        if found is None:
            found = self._definitions[place] = make()
        return found

    def of_class(self, frame: Frame, node: cst.ClassDef) -> ClassCode:
        """The one identity of a class."""
        found = self._classes.get(id(node))
        if found is None:
            found = ClassCode(frame.module, frame.tree, node, node.name.value)
            found.parent = frame.function
            self._classes[id(node)] = found
        return found


def _is_made(atom: Atom) -> bool:
    return isinstance(atom, (DictRef, ListRef, Partial, Function))
