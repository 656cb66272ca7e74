"""Options and lookups that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from driftwatch.cli.progress import Activity
    from driftwatch.project.config import Config
    from driftwatch.project.states import State
    from driftwatch.scan import Watched
    from driftwatch.snapshot.commands.on_demand import Select
    from driftwatch.snapshot.model.history import History
    from driftwatch.targets.target import Target

_Command = TypeVar("_Command", bound=Callable[..., object])

FILE = click.Path(path_type=Path)


def format_option(*names: str) -> Callable[[_Command], _Command]:
    """``--format``, the first name being the default."""
    choice = click.Choice(names)
    return click.option(
        "--format", "output_format", type=choice, default=names[0], show_default=True, help="Output format."
    )


def output_option(command: _Command) -> _Command:
    """``--output``."""
    return click.option(
        "--output", type=FILE, metavar="FILE", help="Write to a file, whole or not at all, instead of printing."
    )(command)


def target_option(command: _Command) -> _Command:
    """``--target``."""
    return click.option(
        "--target", "target_name", metavar="NAME", help="The library meant, by distribution or module."
    )(command)


def config_option(command: _Command) -> _Command:
    """``--config``."""
    return click.option(
        "--config", "config_file", type=FILE, metavar="FILE", help="The configuration, instead of the nearest one."
    )(command)


def configuration(config_file: Path | None) -> Config:
    """The configuration in a file, else the nearest one from the working folder upward."""
    from driftwatch.project.config import discover, load

    return load(config_file) if config_file is not None else discover(Path.cwd())


def own_place(config: Config, place: Path, key: str, hint: str) -> Path:
    """A place that a configuration names, to be written to; `ConfigError` where it is outside of the project.

    What is scanned may be anybody's, and so may its configuration, and its links.
    """
    from driftwatch.errors import ConfigError

    home = os.path.realpath(config.folder or Path.cwd())
    if Path(os.path.realpath(place)).is_relative_to(home):
        return place
    raise ConfigError(f"{key} leads to {os.path.realpath(place)}, out of the project {home}: not written", hint)


def writable(config: Config, target: Target) -> Target:
    """The target, when its snapshots may be written: those of a configuration below its folder alone."""
    from driftwatch.snapshot.store.store import HISTORY, RELEASES

    if target.data is None:  # not one that driftwatch comes with
        for name in ("", HISTORY, RELEASES):
            own_place(
                config,
                target.snapshots / name,
                f"`snapshots` of {target.distribution}",
                "have them below the folder of the configuration",
            )
    return target


def targets_of(config: Config) -> tuple[Target, ...]:
    """The libraries to look for: those that driftwatch comes with, and those of the configuration over them."""

    from driftwatch.errors import ConfigError, UsageError
    from driftwatch.project.ranges import check_names
    from driftwatch.targets.target import all_targets

    chosen = all_targets(config.targets, config.folder or Path.cwd())
    try:
        # A name that is misspelt would leave the range to what comes next, and nobody would know.
        check_names(config.against, [target.distribution for target in chosen])
    except UsageError as error:
        raise ConfigError(f"{config.path}: {error.message}", error.hint) from None
    return chosen


def one_target(config: Config, name: str | None) -> Target:
    """The target that is named, or the only one there is."""
    from driftwatch.errors import UsageError
    from driftwatch.targets.target import choose

    targets = targets_of(config)
    if name is not None:
        return choose(targets, name)
    if len(targets) == 1:
        return targets[0]
    names = ", ".join(target.distribution for target in targets)
    raise UsageError("there are several targets", f"say which with --target: {names}")


def history_of(target: Target) -> History:
    """All that is recorded of a target."""
    from driftwatch.snapshot.store.store import load

    return load(target.snapshots)


def finder(config: Config, shown: Activity) -> Callable[[Watched, tuple[str, ...]], Watched]:
    """What a scan asks for releases that a code base pins and that are not recorded."""

    def find(watched: Watched, versions: tuple[str, ...]) -> Watched:
        from dataclasses import replace

        from driftwatch.project.states import find, with_states

        target = next(each for each in targets_of(config) if each.distribution == watched.history.distribution)
        shown.title(f"fetching {target.distribution} {', '.join(versions)}")
        states, unavailable = find(target, versions)
        shown.title("analysing")
        found = target.with_adapter(with_states(target, states)) if states else watched.history
        return replace(watched, history=found, unavailable=unavailable)

    return find


def carried(shown: Activity) -> Callable[[str, str], tuple[str, ...]]:
    """What a scan asks for the requirements of a package that a code base pins."""

    def required(name: str, version: str) -> tuple[str, ...]:
        from driftwatch.project.carried import requirements_of

        shown.title(f"looking into {name} {version}")
        found = requirements_of(name, version)
        shown.title("analysing")
        return found

    return required


def watched(
    config: Config, against: Sequence[str] = (), paths: Sequence[Path] = (), shown: Activity | None = None
) -> tuple[tuple[Watched, ...], tuple[str, ...]]:
    """All targets as a scan takes them, and `against` with what it names of them by version.

    Where `against` names sources, or a version that is not recorded, the history has these as well. Where it names a
    library that nobody has set up, its history is made from the package index, and only the libraries that are named
    are scanned for.
    """
    from packaging.utils import canonicalize_name

    from driftwatch.project.ranges import is_beside, is_source, named
    from driftwatch.scan import Watched
    from driftwatch.snapshot.store.store import releases_without_module

    targets = {canonicalize_name(target.distribution): target for target in targets_of(config)}
    # A configuration may be anybody's: it names versions, and no places.
    asking = against or [text for text in config.against if not is_source(text)]
    histories = {target.distribution: history_of(target) for target in targets.values()}
    written = tuple(asking)
    states: Mapping[str, tuple[State, ...]] = {}
    if any(is_source(t) or any(is_beside(h.timeline, name, t) for name, h in histories.items()) for t in asking):
        from driftwatch.project.states import states_named, with_states

        written, states = states_named(asking, tuple(targets.values()))
        for target in targets.values():
            if target.distribution in states:
                histories[target.distribution] = with_states(target, states[target.distribution])
    asked: dict[str, list[str]] = {}
    for text in written if against else ():
        for name in named((text,)):
            asked.setdefault(canonicalize_name(name), []).append(text)
    strangers = [name for name in asked if name not in targets]
    known = [target for name, target in targets.items() if not strangers or name in asked]
    found: list[Watched] = []
    for target in known:
        own = states.get(target.distribution, ())
        places = [f"{state.name} is {state.said}" for state in own if state.said]
        found.append(
            Watched(
                target.with_adapter(histories[target.distribution]),
                target.data,
                target.companions,
                target.aliases,
                target.carriers,
                releases_without_module(target.snapshots),
                remark="; ".join(places),
            )
        )
    for name in strangers:
        found += on_demand_targets(name, asked[name], paths, tuple(targets), shown)
    return tuple(found), written if against else ()


def on_demand_targets(
    name: str,
    against: Sequence[str],
    paths: Sequence[Path],
    known: Sequence[str] = (),
    shown: Activity | None = None,
    select: Select | None = None,
) -> tuple[Watched, ...]:
    """A library that nobody has set up, as a scan takes it, module by module: the releases that are selected.

    Without `select` those that are asked for.
    """
    from difflib import get_close_matches

    from driftwatch.errors import InputError, UsageError
    from driftwatch.project.discovery import mentions
    from driftwatch.project.ranges import selected
    from driftwatch.scan import Watched
    from driftwatch.snapshot.commands.on_demand import on_demand

    def progress(done: int, total: int, release: str) -> None:
        if shown is not None:
            shown.step(f"{release} ({done} of {total})")

    if shown is not None:
        shown.title(f"reading {name}")
    try:
        found = on_demand(
            name,
            select or (lambda offered: selected(name, offered.timeline, against)),
            against,
            mentioned=lambda module: mentions(paths, module),
            progress=progress,
        )
    except (InputError, UsageError) as error:
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
        raise type(error)(error.message, f"did you mean {near[0]}?" if near else error.hint) from None
    remarks = [f"module {' and '.join(history.module for history in found.histories)}"]
    if found.others:
        remarks.append(f"not {' or '.join(found.others)}")
    if found.failed:
        remarks.append(f"not read: {'; '.join(f'{release}, {why}' for release, why in found.failed)}")
    if found.stale:
        remarks.append("the package index could not be reached: what was known before")
    return tuple(Watched(history, remark="; ".join(remarks)) for history in found.histories)
