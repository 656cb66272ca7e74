"""DW302: a subclass that no longer fits its base class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.binding.classes import is_abstract
from driftwatch.binding.signature import Shape, bind
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import MethodDefinition, SubclassUse, Use
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import code, needs
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature, SymbolKind

_HEADING = Heading("DW302", "subclass-contract", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, SubclassUse):
        return
    yield from _missing_methods(use, context)
    yield from _misfits(use, context.history)


def _missing_methods(use: SubclassUse, context: Context) -> Iterator[Verdict]:
    """Abstract methods that the class does not define: constructing it raises TypeError."""
    if use.open or use.abstract:
        return
    history = context.history
    defined = {method.name for method in use.methods} | set(use.names)
    lacking: dict[str, ReleaseSet] = {}
    for i in (use.releases & history.present(use.base)).indices():
        one = ReleaseSet(1 << i)
        for name in sorted(_abstract_methods(use, history, one) - defined):
            lacking[name] = lacking.get(name, EMPTY) | one
    if not lacking:
        return
    broken = union(list(lacking.values()))
    told = [name for name, releases in lacking.items() if not releases.isdisjoint(context.checked)] or list(lacking)
    works = history.present(use.base) - broken
    verdict = _HEADING.verdict(
        use,
        use.base.dotted,
        broken,
        f"`{use.class_name}` cannot be constructed in {RELEASES}: it lacks {code(told)}, "
        f"which `{use.base.qualname}` declares abstract",
        f"define {'it' if len(told) == 1 else 'them'}" + (f"; {needs(history, works)} as it is" if works else ""),
    )
    for place in use.instantiated:
        yield replace(verdict, location=place.location, releases=broken & place.releases, catch=place.catch)
    if not use.instantiated:
        # Nobody is seen to construct it; a class in between may well be incomplete.
        yield replace(verdict, severity=Severity.NOTE, catch=None)


def _abstract_methods(use: SubclassUse, history: History, release: ReleaseSet) -> set[str]:
    """The methods that a subclass of the base must define, in one release."""
    if not is_abstract(history, use.base, release):
        return set()
    order, closed = history.lineage(use.base, release)
    if not closed:
        return set()  # a base that is not known may define them
    decided: dict[str, bool] = {}
    demanded: set[str] = set()
    for cls in order:
        # Only a class that is abstract itself makes a demand of the mark on its methods.
        demands = is_abstract(history, cls, release)
        for name in history.members(cls):
            for epoch in history.of(cls.member(name)):
                if release <= epoch.releases:
                    decided.setdefault(name, epoch.symbol.abstract)
                    if demands and epoch.symbol.abstract:
                        demanded.add(name)
    return {name for name in demanded if decided[name]}


def _misfits(use: SubclassUse, history: History) -> Iterator[Verdict]:
    """Overrides that cannot take what the base's own callers must pass, in some releases but not in all.

    An override that never fitted is a design of its own and no drift.
    """
    for method in use.methods:
        if method.name.startswith("_"):
            continue
        fits, fails = EMPTY, EMPTY
        for _, epoch in history.member_epochs(use.base, method.name, history.timeline.all):
            if epoch.symbol.kind is not SymbolKind.FUNCTION or epoch.symbol.signature is None:
                continue
            if _takes(method, epoch.symbol.signature):
                fits |= epoch.releases
            else:
                fails |= epoch.releases
        broken = fails & use.releases
        if broken and fits:
            yield replace(
                _HEADING.verdict(
                    use,
                    use.base.member(method.name).dotted,
                    broken,
                    f"`{use.class_name}.{method.signature_text}` takes no call that "
                    f"`{use.base.qualname}.{method.name}` takes in {RELEASES}",
                    f"follow the base class's signature; {needs(history, fits)} as it is",
                    raises=False,
                    severity=Severity.WARNING,
                ),
                location=method.location,
            )


def _takes(method: MethodDefinition, base: Signature) -> bool:
    """Whether some call that the base takes reaches the override: required arguments alone, or more of them."""
    if any(p.kind in (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD) for p in base.parameters):
        return True
    positional = [p for p in base.parameters if p.kind is not ParameterKind.KEYWORD_ONLY]
    named = [p for p in base.parameters if p.kind is ParameterKind.KEYWORD_ONLY]
    override = _signature(method)
    return any(
        bind(override, Shape((True,) * count, {p.name: True for p in keywords})).fits
        for count in range(sum(p.required for p in positional), len(positional) + 1)
        for keywords in ([p for p in named if p.required], named)
    )


def _signature(method: MethodDefinition) -> Signature:
    def parameter(name: str, kind: ParameterKind) -> Parameter:
        return Parameter(name, kind, None if name in method.required else "...")

    parameters = [parameter(name, ParameterKind.POSITIONAL_OR_KEYWORD) for name in method.positional]
    if method.takes_any_positional:
        parameters.append(Parameter("args", ParameterKind.VAR_POSITIONAL))
    parameters += [parameter(name, ParameterKind.KEYWORD_ONLY) for name in method.keyword_only]
    if method.takes_any_keyword:
        parameters.append(Parameter("kwargs", ParameterKind.VAR_KEYWORD))
    return Signature(tuple(parameters))


_INCOMPLETE = """\
from kiln import Burner


class GasBurner(Burner):
    def ignite(self, fuel):
        return fuel


def light():
    return GasBurner()
"""

_COMPLETE = """\
from kiln import Burner


class GasBurner(Burner):
    def ignite(self, fuel):
        return fuel

    def shutdown(self):
        return None


def light():
    return GasBurner()
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A subclass that lacks an abstract method, or overrides one that changed.",
    rationale=(
        "When a base class gains an abstract method, constructing a subclass without that method raises "
        "TypeError; driftwatch reports it where the subclass is constructed. An override that can take what "
        "the base's callers pass in one release, and cannot in another, is a warning: the library will call "
        "it with arguments that it does not take."
    ),
    hint="Define the methods that the newest base class asks for; older ones do not mind.",
    check=check,
    bad=(Example("A new abstract method", _INCOMPLETE, (Expected(10, "2.0 to 2.1"),)),),
    good=(
        Example("All of them defined", _COMPLETE),
        Example("Only older releases supported", _INCOMPLETE, against="<2"),
    ),
)
