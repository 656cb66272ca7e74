"""Attribute reads, on whatever an expression may be."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow import pure
from driftwatch.flow.annotations import by_annotation
from driftwatch.flow.code import ClassCode
from driftwatch.flow.enums import Member
from driftwatch.flow.exceptions import raised_of
from driftwatch.flow.library import CONSTRUCTOR, class_member, instance_member, use_name
from driftwatch.flow.run import Run, as_alternatives, escape
from driftwatch.flow.shared import CONTENTS, keep_one, open_attribute, share_attribute
from driftwatch.flow.state import NO_ARGUMENTS, PartialContent
from driftwatch.flow.survey import CHANGING_METHODS
from driftwatch.flow.syntax import dotted_name
from driftwatch.flow.values import (
    NONE,
    UNKNOWN,
    Alternative,
    ArgSpecOf,
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Function,
    Instance,
    Lazy,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    ListRef,
    MethodOf,
    NamesOf,
    ParameterInfo,
    ParameterMap,
    Partial,
    ProjectModule,
    Raised,
    Replacing,
    SignatureOf,
    SuperOf,
    Unknown,
    Value,
    anonymous,
    depends_on_release,
    is_tainted,
    join,
    tainted_within,
    tells,
    unknown,
    unknown_tainted,
    value_of,
)
from driftwatch.releases import EMPTY, ReleaseSet


def read_attribute(run: Run, node: cst.Attribute, *, callee: bool = False) -> Value:
    """The value of ``owner.name``."""
    path = dotted_name(node)
    if path is not None:
        known = run.state.vars.get(path)
        if known is not None:
            return known.within(run.state.reach)
    owner = run.eval(node.value, callee=True)
    value = attribute_of(run, owner, node.attr.value, node)
    if not callee:
        escape(value)
        for where, atom in value.alternatives:
            if isinstance(atom, LibObject):
                run.reaches(node, atom.ref, where)
    return value


def attribute_of(run: Run, owner: Value, name: str, node: cst.CSTNode) -> Value:
    """An attribute of a value, alternative by alternative."""
    found: list[Alternative] = []
    alternatives = as_alternatives(owner, run.state.reach)
    chosen = owner.where(is_tainted) if len(alternatives) > 1 else EMPTY
    outer = run.state.conditions
    none, others = EMPTY, EMPTY
    for where, atom in alternatives:
        here = where & run.state.reach
        if atom == NONE:
            none |= here
        elif here:
            others |= here
            if chosen:
                # Which of them is asked a test decides that could not be followed.
                run.state.assume(run.world.identities.test(), True, chosen & here)
            found.extend(_read(run, atom, name, here, node))
            run.state.conditions = outer if chosen else run.state.conditions
    if none:
        run.stumbles("AttributeError", none, none - others)
    return _of_a_guard(owner, value_of(found))


def _of_a_guard(owner: Value, value: Value) -> Value:
    """An attribute; what is not understood of something that depends on the release may be a guard."""
    guards = depends_on_release(owner) | owner.where(lambda atom: isinstance(atom, (LibObject, LibMethod)))
    return unknown_tainted(value, guards) if guards else value


def _read(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if isinstance(atom, (LibModule, LibInstance)) or (isinstance(atom, LibObject) and atom.is_class):
        if name == "__dict__":
            return [(where, NamesOf(atom))]
        if name == "__class__" and isinstance(atom, LibInstance):
            return [(where, LibObject(atom.cls, is_class=True))]
        if name == CONSTRUCTOR and isinstance(atom, LibObject):
            return [(where, LibMethod(atom.ref, name, exact=True, on_class=True))]
        return use_name(run, atom, name, where, node)
    if isinstance(atom, (LibObject, LibMethod, Partial)):
        return _of_callable(run, atom, name, where, node)
    if isinstance(atom, Instance):
        return _bound(where, instance_attribute(run, atom.code, name, where, node, atom) or _of_test(name, where))
    if isinstance(atom, Class):
        return _bound(where, class_attribute(run, atom.code, name, where))
    if isinstance(atom, SuperOf):
        return _bound(where, super_attribute(run, atom.code, name, where, node))
    if isinstance(atom, ProjectModule):
        value = run.world.modules.attribute(atom.code, name, where)
        return list(value.alternatives)
    if isinstance(atom, (External, Raised)):
        return [(where, _of_external(atom, name) if isinstance(atom, External) else _of_exception(atom, name))]
    if isinstance(atom, Const):
        return _of_constant(run, atom, name, where, node)
    if isinstance(atom, (DictRef, ListRef, ParameterMap, Replacing)):
        return [(where, MethodOf(atom, name))]
    if isinstance(atom, SignatureOf):
        return [(where, _of_signature(atom, name))]
    if isinstance(atom, ArgSpecOf):
        return [(where, _of_argspec(atom.parameters, name))]
    if isinstance(atom, ParameterInfo):
        return [(where, _of_parameter(atom, name))]
    return _of_unknown(run, atom, name, where, node)


def _of_unknown(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    """An attribute of what was not looked at, or is not known, where there is a way to know more of it."""
    known: Value | None = None
    if isinstance(atom, Lazy):
        known = run.world.modules.enumeration(atom)
    elif isinstance(atom, Unknown):
        run.asks(atom.parameter)
        run.frame.fills |= name in CHANGING_METHODS
        known = None if atom.derived else by_annotation(run, atom.parameter)
    if known is None:
        return [(where, UNKNOWN)]
    return list(attribute_of(run, known.within(where), name, node).alternatives)


def _of_test(name: str, where: ReleaseSet) -> Value | None:
    """What a test takes over from the runner's class, by whatever way that is among its bases."""
    return Value(((where, External(f"unittest.TestCase.{name}")),)) if name == "skipTest" else None


