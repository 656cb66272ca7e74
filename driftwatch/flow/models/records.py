"""What `dataclasses`, `attrs` and named tuples do with records: fields, changed copies, and dicts of them."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, DictContent, Entry
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Alternative,
    Factory,
    Instance,
    Key,
    LibInstance,
    Value,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, one_argument, unknown_call
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.member_writes import write_attribute
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.objects import content_of, hold, make
from driftwatch.flow.interpreter.records import fields_of, is_record, of_any
from driftwatch.flow.interpreter.registry import method, model
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.snapshot.model.standard_bases import NAMED_TUPLES


@model("dataclasses.field", "attr.field", "attr.ib", "attrs.field")
def _field(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.field``: what the class body holds for it is the default."""
    reach = run.state.reach
    default, factory = (arguments.keywords.entries.get(name) for name in ("default", "default_factory"))
    if default is None and factory is None:
        factory = arguments.keywords.entries.get("factory")
    if default is not None:
        return default.value
    return Value(((reach, Factory(factory.value)),)) if factory is not None else Value()


@model("dataclasses.replace", "attr.evolve", "attrs.evolve")
def _replace(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.replace``: another instance of the same class."""
    value = argument(arguments, 0)
    if value is None or not value.where(lambda atom: isinstance(atom, (LibInstance, Instance))):
        return unknown_call(run, arguments, node)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Instance) and is_record(atom.code):
            found.extend(_with_changes(run, atom, arguments.keywords, node).within(where).alternatives)
        else:
            found.append((where, atom if isinstance(atom, LibInstance) else UNKNOWN))
    return value_of(found)


@method(*(f"{base}._replace" for base in NAMED_TUPLES))
def _replace_in_tuple(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    this = _this(arguments)
    return unknown_call(run, arguments, node) if this is None else _with_changes(run, this, arguments.keywords, node)


@model("dataclasses.asdict", "attr.asdict", "attrs.asdict")
def _asdict(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.asdict``."""
    this = _this(arguments)
    return unknown(run.state.reach) if this is None else _as_dict(run, this, node)


@method(*(f"{base}._asdict" for base in NAMED_TUPLES))
def _tuple_as_dict(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    this = _this(arguments)
    return unknown_call(run, arguments, node) if this is None else _as_dict(run, this, node)


def _this(arguments: Arguments) -> Instance | None:
    atom = one_argument(arguments, 0)
    return atom if isinstance(atom, Instance) and is_record(atom.code) else None


@model("dataclasses.astuple")
def _taken_apart(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.astuple``: what is in a record is copied, however deep."""
    value = argument(arguments, 0)
    for where, atom in value.alternatives if value is not None else ():
        content = content_of(run, atom)
        for entry in content.entries.values() if content is not None else ():
            lose(run, entry.value.within(entry.releases & where), node, "copied out of a record")
    return unknown_call(run, arguments, node, reads_only=True)


@model("types.SimpleNamespace")
def _namespace(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``types.SimpleNamespace``: an instance that holds what it is given."""
    reach = run.state.reach
    made = make(run, run.world.namespace, node)
    assert made.site is not None
    run.state.heap[made.site] = arguments.keywords
    return Value(((reach, made),))


def _with_changes(run: Run, this: Instance, changes: DictContent, node: cst.CSTNode) -> Value:
    """A new record with other values in some of its fields."""
    reach = run.state.reach
    content = content_of(run, this)
    made = make(run, this.code, node)
    instance = Value(((reach, made),))
    if content is None:
        content = DictContent(open=reach)
    assert made.site is not None
    run.state.heap[made.site] = content
    for name, entry in changes.entries.items():
        assert isinstance(name, str)
        write_attribute(run, made.code, name, of_any(entry.value.within(entry.releases & reach)))
        hold(run, made, name, entry.value, entry.releases & reach, certain=entry.releases <= entry.certain)
    if changes.open & reach:
        run.state.heap[made.site] = loosened(run.state.heap[made.site], changes.open & reach)
    return instance


def _as_dict(run: Run, this: Instance, node: cst.CSTNode) -> Value:
    """A record as a dict: it has all its fields, whatever they hold."""
    reach = run.state.reach
    entries: dict[Key, Entry] = {}
    for name in fields_of(this.code):
        held = instance_attribute(run, this, name, reach, None)
        trace = (run.step(node, f"`{name}` is a field of `{this.code.name}`"),)
        entries[name] = Entry(reach, reach, unknown(reach) if held is None else held, trace)
    return run.new_dict(node, DictContent(entries))


EXAMPLES = {
    "a_named_tuple_as_keywords": """
        from typing import NamedTuple

        import lib.comm as comm


        class Options(NamedTuple):
            rank: int = 0
            group: object = None


        def run():
            return comm.create(1, **Options()._asdict())  #! DW101 group 0.1.0 raises


        def run_replaced():
            return comm.create(1, **Options()._replace(rank=1)._asdict())  #! DW101 group 0.1.0 raises
        """,
    "a_dataclass_as_keywords": """
        from dataclasses import asdict, dataclass, replace

        import lib.comm as comm


        @dataclass
        class Options:
            rank: int = 0
            group: object = None


        def run():
            return comm.create(1, **asdict(replace(Options(), rank=1)))  #! DW101 group 0.1.0 raises
        """,
}
