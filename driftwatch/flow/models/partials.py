"""``functools.partial`` and ``partialmethod``: what they are made with, and show of it."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, DictContent, Entry, ListContent, PartialContent
from driftwatch.flow.domain.values import External, Partial, PartialMethod, Value, unknown, value_of
from driftwatch.flow.interpreter.arguments import argument, at_call, one_argument
from driftwatch.flow.interpreter.registry import attribute, model
from driftwatch.flow.interpreter.run import Run


@model("functools.partial")
def _partial(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 0)
    if func is None:
        return unknown(run.state.reach)
    marked = at_call(run, arguments, node)
    rest = ListContent(marked.positional.elements[1:], marked.positional.open, marked.positional.forwarded)
    key = run.number(node, "partial")
    run.state.heap[key] = PartialContent(func, rest, marked.keywords)
    return Value(((run.state.reach, Partial(key)),))


@model("weakref.ref", "weakref.ReferenceType", "weakref.WeakMethod")
def _reference(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What gives, when it is called, what it was made with; nobody here knows when that is gone."""
    value = argument(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    gives = Value(((run.state.reach, External("inspect.unwrap")),))
    key = run.number(node, "partial")
    run.state.heap[key] = PartialContent(
        gives, ListContent((Entry(run.state.reach, run.state.reach, value),)), DictContent()
    )
    return Value(((run.state.reach, Partial(key)),))


@model("functools.partialmethod")
def _partial_method(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return value_of(
        (where, PartialMethod(atom.key) if isinstance(atom, Partial) else atom)
        for where, atom in _partial(run, arguments, node).alternatives
    )


def _held(run: Run, arguments: Arguments) -> PartialContent | None:
    """What a partial was made with."""
    atom = one_argument(arguments, 0)
    content = run.content(atom.key) if isinstance(atom, Partial) else None
    return content if isinstance(content, PartialContent) else None


@attribute("functools.partial.func")
def _func(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    held = _held(run, arguments)
    return unknown(run.state.reach) if held is None else held.func


@attribute("functools.partial.args")
def _args(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    held = _held(run, arguments)
    return unknown(run.state.reach) if held is None else run.new_list(node, replace(held.positional, is_tuple=True))


@attribute("functools.partial.keywords")
def _keywords(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    held = _held(run, arguments)
    return unknown(run.state.reach) if held is None else run.new_dict(node, held.keywords)


EXAMPLES = {
    "what_a_partial_shows": """
        from functools import partial

        import lib.comm as comm


        def run():
            bound = partial(comm.create, 1, rank=0)
            return bound.func(*bound.args, group=None, **bound.keywords)  #! DW101 group 0.1.0 raises
        """,
    "what_is_referred_to_weakly": """
        import weakref

        import lib.comm as comm


        class Holder:
            def __init__(self, function):
                self.function = function


        KEPT = weakref.WeakValueDictionary()


        def run(x):
            holder = Holder(comm.fuse)
            return weakref.ref(holder)().function(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_proxy(x):
            holder = Holder(comm.fuse)
            return weakref.proxy(holder).function(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run_kept(x):
            holder = KEPT["holder"] = Holder(comm.fuse)
            return KEPT["holder"].function(x, 1, early=True) if holder else None  #! DW101 early 0.1.0 raises
        """,
}
