"""The code base's own functions: definition, binding of arguments, following calls into bodies.

A function is followed into its body from a call when what it does depends on who calls it: it is private and reaches
the library, it passes its arguments on, or it does not return in every release. Else its summary answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.code import FunctionCode, Summary
from driftwatch.flow.domain.contents import Arguments, Entry, ListContent, PartialContent
from driftwatch.flow.domain.facts import is_left_open, is_read_from, of_nobody, telling
from driftwatch.flow.domain.frames import AWAIT, ENTER, KEEP, Call, Frame
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.predicates import is_undecided, overlaps, touches_library
from driftwatch.flow.domain.state import State, chosen, ghosts, join_states
from driftwatch.flow.domain.taint import depends_on_release
from driftwatch.flow.domain.values import (
    STATIC,
    Alternative,
    Atom,
    Class,
    Const,
    Function,
    Instance,
    LibMethod,
    LibObject,
    Managed,
    Partial,
    Unknown,
    Value,
    const,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import is_interesting, passes_constants, unknown_call
from driftwatch.flow.interpreter.choices import says
from driftwatch.flow.interpreter.deferred import COROUTINE, defer, put_off
from driftwatch.flow.interpreter.escape import has_library
from driftwatch.flow.interpreter.generators import begin_generator, end_generator
from driftwatch.flow.interpreter.havoc import havoc, holds_mutable
from driftwatch.flow.interpreter.names import assigned_outside
from driftwatch.flow.interpreter.objects import content_of
from driftwatch.flow.interpreter.parameters import all_parameters, bind_arguments, default_texts
from driftwatch.flow.interpreter.receivers import differs
from driftwatch.flow.interpreter.replaced import carried, enter_patches, left_replaced
from driftwatch.flow.interpreter.run import MAX_DEPTH, Run
from driftwatch.flow.interpreter.shared import keep_content
from driftwatch.flow.interpreter.summaries import ask_for, by_summary, is_special, of_instance
from driftwatch.flow.syntax.children import children
from driftwatch.flow.syntax.survey import CONSTRUCTORS
from driftwatch.flow.syntax.syntax import statements
from driftwatch.releases import EMPTY, union

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

# -- definition --------------------------------------------------------------------------------------------------------


def is_known_callable(run: Run, atom: Atom) -> bool:
    """Whether a decorator has given something that is known by what it does when it is called."""
    if isinstance(atom, Partial):
        content = run.content(atom.key)
        func = content.func if isinstance(content, PartialContent) else Value()
        return bool(func.alternatives) and all(is_known_callable(run, each) for _, each in func.alternatives)
    return isinstance(atom, (Function, Class, LibObject, LibMethod))


# -- calling -----------------------------------------------------------------------------------------------------------


def call_function(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a function of the code base."""
    callee, arguments = of_instance(Function(callee.code) if callee.bound == STATIC else callee, arguments)
    function = callee.code
    function.called = True
    function.called_later = function.called_later or not run.in_constructor
    if manages(function) and is_generator(function):
        return _manager(run, callee, arguments, node)
    if not run.purpose.is_to(AWAIT, node) and is_coroutine(function):
        return defer(run, Value(((run.state.reach, callee),)), arguments, node, COROUTINE)
    if _is_started(run, function, arguments, node):
        return unknown_call(run, arguments, node)
    return _follow(run, callee, arguments, node)


