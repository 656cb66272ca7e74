"""What a call passes, whatever it calls: what is worth following, and what is lost where nothing can be followed."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, DictContent, Entry, ListContent
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.taint import derived_from, differs_by_release
from driftwatch.flow.domain.values import (
    TAINTED,
    UNKNOWN,
    Atom,
    Const,
    DictRef,
    Function,
    Instance,
    LibModule,
    LibObject,
    ListRef,
    Partial,
    Unknown,
    Value,
    join,
    unknown,
)
from driftwatch.flow.domain.within_containers import tainted_within_containers
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.havoc import havoc
from driftwatch.flow.interpreter.run import Run, escape
from driftwatch.flow.interpreter.sinks import only_says
from driftwatch.flow.uses import Location

_WITH_DEFAULT = frozenset({"get", "getenv", "setdefault"})
"""What looks something up, and gives its second argument where there is nothing."""


def at_call(run: Run, arguments: Arguments, node: cst.CSTNode) -> Arguments:
    """The arguments as they are when another call passes them on: they first became arguments in this one."""
    location = run.location(node) if arguments.positional.elements or arguments.keywords.entries else None

    def mark(entry: Entry, name: str | None = None) -> Entry:
        if entry.location is not None:
            return entry
        return replace(entry, location=location, written=written_in(run, node, name))

    return Arguments(
        replace(arguments.positional, elements=tuple(mark(e) for e in arguments.positional.elements)),
        replace(arguments.keywords, entries={k: mark(e, str(k)) for k, e in arguments.keywords.entries.items()}),
    )


def written_in(run: Run, node: cst.CSTNode, name: str | None) -> Location | None:
    """Where the name of a keyword stands in a call itself."""
    for arg in node.args if name is not None and isinstance(node, cst.Call) else ():
        if arg.keyword is not None and arg.keyword.value == name:
            place = run.location(arg)
            return replace(place, end_line=place.line, end_column=place.column + len(arg.keyword.value))
    return None


def is_interesting(run: Run, arguments: Arguments) -> bool:
    """Whether a call passes something of the library, or text that names it."""
    seen: set[int] = set()
    return any(_interesting(run, atom, seen) for value in arguments.values() for _, atom in value.alternatives)


def _interesting(run: Run, atom: Atom, seen: set[int]) -> bool:
    """Whether there is something of the library in a thing; `seen` are the objects and lists asked already."""
    if touches_library(atom) or isinstance(atom, (Function, Partial)):
        return True
    if isinstance(atom, Const):
        return isinstance(atom.value, str) and run.target.is_named_by(atom.value)
    if isinstance(atom, Instance) and atom.site is not None and atom.site not in seen:
        seen.add(atom.site)
        held = run.content(atom.site)
        return isinstance(held, DictContent) and any(
            (not isinstance(a, Instance) and _interesting(run, a, seen)) or differs_by_release(e.value)
            for e in held.entries.values()
            for _, a in e.value.alternatives
        )
    if isinstance(atom, ListRef) and atom.key not in seen:
        seen.add(atom.key)
        content = run.content(atom.key)
        return isinstance(content, ListContent) and any(
            not isinstance(a, (ListRef, DictRef)) and _interesting(run, a, seen)
            for e in content.elements
            for _, a in e.value.alternatives
        )
    return False


PASSED_ON = "passed to a function that cannot be followed"


def unknown_call(
    run: Run, arguments: Arguments, node: cst.CSTNode, callee: Atom | None = None, *, reads_only: bool = False
) -> Value:
    """A call of something of which nothing is known: what it is given gets out of sight.

    What it gives for something of the library may be a guard. `reads_only`: it leaves what it is given as it is.
    """
    values = arguments.values()
    given = [_as_given(run, value) for value in values]
    if not reads_only:
        havoc(run, arguments, node)
    says = bool(values) and only_says(node)
    for value in values:
        if says:
            escape(run, value)
        else:
            lose(run, value, node, PASSED_ON)
    run.may_raise()
    reach = run.state.reach
    made = derived_from(reach, *given, Value(((reach, callee or UNKNOWN),)))
    return join(made, _default(arguments, node).within(reach))


def _default(arguments: Arguments, node: cst.CSTNode) -> Value:
    """A text that a call gives where it finds nothing, as it is written: ``os.environ.get(key, "text")``."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, (cst.Attribute, cst.Name)):
        return Value()
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else node.func.value
    default = argument(arguments, 1, "default") if name in _WITH_DEFAULT else None
    return (
        Value()
        if default is None
        else default.only(lambda atom: isinstance(atom, Const) and isinstance(atom.value, str))
    )


_LOOKED_AT = frozenset({LibModule, LibObject, ListRef, DictRef})


def _as_given(run: Run, value: Value) -> Value:
    """An argument, tainted where it is a module, class or function of the library: what it has may be looked at.

    So is a container that holds what depends on the release.
    """
    if not any(type(atom) in _LOOKED_AT for _, atom in value.alternatives):
        return value
    given = value.where(lambda atom: isinstance(atom, (LibModule, LibObject)))
    value = tainted_within_containers(value, run.content)
    return join(value, Value(((given, TAINTED),))) if given else value


def argument(arguments: Arguments, index: int, name: str | None = None) -> Value | None:
    """The value of a parameter of a modelled function."""
    if index < len(arguments.positional.elements):
        return arguments.positional.elements[index].value
    entry = arguments.keywords.entries.get(name) if name is not None else None
    return entry.value if entry is not None else None


def one_argument(arguments: Arguments, index: int, name: str | None = None) -> Atom | None:
    """What a parameter of a modelled function is, where that is one thing whatever the release."""
    value = argument(arguments, index, name)
    return value.single() if value is not None else None


def first_argument(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What a function gives that gives what it is given."""
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else value


def passes_constants(run: Run, arguments: Arguments) -> bool:
    """Whether a call passes text or a number that is known, or a list of such."""
    return any(_is_constant(run, atom) for value in arguments.values() for _, atom in value.alternatives)


def _is_constant(run: Run, atom: Atom) -> bool:
    content = run.content(atom.key) if isinstance(atom, ListRef) else None
    if isinstance(content, ListContent):
        return any(isinstance(a, Const) for entry in content.elements for _, a in entry.value.alternatives)
    return isinstance(atom, Const) and atom.value is not None


def asks(run: Run, atom: Atom) -> None:
    """What happens here depends on a parameter of the current function, if the atom is one."""
    if isinstance(atom, Unknown):
        run.asks(atom.parameter)
