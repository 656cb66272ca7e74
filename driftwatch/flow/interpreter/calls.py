"""Calls: the callee's alternatives one by one, each with the arguments as they are in its releases."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import (
    NO_ARGUMENTS,
    NO_DICT,
    NO_LIST,
    Arguments,
    DictContent,
    Entry,
    ListContent,
    PartialContent,
)
from driftwatch.flow.domain.exceptions import FOREIGN
from driftwatch.flow.domain.pure import FUNCTIONS, copied
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.taint import depends_on_release, differs_by_release, is_tainted, unknown_tainted
from driftwatch.flow.domain.values import (
    Alternative,
    Atom,
    Class,
    Const,
    External,
    Function,
    Instance,
    Key,
    Lazy,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    MethodOf,
    Partial,
    SkipMark,
    SuperOf,
    Unknown,
    Value,
    const,
    join,
    unknown,
)
from driftwatch.flow.interpreter.arguments import is_interesting, unknown_call
from driftwatch.flow.interpreter.attributes import attribute_of
from driftwatch.flow.interpreter.classes import instantiate
from driftwatch.flow.interpreter.containers import merge_dicts, merge_value, spread_into
from driftwatch.flow.interpreter.functions import call_function
from driftwatch.flow.interpreter.havoc import holds_mutable
from driftwatch.flow.interpreter.instantiated import note_instantiation
from driftwatch.flow.interpreter.library import CONSTRUCTOR, use_call
from driftwatch.flow.interpreter.members import instance_attribute
from driftwatch.flow.interpreter.run import Run, as_alternatives, escape, settle
from driftwatch.flow.interpreter.sinks import DECORATOR_MAKERS
from driftwatch.flow.interpreter.skips import put_on
from driftwatch.releases import ReleaseSet


def evaluate_call(run: Run, node: cst.Call) -> Value:
    """The value of a call expression."""
    # To ask a libcst class whether something is of it is slow, where it is not.
    if type(node.func) is cst.Name and node.func.value == "super" and run.frame.owner is not None:
        for argument in node.args:
            run.eval(argument.value)
        return Value(((run.state.reach, SuperOf(run.frame.owner, _first_parameter(run))),))
    func = run.eval(node.func, callee=True)
    if func.where(_of_library).mask:
        run.eager += 1
        arguments = read_arguments(run, node)
        run.eager -= 1
    else:
        arguments = read_arguments(run, node)
    return apply_value(run, func, arguments, node)


def _first_parameter(run: Run) -> Atom | None:
    """What the method that is executed was called of, where it is one thing."""
    function = run.frame.function
    if function is None or function.owner is None or function.kind == "static":
        return None
    params = function.node.params
    first = next(iter((*params.posonly_params, *params.params)), None)
    value = run.state.vars.get(first.name.value) if first is not None else None
    return value.single() if value is not None else None


def _of_library(atom: Atom) -> bool:
    return isinstance(atom, (LibMethod, LibObject, Partial))


def read_arguments(run: Run, node: cst.Call) -> Arguments:
    """Evaluate the arguments of a call in order."""
    if not node.args:
        return NO_ARGUMENTS
    positional, keywords = NO_LIST, NO_DICT
    plain: list[Entry] = []
    named: dict[Key, Entry] = {}
    for arg in node.args:
        # Only what is called says whether a function passed on can still be followed.
        value = run.eval(arg.value, callee=True)
        reach = run.state.reach
        if arg.star == "*":
            positional = spread_into(run, _extended(positional, plain), value)
            plain = []
        elif arg.star == "**":
            keywords = _named(merge_value(run, _updated(keywords, named), value))
            named = {}
        elif arg.keyword is not None:
            named[arg.keyword.value] = Entry(reach, reach, value)
        else:
            plain.append(Entry(reach, reach, value))
    return Arguments(_extended(positional, plain), _updated(keywords, named))


def _named(content: DictContent) -> DictContent:
    """What a dict gives as keywords: under what is no text, Python takes nothing."""
    if all(isinstance(key, str) for key in content.entries):
        return content
    return replace(content, entries={key: entry for key, entry in content.entries.items() if isinstance(key, str)})


def _extended(content: ListContent, more: list[Entry]) -> ListContent:
    if not more:
        return content
    return ListContent(
        (*content.elements, *more), content.open, content.forwarded, content.is_tuple, content.others, content.is_set
    )


def _updated(content: DictContent, more: dict[Key, Entry]) -> DictContent:
    return content.having({**content.entries, **more}) if more else content


def apply_value(run: Run, func: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a value: each alternative in its own releases."""
    reach = run.state.reach
    alternatives = as_alternatives(func, reach)
    if not alternatives:
        return Value()
    if len(alternatives) == 1 and alternatives[0][0].mask == reach.mask:
        value = apply(run, alternatives[0][1], arguments, node)
        return unknown_tainted(value, depends_on_release(func)) if isinstance(alternatives[0][1], MethodOf) else value
    before = run.state
    results: list[State] = []
    value = Value()
    covered = func.defined()
    chosen, test = func.where(is_tainted), run.world.identities.test()
    rest = reach - covered
    of_library = bool(func.where(_of_library))
    if rest:
        results.append(before.fork(rest))
    for where, atom in alternatives:
        run.state = before.fork(where)
        if chosen:
            # Which of them is called a test decides that could not be followed.
            run.state.assume(test, not is_tainted(atom), chosen & where & _others(alternatives, atom))
        if of_library and isinstance(atom, Unknown):
            # It is what some release has in the place of the others': what it is given stays with the library.
            run.may_raise()
            value = join(value, unknown(where))
        else:
            value = join(value, apply(run, atom, arguments, node))
        results.append(run.state)
    settle(run, results)
    value = unknown_tainted(value.within(run.state.reach), depends_on_release(func))
    if value.where(is_tainted):
        run.asks_of_library(value)
    return value


