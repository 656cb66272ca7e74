"""The law of conservation: what a code base has of the library is followed, or it is said where it gets out of sight.

Enters: a value that goes where nothing is known of what becomes of it. Leaves: an unknown one in its place, and an
`Unresolved` for each thing of the library in it: a function or class, a module, an instance, a partial or method of
such, a function of the code base that passes on what it is given, or a container that holds any of these.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from driftwatch.flow.domain.contents import Content, DictContent, PartialContent
from driftwatch.flow.domain.values import (
    Atom,
    DictRef,
    Function,
    Giving,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    ListRef,
    Managed,
    MethodOf,
    Partial,
    Raised,
    Value,
    atom_of,
    unknown,
)
from driftwatch.flow.interpreter.run import Run, escape

NOT_SORTED_OUT = "among what is gone through in an order or a choice that is not known"

_MAY_BE = frozenset(
    {
        LibObject, LibModule, LibInstance, LibMethod, MethodOf, Managed, Giving, Raised, Function, Partial, DictRef,
        ListRef,
    }
)  # fmt: skip
"""What may be, or hold, something of the library."""

MAX_NESTED = 4
"""How deep in one another containers are looked into."""


def lose(run: Run, value: Value, node: cst.CSTNode, why: str) -> Value:
    """A value gets out of sight; `why` goes on after its name, as in "`f` is passed on to ...".

    What stands in its place from here on is not known.
    """
    escape(run, value)
    may_be = any(type(atom) in _MAY_BE for _, atom in value.alternatives)
    if may_be and run.state.reach.mask and not run.recording.muted:
        for what in dict.fromkeys(held(run, value)):
            run.lost(node, f"{what} is {why}")
    return unknown(run.state.reach)


def held(run: Run, value: Value) -> Iterator[str]:
    """What there is of the library in a value, in words."""
    return _Looking(run).at(value)


class _Looking:
    """One look into a value. A container that many hold, or that holds itself, is looked into once.

    It is again where it stands less deep than before, since more of what is in it is seen from there.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._depths: dict[tuple[int, str], int] = {}

    def at(self, value: Value, depth: int = 0, words: str = "") -> Iterator[str]:
        """What there is in a value that stands so deep; `words` are what is said before each."""
        for where, atom in value.alternatives:
            if where & self._run.state.reach:
                yield from self._atom(atom, depth, words)

    def _atom(self, atom: Atom, depth: int, words: str) -> Iterator[str]:
        if isinstance(atom, LibObject):
            yield f"{words}`{atom.ref.dotted}`"
        elif isinstance(atom, LibModule):
            yield f"{words}`{atom.module}`"
        elif isinstance(atom, LibInstance):
            yield f"{words}an instance of `{atom.cls.dotted}`"
        elif isinstance(atom, LibMethod):
            yield f"{words}`{atom.cls.member(atom.name).dotted}`"
        elif isinstance(atom, MethodOf):
            yield from self._atom(atom.owner, depth, words)
        elif isinstance(atom, (Managed, Giving)):
            yield from self.at(atom.gives, depth, words)
        elif isinstance(atom, Raised) and atom.holds is not None:
            yield from self._atom(ListRef(atom.holds), depth, words)
        elif isinstance(atom, Function):
            summary = atom.code.summary
            if summary is not None and summary.effects.forwards:
                yield f"{words}`{atom.code.qualname}`, which passes on what it is given,"
        elif isinstance(atom, (Partial, DictRef, ListRef)) and depth < MAX_NESTED:
            words = f"{words}a partial of " if isinstance(atom, Partial) else words
            known = self._depths.get((atom.key, words), MAX_NESTED)
            content = self._run.content(atom.key) if depth < known else None
            if content is not None:
                self._depths[atom.key, words] = depth
                yield from self._content(content, depth + 1, words)

    def _content(self, content: Content, depth: int, words: str) -> Iterator[str]:
        if isinstance(content, PartialContent):
            yield from self.at(content.func, depth, words)
            return
        if isinstance(content, DictContent):
            for key in content.entries:
                yield from self._atom(atom_of(key), depth, words)
        entries = content.entries.values() if isinstance(content, DictContent) else content.elements
        for entry in entries:
            yield from self.at(entry.value.within(entry.releases), depth, words)
        yield from self.at(content.others, depth, words)


def has_library(run: Run, value: Value) -> bool:
    """Whether there is anything of the library in a value."""
    if not any(type(atom) in _MAY_BE for _, atom in value.alternatives):
        return False
    return any(True for _ in held(run, value))
