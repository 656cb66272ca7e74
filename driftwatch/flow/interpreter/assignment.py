"""Assignments of every kind: to names, attributes, items, and tuples of such."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, Entry, ListContent
from driftwatch.flow.domain.frames import KEEP
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.values import (
    Class,
    Const,
    DictRef,
    Function,
    Instance,
    Lazy,
    LibModule,
    ListRef,
    Unknown,
    Value,
    join,
)
from driftwatch.flow.interpreter.annotations import annotated_here
from driftwatch.flow.interpreter.comprehensions import parts_of, take_apart
from driftwatch.flow.interpreter.constants import pairwise
from driftwatch.flow.interpreter.container_writes import delete_item, set_item, set_slice
from driftwatch.flow.interpreter.containers import merge_value, spread_into
from driftwatch.flow.interpreter.escape import has_library, lose
from driftwatch.flow.interpreter.havoc import mutates
from driftwatch.flow.interpreter.library_writes import put_in_place, use_patch
from driftwatch.flow.interpreter.member_writes import set_attribute
from driftwatch.flow.interpreter.names import assign_name
from driftwatch.flow.interpreter.namespaces import is_out_of_sight
from driftwatch.flow.interpreter.objects import content_of
from driftwatch.flow.interpreter.outside import assign_outside
from driftwatch.flow.interpreter.results import unpacked
from driftwatch.flow.interpreter.run import Run, as_alternatives, dict_of, keep, lists_of
from driftwatch.flow.interpreter.sets import OPERATIONS, combined, is_set
from driftwatch.flow.syntax.syntax import dotted_name


def execute_assign(run: Run, node: cst.Assign) -> None:
    value = keep(run, node.value, to=KEEP, parts=_parts(node))
    for target in node.targets:
        assign(run, target.target, value)
        if type(target.target) is cst.Name and target.target.value in run.frame.nonlocals and not _is_seen(run):
            lose(run, value, target, "assigned to a variable of the function round it")


def _is_seen(run: Run) -> bool:
    """Whether the function round this one, whose variables it assigns, is the one that calls it."""
    function, caller = run.frame.function, run.frame.caller
    return function is not None and caller is not None and function.parent is caller.function


def _parts(node: cst.Assign) -> int | None:
    """How many values an assignment to several names must be given; None where that is not fixed."""
    for target in node.targets:
        names = target.target
        # To ask a libcst class whether something is of it is slow, where it is not.
        if type(names) is cst.Tuple or type(names) is cst.List:
            starred = any(isinstance(element, cst.StarredElement) for element in names.elements)
            return None if starred else len(names.elements)
    return None


def execute_annotated(run: Run, node: cst.AnnAssign) -> None:
    if node.value is not None:
        value = run.eval(node.value, to=KEEP)
        if isinstance(value.single(), Unknown):
            known = annotated_here(run, node.annotation.annotation)
            value = known.within(run.state.reach) if known is not None else value
        assign(run, node.target, value)
    elif isinstance(node.target, cst.Attribute):
        known = annotated_here(run, node.annotation.annotation)
        if known is not None and known.alternatives:
            _assign_attribute(run, node.target, known.within(run.state.reach), declared=True)
    elif isinstance(node.target, cst.Name) and run.frame.owner is not None and run.frame.function is None:
        known = annotated_here(run, node.annotation.annotation)
        owner = run.frame.owner
        if known is not None and known.alternatives:
            owner.attributes[node.target.value] = known


def execute_augmented(run: Run, node: cst.AugAssign) -> None:
    before = run.eval(node.target)
    value = run.eval(node.value)
    if isinstance(node.operator, (cst.BitOrAssign, cst.AddAssign)):
        mutates(run, before)
    operation = type(node.operator).__name__.removesuffix("Assign")
    single = before.single()
    if operation in OPERATIONS and isinstance(single, ListRef) and is_set(run, single):
        run.change(single.key, combined(run, OPERATIONS[operation], before, value))
        return
    if isinstance(node.operator, cst.BitOrAssign):
        for _, atom in as_alternatives(before, run.state.reach):
            content = dict_of(run, atom)
            if content is not None and isinstance(atom, DictRef):
                run.change(atom.key, merge_value(run, content, value))
                return
    if isinstance(node.operator, cst.AddAssign):
        for _, atom in as_alternatives(before, run.state.reach):
            if isinstance(atom, ListRef):
                listed = lists_of(run, atom)
                if listed is not None:
                    run.change(atom.key, spread_into(run, listed, value))
                return
    assign(run, node.target, pairwise(run, operation, before, value))


def assign(run: Run, target: cst.CSTNode, value: Value) -> None:
    """Bind any target of an assignment."""
    if type(target) is cst.Name:
        assign_name(run, target.value, value)
    elif type(target) is cst.Attribute:
        _assign_attribute(run, target, value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        take_apart_targets(run, target, value)
    elif isinstance(target, cst.Subscript):
        if isinstance(target.value, cst.Attribute) and target.value.attr.value == "__dict__":
            _assign_by_name(run, target, target.value.value, value)
        owner = run.eval(target.value, callee=True)
        piece = target.slice[0].slice if len(target.slice) == 1 else None
        if isinstance(piece, cst.Index):
            named = piece.value.value if isinstance(piece.value, cst.Name) else None
            set_item(run, owner, run.eval(piece.value), value, target, named)
        elif isinstance(piece, cst.Slice):
            set_slice(run, owner, piece, value)
    elif isinstance(target, cst.StarredElement):
        assign(run, target.value, value)


def _assign_by_name(run: Run, target: cst.Subscript, owner: cst.BaseExpression, value: Value) -> None:
    """``owner.__dict__["name"] = value`` sets an attribute."""
    piece = target.slice[0].slice if len(target.slice) == 1 else None
    for where, key in as_alternatives(run.eval(piece.value), run.state.reach) if isinstance(piece, cst.Index) else ():
        if isinstance(key, Const) and isinstance(key.value, str):
            set_attribute(run, run.eval(owner, callee=True).within(where), key.value, value.within(where))


def take_apart_targets(run: Run, target: cst.Tuple | cst.List, value: Value) -> None:
    """``a, self.b = value``: names are bound by `take_apart`, other targets get their part too."""
    if all(isinstance(e.value, (cst.Name, cst.Tuple, cst.List)) for e in target.elements):
        take_apart(run, target, value)
        return
    value = unpacked(run, target, value)
    for element, part in parts_of(run, target, value):
        assign(run, element.value, part)


def _assign_attribute(run: Run, target: cst.Attribute, value: Value, *, declared: bool = False) -> None:
    owner = run.eval(target.value, callee=True)
    if owner.where(lambda atom: isinstance(atom, Lazy)) and has_library(run, value):
        owner = _looked_at(run, owner)
    name = target.attr.value
    _call_setter(run, owner, name, value, target)
    set_attribute(run, owner, name, value)
    for where, atom in as_alternatives(owner, run.state.reach):
        if not isinstance(atom, (Instance, Class)):
            use_patch(run, atom, name, where, target)
            put_in_place(run, atom, name, value.within(where))
            assign_outside(run, name, value.within(where))
            if isinstance(atom, Lazy) or is_out_of_sight(run, atom, name):
                lose(run, value.within(where), target, "kept in an attribute of an object that is not looked at")
            elif isinstance(atom, Unknown):
                run.asks(atom.parameter)
                run.effects.mutates = True
                lose(run, value.within(where), target, "kept in an attribute of an object that is not known")
    path = dotted_name(target)
    told_apart = content_of(run, owner.single()) is not None
    if path is not None and not declared and not told_apart and not owner.where(lambda a: isinstance(a, LibModule)):
        run.state.forget(path)
        run.state.vars[path] = value


def _call_setter(run: Run, owner: Value, name: str, value: Value, node: cst.CSTNode) -> None:
    """A property of the code base's own is assigned to."""
    for where, atom in as_alternatives(owner, run.state.reach):
        order = lineage(atom.code)[0] if isinstance(atom, Instance) else ()
        setter = next((each.setters[name] for each in order if name in each.setters), None)
        if setter is not None:
            given = ListContent((Entry(where, where, value.within(where)),))
            run.call(Value(((where, Function(setter, atom)),)), Arguments(given), node)


def _looked_at(run: Run, value: Value) -> Value:
    """A value with what was passed over looked at: what it is decides what becomes of what it is given."""
    found = Value()
    for where, atom in value.alternatives:
        known = run.world.modules.look_at(atom) if isinstance(atom, Lazy) else None
        found = join(found, Value(((where, atom),)) if known is None else known.within(where))
    return found


def execute_delete(run: Run, node: cst.Del) -> None:
    targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    for target in targets:
        if isinstance(target, cst.Name):
            run.state.vars.pop(target.value, None)
            run.state.forget(target.value)
        elif isinstance(target, cst.Subscript) and len(target.slice) == 1:
            owner, piece = run.eval(target.value, callee=True), target.slice[0].slice
            if isinstance(piece, cst.Index):
                delete_item(run, owner, run.eval(piece.value))
            elif isinstance(piece, cst.Slice):
                set_slice(run, owner, piece, None)
