"""The law of conservation: what a code base has of the library is followed, or it is said where it gets out of sight.

Enters: a value that goes where nothing is known of what becomes of it. Leaves: an unknown one in its place, and an
`Unresolved` for each thing of the library in it: a function or class, a module, an instance, a partial or method of
such, a function of the code base that passes on what it is given, or a container that holds any of these.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from driftwatch.flow.domain.state import Content, DictContent, PartialContent
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
    if not run.frame.muted and run.state.reach.mask and any(type(atom) in _MAY_BE for _, atom in value.alternatives):
        for what in dict.fromkeys(held(run, value)):
            run.lost(node, f"{what} is {why}")
    return unknown(run.state.reach)


def held(run: Run, value: Value, depth: int = 0) -> Iterator[str]:
    """What there is of the library in a value, in words."""
    for where, atom in value.alternatives:
        if where & run.state.reach:
            yield from _held(run, atom, depth)


def _held(run: Run, atom: Atom, depth: int) -> Iterator[str]:
    if isinstance(atom, LibObject):
        yield f"`{atom.ref.dotted}`"
    elif isinstance(atom, LibModule):
        yield f"`{atom.module}`"
    elif isinstance(atom, LibInstance):
        yield f"an instance of `{atom.cls.dotted}`"
    elif isinstance(atom, LibMethod):
        yield f"`{atom.cls.member(atom.name).dotted}`"
    elif isinstance(atom, MethodOf):
        yield from _held(run, atom.owner, depth)
    elif isinstance(atom, (Managed, Giving)):
        yield from held(run, atom.gives, depth)
    elif isinstance(atom, Raised) and atom.holds is not None:
        yield from _held(run, ListRef(atom.holds), depth)
    elif isinstance(atom, Function):
        summary = atom.code.summary
        if summary is not None and summary.forwards:
            yield f"`{atom.code.qualname}`, which passes on what it is given,"
    elif isinstance(atom, (Partial, DictRef, ListRef)) and depth < MAX_NESTED:
        content = run.content(atom.key)
        if content is not None:
            inside = _in_content(run, content, depth + 1)
            yield from (f"a partial of {what}" for what in inside) if isinstance(atom, Partial) else inside


def _in_content(run: Run, content: Content, depth: int) -> Iterator[str]:
    if isinstance(content, PartialContent):
        yield from held(run, content.func, depth)
        return
    if isinstance(content, DictContent):
        for key in content.entries:
            yield from _held(run, atom_of(key), depth)
    entries = content.entries.values() if isinstance(content, DictContent) else content.elements
    for entry in entries:
        yield from held(run, entry.value.within(entry.releases), depth)
    yield from held(run, content.others, depth)


def has_library(run: Run, value: Value) -> bool:
    """Whether there is anything of the library in a value."""
    if not any(type(atom) in _MAY_BE for _, atom in value.alternatives):
        return False
    return any(True for _ in held(run, value))
