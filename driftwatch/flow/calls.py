"""Calls: the callee's alternatives one by one, each with the arguments as they are in its releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import libcst as cst

from driftwatch.flow.attributes import attribute_of
from driftwatch.flow.containers import call_method, spread_into
from driftwatch.flow.library import use_call
from driftwatch.flow.run import Run, as_alternatives, escape, settle
from driftwatch.flow.state import DictContent, Entry, ListContent, PartialContent, State
from driftwatch.flow.syntax import Tree
from driftwatch.flow.values import (
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Function,
    Lazy,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    ListRef,
    MethodOf,
    NamesOf,
    ParameterMap,
    Partial,
    SignatureOf,
    SuperOf,
    Unknown,
    Value,
    join,
    touches_library,
    unknown,
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes."""

    positional: ListContent = ListContent()
    keywords: DictContent = DictContent()

    def values(self) -> list[Value]:
        return [e.value for e in (*self.positional.elements, *self.keywords.entries.values())]


NO_ARGUMENTS = Arguments()


def evaluate_call(run: Run, node: cst.Call) -> Value:
    """The value of a call expression."""
    if isinstance(node.func, cst.Name) and node.func.value == "super" and run.frame.owner is not None:
        for argument in node.args:
            run.eval(argument.value)
        return Value(((run.state.reach, SuperOf(run.frame.owner)),))
    func = run.eval(node.func, callee=True)
    if func.where(_of_library):
        run.eager += 1
        arguments = read_arguments(run, node)
        run.eager -= 1
    else:
        arguments = read_arguments(run, node)
    return apply_value(run, func, arguments, node)


def _of_library(atom: Atom) -> bool:
    return isinstance(atom, (LibMethod, LibObject, Partial))


def read_arguments(run: Run, node: cst.Call) -> Arguments:
    """Evaluate the arguments of a call in order."""
    from driftwatch.flow.expressions import merge_value

    positional, keywords = ListContent(), DictContent()
    for arg in node.args:
        value = run.eval(arg.value)
        reach = run.state.reach
        if arg.star == "*":
            positional = spread_into(run, positional, value, arg)
        elif arg.star == "**":
            keywords = merge_value(run, keywords, value, arg)
        elif arg.keyword is not None:
            name = arg.keyword.value
            keywords = DictContent(
                {**keywords.entries, name: Entry(reach, reach, value)}, keywords.open, keywords.forwarded
            )
        else:
            positional = replace(positional, elements=(*positional.elements, Entry(reach, reach, value)))
    return Arguments(positional, keywords)


