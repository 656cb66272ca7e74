"""The code base's own functions: definition, binding of arguments, following calls into bodies.

A function is followed into its body from a call when what it does depends on who calls it: it is private and reaches
the library, it passes its arguments on, or it does not return in every release. Else its summary answers.
"""

from __future__ import annotations

import libcst as cst

from driftwatch.flow.annotations import annotated, default_of
from driftwatch.flow.arguments import at_call, is_interesting, passes_constants, unknown_call
from driftwatch.flow.children import children
from driftwatch.flow.code import ClassCode, FunctionCode, Summary
from driftwatch.flow.escape import has_library
from driftwatch.flow.handed import hand_over, holds_mutable
from driftwatch.flow.replaced import carried, enter_patches
from driftwatch.flow.run import MAX_DEPTH, Frame, Run, escape
from driftwatch.flow.shared import keep_content, loosened
from driftwatch.flow.skips import mark_skipped
from driftwatch.flow.state import Arguments, DictContent, Entry, ListContent, State, chosen, join_content, join_states
from driftwatch.flow.survey import CONSTRUCTORS
from driftwatch.flow.syntax import dotted_name
from driftwatch.flow.values import (
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Function,
    Instance,
    Lazy,
    ListRef,
    Replacing,
    Unknown,
    Value,
    const,
    depends_on_release,
    join,
    unknown,
    unknown_tainted,
    value_of,
)
from driftwatch.releases import EMPTY, ReleaseSet

MAX_ENTERED = 400
"""A function entered more often than this is no longer followed from further calls."""

TRANSPARENT_DECORATORS = frozenset(
    {
        "staticmethod", "classmethod", "property", "cache", "lru_cache", "cached_property", "wraps", "contextmanager",
        "no_grad", "inference_mode", "abstractmethod", "override", "setter", "getter", "asynccontextmanager", "final",
        "overload", "compile", "jit", "fixture", "deleter", "total_ordering", "dataclass", "singledispatch",
    }
)  # fmt: skip
"""Decorators whose result is called as the function itself is."""

FIXTURES = {"monkeypatch": "pytest.MonkeyPatch", "mocker": "pytest_mock.mocker"}
"""Parameters that a test runner fills in by their name."""


# -- definition --------------------------------------------------------------------------------------------------------


def define_function(run: Run, node: cst.FunctionDef) -> Value:
    """The value of a ``def``; its body is not executed."""
    function = run.world.identities.function(run.frame, node, node.name.value)
    function.reach |= run.state.reach
    function.guards = run.path
    function.decorators = tuple(_decorator_name(d) for d in node.decorators)
    value = Value(((run.state.reach, Function(function)),))
    run.eager += 1
    applied = [(decorator, run.eval(decorator.decorator, callee=True)) for decorator in node.decorators]
    run.eager -= 1
    for parameter in _all_parameters(node.params):
        if parameter.default is not None:
            run.eval(parameter.default)
    if run.frame.function is not None:
        function.closure = (dict(run.state.vars), *run.frame.closure)
    elif run.frame.owner is not None:
        # A method does not see its class's variables, but it sees those of a function round the class.
        function.closure = run.frame.closure or None
    run.frame.defined.append(function)
    function.patches = tuple(wrapper for _, wrapper in applied if wrapper.where(lambda a: isinstance(a, Replacing)))
    for decorator, wrapper in reversed(applied):
        value = _decorated(run, function, decorator, wrapper, value)
    return value


def _decorated(run: Run, function: FunctionCode, decorator: cst.Decorator, wrapper: Value, value: Value) -> Value:
    """What a decorator makes of a function: what a function of the code base returns, else the function itself."""
    if mark_skipped(run, wrapper, value):
        return value
    if (_decorator_name(decorator) or "").rpartition(".")[2] in TRANSPARENT_DECORATORS:
        return value
    alone = wrapper.single()
    if isinstance(alone, Lazy):
        wrapper = run.world.modules.look_at(alone) or wrapper
    if isinstance(wrapper.single(), Function):
        reach = run.state.reach
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
    function.escapes = True
    return value


