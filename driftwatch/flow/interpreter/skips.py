"""Tests that the runner skips: by a decorator, by a mark of the class or of the module.

Enters: the condition of a mark. Leaves: a `SkipMark`, and where it is put on a function or a class, the releases in
which the runner does not call that.
"""

from __future__ import annotations

from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode
from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.values import NOTHING, Atom, Class, External, Function, ListRef, SkipMark, Value, unknown
from driftwatch.flow.interpreter.arguments import argument
from driftwatch.flow.interpreter.containers import elements_of
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import EMPTY, ReleaseSet

ALWAYS = frozenset({"pytest.mark.skip", "unittest.skip", "unittest.case.skip"})
"""Marks that skip whatever the condition; some need not be called."""

MODULE_MARK = "pytestmark"
"""The variable of a module or class that marks all its tests."""


def skipped_by(run: Run, marks: Value) -> tuple[ReleaseSet, ReleaseSet]:
    """The releases in which a mark, or one of several, surely skips, and those in which it may."""
    surely, perhaps = EMPTY, EMPTY
    for where, atom in marks.alternatives:
        if isinstance(atom, ListRef):
            for part in elements_of(run, Value(((where, atom),))) or ():
                more, maybe = skipped_by(run, part.value)
                surely, perhaps = surely | (more & part.certain), perhaps | (maybe & part.releases)
        elif _skips(atom):
            surely |= where
        elif isinstance(atom, SkipMark):
            perhaps |= where
    return surely - marks.where(lambda atom: not isinstance(atom, ListRef) and not _skips(atom)), perhaps


def _skips(atom: Atom) -> bool:
    if isinstance(atom, External):
        return atom.dotted in ALWAYS
    return isinstance(atom, SkipMark) and atom.surely


def mark_skipped(run: Run, marks: Value, marked: Value) -> bool:
    """A decorator is put on functions or a class; whether it is a mark that skips."""
    surely, perhaps = skipped_by(run, marks)
    if not surely and not perhaps:
        return False
    for _, atom in marked.alternatives:
        if isinstance(atom, (Function, Class)):
            atom.code.skipped |= surely
            atom.code.may_be_skipped |= perhaps
    return True


def put_on(run: Run, mark: SkipMark, arguments: Arguments) -> Value:
    """A mark is called with what it is put on, and gives that back."""
    marked = argument(arguments, 0)
    if marked is None:
        return unknown(run.state.reach)
    mark_skipped(run, Value(((run.state.reach, mark),)), marked)
    return marked


def mark_of_body(run: Run, home: ModuleCode | ClassCode, names: dict[str, Value]) -> None:
    """A module or a class has been executed: the mark that it puts on all its tests."""
    surely, perhaps = skipped_by(run, names.get(MODULE_MARK, NOTHING))
    home.skipped |= surely
    home.may_be_skipped |= perhaps


def skips_of(function: FunctionCode) -> tuple[ReleaseSet, ReleaseSet]:
    """The releases in which the runner surely does not call a function, and those in which it may not."""
    surely, perhaps = function.skipped, function.may_be_skipped
    homes: list[ModuleCode | ClassCode] = [] if function.owner is None else [function.owner]
    if function.name.startswith("test") or function.owner is not None:
        homes.append(function.module)
    for home in homes:
        surely, perhaps = surely | home.skipped, perhaps | home.may_be_skipped
    return surely, perhaps
