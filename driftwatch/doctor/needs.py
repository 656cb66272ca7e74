"""What a target says of the environments that it runs in.

Enters: a target, with its ``environment.toml`` and ``companions.toml`` where it has them. Leaves: frozen `Needs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from driftwatch.errors import ConfigError
from driftwatch.targets.companions import Companions, load_companions
from driftwatch.targets.target import Target
from driftwatch.toml import parse

FILE = "environment.toml"


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is worth knowing of some releases where a machine or an environment is like this.

    `when` is "no-multicast", "no-ptrace" or "no-module:NAME". `opens` says that the path may not run because of it.
    """

    id: str
    when: str
    releases: str
    says: str
    opens: bool = False
    fix: str | None = None
    fixed_in: str | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """A target's needs.

    `kernels_of` is a function whose kernels must be there for a GPU, `compilers` are (capability, CUDA). `framework` is
    the module that sees the GPUs. `libraries` are looked for by name among those that are mapped; releases in
    `by_beginning` take any whose path has the name. `calls` are tried after the import. `runtime` are those of the
    library's requirements without which the path is not known to run. `kernel` is what the path's compiled kernels are
    called, `cache` the variable and the folder below what it names, or below the home folder, that they are kept in.
    """

    distribution: str
    module: str
    feature: str
    since: str | None = None
    aliases: tuple[str, ...] = ()
    companions: Companions = field(default_factory=Companions)
    shown: tuple[str, ...] = ()
    framework: str | None = None
    runtime: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    by_beginning: str = "<0"
    calls: tuple[str, ...] = ()
    group_sizes: tuple[int, ...] = ()
    kernels_of: str | None = None
    fetch: tuple[str, str] | None = None
    no_compiler: str | None = None
    kernel: str | None = None
    cache: tuple[str, str] | None = None
    compilers: tuple[tuple[str, str], ...] = ()
    wheels: tuple[tuple[str, str], ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    @property
    def distributions(self) -> tuple[str, ...]:
        """All that are looked up, the library's own first."""
        names = (self.distribution, *(each.distribution for each in self.companions.companions), *self.shown)
        return (*names, *self.aliases)

    @property
    def modules(self) -> tuple[str, ...]:
        """The top-level modules that are looked for."""
        asked = [each.when.partition(":")[2] for each in self.conditions if each.when.startswith("no-module:")]
        framework = (self.framework,) if self.framework else ()
        return (self.top, *(each.module for each in self.companions.companions), *framework, *asked)


def needs_of(target: Target) -> Needs:
    """What a target needs."""
    path = target.data / FILE if target.data else None
    data: dict[str, Any] = {}
    try:
        if path is not None and path.is_file():
            data = parse(path.read_text(encoding="utf-8"))
        return _needs(target, data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} cannot be read: {type(error).__name__}: {error}") from None


def _needs(target: Target, data: Mapping[str, Any]) -> Needs:
    fetch, compiled, libraries = data.get("fetch"), data.get("compiled", {}), data.get("libraries", {})
    return Needs(
        distribution=target.distribution,
        module=target.module,
        feature=data.get("feature", target.module),
        since=target.since,
        aliases=target.aliases,
        companions=load_companions(target.data),
        shown=tuple(data.get("shown", ())),
        framework=data.get("framework"),
        runtime=tuple(data.get("runtime", ())),
        libraries=tuple(libraries.get("names", ())),
        by_beginning=libraries.get("by_beginning", "<0"),
        calls=tuple(data.get("calls", ())),
        group_sizes=tuple(data.get("group_sizes", ())),
        kernels_of=data.get("kernels_of"),
        fetch=(fetch["command"], fetch["releases"]) if fetch else None,
        no_compiler=compiled.get("switched_off_by"),
        kernel=compiled.get("kernel"),
        cache=(compiled["base"], compiled["cache"]) if "cache" in compiled else None,
        compilers=tuple(compiled.get("cuda", {}).items()),
        wheels=tuple((row["cuda"], row["build"]) for row in data.get("wheels", ())),
        conditions=tuple(
            Condition(
                row["id"],
                row["when"],
                row["releases"],
                row["says"],
                row.get("open", False),
                row.get("fix"),
                row.get("fixed_in"),
            )
            for row in data.get("condition", ())
        ),
    )
