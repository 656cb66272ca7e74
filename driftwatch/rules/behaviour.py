"""Behaviour that begins or ends between two releases, whether or not a signature shows it.

Enters: what a target knows beside its snapshots, and two releases. Leaves: the advisories and the failing imports that
hold in one of the two alone, what begins first.
"""

from __future__ import annotations

from dataclasses import dataclass

from driftwatch.findings.finding import RELEASES
from driftwatch.releases import Timeline
from driftwatch.rules.advisories import Advisory, ImportFailure, Knowledge


@dataclass(frozen=True, slots=True)
class BehaviourChange:
    """What holds in one of two releases: in the newer one where it `begins`.

    `about` are the names or the module that it is about, dotted. `releases` are all in which it holds.
    """

    begins: bool
    name: str
    about: tuple[str, ...]
    message: str
    releases: tuple[str, ...]
    evidence: tuple[str, ...]


def behaviour_changes(knowledge: Knowledge, timeline: Timeline, old: str, new: str) -> tuple[BehaviourChange, ...]:
    """What begins and what ends from one release to another."""
    before, after = timeline.set_of([old]), timeline.set_of([new])
    known: list[Advisory | ImportFailure] = [*knowledge.import_failures, *knowledge.advisories]
    found = [
        _change(each, timeline, bool(each.releases & after))
        for each in known
        if bool(each.releases & before) is not bool(each.releases & after)
    ]
    return tuple(sorted(found, key=lambda change: not change.begins))


def _change(each: Advisory | ImportFailure, timeline: Timeline, begins: bool) -> BehaviourChange:
    if isinstance(each, ImportFailure):
        about, message = [each.module], f"importing it raises {each.exception} {each.when}"
    else:
        about = [symbol.dotted for symbol in each.symbols]
        message = each.message.replace(RELEASES, timeline.describe(each.releases))
    return BehaviourChange(begins, each.id, tuple(about), message, timeline.versions_of(each.releases), each.evidence)
