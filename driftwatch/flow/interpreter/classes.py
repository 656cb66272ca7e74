"""The code base's own classes: their bodies, what they take over from the library, and making instances of them."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, DictContent, Entry, ListContent
from driftwatch.flow.domain.enums import (
    FLAGS,
    Member,
    by_value,
    kind_of,
    members_of,
)
from driftwatch.flow.domain.frames import Call, Frame
from driftwatch.flow.domain.lineage import derive, inheriting, is_exception, is_too_long, is_typed_dict, lineage
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.taint import tells
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Alternative,
    Class,
    Const,
    DictRef,
    External,
    Function,
    Instance,
    Lazy,
    LibObject,
    ListRef,
    Partial,
    Value,
    const,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, unknown_call
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.functions import call_function, is_known_callable
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.objects import content_of, hold, make
from driftwatch.flow.interpreter.records import fill, is_record, writes_constructor, writes_record
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.interpreter.shared import share_constants
from driftwatch.flow.interpreter.skips import mark_of_body, mark_skipped
from driftwatch.flow.uses import Construction, Location, MethodDefinition, SubclassUse
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.standard_bases import PLAIN_BASES


def define_class(run: Run, node: cst.ClassDef) -> Value:
    """The value of a ``class``: its body is executed, its methods are not."""
    code = run.world.identities.of_class(run.frame, node)
    code.reach |= run.state.reach
    derive(code, tuple(base_of(run, run.eval(argument.value, callee=True)) for argument in node.bases))
    if is_too_long(code):
        run.unresolved(node.name, "this class has more bases than are followed")
    reach = run.state.reach
    named = {k.keyword.value: Entry(reach, reach, run.eval(k.value)) for k in node.keywords if k.keyword is not None}
    decorators = [(each.decorator, run.eval(each.decorator, callee=True)) for each in node.decorators]
    _class_body(run, code, node)
    _subclass_uses(run, code, node)
    run.frame.defined.classes.append(code)
    tell_bases(run, code, DictContent({name: entry for name, entry in named.items() if name != "metaclass"}), node)
    value = Value(((run.state.reach, Class(code)),))
    for decorator, wrapper in reversed(decorators):
        value = _decorated(run, wrapper, value, decorator)
    return value


def tell_bases(run: Run, code: ClassCode, keywords: DictContent, node: cst.CSTNode) -> None:
    """A class is made: the hook of the nearest base that has one is called of it."""
    order, reach = lineage(code)[0], run.state.reach
    hook = next((each.methods[_HOOK] for each in order[1:] if _HOOK in each.methods), None)
    if hook is not None and reach:
        run.call(Value(((reach, Function(hook, Class(code))),)), Arguments(keywords=keywords), node)


_HOOK = "__init_subclass__"


def _decorated(run: Run, wrapper: Value, value: Value, node: cst.CSTNode) -> Value:
    """What a decorator makes of a class: what a function of the code base returns, else the class itself."""
    if mark_skipped(run, wrapper, value):
        return value
    alone = wrapper.single()
    if isinstance(alone, Lazy):
        wrapper = run.world.modules.look_at(alone) or wrapper
    if not isinstance(wrapper.single(), (Function, Class, Instance, Partial)):
        for _, atom in value.alternatives:
            if isinstance(atom, Class) and not (writes_record(node) or _leaves_as_it_is(wrapper)):
                atom.code.remade = True
        return value
    reach = run.state.reach
    made = run.call(wrapper, Arguments(ListContent((Entry(reach, reach, value),))), node)
    known = made.alternatives and all(is_known_callable(run, atom) for _, atom in made.alternatives)
    return made if known else value.within(run.state.reach)


def _leaves_as_it_is(wrapper: Value) -> bool:
    """Whether a decorator of another package is known to leave the constructor of a class alone."""
    return all(isinstance(atom, External) and atom.dotted in _PLAIN_DECORATORS for _, atom in wrapper.alternatives)


_PLAIN_DECORATORS = frozenset(
    {"functools.total_ordering", "enum.unique", "warnings.deprecated"}
    | {f"{module}.{name}" for module in ("typing", "typing_extensions") for name in ("final", "runtime_checkable")}
    | {"typing_extensions.deprecated"}
)


def base_of(run: Run, value: Value) -> Value:
    """A base class, looked at although nothing else has asked for it: what is not there in a class is there in it."""
    found = Value()
    for where, atom in value.alternatives:
        known = run.world.modules.look_at(atom) if isinstance(atom, Lazy) else None
        found = join(found, Value(((where, atom),)) if known is None else known.within(where))
    return found


def _class_body(run: Run, code: ClassCode, node: cst.ClassDef) -> None:
    outer_frame, outer = run.frame, run.state
    closure = (dict(outer.vars), *outer_frame.closure) if outer_frame.function is not None else outer_frame.closure
    if outer_frame.function is None and outer_frame.owner is None:
        outer_frame.module.names = {**outer_frame.module.names, **outer.vars}
    frame = Frame(
        outer_frame.module,
        outer_frame.tree,
        None,
        code,
        closure,
        Call(outer_frame, None, outer, outer_frame.depth),
        outer_frame.recording,
        outer_frame.budget,
        outer_frame.uid,
    )
    run.frame = frame
    run.state = State(outer.reach, {}, outer.heap, on_the_way_of=outer)
    run.block(node.body.body)
    body = run.state
    run.frame, run.state = outer_frame, outer
    outer_frame.defined.classes.extend(frame.defined.classes)
    outer.heap.follow(body.heap)
    outer.ghost, outer.faults = body.ghost, body.faults
    outer.reach = body.reach
    code.heap.update(body.heap.as_dict())
    for name, value in body.vars.items():
        functions = [(where, a.code) for where, a in value.alternatives if isinstance(a, Function)]
        own = [(where, function) for where, function in functions if function.owner is code]
        if own and len(functions) == len(value.alternatives):
            if len({function for _, function in functions}) > 1:
                code.decorated[name] = value
                for where, function in own:
                    function.reach &= where
                    code.chosen.append(function)
            else:
                code.methods[name] = own[-1][1]
        elif "." not in name:
            code.constants[name] = value
    _give_lambdas(frame, outer_frame, code)
    _name_descriptors(run, code, node)
    _mark_hooks(code)
    kind = kind_of(lineage(code)[1])
    if kind is not None:
        for value in code.constants.values():
            kept = value.only(lambda atom: isinstance(atom, (DictRef, ListRef, Partial)))
            lose(run, kept, node, "the value of an enumeration's member")
        code.constants.update(members_of(code, kind, code.constants))
    mark_of_body(run, code, code.constants)
    if outer_frame.function is None and outer_frame.owner is None:
        share_constants(run.world, code)


def _give_lambdas(body: Frame, outer: Frame, code: ClassCode) -> None:
    """A lambda that stands in a class's body, but not as a method, is one of the function or module round the class."""
    for function in body.defined.functions:
        if isinstance(function.node, cst.Lambda) and function not in code.methods.values():
            function.owner = None
            outer.defined.functions.append(function)


