"""Attribute reads, on whatever an expression may be."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.enums import Member
from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.taint import depends_on_release, is_tainted, unknown_tainted
from driftwatch.flow.domain.values import (
    NONE,
    UNKNOWN,
    Alternative,
    Atom,
    Class,
    Const,
    Deferred,
    DictRef,
    External,
    Function,
    Giving,
    Instance,
    Lazy,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    ListRef,
    MethodOf,
    NamesOf,
    Namespace,
    Object,
    ParameterMap,
    Partial,
    ProjectModule,
    Raised,
    Replacing,
    SuperOf,
    Unknown,
    Value,
    is_ghost,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.annotations import by_annotation
from driftwatch.flow.interpreter.library import CONSTRUCTOR, use_name
from driftwatch.flow.interpreter.members import attribute_of_any, class_attribute, instance_attribute, super_attribute
from driftwatch.flow.interpreter.namespaces import variable
from driftwatch.flow.interpreter.objects import content_of
from driftwatch.flow.interpreter.registry import attribute_of as modelled_attribute
from driftwatch.flow.interpreter.registry import method_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, escape
from driftwatch.flow.interpreter.sinks import EXPECTING_METHODS
from driftwatch.flow.syntax.survey import CHANGING_METHODS
from driftwatch.flow.syntax.syntax import dotted_name
from driftwatch.releases import EMPTY, ReleaseSet


def read_attribute(run: Run, node: cst.Attribute, *, callee: bool = False) -> Value:
    """The value of ``owner.name``."""
    path = dotted_name(node)
    if path is not None:
        known = run.state.vars.get(path)
        if known is not None:
            rest = run.state.reach - known.defined()
            if not rest:
                return known.within(run.state.reach)
            owner = run.eval(node.value, callee=True).within(rest)
            return join(known.within(run.state.reach), attribute_of(run, owner, node.attr.value, node))
    owner = run.eval(node.value, callee=True)
    value = attribute_of(run, owner, node.attr.value, node)
    if not callee:
        escape(run, value)
        for where, atom in value.alternatives:
            if isinstance(atom, LibObject):
                run.reaches(node, atom.ref, where)
    return value


def attribute_of(run: Run, owner: Value, name: str, node: cst.CSTNode) -> Value:
    """An attribute of a value, alternative by alternative."""
    found: list[Alternative] = []
    alternatives = as_alternatives(owner, run.state.reach)
    if len(alternatives) == 1:
        where, atom = alternatives[0]
        if type(atom) in _ALONE or (type(atom) is Unknown and not atom.tainted):
            return value_of(_read(run, atom, name, where, node))
    chosen = owner.where(is_tainted) if len(alternatives) > 1 else EMPTY
    outer = run.state.conditions
    none, others = EMPTY, EMPTY
    instances = any(type(atom) is LibInstance for _, atom in alternatives)
    for where, atom in alternatives:
        here = where & run.state.reach
        if atom == NONE:
            none |= here
        elif here.mask:
            others |= EMPTY if is_ghost(atom) else here
            if chosen:
                # Which of them is asked a test decides that could not be followed.
                run.state.assume(run.world.identities.test(), True, chosen & here)
            read = _read(run, atom, name, here, node)
            found.extend(_of_perhaps(read, atom, name) if instances and type(atom) is Unknown else read)
            run.state.conditions = outer if chosen else run.state.conditions
    if none:
        run.stumbles("AttributeError", none, none - others)
    return _of_a_guard(owner, value_of(found))


def _of_perhaps(read: list[Alternative], owner: Unknown, name: str) -> list[Alternative]:
    """An attribute of what is not known, where it may be that of an instance of the library's as well."""
    return [(where, Unknown(of=(owner, name)) if atom == UNKNOWN else atom) for where, atom in read]


_ALONE = frozenset({External, Instance, Class, ProjectModule, LibModule})
"""What has attributes of which none is a guard because of what it is itself."""


def _of_a_guard(owner: Value, value: Value) -> Value:
    """An attribute; what is not understood of something that depends on the release may be a guard."""
    guards = depends_on_release(owner)
    for where, atom in owner.alternatives:
        if isinstance(atom, (LibObject, LibMethod)):
            guards |= where
    return unknown_tainted(value, guards) if guards.mask else value


