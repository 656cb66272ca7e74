"""A test that has been passed on the way to where the program is."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from driftwatch.flow.syntax.syntax import Tree
from driftwatch.flow.uses import Location
from driftwatch.releases import ReleaseSet


@dataclass(frozen=True, slots=True)
class Guard:
    """A test, and the releases in which it surely leads another way."""

    tree: Tree
    test: cst.CSTNode
    refused: ReleaseSet

    @property
    def location(self) -> Location:
        return self.tree.location(self.test)
