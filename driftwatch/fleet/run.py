"""Units done by an executor, and their rows in the order of the list.

Enters: members, and a way to make an executor. Leaves: rows. What is kept is not done again; what is done is kept at
once, so that a run which is killed has lost no more than what was being done. All that is asked of an executor is the
interface of `concurrent.futures`: who does the work, where, and how often it is tried again there, is its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from driftwatch.errors import DriftwatchError
from driftwatch.fleet.kept import Kept, key_of
from driftwatch.fleet.listing import Fleet
from driftwatch.fleet.unit import Job, Question, Row, digest_of, digests, examine
from driftwatch.scan.code_bases import FROM_GIT, FROM_INDEX, title_of
from driftwatch.snapshot.sources.index import PackageIndex, the_index

Progress = Callable[[int, int, str, str], None]
"""Called with how many rows there are, how many there will be, and of which code base the last one is, and how."""


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """What to do. `executor` makes one anew: after a worker has died, those of some kinds are of no more use."""

    fleet: Fleet
    executor: Callable[[], Executor]
    results: Path
    question: Question = field(default_factory=Question)
    progress: Progress = field(default=lambda _done, _all, _name, _how: None, compare=False)


@dataclass(frozen=True, slots=True)
class Ran:
    """The rows in the order of the list, and how many of them were worked out now."""

    rows: tuple[Row, ...]
    done: int


def run(request: FleetRequest, index: PackageIndex | None = None) -> Ran:
    """The rows of all members."""
    kept = Kept(request.results)
    rows: dict[int, Row] = {}
    jobs: dict[int, Job] = {}
    total = len(request.fleet.members)

    def have(number: int, row: Row, how: str) -> None:
        row.setdefault("name", title_of(row["source"]))
        rows[number] = row
        request.progress(len(rows), total, row["name"], row.get("reason") or how)

    with the_index(index) as used:
        for number, job in _jobs(request, used):
            if isinstance(job, Job):
                known = kept.find(job.key)
                if known is None:
                    jobs[number] = job
                else:
                    have(number, known, "known")
            else:
                have(number, job, "")
    for number, text in _done(jobs, request.executor):
        row = json.loads(text)
        if "reason" not in row:
            kept.keep(jobs[number].key, text)
        have(number, row, "done")
    return Ran(tuple(rows[number] for number in range(total)), len(jobs))


def _jobs(request: FleetRequest, index: PackageIndex) -> Iterator[tuple[int, Job | Row]]:
    home = str(Path.cwd())
    question = request.question
    known = digests(question)
    for number, member in enumerate(request.fleet.members):
        if member.reason:
            yield number, {"source": member.text, "reason": member.reason}
            continue
        try:
            source, digest = digest_of(member.text, index)
        except DriftwatchError as error:
            yield number, {"source": member.text, "reason": error.message}
            continue
        if not source.startswith((FROM_INDEX, FROM_GIT)):
            source = str(Path(source))
        yield number, Job(source, digest, question, known, key_of(digest, source, known, question.against), home)


def _done(jobs: Mapping[int, Job], make: Callable[[], Executor]) -> Iterator[tuple[int, str]]:
    """The jobs' rows as they come. One that takes its worker down is found by doing what is left one by one."""
    left = dict(jobs)
    if left:
        for number, text in _together(left, make):
            yield number, text
    while left:
        # Somebody's worker died, and nobody can say over which of these.
        number, job = next(iter(left.items()))
        found = list(_together({number: job}, make))
        text = found[0][1] if found else json.dumps({**_bare(job), "reason": "the process that looked at it died"})
        left.pop(number, None)
        yield number, text
        if not found:
            yield from _together(left, make)


def _together(left: dict[int, Job], make: Callable[[], Executor]) -> Iterator[tuple[int, str]]:
    """Rows of what is left, as far as the executor lives; each that is done is left no more."""
    with make() as executor:
        futures: dict[Future[str], int] = {}
        try:
            futures = {executor.submit(examine, job): number for number, job in left.items()}
            for future in as_completed(futures):
                number = futures[future]
                try:
                    text = future.result()
                except BrokenExecutor:
                    return
                except Exception as error:  # noqa: BLE001 - a worker's end, as its executor tells it
                    reason = f"it could not be looked at: {type(error).__name__}: {error}"
                    text = json.dumps({**_bare(left[number]), "reason": reason})
                left.pop(number)
                yield number, text
        except BrokenExecutor:
            return
        finally:
            for future in futures:
                future.cancel()


def _bare(job: Job) -> Row:
    return {"source": job.source, "digest": job.digest}


def titles(rows: Sequence[Row]) -> tuple[str, ...]:
    """What rows are called, each in its own way: two code bases of one name are told apart by where they are from."""
    names = [str(row["name"]) for row in rows]
    return tuple(n if names.count(n) == 1 else f"{n} ({row['source']})" for n, row in zip(names, rows, strict=True))
