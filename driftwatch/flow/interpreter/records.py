"""Classes whose constructor Python writes, dataclasses and named tuples: what they are given, their fields hold."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ClassCode
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, Entry
from driftwatch.flow.domain.lineage import is_tuple, lineage
from driftwatch.flow.domain.values import UNKNOWN, Const, Factory, Instance, Value, join, unknown, value_of
from driftwatch.flow.interpreter.member_writes import write_attribute
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.objects import hold
from driftwatch.flow.interpreter.parameters import rest_parameters
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.syntax.syntax import dotted_name, statements
from driftwatch.releases import ReleaseSet

_NO_FIELDS = frozenset({"ClassVar", "KW_ONLY"})


def is_record(code: ClassCode) -> bool:
    """Whether a class of the code base has such a constructor."""
    return is_tuple(code) or any(writes_record(each.decorator) for each in code.node.decorators)


def writes_constructor(code: ClassCode) -> bool:
    """Whether Python writes the constructor of this very class: not where it has one, or is told not to."""
    if "__init__" in code.methods:
        return False
    calls = (each.decorator for each in code.node.decorators if writes_record(each.decorator))
    return is_tuple(code) or any(not (isinstance(call, cst.Call) and _says_no(call)) for call in calls)


def _says_no(call: cst.Call) -> bool:
    given = (each.value for each in call.args if each.keyword is not None and each.keyword.value == "init")
    return any(isinstance(value, cst.Name) and value.value == "False" for value in given)


def field_at(run: Run, owner: Instance, index: int, where: ReleaseSet) -> Value:
    """What is at a place of a named tuple."""
    names = list(fields_of(owner.code)) if is_tuple(owner.code) else []
    if not -len(names) <= index < len(names):
        return unknown(where)
    value = instance_attribute(run, owner, names[index], where, None)
    return unknown(where) if value is None else value


def writes_record(node: cst.CSTNode) -> bool:
    """Whether a decorator, as it is written, makes a record of a class."""
    inner = node.func if isinstance(node, cst.Call) else node
    name = dotted_name(inner) if isinstance(inner, cst.BaseExpression) else None
    return (name or "").rpartition(".")[2] in _RECORDS


_RECORDS = frozenset({"dataclass", "define", "frozen", "mutable"})
"""What decorators are called that write a constructor: those of `dataclasses` and of `attrs`."""


def fill(run: Run, made: Instance, arguments: Arguments, node: cst.CSTNode) -> None:
    """An instance is made: each field is what is given for it, else its default."""
    reach = run.state.reach
    positional = arguments.positional
    maybe = (positional.open | positional.forwarded | arguments.keywords.open | arguments.keywords.forwarded) & reach
    if maybe and run.frame.function is not None:
        run.effects.branches_on_parameters.update(rest_parameters(run.frame.function))
    for i, (name, default) in enumerate(fields_of(made.code).items()):
        given: Entry | None = arguments.keywords.entries.get(name)
        if i < len(positional.elements):
            given = positional.elements[i]
        value = Value() if given is None else given.value.within(given.releases & reach)
        absent = reach - (given.certain if given is not None else value.defined())
        value = join(value, _default(run, default.within(absent), node))
        value = join(value, unknown((absent & maybe) | (reach - value.defined())))
        write_attribute(run, made.code, name, of_any(value))
        hold(run, made, name, value, reach, certain=True)


def _default(run: Run, default: Value, node: cst.CSTNode) -> Value:
    """What a field is that is not given: its default, or what is made for each instance."""
    found = default.only(lambda atom: not isinstance(atom, Factory))
    for where, atom in default.alternatives:
        if isinstance(atom, Factory):
            made = run.call(atom.makes.within(where), NO_ARGUMENTS, node)
            found = join(found, made.within(where))
    return found


def of_any(value: Value) -> Value:
    """What is kept of a field for any instance: text and numbers tell nothing, where it is not known of which one."""
    return value_of(
        (where, UNKNOWN if isinstance(atom, Const) and not isinstance(atom.value, (bool, type(None))) else atom)
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
                    if name.rpartition(".")[2] not in _NO_FIELDS:
                        field = statement.target.value
                        found[field] = current.constants.get(field, Value())
    return found
