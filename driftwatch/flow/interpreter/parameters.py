"""What the parameters of a function of the code base are: for one call of it, and for anyone's."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from driftwatch.flow.domain.code import FunctionCode
from driftwatch.flow.domain.contents import Arguments, DictContent, Entry, ListContent
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.values import (
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Instance,
    ListRef,
    Unknown,
    Value,
    join,
    unknown,
)
from driftwatch.flow.interpreter.annotations import annotated, default_of, texts_of
from driftwatch.flow.interpreter.arguments import at_call
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import EMPTY, ReleaseSet

FIXTURES = {"monkeypatch": "pytest.MonkeyPatch", "mocker": "pytest_mock.mocker"}
"""Parameters that a test runner fills in by their name."""


def all_parameters(params: cst.Parameters) -> list[cst.Param]:
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def rest_parameters(function: FunctionCode) -> Iterator[str]:
    """The parameters that take what no other one does: ``*args`` and ``**kwargs``."""
    for each in (function.node.params.star_arg, function.node.params.star_kwarg):
        if isinstance(each, cst.Param):
            yield each.name.value


def default_texts(function: FunctionCode) -> Iterator[str]:
    """The texts that parameters of a function have as defaults."""
    for each in all_parameters(function.node.params):
        value = each.default.evaluated_value if isinstance(each.default, cst.SimpleString) else None
        if isinstance(value, str):
            yield value


def bind_unknown(
    run: Run, function: FunctionCode, reach: ReleaseSet, uid: int, this: Instance | None = None
) -> dict[str, Value]:
    """The parameters of a function called by anyone, of this instance if it is known."""
    params = function.node.params
    bindings: dict[str, Value] = {}
    names = [*params.posonly_params, *params.params]
    start = 0
    if function.owner is not None and names and function.kind != "static":
        this = this or Instance(function.owner)
        owner: Atom = Class(this.code) if function.kind == "class" else this
        bindings[names[0].name.value] = Value(((reach, owner),))
        start = 1
    for parameter in (*names[start:], *params.kwonly_params):
        fixture = FIXTURES.get(parameter.name.value)
        given = _of_annotation(run, function, parameter, reach) if fixture is None else None
        given = given and join(given, _of_library(run, function, parameter, reach))
        if given is not None and function.name == "__init__":
            # What it keeps is asked for by methods that know nothing of the parameter.
            given = join(given, Value(tuple((reach, Const(text)) for text in texts_of(function, parameter))))
        bindings[parameter.name.value] = given or Value(((reach, External(fixture or "")),))
    if isinstance(params.star_arg, cst.Param):
        key = run.world.identities.number(function.node, uid, "*")
        name = params.star_arg.name.value
        given = Value(((reach, Unknown(name, derived=True)),))
        run.state.heap[key] = ListContent((), EMPTY, reach, is_tuple=True, others=given)
        bindings[params.star_arg.name.value] = Value(((reach, ListRef(key)),))
    if params.star_kwarg is not None:
        key = run.world.identities.number(function.node, uid, "**")
        run.state.heap[key] = DictContent({}, EMPTY, reach)
        bindings[params.star_kwarg.name.value] = Value(((reach, DictRef(key)),))
    return bindings


def _of_library(run: Run, function: FunctionCode, parameter: cst.Param, reach: ReleaseSet) -> Value:
    """A default that is something of the library: that is what a parameter is which nobody gives."""
    if not isinstance(parameter.default, (cst.Name, cst.Attribute)):
        return Value()
    return default_of(run, function, parameter.default, reach).only(touches_library)


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
        key = run.world.identities.number(function.node, uid, "*")
        extra = tuple(passed_on[len(names) :])
        run.state.heap[key] = ListContent(
            extra, marked.positional.open & reach, marked.positional.forwarded & reach, is_tuple=True
        )
        bindings[params.star_arg.name.value] = Value(((reach, ListRef(key)),))
    if params.star_kwarg is not None:
        key = run.world.identities.number(function.node, uid, "**")
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
