"""Which releases count: what was asked for, what is configured, or what the project itself declares.

Enters: the timeline of a library, specifiers, what a project declares. Leaves: the checked set and, for a person, where
it came from. What a user asks for must make sense, else `UsageError`; what a project declares is only evidence, so that
a pin to a release nobody knows yet is said loudly, and the nearest known release is taken instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import UsageError
from driftwatch.project.declared import Declaration, Notice, Requirements
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union

_SOURCE = re.compile(r"(?:git:|git\+|\.{0,2}/|~)|.*[/\\]|installed$", re.DOTALL)
_EXACT = re.compile(r"[0-9vV][^,;\s<>=!~]*")
_SERIES = re.compile(r"(?:(?<![=<>~!])(==|!=)\s*|(?<![\w.=<>~!])(?<![=<>~!] ))(\d+(?:\.\d+)*)\.[xX](?!\w)")


@dataclass(frozen=True, slots=True)
class CheckedRange:
    """The releases that are checked, and why, for a person. `declared` says that something asks for these.

    `notices` are what a person must know of it. `stand_in` are releases that nobody asks for: each is the nearest to
    one that is asked for and not known.
    """

    releases: ReleaseSet
    source: str
    declared: bool = True
    notices: tuple[Notice, ...] = ()
    stand_in: ReleaseSet = EMPTY


def choose(
    distribution: str,
    timeline: Timeline,
    *,
    against: Sequence[str] = (),
    configured: Sequence[str] = (),
    configured_in: str = "configuration",
    requirements: Requirements | None = None,
    unavailable: Mapping[str, str] | None = None,
) -> CheckedRange:
    """The checked range of one target: asked for, else configured, else declared by the project, else the newest."""
    if not len(timeline):
        raise UsageError(f"no release of {distribution} is known", "add some with `driftwatch snapshot update`")
    asked = _asked(distribution, timeline, against)
    if asked is not None:
        return CheckedRange(asked, f"--against {' '.join(_about(distribution, against))}")
    wanted = _asked(distribution, timeline, configured)
    if wanted is not None:
        return CheckedRange(wanted, f"'against' in {configured_in}")
    notices: tuple[Notice, ...] = ()
    if requirements is not None:
        found = requirements.own(distribution)
        if found:
            return from_declarations(timeline, found, unavailable)
        notices = requirements.missing
    said = f"no requirement was found, so {_newest(timeline).removesuffix(',')}"
    return CheckedRange(timeline.newest(), said, False, notices)


def written_for(distribution: str, timeline: Timeline, places: Iterable[Requirements]) -> ReleaseSet:
    """The known releases that a code base says it is for, whatever is checked; none where it does not say."""
    own = [found for each in places if (found := each.own(distribution))]
    chosen = [from_declarations(timeline, found) for found in own if any(_specifier(d.requirement) for d in found)]
    return union([EMPTY, *(each.releases - each.stand_in for each in chosen)])


def together(wanted: Iterable[CheckedRange]) -> CheckedRange:
    """The range of several places: all that any of them asks for."""
    found = dict.fromkeys(wanted)
    if len(found) == 1:
        return next(iter(found))
    # A folder that declares nothing says nothing against what another declares.
    asking = [each for each in found if each.declared] or list(found)
    return CheckedRange(
        union([each.releases for each in asking]),
        "; ".join(dict.fromkeys(each.source for each in asking)),
        any(each.declared for each in asking),
        notices=tuple(dict.fromkeys(notice for each in asking for notice in each.notices)),
        stand_in=union([each.stand_in for each in asking]),
    )


def named(against: Iterable[str]) -> tuple[str, ...]:
    """The distributions that specifiers name, each once, as they are written first."""
    names = (_split(series(text))[0] for text in against)
    return tuple({canonicalize_name(name): name for name in names if name is not None}.values())


def selected(distribution: str, timeline: Timeline, against: Sequence[str]) -> ReleaseSet:
    """The releases of a distribution that specifiers ask for; `UsageError` where they select none."""
    return _asked(distribution, timeline, against) or EMPTY


def check_names(against: Iterable[str], distributions: Sequence[str]) -> None:
    """`UsageError` for a specifier that names a distribution which is no target, or that cannot be read."""
    known = {canonicalize_name(name): name for name in distributions}
    for text in against:
        name = _split(text)[0]
        if name is not None and canonicalize_name(name) not in known:
            near = get_close_matches(canonicalize_name(name), sorted(known), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"targets are {', '.join(sorted(known))}"
            raise UsageError(f"{name!r} in {text!r} is no target", hint)


def from_declarations(
    timeline: Timeline, found: Sequence[Declaration], unavailable: Mapping[str, str] | None = None
) -> CheckedRange:
    """The range a project's own requirements come to.

    Requirements that always hold must all hold. Those that hold only under a marker, with an extra, or from a
    requirements file of their own are alternatives: each is one way in which the project is installed. Where none
    always holds, the range is what any alternative selects. For a release that is not known stands the nearest one
    that is, and a notice says so; `unavailable` are reasons why it is not known, by version.
    """
    texts = [f"{d.requirement} ({d.file})" for d in _once(found)]
    said = f"{found[0].project}'s own requirement {', '.join(texts[:3])}{' and more' if len(texts) > 3 else ''}"
    bounded = [d for d in found if d.url or _specifier(d.requirement)]
    if not bounded:
        return CheckedRange(timeline.newest(), f"{said} names no release, so the newest, {newest(timeline)}")
    chosen = [_select(timeline, d, unavailable or {}) for d in bounded]
    always = [each for each, d in zip(chosen, bounded, strict=True) if d.always]
    releases = timeline.released | union([each.releases for each in always])
    for each in always:
        releases &= each.releases
    if not always or not releases:
        always = chosen
        releases = union([each.releases for each in chosen])
    notices = tuple(dict.fromkeys(each.notice for each in always if each.notice is not None))
    stand_in = union([each.releases for each in always if each.notice is not None])
    if not releases:
        where = bounded[0]
        notice = _notice(where, f"{said} selects no known release; {_newest(timeline)} is checked in its place")
        said = f"{said} selects no known release, so the newest, {newest(timeline)}"
        return CheckedRange(timeline.newest(), said, notices=(notice,), stand_in=timeline.newest())
    known = union([each.releases for each in always if each.notice is None])
    return CheckedRange(releases, said, notices=notices, stand_in=stand_in - known)


def _once(found: Sequence[Declaration]) -> list[Declaration]:
    return list({(d.requirement, d.file): d for d in found}.values())


def _specifier(requirement: str) -> str:
    try:
        parsed = Requirement(requirement)
    except ValueError:
        return ""
    return str(parsed.specifier)


def releases_not_known(
    timeline: Timeline, found: Sequence[Declaration], without_module: Sequence[str] = ()
) -> tuple[str, ...]:
    """The releases that a project asks for and that are not known, as far as they count for its range.

    Those are the ones that it pins, and where it leaves a choice among releases `without_module` alone, all of these.
    """
    counting = [declared for declared in found if declared.always and declared.version] or found
    versions: dict[str, None] = {}
    for declared in counting:
        if _is_unknown(timeline, declared):
            versions[str(declared.version)] = None
        whole = "" if declared.url else declared.whole
        if whole and Version(whole).local and Version(whole) not in timeline.parsed:
            # A build that somebody has recorded counts before the release that it is one of.
            versions[whole] = None
        elif declared.version is None and (specifier := _specifier(declared.requirement)):
            if not timeline.meant(specifier):
                versions |= dict.fromkeys(SpecifierSet(specifier).filter(without_module, prereleases=True))
    return tuple(versions)


def _is_unknown(timeline: Timeline, declared: Declaration) -> bool:
    return not declared.url and declared.version is not None and declared.version not in timeline.parsed


@dataclass(frozen=True, slots=True)
class _Selected:
    """What one requirement selects; with a notice where something stands in for what it asks for."""

    releases: ReleaseSet
    notice: Notice | None = None


def _select(timeline: Timeline, declared: Declaration, unavailable: Mapping[str, str]) -> _Selected:
    """The releases a declared requirement selects; a local version such as ``1.0+cu130`` counts as its public one."""
    if declared.url:
        said = f"`{declared.requirement}` is no release of an index, so nothing is known of it; {_newest(timeline)}"
        return _Selected(timeline.newest(), _notice(declared, f"{said} is checked in its place"))
    version = declared.version
    if version is not None and Version(declared.whole) in timeline.parsed:
        return _Selected(timeline.set_of([declared.whole]))
    if version is not None and version not in timeline.parsed:
        near = nearest(timeline, version)
        what = "a pre-release that" if version.is_prerelease else "a release that"
        why = unavailable.get(str(version), "")
        said = f"`{declared.requirement}` pins {what} is not recorded{f' ({why})' if why else ''}; {near}"
        return _Selected(
            timeline.set_of([near]), _notice(declared, f"{said}, the nearest one, is checked in its place")
        )
    public = [_without_local(spec) for spec in Requirement(declared.requirement).specifier]
    return _Selected(timeline.meant(",".join(str(spec) for spec in public)))


def _without_local(spec: Specifier) -> Specifier:
    """The specifier without a local version; what ``===`` compares may be no version at all."""
    if spec.operator not in ("==", "==="):
        return spec
    try:
        return Specifier(f"=={spec.version.partition('+')[0]}")
    except InvalidSpecifier:
        return spec


def nearest(timeline: Timeline, wanted: Version) -> str:
    """The known release that is most like one that is not: of the same final release, else the one before it."""
    known = [(timeline.versions[i], timeline.parsed[i]) for i in timeline.released.indices()]
    alike = [v for v, parsed in known if parsed.release == wanted.release]
    if alike:
        return alike[0] if wanted.is_prerelease else alike[-1]
    below = [v for v, parsed in known if parsed < wanted]
    return below[-1] if below else known[0][0]


def _newest(timeline: Timeline) -> str:
    return f"the newest release, {newest(timeline)},"


def newest(timeline: Timeline) -> str:
    """The version of the newest release."""
    return timeline.versions_of(timeline.newest())[0]


def _notice(declared: Declaration, message: str) -> Notice:
    return Notice(declared.path, declared.line, message, declared.distribution)


def _asked(distribution: str, timeline: Timeline, against: Sequence[str]) -> ReleaseSet | None:
    """What the specifiers for this distribution select together; None when there is none for it."""
    result: ReleaseSet | None = None
    for text in _about(distribution, against):
        selected = _asked_one(distribution, timeline, text, _split(series(text))[1])
        result = selected if result is None else result | selected
    return result


def _about(distribution: str, against: Sequence[str]) -> list[str]:
    """The specifiers for this distribution: those that name it, and those that name none."""
    names = [(text, _split(series(text))[0]) for text in against]
    return [text for text, name in names if name is None or canonicalize_name(name) == canonicalize_name(distribution)]


def series(specifier: str) -> str:
    """A specifier in which ``0.6.x`` is written as packaging has it."""
    return _SERIES.sub(lambda m: f"{m[1] or '=='}{m[2]}.*", specifier)


def _asked_one(distribution: str, timeline: Timeline, text: str, specifier: str) -> ReleaseSet:
    if not specifier:
        raise UsageError("an empty text selects no release", f"write it as in '>={timeline.versions[0]}'")
    if specifier == "all":
        return timeline.released
    if specifier in ("newest", "latest"):
        return timeline.newest()
    parts = [part.strip() for part in specifier.split(",") if part.strip()]
    if parts and all(_EXACT.fullmatch(part) for part in parts):
        selected = EMPTY
        for part in parts:
            selected |= _exact(distribution, timeline, part, text)
        return selected
    try:
        specifiers = SpecifierSet(specifier)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a version specifier",
            f"write it as in '>={timeline.versions[0]}' or '{newest(timeline)}'",
        ) from None
    for one in specifiers:
        if one.operator in ("==", "===") and not one.version.endswith(".*"):
            _exact(distribution, timeline, one.version, text)
    selected = timeline.meant(",".join(_public(timeline, one) for one in specifiers))
    if not selected:
        first, last = timeline.versions[0], timeline.versions[-1]
        hint = f"known are {first} to {last}"
        if _split(series(text))[0] is None:
            hint += f"; releases of another library are asked for by its name, as in 'NAME{text.strip()}'"
        raise UsageError(f"{text!r} selects no known release of {distribution}", hint)
    return selected


def _exact(distribution: str, timeline: Timeline, version: str, text: str) -> ReleaseSet:
    try:
        wanted = Version(version)
    except ValueError:
        raise UsageError(f"{version!r} in {text!r} is not a version") from None
    for meant in (wanted, Version(wanted.public)):
        # A local build of a release has the release's API, unless it is known itself.
        if meant in timeline.parsed:
            return ReleaseSet(1 << timeline.parsed.index(meant))
    raise UsageError(f"release {version} of {distribution} is not known", _near(timeline, wanted))


def _public(timeline: Timeline, one: Specifier) -> str:
    """A specifier without the local part of its version, where that is not known itself."""
    if one.operator not in ("==", "===") or one.version.endswith(".*") or Version(one.version) in timeline.parsed:
        return str(one)
    return f"=={Version(one.version).public}"


def is_source(text: str) -> bool:
    """Whether text names a place with the library's sources, and no release: it is spelt as a place, or is there."""
    stripped = text.strip()
    if not stripped or (stripped[0] in "<>=!~" and not stripped.startswith("~/")):
        return False
    place = stripped.rpartition("@")[0] or stripped
    return bool(_SOURCE.match(stripped)) or Path(stripped).exists() or Path(place).is_dir()


