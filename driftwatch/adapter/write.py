"""What `driftwatch adapter write` and `driftwatch adapter check` do, as functions that
return data.

Enters: a target, its history, and what was asked for. Leaves: the adapter's text, or
the reasons why a file is not what would be made now. Nothing is printed or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import extended, load_policy
from driftwatch.adapter.render import (
    body_digest,
    read_header,
    render,
    render_split,
    without_preface,
)
from driftwatch.errors import InputError, UsageError
from driftwatch.snapshot.model.adapted import RUNTIME_MARK
from driftwatch.snapshot.model.history import History
from driftwatch.system import atomic_files
from driftwatch.targets.target import Target

ALL = "all"
_REASONS = {
    "library": "the known releases are now {new}, it was made for {old}",
    "signatures": "signatures of its functions, or the rules for them, changed",
    "policy": "the policy of the target changed",
    "runtime": "the adapter's own code changed",
}


@dataclass(frozen=True, slots=True)
class Made:
    """An adapter: its text, and what it covers."""

    text: str
    library: str
    functions: tuple[str, ...]
    runtime: tuple[str, str] | None = None
    """The name and the text of the module beside it, where it is written as two."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is wrong with an adapter file.

    `reasons` is empty when it is what would be made now.
    """

    path: Path
    reasons: tuple[str, ...]
    edited: bool = False

    @property
    def current(self) -> bool:
        return not self.reasons


def make_adapter(
    history: History,
    target: Target,
    *,
    against: str = ALL,
    functions: Sequence[str] = (),
    split: str | None = None,
    more: Path | None = None,
) -> Made:
    """The adapter of a target for the releases that a specifier selects.

    `split` is the name of the module for its run time, None for one file. `more` is a
    file with further functions and rules.
    """
    if target.data is None or not (target.data / "policy.toml").is_file():
        raise UsageError(
            f"no policy says what an adapter for {target.distribution} may do",
            "an adapter needs a policy.toml beside the target's own data",
        )
    shipped = load_policy(target.data / "policy.toml")
    policy = shipped if more is None else extended(shipped, more)
    timeline = history.timeline
    releases = timeline.all if against == ALL else timeline.matching(against)
    plan = make_plan(history, policy, releases, functions, target.companions)
    names = tuple(dict.fromkeys(functions)) or tuple(
        name for name in plan["functions"] if "." not in name
    )
    # A scan knows what the target's own policy binds; the rest is written out.
    known = {*shipped.functions, *shipped.classes}
    everything = not functions and known.issuperset(names)
    options = {"against": against, "functions": ALL if everything else ", ".join(names)}
    library = f"{plan['distribution']} {timeline.describe(releases)}"
    if split is None:
        return Made(render(plan, policy, names, options), library, names)
    options["split"] = split
    text, runtime = render_split(plan, policy, names, options, split)
    return Made(text, library, names, (f"{split}.py", runtime))


def check_adapter(
    history: History, target: Target, path: Path, more: Path | None = None
) -> Checked:
    """Hold an adapter file against what would be made now, asked for likewise."""
    file = _read(path)
    old, body = read_header(file)
    reasons: list[str] = []
    edited = old.get("body") != body_digest(body)
    if edited:
        reasons.append("it was edited after it was made, or damaged")
    asked = old.get("functions", ALL)
    functions = () if asked == ALL else tuple(name.strip() for name in asked.split(","))
    try:
        made = make_adapter(
            history,
            target,
            against=old.get("against", ALL),
            functions=functions,
            split=old.get("split"),
            more=more,
        )
    except UsageError as error:
        return Checked(
            path,
            (*reasons, f"what it was made for cannot be made now: {error.message}"),
            edited,
        )
    new, _ = read_header(made.text)
    for key, reason in _REASONS.items():
        if old.get(key) != new[key]:
            reasons.append(
                reason.format(new=new[key], old=old.get(key, "something else"))
            )
    if not reasons and made.text != without_preface(file):
        reasons.append("the form in which adapters are written changed")
    if made.runtime is not None:
        reasons += _check_runtime(path.with_name(made.runtime[0]), made.runtime[1])
    return Checked(path, tuple(reasons), edited)


def _check_runtime(path: Path, wanted: str) -> list[str]:
    """What is wrong with the module beside an adapter that is written as two."""
    try:
        file = _read(path)
        old, body = read_header(file, RUNTIME_MARK)
    except InputError as error:
        return [f"its run time beside it: {error.message}"]
    if old.get("body") != body_digest(body):
        return [f"{path.name} beside it was edited after it was made, or damaged"]
    if without_preface(file, RUNTIME_MARK) != wanted:
        return [f"{path.name} beside it is not the run time that would be made now"]
    return []


def _read(path: Path) -> str:
    """The text of a file.

    Line ends are git's business: an adapter checked out with CRLF is not an edited one.
    """
    try:
        return atomic_files.read(path).decode().replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text") from None
