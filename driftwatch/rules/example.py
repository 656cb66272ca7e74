"""A small library that never was, in five releases: what the examples of the rules are written against.

It has one of everything that rules are about. The signatures are written as Python writes them and are read with `ast`,
so that a person can see at a glance what changed when.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from driftwatch.findings import Severity
from driftwatch.releases import Timeline
from driftwatch.rules.advisories import Advisory, Condition, ImportFailure, Kernels, Knowledge
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import (
    Binding,
    Deprecation,
    Parameter,
    ParameterKind,
    Ref,
    Refusal,
    Signature,
    Snapshot,
    Symbol,
    SymbolKind,
)
from driftwatch.targets.companions import Companion, Companions

DISTRIBUTION = "kiln"
COMPANIONS = ("kiln-bricks", "kiln-fuel")
BESIDE = Companions(
    (Companion("kiln-bricks", "kiln_bricks", "bricks are baked", "https://bricks.example", (), published="<2"),)
)
RELEASES = ("1.0", "1.1", "1.2", "2.0", "2.1")

_ALL = RELEASES
_ONE = ("1.0", "1.1", "1.2")
_TWO = ("2.0", "2.1")

_FUNCTIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("1.0",), "kiln:fire(pot, minutes)"),
    (("1.1", "1.2"), "kiln:fire(pot, minutes, glaze=None)"),
    (_TWO, "kiln:fire(pot, minutes, glaze=None, *, heat=900)"),
    (_ONE, "kiln:mould(clay, size)"),
    (_TWO, "kiln:mould(clay, size=10)"),
    (_ONE, "kiln:stack(pot, shelf, height=1)"),
    (_TWO, "kiln:stack(pot, shelf, *, height=1)"),
    (_ONE, "kiln:paint(pot, brush, colour='white')"),
    (_TWO, "kiln:paint(pot, brush, primer=True, colour='white')"),
    (_ONE, "kiln:wash(pot, degrees)"),
    (_TWO, "kiln:wash(pot, temperature)"),
    (_ONE, "kiln:cool(pot, slow=False)"),
    (_TWO, "kiln:cool(pot, slow=True)"),
    (_ONE, "kiln:raku(pot)"),
    (_ALL, "kiln:coat(pot, glaze: Glaze)"),
    (_ALL, "kiln:open_shelf(wood) -> kiln:Shelf"),
    (_ONE, "kiln:glow(pot, mode=0)"),
    (_TWO, "kiln:glow(pot, mode=0) unless mode not in (0, 1)"),
    (_ONE, "kiln:dry(pot, how: Literal['air', 'oven']='air')"),
    (_TWO, "kiln:dry(pot, how: Literal['air', 'oven', 'microwave']='air')"),
    (_ONE, "kiln:weigh(pot) -> 2"),
    (_TWO, "kiln:weigh(pot) -> 3"),
    (("1.2", *_TWO), "kiln.wheel:throw(clay, speed=60)"),
    (("1.0", "1.1"), "kiln:spin(clay)"),
    (("1.2", *_TWO), "kiln.wheel:spin(clay)"),
    (_ONE, "kiln:mark(pot)"),
    (_ALL, "kiln:stamp(pot)"),
    (_ALL, "kiln:Shelf.add(pot)"),
    (_ALL, "kiln:WoodShelf.add(pot)"),
    (("1.2", *_TWO), "kiln:WoodShelf.wax()"),
    (_ALL, "kiln:Burner.ignite(fuel) abstract"),
    (_ONE, "kiln:Burner.adjust(level)"),
    (_TWO, "kiln:Burner.adjust(level, smooth)"),
    (_TWO, "kiln:Burner.shutdown() abstract"),
)

_CLASSES: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (
    (_ALL, "kiln:Shelf", ("abc.ABC",)),
    (_ALL, "kiln:WoodShelf", ("kiln:Shelf",)),
    (_ALL, "kiln:Burner", ("abc.ABC",)),
    (_ALL, "kiln:Glaze", ("enum.IntEnum",)),
)

_CONSTANTS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (_ALL, "kiln:Glaze.CLEAR", "0"),
    (_ONE, "kiln:Glaze.CELADON", "1"),
    (_TWO, "kiln:Glaze.CELADON", "2"),
    (("1.1", "1.2"), "kiln:Glaze.COBALT", "2"),
    (_TWO, "kiln:Glaze.COBALT", "1"),
    (_ONE, "kiln:MAX_HEAT", "900"),
    (_TWO, "kiln:MAX_HEAT", "1300"),
    (_ONE, "kiln:METER", "Thermometer()"),
    (_TWO, "kiln:METER", "LazyThermometer()"),
)

_MODULES: tuple[tuple[tuple[str, ...], str], ...] = ((_ALL, "kiln"), (("1.2", *_TWO), "kiln.wheel"))

_DEPRECATED = {
    ("1.2", "kiln:raku"): Deprecation("use fire", "2.0"),
    ("1.2", "kiln:mark"): Deprecation("use stamp", "2.0"),
}


def history() -> History:
    """The history of the example library."""
    return merge(DISTRIBUTION, "kiln", [_snapshot(release) for release in RELEASES], Timeline(RELEASES))


def knowledge() -> Knowledge:
    """What no signature of the example library shows."""
    timeline = Timeline(RELEASES)
    thermometer = ImportFailure(
        "thermometer", "kiln", "RuntimeError", timeline.matching("<1.2"), "where there is no thermometer", ("kiln#7",)
    )
    cracks = Advisory(
        "cracks",
        (Ref("kiln", "cool"),),
        timeline.matching(">=2.0"),
        "pots crack when they cool fast in {releases}",
        "pass slow=True",
        Severity.WARNING,
        ("kiln#12",),
        (Condition("slow", equals=(False,)),),
    )
    electric = Kernels("electric", (Ref("kiln", "glow"),), timeline.matching("<2"), ("8",), ("kiln#15",))
    return Knowledge((cracks,), (thermometer,), kernels=(electric,))


def signature(text: str) -> Signature:
    """The signature of a ``def`` line without the name: ``(pot, *, heat=900)``."""
    tree = ast.parse(f"def function{text}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    arguments = tree.args
    places = [(a, ParameterKind.POSITIONAL_ONLY) for a in arguments.posonlyargs]
    places += [(a, ParameterKind.POSITIONAL_OR_KEYWORD) for a in arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults))
    defaults += arguments.defaults
    parameters = [_parameter(a, kind, d) for (a, kind), d in zip(places, defaults, strict=True)]
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, ParameterKind.VAR_POSITIONAL, None))
    parameters += [
        _parameter(a, ParameterKind.KEYWORD_ONLY, d)
        for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        parameters.append(_parameter(arguments.kwarg, ParameterKind.VAR_KEYWORD, None))
    return Signature(tuple(parameters), ast.unparse(tree.returns) if tree.returns else None)


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    annotation = ast.unparse(argument.annotation) if argument.annotation else None
    return Parameter(argument.arg, kind, ast.unparse(default) if default is not None else None, annotation)


def _snapshot(release: str) -> Snapshot:
    symbols: dict[Ref, Symbol] = {}
    for releases, module in _MODULES:
        if release in releases:
            symbols[Ref(module, "")] = Symbol(Ref(module, ""), SymbolKind.MODULE)
    for releases, text, bases in _CLASSES:
        if release in releases:
            ref = Ref.parse(text)
            symbols[ref] = Symbol(ref, SymbolKind.CLASS, Signature(), bases=bases)
    for releases, text in _FUNCTIONS:
        if release in releases:
            symbol = _function(text, _DEPRECATED.get((release, text.partition("(")[0])))
            symbols[symbol.ref] = symbol
    for releases, text, value in _CONSTANTS:
        if release in releases:
            ref = Ref.parse(text)
            symbols[ref] = Symbol(ref, SymbolKind.ATTRIBUTE, value=value)
    return Snapshot(release, symbols)


def _function(text: str, deprecated: Deprecation | None) -> Symbol:
    text, _, refused = text.partition(" unless ")
    declared, _, returns = text.partition(" -> ")
    name, bracket, parameters = declared.removesuffix(" abstract").partition("(")
    ref = Ref.parse(name)
    taken = signature(bracket + parameters)
    if returns.isdecimal():
        taken = Signature(taken.parameters, gives=(int(returns),))
    elif returns:
        taken = Signature(taken.parameters, Ref.parse(returns).qualname, Ref.parse(returns))
    if refused:
        taken = replace(taken, refusals=(Refusal(refused, "ValueError"),))
    return Symbol(
        ref,
        SymbolKind.FUNCTION,
        taken,
        Binding.INSTANCE if "." in ref.qualname else None,
        abstract=declared.endswith(" abstract"),
        deprecated=deprecated,
    )
