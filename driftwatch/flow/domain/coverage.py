"""Where explicit tests keep code from being reached that is there for the library.

Enters, while an entry point is analysed: each place that touches the library, with the releases in which it is reached
and the tests that lead there. Leaves: for each test, the releases in which the code goes another way and does without
the library. Where the other way uses the library as well, an older function, say, or the same one without
a keyword, nothing is lost and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from driftwatch.flow.domain.code import FunctionCode, ModuleCode
from driftwatch.flow.domain.guard import Guard
from driftwatch.flow.syntax.syntax import Tree
from driftwatch.flow.uses import DELIBERATE, Location, SwitchedOff
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.snapshot.model.symbols import Ref


@dataclass(slots=True)
class Place:
    """A place that touches the library, and the tests on the way to it from its entry point."""

    symbol: Ref
    reached: ReleaseSet
    path: tuple[Guard, ...]


@dataclass(slots=True)
class Coverage:
    """What one entry point, a function or a module, reaches of the library, with all that it calls.

    `entered` is where it can be called. `path` are the tests that lead to what is executed at the moment.
    """

    module: ModuleCode
    entered: ReleaseSet
    function: FunctionCode | None = None
    path: tuple[Guard, ...] = ()
    places: dict[tuple[cst.CSTNode, Ref], Place] = field(default_factory=dict)

    def reach(self, node: cst.CSTNode, symbol: Ref, where: ReleaseSet) -> None:
        """A place that touches the library is reached in these releases."""
        known = self.places.get((node, symbol))
        if known is None:
            self.places[node, symbol] = Place(symbol, where, self.path)
        else:
            known.reached |= where

    def take(self, tree: Tree, test: cst.CSTNode, way: ReleaseSet, other: ReleaseSet) -> None:
        """What follows is behind a test, on the way that may be taken in these releases; the other way in those."""
        if not other <= way:
            self.path = (*self.path, Guard(tree, test, other - way))

    def symbols(self) -> dict[Ref, ReleaseSet]:
        """What is reached, wherever."""
        found: dict[Ref, ReleaseSet] = {}
        for place in self.places.values():
            found[place.symbol] = found.get(place.symbol, EMPTY) | place.reached
        return found

    def outside(self) -> tuple[Guard, ...]:
        """The tests that decide whether it is there to be called: where it, its owner and what it takes are made."""
        if self.function is None:
            return ()
        owner = self.function.owner
        made = owner.guards if owner is not None and self.function.kind not in ("static", "class") else ()
        return (*self.function.guards, *self.function.given_guards, *made)


def switched_off(distribution: str, releases: ReleaseSet, of_file: Sequence[Coverage]) -> Iterator[SwitchedOff]:
    """What explicit tests keep from being reached in the entry points of one file, one use for each test."""
    found: dict[Location, tuple[ReleaseSet, dict[Ref, None]]] = {}
    in_file: dict[ReleaseSet, ReleaseSet] | None = None
    for coverage in of_file:
        # Where the file itself breaks, nobody decided anything.
        everywhere = releases - coverage.module.fails
        if everywhere <= coverage.entered:
            elsewhere = _elsewhere([coverage])
        else:
            # What is defined or made in some releases only has its other half in another entry point of the file.
            elsewhere = in_file = _elsewhere(of_file) if in_file is None else in_file
        # The same may be used elsewhere, if without a keyword.
        of_symbol = coverage.symbols()
        for place in coverage.places.values():
            off = everywhere - place.reached - elsewhere[place.reached] - of_symbol[place.symbol]
            for guard in reversed((*coverage.outside(), *place.path)) if off else ():
                here = guard.refused & off
                if here:
                    known, symbols = found.setdefault(guard.location, (EMPTY, {}))
                    symbols[place.symbol] = None
                    found[guard.location] = (known | here, symbols)
                    off -= here
    for location in sorted(found):
        known, symbols = found[location]
        yield SwitchedOff(distribution, location, known, DELIBERATE, (), symbols=tuple(symbols))


def _elsewhere(company: Sequence[Coverage]) -> dict[ReleaseSet, ReleaseSet]:
    """For all releases of a place: those in which the program is at other places instead."""
    reached = {place.reached for each in company for place in each.places.values()}
    return {here: union([other for other in reached if other.isdisjoint(here)]) for here in reached}
