"""What makes a class when it is called: ``type``, ``namedtuple``, ``NamedTuple`` and ``make_dataclass``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, DictContent, Entry
from driftwatch.flow.domain.values import Const, External, Value
from driftwatch.flow.interpreter.arguments import argument, unknown_call
from driftwatch.flow.interpreter.containers import elements_of
from driftwatch.flow.interpreter.made_classes import make_class
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run, dict_of

Field = tuple[str, Value | None]
"""A field's name, and its default where it has one."""


def class_by_type(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``type(name, bases, members)``."""
    name, bases, members = (argument(arguments, i) for i in range(3))
    parts = elements_of(run, bases) if bases is not None else None
    atom = members.single() if members is not None else None
    content = dict_of(run, atom) if atom is not None else None
    if parts is None or content is None or content.open or content.forwarded:
        return unknown_call(run, arguments, node)
    return make_class(run, node, _text(name), [part.value for part in parts], _named(content))


def _named(content: DictContent) -> dict[str, Value]:
    return {key: entry.value.within(entry.releases) for key, entry in content.entries.items() if isinstance(key, str)}


def _text(value: Value | None) -> str:
    atom = value.single() if value is not None else None
    return atom.value if isinstance(atom, Const) and isinstance(atom.value, str) else ""


@model("collections.namedtuple", "typing.NamedTuple")
def _named_tuple(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``namedtuple(name, "a b", defaults=(1,))`` and ``NamedTuple(name, [("a", int), ("b", int)])``."""
    fields = _fields(run, argument(arguments, 1, "field_names"))
    if fields is None:
        return unknown_call(run, arguments, node)
    defaults = arguments.keywords.entries.get("defaults")
    parts = elements_of(run, defaults.value) if defaults is not None else None
    names = [name for name, _ in fields]
    members = dict(zip(reversed(names), (part.value for part in reversed(parts or ())), strict=False))
    base = Value(((run.state.reach, External("typing.NamedTuple")),))
    return make_class(run, node, _text(argument(arguments, 0)), [base], members, fields=names)


@model("dataclasses.make_dataclass")
def _dataclass(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``make_dataclass(name, ["a", ("b", int), ("c", int, field(default=1))], bases=(), namespace={})``."""
    fields = _fields(run, argument(arguments, 1, "fields"))
    bases = _keyword(run, arguments, "bases")
    space = arguments.keywords.entries.get("namespace")
    content = dict_of(run, atom) if space is not None and (atom := space.value.single()) is not None else None
    if fields is None or bases is None or (space is not None and content is None):
        return unknown_call(run, arguments, node)
    members = {name: default for name, default in fields if default is not None}
    members.update(_named(content) if content is not None else {})
    names = [name for name, _ in fields]
    return make_class(
        run, node, _text(argument(arguments, 0)), [e.value for e in bases], members, fields=names, record=True
    )


def _keyword(run: Run, arguments: Arguments, name: str) -> Sequence[Entry] | None:
    entry = arguments.keywords.entries.get(name)
    return () if entry is None else elements_of(run, entry.value)


def _fields(run: Run, value: Value | None) -> list[Field] | None:
    """The fields that a call is given, as text or one by one; None where they are not known."""
    if value is None:
        return None
    text = _text(value)
    if text:
        return [(name, None) for name in text.replace(",", " ").split()]
    found: list[Field] = []
    for part in elements_of(run, value) or ():
        name = _text(part.value) or _text(_part(run, part.value, 0))
        if not name:
            return None
        found.append((name, _part(run, part.value, 2) if not _text(part.value) else None))
    return found


def _part(run: Run, value: Value, index: int) -> Value | None:
    """What stands at a place of a field's tuple; None where it is shorter."""
    parts = elements_of(run, value)
    return parts[index].value if parts is not None and index < len(parts) else None