def apply_value(run: Run, func: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a value: each alternative in its own releases."""
    reach = run.state.reach
    alternatives = as_alternatives(func, reach)
    if not alternatives:
        return Value()
    if len(alternatives) == 1 and alternatives[0][0] == reach:
        return apply(run, alternatives[0][1], arguments, node)
    before = run.state
    results: list[State] = []
    value = Value()
    covered = func.defined()
    rest = reach - covered
    if rest:
        results.append(before.fork(rest))
    for where, atom in alternatives:
        run.state = before.fork(where)
        value = join(value, apply(run, atom, arguments, node))
        results.append(run.state)
    settle(run, results)
    return value.within(run.state.reach)


def apply(run: Run, atom: Atom, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call one thing."""
    if isinstance(atom, (LibMethod, LibObject)):
        return _library_call(run, atom, arguments, node)
    if isinstance(atom, External):
        from driftwatch.flow.models import call_external

        return call_external(run, atom.dotted, arguments, node)
    if isinstance(atom, Function):
        from driftwatch.flow.functions import call_function

        return call_function(run, atom, arguments, node)
    if isinstance(atom, Class):
        from driftwatch.flow.functions import instantiate

        return instantiate(run, atom.code, arguments, node)
    if isinstance(atom, MethodOf):
        return call_method(run, atom, arguments.positional, arguments.keywords, node)
    if isinstance(atom, Partial):
        return _call_partial(run, atom, arguments, node)
    if isinstance(atom, Lazy):
        if run.eager or is_interesting(run, arguments) or run.world.worth_following(atom):
            resolved = run.world.resolve_lazy(atom)
            if resolved is not None:
                return apply_value(run, resolved.within(run.state.reach), arguments, node)
        return unknown_call(run, arguments, node, what=atom.name)
    if isinstance(atom, LibInstance):
        called = attribute_of(run, Value(((run.state.reach, atom),)), "__call__", node)
        if any(isinstance(a, (LibMethod,)) for _, a in called.alternatives):
            return apply_value(run, called, arguments, node)
    if isinstance(atom, Const) and atom.value is None:
        if run.is_caught("TypeError"):
            run.throw("TypeError", run.state.reach)
        return Value()
    if isinstance(atom, Unknown):
        run.asks(atom.parameter)
    return unknown_call(run, arguments, node)


def _library_call(run: Run, atom: LibObject | LibMethod, arguments: Arguments, node: cst.CSTNode) -> Value:
    use, value = use_call(run, atom, arguments.positional, arguments.keywords, node)
    # What the call does inside may raise anything but what a wrong signature would; of that we know exactly.
    broken = run.world.breaks(use)
    if broken and use.catch.outcome.value == "guarded":
        run.throw("TypeError", broken)
        run.state.reach -= broken
        value = value.within(run.state.reach)
    elif broken and run.is_caught("TypeError"):
        run.throw("TypeError", broken)
    elif broken:
        run.fails_import(broken)
    from driftwatch.flow.exceptions import FOREIGN

    run.may_raise(FOREIGN)
    return value


def _call_partial(run: Run, atom: Partial, arguments: Arguments, node: cst.CSTNode) -> Value:
    content = run.content(atom.key)
    if not isinstance(content, PartialContent):
        return unknown(run.state.reach)
    from driftwatch.flow.containers import merge_dicts

    positional = ListContent(
        (*content.positional.elements, *arguments.positional.elements),
        content.positional.open | arguments.positional.open,
        content.positional.forwarded | arguments.positional.forwarded,
    )
    keywords = merge_dicts(content.keywords, arguments.keywords, run.state.reach)
    return apply_value(run, content.func, Arguments(positional, keywords), node)


def at_call(run: Run, arguments: Arguments, node: cst.CSTNode) -> Arguments:
    """The arguments as they are when another call passes them on: they first became arguments in this one."""
    location = run.location(node) if arguments.positional.elements or arguments.keywords.entries else None

    def mark(entry: Entry) -> Entry:
        return entry if entry.location is not None else replace(entry, location=location)

    return Arguments(
        replace(arguments.positional, elements=tuple(mark(e) for e in arguments.positional.elements)),
        replace(arguments.keywords, entries={k: mark(e) for k, e in arguments.keywords.entries.items()}),
    )


def is_interesting(run: Run, arguments: Arguments) -> bool:
    """Whether a call passes something of the library, or text that names it."""
    return any(_interesting(run, atom) for value in arguments.values() for _, atom in value.alternatives)


def _interesting(run: Run, atom: Atom) -> bool:
    if touches_library(atom) or isinstance(atom, (Function, Partial)):
        return True
    if isinstance(atom, Const):
        return isinstance(atom.value, str) and run.world.names_library(atom.value)
    if isinstance(atom, ListRef):
        content = run.content(atom.key)
        return isinstance(content, ListContent) and any(
            not isinstance(a, (ListRef, DictRef)) and _interesting(run, a)
            for e in content.elements
            for _, a in e.value.alternatives
        )
    return False


def unknown_call(run: Run, arguments: Arguments, node: cst.CSTNode, what: str | None = None) -> Value:
    """A call of something of which nothing is known."""
    for value in arguments.values():
        escape(value)
        for _, atom in value.alternatives:
            if isinstance(atom, LibObject) and not atom.is_class:
                run.unresolved(node, f"`{atom.ref.dotted}` is passed to a function that cannot be followed")
            if isinstance(atom, Partial):
                _look_at_partial(run, atom, node)
    run.may_raise()
    return unknown(run.state.reach)


def _look_at_partial(run: Run, atom: Partial, node: cst.CSTNode) -> None:
    content = run.content(atom.key)
    if isinstance(content, PartialContent):
        for _, inner in content.func.alternatives:
            if isinstance(inner, LibObject):
                run.unresolved(
                    node, f"a partial of `{inner.ref.dotted}` is passed to a function that cannot be followed"
                )


Site = tuple[Tree, cst.CSTNode]
Handler = Callable[[Run, Arguments, cst.CSTNode], Value]