def _mark_hooks(code: ClassCode) -> None:
    """Find the properties that are there for the methods of a class that others are made of."""
    bases = lineage(code)[0][1:]
    if any(_is_abstract(method) for method in code.methods.values()):
        bases = [code, *bases]
    for name, method in code.methods.items():
        if method.kind == "property" and any(
            name in each.methods and f"self.{name}" in each.tree.text for each in bases
        ):
            method.is_hook = True


def _is_abstract(method: FunctionCode) -> bool:
    return any((name or "").rpartition(".")[2] == "abstractmethod" for name in method.decorators)


def _name_descriptors(run: Run, code: ClassCode, node: cst.ClassDef) -> None:
    """What stands in a class's body is told the name under which it does, if it has a method for that."""
    for name, value in list(code.constants.items()):
        for where, atom in value.alternatives:
            if isinstance(atom, Instance) and any("__set_name__" in each.methods for each in lineage(atom.code)[0]):
                hook = instance_attribute(run, atom, "__set_name__", where, None)
                given = (Value(((where, Class(code)),)), const(name, where))
                if hook is not None:
                    run.call(hook, Arguments(ListContent(tuple(Entry(where, where, v) for v in given))), node)
                    code.heap.update(run.state.heap.as_dict())


def _subclass_uses(run: Run, code: ClassCode, node: cst.ClassDef) -> None:
    order, others = lineage(code)
    library: list[tuple[ReleaseSet, LibObject]] = []
    unknown = EMPTY
    for base in others:
        for where, atom in as_alternatives(base, run.state.reach):
            if isinstance(atom, LibObject) and atom.is_class:
                library.append((where, atom))
            elif not (isinstance(atom, External) and atom.dotted in PLAIN_BASES):
                unknown |= where
    if not library or not run.recording.records:
        return
    run.touch()
    methods: dict[str, MethodDefinition] = {}
    names: set[str] = set()
    for current in reversed(order):
        methods.update({n: _method_definition(f) for n, f in current.methods.items()})
        names.update(current.constants)
    abstract = any(_is_abstract(method) for each in order for method in each.methods.values())
    location = _header(run, node)
    for where, atom in library:
        code.library_bases.append((where, atom.ref))
        run.record(
            SubclassUse(
                run.history.distribution,
                location,
                where,
                run.catch("TypeError"),
                run.frame.way_in(),
                atom.ref,
                code.name,
                tuple(methods[n] for n in sorted(methods)),
                tuple(sorted(names)),
                (),
                abstract,
                not unknown.isdisjoint(where),
            )
        )


def _header(run: Run, node: cst.ClassDef) -> Location:
    whole = run.location(node)
    name = run.location(node.name)
    return Location(whole.path, name.line, name.column, name.end_line, name.end_column)


