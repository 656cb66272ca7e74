"""Tuples that the library gives: taken apart, looked into, counted.

A result carries the call that made it, so that it is known wherever it gets to. Where no length that it may have fits,
Python raises, and the handler round the place is entered.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.values import Const, LibTuple, Value
from driftwatch.flow.interpreter.library import missing, record_use
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.uses import Catch, ItemUse, Location, UnpackUse
from driftwatch.releases import EMPTY, ReleaseSet

_Made = Callable[[LibTuple, ReleaseSet, Location, Catch], "UnpackUse | ItemUse"]


def unpacked(run: Run, target: cst.Tuple | cst.List, value: Value) -> Value:
    """A value is taken apart into several targets; what is left of it where that works."""
    if not any(isinstance(atom, LibTuple) for _, atom in value.alternatives):
        return value
    starred = any(isinstance(element, cst.StarredElement) for element in target.elements)
    names = len(target.elements)

    def use(atom: LibTuple, where: ReleaseSet, location: Location, catch: Catch) -> UnpackUse:
        way = run.frame.way_in()
        distribution = run.history.distribution
        return UnpackUse(
            distribution,
            location,
            where,
            catch,
            way,
            atom.callee,
            atom.method,
            atom.exact,
            names=names,
            starred=starred,
        )

    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, LibTuple):
            _take(run, atom, where, target, UnpackUse.raised, use)
    return value.within(run.state.reach)


def looked_into(run: Run, atom: LibTuple, index: int, where: ReleaseSet, node: cst.CSTNode) -> ReleaseSet:
    """One value of a result is asked for by its number: the releases in which there is one."""

    def use(atom: LibTuple, where: ReleaseSet, location: Location, catch: Catch) -> ItemUse:
        way = run.frame.way_in()
        return ItemUse(
            run.history.distribution, location, where, catch, way, atom.callee, atom.method, atom.exact, index=index
        )

    _take(run, atom, where, node, ItemUse.raised, use)
    return where & run.state.reach


def count_of(atom: LibTuple) -> Const | None:
    """``len(result)``, where it is always the same."""
    return Const(atom.lengths[0]) if len(atom.lengths) == 1 else None


def _take(run: Run, atom: LibTuple, where: ReleaseSet, node: cst.CSTNode, exception: str, made: _Made) -> None:
    run.touch()
    use = made(atom, where, run.location(node), run.catch(exception))
    if any(map(use.fits, atom.lengths)):
        record_use(run, use, EMPTY)
        return
    missing(run, raised_of(exception), where, record_use(run, use, where))