def _bound(where: ReleaseSet, value: Value | None) -> list[Alternative]:
    return [(where, UNKNOWN)] if value is None else list(value.within(where).alternatives)


def _of_constant(run: Run, atom: Const, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    if pure.has_method(atom, name):
        return [(where, MethodOf(atom, name))]
    if isinstance(atom.value, Member) and name not in ("name", "value"):
        return _bound(where, instance_attribute(run, atom.value.cls, name, where, node, atom))
    try:
        return [(where, pure.attribute(atom, name))]
    except pure.NotPureError:
        return [(where, UNKNOWN)]


def _of_external(atom: External, name: str) -> Atom:
    own = atom.dotted.removeprefix("builtins.")
    return Const(own) if name == "__name__" and raised_of(own).exact else External(f"{atom.dotted}.{name}")


def _of_exception(atom: Raised, name: str) -> Atom:
    if name == "__class__" and atom.exact and "." not in atom.names[0]:
        return External(f"builtins.{atom.names[0]}")
    if name in ("args", "msg", "name") and atom.text is not None:
        return Const((atom.text,)) if name == "args" else Const(atom.text) if name == "msg" else UNKNOWN
    return MethodOf(atom, name) if name == "with_traceback" else UNKNOWN


def _of_signature(atom: SignatureOf, name: str) -> Atom:
    if name in ("bind", "bind_partial"):
        return MethodOf(atom, name)
    return atom.parameters if name == "parameters" else UNKNOWN


def _of_argspec(parameters: ParameterMap, name: str) -> Atom:
    def named(*kinds: str) -> tuple[str, ...]:
        return tuple(p.name for p in parameters.parameters if p.kind in kinds)

    if name == "args":
        return Const(named("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD"))
    if name == "kwonlyargs":
        return Const(named("KEYWORD_ONLY"))
    if name in ("varargs", "varkw"):
        found = named("VAR_POSITIONAL" if name == "varargs" else "VAR_KEYWORD")
        return Const(found[0] if found else None)
    return UNKNOWN


def _of_callable(
    run: Run, atom: LibObject | LibMethod | Partial, name: str, where: ReleaseSet, node: cst.CSTNode
) -> list[Alternative]:
    if name == "__call__" or not isinstance(atom, Partial):
        return [(where, atom if name in ("__wrapped__", "__func__", "__call__") else UNKNOWN)]
    content = run.content(atom.key)
    if not isinstance(content, PartialContent):
        return [(where, UNKNOWN)]
    if name == "func":
        return as_alternatives(content.func, where)
    if name == "args":
        return as_alternatives(run.new_list(node, replace(content.positional, is_tuple=True)), where)
    return as_alternatives(run.new_dict(node, content.keywords), where) if name == "keywords" else [(where, UNKNOWN)]


def _of_parameter(atom: ParameterInfo, name: str) -> Atom:
    if name == "name":
        return Const(atom.name)
    if name == "kind":
        return External(f"inspect.Parameter.{atom.kind}")
    if name in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD", "empty"):
        return External(f"inspect.Parameter.{name}")
    if name == "default" and atom.required:
        return External("inspect.Parameter.empty")
    return UNKNOWN


# -- classes of the code base ------------------------------------------------------------------------------------------


def lineage(code: ClassCode) -> tuple[list[ClassCode], list[Value]]:
    """A class and its bases in the code base, in lookup order, and the other bases' values."""
    order: list[ClassCode] = []
    others: list[Value] = []
    queue = [code]
    while queue:
        current = queue.pop(0)
        if current in order:
            continue
        order.append(current)
        for base in current.base_values:
            codes = [a.code for _, a in base.alternatives if isinstance(a, Class)]
            queue.extend(codes)
            rest = base.only(lambda a: not isinstance(a, Class))
            if rest.alternatives:
                others.append(rest)
    return order, others


def instance_attribute(
    run: Run, code: ClassCode, name: str, where: ReleaseSet, node: cst.CSTNode | None, bound: Atom
) -> Value | None:
    """An attribute of an instance of a code base's class; None when nothing is known of it."""
    order, others = lineage(code)
    found = _ever_assigned(run, order, name, where, bare=not any(base.where(_of_library) for base in others))
    if found is not None:
        for module in dict.fromkeys((code.module, run.frame.module)):
            if name in module.set_outside:
                found = join(found, _set_outside(module.set_outside[name], where))
        return _assigned(run, order, name, found, where)
    alternatives: list[Alternative] = []
    left = where
    for current, everywhere in inheriting(order, where):
        here = everywhere & left
        if not here:
            continue
        if name in current.methods:
            method = current.methods[name]
            if method.kind == "property":
                if node is None:
                    return None
                value = run.call(Value(((here, Function(method, bound)),)), NO_ARGUMENTS, node)
                alternatives.extend(value.alternatives)
            else:
                owner: Atom | None = bound
                if method.kind in ("static", "class"):
                    owner = None if method.kind == "static" else Class(code)
                alternatives.append((here, Function(method, owner)))
        elif name in current.decorated:
            alternatives.extend(_bound_to(bound, current.decorated[name].within(here)))
        elif name in current.constants:
            run.state.adopt(current.heap)
            alternatives.extend(current.constants[name].within(here).alternatives)
        else:
            continue
        left -= here
    sure = node is not None and not _may_be_brought(run, order, name)
    inherited = _inherited(run, others, name, left, node if sure else None) if left else Value()
    if left == where:
        return inherited
    return join(value_of(alternatives), unknown(left) if inherited is None else inherited)


def _bound_to(owner: Atom, value: Value) -> list[Alternative]:
    return [(where, Function(a.code, owner) if isinstance(a, Function) else a) for where, a in value.alternatives]


def _of_library(atom: Atom) -> bool:
    return isinstance(atom, LibObject)


def _ever_assigned(run: Run, order: list[ClassCode], name: str, where: ReleaseSet, *, bare: bool) -> Value | None:
    """What was ever assigned to an attribute of an instance, in the class or one of its bases.

    `bare`: none of the bases is the library's.
    """
    found: Value | None = None
    for current in order:
        known = current.attributes.get(name)
        if known is not None:
            if any(getattr(atom, "key", None) is not None for _, atom in known.alternatives):
                run.world.dependencies.read_early(current, CONTENTS)
            run.state.adopt(current.heap)
            value = known.within(where)
            found = value if found is None else join(found, value)
    # Where nothing at all is known, it makes no difference when it turns out that it may be anything.
    nothing = bare and found is None and not any(name in each.methods or name in each.constants for each in order)
    for current in order:
        run.world.dependencies.read(current, anything(name) if nothing else name)
    return found


def anything(name: str) -> str:
    """An attribute as a place of which it does not matter that there is something unknown in it."""
    return f"{name}?"


def inheriting(order: list[ClassCode], where: ReleaseSet) -> list[tuple[ClassCode, ReleaseSet]]:
    """The classes of a lineage, each with the releases in which the first one descends from it."""
    reached = {order[0]: where}
    for current in order:
        for base in current.base_values:
            for there, atom in base.alternatives:
                if isinstance(atom, Class):
                    here = reached.get(current, EMPTY) & there
                    reached[atom.code] = reached.get(atom.code, EMPTY) | here
    return [(current, reached.get(current, EMPTY)) for current in order]


def _set_outside(constants: tuple[object, ...] | None, where: ReleaseSet) -> Value:
    """What an attribute may be that is assigned on an object nobody can tell."""
    known = constants if constants is not None else (...,)
    plain = (bool, int, float, str, type(None))
    return value_of((where, Const(value) if isinstance(value, plain) else UNKNOWN) for value in known)


def _assigned(run: Run, order: list[ClassCode], name: str, value: Value, where: ReleaseSet) -> Value:
    """An attribute where it was ever assigned; where it never was, reading it is an AttributeError."""
    gap = where - value.defined()
    if not gap or any(name in c.methods or name in c.constants or "__getattr__" in c.methods for c in order):
        return join(value, Value(((gap, UNKNOWN),))) if gap else value
    run.throw("AttributeError", gap)
    run.state.reach -= gap
    return value


def class_attribute(run: Run, code: ClassCode, name: str, where: ReleaseSet) -> Value | None:
    """An attribute of a code base's class itself."""
    order, others = lineage(code)
    for current in order:
        if name in current.methods:
            method = current.methods[name]
            return Value(((where, Function(method, Class(code) if method.kind == "class" else None)),))
        run.world.dependencies.read(current, name)
        if name in current.decorated:
            return current.decorated[name].within(where)
        if name in current.constants:
            run.state.adopt(current.heap)
            value = current.constants[name].within(where)
            written = current.attributes.get(name)
            return value if written is None else join(value, written.within(where))
        if name in current.attributes:
            run.state.adopt(current.heap)
            return current.attributes[name].within(where)
    return _of_library_base(run, others, name, where, instance=False)


def super_attribute(run: Run, code: ClassCode, name: str, where: ReleaseSet, node: cst.CSTNode) -> Value | None:
    """What ``super().name`` finds."""
    order, others = lineage(code)
    alternatives: list[Alternative] = []
    left = where
    for current, everywhere in inheriting(order, where)[1:]:
        here = everywhere & left
        if not here:
            continue
        if name in current.methods:
            method = current.methods[name]
            bound: Atom | None = Class(code) if method.kind == "class" else Instance(code)
            alternatives.append((here, Function(method, None if method.kind == "static" else bound)))
        elif name in current.decorated:
            alternatives.extend(_bound_to(Instance(code), current.decorated[name].within(here)))
        elif name in current.constants:
            alternatives.extend(current.constants[name].within(here).alternatives)
        else:
            continue
        left -= here
    if not left:
        return value_of(alternatives)
    inherited = _inherited(run, others, name, left, node)
    if left == where:
        return inherited
    return join(value_of(alternatives), unknown(left) if inherited is None else inherited)


def _may_be_brought(run: Run, order: list[ClassCode], name: str) -> bool:
    """Whether an object may have an attribute of which its class and the bases of that say nothing."""
    code = order[0]
    if name in code.module.set_outside or name in run.frame.module.set_outside:
        return True
    texts = {each.tree.text for each in order}
    if any(word in text for text in texts for word in ("setattr(", "__dict__", "__getattr__", "__getattribute__")):
        return True
    below = list(code.subclasses)
    for each in below:
        below.extend(other for other in each.subclasses if other not in below)
    return any(name in each.methods or name in each.constants or name in each.attributes for each in below)


def _inherited(run: Run, others: list[Value], name: str, where: ReleaseSet, node: cst.CSTNode | None) -> Value | None:
    """What an object has from the bases that are not the code base's; `node` where nobody else may have brought it."""
    bases = [each for each in others if each.where(_may_bring)]
    if node is not None and len(bases) == 1 and bases[0].where(_of_library) and not name.startswith("__"):
        # No other class comes in between: what the library's lacks is not there.
        found: list[Alternative] = []
        for there, base in as_alternatives(bases[0], where):
            if isinstance(base, LibObject) and base.is_class:
                found.extend(use_name(run, LibInstance(base.ref, exact=True), name, there, node))
            else:
                found.append((there, UNKNOWN))
        return value_of(found)
    return _of_library_base(run, others, name, where, instance=True)


def _of_library_base(run: Run, others: list[Value], name: str, where: ReleaseSet, *, instance: bool) -> Value | None:
    """Only what a library base surely has is followed: what it lacks, another base or a subclass may bring."""
    if name == CONSTRUCTOR:
        return _constructor_of_base(others, where) if instance else None
    found: list[Alternative] = []
    for base in others:
        for releases, atom in as_alternatives(base, where):
            if not (isinstance(atom, LibObject) and atom.is_class):
                continue
            there = run.history.member(atom.ref, name, releases).present
            if there:
                for epoch_releases, member in _library_member(run, atom, name, there, instance):
                    found.append((epoch_releases, member))
    if not found:
        return None
    value = value_of(found)
    rest = where - value.defined()
    return value if not rest else join(value, Value(((rest, UNKNOWN),)))


_BRINGING_NOTHING = frozenset({"builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic"})


def _constructor_of_base(others: list[Value], where: ReleaseSet) -> Value | None:
    """The library's constructor, where no base from elsewhere may have one that comes before it."""
    bases = [each for each in others if each.where(_may_bring)]
    if len(bases) != 1 or not bases[0].where(_of_library):
        return None
    return value_of(
        (there, LibMethod(atom.ref, CONSTRUCTOR, exact=True) if isinstance(atom, LibObject) else UNKNOWN)
        for there, atom in as_alternatives(bases[0], where)
    )


def _may_bring(atom: Atom) -> bool:
    return not (isinstance(atom, External) and atom.dotted in _BRINGING_NOTHING)


def _library_member(run: Run, atom: LibObject, name: str, where: ReleaseSet, instance: bool) -> list[Alternative]:
    if instance:
        return instance_member(run, LibInstance(atom.ref, exact=True), name, where)
    return class_member(run, atom.ref, name, where)


def _said(value: Value) -> set[Alternative]:
    """The alternatives of a value, for whoever reads it elsewhere: of which parameter it came is nothing to them."""
    return {(where, anonymous(atom)) for where, atom in value.alternatives}


def write_attribute(run: Run, code: ClassCode, name: str, value: Value) -> None:
    """An attribute of an instance of a code base's class is set."""
    contents = dict(code.heap)
    value = tainted_within(value, run.state.conditional & value.defined())
    value = share_attribute(run.world, code, name, value, run.state.heap)
    before = code.attributes.get(name, Value())
    after = join(before, value)
    if set(after.alternatives) != set(before.alternatives):
        code.attributes[name] = after
        if _said(after) != _said(before):
            run.world.dependencies.change(code, name)
            if _said(after) != {(run.world.all_releases, UNKNOWN)}:
                run.world.dependencies.change(code, anything(name))
        # What tells nothing about the library changes nothing for those who read it, once it is known to be set at all.
        code.changed |= after.defined() != before.defined() or tells(after)
    for _, atom in value.alternatives:
        key = getattr(atom, "key", None)
        if isinstance(key, int):
            if key in run.state.heap:
                keep_one(run.world, code, key, run.state.heap)
    open_attribute(run.world, code, name)
    if code.heap != contents:
        run.world.dependencies.change(code, CONTENTS)
