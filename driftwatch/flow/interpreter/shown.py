"""What a callable of the library shows of itself: its signature, its parameters, its code."""

from __future__ import annotations

from driftwatch.flow.domain.values import (
    TAINTED,
    UNKNOWN,
    Alternative,
    Atom,
    CodeOf,
    Const,
    External,
    LibMethod,
    LibObject,
    MethodOf,
    ParameterInfo,
    ParameterMap,
    SignatureOf,
)
from driftwatch.flow.interpreter.library import callables_of
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.symbols import Signature


def parameter_map(signature: Signature) -> ParameterMap:
    """``inspect.signature(f).parameters`` of a recorded signature."""
    return ParameterMap(
        tuple(ParameterInfo(p.name, p.kind.value.replace("-", "_").upper(), p.required) for p in signature.parameters)
    )


def of_signature(atom: SignatureOf, name: str) -> Atom:
    if name in ("bind", "bind_partial"):
        return MethodOf(atom, name)
    return atom.parameters if name == "parameters" else UNKNOWN


def of_argspec(parameters: ParameterMap, name: str) -> Atom:
    def named(*kinds: str) -> tuple[str, ...]:
        return tuple(p.name for p in parameters.parameters if p.kind in kinds)

    if name == "args":
        return Const(named("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD"))
    if name == "kwonlyargs":
        return Const(named("KEYWORD_ONLY"))
    if name in ("varargs", "varkw"):
        found = named("VAR_POSITIONAL" if name == "varargs" else "VAR_KEYWORD")
        return Const(found[0] if found else None)
    return UNKNOWN


def of_parameter(atom: ParameterInfo, name: str) -> Atom:
    if name == "name":
        return Const(atom.name)
    if name == "kind":
        return External(f"inspect.Parameter.{atom.kind}")
    if name in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD", "empty"):
        return External(f"inspect.Parameter.{name}")
    if name == "default" and atom.required:
        return External("inspect.Parameter.empty")
    return UNKNOWN


def code_of(run: Run, atom: LibObject | LibMethod, where: ReleaseSet) -> list[Alternative]:
    """``f.__code__`` of a function or method."""
    ref = atom.ref if isinstance(atom, LibObject) else atom.cls.member(atom.name)
    run.touch()
    found: list[Alternative] = []
    left = where
    for here, symbol in callables_of(run, atom, ref, where):
        if symbol.signature is not None:
            found.append((here, CodeOf(parameter_map(symbol.signature))))
            left -= here
    return [*found, (left, TAINTED)]


def of_code(parameters: ParameterMap, name: str) -> Atom:
    """What the code of a function says of its parameters: its variables, of which they are the first, and how many."""
    of_kind: dict[str, tuple[str, ...]] = {}
    for each in parameters.parameters:
        of_kind[each.kind] = (*of_kind.get(each.kind, ()), each.name)
    only = of_kind.get("POSITIONAL_ONLY", ())
    positional = (*only, *of_kind.get("POSITIONAL_OR_KEYWORD", ()))
    named = of_kind.get("KEYWORD_ONLY", ())
    if name == "co_varnames":
        return Const((*positional, *named, *of_kind.get("VAR_POSITIONAL", ()), *of_kind.get("VAR_KEYWORD", ())))
    counts = {"co_argcount": positional, "co_kwonlyargcount": named, "co_posonlyargcount": only}
    return Const(len(counts[name])) if name in counts else TAINTED
