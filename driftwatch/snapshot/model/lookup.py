"""The symbol a person means, found by whatever they typed.

Enters: a history and a name: ``module:qualname``, a dotted path, or the end of one. Leaves: the references it means, or
a `UsageError` that names what it may have been. Nothing is guessed: an ending that fits several things is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from driftwatch.errors import UsageError
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref

_SHOWN = 6


def find(history: History, text: str) -> tuple[Ref, ...]:
    """The references a name means: one, or a function and the submodule of its name; functions come first."""
    exact = _exact(history, text)
    if exact:
        return exact
    candidates = _ending(history, text)
    if len(candidates) == 1:
        return candidates
    if candidates:
        names = [str(ref) for ref in candidates[:_SHOWN]]
        more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        raise UsageError(f"{text!r} may be any of {len(candidates)} symbols", f"say which: {', '.join(names)}{more}")
    near = near_misses(history, text)
    hint = f"did you mean {' or '.join(near)}?" if near else f"names begin with {history.module}"
    raise UsageError(f"no known release of {history.distribution} has a symbol {text!r}", hint)


def find_in(histories: Sequence[History], text: str) -> tuple[History, tuple[Ref, ...]]:
    """The first of several histories that has what a name means, and the references it means there."""
    problems: list[UsageError] = []
    for history in histories:
        try:
            return history, find(history, text)
        except UsageError as error:
            problems.append(error)
    if not problems:
        raise UsageError("there is no target to look in")
    top = text.replace(":", ".").partition(".")[0]
    parts = [part.lower() for history in histories for part in history.module.split(".")]
    if top and top != text and not get_close_matches(top.lower(), parts, n=1, cutoff=0.7):
        if not any(_ending(history, top) for history in histories):
            known = ", ".join(dict.fromkeys(history.module for history in histories))
            raise UsageError(
                f"there is no library with a module {top!r} among those that are set up",
                f"set up are {known}; `scan --against` and `deps` need no set-up",
            )
    # Of several failures, one that knows what may have been meant is worth more than the others.
    raise next((problem for problem in problems if problem.hint and "names begin" not in problem.hint), problems[0])


def near_misses(history: History, text: str) -> tuple[str, ...]:
    """Dotted names that look like what was typed, the likeliest first."""
    wanted = text.replace(":", ".").lower()
    last = wanted.rpartition(".")[2]
    by_last: dict[str, list[str]] = {}
    for ref in history.epochs:
        by_last.setdefault(ref.dotted.rpartition(".")[2].lower(), []).append(ref.dotted)
    found: dict[str, None] = {}
    for close in get_close_matches(last, by_last, n=3, cutoff=0.7):
        for dotted in get_close_matches(wanted, sorted(by_last[close]), n=1, cutoff=0.0):
            found[dotted] = None
    return tuple(found)


def _exact(history: History, text: str) -> tuple[Ref, ...]:
    if ":" in text:
        ref = Ref.parse(text)
        return (ref,) if ref in history.epochs else ()
    parts = text.split(".")
    splits = (Ref(".".join(parts[:i]), ".".join(parts[i:])) for i in range(1, len(parts) + 1))
    return tuple(sorted((ref for ref in splits if ref in history.epochs), key=lambda ref: not ref.qualname))


def _ending(history: History, text: str) -> tuple[Ref, ...]:
    """Symbols whose path ends with the text, each thing under its shortest public name only."""
    wanted = text.replace(":", ".")
    if not wanted.strip("."):
        return ()
    by_thing: dict[Ref, list[Ref]] = {}
    for ref in history.epochs:
        if f".{ref.dotted}".endswith(f".{wanted}"):
            by_thing.setdefault(_thing(history, ref), []).append(ref)
    return tuple(sorted(_shortest(refs) for refs in by_thing.values()))


def _thing(history: History, ref: Ref) -> Ref:
    """Where the newest thing of this name is defined, so that re-exports of one thing are seen as one."""
    epochs = history.of(ref)
    return epochs[-1].symbol.definition or ref


def _shortest(refs: Iterable[Ref]) -> Ref:
    return min(refs, key=lambda ref: (ref.dotted.count("."), not ref.qualname, ref))
