"""Classes whose constructor Python writes, dataclasses and named tuples: what they are given, their fields hold."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.attributes import instance_attribute, lineage, write_attribute
from driftwatch.flow.code import ClassCode
from driftwatch.flow.run import Run
from driftwatch.flow.state import Arguments, Entry
from driftwatch.flow.syntax import dotted_name, statements
from driftwatch.flow.values import UNKNOWN, Const, External, Instance, Value, join, unknown, value_of
from driftwatch.releases import ReleaseSet

_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
_CLASS_VARIABLE = "ClassVar"


def is_record(code: ClassCode) -> bool:
    """Whether a class of the code base has such a constructor."""
    return _is_tuple(code) or any(_decorates(decorator) for decorator in code.node.decorators)


def _is_tuple(code: ClassCode) -> bool:
    return any(
        isinstance(atom, External) and atom.dotted in _TUPLES
        for base in code.base_values
        for _, atom in base.alternatives
    )


def field_at(run: Run, owner: Instance, index: int, where: ReleaseSet) -> Value:
    """What is at a place of a named tuple."""
    names = list(fields_of(owner.code)) if _is_tuple(owner.code) else []
    if not -len(names) <= index < len(names):
        return unknown(where)
    value = instance_attribute(run, owner.code, names[index], where, None, owner)
    return unknown(where) if value is None else value


def _decorates(decorator: cst.Decorator) -> bool:
    node = decorator.decorator
    name = dotted_name(node.func if isinstance(node, cst.Call) else node) or ""
    return name.rpartition(".")[2] == "dataclass"


def fill(run: Run, code: ClassCode, arguments: Arguments) -> None:
    """An instance is made: each field is what is given for it, else its default."""
    reach = run.state.reach
    positional = arguments.positional
    maybe = (positional.open | positional.forwarded | arguments.keywords.open | arguments.keywords.forwarded) & reach
    for i, (name, default) in enumerate(fields_of(code).items()):
        given: Entry | None = arguments.keywords.entries.get(name)
        if i < len(positional.elements):
            given = positional.elements[i]
        value = Value() if given is None else given.value.within(given.releases & reach)
        absent = reach - (given.certain if given is not None else value.defined())
        value = join(value, default.within(absent))
        value = _flags(join(value, unknown((absent & maybe) | (reach - value.defined()))))
        write_attribute(run, code, name, value)


def _flags(value: Value) -> Value:
    """What is kept of a field: of many instances, which one holds which function or name is not followed."""
    return value_of(
        (where, atom if isinstance(atom, Const) and isinstance(atom.value, (bool, type(None))) else UNKNOWN)
        for where, atom in value.alternatives
    )


def fields_of(code: ClassCode) -> dict[str, Value]:
    """The fields in order, those of the bases first, each with its default."""
    found: dict[str, Value] = {}
    for current in reversed(lineage(code)[0]):
        if is_record(current):
            for statement in statements(current.node.body):
                if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                    annotation = statement.annotation.annotation
                    name = dotted_name(annotation.value if isinstance(annotation, cst.Subscript) else annotation) or ""
                    if name.rpartition(".")[2] != _CLASS_VARIABLE:
                        field = statement.target.value
                        found[field] = current.constants.get(field, Value())
    return found
