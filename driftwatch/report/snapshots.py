"""What was done with snapshots, and what is known of each release, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from driftwatch.releases import Timeline
from driftwatch.report.phrases import count
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.snapshot.commands.update import Failure, UpdateResult
from driftwatch.snapshot.commands.verify import Verified, VerifyResult
from driftwatch.snapshot.store.store import ReleaseRecord
from driftwatch.targets.target import Target

_SHOWN_DIFFERENCES = 10


def render_records(target: Target, records: Sequence[ReleaseRecord], look: Look) -> str:
    return compose(_records(target, records), look)


def render_records_json(found: Sequence[tuple[Target, Sequence[ReleaseRecord]]]) -> str:
    form = {
        "schema": 1,
        "targets": [
            {
                "distribution": target.distribution,
                "module": target.module,
                "releases": [
                    {
                        "version": record.version,
                        "artifact": record.artifact,
                        "sha256": record.sha256,
                        "requires_python": record.requires_python,
                        "digest": record.digest,
                    }
                    for record in records
                ],
            }
            for target, records in found
        ],
    }
    return json.dumps(form, indent=2) + "\n"


def render_update(target: Target, result: UpdateResult, previous: str | None, look: Look) -> str:
    """`previous` is the newest release that was known before."""
    return compose(_update(target, result, previous), look)


def render_verify(target: Target, result: VerifyResult, look: Look) -> str:
    return compose(_verify(target, result), look)


def _records(target: Target, records: Sequence[ReleaseRecord]) -> Iterator[Line | Hanging]:
    width = max((len(record.version) for record in records), default=0)
    yield Hanging(
        (Span(safe(target.distribution), "heading"), Span(f"  {safe(target.module)}, ")),
        (Span(count(len(records), "release")),),
    )
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
