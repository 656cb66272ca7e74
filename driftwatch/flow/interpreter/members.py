"""Attributes of the code base's own instances and classes: what one is, and what setting one does.

An instance that is told apart holds its own; what is known of any instance of a class is what was ever set on one.
"""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ClassCode
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, Entry, ListContent, PartialContent
from driftwatch.flow.domain.lineage import inheriting, lineage
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.taint import anonymous, depends_on_release, tainted_within
from driftwatch.flow.domain.values import (
    STATIC,
    UNKNOWN,
    Alternative,
    Atom,
    Class,
    Const,
    External,
    Function,
    Instance,
    Lazy,
    LibInstance,
    LibMethod,
    LibObject,
    Partial,
    PartialMethod,
    SuperOf,
    Value,
    const,
    join,
    key_of,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.library import CONSTRUCTOR, class_member, instance_member, use_name
from driftwatch.flow.interpreter.objects import as_left, content_of, held_by
from driftwatch.flow.interpreter.outside import assigned_outside
from driftwatch.flow.interpreter.receivers import NEXT
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.interpreter.shared import (
    CONTENTS,
)
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.standard_bases import WITHOUT_ATTRIBUTES


def instance_attribute(
    run: Run, bound: Instance, name: str, where: ReleaseSet, node: cst.CSTNode | None
) -> Value | None:
    """An attribute of an instance of a code base's class; None when nothing is known of it."""
    content = content_of(run, bound)
    if content is None:
        return attribute_of_any(run, bound.code, bound, name, where, node)
    own, certain = held_by(run, bound, content, name, where)
    rest = where - certain
    if not rest:
        return own
    open_ = rest & content.open
    found = attribute_of_any(run, bound.code, bound, name, open_, node) if open_ else Value()
    closed = rest - open_
    order, others = lineage(bound.code)
    of_class = _of_classes(run, bound, order, others, name, closed, node) if closed else Value()
    if of_class is None and name in content.entries:
        # It is set in some releases, or on some way; where it is not, reading it is an AttributeError.
        gap = closed - own.defined()
        run.throw("AttributeError", gap)
        run.state.reach -= gap
        of_class = Value()
    if found is None or of_class is None:
        return join(own, unknown(rest)) if own.alternatives else None
    return join(own, join(found, of_class))


def attribute_of_any(
    run: Run, code: ClassCode, bound: Atom, name: str, where: ReleaseSet, node: cst.CSTNode | None
) -> Value | None:
    """An attribute of any instance of a class."""
    order, others = lineage(code)
    run.effects.reads_attributes.add(name)
    found = _ever_assigned(run, order, name, where, bare=not any(base.where(_of_library) for base in others))
    if found is not None and any(len(each.told_apart.get(name, ())) > 1 for each in order):
        # Of several instances, which one it is a caller knows.
        found = tainted_within(found, depends_on_release(found) | found.where(touches_library))
    if found is not None:
        for module in dict.fromkeys((code.module, run.frame.module)):
            found = join(found, assigned_outside(run, module, name, where))
        return _assigned(run, order, name, found, where)
    return _of_classes(run, bound, order, others, name, where, node)


def _of_classes(
    run: Run,
    bound: Atom,
    order: list[ClassCode],
    others: list[Value],
    name: str,
    where: ReleaseSet,
    node: cst.CSTNode | None,
) -> Value | None:
    """An attribute that an instance does not hold itself, but has of its class."""
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
                    owner = None if method.kind == "static" else Class(order[0])
                alternatives.append((here, Function(method, owner)))
        elif name in current.decorated:
            alternatives.extend(_bound_to(run, bound, current.decorated[name].within(here), node))
        elif name in current.constants:
            run.state.adopt(current.heap)
            alternatives.extend(_bound_to(run, bound, current.constants[name].within(here), node))
            alternatives.extend(_bound_to(run, bound, current.set_on_class.get(name, Value()).within(here), node))
        elif name in current.set_on_class:
            alternatives.extend(_bound_to(run, bound, current.set_on_class[name].within(here), node))
        else:
            continue
        left -= here
    if left:
        for current in order:
            run.world.dependencies.read(current, name)
    sure = node is not None and not _may_be_brought(run, order, name)
    inherited = _inherited(run, others, name, left, node if sure else None) if left else Value()
    if inherited is None and node is not None:
        inherited = _asked_for(run, order, bound, name, left, node)
    if left == where:
        return inherited
    return join(value_of(alternatives), unknown(left) if inherited is None else inherited)


def _asked_for(
    run: Run, order: list[ClassCode], bound: Atom, name: str, where: ReleaseSet, node: cst.CSTNode
) -> Value | None:
    """What the class's own ``__getattr__`` gives for a name that nothing else has."""
    hook = next((code.methods["__getattr__"] for code in order if "__getattr__" in code.methods), None)
    if hook is None or name.startswith("__") or run.world.entries.times_active(hook):
        return None
    outer = run.state
    run.state = outer.fork(where & outer.reach)
    entry = Entry(where, where, Value(((where, Const(name)),)))
    found = run.call(Value(((where, Function(hook, bound)),)), Arguments(ListContent((entry,))), node)
    gone = (where & outer.reach) - run.state.reach
    outer.heap = run.state.heap
    run.state = outer
    run.state.reach = outer.reach - gone
    return found


def _bound_to(run: Run, owner: Atom | None, value: Value, node: cst.CSTNode | None) -> list[Alternative]:
    """What is found on a class, as it is looked up on an instance, or on the class itself where that is None."""
    found: list[Alternative] = []
    for where, atom in value.alternatives:
        known = run.world.modules.look_at(atom) if isinstance(atom, Lazy) else None
        for there, each in ((where, atom),) if known is None else known.within(where).alternatives:
            if (
                isinstance(each, Instance)
                and node is not None
                and any("__get__" in c.methods for c in lineage(each.code)[0])
            ):
                found.extend(_given_by(run, each, owner, there, node))
            elif isinstance(each, LibInstance):
                # Of a descriptor of the library's, nobody knows what it gives.
                gives = run.history.member(each.cls, "__get__", there).present
                found += [(there - gives, each), (gives, UNKNOWN)] if gives else [(there, each)]
            elif isinstance(each, PartialMethod):
                found.append((there, _bound_partial(run, owner, each)))
            else:
                found.append((there, _bound_function(owner, each) if isinstance(each, Function) else each))
    return found


def _given_by(
    run: Run, descriptor: Instance, owner: Atom | None, where: ReleaseSet, node: cst.CSTNode
) -> list[Alternative]:
    """What a descriptor gives that is found on a class."""
    asked = const(None, where) if owner is None else Value(((where, owner),))
    given = tuple(Entry(where, where, value) for value in (asked, unknown(where)))
    method = instance_attribute(run, descriptor, "__get__", where, None)
    if method is None:
        return [(where, UNKNOWN)]
    return as_alternatives(run.call(method, Arguments(ListContent(given)), node), where)


def _bound_partial(run: Run, owner: Atom | None, atom: PartialMethod) -> Atom:
    """What a ``partialmethod`` is for an object: a partial of the method of that."""
    content = run.content(atom.key)
    if not isinstance(content, PartialContent):
        return UNKNOWN
    key = run.number(content, "method", owner)
    func = value_of(_bound_to(run, owner, content.func, None))
    run.state.heap[key] = PartialContent(func, content.positional, content.keywords)
    return Partial(key)


def _bound_function(owner: Atom | None, atom: Function) -> Function:
    if atom.bound == STATIC:
        return Function(atom.code)
    return Function(atom.code, owner) if atom.bound is None else atom


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
            if any(key_of(atom) is not None for _, atom in known.alternatives):
                run.world.dependencies.read_early(current, CONTENTS)
            run.state.adopt(current.heap)
            value = as_left(current, name, known.within(where))
            found = value if found is None else join(found, value)
    # Where nothing at all is known, it makes no difference when it turns out that it may be anything.
    nothing = bare and found is None and not any(name in each.methods or name in each.constants for each in order)
    for current in order:
        run.world.dependencies.read(current, anything(name) if nothing else name)
    return found


def anything(name: str) -> str:
    """An attribute as a place of which it does not matter that there is something unknown in it."""
    return f"{name}?"


def _assigned(run: Run, order: list[ClassCode], name: str, value: Value, where: ReleaseSet) -> Value:
    """An attribute where it was ever assigned; where it never was, reading it is an AttributeError."""
    gap = where - value.defined()
    if not gap or any(name in c.methods or name in c.constants or "__getattr__" in c.methods for c in order):
        return join(value, Value(((gap, UNKNOWN),))) if gap else value
    run.throw("AttributeError", gap)
    run.state.reach -= gap
    return value


def class_attribute(
    run: Run, code: ClassCode, name: str, where: ReleaseSet, node: cst.CSTNode | None = None
) -> Value | None:
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
            value = value_of(_bound_to(run, None, current.constants[name].within(where), node))
            written = join(current.attributes.get(name, Value()), current.set_on_class.get(name, Value()))
            return join(value, written.within(where))
        known = join(current.attributes.get(name, Value()), current.set_on_class.get(name, Value()))
        if known.alternatives:
            run.state.adopt(current.heap)
            return known.within(where)
    return _of_library_base(run, others, name, where, instance=False)


def method_of(
    run: Run, atom: Instance, name: str, arguments: Arguments, where: ReleaseSet, node: cst.CSTNode
) -> Value | None:
    """What a method of an object gives; None where it has none."""
    method = instance_attribute(run, atom, name, where, None)
    if method is None or not method.alternatives or not all(isinstance(a, Function) for _, a in method.alternatives):
        return None
    return run.call(method, arguments, node)


def super_attribute(run: Run, asked: SuperOf, name: str, where: ReleaseSet, node: cst.CSTNode) -> Value | None:
    """What ``super().name`` finds: what comes after the method's own class, of the class of what it was called of."""
    code = asked.code
    this = asked.bound if isinstance(asked.bound, (Instance, Class)) else Instance(code)
    owner = this if isinstance(this, Instance) else None
    order, others = lineage(this.code if code in lineage(this.code)[0] else code)
    run.world.dependencies.read(code, NEXT)
    alternatives: list[Alternative] = []
    left = where
    for current, everywhere in inheriting(order, where)[order.index(code) + 1 :]:
        here = everywhere & left
        if not here:
            continue
        run.world.dependencies.read(current, name)
        if name in current.methods:
            method = current.methods[name]
            bound: Atom | None = Class(this.code) if method.kind == "class" else owner
            found = Value(((here, Function(method, None if method.kind == "static" else bound)),))
            called = method.kind == "property" and owner is not None
            alternatives.extend(run.call(found, NO_ARGUMENTS, node).alternatives if called else found.alternatives)
        elif name in current.decorated:
            alternatives.extend(_bound_to(run, owner, current.decorated[name].within(here), node))
        elif name in current.constants:
            alternatives.extend(_bound_to(run, owner, current.constants[name].within(here), node))
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
    if any(each.tree.may_set_any for each in order):
        return True
    below, met = list(code.subclasses), set(code.subclasses)
    for each in below:
        below.extend(other for other in each.subclasses if other not in met)
        met.update(each.subclasses)
    return any(
        name in each.methods or name in each.constants or name in each.attributes or name in each.set_on_class
        for each in below
    )


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
    return not (isinstance(atom, External) and atom.dotted in WITHOUT_ATTRIBUTES)


def _library_member(run: Run, atom: LibObject, name: str, where: ReleaseSet, instance: bool) -> list[Alternative]:
    if instance:
        return instance_member(run, LibInstance(atom.ref, exact=True), name, where)
    return class_member(run, atom.ref, name, where)


def alternatives_said(run: Run, value: Value) -> set[Alternative]:
    """The alternatives of a value, for whoever reads it elsewhere.

    Of which parameter it came is nothing to them, nor in which analysis of the same code it was made.
    """
    first = run.world.identities.first
    return {(where, first(anonymous(atom))) for where, atom in value.alternatives}


def is_asked_for(run: Run, atom: Instance, name: str) -> bool:
    """Whether the class's own ``__getattr__`` is asked for a name of an instance."""
    order, content = lineage(atom.code)[0], content_of(run, atom)
    if content is None or name in content.entries or name.startswith("__"):
        return False
    known = any(name in each.methods or name in each.constants for each in order)
    return not known and any("__getattr__" in each.methods for each in order)


def has_attribute(run: Run, atom: Instance, name: str, where: ReleaseSet) -> tuple[ReleaseSet, ReleaseSet]:
    """Where an instance may have an attribute, and where it may not."""
    content = content_of(run, atom)
    order = lineage(atom.code)[0]
    if any(name in each.methods or name in each.constants for each in order):
        return where, EMPTY
    if content is None or any(name in each.set_on_class for each in order):
        return where, where
    entry = content.entries.get(name)
    maybe, certain = (entry.releases, entry.certain) if entry is not None else (EMPTY, EMPTY)
    open_ = content.open | (where if any("__getattr__" in each.methods for each in order) else EMPTY)
    later = run.world.objects.later.get(atom.site or 0, {}).get(name, Value()).defined()
    return (maybe | open_ | later) & where, where - certain
