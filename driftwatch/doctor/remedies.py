"""The commands that fix what was found, ready to be copied: into the examined environment, from the right index.

Enters: needs and facts. Leaves: commands.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from packaging.version import Version

from driftwatch.doctor.model import Facts
from driftwatch.doctor.needs import Needs
from driftwatch.targets.companions import Companion, among


@dataclass(frozen=True, slots=True)
class Remedies:
    """How to fix one target's environment. `cuda` is that of its framework, else the newest that the driver serves."""

    needs: Needs
    facts: Facts
    release: str | None
    cuda: str | None

    def install(self, *requirements: str, index: str | None = None, again: bool = False) -> str:
        words = ["install", *(["--force-reinstall", "--no-deps"] if again else []), *requirements]
        return self._pip(*words, *(["--index-url", index] if index else []))

    def uninstall(self, *names: str) -> str:
        # uv asks nothing, and knows no -y.
        sure = [] if self.facts.installer[:1] == ("uv",) else ["-y"]
        return self._pip("uninstall", *sure, *names)

    def own(self, version: str | None, *, again: bool = False) -> str:
        """Install a release of the library itself."""
        name = self.needs.distribution
        return self.install(f"{name}=={version}" if version else name, again=again)

    def companion(self, companion: Companion) -> tuple[str, ...]:
        """Make a companion fit: the release that fits where there is one, else none."""
        gone = self.uninstall(companion.distribution)
        if self.release is None:
            return (gone,)
        version = Version(self.release)
        if version.local and companion.plain:
            return (gone,)  # there is no companion with the local part of the library
        wanted = f"{companion.distribution}=={version.public}"
        if companion.published and among(self.release, companion.published):
            return (self.install(wanted),)
        if "{cuda}" not in companion.index:
            return (self.install(wanted, index=companion.index),)
        label = dict(companion.builds).get((self.cuda or "").partition(".")[0])
        if label is None:
            return (gone,)
        return (self.install(f"{wanted}+{label}", index=companion.index.format(cuda=label)),)

    def kernels(self) -> tuple[str, ...]:
        """Fetch what fits by the library's own command, in releases that have it."""
        if self.needs.fetch is None or self.release is None or not among(self.release, self.needs.fetch[1]):
            return ()
        command = self.needs.fetch[0].split()
        return (shlex.join([self.facts.executable, "-m", *command]),)

    def framework(self, driver_cuda: str | None) -> tuple[str, ...]:
        """Install the framework as it is, for CUDA."""
        name = self.needs.framework or ""
        build = self.wheels(driver_cuda)
        version = next(iter(self.facts.versions(name)), "").partition("+")[0]
        requirement = f"{name}=={version}" if version else name
        if build is None:
            return ()
        # uv knows the index of each build; an equal public version counts as installed, whatever it is built for.
        words = ["uv", "pip", "install", "--python", self.facts.executable, "--reinstall-package", name, requirement]
        return (shlex.join([*words, f"--{name}-backend={build}"]),)

    def wheels(self, driver_cuda: str | None) -> str | None:
        """The newest build that a driver serves, as uv calls it; the newest of all where that is not known."""
        if driver_cuda is None:
            return next((build for _, build in self.needs.wheels), None)
        driver = Version(driver_cuda)
        served = [build for cuda, build in self.needs.wheels if Version(cuda) <= driver]
        # A driver serves all builds of its own major.
        alike = [build for cuda, build in reversed(self.needs.wheels) if Version(cuda).major == driver.major]
        return next(iter((*served, *alike)), None)

    def _pip(self, word: str, *rest: str) -> str:
        command = [word if part == "{}" else part for part in self.facts.installer or ("pip", "{}")]
        return shlex.join([*command, *rest])
