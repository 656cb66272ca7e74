"""A small library with a few releases, made by hand: what the harness is tried on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from driftwatch.snapshot.model.symbols import (
    Binding,
    Parameter,
    ParameterKind,
    Ref,
    Refusal,
    Signature,
    Snapshot,
    Symbol,
    SymbolKind,
)

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: ParameterKind.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: ParameterKind.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD: ParameterKind.VAR_KEYWORD,
}

RELEASES: Mapping[str, Mapping[str, str]] = {
    "0.1.0": {
        "level": "(x, mode=0)",
        "pair": "(x) -> 2",
        "apart.lone": "(a)",
        "fuse": "(x, workspace, output=None)",
        "create": "(world_size, rank) -> Workspace",
        "legacy": "(x)",
        "Workspace": "(size)",
        "Workspace.fits": "(tokens, hidden)",
        "Ring": "(Workspace)(size)",
        "Ring.fits": "(tokens, hidden, oneshot=None)",
    },
    "0.2.0": {
        "level": "(x, mode=0)",
        "pair": "(x) -> 2",
        "apart.lone": "(a)",
        "fuse": "(x, workspace, output=None, *, early=True)",
        "create": "(world_size, rank, group=None) -> Workspace",
        "legacy": "(x)",
        "gather": "(x, axis)",
        "Workspace": "(size)",
        "Workspace.fits": "(tokens, hidden)",
        "Ring": "(Workspace)(size)",
        "Ring.fits": "(tokens, hidden, oneshot=None)",
        "Ring.checkpoint": "()",
        "Plan": "(group)",
    },
    "0.2.0.post1": {
        "level": "(x, mode=0) unless mode not in (0, 1)",
        "pair": "(x) -> 3",
        "apart.lone": "(a, b=None)",
        "fuse": "(x, workspace, early=True, output=None, bias=0.0)",
        "create": "(world_size, rank, group=None) -> Workspace",
        "gather": "(x, axis, out=None)",
        "extra.deep": "(a, /, b)",
        "Workspace": "(size)",
        "Workspace.fits": "(tokens, hidden)",
        "Workspace.close": "()",
        "Ring": "(Workspace)(size)",
        "Ring.fits": "(tokens, hidden, oneshot=None)",
        "Ring.checkpoint": "(path)",
        "Plan": "(group, size=1)",
    },
    "0.10.0": {
        "level": "(x, mode=0, *, eager=False) unless mode not in (0, 1) and not eager",
        "pair": "(x) -> 3",
        "apart.lone": "(a, b=None)",
        "fuse": "(x, workspace, early=True, output=None, bias=0.0)",
        "create": "(world_size, rank, **options) -> Workspace",
        "gather": "(*xs, axis)",
        "extra.deep": "(a, /, b, c=None)",
        "Workspace": "(size)",
        "Workspace.fits": "(tokens, hidden)",
        "Workspace.close": "(now=False)",
        "Ring": "(Workspace)(size, shape=None)",
        "Ring.fits": "(tokens, hidden, strategy=None)",
        "Plan": "(size=1)",
    },
}
ABSTRACT = {"0.1.0": ("rank", "size"), "0.2.0": ("rank", "size", "split"), "0.2.0.post1": ("size",), "0.10.0": ()}
LOADS_ALL = ("0.2.0.post1", "0.10.0")
"""Where importing the package loads all its submodules; elsewhere `apart` is loaded by an import of its own."""
MEMBERS = {"0.1.0": ("A",), "0.2.0": ("A", "B"), "0.2.0.post1": ("A", "B"), "0.10.0": ("B", "C")}


def snapshots() -> list[Snapshot]:
    return [_snapshot(release, names) for release, names in RELEASES.items()]


def _snapshot(release: str, names: Mapping[str, str]) -> Snapshot:
    modules = sorted({"base", *(name.partition(".")[0] for name in names if name[0].islower() and "." in name)})
    loaded = tuple(f"lib.comm.{module}" for module in modules if module != "apart" or release in LOADS_ALL)
    symbols = [Symbol(Ref("lib.comm", ""), SymbolKind.MODULE, imports=loaded)]
    symbols += [Symbol(Ref(f"lib.comm.{module}", ""), SymbolKind.MODULE) for module in modules]
    for name, text in names.items():
        below, dot, qualname = name.partition(".")
        inside = dot and below in modules
        ref = Ref(f"lib.comm.{below}", qualname) if inside else Ref("lib.comm", name)
        qualname = ref.qualname
        if qualname[0].isupper() and "." not in qualname:
            base = "lib.comm:Workspace" if text.startswith("(Workspace)") else None
            signature = _signature(text.removeprefix("(Workspace)"))
            symbols.append(Symbol(ref, SymbolKind.CLASS, signature, bases=(base,) if base else ()))
        else:
            binding = Binding.INSTANCE if "." in qualname else None
            symbols.append(Symbol(ref, SymbolKind.FUNCTION, _signature(text), binding))
    symbols.append(Symbol(Ref("lib.comm", "Backend"), SymbolKind.CLASS, Signature(), bases=("abc.ABC",)))
    symbols += [
        Symbol(Ref("lib.comm", f"Backend.{n}"), SymbolKind.FUNCTION, Signature(), Binding.INSTANCE, abstract=n in asked)
        for asked in (ABSTRACT[release],)
        for n in ("rank", "size", "split")
    ]
    symbols.append(Symbol(Ref("lib.comm", "Pattern"), SymbolKind.CLASS, Signature()))
    symbols += [
        Symbol(Ref("lib.comm", f"Pattern.{name}"), SymbolKind.ATTRIBUTE, value=str(i))
        for i, name in enumerate(MEMBERS[release])
    ]
    return Snapshot(release, {symbol.ref: symbol for symbol in symbols})


def _signature(text: str) -> Signature:
    text, _, refused = text.partition(" unless ")
    head, _, returns = text.partition(" -> ")
    scope: dict[str, object] = {}
    exec(f"def f{head}: ...", scope)  # this file's own text
    function = scope["f"]
    assert callable(function)
    parameters = tuple(
        Parameter(p.name, KINDS[p.kind], None if p.default is p.empty else repr(p.default))
        for p in inspect.signature(function).parameters.values()
    )
    if refused:
        return Signature(parameters, refusals=(Refusal(refused, "ValueError"),))
    if returns.isdecimal():
        return Signature(parameters, gives=(int(returns),))
    return Signature(parameters, returns or None, Ref("lib.comm", returns) if returns else None)