def _wrap_method(owner: ClassCode, method: FunctionCode, wrappers: tuple[FunctionCode, ...]) -> None:
    """What a decorator makes for a method is the method from here on."""
    for each in wrappers:
        if each is not method and each.parent is not None and each.owner is None:
            each.owner, each.wraps, each.name, each.qualname = owner, method, method.name, method.qualname
            each.decorators = method.decorators


def define_lambda(run: Run, node: cst.Lambda) -> Value:
    """The value of a lambda."""
    function = run.world.identities.function(run.frame, node, "<lambda>")
    function.reach |= run.state.reach
    function.closure = (dict(run.state.vars), *run.frame.closure)
    run.frame.defined.append(function)
    return Value(((run.state.reach, Function(function)),))


def _decorator_name(decorator: cst.Decorator) -> str | None:
    inner = decorator.decorator
    return dotted_name(inner.func if isinstance(inner, cst.Call) else inner)


# -- binding -----------------------------------------------------------------------------------------------------------


def _all_parameters(params: cst.Parameters) -> list[cst.Param]:
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def bind_unknown(run: Run, function: FunctionCode, reach: ReleaseSet, uid: int) -> dict[str, Value]:
    """The parameters of a function called by anyone."""
    params = function.node.params
    bindings: dict[str, Value] = {}
    names = [*params.posonly_params, *params.params]
    start = 0
    if function.owner is not None and names and function.kind != "static":
        owner: Atom = Class(function.owner) if function.kind == "class" else Instance(function.owner)
        bindings[names[0].name.value] = Value(((reach, owner),))
        start = 1
    for parameter in (*names[start:], *params.kwonly_params):
        fixture = FIXTURES.get(parameter.name.value)
        given = _of_annotation(run, function, parameter, reach) if fixture is None else None
        bindings[parameter.name.value] = given or Value(((reach, External(fixture or "")),))
    if isinstance(params.star_arg, cst.Param):
        key = run.world.identities.number((id(function.node), uid, "*"), function.node)
        name = params.star_arg.name.value
        given = Value(((reach, Unknown(name, derived=True)),))
        run.state.heap[key] = ListContent((), EMPTY, reach, is_tuple=True, others=given)
        bindings[params.star_arg.name.value] = Value(((reach, ListRef(key)),))
    if params.star_kwarg is not None:
        key = run.world.identities.number((id(function.node), uid, "**"), function.node)
        run.state.heap[key] = DictContent({}, EMPTY, reach)
        bindings[params.star_kwarg.name.value] = Value(((reach, DictRef(key)),))
    return bindings


def _of_annotation(run: Run, function: FunctionCode, parameter: cst.Param, reach: ReleaseSet) -> Value:
    anything = Value(((reach, Unknown(parameter.name.value)),))
    if parameter.annotation is None:
        return anything
    known = annotated(run, function, parameter.annotation.annotation)
    return known.within(reach) if known is not None and known.within(reach).alternatives else anything


def bind_arguments(
    run: Run, function: FunctionCode, bound: Atom | None, arguments: Arguments, node: cst.CSTNode, uid: int
) -> dict[str, Value]:
    """The parameters of a function for one call."""
    reach = run.state.reach
    params = function.node.params
    passes_on = isinstance(params.star_arg, cst.Param) or params.star_kwarg is not None
    marked = at_call(run, arguments, node) if passes_on else arguments
    positional = list(arguments.positional.elements)
    passed_on = list(marked.positional.elements)
    if bound is not None and function.kind != "static":
        positional.insert(0, Entry(reach, reach, Value(((reach, bound),))))
        passed_on.insert(0, positional[0])
    open_positional = (arguments.positional.open | arguments.positional.forwarded) & reach
    open_keywords = (arguments.keywords.open | arguments.keywords.forwarded) & reach
    bindings: dict[str, Value] = {}
    names = [*params.posonly_params, *params.params]
    by_keyword = dict(arguments.keywords.entries)
    for i, parameter in enumerate((*names, *params.kwonly_params)):
        name = parameter.name.value
        given: Entry | None = positional[i] if i < min(len(positional), len(names)) else None
        if given is None and parameter not in params.posonly_params:
            given = by_keyword.pop(name, None)
        may_be_given = open_keywords | (open_positional if i < len(names) else EMPTY)
        bindings[name] = _bound_value(run, function, parameter, given, reach, may_be_given)
    if isinstance(params.star_arg, cst.Param):
        key = run.world.identities.number((id(function.node), uid, "*"), function.node)
        extra = tuple(passed_on[len(names) :])
        run.state.heap[key] = ListContent(
            extra, marked.positional.open & reach, marked.positional.forwarded & reach, is_tuple=True
        )
        bindings[params.star_arg.name.value] = Value(((reach, ListRef(key)),))
    if params.star_kwarg is not None:
        key = run.world.identities.number((id(function.node), uid, "**"), function.node)
        entries = {k: e for k, e in marked.keywords.entries.items() if k in by_keyword}
        forwarded = marked.keywords.forwarded & reach
        run.state.heap[key] = DictContent(entries, forwarded=forwarded).joined_others(marked.keywords, reach)
        bindings[params.star_kwarg.name.value] = Value(((reach, DictRef(key)),))
    return bindings


