"""The places where a code base touches a library: what a picture of it is drawn from.

Enters: uses. Leaves: sites in the order of the code, each once, with the releases in which it is reached. Sites are no
verdicts; a call and the reading of the name that it calls are one site, and a test that leads past the library is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from driftwatch.flow.uses import (
    CallUse,
    ImportUse,
    Location,
    LookUse,
    NameUse,
    PatchUse,
    ProbeUse,
    RefusedUse,
    ResultUse,
    SubclassUse,
    SwitchedOff,
    Use,
)
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.symbols import Ref


@dataclass(frozen=True, slots=True)
class Site:
    """One place. `kind` is how the symbol is used there: ``import``, ``call``, ``name``, ``subclass`` and so on."""

    distribution: str
    location: Location
    ref: Ref
    kind: str
    reached: ReleaseSet

    @property
    def symbol(self) -> str:
        return self.ref.dotted


def sites_of(uses: Iterable[Use], prefix: str = "") -> tuple[Site, ...]:
    """The sites of some uses; `prefix` goes before their paths."""
    found: dict[tuple[str, Location, Ref], Site] = {}
    for use in uses:
        if isinstance(use, SwitchedOff | LookUse):
            continue
        ref, kind = _subject(use)
        location = replace(use.location, path=prefix + use.location.path) if prefix else use.location
        key = (use.distribution, location, ref)
        known = found.get(key)
        if known is None:
            found[key] = Site(use.distribution, location, ref, kind, use.releases)
        else:
            stronger = kind if known.kind == "name" else known.kind
            found[key] = replace(known, kind=stronger, reached=known.reached | use.releases)
    return tuple(sorted(_calls_with_their_names(found.values()), key=site_order))


def _subject(use: Use) -> tuple[Ref, str]:
    if isinstance(use, ImportUse):
        return (Ref(use.module, use.name) if use.name else Ref(use.module, "")), "import"
    if isinstance(use, CallUse):
        return use.callee, "call"
    if isinstance(use, NameUse):
        return use.owner.member(use.name), "name"
    if isinstance(use, SubclassUse):
        return use.base, "subclass"
    if isinstance(use, PatchUse):
        return use.owner.member(use.name), "patch"
    if isinstance(use, ProbeUse):
        return use.callee, "probe"
    if isinstance(use, ResultUse):
        return use.callee, "result"
    if isinstance(use, RefusedUse):
        return use.callee, "call"
    raise TypeError(f"no such use: {type(use).__name__}")


def _calls_with_their_names(sites: Iterable[Site]) -> list[Site]:
    """The sites without the names that begin a call: those are part of it, and so is where they are reached."""
    calls: dict[tuple[str, str, int, int], Site] = {}
    others: list[Site] = []
    for site in sites:
        start = (site.symbol, site.location.path, site.location.line, site.location.column)
        if site.kind == "call":
            known = calls.get(start)
            calls[start] = site if known is None else replace(known, reached=known.reached | site.reached)
        else:
            others.append(site)
    kept: list[Site] = []
    for site in others:
        start = (site.symbol, site.location.path, site.location.line, site.location.column)
        call = calls.get(start)
        if site.kind == "name" and call is not None:
            calls[start] = replace(call, reached=call.reached | site.reached)
        else:
            kept.append(site)
    return [*kept, *calls.values()]


def site_order(site: Site) -> tuple[object, ...]:
    """The total order of sites: that of the code."""
    return (site.location, site.distribution, site.ref, site.kind)
