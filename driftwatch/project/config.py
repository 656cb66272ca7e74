"""What a project says of itself: ``[tool.driftwatch]`` in pyproject.toml, or driftwatch.toml.

Enters: a path that is scanned. Leaves: a frozen `Config`, validated in full: a key that is not known, or a value of
another type than it must have, is a `ConfigError` that says where. Nothing is guessed and nothing is inherited: the
nearest file that configures driftwatch, upward from the path, is the only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from driftwatch.errors import ConfigError, UsageError
from driftwatch.system import atomic_files, tables
from driftwatch.system.tables import Table

SEVERITIES = ("error", "warning", "note")
FAIL_ON = ("error", "warning", "never")
_KEYS = (
    "against",
    "select",
    "ignore",
    "exclude",
    "per-file-ignores",
    "severity",
    "baseline",
    "fail-on",
    "target",
    "watch",
    "adapter-policy",
)


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that applies. `path` is the file it came from; None where there is none.

    `exclude` and the patterns of `per_file_ignores` are relative to the file's folder. `targets` are the tables of
    ``[[tool.driftwatch.target]]``, for the targets to read. `watch` are the code bases that
    ``driftwatch watch`` holds a new release against. `adapter_policy` is a file with more functions and rules for an
    adapter. `lines` says where each key that is set stands in the file.
    """

    path: Path | None = None
    against: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    baseline: Path | None = None
    fail_on: str = "error"
    targets: tuple[Table, ...] = ()
    watch: tuple[str, ...] = ()
    adapter_policy: Path | None = None
    lines: Mapping[str, int | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def folder(self) -> Path | None:
        """The folder that the file's paths are relative to."""
        return self.path.parent if self.path is not None else None


def discover(path: Path) -> Config:
    """The configuration for a path: the nearest driftwatch.toml, or pyproject.toml with our table, from it upward."""
    start = path.resolve()
    for folder in (start, *start.parents):
        own = folder / "driftwatch.toml"
        if own.is_file():
            return load(own)
        shared = folder / "pyproject.toml"
        # The search for text first: most projects on the way up do not use driftwatch, and may be anything.
        if shared.is_file() and _mentions_us(shared):
            config = _load(shared, required=False)
            if config is not None:
                return config
    return Config()


def config_for(paths: Iterable[Path], base: Path | None = None) -> Config:
    """The configuration of a scan: the one that all its paths share; `UsageError` when they belong to several."""
    found: dict[Path | None, Config] = {}
    for path in paths:
        config = discover((base or Path.cwd()) / path)
        found.setdefault(config.path, config)
    configured = [config for where, config in found.items() if where is not None]
    if len(configured) > 1:
        names = " and ".join(str(config.path) for config in configured[:2])
        raise UsageError(f"the paths have different configurations: {names}", "scan them one after the other")
    return configured[0] if configured else Config()


def load(path: Path) -> Config:
    """The configuration in one file: a pyproject.toml with our table, or any other TOML file that is all ours."""
    config = _load(path, required=True)
    assert config is not None
    return config


def _mentions_us(path: Path) -> bool:
    try:
        return b"driftwatch" in atomic_files.read(path)
    except OSError:
        return False


def _load(path: Path, *, required: bool) -> Config | None:
    document = tables.read(path)
    if path.name != "pyproject.toml":
        return _config(path, document)
    tool = document.get("tool", {})
    ours = tool.get("driftwatch") if isinstance(tool, dict) else None
    if ours is None:
        if required:
            raise ConfigError(f"{path} has no table [tool.driftwatch]")
        return None
    if not isinstance(ours, dict):
        raise ConfigError(f"{path}: tool.driftwatch must be a table")
    # A key of the same name may stand in another tool's table before ours.
    header = re.search(r"^[ \t]*\[+[ \t]*tool\.driftwatch\b", document.text, re.MULTILINE)
    start = header.start() if header else 0
    return _config(path, replace(document, data=ours, name="[tool.driftwatch]", start=start))


def _config(path: Path, table: Table) -> Config:
    table.only(sorted(_KEYS))
    ignores, severities = table.table("per-file-ignores"), table.table("severity")
    baseline, policy = (table.maybe(key, "the path of a file") for key in ("baseline", "adapter-policy"))
    return Config(
        path=path,
        against=table.one_or_more("against"),
        select=table.strings("select"),
        ignore=table.strings("ignore"),
        exclude=table.strings("exclude"),
        per_file_ignores=tuple((each, ignores.strings(each)) for each in ignores) if ignores is not None else (),
        severity={code: severities.one_of(code, SEVERITIES) for code in severities} if severities is not None else {},
        baseline=path.parent / baseline if baseline is not None else None,
        fail_on=table.one_of("fail-on", FAIL_ON, "error"),
        targets=table.tables("target"),
        watch=table.one_or_more("watch"),
        adapter_policy=path.parent / policy if policy is not None else None,
        lines={key: table.line(key) for key in table},
    )
