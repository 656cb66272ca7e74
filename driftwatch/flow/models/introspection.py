"""Looking at objects of the library: ``hasattr``, ``getattr``, ``dir``, ``inspect.signature`` and the like."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.exceptions import Handler, Try, is_one_of, may_take, raised_of
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.taint import depends_on_release, is_tainted, of_parameter, tainted_within
from driftwatch.flow.domain.values import (
    FALSE,
    TAINTED,
    TRUE,
    UNKNOWN,
    Alternative,
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
    NamesOf,
    Namespace,
    Partial,
    ProjectModule,
    Raised,
    Unknown,
    Value,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, asks
from driftwatch.flow.interpreter.attributes import attribute_of
from driftwatch.flow.interpreter.conditions import presence
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.exceptional import class_names
from driftwatch.flow.interpreter.instance_tests import is_instance
from driftwatch.flow.interpreter.instantiated import instantiated_in
from driftwatch.flow.interpreter.library import (
    class_member,
    instance_member,
    module_member,
    passed_through,
)
from driftwatch.flow.interpreter.lookups import lookup
from driftwatch.flow.interpreter.members import has_attribute, is_asked_for
from driftwatch.flow.interpreter.objects import content_of
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run, as_alternatives, settle
from driftwatch.flow.models.class_makers import class_by_type
from driftwatch.releases import ReleaseSet, union


@model("builtins.hasattr")
def _hasattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name = argument(arguments, 0), argument(arguments, 1)
    if owner is None or name is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(owner, run.state.reach):
        for there, key in as_alternatives(name, where):
            if not (isinstance(key, Const) and isinstance(key.value, str)):
                asks(run, atom)
                found.append((there, _answer_about(run, atom, key)))
            elif isinstance(atom, Const):
                found.append((there, FALSE if atom.value is None else UNKNOWN))
            elif isinstance(atom, ProjectModule):
                known = run.world.modules.attribute(atom.code, key.value, there)
                found.append((there, TRUE if known.defined() == there else UNKNOWN))
            elif isinstance(atom, Unknown):
                asks(run, atom)
                found.append((there, TAINTED if atom.tainted else UNKNOWN))
            elif isinstance(atom, Instance):
                _, holds, fails = _asked(run, atom, key.value, there, node)
                found.extend([(holds, TRUE), (fails, FALSE)])
            elif lookup(run, atom, key.value, there) is None:
                found.append((there, UNKNOWN))
            else:
                holds, fails = presence(run, atom, key.value, there)
                found.extend([(holds, TRUE), (fails, FALSE)])
    return value_of(found)


def _answer_about(run: Run, owner: Atom, key: Atom) -> Atom:
    """Whether something has an attribute of an unknown name; of the library, whoever gives the name may know."""
    if not (isinstance(owner, LibModule) or (isinstance(owner, LibObject) and owner.is_class) or is_tainted(owner)):
        run.asks_constant(key)
        return UNKNOWN
    run.asks_of_library(Value(((run.state.reach, key),)))
    return TAINTED


@model("inspect.getattr_static", "builtins.getattr")
def _getattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name, default = (argument(arguments, i) for i in range(3))
    if owner is None or name is None:
        return unknown(run.state.reach)
    found = Value()
    for where, key in as_alternatives(name, run.state.reach):
        here = owner.within(where)
        for _, atom in here.alternatives:
            asks(run, atom)
        if not (isinstance(key, Const) and isinstance(key.value, str)):
            run.asks_constant(key)
            of_library = here.where(_has_members)
            if of_library:
                run.touch()
                run.asks_of_library(name)
                _by_unknown_name(run, key, node)
            any_of = _any_of(run, here, where - of_library, node)
            guards = depends_on_release(any_of)
            if guards:
                # A flag by its name: a caller knows which it is.
                run.asks_of_library(name)
            found = join(found, tainted_within(any_of, of_library | guards))
        elif default is None:
            found = join(found, attribute_of(run, here, key.value, node).within(where))
        else:
            found = join(found, _with_default(run, here, key.value, default.within(where), where, node))
    return found


def _has_members(atom: Atom) -> bool:
    return isinstance(atom, (LibModule, LibInstance)) or (isinstance(atom, LibObject) and atom.is_class)


def _by_unknown_name(run: Run, key: Atom, node: cst.CSTNode) -> None:
    if of_parameter(key):
        passed_through(run, node, "the library is asked for a name that is passed to")
    else:
        run.unresolved(node, "an attribute of the library is read by a name that is not known")


def _any_of(run: Run, owner: Value, where: ReleaseSet, node: cst.CSTNode) -> Value:
    """An attribute of an instance or class by a name that is not known: any that it holds."""
    found = unknown(where)
    for there, atom in as_alternatives(owner, where):
        code = atom.code if isinstance(atom, (Class, Instance)) else None
        for each in lineage(code)[0] if code is not None else ():
            for held in each.constants.values():
                found = join(found, held.within(depends_on_release(held) & there))
        content = content_of(run, atom)
        for entry in content.entries.values() if content is not None else ():
            held = entry.value.within(there & entry.releases)
            # That it is this one of them, nobody says.
            lose(run, held.only(_is_callable), node, "perhaps what is read by an unknown name")
            found = join(found, held.only(lambda atom: not _is_callable(atom)))
    return found


def _is_callable(atom: Atom) -> bool:
    return isinstance(atom, (LibObject, LibMethod))


def _with_default(run: Run, owner: Value, name: str, default: Value, where: ReleaseSet, node: cst.CSTNode) -> Value:
    found: list[Alternative] = []
    for there, atom in as_alternatives(owner, where):
        if isinstance(atom, Const) and atom.value is None:
            found.extend(as_alternatives(default, there))
            continue
        if isinstance(atom, Instance):
            value, holds, fails = _asked(run, atom, name, there, node)
            if value is None and holds:
                value = attribute_of(run, Value(((holds, atom),)), name, node)
            found.extend(value.alternatives if value is not None else ())
            found.extend(as_alternatives(default, fails))
            continue
        known = lookup(run, atom, name, there)
        if known is None:
            found.extend(attribute_of(run, Value(((there, atom),)), name, node).alternatives)
            if not isinstance(atom, Class):
                found.extend(as_alternatives(default, there))
            continue
        run.touch()
        present, absent = presence(run, atom, name, there)
        found.extend(as_alternatives(default, absent))
        if isinstance(atom, LibModule):
            found.extend(module_member(run, atom.module, name, present))
        else:
            found.extend(_member(run, atom, name, present))
    return value_of(found)


def _asked(
    run: Run, atom: Instance, name: str, where: ReleaseSet, node: cst.CSTNode
) -> tuple[Value | None, ReleaseSet, ReleaseSet]:
    """Where an instance may have an attribute, and where not; with what its class's ``__getattr__`` gives for it.

    Python takes an AttributeError of that: it is what was asked for.
    """
    if not is_asked_for(run, atom, name):
        return None, *has_attribute(run, atom, name, where)
    handler = Handler(run.frame.tree, node, ("AttributeError",), (), expects=True)
    attempt, outer = Try([handler], ()), run.state
    run.state = outer.fork(where)
    run.frame.tries.append(attempt)
    value = attribute_of(run, Value(((where, atom),)), name, node).within(where)
    run.frame.tries.pop()
    holds = run.state.reach & where
    ends = [run.state, *(state for _, state in handler.entries)]
    fails = [state for kind, state in attempt.maybe.items() if may_take(handler, kind)]
    lacks = union([state.reach for state in (*ends[1:], *fails)])
    settle(run, [outer.fork(outer.reach - where), *ends, *fails])
    return value, holds, lacks


def _member(run: Run, atom: Atom, name: str, where: ReleaseSet) -> list[Alternative]:
    if isinstance(atom, LibInstance):
        return instance_member(run, atom, name, where)
    assert isinstance(atom, LibObject)
    return class_member(run, atom.ref, name, where)


@model("builtins.callable")
def _callable(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Const):
            found.append((where, FALSE))
        elif isinstance(atom, (LibObject, LibMethod, Function, Class, Partial)):
            found.append((where, TRUE))
        else:
            found.append((where, TAINTED if is_tainted(atom) else UNKNOWN))
    return value_of(found)


@model("builtins.isinstance")
def _isinstance(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value, kind = argument(arguments, 0), argument(arguments, 1)
    if value is None or kind is None:
        return unknown(run.state.reach)
    wanted = kind.single()
    classes = class_names(run, kind)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        answer: Atom = TAINTED if is_tainted(atom) else UNKNOWN
        if isinstance(atom, Raised) and classes is not None:
            is_one = is_one_of(atom, classes)
            answer = UNKNOWN if is_one is None else Const(is_one)
        elif (known := is_instance(run, atom, wanted)) is not None:
            answer = Const(known)
        elif isinstance(wanted, (Class, Lazy)):
            never = where - instantiated_in(run, wanted)
            where -= never
            found.append((never, FALSE))
        found.append((where, answer))
    return value_of(found)


@model("builtins.issubclass")
def _issubclass(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value, kind = argument(arguments, 0), argument(arguments, 1)
    classes = class_names(run, kind) if kind is not None else None
    if value is None or classes is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        name = atom.dotted.removeprefix("builtins.") if isinstance(atom, External) else ""
        is_one = is_one_of(raised_of(name), classes) if name else None
        found.append((where, UNKNOWN if is_one is None else Const(is_one)))
    return value_of(found)


@model("builtins.type")
def _type(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    if len(arguments.positional.elements) == 3:
        return class_by_type(run, arguments, node)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        made = atom.made if isinstance(atom, Raised) else atom
        if isinstance(made, Instance):
            found.append((where, Class(made.code)))
        elif isinstance(atom, Raised) and atom.exact and "." not in atom.names[0]:
            found.append((where, External(f"builtins.{atom.names[0]}")))
        elif isinstance(atom, LibInstance) and atom.exact:
            found.append((where, LibObject(atom.cls, is_class=True)))
        else:
            asks(run, atom)
            found.append((where, TAINTED if is_tainted(atom) else UNKNOWN))
    return value_of(found)


@model("builtins.dir", "builtins.vars")
def _names_of(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``vars(x)`` or ``dir(x)``: of an instance of the code base's own, what it holds."""
    value = argument(arguments, 0)
    if value is None:
        return _globals(run, arguments, node) if run.frame.function is None else unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, (LibModule, LibInstance, LibObject)):
            found.append((where, NamesOf(atom)))
        elif isinstance(atom, ProjectModule):
            found.append((where, Namespace(atom.code)))
        elif isinstance(atom, Instance) and atom.site is not None and content_of(run, atom) is not None:
            found.append((where, DictRef(atom.site)))
        else:
            found.append((where, TAINTED if is_tainted(atom) else UNKNOWN))
    return value_of(found)


@model("builtins.globals")
def _globals(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``globals()``."""
    return Value(((run.state.reach, Namespace(run.frame.module)),))


EXAMPLES = {
    "vars_of_an_object_as_keywords": """
        import lib.comm as comm


        class Options:
            def __init__(self):
                self.rank = 0
                self.group = None


        def run():
            return comm.create(1, **vars(Options()))  #! DW101 group 0.1.0 raises
        """,
}
