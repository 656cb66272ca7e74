"""Identities: each function, class and container of the code base is one thing, however often it is met."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.frames import Frame


class Identities:
    """Made once each, by the place in the source where they are defined or made."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._kept: list[object] = []
        self._activation = 0
        self._test = 0
        self._repeated: dict[tuple[int, int, int], int] = {}
        self._functions: dict[tuple[int, int], FunctionCode] = {}
        self._classes: dict[int, ClassCode] = {}

    def number(self, key: object, keep: object) -> int:
        """The heap number of a container made at a place; the object that identifies the place is kept alive."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._numbers) + 1
            self._kept.append(keep)
        return found

    def activation(self) -> int:
        """A number for one activation of a function: what it makes is not what another activation makes."""
        self._activation += 1
        return self._activation

    def test(self) -> int:
        """A number for one evaluation of a test that cannot be followed."""
        self._test += 1
        return self._test

    def construction(self, function: FunctionCode) -> int:
        """The number of every analysis of a constructor: there is nothing yet that an earlier one could have made."""
        return self._again((id(function), 0, 0), function)

    def call(self, frame: Frame, node: cst.CSTNode) -> int:
        """A number for the activation of a function that is called from a frame."""
        if not frame.constructs:
            return self.activation()
        times = frame.calls[node] = frame.calls.get(node, 0) + 1
        return self._again((frame.uid, id(node), times), node)

    def _again(self, key: tuple[int, int, int], keep: object) -> int:
        found = self._repeated.get(key)
        if found is None:
            found = self._repeated[key] = self.activation()
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
        return found

    def of_class(self, frame: Frame, node: cst.ClassDef) -> ClassCode:
        """The one identity of a class."""
        found = self._classes.get(id(node))
        if found is None:
            found = ClassCode(frame.module, frame.tree, node, node.name.value)
            found.parent = frame.function
            self._classes[id(node)] = found
        return found
