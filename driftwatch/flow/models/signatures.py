"""What callables of the library show of themselves: their signatures, what these say of parameters, and their code."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from driftwatch.binding.calls import refine
from driftwatch.binding.signature import Fault, Shape, bind
from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.taint import is_tainted
from driftwatch.flow.domain.values import (
    TAINTED,
    UNKNOWN,
    Alternative,
    ArgSpecOf,
    Atom,
    CodeOf,
    Const,
    External,
    LibMethod,
    LibObject,
    ParameterInfo,
    ParameterMap,
    SignatureOf,
    Value,
    const,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, asks, one_argument, unknown_call
from driftwatch.flow.interpreter.library import CONSTRUCTOR, callables_of
from driftwatch.flow.interpreter.registry import attribute, method, model
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.uses import ProbeUse
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature

_PROBE_ERRORS = ("TypeError", "ValueError")


@model("inspect.signature", "inspect.Signature.from_callable")
def _signature(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    alternatives = as_alternatives(value, run.state.reach)
    for where, atom in alternatives:
        if isinstance(atom, (LibObject, LibMethod)):
            found.extend(_probe(run, atom, where, node))
        elif isinstance(atom, Const) and atom.value is None:
            if run.is_caught("TypeError"):
                run.throw("TypeError", where)
                # Where it may be something else as well, it may go on.
                run.state.reach -= where - union([other for other, each in alternatives if each is not atom])
        else:
            asks(run, atom)
            found.append((where, TAINTED if is_tainted(atom) else UNKNOWN))
    return value_of(found)


def _probe(run: Run, atom: LibObject | LibMethod, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    run.touch()
    if isinstance(atom, LibObject):
        ref = atom.ref
    else:
        ref = atom.cls if atom.name == CONSTRUCTOR else atom.cls.member(atom.name)
    survives = tuple(e for e in _PROBE_ERRORS if run.catch(e).outcome.value != "raises")
    if run.recording.records:
        catch = run.catch("TypeError" if "TypeError" not in survives else "ValueError")
        run.record(
            ProbeUse(run.history.distribution, run.location(node), where, catch, run.frame.way_in(), ref, survives)
        )
    found: list[Alternative] = []
    left = where
    for here, symbol in callables_of(run, atom, ref, where):
        left -= here
        shown = symbol.shown if isinstance(atom, LibObject) else symbol.signature
        found.append((here, TAINTED if shown is None else SignatureOf(_parameter_map(shown))))
    found.append((left, TAINTED))
    return found


@method("inspect.Signature.bind")
def _bind(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _bound(run, arguments, node, partly=False)


@method("inspect.Signature.bind_partial")
def _bind_partial(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return _bound(run, arguments, node, partly=True)


def _bound(run: Run, arguments: Arguments, node: cst.CSTNode, *, partly: bool) -> Value:
    """What is bound to a signature: a handler takes what is raised."""
    signature = one_argument(arguments, 0)
    if not isinstance(signature, SignatureOf):
        return unknown_call(run, arguments, node)
    keywords = arguments.keywords
    positional = replace(arguments.positional, elements=arguments.positional.elements[1:])
    reach = run.state.reach
    taken = Signature(tuple(map(_parameter_of, signature.parameters.parameters)))
    cuts = [entry.releases for entry in (*positional.elements, *keywords.entries.values())]
    cuts += [positional.open | positional.forwarded, keywords.open | keywords.forwarded]
    refused = EMPTY
    for part in refine(reach, cuts):
        shape = Shape(
            tuple(part <= entry.certain for entry in positional.elements if part <= entry.releases),
            {str(name): part <= entry.certain for name, entry in keywords.entries.items() if part <= entry.releases},
            part <= (positional.open | positional.forwarded),
            part <= (keywords.open | keywords.forwarded),
        )
        faults = {problem.fault for problem in bind(taken, shape).problems}
        if faults - {Fault.MISSING} if partly else faults:
            refused |= part
    if refused and run.is_caught("TypeError"):
        run.throw("TypeError", refused)
        run.state.reach = reach - refused
    return unknown(run.state.reach)


def _parameter_of(known: ParameterInfo) -> Parameter:
    kind = ParameterKind(known.kind.lower().replace("_", "-"))
    return Parameter(known.name, kind, None if known.required else "...")


@model("inspect.getfullargspec")
def _argspec(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``inspect.getfullargspec``."""
    value = _signature(run, arguments, node)
    return value_of((w, ArgSpecOf(a.parameters) if isinstance(a, SignatureOf) else a) for w, a in value.alternatives)


