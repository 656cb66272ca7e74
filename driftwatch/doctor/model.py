"""What the doctor says, as data: facts as they were found, causes with their evidence, and one verdict a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class State(str, Enum):
    """What is known of the accelerated path in an environment; a better state comes first."""

    ACTIVE = "active"
    CAN_RUN = "can run"
    UNKNOWN = "not known"
    CANNOT_RUN = "cannot run"

    def reaches(self, wanted: State) -> bool:
        order = list(State)
        return order.index(self) <= order.index(wanted)


class Weight(str, Enum):
    """What a cause does to the verdict: it proves that the path cannot run, leaves that open, or is worth knowing."""

    BLOCKS = "blocks"
    OPEN = "open"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that was found. `fix` are commands, in the order in which they are given.

    `defect` says that something installed is wrong; a machine without a GPU has no defect.
    """

    id: str
    weight: Weight
    what: str
    evidence: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()
    defect: bool = False


@dataclass(frozen=True, slots=True)
class Distribution:
    """One record of an installed distribution; a distribution may have several, which is a fault."""

    name: str
    version: str
    folder: str
    requires: tuple[str, ...] = ()
    requires_python: str | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """A top-level module as the environment's import system finds it, without importing it.

    `version` is what its own files state, None where that cannot be read. `bare` says that it is a folder without code
    of its own. `copies` are the other places on the path that have a module of the name. `empty` says that it brings
    nothing of what it is there for, None where that was not looked at.
    """

    name: str
    folder: str | None = None
    version: str | None = None
    bare: bool = False
    copies: tuple[str, ...] = ()
    empty: bool | None = None

    @property
    def found(self) -> bool:
        return self.folder is not None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What importing or calling something did.

    `error` is None when it worked, `kind` the type of what was raised. `unfinished` says that no answer came in time.
    """

    what: str
    error: str | None = None
    kind: str | None = None
    where: str | None = None
    seconds: float | None = None
    unfinished: bool = False

    @property
    def came_to(self) -> str:
        """What became of it, for a person: it raised, ended the process, or did not end."""
        if self.unfinished or self.error is None:
            return self.error or "works"
        return f"raised {self.error}" if self.kind else f"ended the process: {self.error}"


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU; None is not known."""

    index: str
    name: str = ""
    capability: str | None = None
    memory: str | None = None
    multicast: bool | None = None


@dataclass(frozen=True, slots=True)
class Framework:
    """What torch says of itself and of the GPUs, in the process that imported the library."""

    version: str | None = None
    cuda: str | None = None
    hip: str | None = None
    available: bool | None = None
    devices: tuple[Device, ...] | None = None
    peers: tuple[tuple[int, int, bool], ...] | None = None
    error: str | None = None
    built_for_cuda: bool | None = None


@dataclass(frozen=True, slots=True)
class Driver:
    """What the driver itself says; `note` is why it says nothing."""

    version: str | None = None
    cuda: str | None = None
    devices: tuple[Device, ...] | None = None
    peers: tuple[tuple[int, int, bool], ...] | None = None
    fabric: bool | None = None
    links: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """What kernels are compiled with."""

    nvcc: str | None = None
    nvcc_cuda: str | None = None
    ninja: bool = False
    compiler: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """An environment and its machine, as found.

    `brought` are the path's kernels that packages have, `compiled` those that were compiled before.
    """

    python: str
    executable: str
    platform: str
    markers: Mapping[str, str] = field(default_factory=dict)
    installer: tuple[str, ...] = ()
    installed: Mapping[str, tuple[Distribution, ...]] = field(default_factory=dict)
    modules: Mapping[str, Module] = field(default_factory=dict)
    providers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    look_alikes: tuple[tuple[str, str], ...] = ()
    brought: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    smi: Driver = field(default_factory=Driver)
    driver: Driver = field(default_factory=Driver)
    tools: Tools = field(default_factory=Tools)
    ptrace_scope: int | None = None
    may_trace: bool | None = None

    def versions(self, name: str) -> tuple[str, ...]:
        """The versions that a distribution is recorded with."""
        return tuple(dict.fromkeys(each.version for each in self.installed.get(name, ())))


@dataclass(frozen=True, slots=True)
class Trial:
    """What one process that imported a target's module found; None in `framework` is that torch was not to be had."""

    before: tuple[Attempt, ...] = ()
    imported: Attempt | None = None
    calls: tuple[Attempt, ...] = ()
    framework: Framework | None = None
    framework_error: str | None = None
    mapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """What running the accelerated path did: on how many GPUs, and what went wrong, if anything did."""

    gpus: int
    problems: tuple[str, ...] = ()
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target in this environment. `versions` has the distribution first; a version is None where there is none."""

    distribution: str
    feature: str
    state: State
    release: str | None
    versions: tuple[tuple[str, str | None], ...]
    trial: Trial | None
    run: Run | None
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Examination:
    facts: Facts
    verdicts: tuple[Verdict, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing that is installed is wrong."""
        return not any(cause.defect for verdict in self.verdicts for cause in verdict.causes)

    def reaches(self, wanted: State) -> bool:
        return all(verdict.state.reaches(wanted) for verdict in self.verdicts)
