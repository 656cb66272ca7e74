"""What applies to a path, and where each value comes from: the configuration made visible, nothing decided.

Enters: a configuration, the targets with their histories, the path. Leaves: settings in a fixed order, each with the
place that says so, and for each library the releases that a scan of the path would check, with the reason. The same
functions answer here and in a scan, so that what is shown is what happens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from driftwatch.errors import DriftwatchError
from driftwatch.project import ranges
from driftwatch.project.config import Config
from driftwatch.project.declared import Requirements
from driftwatch.snapshot.model.history import History
from driftwatch.targets.target import Target

DEFAULT = "default"
SHIPPED = "comes with driftwatch"


@dataclass(frozen=True, slots=True)
class Setting:
    """A key, its values as text (none where it is empty), and where that comes from."""

    key: str
    values: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class AppliedTarget:
    """A library: what is known of it, and which releases would be checked. `error` stands where that cannot be told."""

    distribution: str
    module: str
    source: str
    snapshots: Path
    known: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    described: str = ""
    reason: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """All of it; `path` is the configuration file, None where there is none."""

    path: Path | None
    settings: tuple[Setting, ...]
    targets: tuple[AppliedTarget, ...]


def applied(config: Config, targets: Iterable[tuple[Target, History | DriftwatchError]], scanned: Path) -> Applied:
    """What applies to a scan of `scanned`. A target whose snapshots cannot be read comes with the error instead."""
    values: dict[str, tuple[str, ...]] = {
        "against": config.against,
        "select": config.select,
        "ignore": config.ignore,
        "per-file-ignores": tuple(f"{pattern}: {', '.join(codes)}" for pattern, codes in config.per_file_ignores),
        "severity": tuple(f"{code}: {severity}" for code, severity in config.severity.items()),
        "exclude": config.exclude,
        "baseline": (str(config.baseline),) if config.baseline is not None else (),
        "fail-on": (config.fail_on,),
        "watch": config.watch,
    }
    settings = tuple(Setting(key, found, _source(config, key)) for key, found in values.items())
    return Applied(
        config.path, settings, tuple(_target(config, target, history, scanned) for target, history in targets)
    )


def _source(config: Config, key: str) -> str:
    if config.path is None or key not in config.lines:
        return DEFAULT
    line = config.lines[key]
    return str(config.path) if line is None else f"{config.path}:{line}"


def _target(config: Config, target: Target, history: History | DriftwatchError, scanned: Path) -> AppliedTarget:
    own = any(Target.from_config(table, config.folder or Path.cwd()) == target for table in config.targets)
    source = _source(config, "target") if own else SHIPPED
    if isinstance(history, DriftwatchError):
        return AppliedTarget(target.distribution, target.module, source, target.snapshots, error=history.message)
    timeline = history.timeline
    try:
        found = ranges.choose(
            target.distribution,
            timeline,
            configured=config.against,
            configured_in=config.path.name if config.path is not None else "the configuration",
            requirements=Requirements(
                scanned,
                [target.distribution],
                exclude=config.exclude,
                exclude_from=config.folder,
                aliases=target.other_names,
            ),
        )
    except DriftwatchError as error:
        return AppliedTarget(
            target.distribution, target.module, source, target.snapshots, timeline.versions, error=error.message
        )
    return AppliedTarget(
        target.distribution,
        target.module,
        source,
        target.snapshots,
        timeline.versions,
        timeline.versions_of(found.releases),
        timeline.describe(found.releases),
        "; ".join([found.source, *(notice.message for notice in found.notices)]),
    )