def _follow(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
    function = callee.code
    followed = run.world.entries.times_active(function)
    if followed and not (followed == 1 and arguments.constants):
        return _not_followed(run, callee, arguments, node)
    if run.frame.depth >= MAX_DEPTH or function.entered > MAX_ENTERED or run.frame.budget.spent:
        summary = run.world.entries.summary(function)
        if summary is None or summary.effects.uses_library:
            run.unresolved(node, f"the calls that lead to `{function.qualname}` are too many to be followed")
        return _not_followed(run, callee, arguments, node)
    if followed:
        # What it does may depend on a constant that changes from call to call; this one stands for all of them.
        return enter(run, function, callee.bound, arguments.without_constants(), node)
    if not _must_enter(run, callee, arguments, node):
        summary = run.world.entries.summary(function)
        if summary is not None:
            ask_for(run.effects, summary.effects, arguments, chosen=bool(summary.varies))
            for symbol, where in summary.reaches.items():
                run.reaches(node, symbol, where & run.state.reach)
            return by_summary(run, summary, arguments, callee, node)
    return enter(run, function, callee.bound, arguments, node)


def _not_followed(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
    """A method that is not followed may set any attribute of what it is called of."""
    if isinstance(callee.bound, Instance):
        reach = run.state.reach
        this = Entry(reach, reach, Value(((reach, callee.bound),)))
        havoc(run, Arguments(ListContent((this,))), node)
    return unknown_call(run, arguments, node)


def _manager(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What a generator makes that is a context manager: it is executed where it is entered."""
    key = run.number(node, "manager")
    put_off(run, node)
    func = Value(((run.state.reach, callee),))
    gives = Value()
    if not run.purpose.is_to(ENTER, node):
        # Who enters it may not be seen.
        gives = _follow(run, callee, arguments, node)
    run.state.heap[key] = PartialContent(func, arguments.positional, arguments.keywords)
    return Value(((run.state.reach, Managed(key, node, gives)),)) if run.state.reach else Value()


def _is_started(run: Run, function: FunctionCode, arguments: Arguments, node: cst.CSTNode) -> bool:
    """Whether all that is left of a program is a call of what is analysed by itself, with nothing round it to tell."""
    frame = run.frame
    if frame.script is None or _last_of(frame.script) is not node or frame.tries or function.is_private or arguments:
        return False
    return function.closure is None and function.owner is None and not carried(run)


def _last_of(body: cst.BaseSuite) -> cst.CSTNode | None:
    *_, last = statements(body)
    return last.value if isinstance(last, cst.Expr) else None


def _must_enter(run: Run, callee: Function, arguments: Arguments, node: cst.CSTNode) -> bool:
    function = callee.code
    if function.module.executing or function.closure is not None or isinstance(function.node, cst.Lambda):
        return True
    if run.handling and run.state.faults:
        # What a handler does with a fault depends on what it calls.
        return True
    summary = run.world.entries.summary(function)
    if summary is None:
        return False
    if not run.state.reach <= summary.completes:
        return True
    if any(isinstance(a, Function) and a.code.parent is function for _, a in summary.returns.alternatives):
        # What it returns remembers what it was given.
        return True
    if summary.effects.replaces:
        return True
    if summary.effects.uses_library:
        if run.recording.records_in(function) or carried(run):
            return True
        if not run.recording.muted and _is_hidden(run) and not _is_for_later(run, function, node):
            return True
    if isinstance(callee.bound, Instance) and _is_another(run, callee.bound, summary, arguments):
        return True
    if isinstance(callee.bound, Const) or (summary.effects.forwards and arguments) or _is_left_open(summary):
        return True
    if callee.bound is not None and function.owner is None and summary.effects.depends_on_parameters:
        # It was put on a class: what it is called of is a parameter like any other.
        return True
    if _leaves_something(run, callee, summary, arguments) or _tells_more(summary, arguments):
        return True
    asks = summary.effects.depends_on_constants and _is_told_constants(run, function, summary, arguments)
    if asks or _decides(run, callee, summary, arguments):
        return True
    if isinstance(callee.bound, (Class, Instance)) and callee.bound.code is not function.owner:
        if differs(callee.bound.code, summary, run.world.dependencies):
            return True
    if any(has_library(run, value) for value in arguments.values()):
        # What becomes of it is followed, or said to be lost.
        return True
    return summary.effects.depends_on_parameters and is_interesting(run, arguments)


def _leaves_something(run: Run, callee: Function, summary: Summary, arguments: Arguments) -> bool:
    """Whether a call may put what it is given, or is called of, where it is found later."""
    if summary.effects.mutates and holds_mutable(run, arguments):
        return True
    if not summary.effects.changes:
        return False
    given = (atom for value in arguments.values() for _, atom in value.alternatives)
    return any(isinstance(atom, Class) for atom in (callee.bound, *given))


def _decides(run: Run, callee: Function, summary: Summary, arguments: Arguments) -> bool:
    """Whether a call may decide which of several things a function gives, or what is in it."""
    if _is_a_choice(summary.returns) and (passes_constants(run, arguments) or _is_told_apart(run, callee.bound)):
        return True
    given_atoms = [atom for value in arguments.values() for _, atom in value.alternatives]
    if len(summary.returns.alternatives) > 1 and any(map(is_read_from, given_atoms)):
        return True
    if any(map(is_left_open, summary.returns.alternatives)) and passes_constants(run, arguments):
        return True
    if says(run, callee, summary, arguments) or _answers_for_itself(run, callee.bound, summary):
        return True
    if not summary.effects.branches_on_parameters:
        return False
    if summary.effects.reads_attributes and _is_told_apart(run, callee.bound):
        return True
    if any(not isinstance(atom, Unknown) for atom in given_atoms):
        return True
    given = len(arguments.positional.elements)
    named = arguments.keywords.entries
    rest = [each for each in all_parameters(callee.code.node.params)[given:] if each.name.value not in named]
    return any(each.default is not None for each in rest)


def _is_left_open(summary: Summary) -> bool:
    """Whether there is in what a function does, or makes, whatever it is given: it may be nothing."""
    made = summary.made.values()
    return summary.effects.passes_unknown or any(
        each.forwarded for each in made if not isinstance(each, PartialContent)
    )


def _tells_more(summary: Summary, arguments: Arguments) -> bool:
    """Whether a call is given what was found out of the library, and gives what is made of it."""
    if all(type(atom) is Const for _, atom in summary.returns.alternatives):
        return False
    return any(depends_on_release(value) for value in arguments.values())


def _is_told_apart(run: Run, bound: Atom | None) -> bool:
    """Whether what a method is called of is known by what it holds, which may decide as a constant does."""
    return isinstance(bound, Instance) and content_of(run, bound) is not None


def _answers_for_itself(run: Run, bound: Atom | None, summary: Summary) -> bool:
    """Whether a method says what nobody can tell of any object, of one that holds the constants that it looks at."""
    if not isinstance(bound, Instance) or not is_undecided(summary.returns):
        return False
    content = content_of(run, bound)
    held = content.entries if content is not None else {}
    known = (entry.value for name in summary.effects.reads_attributes if (entry := held.get(name)) is not None)
    return any(isinstance(atom, Const) for value in known for _, atom in value.alternatives)


def _is_another(run: Run, this: Instance, summary: Summary, arguments: Arguments) -> bool:
    """Whether a method does something else for this object than for any."""
    return is_special(run, this, summary, arguments) or _gives_itself(run, this, summary.returns)


def _gives_itself(run: Run, this: Instance, returns: Value) -> bool:
    """Whether a method may return the object that it is called of, which holds something of the library."""
    order = lineage(this.code)[0]
    if not any(isinstance(a, Instance) and a.site is None and a.code in order for _, a in returns.alternatives):
        return False
    content = content_of(run, this)
    return content is not None and any(has_library(run, entry.value) for entry in content.entries.values())


def _is_a_choice(returns: Value) -> bool:
    """Whether a function gives one of several things of the library in one release: a constant may decide which."""
    return overlaps(returns.only(touches_library))


def _is_told_constants(run: Run, function: FunctionCode, summary: Summary, arguments: Arguments) -> bool:
    """Whether a call says what a function asks: what of the library it uses, or where the library is."""
    defaults = tuple(default_texts(function))
    told = summary.effects.uses_library and (defaults or passes_constants(run, arguments))
    return bool(told) or any(map(run.target.is_inside, defaults))


def _is_hidden(run: Run) -> bool:
    """Whether nobody would notice here what a drift raises in a function that is called."""
    return any(run.hides(exception) for exception in ("TypeError", "AttributeError"))


def enter(
    run: Run,
    function: FunctionCode,
    bound: Atom | None,
    arguments: Arguments,
    node: cst.CSTNode,
    *,
    at_yield: Callable[[Value], None] | None = None,
) -> Value:
    """Follow a call into the function's body; `at_yield` is what is done where a context manager's generator yields."""
    outer, outer_frame = run.state, run.frame
    function.entered += 1
    uid = run.world.identities.call(outer_frame, node)
    bindings = bind_arguments(run, function, bound, arguments, node, uid)
    seen = carried(run)
    if outer_frame.function is None and outer_frame.owner is None and function.module is outer_frame.module:
        # Called while its module is still being executed: it sees the module's variables as they are now.
        function.module.names = {**function.module.names, **outer.vars}
    closure = function.closure or ()
    if function.parent is not None and function.parent is outer_frame.function:
        # What a comprehension had bound where it was defined is no variable of the function round it.
        closure = ({**closure[0], **outer.vars} if closure else outer.vars, *closure[1:])
    nested, detached = function.closure is not None, _is_for_later(run, function, node)
    frame = Frame(
        function.module,
        function.tree,
        function,
        function.owner,
        closure,
        Call(outer_frame, (run.tree_of(node), node), outer, outer_frame.depth + 1, detached, at_yield),
        outer_frame.recording.of_call(function, arguments),
        outer_frame.budget,
        uid,
        outer_frame.constructs,
        outer_frame.turns if outer_frame.constructs else (),
    )
    path = run.path
    value, end = execute_body(run, frame, State(outer.reach, {**bindings, **seen}, outer.heap, on_the_way_of=outer))
    tests = run.path[len(path) :]
    run.frame = outer_frame
    run.go_back(path)
    ask_for(run.effects, frame.effects, arguments, chosen=bool(frame.effects.branches_on_parameters))
    run.effects.on_call(frame.effects, nested=nested)
    end = end if end is not None else State(EMPTY, {}, outer.heap)
    variables = frame.outside(end) or outer.vars
    if frame.nonlocals or frame.globals:
        run.state = outer
        variables = {**variables, **assigned_outside(run, frame, end)}
    if frame.effects.replaces:
        variables = {**variables, **left_replaced(frame.effects, end.vars)}
    run.state = State(end.reach, variables, end.heap, on_the_way_of=end)
    turned_away = (outer.reach - end.reach) & union([test.refused for test in tests])
    if turned_away:
        # What follows is behind a test that turns everybody away, or else behind the call that has asked for it.
        summary = None if function.module.executing else run.world.entries.summary(function)
        always = turned_away - summary.completes if summary is not None else EMPTY
        run.go_back((*path, *(replace(test, refused=test.refused & always) for test in tests if test.refused & always)))
        run.behind(node, end.reach, end.reach | (turned_away - always))
    if isinstance(bound, Instance):
        run.state.forget_attributes()
    return of_nobody(value.within(end.reach), uid)


def execute_body(run: Run, frame: Frame, state: State) -> tuple[Value, State | None]:
    """Execute a function's body: what it returns, and the state in which it does; None where it never does."""
    function = frame.function
    assert function is not None
    run.frame, run.state = frame, state
    for patch in function.patches:
        enter_patches(run, patch)
    node = function.node
    end: State | None
    if isinstance(node, cst.Lambda):
        value = run.eval(node.body)
        end = run.state
        _leave(run, frame, value.alternatives, end)
        run.state = end
        return value, end
    start, given_conditions, given_facts = state.reach, state.conditional, state.told
    body = function.tree.body(node)
    at_yield = frame.call.at_yield if frame.call is not None else None
    generates = is_generator(function) and at_yield is None
    if generates and not manages(function):
        begin_generator(run, frame)
    run.world.entries.activate(function)
    try:
        run.block(body.body if not function.managers else [_within(function, body)])
    finally:
        run.world.entries.deactivate()
    if run.state.reach:
        frame.returns.append((run.state, const(None, run.state.reach)))
    value = Value()
    end = None
    live = EMPTY
    for there, _ in frame.returns:
        live |= there.live
    keeps = generates or frame.keeps_variables or bool(frame.effects.replaces) or len(frame.returns) < 2
    for left, result in frame.returns:
        # What is returned behind a test goes together with what that has said.
        returned = result if left.told is given_facts else telling(result, left.told - given_facts)
        # Nobody asks for the variables of a function that has returned.
        there = left if keeps else State(left.reach, {}, left.heap, on_the_way_of=left)
        if not there.ghost.mask and not there.conditions:
            value = join(value, join(returned.within(there.reach), unknown(there.reach - returned.defined())))
            end = join_states(end, there)
            continue
        # What would be returned where the program has ended counts only where nothing else is.
        really = there.reach - (there.ghost & live)
        given = join(returned.within(really), unknown(really - returned.defined()))
        given = join(given, ghosts(returned, there.reach - really))
        # Which of the values is returned a test may have decided that could not be followed.
        decided = (there.conditional - given_conditions) & value.defined()
        value = chosen(value, given, decided) if decided else join(value, given)
        end = join_states(end, there)
    if function.owner is not None and function.name in CONSTRUCTORS and end is not None:
        keep_content(run.world, function.owner, end)
    _leave(run, frame, (*value.alternatives, *frame.yields), end)
    if at_yield is not None:
        return Value(), end
    if generates and not manages(function):
        return end_generator(run, frame, start, end)
    if generates:
        return value_of(frame.yields), end if end is not None else State(start, {}, state.heap, on_the_way_of=state)
    return value, end


def _within(function: FunctionCode, body: cst.BaseSuite) -> cst.With:
    """A body as it is executed: within what decorates its function."""
    if function.within is None:
        function.within = cst.With([cst.WithItem(item) for item in function.managers], body)
    return function.within


def _leave(run: Run, frame: Frame, given_out: Iterable[Alternative], end: State | None) -> None:
    """An activation ends: what it defines is its caller's, or may be called by anyone."""
    call, defined = frame.call, frame.defined
    if call is not None and call.at_yield is None:
        defined.returned = {a.code for _, a in given_out if isinstance(a, Function) and a.code in defined.functions}
        call.caller.defined.taken_over.extend(defined.returned)
    run.world.entries.leave(run, frame, end)


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
    return run.purpose.is_to(KEEP, node) and is_deferred(function)


def is_coroutine(function: FunctionCode) -> bool:
    """Whether a call of a function makes a coroutine."""
    node = function.node
    return isinstance(node, cst.FunctionDef) and node.asynchronous is not None and not is_generator(function)


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
