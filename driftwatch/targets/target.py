"""What is watched: a distribution on the package index, a module of it, and the folder of its snapshots.

Enters: a ``target.toml`` that driftwatch comes with, or a ``[[tool.driftwatch.target]]`` of the user's. Leaves: a
frozen `Target`, or a `ConfigError` that says what is wrong and, for a misspelt key, what was meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import UsageError
from driftwatch.snapshot.model.adapted import OWN_ERRORS, OWN_NAMES, with_adapter
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature
from driftwatch.system.tables import Table, read, read_if_there

INDEX = "index"
DEFAULT_SNAPSHOTS = "snapshots"
_KEYS = ("distribution", "module", "since", "snapshots", "origin", "companions", "aliases", "carriers")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_PACKAGE = Path(__file__).resolve().parent.parent
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Target:
    """A library to watch.

    `module` is the import path of its public root. `snapshots` is the folder with its history. `origin` is the folder
    its releases are read from, None for the package index. `companions` are distributions that must be of the same
    version, `aliases` others that bring the same module, such as forks, `carriers` packages that pin a release of it.
    `data` is the folder of what else is known about it (advisories, policy), None where there is none. `since` is the
    oldest release that is watched, None for all.
    """

    distribution: str
    module: str
    snapshots: Path
    origin: Path | None = None
    companions: tuple[str, ...] = ()
    data: Path | None = None
    since: str | None = None
    aliases: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()

    @property
    def other_names(self) -> dict[str, str]:
        """The distribution that each alias stands for."""
        return dict.fromkeys(self.aliases, self.distribution)

    @property
    def top(self) -> str:
        """The top-level package or module."""
        return self.module.partition(".")[0]

    def with_adapter(self, history: History) -> History:
        """The history as a scan wants it: with the face of the adapter, where the target has a policy for one."""
        policy = read_if_there(self.data, "policy.toml")
        if self.data is None or policy is None:
            return history
        own = (*policy.strings("exports"), *OWN_NAMES, *OWN_ERRORS)
        bound = (*policy.strings("functions"), *policy.strings("classes"))
        modules = [self.data / f"{name}.py" for name in policy.strings("embed")]
        return with_adapter(history, bound, own, partial(_constructor, modules))

    @classmethod
    def from_config(cls, table: Table, base: Path) -> Target:
        """A target as configured; relative paths start at `base`, the folder of the configuration file."""
        return _target(table, base, base / DEFAULT_SNAPSHOTS, None)


def _constructor(modules: Iterable[Path], name: str) -> Signature | None:
    """What a class takes that an adapter brings with it, read from the source; None for anything else."""
    for module in modules:
        text = module.read_text(encoding="utf-8")
        if f"class {name}(" not in text:
            continue
        for node in ast.parse(text).body:
            made = [each for each in getattr(node, "body", ()) if getattr(each, "name", "") == "__init__"]
            if isinstance(node, ast.ClassDef) and node.name == name and made and isinstance(made[0], ast.FunctionDef):
                return _signature(made[0].args)
    return None


def _signature(arguments: ast.arguments) -> Signature:
    """The signature of a method as its caller sees it; the value of a default is of no account."""
    placed = [*arguments.posonlyargs, *arguments.args]
    needed = len(placed) - len(arguments.defaults)
    parameters = [
        Parameter(each.arg, ParameterKind.POSITIONAL_OR_KEYWORD, None if number < needed else "...")
        for number, each in enumerate(placed)
    ]
    parameters += [
        Parameter(each.arg, ParameterKind.KEYWORD_ONLY, None if default is None else "...")
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return Signature(tuple(parameters[1:]))


def shipped_targets() -> tuple[Target, ...]:
    """The targets that driftwatch comes with, by distribution."""
    found = [shipped_target(path.parent) for path in _HERE.glob("*/target.toml")]
    return tuple(sorted(found, key=lambda target: target.distribution))


def all_targets(tables: Sequence[Table], folder: Path) -> tuple[Target, ...]:
    """The targets that driftwatch comes with, and those of a configuration over them; its paths start at `folder`."""
    chosen = {(canonicalize_name(target.distribution), target.module): target for target in shipped_targets()}
    for table in tables:
        target = Target.from_config(table, folder)
        chosen[canonicalize_name(target.distribution), target.module] = target
    return tuple(chosen.values())


def shipped_target(folder: Path) -> Target:
    """The target that a folder with a ``target.toml`` describes; its snapshots come with driftwatch."""
    return _target(read(folder / "target.toml"), folder, shipped_snapshots(), folder)


def shipped_snapshots() -> Path:
    """The folder of the snapshots that driftwatch comes with: inside the wheel, or beside the package in a checkout."""
    inside = _PACKAGE / "_snapshots"
    return inside if inside.is_dir() else _PACKAGE.parent / "snapshots"


def choose(targets: Iterable[Target], name: str) -> Target:
    """The target a person names, by distribution or module; `UsageError` when there is none."""
    known = list(targets)
    for target in known:
        if name == target.module or canonicalize_name(name) == canonicalize_name(target.distribution):
            return target
    names = [target.distribution for target in known]
    raise UsageError(f"{name!r} is not a target", f"targets are {', '.join(names)}" if names else None)


def _target(table: Table, base: Path, snapshots: Path, data: Path | None) -> Target:
    table.only(_KEYS)
    distribution = table.string("distribution")
    if not _DISTRIBUTION.fullmatch(distribution):
        raise table.wrong("distribution", "the name of a distribution")
    module = table.string("module")
    if not all(part.isidentifier() for part in module.split(".")):
        raise table.wrong("module", "an import path, as in 'package.module'")
    folder = table.maybe("snapshots")
    origin = table.string("origin", INDEX)
    if origin != INDEX and not (base / origin).is_dir():
        raise table.wrong("origin", "'index' or a folder")
    return Target(
        distribution=distribution,
        module=module,
        snapshots=base / folder if folder else snapshots / canonicalize_name(distribution),
        origin=None if origin == INDEX else base / origin,
        companions=_names(table, "companions"),
        data=data,
        since=table.read_as("since", lambda text: str(Version(text)), "a release"),
        aliases=_names(table, "aliases"),
        carriers=_names(table, "carriers"),
    )


def _names(table: Table, key: str) -> tuple[str, ...]:
    fits = lambda name: isinstance(name, str) and _DISTRIBUTION.fullmatch(name) is not None  # noqa: E731
    return table.listed(key, fits, "a list of names of distributions")
