"""Causes in what is installed: absent, twice, shadowed, of another release, without what it requires.

Enters: a case. Leaves: causes. The module counts and not its metadata: the library itself looks for modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.doctor.case import Case, records
from driftwatch.doctor.model import Cause, Module, Weight
from driftwatch.targets.companions import RAISES, Companion, among

_MOST = 6


def absent(case: Case) -> Iterator[Cause]:
    """What keeps the module from being found at all."""
    needs, facts = case.needs, case.facts
    module = facts.modules[needs.top]
    if module.found or case.works:
        if case.release and needs.since and Version(case.release) < Version(needs.since):
            yield Cause(
                "too-old",
                Weight.BLOCKS,
                f"{case.named} has no {needs.module}: {needs.since} is the first that has it",
                fix=(case.remedies.install(f"{needs.distribution}>={needs.since}"),),
            )
        return
    found = records(needs, facts)
    if found:
        yield Cause(
            "module-missing",
            Weight.BLOCKS,
            f"{found[0].name} {found[0].version} is recorded as installed, and its module {needs.top} is not there",
            (f"recorded in {found[0].folder}",),
            (case.remedies.own(case.release, again=True),),
            defect=True,
        )
    else:
        said = f"{needs.distribution} is not installed, and nothing else has its module {needs.top}"
        yield Cause("not-installed", Weight.BLOCKS, said, fix=(case.remedies.own(None),))


def skews(case: Case) -> Iterator[Cause]:
    """Companions of another version, by what this release does then."""
    for companion in case.needs.companions.companions:
        module = case.facts.modules[companion.module]
        if module.found:
            yield from _beside(case, companion, module)


def _beside(case: Case, companion: Companion, module: Module) -> Iterator[Cause]:
    rules, variables, release = case.needs.companions, case.facts.variables, case.release
    if companion.elsewhere and variables.get(companion.elsewhere[0]):
        if release is not None and among(release, companion.elsewhere[1]):
            return
    if module.bare:
        # It can be imported, and has no version to be compared.
        looks = None if release is None else rules.does(release)
        if looks is None and release is not None:
            return
        yield Cause(
            "companion-left-over",
            Weight.OPEN if release is None else Weight.BLOCKS,
            f"{module.folder} is what is left of {companion.distribution}: a folder without code that can "
            f"be imported and has no version. `import {case.needs.top}` raises AttributeError",
            fix=(f"rm -r {module.folder}",),
            defect=release is not None,
        )
        return
    if rules.unbuilt is not None and case.version == rules.unbuilt[0]:
        if case.works is None:
            said = f"whether {case.named}, a source tree that was never built, raises beside {companion.distribution}"
            yield Cause("skew-unknown", Weight.OPEN, said, (f"releases {rules.unbuilt[1]} do not",))
        return
    does = rules.does(release) if release is not None else None
    other = _version(case, companion, module)
    if release is None or does is None:
        if release is None and case.works is None:
            said = f"whether {companion.distribution} fits: the release of {case.needs.distribution} is not known"
            yield Cause("skew-unknown", Weight.OPEN, said)
        return
    if other is None:
        if case.works is None:
            said = f"the version of {companion.distribution}: its module works it out when it is imported"
            yield Cause("skew-unknown", Weight.OPEN, said, (f"it is in {module.folder}",))
        return
    if companion.fits(release, other) is False:
        yield _mismatch(case, companion, other, does)
    elif Version(Version(other).public) != Version(Version(release).public):
        yield Cause(
            "skew-unseen",
            Weight.OPEN,
            f"{companion.distribution} {other} passes beside {case.named}, whose check compares text: "
            "kernels of another release are called",
            fix=case.remedies.companion(companion),
        )


def _mismatch(case: Case, companion: Companion, other: str, does: tuple[str, str]) -> Cause:
    rules = case.needs.companions
    what = f"{companion.distribution} is {other}, and {case.needs.distribution} beside it is {case.version}"
    hidden = rules.switch is not None and case.facts.variables.get(rules.switch)
    fix = case.remedies.companion(companion)
    if hidden:
        weight = Weight.OPEN if companion.used else Weight.NOTE
        said = f"{what}; {rules.switch} hides it, so that kernels of another release are called"
        return Cause("skew-hidden", weight, said, (f"{rules.switch}={hidden}",), fix)
    if does[0] == RAISES:
        said = f"{what}: `import {case.needs.top}` raises {does[1]}"
        return Cause("skew", Weight.BLOCKS, said, (), fix, defect=True)
    said = f"{what}: it is ignored with a warning, and {companion.missing}"
    return Cause("skew-ignored", Weight.NOTE, said, (), case.remedies.kernels() or fix)


def _version(case: Case, companion: Companion, module: Module) -> str | None:
    if module.version is not None:
        return module.version
    versions = case.facts.versions(companion.distribution)
    return versions[0] if len(versions) == 1 and _is_version(versions[0]) else None


def _is_version(text: str) -> bool:
    try:
        return bool(Version(text))
    except ValueError:
        return False


def records_amiss(case: Case) -> Iterator[Cause]:
    """Records that contradict each other, or the modules."""
    needs, facts = case.needs, case.facts
    own = facts.modules[needs.top]
    pairs = [(needs.distribution, own)]
    pairs += [(each.distribution, facts.modules[each.module]) for each in needs.companions.companions]
    for name, module in pairs:
        found = facts.installed.get(name, ())
        if len(found) > 1:
            places = tuple(f"{each.version} in {each.folder}" for each in found)
            again = case.remedies.install(f"{name}=={case.release or found[0].version}")
            which = f"says it is {module.version}" if module.version else "is one of them"
            said = f"{name} is recorded {len(found)} times; its module {which}"
            yield Cause(
                "recorded-twice", Weight.NOTE, said, places, (case.remedies.uninstall(name),) * len(found) + (again,)
            )
        elif found and not module.found and module is not own:
            said = f"{name} {found[0].version} is recorded as installed, and its module is not there"
            yield Cause("module-missing", Weight.NOTE, said, (found[0].folder,), (case.remedies.uninstall(name),))
        elif found and module.version and module.version != found[0].version:
            said = f"{module.name} says it is {module.version}, which counts; its record says {found[0].version}"
            yield Cause("record-differs", Weight.NOTE, said, (f"the module is in {module.folder}", found[0].folder))
    if own.found and not facts.installed.get(needs.distribution):
        others = tuple(f"{each.name} {each.version}" for each in records(needs, facts))
        said = f"the module {needs.top} is not that of an installed {needs.distribution}: what is imported counts"
        yield Cause(
            "fork", Weight.NOTE, said, (f"it is in {own.folder}", *(f"it comes from {each}" for each in others))
        )
    if own.copies:
        yield _shadow(case, own)


def _shadow(case: Case, module: Module) -> Cause:
    said = f"of {len(module.copies) + 1} modules {module.name} on the path, {module.folder} is imported"
    path = case.facts.variables.get("PYTHONPATH", "")
    by_path = any(entry and Path(module.folder or "").is_relative_to(entry) for entry in path.split(":"))
    evidence = (f"PYTHONPATH={path}",) if by_path else ()
    return Cause("shadowed", Weight.NOTE, said, (*module.copies, *evidence), ("unset PYTHONPATH",) if by_path else ())


def requirements(case: Case) -> Iterator[Cause]:
    """What the library requires, and what is installed does not give."""
    found = records(case.needs, case.facts)
    if not found:
        return
    own = found[0]
    wrong: list[tuple[str, str]] = []
    for text in own.requires:
        try:
            requirement = Requirement(text)
        except ValueError:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({**case.facts.markers, "extra": ""}):
            continue
        name = canonicalize_name(requirement.name)
        versions = case.facts.versions(name)
        if not versions:
            wrong.append((name, f"{requirement.name} is not installed: {_plain(requirement)} is required"))
        elif not any(requirement.specifier.contains(version, prereleases=True) for version in versions):
            wrong.append((name, f"{requirement.name} is {', '.join(versions)}: {_plain(requirement)} is required"))
    runtime = {canonicalize_name(name) for name in case.needs.runtime}
    counts = [(name, said) for name, said in wrong if name in runtime]
    others = [(name, said) for name, said in wrong if name not in runtime]
    for chosen, weight in ((counts, Weight.OPEN), (others, Weight.NOTE)):
        if chosen:
            more = (f"and {len(chosen) - _MOST} more",) if len(chosen) > _MOST else ()
            said = f"{own.name} {own.version} requires what is not there, or is of another version"
            fix = (case.remedies.install(f"{own.name}=={own.version}"),)
            yield Cause("requirements", weight, said, tuple(said for _, said in chosen[:_MOST]) + more, fix)
    if own.requires_python and not _takes(own.requires_python, case.facts.python):
        said = f"{own.name} {own.version} is for Python {own.requires_python}, and this is {case.facts.python}"
        yield Cause("python", Weight.NOTE, said)


def _plain(requirement: Requirement) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"


def _takes(specifier: str, python: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(python, prereleases=True)
    except ValueError:
        return True
