"""What is judged: one target's needs, what was found, and what driftwatch knows of the release that is there.

Enters: needs, facts, a trial. Leaves: a `Case`, from which every kind of cause is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from driftwatch.doctor.model import Distribution, Facts, Run, Trial
from driftwatch.doctor.needs import Needs
from driftwatch.doctor.remedies import Remedies
from driftwatch.releases import EMPTY, ReleaseSet, Timeline
from driftwatch.rules.advisories import Kernels, Knowledge
from driftwatch.snapshot.model.symbols import Ref


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is recorded of a target: its releases, and what no signature shows of them."""

    timeline: Timeline
    knowledge: Knowledge


@dataclass(frozen=True, slots=True)
class Case:
    """`version` is what the library that would be imported calls itself; `release` the same, where it is a version."""

    needs: Needs
    facts: Facts
    trial: Trial | None
    run: Run | None
    recorded: Recorded | None
    version: str | None
    release: str | None

    @property
    def remedies(self) -> Remedies:
        framework = self.trial.framework if self.trial else None
        cuda = (framework.cuda if framework else None) or self.driver_cuda
        return Remedies(self.needs, self.facts, self.release, cuda)

    @property
    def driver_cuda(self) -> str | None:
        return self.facts.driver.cuda or self.facts.smi.cuda

    @property
    def named(self) -> str:
        """The library with its version, for a person."""
        return f"{self.needs.distribution} {self.version or 'of unknown version'}"

    @property
    def works(self) -> bool | None:
        """Whether the import works; None where it was not tried, or did not end."""
        done = self.trial.imported if self.trial else None
        return None if done is None or done.unfinished else done.error is None

    @property
    def here(self) -> ReleaseSet:
        """The installed release among the recorded ones."""
        if self.recorded is None or self.release is None:
            return EMPTY
        public = Version(Version(self.release).public)
        parsed = self.recorded.timeline.parsed
        return ReleaseSet(1 << parsed.index(public)) if public in parsed else EMPTY

    @property
    def kernels(self) -> tuple[Kernels, ...]:
        """The GPUs that releases have the path's kernels for, as far as that is known."""
        wanted = self.needs.kernels_of
        if wanted is None or self.recorded is None:
            return ()
        ref = Ref.parse(wanted)
        return tuple(
            each
            for each in self.recorded.knowledge.kernels
            if not each.conditions and any(symbol.qualname == ref.qualname for symbol in each.symbols)
        )

    def fixed_in(self, broken: ReleaseSet) -> str | None:
        """The first recorded release after the installed one that is not among these."""
        if self.recorded is None or self.release is None:
            return None
        own = Version(self.release)
        timeline = self.recorded.timeline
        return next(
            (
                text
                for index, (text, parsed) in enumerate(zip(timeline.versions, timeline.parsed, strict=True))
                if parsed > own and not ReleaseSet(1 << index) & broken
            ),
            None,
        )


def case_of(needs: Needs, facts: Facts, trial: Trial | None, run: Run | None, recorded: Recorded | None) -> Case:
    """Make out which release it is: the module counts, and its metadata where the module does not say."""
    module = facts.modules[needs.top]
    version = module.version if module.found else None
    if version is None:
        versions = {record.version for record in records(needs, facts)}
        version = versions.pop() if len(versions) == 1 else None
    return Case(needs, facts, trial, run, recorded, version, _release(needs, version))


def records(needs: Needs, facts: Facts) -> tuple[Distribution, ...]:
    """The records of the distribution that has the module: the library's own, else whichever provides it."""
    own = facts.installed.get(needs.distribution, ())
    if own:
        return own
    names = dict.fromkeys((*facts.providers.get(needs.top, ()), *needs.aliases))
    return tuple(record for name in names for record in facts.installed.get(name, ()))


def _release(needs: Needs, version: str | None) -> str | None:
    """The version where it tells of a release: a source tree that was never built calls itself anything."""
    unbuilt = needs.companions.unbuilt
    if version is None or (unbuilt is not None and version == unbuilt[0]):
        return None
    try:
        return version if Version(version).release != (0, 0, 0) else None
    except ValueError:
        return None