def is_beside(timeline: Timeline, distribution: str, text: str) -> bool:
    """Whether a specifier names a version of the distribution that is not in its timeline."""
    return any(version not in timeline.parsed for version in named_versions(distribution, text))


def named_versions(distribution: str, text: str, *, exact: bool = False) -> tuple[Version, ...]:
    """The versions that a specifier for a distribution names, those alone that it asks for if `exact`."""
    name, specifier = _split(series(text))
    if name is not None and canonicalize_name(name) != canonicalize_name(distribution):
        return ()
    parts = [part.strip() for part in specifier.split(",") if part.strip()]
    try:
        if parts and all(_EXACT.fullmatch(part) for part in parts):
            return tuple(Version(part) for part in parts)
        found = [one for one in SpecifierSet(specifier) if not one.version.endswith(".*")]
        return tuple(Version(one.version) for one in found if not exact or one.operator in ("==", "==="))
    except ValueError:
        return ()


def _near(timeline: Timeline, wanted: Version) -> str:
    """The known releases round a version that is not known."""
    first, last = timeline.versions[0], timeline.versions[-1]
    if wanted > timeline.parsed[-1]:
        return f"the newest known is {last}; `driftwatch snapshot update` looks for newer ones"
    below = sum(1 for version in timeline.parsed if version < wanted)
    near = timeline.versions[max(0, below - 1) : below + 1]
    return f"near it are {' and '.join(near)}; known are {first} to {last}"


def _split(text: str) -> tuple[str | None, str]:
    """A specifier's distribution, when it names one, and the rest."""
    stripped = text.strip()
    if stripped in ("all", "newest", "latest") or _EXACT.match(stripped) or stripped[:1] in ("<", ">", "=", "!", "~"):
        return None, stripped
    try:
        requirement = Requirement(stripped)
    except ValueError:
        named = re.match(r"([A-Za-z][\w.-]*)\s*(?:\[[^]]*\])?\s*(.*)", stripped)
        return (named[1], named[2]) if named else (None, stripped)
    if not requirement.specifier:
        raise UsageError(f"{text!r} names no release", f"write it as in '{stripped}>=1.0' or '{stripped}==1.0'")
    try:
        return requirement.name, str(requirement.specifier)
    except ValueError:  # a number of more digits than Python reads
        raise UsageError(f"{text!r} is not a version specifier") from None