def _read(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if isinstance(atom, (Unknown, Lazy)):
        return _of_unknown(run, atom, name, where, node)
    if isinstance(atom, (LibModule, LibInstance)) or (
        isinstance(atom, LibObject) and atom.is_class and name != "__call__"
    ):
        if name == "__dict__":
            return [(where, NamesOf(atom))]
        if name == "__class__" and isinstance(atom, LibInstance):
            return [(where, LibObject(atom.cls, is_class=True))]
        if name == CONSTRUCTOR and isinstance(atom, LibObject):
            return [(where, LibMethod(atom.ref, name, exact=True, on_class=True))]
        return use_name(run, atom, name, where, node)
    if isinstance(atom, Instance):
        if atom.code is run.frame.owner and run.frame.function is not None:
            run.frame.function.asks_itself.add(name)
        return _of_instance(run, atom, name, where, node)
    if isinstance(atom, Function):
        return _of_function(run, atom, name, where)
    if isinstance(atom, Class):
        return _of_class(run, atom, name, where, node)
    if isinstance(atom, SuperOf):
        return _bound(where, super_attribute(run, atom, name, where, node))
    if isinstance(atom, ProjectModule):
        if name == "__dict__":
            return [(where, Namespace(atom.code))]
        return list(variable(run, atom.code, name, where).alternatives)
    if isinstance(atom, Raised):
        return _of_exception(run, atom, name, where, node)
    if isinstance(atom, (External, Const)):
        if isinstance(atom, External):
            return [(where, _of_external(atom, name))]
        return _of_constant(run, atom, name, where, node)
    if isinstance(atom, (DictRef, ListRef, ParameterMap, Namespace)):
        return [(where, MethodOf(atom, name))]
    return _of_modelled(run, atom, name, where, node)


_NAMES = ("__name__", "__qualname__")


def _of_class(run: Run, atom: Class, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if name in _NAMES:
        return [(where, Const(atom.code.name))]
    return _bound(where, class_attribute(run, atom.code, name, where, node))


def _of_function(run: Run, atom: Function, name: str, where: ReleaseSet) -> list[Alternative]:
    """An attribute of a function of the code base: its name, or what has been put there."""
    if name in _NAMES:
        return [(where, Const(atom.code.name))]
    run.world.dependencies.read(atom.code, name)
    known = atom.code.attributes.get(name, Value()).within(where)
    return [*known.alternatives, *unknown(where - known.defined()).alternatives]


def _of_unknown(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    """An attribute of what was not looked at, or is not known, where there is a way to know more of it."""
    known: Value | None = None
    made_of: str | None = None
    if isinstance(atom, Lazy):
        modules = run.world.modules
        known = modules.enumeration(atom) or modules.written_out(atom) or modules.short_class(atom)
    elif isinstance(atom, Unknown):
        run.asks(atom.parameter)
        made_of = atom.parameter
        run.effects.mutates |= name in CHANGING_METHODS
        known = None if atom.derived else by_annotation(run, atom.parameter)
    if known is None:
        return [(where, UNKNOWN if made_of is None else Unknown(made_of, derived=True, part=True))]
    return list(attribute_of(run, known.within(where), name, node).alternatives)


def _of_test(name: str, where: ReleaseSet) -> Value | None:
    """What a test takes over from the runner's class, by whatever way that is among its bases."""
    return Value(((where, External(f"unittest.TestCase.{name}")),)) if name in _OF_TESTS else None


_OF_TESTS = EXPECTING_METHODS | {"skipTest"}


def _bound(where: ReleaseSet, value: Value | None) -> list[Alternative]:
    return [(where, UNKNOWN)] if value is None else list(value.within(where).alternatives)


def _of_constant(run: Run, atom: Const, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if pure.has_method(atom, name):
        return [(where, MethodOf(atom, name))]
    if isinstance(atom.value, Member) and name not in ("name", "value"):
        return _bound(where, attribute_of_any(run, atom.value.cls, atom, name, where, node))
    try:
        return [(where, pure.attribute(atom, name))]
    except pure.NotPureError:
        return [(where, UNKNOWN)]


def _of_external(atom: External, name: str) -> Atom:
    own = atom.dotted.removeprefix("builtins.")
    return Const(own) if name == "__name__" and raised_of(own).exact else External(f"{atom.dotted}.{name}")


def _of_exception(run: Run, atom: Raised, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if name == "with_traceback":
        return [(where, MethodOf(atom, name))]
    if atom.made is not None:
        return _of_instance(run, atom.made, name, where, node)
    if name == "__class__" and atom.exact and "." not in atom.names[0]:
        return [(where, External(f"builtins.{atom.names[0]}"))]
    if name == "args" and atom.holds is not None:
        return [(where, ListRef(atom.holds))]
    if name in ("args", "msg", "name") and atom.text is not None:
        return [(where, Const((atom.text,)) if name == "args" else Const(atom.text) if name == "msg" else UNKNOWN)]
    return [(where, UNKNOWN)]


def _of_modelled(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    """An attribute of an object of Python's own, or of a function of the library."""
    known = modelled_attribute(run, atom, name, where, node)
    if known is not None:
        return list(known.alternatives)
    if isinstance(atom, (Replacing, Object, Deferred, Giving)) or method_of(atom, name) is not None:
        return [(where, MethodOf(atom, name))]
    function = isinstance(atom, (LibObject, LibMethod))
    itself = name in ("__wrapped__", "__func__", "__call__") if function else name == "__call__"
    return [(where, atom if itself and (function or isinstance(atom, Partial)) else UNKNOWN)]


# -- classes of the code base ------------------------------------------------------------------------------------------


def _of_instance(run: Run, atom: Instance, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if name == "__class__":
        return [(where, Class(atom.code))]
    if name == "__dict__":
        known = atom.site is not None and content_of(run, atom) is not None
        return [(where, DictRef(atom.site) if known and atom.site is not None else UNKNOWN)]
    if method_of(atom, name) is not None and not any(name in each.methods for each in lineage(atom.code)[0]):
        return [(where, MethodOf(atom, name))]
    return _bound(where, instance_attribute(run, atom, name, where, node) or _of_test(name, where))
