"""Whether a thing is an instance of a class: what ``isinstance`` and class patterns ask.

Enters: a thing, and the class as it is known. Leaves: yes, no, or None where that cannot be told; and the states behind
such a test without what is not the library's there.
"""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ClassCode
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Instance,
    Lazy,
    LibInstance,
    LibModule,
    LibObject,
    ListRef,
    Value,
    value_of,
)
from driftwatch.flow.interpreter.run import Run, lists_of
from driftwatch.flow.syntax.syntax import dotted_name
from driftwatch.snapshot.model.standard_bases import PLAIN_BASES, WITHOUT_ATTRIBUTES
from driftwatch.snapshot.model.symbols import Ref

_BY_SHAPE = frozenset({"collections.abc", "typing", "abc", "typing_extensions", "numbers", ""})
"""Where classes are of which a thing may be an instance by what it can do."""
_BUILTIN_TYPES = {"str": str, "int": int, "bool": bool, "float": float, "tuple": tuple}


def is_instance(run: Run, atom: Atom, wanted: Atom | None) -> bool | None:
    """Whether a thing is an instance of a class; None where that is not known."""
    name = wanted.dotted.removeprefix("builtins.") if isinstance(wanted, External) else None
    if isinstance(atom, Const) and name is not None:
        known = _BUILTIN_TYPES.get(name)
        if known is not None:
            return isinstance(atom.value, known)
        return False if atom.value is None or name in ("dict", "list") else None
    if isinstance(atom, DictRef) and (name in _BUILTIN_TYPES or name in ("dict", "list")):
        return name == "dict"
    if isinstance(atom, ListRef) and (name in _BUILTIN_TYPES or name == "dict"):
        content = lists_of(run, atom)
        return name == "tuple" and content.is_tuple if content is not None else None
    if isinstance(wanted, External) and wanted.dotted == "types.ModuleType":
        return True if isinstance(atom, LibModule) else None
    if isinstance(atom, Instance) and isinstance(wanted, Class):
        descends = wanted.code in lineage(atom.code)[0]
        return True if descends else False if atom.site is not None else None
    if isinstance(atom, LibInstance) and isinstance(wanted, (External, Class)) and _is_another(run, atom, wanted):
        return False
    return None


def _is_another(run: Run, atom: LibInstance, wanted: External | Class) -> bool:
    """Whether a class has nothing to do with the library's, whose instance a thing is.

    Somebody may have derived a class from both; nobody says that it is of that one.
    """
    if isinstance(wanted, Class):
        bases = [base.single() for base in lineage(wanted.code)[1]]
        return all(isinstance(each, External) and each.dotted in WITHOUT_ATTRIBUTES for each in bases)
    if wanted.dotted.rpartition(".")[0] in _BY_SHAPE:
        return False
    _, closed = run.history.lineage(atom.cls, run.state.reach)
    return closed and not _descends(run, atom.cls)


def _descends(run: Run, cls: Ref) -> bool:
    """Whether a class of the library, or one that it descends from, has bases from elsewhere that are not bare."""
    order, _ = run.history.lineage(cls, run.state.reach)
    symbols = (epoch.symbol for each in order for epoch in run.history.of(each))
    return any(":" not in base and base not in PLAIN_BASES for symbol in symbols for base in symbol.bases)


def told_apart(run: Run, test: cst.Call, yes: State, no: State) -> None:
    """What a test of a thing's class says of it, if the thing may be the library's.

    Behind ``isinstance(x, C)``, `x` is no instance of the library's where that has nothing to do with `C`. Where that
    does not hold, `x` is none of a class that is a `C`; nor, of ``issubclass(x, C)``, such a class itself. `x` is a
    variable, or an attribute of one that holds an instance of the code base's own.
    """
    if not (isinstance(test.func, cst.Name) and test.func.value in _TESTS and len(test.args) == 2):
        return
    asked, kinds = test.args[0].value, test.args[1].value
    several = [each.value for each in kinds.elements] if isinstance(kinds, cst.Tuple) else [kinds]
    named = [each for each in several if isinstance(each, (cst.Name, cst.Attribute))]
    place, held = _held(run, asked, yes)
    if not any(isinstance(atom, (LibInstance, LibObject, Class, Instance)) for _, atom in held.alternatives):
        return
    wanted = [_looked_at(run, run.eval(each)).single() for each in named]
    if test.func.value == "isinstance" and len(wanted) == len(several) == 1:
        kept = [
            (where, atom)
            for where, atom in held.alternatives
            if not isinstance(atom, LibInstance) or is_instance(run, atom, wanted[0]) is not False
        ]
        if kept and len(kept) < len(held.alternatives):
            yes.vars[place] = value_of(kept)
    is_one = _is_one if test.func.value == "isinstance" else _is_below
    if place in no.vars or place in yes.vars:
        before = no.vars.get(place) or held
        left = [
            (where, UNKNOWN if any(is_one(run, atom, each) for each in wanted) else atom)
            for where, atom in before.alternatives
        ]
        if left != list(before.alternatives):
            no.vars[place] = value_of(left)


_TESTS = frozenset({"isinstance", "issubclass"})


def _looked_at(run: Run, value: Value) -> Value:
    alone = value.single()
    return (run.world.modules.look_at(alone) if isinstance(alone, Lazy) else None) or value


def _is_one(run: Run, atom: Atom, wanted: Atom | None) -> bool:
    """Whether a thing is an instance of a class, be it the library's or of one that the code base derives from it."""
    if isinstance(atom, Class) or (isinstance(atom, LibObject) and atom.is_class):
        return isinstance(wanted, External) and wanted.dotted.removeprefix("builtins.") == "type"
    if isinstance(atom, LibInstance):
        return _descends_from(run, atom.cls, wanted)
    return isinstance(atom, Instance) and _derives_from(run, atom.code, wanted)


def _is_below(run: Run, atom: Atom, wanted: Atom | None) -> bool:
    """Whether a class is one that descends from another, or that one."""
    if isinstance(atom, Class):
        return _derives_from(run, atom.code, wanted)
    return isinstance(atom, LibObject) and atom.is_class and _descends_from(run, atom.ref, wanted)


def _derives_from(run: Run, code: ClassCode, wanted: Atom | None) -> bool:
    bases = (base for each in lineage(code)[0] for _, base in each.library_bases)
    return any(_descends_from(run, base, wanted) for base in bases)


def _descends_from(run: Run, cls: Ref, wanted: Atom | None) -> bool:
    if not (isinstance(wanted, LibObject) and wanted.is_class):
        return False
    order = (cls, *run.history.lineage(cls, run.state.reach)[0])
    return _definition(run, wanted.ref) in (_definition(run, each) for each in order)


def _definition(run: Run, cls: Ref) -> Ref:
    """Where a class is defined, by whatever name it is known."""
    return next((e.symbol.definition for e in run.history.of(cls) if e.symbol.definition is not None), cls)


def _held(run: Run, asked: cst.BaseExpression, yes: State) -> tuple[str, Value]:
    """What a variable or an attribute holds behind a test, and the name by which the state knows it; else nothing."""
    if isinstance(asked, cst.Name):
        return asked.value, yes.vars.get(asked.value, Value())
    place = dotted_name(asked) if isinstance(asked, cst.Attribute) else None
    root = yes.vars.get(place.partition(".")[0]) if place else None
    if place and root is not None and any(isinstance(atom, Instance) for _, atom in root.alternatives):
        return place, yes.vars.get(place) or run.eval(asked)
    return "", Value()