def _others(alternatives: list[Alternative], atom: Atom) -> ReleaseSet:
    """The releases in which something else than this may be called."""
    return Value(tuple(alternatives)).where(lambda other: other != atom)


def apply(run: Run, atom: Atom, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call one thing."""
    if isinstance(atom, Function):
        return call_function(run, atom, arguments, node)
    only_reads = isinstance(atom, External) and atom.dotted in DECORATOR_MAKERS
    if isinstance(atom, (LibMethod, LibObject, External, MethodOf)) and not only_reads:
        for value in arguments.values():
            escape(run, value)
    if isinstance(atom, (LibMethod, LibObject)):
        return _library_call(run, atom, arguments, node)
    if isinstance(atom, External):
        return run.call_external(atom.dotted, arguments, node)
    if isinstance(atom, (Class, Lazy)):
        note_instantiation(run, atom)
    if isinstance(atom, Class):
        return instantiate(run, atom.code, arguments, node)
    if isinstance(atom, MethodOf):
        return run.semantics.method(run, atom, arguments, node)
    if isinstance(atom, Partial):
        return _call_partial(run, atom, arguments, node)
    if isinstance(atom, Lazy):
        told = any(differs_by_release(value) for value in arguments.values())
        changes = run.world.modules.changes_given(atom) if holds_mutable(run, arguments) else False
        if told or changes or run.eager or is_interesting(run, arguments) or run.world.modules.worth_following(atom):
            resolved = run.world.modules.look_at(atom)
            if resolved is not None:
                return apply_value(run, resolved.within(run.state.reach), arguments, node)
        _asks_for(run, arguments)
        return unknown_call(run, arguments, node, reads_only=changes is False)
    if isinstance(atom, (Instance, LibInstance)):
        called = _called_of(run, atom, node)
        if called is not None:
            return apply_value(run, called, arguments, node)
    if isinstance(atom, Const) and atom.value is None:
        run.stumbles("TypeError", run.state.reach, run.state.reach)
        return Value()
    if isinstance(atom, SkipMark):
        return put_on(run, atom, arguments)
    if isinstance(atom, (Unknown, LibModule)):
        _asks_what_is_called(run, atom, node)
    return unknown_call(run, arguments, node, atom)


def _asks_what_is_called(run: Run, atom: Unknown | LibModule, node: cst.CSTNode) -> None:
    if isinstance(atom, LibModule):
        run.unresolved(node, f"`{atom.module}` is called, which is a module")
        return
    run.asks(atom.parameter)
    if atom.name is not None:
        run.unresolved(node, f"what `{atom.name}` takes is not known")


def _asks_for(run: Run, arguments: Arguments) -> None:
    """What is passed over here is followed where a caller gives something of the library for what is passed on."""
    for value in arguments.values():
        for _, atom in value.alternatives:
            if isinstance(atom, Unknown):
                run.asks(atom.parameter)


def _called_of(run: Run, atom: Instance | LibInstance, node: cst.CSTNode) -> Value | None:
    """What is called when an instance is; None when that is not known."""
    if isinstance(atom, LibInstance):
        called = attribute_of(run, Value(((run.state.reach, atom),)), "__call__", node)
        return called if any(isinstance(a, LibMethod) for _, a in called.alternatives) else None
    method = instance_attribute(run, atom, "__call__", run.state.reach, None)
    known = method is not None and any(isinstance(a, Function) for _, a in method.alternatives)
    return method if known else None


def _construct(run: Run, atom: LibMethod, arguments: Arguments, node: cst.CSTNode) -> Value:
    """A class's constructor is called of an object that is there already, as subclasses do."""
    if atom.on_class:
        positional = replace(arguments.positional, elements=arguments.positional.elements[1:])
        arguments = Arguments(positional, arguments.keywords)
    _library_call(run, LibObject(atom.cls, is_class=True), arguments, node)
    return const(None, run.state.reach)


def _library_call(run: Run, atom: LibObject | LibMethod, arguments: Arguments, node: cst.CSTNode) -> Value:
    if isinstance(atom, LibMethod) and atom.name == CONSTRUCTOR:
        return _construct(run, atom, arguments, node)
    value = use_call(run, atom, arguments.positional, arguments.keywords, node)
    # What the call does inside may raise anything but what a wrong signature would; of that we know exactly.
    run.may_raise(FOREIGN)
    function = copied(atom.ref.dotted) if isinstance(atom, LibObject) else ""
    if function not in FUNCTIONS or (isinstance(atom, LibObject) and function == atom.ref.dotted):
        return value
    return run.call_external(function, arguments, node).within(run.state.reach)


def _call_partial(run: Run, atom: Partial, arguments: Arguments, node: cst.CSTNode) -> Value:
    content = run.content(atom.key)
    if not isinstance(content, PartialContent):
        return unknown(run.state.reach)
    positional = ListContent(
        (*content.positional.elements, *arguments.positional.elements),
        content.positional.open | arguments.positional.open,
        content.positional.forwarded | arguments.positional.forwarded,
    )
    keywords = merge_dicts(content.keywords, arguments.keywords, run.state.reach)
    return apply_value(run, content.func, Arguments(positional, keywords), node)