def _parameter_map(signature: Signature) -> ParameterMap:
    """``inspect.signature(f).parameters`` of a recorded signature."""
    return ParameterMap(
        tuple(ParameterInfo(p.name, p.kind.value.replace("-", "_").upper(), p.required) for p in signature.parameters)
    )


@attribute("inspect.Signature.parameters")
def _parameters(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    this = one_argument(arguments, 0)
    return Value(((run.state.reach, this.parameters if isinstance(this, SignatureOf) else UNKNOWN),))


def _named(parameters: ParameterMap, *kinds: str) -> tuple[str, ...]:
    return tuple(p.name for p in parameters.parameters if p.kind in kinds)


def _lists(name: str, *kinds: str) -> None:
    """An attribute of ``inspect.getfullargspec(f)`` is the names of the parameters of some kinds."""

    @attribute(f"inspect.FullArgSpec.{name}")
    def _list(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        this = one_argument(arguments, 0)
        assert isinstance(this, ArgSpecOf)
        names = _named(this.parameters, *kinds)
        one = kinds[0].startswith("VAR_")
        return const((names[0] if names else None) if one else names, run.state.reach)


_lists("args", "POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
_lists("kwonlyargs", "KEYWORD_ONLY")
_lists("varargs", "VAR_POSITIONAL")
_lists("varkw", "VAR_KEYWORD")

_KINDS = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")


def _shows(name: str) -> None:
    """An attribute of a parameter."""

    @attribute(f"inspect.Parameter.{name}")
    def _show(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        this = one_argument(arguments, 0)
        assert isinstance(this, ParameterInfo)
        shown: Atom = UNKNOWN
        if name in (*_KINDS, "empty"):
            shown = External(f"inspect.Parameter.{name}")
        elif name == "name":
            shown = Const(this.name)
        elif name == "kind":
            shown = External(f"inspect.Parameter.{this.kind}")
        elif this.required:
            shown = External("inspect.Parameter.empty")
        return Value(((run.state.reach, shown),))


for _name in (*_KINDS, "empty", "name", "kind", "default"):
    _shows(_name)


@attribute("types.FunctionType.__code__")
def _code(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    atom = one_argument(arguments, 0)
    assert isinstance(atom, (LibObject, LibMethod))
    ref = atom.ref if isinstance(atom, LibObject) else atom.cls.member(atom.name)
    run.touch()
    found: list[Alternative] = []
    left = run.state.reach
    for here, symbol in callables_of(run, atom, ref, left):
        if symbol.signature is not None:
            found.append((here, CodeOf(_parameter_map(symbol.signature))))
            left -= here
    return value_of([*found, (left, TAINTED)])


def _tells(name: str) -> None:
    """What the code of a function says of its parameters: its variables, of which they are the first, and how many."""

    @attribute(f"types.CodeType.{name}")
    def _tell(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        this = one_argument(arguments, 0)
        assert isinstance(this, CodeOf)
        only, named = _named(this.parameters, "POSITIONAL_ONLY"), _named(this.parameters, "KEYWORD_ONLY")
        positional = (*only, *_named(this.parameters, "POSITIONAL_OR_KEYWORD"))
        rest = (*_named(this.parameters, "VAR_POSITIONAL"), *_named(this.parameters, "VAR_KEYWORD"))
        counts = {"co_argcount": positional, "co_kwonlyargcount": named, "co_posonlyargcount": only}
        return const(len(counts[name]) if name in counts else (*positional, *named, *rest), run.state.reach)


for _name in ("co_varnames", "co_argcount", "co_kwonlyargcount", "co_posonlyargcount"):
    _tells(_name)
