"""Functions are defined: decorators are called, defaults are evaluated, and accessors belong to their property."""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.contents import Arguments, Entry, ListContent
from driftwatch.flow.domain.frames import ENTER
from driftwatch.flow.domain.lineage import lineage, methods_of
from driftwatch.flow.domain.values import (
    Atom,
    Class,
    Function,
    Instance,
    Lazy,
    LibMethod,
    LibObject,
    Managed,
    Partial,
    Replacing,
    Value,
)
from driftwatch.flow.interpreter.escape import has_library, lose
from driftwatch.flow.interpreter.functions import TRANSPARENT_DECORATORS, is_known_callable, manages
from driftwatch.flow.interpreter.parameters import all_parameters
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.skips import mark_skipped
from driftwatch.flow.syntax.syntax import dotted_name


def define_function(run: Run, node: cst.FunctionDef) -> Value:
    """The value of a ``def``; its body is not executed."""
    function = run.world.identities.function(run.frame, node, node.name.value)
    function.reach |= run.state.reach
    function.guards = run.path
    function.decorators = tuple(_decorator_name(d) for d in node.decorators)
    value = Value(((run.state.reach, Function(function)),))
    run.eager += 1
    applied = [(decorator, _evaluated(run, decorator)) for decorator in node.decorators]
    run.eager -= 1
    _evaluate_defaults(run, node.params)
    if run.frame.function is not None:
        function.closure = (dict(run.state.vars), *run.frame.closure)
    elif run.frame.owner is not None:
        # A method does not see its class's variables, but it sees those of a function round the class.
        function.closure = run.frame.closure or None
    run.frame.defined.functions.append(function)
    function.patches = tuple(wrapper for _, wrapper in applied if wrapper.where(lambda a: isinstance(a, Replacing)))
    function.managers = ()
    for decorator, wrapper in reversed(applied):
        value = _decorated(run, function, decorator, wrapper, value)
    owner, before = run.frame.owner, run.state.vars.get(node.name.value)
    if owner is not None and run.frame.function is None and before is not None and _is_accessor(function):
        # What is read is what the property gives.
        owner.chosen.append(function)
        if function.decorators[-1] == f"{node.name.value}.setter":
            owner.setters[node.name.value] = function
        return before
    return value


def _evaluated(run: Run, decorator: cst.Decorator) -> Value:
    """What a decorator is; a context manager of the code base is entered when the function is called."""
    inner = decorator.decorator
    called = run.eval(inner.func, callee=True).single() if isinstance(inner, cst.Call) else None
    return run.eval(inner, callee=True, to=ENTER if isinstance(called, Function) and manages(called.code) else None)


def _evaluate_defaults(run: Run, parameters: cst.Parameters) -> None:
    for parameter in all_parameters(parameters):
        if parameter.default is not None:
            value = run.eval(parameter.default)
            if not isinstance(parameter.default, (cst.Name, cst.Attribute, cst.Tuple)):
                lose(run, value, parameter.default, "the default of a parameter")


def _is_accessor(function: FunctionCode) -> bool:
    """Whether a function sets or deletes a property that another one gives."""
    return function.decorators[-1:] in ((f"{function.name}.setter",), (f"{function.name}.deleter",))


def _decorated(run: Run, function: FunctionCode, decorator: cst.Decorator, wrapper: Value, value: Value) -> Value:
    """What a decorator makes of a function: what a function of the code base returns, else the function itself."""
    if mark_skipped(run, wrapper, value):
        return value
    if (_decorator_name(decorator) or "").rpartition(".")[2] in TRANSPARENT_DECORATORS:
        return value
    alone = wrapper.single()
    if isinstance(alone, Lazy):
        wrapper = run.world.modules.look_at(alone) or wrapper
    if wrapper.alternatives and all(_manages_calls(atom) for _, atom in wrapper.alternatives):
        if isinstance(function.node, cst.FunctionDef) and function.node.asynchronous is None:
            function.managers = (decorator.decorator, *function.managers)
            return value
    several = len(wrapper.alternatives) > 1
    of_library = wrapper.only(
        lambda atom: isinstance(atom, (LibObject, LibMethod)) or (several and _is_partial(run, atom))
    )
    if of_library.alternatives:
        reach = run.state.reach
        run.call(of_library, Arguments(ListContent((Entry(reach, reach, value),))), decorator.decorator)
        if len(of_library.alternatives) == len(wrapper.alternatives):
            return value
    if isinstance(wrapper.single(), (Function, Class, Instance, Partial)):
        reach, escaped = run.state.reach, function.escaped
        made = run.call(wrapper, Arguments(ListContent((Entry(reach, reach, value),))), decorator.decorator)
        wrappers = tuple(atom.code for _, atom in made.alternatives if isinstance(atom, Function))
        if len(wrappers) == len(made.alternatives):
            for where, atom in made.alternatives:
                if atom == Function(function):
                    # Where it is another one, nobody comes to this one by its name.
                    function.reach &= where
            if run.frame.function is None and run.frame.owner is not None:
                _wrap_method(run.frame.owner, function, wrappers)
            if function not in wrappers:
                function.wrapped_by = wrappers
                for each in wrappers:
                    each.skipped |= function.skipped
                    each.may_be_skipped |= function.may_be_skipped
            return made
        objects = [atom for _, atom in made.alternatives if isinstance(atom, Instance)]
        called = tuple(method for each in objects for method in methods_of(each.code, "__call__"))
        if called and len(objects) == len(made.alternatives):
            # Who calls it by its name calls an object that was made of it, and that alone knows it.
            function.wrapped_by, function.escaped = called, escaped
            return made
        if made.alternatives and all(is_known_callable(run, atom) for _, atom in made.alternatives):
            if not made.where(lambda atom: not isinstance(atom, (LibObject, LibMethod))) and not function.escaped:
                # Nobody is left who could call it.
                function.reach -= made.defined()
            function.escaped |= function.reach
            return made
    function.escaped |= function.reach
    return value


def _manages_calls(atom: Atom) -> bool:
    """Whether what decorates a function is a context manager within which the calls of that are executed."""
    if not isinstance(atom, Instance):
        return isinstance(atom, Managed)
    # Only as a `contextlib.ContextDecorator` can what is entered be put on a function, unless its class says how.
    methods = {name for each in lineage(atom.code)[0] for name in each.methods}
    return "__exit__" in methods and "__call__" not in methods


def _is_partial(run: Run, atom: Atom) -> bool:
    """Whether an atom is a partial with something of the library in it."""
    return isinstance(atom, Partial) and has_library(run, Value(((run.state.reach, atom),)))


def _wrap_method(owner: ClassCode, method: FunctionCode, wrappers: tuple[FunctionCode, ...]) -> None:
    """What a decorator makes for a method is the method from here on."""
    for each in wrappers:
        if each is not method and each.parent is not None and each.owner is None:
            each.owner, each.wraps, each.name, each.qualname = owner, method, method.name, method.qualname
            each.decorators = method.decorators


def define_lambda(run: Run, node: cst.Lambda) -> Value:
    """The value of a lambda."""
    function = run.world.identities.function(run.frame, node, "<lambda>")
    _evaluate_defaults(run, node.params)
    function.reach |= run.state.reach
    in_class = run.frame.function is None and run.frame.owner is not None
    function.closure = run.frame.closure if in_class else (dict(run.state.vars), *run.frame.closure)
    run.frame.defined.functions.append(function)
    return Value(((run.state.reach, Function(function)),))


def _decorator_name(decorator: cst.Decorator) -> str | None:
    inner = decorator.decorator
    return dotted_name(inner.func if isinstance(inner, cst.Call) else inner)
