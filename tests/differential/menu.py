"""What of a library is worth calling in a test: the functions, names and classes that differ between its releases.

Enters: a history. Leaves: choices that a generator draws from; the same history gives the same choices, in the
same order.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import Epoch, History
from driftwatch.snapshot.model.symbols import Binding, Parameter, ParameterKind, Ref, Signature, SymbolKind

BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
VARIABLE = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)


@dataclass(frozen=True)
class Callee:
    """A function, a method or a constructor, with its signatures over time.

    `drifting` are parameters that only some of its releases take; `present` is where it exists.
    """

    ref: Ref
    signatures: tuple[Signature, ...]
    drifting: tuple[str, ...]
    present: ReleaseSet

    @property
    def name(self) -> str:
        return self.ref.qualname.rpartition(".")[2]


@dataclass(frozen=True)
class Maker:
    """A function that returns an instance, and what can be done with that.

    `methods` are those of the class or of any that descends from it; `names` are further members; `absent` is a member
    that no release has.
    """

    function: Callee
    cls: Ref
    methods: tuple[Callee, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Menu:
    """The choices. `names` are attributes of modules (`members` of classes) that only some releases have;
    `abstract` are classes with the methods that some release asks of those below them. `hidden` are modules that share
    their name with an object of their package: what ``import package.name as x`` binds then depends on when upstream
    binds the object, which no snapshot records."""

    top: str
    module: str
    distribution: str
    releases: tuple[str, ...]
    functions: tuple[Callee, ...]
    constructors: tuple[Callee, ...]
    names: tuple[Ref, ...]
    modules: tuple[str, ...]
    makers: tuple[Maker, ...]
    members: tuple[tuple[Ref, str], ...]
    abstract: tuple[tuple[Ref, tuple[str, ...]], ...]
    hidden: frozenset[str]

    @classmethod
    def of(cls, history: History) -> Menu:
        everywhere = history.timeline.all
        functions, constructors, names, makers, members, abstract = [], [], [], [], [], []
        for ref in sorted(history.epochs):
            epochs = history.of(ref)
            inside = f"{ref.module}.".startswith(f"{history.module}.")
            if not ref.qualname or "." in ref.qualname or not inside or not _public(ref):
                continue
            if len(epochs) > 1 or history.present(ref) != everywhere:
                names.append(ref)
            kinds = {epoch.symbol.kind for epoch in epochs}
            if kinds == {SymbolKind.FUNCTION}:
                function = _callable(ref, epochs)
                if function is not None and (function.drifting or history.present(ref) != everywhere):
                    functions.append(function)
                maker = _maker(history, function) if function is not None else None
                if maker is not None:
                    makers.append(maker)
            elif kinds == {SymbolKind.CLASS}:
                constructor = _callable(ref, epochs)
                differs = len(epochs) > 1 or history.present(ref) != everywhere
                if differs and constructor is not None and _constructible(history, ref, epochs):
                    constructors.append(constructor)
                members += [(ref, name) for name in _constants(history, ref)]
                asked = _abstract_methods(history, ref)
                if asked and _lineage_closed(history, ref):
                    abstract.append((ref, asked))
        inside_it = (m for m in sorted(set(history.modules())) if m.startswith(f"{history.module}."))
        modules = tuple(m for m in inside_it if history.has_module(m) != everywhere and _public(Ref(m, "")))
        every = set(history.modules())
        names = [ref for ref in names if f"{ref.module}.{ref.qualname}" not in every]
        return cls(
            history.module.partition(".")[0],
            history.module,
            history.distribution,
            history.timeline.versions,
            tuple(functions),
            tuple(constructors),
            tuple(names),
            modules,
            tuple(makers),
            tuple(members),
            tuple(abstract),
            frozenset(m for m in every if history.of(Ref(*m.rpartition(".")[::2]))),
        )


def _public(ref: Ref) -> bool:
    return not any(part.startswith("_") for part in (*ref.module.split("."), *ref.qualname.split(".")))


def _usable(parameters: Iterable[Parameter]) -> bool:
    return all(p.name.isidentifier() and not keyword.iskeyword(p.name) for p in parameters)


def _callable(ref: Ref, epochs: tuple[Epoch, ...]) -> Callee | None:
    signatures = []
    present = ReleaseSet()
    for epoch in epochs:
        if epoch.symbol.signature is None or epoch.symbol.signature.extra_keywords:
            return None
        if not _usable(epoch.symbol.signature.parameters):
            return None
        if epoch.symbol.signature not in signatures:
            signatures.append(epoch.symbol.signature)
        present |= epoch.releases
    named = [{p.name for p in s.parameters if p.kind not in VARIABLE} for s in signatures]
    common = set.intersection(*named)
    drifting = dict.fromkeys(p.name for s in signatures for p in s.parameters if p.name not in common)
    drifting = dict.fromkeys(name for name in drifting if any(name in names for names in named))
    return Callee(ref, tuple(signatures), tuple(drifting), present)


def _lineage_closed(history: History, ref: Ref) -> bool:
    return all(history.lineage(ref, epoch.releases)[1] for epoch in history.of(ref))


def _is_enum(history: History, ref: Ref) -> bool:
    return any(base.startswith("enum.") for epoch in history.of(ref) for base in epoch.symbol.bases)


def _constructible(history: History, ref: Ref, epochs: tuple[Epoch, ...]) -> bool:
    if _is_enum(history, ref) or any(epoch.symbol.abstract for epoch in epochs):
        return False
    order = [base for epoch in epochs for base in history.lineage(ref, epoch.releases)[0]]
    if any(base.startswith("typing") for cls in order for e in history.of(cls) for base in e.symbol.bases):
        return False
    return not any(
        epoch.symbol.abstract
        for cls in order
        for name in history.members(cls)
        for epoch in history.of(cls.member(name))
    )


def _abstract_methods(history: History, ref: Ref) -> tuple[str, ...]:
    """What some release asks of a class below this one; nothing when a property is among it."""
    names: dict[str, None] = {}
    for base in dict.fromkeys(b for epoch in history.of(ref) for b in history.lineage(ref, epoch.releases)[0]):
        for name in history.members(base):
            epochs = history.of(base.member(name))
            if any(epoch.symbol.abstract for epoch in epochs):
                if any(epoch.symbol.kind is not SymbolKind.FUNCTION for epoch in epochs):
                    return ()
                names[name] = None
    return tuple(names)


def _constants(history: History, ref: Ref) -> Iterator[str]:
    """Constants that only some releases of the class have."""
    if not _lineage_closed(history, ref):
        return
    for name in history.members(ref):
        epochs = history.of(ref.member(name))
        plain = all(e.symbol.kind is SymbolKind.ATTRIBUTE and _literal(e.symbol.value) for e in epochs)
        if plain and not name.startswith("_") and history.present(ref.member(name)) != history.present(ref):
            yield name


def _literal(text: str | None) -> bool:
    try:
        ast.literal_eval(text or "")
    except (ValueError, SyntaxError):
        return False
    return True


def _maker(history: History, function: Callee) -> Maker | None:
    returned = {signature.returns_ref for signature in function.signatures}
    cls = next(iter(returned))
    if len(returned) != 1 or cls is None or not history.is_class(cls) or _is_enum(history, cls):
        return None
    if not f"{cls.module}.".startswith(f"{history.module}."):
        return None
    family = [cls, *history.subclasses(cls)]
    if not all(_lineage_closed(history, each) for each in family):
        return None
    methods: list[Callee] = []
    names: list[str] = []
    for each in family:
        for name in history.members(each):
            if name.startswith("_"):
                continue
            epochs = history.of(each.member(name))
            kinds = {epoch.symbol.kind for epoch in epochs}
            if kinds == {SymbolKind.FUNCTION}:
                method = _callable(each.member(name), epochs)
                if method is not None and all(e.symbol.binding is Binding.INSTANCE for e in epochs):
                    methods.append(method)
            elif name not in names:
                names.append(name)
    return Maker(function, cls, tuple(methods), tuple(names)) if methods else None
