"""What a target says of the environments that it runs in.

Enters: a target, with its ``environment.toml`` and ``companions.toml`` where it has them. Leaves: frozen `Needs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from driftwatch.system.tables import Table, read_if_there
from driftwatch.targets.companions import Companions, load_companions
from driftwatch.targets.target import Target

FILE = "environment.toml"
_KEYS = (
    "feature",
    "shown",
    "framework",
    "runtime",
    "group_sizes",
    "kernels_of",
    "calls",
    "fetch",
    "libraries",
    "compiled",
    "wheels",
    "condition",
)


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
    table = read_if_there(target.data, FILE) or Table({}, FILE)
    table.only(_KEYS)
    fetch, compiled, libraries = table.table("fetch"), table.table("compiled"), table.table("libraries")
    return Needs(
        distribution=target.distribution,
        module=target.module,
        feature=table.string("feature", target.module),
        since=target.since,
        aliases=target.aliases,
        companions=load_companions(target.data),
        shown=table.strings("shown"),
        framework=table.maybe("framework"),
        runtime=table.strings("runtime"),
        libraries=libraries.strings("names") if libraries else (),
        by_beginning=libraries.string("by_beginning", "<0") if libraries else "<0",
        calls=table.strings("calls"),
        group_sizes=table.listed("group_sizes", lambda size: type(size) is int, "a list of numbers"),
        kernels_of=table.maybe("kernels_of"),
        fetch=(fetch.string("command"), fetch.string("releases")) if fetch else None,
        no_compiler=compiled.maybe("switched_off_by") if compiled else None,
        kernel=compiled.maybe("kernel") if compiled else None,
        cache=(compiled.string("base"), compiled.string("cache")) if compiled and "cache" in compiled else None,
        compilers=compiled.pairs("cuda") if compiled else (),
        wheels=tuple((row.string("cuda"), row.string("build")) for row in table.tables("wheels")),
        conditions=tuple(map(_condition, table.tables("condition"))),
    )


def _condition(table: Table) -> Condition:
    table.only(("id", "when", "releases", "says", "open", "fix", "fixed_in"))
    return Condition(
        table.string("id"),
        table.string("when"),
        table.string("releases"),
        table.string("says"),
        table.flag("open"),
        table.maybe("fix"),
        table.maybe("fixed_in"),
    )
