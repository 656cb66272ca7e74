"""What a shell offers after a key press: rule codes, symbols and releases.

Enters: the word that is being typed. Leaves: words that it may become. Whatever goes wrong, a shell is offered nothing,
since nobody could read what is wrong in the middle of a command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from driftwatch.errors import DriftwatchError

if TYPE_CHECKING:
    from driftwatch.snapshot.model.history import History

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_HEAD = re.compile(r"(?:.*,)?\s*(?:[A-Za-z][\w.-]*\s*)?[<>=!~]{1,3}\s*|.*,")
"""What of a specifier stands before the version that is being typed."""


def codes(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Codes of rules, with their names; after a comma, one more."""
    from driftwatch.rules import RULES

    head, comma, last = word.rpartition(",")
    return [
        CompletionItem(f"{head}{comma}{rule.code}", help=rule.name)
        for rule in RULES
        if rule.code.startswith(last.upper()) or rule.name.startswith(last.lower())
    ]


def _complete(offered: Callable[[click.Context, str], Iterable[str]]) -> _Complete:
    def complete(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
        try:
            return [CompletionItem(each) for each in dict.fromkeys(offered(context, word)) if each.startswith(word)]
        except (DriftwatchError, OSError):
            return []

    return complete


def _histories(context: click.Context) -> list[History]:
    from driftwatch.cli.options import configuration, history_of, one_target, targets_of

    file = context.params.get("config_file")
    config = configuration(Path(file) if file else None)
    name = context.params.get("target_name")
    return [history_of(target) for target in ((one_target(config, name),) if name else targets_of(config))]


def _symbols(context: click.Context, word: str) -> Iterable[str]:
    """Whole dotted names; while there is no dot yet, also the last part of those directly in the module."""
    for history in _histories(context):
        for ref in history.epochs:
            yield ref.dotted
            if "." not in word and ref.module == history.module and ref.qualname:
                yield ref.qualname


def _releases(context: click.Context, word: str) -> Iterable[str]:
    for history in _histories(context):
        yield from reversed(history.timeline.versions)


def _specifiers(context: click.Context, word: str) -> Iterable[str]:
    head = found[0] if (found := _HEAD.match(word)) else ""
    if not head:
        yield from ("all", "newest")
    for history in _histories(context):
        if not head:
            yield f"{history.distribution}>="
        for version in reversed(history.timeline.versions):
            yield f"{head}{version}"


symbols, releases, specifiers = _complete(_symbols), _complete(_releases), _complete(_specifiers)
