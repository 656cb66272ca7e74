"""What was done with snapshots, and what is known of each release, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from driftwatch.releases import Timeline
from driftwatch.report.phrases import count
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.snapshot.commands.update import Failure, UpdateResult
from driftwatch.snapshot.commands.verify import Verified, VerifyResult
from driftwatch.snapshot.store.store import ReleaseRecord
from driftwatch.targets.target import Target

_SHOWN_DIFFERENCES = 10


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is recorded of a target: its releases, the pre-releases beside them, and the states in the user's store."""

    target: Target
    releases: Sequence[ReleaseRecord]
    early: Sequence[ReleaseRecord] = ()
    states: Sequence[ReleaseRecord] = ()


def render_records(recorded: Recorded, look: Look) -> str:
    return compose(_records(recorded), look)


def render_records_json(found: Sequence[Recorded]) -> str:
    form = {
        "schema": 1,
        "targets": [
            {
                "distribution": each.target.distribution,
                "module": each.target.module,
                "releases": [_record_form(record) for record in each.releases],
                "pre_releases": [_record_form(record) for record in each.early],
                "states": [_record_form(record) for record in each.states],
            }
            for each in found
        ],
    }
    return json.dumps(form, indent=2) + "\n"


def _record_form(record: ReleaseRecord) -> dict[str, str | None]:
    return {
        "version": record.version,
        "artifact": record.artifact,
        "sha256": record.sha256,
        "requires_python": record.requires_python,
        "digest": record.digest,
    }


def render_update(target: Target, result: UpdateResult, previous: str | None, look: Look) -> str:
    """`previous` is the newest release that was known before."""
    return compose(_update(target, result, previous), look)


def render_verify(target: Target, result: VerifyResult, look: Look) -> str:
    return compose(_verify(target, result), look)


def _records(recorded: Recorded) -> Iterator[Line | Hanging]:
    target = recorded.target
    everything = (*recorded.releases, *recorded.early, *recorded.states)
    width = max((len(record.version) for record in everything), default=0)
    yield Hanging(
        (Span(safe(target.distribution), "heading"), Span(f"  {safe(target.module)}, ")),
        (Span(count(len(recorded.releases), "release")),),
    )
    yield from _rows(recorded.releases, width)
    for records, said in (
        (recorded.early, f"{count(len(recorded.early), 'pre-release')}, which count only where one is named"),
        (recorded.states, f"{count(len(recorded.states), 'state')} in the user's store, each only where it is named"),
    ):
        if records:
            yield Hanging((), (Span(said),))
            yield from _rows(records, width)


def _rows(records: Sequence[ReleaseRecord], width: int) -> Iterator[Line | Hanging]:
    for record in records:
        python = f"Python {record.requires_python}" if record.requires_python else ""
        yield (
            Span(f"  {safe(record.version):<{width}}  ", "code"),
            Span(safe(record.artifact or "not from the index")),
            Span(f"  {safe(python)}", "dim"),
        )


def _update(target: Target, result: UpdateResult, previous: str | None) -> Iterator[Line | Hanging]:
    for release in result.changed:
        yield Hanging((Span("  changed  ", "changed"),), (Span(safe(release)),))
    if result.added:
        # A first update adds dozens: as ranges of those that are new.
        added = Timeline.of(result.added)
        yield Hanging((Span("  added    ", "added"),), (Span(added.describe(added.all)),))
    if result.without_module:
        without = Timeline.of(result.without_module)
        said = f"{without.describe(without.all)}, which {'has' if len(without) == 1 else 'have'} no {target.module}"
        yield Hanging((Span("  left out ", "dim"),), (Span(safe(said)),))
    yield from _failed(result.failed)
    news = "" if result.added or result.changed else ", nothing new"
    yield Hanging(
        (Span(f"{safe(target.distribution)}: ", "path"),), (Span(f"{count(result.known, 'release')} known{news}"),)
    )
    if result.added and previous is not None:
        newest = Timeline.of(result.added).versions[-1]
        yield Hanging((Span("what it changes: ", "dim"),), (Span(f"driftwatch diff {previous} {newest}"),))


def _verify(target: Target, result: VerifyResult) -> Iterator[Line | Hanging]:
    for verified in result.verified:
        if not verified.right:
            yield from _wrong(verified)
    yield from _failed(result.failed)
    if result.skipped:
        skipped = Timeline.of(result.skipped)
        yield Hanging(
            (Span("  skipped  ", "dim"),), (Span(f"{skipped.describe(skipped.all)}: nothing to make it from again"),)
        )
    right = sum(verified.right for verified in result.verified)
    said = f"{right} of {count(len(result.verified), 'release')} made again, byte for byte the same"
    yield Hanging((Span(f"{safe(target.distribution)}: ", "path"),), (Span(said, "good" if result.right else "error"),))


def _wrong(verified: Verified) -> Iterator[Line | Hanging]:
    number = len(verified.differences)
    yield Hanging(
        (Span(f"  {safe(verified.release)}: ", "error"),),
        (
            Span(
                f"{number} {'symbol differs' if number == 1 else 'symbols differ'}"
                if verified.differences
                else "its digest differs"
            ),
        ),
    )
    for difference in verified.differences[:_SHOWN_DIFFERENCES]:
        yield Hanging((Span("    "),), (Span(safe(difference.symbol), "code"),))
        if difference.stored is not None:
            yield Hanging((Span("      - ", "removed"),), (Span(safe(difference.stored), "removed"),))
        if difference.made is not None:
            yield Hanging((Span("      + ", "added"),), (Span(safe(difference.made), "added"),))
    if len(verified.differences) > _SHOWN_DIFFERENCES:
        yield (Span(f"    and {len(verified.differences) - _SHOWN_DIFFERENCES} more", "dim"),)


def _failed(failures: Sequence[Failure]) -> Iterator[Line | Hanging]:
    for failure in failures:
        yield Hanging((Span("  failed   ", "error"),), (Span(safe(f"{failure.release}: {failure.error.message}")),))