def _bound_value(
    run: Run, function: FunctionCode, parameter: cst.Param, given: Entry | None, reach: ReleaseSet, open_: ReleaseSet
) -> Value:
    value = Value()
    absent = reach
    if given is not None:
        value = given.value.within(given.releases & reach)
        absent = reach - given.certain
        unclear = (given.releases & reach) - value.defined()
        value = join(value, unknown(unclear))
    if absent:
        value = join(value, _default(run, function, parameter, absent))
        value = join(value, unknown(absent & open_))
    if value.alternatives and all(isinstance(a, Unknown) for _, a in value.alternatives):
        known = None
        if parameter.annotation is not None:
            known = annotated(run, function, parameter.annotation.annotation)
        if known is not None and known.within(reach).alternatives:
            return known.within(reach)
    return value


def _default(run: Run, function: FunctionCode, parameter: cst.Param, where: ReleaseSet) -> Value:
    node = parameter.default
    if node is None:
        return unknown(where)
    if isinstance(
        node, (cst.Name, cst.SimpleString, cst.Integer, cst.Float, cst.Tuple, cst.UnaryOperation, cst.Attribute)
    ):
        return default_of(run, function, node, where)
    return unknown(where)


# -- calling -----------------------------------------------------------------------------------------------------------


def call_function(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a function of the code base."""
    function = callee.code
    function.called = True
    if _is_started(run, function, arguments, node):
        return unknown_call(run, arguments, node)
    followed = run.world.entries.times_active(function)
    if followed and not (followed == 1 and arguments.constants):
        return unknown_call(run, arguments, node)
    if run.frame.depth >= MAX_DEPTH or function.entered > MAX_ENTERED:
        summary = run.world.entries.summary(function)
        if summary is None or summary.uses_library:
            run.unresolved(node, f"the calls that lead to `{function.qualname}` are too many to be followed")
        return unknown_call(run, arguments, node)
    if followed:
        # What it does may depend on a constant that changes from call to call; this one stands for all of them.
        return enter(run, function, callee.bound, arguments.without_constants(), node)
    if not _must_enter(run, callee, arguments, node):
        summary = run.world.entries.summary(function)
        if summary is not None:
            _ask_for(run.frame, summary, arguments)
            for symbol, where in summary.reaches.items():
                run.reaches(node, symbol, where & run.state.reach)
            return _by_summary(run, summary, arguments, callee, node)
    return enter(run, function, callee.bound, arguments, node)


def _is_started(run: Run, function: FunctionCode, arguments: Arguments, node: cst.CSTNode) -> bool:
    """Whether all that is left of a program is a call of what is analysed by itself, with nothing round it to tell."""
    frame = run.frame
    if frame.started is not node or frame.tries or function.is_private or arguments:
        return False
    return function.closure is None and function.owner is None and not carried(run)


def _must_enter(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> bool:
    function = callee.code
    if function.module.executing or function.closure is not None or isinstance(function.node, cst.Lambda):
        return True
    summary = run.world.entries.summary(function)
    if summary is None:
        return False
    if not run.state.reach <= summary.completes:
        return True
    if any(isinstance(a, Function) and a.code.parent is function for _, a in summary.returns.alternatives):
        # What it returns remembers what it was given.
        return True
    if summary.uses_library and (_records(run.frame, function) or carried(run)):
        return True
    if summary.uses_library and not run.frame.muted and _is_hidden(run) and not _is_for_later(run, function, node):
        return True
    if isinstance(callee.bound, Const) or (summary.forwards and arguments):
        return True
    if summary.fills and holds_mutable(run, arguments):
        return True
    if summary.asks_constants and summary.uses_library and passes_constants(run, arguments):
        return True
    if any(has_library(run, value) for value in arguments.values()):
        # What becomes of it is followed, or said to be lost.
        return True
    return summary.asks_parameters and is_interesting(run, arguments)


def _is_hidden(run: Run) -> bool:
    """Whether nobody would notice here what a drift raises in a function that is called."""
    return any(run.hides(exception) for exception in ("TypeError", "AttributeError"))


def _ask_for(frame: Frame, callee: Summary | Frame, arguments: Arguments) -> None:
    """What a function that is called asks of its parameters, or does to them, the caller does with its own there."""
    if any(isinstance(a, Unknown) and a.parameter for value in arguments.values() for _, a in value.alternatives):
        frame.asks_parameters |= callee.asks_parameters
        frame.asks_constants |= callee.asks_constants
        frame.fills |= callee.fills
        frame.hands_over |= callee.hands_over


def _by_summary(run: Run, summary: Summary, arguments: Arguments, callee: Function, node: cst.CSTNode) -> Value:
    for value in arguments.values():
        escape(value)
    if summary.hands_over:
        hand_over(run, arguments, node)
    _change(run, summary)
    run.state.adopt(summary.heap)
    left = run.state.fork()
    run.undecided(run.state, left, summary.conditional)
    if callee.bound is not None:
        run.state.forget_attributes()
    if summary.uses_library:
        run.touch()
    for kind in sorted(summary.raises):
        run.may_raise(kind)
    returned = summary.returns.within(run.state.reach)
    rest = run.state.reach - returned.defined()
    guards = EMPTY
    for value in arguments.values():
        guards |= depends_on_release(value)
    return unknown_tainted(join(returned, unknown(rest)), guards)


def _change(run: Run, summary: Summary) -> None:
    """A function that is not followed changes containers that were there before, or does not."""
    state = run.state
    for key in summary.changes:
        run.frame.changed.add(key)
        mine, after = state.heap.get(key), summary.heap.get(key)
        if mine is not None and key in run.world.shared:
            # What all have put into it is known where it is shared.
            del state.heap[key]
        elif mine is not None and mine != after:
            loose = loosened(mine, state.reach)
            state.heap[key] = loose if after is None else join_content(mine, state.reach, after, state.reach, EMPTY)


def enter(run: Run, function: FunctionCode, bound: Atom | None, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Follow a call into the function's body."""
    function.entered += 1
    outer, outer_frame = run.state, run.frame
    uid = run.world.identities.call(outer_frame, node)
    bindings = bind_arguments(run, function, bound, arguments, node, uid)
    seen = carried(run)
    if outer_frame.function is None and outer_frame.owner is None and function.module is outer_frame.module:
        # Called while its module is still being executed: it sees the module's variables as they are now.
        function.module.names = {**function.module.names, **outer.vars}
    closure = function.closure or ()
    if function.parent is not None and function.parent is outer_frame.function:
        closure = (outer.vars, *closure[1:])
    nested = function.closure is not None
    frame = Frame(
        function.module,
        function.tree,
        function,
        caller=outer_frame,
        call=(outer_frame.tree, node),
        entered=outer,
        records=_records(outer_frame, function),
        muted=outer_frame.muted,
        depth=outer_frame.depth + 1,
        uid=uid,
        constructs=outer_frame.constructs,
        closure=closure,
        owner=function.owner,
        coverage=outer_frame.coverage,
        given=outer_frame.given | _passed_in(outer_frame, arguments),
        detached=_is_for_later(run, function, node),
    )
    kept, path = run.kept, run.path
    value, end = execute_body(run, frame, State(outer.reach, {**bindings, **seen}, outer.heap, on_the_way_of=outer))
    run.frame, run.kept = outer_frame, kept
    run.go_back(path)
    outer_frame.asks_parameters |= (frame.asks_parameters and nested) or frame.forwards
    _ask_for(outer_frame, frame, arguments)
    outer_frame.forwards |= frame.forwards
    outer_frame.fills |= frame.fills and nested
    outer_frame.changed |= frame.changed
    end = end if end is not None else State(EMPTY, {}, outer.heap)
    run.state = State(end.reach, outer.vars, end.heap, on_the_way_of=end)
    if isinstance(bound, Instance):
        run.state.forget_attributes()
    return value.within(end.reach)


def _records(frame: Frame, function: FunctionCode) -> bool:
    """Whether what a function does when it is called from a frame is recorded there: nobody else records it."""
    if function.escapes or not (function.is_private or function.closure is not None):
        return False
    return frame.records or function in frame.given


def _passed_in(frame: Frame, arguments: Arguments) -> frozenset[FunctionCode]:
    passed = {a.code for value in arguments.values() for _, a in value.alternatives if isinstance(a, Function)}
    return frozenset(code for code in passed if frame.records or code in frame.given)


def execute_body(run: Run, frame: Frame, state: State) -> tuple[Value, State | None]:
    """Execute a function's body: what it returns, and the state in which it does; None where it never does."""
    function = frame.function
    assert function is not None
    run.frame, run.state = frame, state
    for patch in function.patches:
        enter_patches(run, patch)
    node = function.node
    if isinstance(node, cst.Lambda):
        value = run.eval(node.body)
        return value, run.state
    start, given_conditions = state.reach, state.conditional
    body = function.tree.body(node)
    run.world.entries.activate(function)
    try:
        run.block(body.body)
    finally:
        run.world.entries.deactivate()
    if run.state.reach:
        frame.returns.append((run.state, const(None, run.state.reach)))
    value = Value()
    end: State | None = None
    for there, returned in frame.returns:
        rest = there.reach - returned.defined()
        given = join(returned.within(there.reach), unknown(rest))
        # Which of the values is returned a test may have decided that could not be followed.
        decided = (there.conditional - given_conditions) & value.defined()
        value = chosen(value, given, decided) if decided else join(value, given)
        end = join_states(end, there)
    if function.owner is not None and function.name in CONSTRUCTORS and end is not None:
        keep_content(run.world, function.owner, end)
    if is_generator(function):
        given = value_of(frame.yields) if manages(function) else unknown(start)
        return given, end if end is not None else State(start, {}, state.heap, on_the_way_of=state)
    if frame.caller is not None:
        frame.handed_out = {
            a.code for _, a in value.alternatives if isinstance(a, Function) and a.code in frame.defined
        }
        frame.caller.taken_over.extend(frame.handed_out)
    run.world.entries.leave(run, frame, end)
    return value, end


def is_generator(function: FunctionCode) -> bool:
    """Whether a function's own body yields."""
    if function.generator is None:
        node = function.node
        function.generator = False
        if isinstance(node, cst.FunctionDef):
            function.generator = "yield" in function.tree.text and _yields(function.tree.body(node))
    return function.generator


def _is_for_later(run: Run, function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a call makes a generator or a coroutine that is kept: what it does is done when somebody asks for it."""
    return run.kept is node and is_deferred(function)


def is_deferred(function: FunctionCode) -> bool:
    """Whether a call of a function does not execute it yet: of a generator, or of a coroutine."""
    asynchronous = isinstance(function.node, cst.FunctionDef) and function.node.asynchronous is not None
    return asynchronous or is_generator(function)


def manages(function: FunctionCode) -> bool:
    """Whether what a function returns is entered by a ``with``."""
    names = ((name or "").rpartition(".")[2] for name in function.decorators)
    return any(name in ("contextmanager", "asynccontextmanager") for name in names)


def _yields(node: cst.CSTNode) -> bool:
    stack: list[cst.CSTNode] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Yield):
            return True
        if not isinstance(current, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            stack.extend(children(current))
    return False
