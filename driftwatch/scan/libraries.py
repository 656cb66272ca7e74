"""Which libraries a question is about: those that are set up, and those that a person names beside them.

Enters: targets, and releases, ranges and places as a person writes them. Leaves: the libraries as a scan takes them, or
a target that any library has for as long as it is asked about. Where a release is named that is not recorded, or a
place with sources, the history has these as well; the history of a library that nobody has set up is made from the
package index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import InputError, UsageError
from driftwatch.project.discovery import mentions
from driftwatch.project.ranges import is_beside, is_source, named, selected
from driftwatch.releases import ReleaseSet
from driftwatch.scan.pipeline import Watched
from driftwatch.snapshot.store.store import load, releases_without_module
from driftwatch.targets.target import Target, choose

if TYPE_CHECKING:
    from driftwatch.project.states import State
    from driftwatch.snapshot.commands.on_demand import Offered, OnDemand, Select
    from driftwatch.snapshot.sources.index import PackageIndex

# What fetches and what reads sources is imported where it is needed: a local scan does neither.
# ruff: noqa: PLC0415

_PLACE = re.compile(r"([^=/\\\\@]+=(?!=))?(.+)", re.DOTALL)
"""A release, if one is given, and a place."""
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?:===?|@\s)\s*\S.*")


class Shown(Protocol):
    """Where it is told what is being done."""

    def title(self, title: str) -> None: ...
    def step(self, what: object = "") -> None: ...


def watched(
    targets: Sequence[Target],
    configured: Sequence[str] = (),
    against: Sequence[str] = (),
    paths: Sequence[Path] | None = (),
    shown: Shown | None = None,
    index: PackageIndex | None = None,
) -> tuple[tuple[Watched, ...], tuple[str, ...]]:
    """All targets as a scan takes them, and `against` with what it names of them by version.

    Where it names a library that nobody has set up, only the libraries that are named are scanned for: of each the
    modules that the code below `paths` mentions, all of them where `paths` is None. `configured` is what a
    configuration asks for; it may be anybody's, so that it names versions and no places.
    """
    asking = tuple(against) or tuple(text for text in configured if not is_source(text))
    histories = [load(target.snapshots) for target in targets]
    written = asking
    states: Mapping[str, tuple[State, ...]] = {}
    if any(is_source(t) or any(is_beside(h.timeline, h.distribution, t) for h in histories) for t in asking):
        from driftwatch.project.states import states_named

        written, states = states_named(asking, targets, index)
    asked: dict[str, list[str]] = {}
    for text in written if against else ():
        for name in named((text,)):
            asked.setdefault(canonicalize_name(name), []).append(text)
    others = strangers(targets, written if against else ())
    found: list[Watched] = []
    for target, history in zip(targets, histories, strict=True):
        if others and canonicalize_name(target.distribution) not in asked:
            continue
        own = states.get(target.distribution, ())
        if own:
            from driftwatch.project.states import with_states

            history = with_states(target, own)
        found.append(
            Watched(
                target.with_adapter(history),
                target.data,
                target.companions,
                target.aliases,
                target.carriers,
                releases_without_module(target.snapshots),
                remark="; ".join(f"{state.name} is {state.said}" for state in own if state.said),
            )
        )
    known = sorted(canonicalize_name(target.distribution) for target in targets)
    for name in others:
        found += strange(name, asked[name], paths, known, shown, index=index)
    return tuple(found), written if against else ()


def strangers(targets: Sequence[Target], against: Iterable[str]) -> tuple[str, ...]:
    """The libraries that specifiers name and that nobody has set up."""
    known = {canonicalize_name(target.distribution) for target in targets}
    specifiers = [text for text in against if not is_source(text.rpartition(" @ ")[2])]
    return tuple(name for name in map(canonicalize_name, named(specifiers)) if name not in known)


def strange(
    name: str,
    against: Sequence[str],
    paths: Sequence[Path] | None,
    known: Sequence[str] = (),
    shown: Shown | None = None,
    select: Select | None = None,
    index: PackageIndex | None = None,
) -> tuple[Watched, ...]:
    """A library that nobody has set up, as a scan takes it, module by module: the releases that are selected.

    Without `select` those that are asked for. `known` are names that may have been meant.
    """
    chosen = select or (lambda offered: selected(name, offered.timeline, against))
    found = _made(name, chosen, against, paths, known, shown, index)
    remarks = [f"module {' and '.join(history.module for history in found.histories)}"]
    if found.others:
        remarks.append(f"not {' or '.join(found.others)}")
    if found.failed:
        remarks.append(f"not read: {'; '.join(f'{release}, {why}' for release, why in found.failed)}")
    if found.stale:
        remarks.append("the package index could not be reached: what was known before")
    return tuple(Watched(history, remark="; ".join(remarks), stale=found.stale) for history in found.histories)


def _made(
    name: str,
    select: Select,
    asked: Sequence[str],
    paths: Sequence[Path] | None,
    known: Sequence[str],
    shown: Shown | None,
    index: PackageIndex | None,
) -> OnDemand:
    from driftwatch.snapshot.commands.on_demand import on_demand

    def progress(done: int, total: int, release: str) -> None:
        if shown is not None:
            shown.step(f"{release} ({done} of {total})")

    if shown is not None:
        shown.title(f"reading {name}")
    meant: Callable[[str], bool] = (
        (lambda _module: True) if paths is None else (lambda module: bool(paths) and mentions(paths, module))
    )
    try:
        return on_demand(name, select, asked, mentioned=meant, progress=progress, index=index)
    except (InputError, UsageError) as error:
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
        raise type(error)(error.message, f"did you mean {near[0]}?" if near else error.hint) from None


def from_anywhere(text: str) -> str:
    """A specifier whose place, if it names one, is found from every folder."""
    from driftwatch.snapshot.sources.origin import GIT, INSTALLED

    head, at, place = text.rpartition(" @ ")
    parts = _PLACE.fullmatch(place.strip())
    if parts is None or not is_source(place) or parts[2].startswith("git+") or parts[2] == INSTALLED:
        return text
    git = GIT if parts[2].startswith(GIT) else ""
    return f"{head}{at}{parts[1] or ''}{git}{Path(parts[2].removeprefix(GIT)).expanduser().absolute()}"


# -- one library by its name -------------------------------------------------------------------------------------------


def any_target(
    targets: Sequence[Target],
    name: str,
    texts: Sequence[str],
    paths: Sequence[Path] | None = (),
    shown: Shown | None = None,
    index: PackageIndex | None = None,
) -> tuple[Target, str]:
    """The target that a name means, or one that is made for it from the package index; and what a person must know.

    Recorded of the latter are the newest release, the releases that `texts` name, and the one before each of these. Of
    several modules that the code below `paths` mentions, the likeliest is meant.
    """
    try:
        return choose(targets, name), ""
    except UsageError as error:
        misspelt = get_close_matches(name.lower(), [target.distribution for target in targets], n=1, cutoff=0.7)
        if misspelt or not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
            raise
        versions = [version for text in texts for version in _versions(text)]

        def select(offered: Offered) -> ReleaseSet:
            parsed = offered.timeline.parsed
            wanted = {len(parsed) - 1}
            for version in versions:
                there = sum(each <= version for each in parsed)
                wanted |= {place for place in (there - 2, there - 1) if place >= 0}
            return ReleaseSet(sum(1 << place for place in wanted))

        try:
            found = _made(name, select, [f"{name}=={v}" for v in versions], paths, [], shown, index)
        except InputError as unknown:
            raise type(unknown)(unknown.message, error.hint) from None
        history = found.histories[0]
        others = (*(each.module for each in found.histories[1:]), *found.others)
        remark = f"{history.distribution}: module {history.module}, not {' or '.join(others)}" if others else ""
        return Target(history.distribution, history.module, found.places[0]), remark


def name_in(text: str) -> str | None:
    """The distribution that ``NAME==VERSION`` or ``NAME @ PLACE`` names; None for what names none."""
    match = _NAMED.fullmatch(text.strip())
    return match[1] if match and not is_source(text) else None


def _versions(text: str) -> list[Version]:
    """The version that ``1.2`` or ``NAME==1.2`` is about; none where text names a place."""
    try:
        return [Version(text.rpartition("==")[2].strip())] if not is_source(text) else []
    except ValueError:
        return []