def _method_definition(function: FunctionCode) -> MethodDefinition:
    while function.wraps is not None:
        function = function.wraps
    node = function.node
    params = node.params
    positional = [p.name.value for p in (*params.posonly_params, *params.params)]
    required = [
        p.name.value for p in (*params.posonly_params, *params.params, *params.kwonly_params) if p.default is None
    ]
    if function.kind != "static" and positional:
        if positional[0] in required:
            required.remove(positional[0])
        positional = positional[1:]
    text = cst.Module([]).code_for_node(params)
    where = node.name if isinstance(node, cst.FunctionDef) else node
    return MethodDefinition(
        function.name,
        function.tree.location(where),
        tuple(positional),
        tuple(required),
        tuple(p.name.value for p in params.kwonly_params),
        isinstance(params.star_arg, cst.Param),
        params.star_kwarg is not None,
        f"{function.name}({text.strip()})",
    )


def instantiate(run: Run, code: ClassCode, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Construct an instance of a class of the code base."""
    reach = run.state.reach
    kind = kind_of(lineage(code)[1])
    if kind is not None:
        return _member(run, code, kind, arguments)
    if is_typed_dict(code):
        return run.call_external("builtins.dict", arguments, node)
    made = make(run, code, node)
    instance = Value(((reach, made),))
    order, _ = lineage(code)
    if run.recording.records:
        location, catch = run.location(node), run.catch("TypeError")
        for where, base in (each for current in order for each in current.library_bases):
            if where & reach:
                run.world.entries.instantiated(code, base, Construction(location, where & reach, catch))
    if is_exception(code) and not any("__init__" in each.methods for each in order):
        given = run.new_list(node, replace(arguments.positional, is_tuple=True))
        hold(run, made, "args", given, reach, certain=True)
        return instance
    inherited = [(current, here) for current, here in inheriting(order, reach) if here]
    first = next((each for each in inherited if _gives_constructor(each[0])), None)
    if first is None or first[1] != reach:
        _construct(run, made, arguments, node, own=first is not None)
    elif "__init__" in first[0].methods:
        call_function(run, Function(first[0].methods["__init__"], made), arguments, node)
    elif writes_constructor(first[0]):
        _fill(run, made, arguments, node)
    else:
        if any(each.library_bases for each in order):
            run.unresolved(node, "the constructor of this class may be one that its decorator writes")
        unknown_call(run, arguments, node, reads_only=True)
    _tell_apart(run, made)
    return instance.within(run.state.reach)


def _construct(run: Run, made: Instance, arguments: Arguments, node: cst.CSTNode, *, own: bool) -> None:
    """A constructor that Python writes, that the library has, or nobody has."""
    reach = run.state.reach
    found = instance_attribute(run, made, "__init__", reach, None)
    if found is not None and (own or found.where(touches_library)):
        run.call(found, arguments, node)
    elif is_record(made.code):
        _fill(run, made, arguments, node)
    else:
        unknown_call(run, arguments, node, reads_only=True)


def _gives_constructor(code: ClassCode) -> bool:
    """Whether the constructor of a class is its own: written in it, by Python, or perhaps by what decorates it."""
    return "__init__" in code.methods or writes_constructor(code) or code.remade


def _fill(run: Run, made: Instance, arguments: Arguments, node: cst.CSTNode) -> None:
    """An instance of a class whose constructor Python writes."""
    fill(run, made, arguments, node)
    after = instance_attribute(run, made, "__post_init__", run.state.reach, None)
    if after is not None and after.where(lambda atom: isinstance(atom, Function)):
        run.call(after, NO_ARGUMENTS, node)


def _member(run: Run, code: ClassCode, kind: str, arguments: Arguments) -> Value:
    """A member of an enumeration is asked for by its value; where there is none, that is a ValueError."""
    wanted = argument(arguments, 0)
    found: list[Alternative] = []
    for where, atom in as_alternatives(wanted, run.state.reach) if wanted is not None else ():
        if not isinstance(atom, Const):
            run.asks_constant(atom)
            found.extend(run.combine(where, Value(((where, atom),))).alternatives)
        elif isinstance(atom.value, Member):
            found.append((where, atom))
        elif kind in FLAGS:
            found.append((where, Const(Member(code, kind, None, atom.value))))
        else:
            members = [(w & where, a) for w, a in by_value(code.constants.values(), atom.value)]
            found.extend(members)
            found.append((where - value_of(members).defined(), UNKNOWN))
    return value_of(found) if found else unknown(run.state.reach)


def _tell_apart(run: Run, made: Instance) -> None:
    """What an instance holds that tells something about the library may be what no other one holds."""
    content = content_of(run, made)
    for name, entry in content.entries.items() if content is not None else ():
        if isinstance(name, str) and tells(entry.value):
            made.code.told_apart.setdefault(name, set()).add(entry.value)
