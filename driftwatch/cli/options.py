"""Options and lookups that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from driftwatch.cli.progress import Activity
    from driftwatch.project.config import Config
    from driftwatch.scan.pipeline import Watched
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


def asked_target(
    config: Config, name: str | None, texts: Sequence[str], shown: Activity, paths: Sequence[Path] = ()
) -> tuple[Target, tuple[str, ...]]:
    """The library that is named, set up or not, and `texts` without its name.

    It is named with ``--target``, or in a text: ``NAME==VERSION``, ``NAME @ PLACE``. Else it is the only one there is.
    """
    from driftwatch.cli.output import say
    from driftwatch.scan.libraries import any_target, name_in

    named = name or next(filter(None, map(name_in, texts)), None)
    if named is None:
        return one_target(config, None), tuple(texts)
    target, remark = any_target(targets_of(config), named, texts, paths, shown)
    if remark:
        say(remark)
    return target, tuple(text.partition(" @ ")[2].strip() or text for text in texts)


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
    """All libraries as a scan takes them, and `against` with what it names of them by version."""
    from driftwatch.scan import libraries

    return libraries.watched(targets_of(config), config.against, against, paths, shown)
