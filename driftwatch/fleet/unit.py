"""The work on one code base, wherever it is done: it depends on its `Job` alone, and may be done any number of times.

Enters: a job. Leaves: its row as JSON, the same bytes in every process. Libraries are read once in a process, and
shared by all the jobs that it does. Whatever becomes of one job is in its row: a failure is a reason.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from driftwatch.errors import DriftwatchError, InputError
from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import CallUse, Location, Unknown
from driftwatch.project import ranges
from driftwatch.project.config import Config
from driftwatch.project.declared import Requirements
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.report.json_v1 import finding_form
from driftwatch.report.states import finding_states, site_rows, whole_row
from driftwatch.rules.rule import Context
from driftwatch.scan.code_bases import FROM_GIT, FROM_INDEX, is_read, opened
from driftwatch.scan.libraries import watched
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Reached, Report
from driftwatch.snapshot.sources.fetch import choose_for_scan, parse_project_spec
from driftwatch.snapshot.sources.git import GitCommit
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.system.tables import Table
from driftwatch.targets.target import all_targets

_AROUND = 2
_LONGEST = 200
_MOST_LINES = 12
_MOST_VALUES = 40

Row = dict[str, Any]
"""What is found of one code base, as JSON has it."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which libraries code bases are held against, as it is asked: every process works out the same from it.

    `tables` are the libraries that a configuration sets up, as JSON, with the `folder` that its paths start at;
    `against` is which releases of which libraries are asked for. Places in it are found from every folder.
    """

    tables: str = "[]"
    folder: str | None = None
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One code base, and all that its row depends on: what it is, what it is held against, and what stands for what is
    known of that. `key` is the name of its row; paths start at `home`, wherever the work is done.
    """

    source: str
    digest: str
    question: Question
    libraries: tuple[str, ...]
    key: str
    home: str

    @property
    def located(self) -> str:
        """The code base by a path that leads there from anywhere."""
        if self.source.startswith(FROM_INDEX):
            return self.source
        if self.source.startswith(FROM_GIT):
            return f"{FROM_GIT}{Path(self.home, self.source.removeprefix(FROM_GIT))}"
        return str(Path(self.home, self.source))


def _tables(question: Question) -> tuple[Table, ...]:
    """The tables of a configuration, as they reach another process."""
    return tuple(Table(each, "[[tool.driftwatch.target]]") for each in json.loads(question.tables))


@lru_cache(maxsize=4)
def libraries(question: Question) -> tuple[tuple[Watched, ...], tuple[str, ...]]:
    """The libraries as a scan takes them, read once in each process, and what of them is asked for."""
    targets = all_targets(_tables(question), Path(question.folder or Path.cwd()))
    found = watched(targets, (), question.against, None)
    gc.freeze()
    return found


def digests(question: Question) -> tuple[str, ...]:
    """What stands for all that is known of the libraries."""
    return tuple(f"{w.history.distribution} {w.history.module} {w.history.digest}" for w in libraries(question)[0])


def timelines(question: Question) -> dict[str, tuple[str, Timeline]]:
    """The modules and the releases of each library."""
    found: dict[str, tuple[str, Timeline]] = {}
    for each in libraries(question)[0]:
        history = each.history
        before = f"{found[history.distribution][0]}, " if history.distribution in found else ""
        found[history.distribution] = f"{before}{history.module}", history.timeline
    return found


# -- what a code base is -----------------------------------------------------------------------------------------------


def digest_of(source: str, index: PackageIndex) -> tuple[str, str]:
    """What a code base is called with its version, and what stands for all that a scan reads of it.

    A release is its archive's hash, a commit its own; nothing is fetched for it.
    """
    if source.startswith(FROM_INDEX):
        name, version = parse_project_spec(source)
        project = index.project(name)
        version = version or str(project.newest())
        return f"{FROM_INDEX}{name}=={version}", choose_for_scan(project.artifacts(version)).sha256
    if source.startswith(FROM_GIT):
        folder, at, ref = source.removeprefix(FROM_GIT).rpartition("@")
        return source, GitCommit(Path(folder if at else ref), ref if at else "HEAD").commit
    return source, _of_folder(Path(source))


def _of_folder(path: Path) -> str:
    if not path.exists():
        raise InputError(f"cannot scan {str(path)!r}: no such file or folder")
    digest = hashlib.sha256()
    for name, file in _files(path):
        try:
            content = file.read_bytes()
        except OSError:
            content = b""
        digest.update(
            b"%d %b" % (len(name.encode("utf-8", "surrogateescape")), name.encode("utf-8", "surrogateescape"))
        )
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """What a scan may read of a folder, by its name there."""
    if path.is_file():
        yield path.name, path
        return
    for where, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(where, name)
            shown = file.relative_to(path).as_posix()
            if is_read(shown) and file.is_file():
                yield shown, file


# -- one code base -----------------------------------------------------------------------------------------------------


def examine(job: Job) -> str:
    """The row of a job as JSON; a row with ``reason`` where there is nothing to be told."""
    row: Row = {"source": job.source, "digest": job.digest}
    try:
        row |= _examined(job)
    except DriftwatchError as error:
        row["reason"] = error.message
    except Exception as error:  # noqa: BLE001 - a defect on one code base must not cost the others
        row["reason"] = f"driftwatch itself failed: {type(error).__name__}: {error}"
    finally:
        _give_back()
    return json.dumps(row, sort_keys=True)


def _give_back() -> None:
    """Have the system take what one code base needed: what the next one needs is then no more on top of it."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def _examined(job: Job) -> Row:
    known, asked = libraries(job.question)
    if digests(job.question) != job.libraries:
        raise InputError("where this was to be looked at, other releases of the library are known")
    elsewhere = Config(targets=_tables(job.question))
    own = elsewhere if job.source.startswith((FROM_INDEX, FROM_GIT)) else None
    with opened(job.located, own, lambda _text: None) as code:
        result = scan(ScanRequest(code.paths, known, code.config, asked or ("all",)))
        if not result.files:
            raise InputError("there is no Python file in it")
        return {
            "name": code.name,
            "files": result.files,
            "analysed": result.analysed,
            "unresolved": len(result.unresolved),
            "unread": len(result.diagnostics),
            "libraries": list(_libraries(result, known, code.paths[0], code.name)),
        }


def _libraries(result: Report, watched: Sequence[Watched], path: Path, name: str) -> Iterator[Row]:
    report = replace(result, title=name)
    aliases = {alias: each.history.distribution for each in watched for alias in each.aliases}
    requirements = Requirements(path, [each.distribution for each in report.targets], aliases=aliases)
    for target in report.targets:
        if not target.uses:
            continue
        own = ranges.choose(target.distribution, target.timeline, requirements=requirements)
        row = whole_row(name, site_rows(report, target), len(target.timeline))
        yield {
            "distribution": target.distribution,
            "states": "".join(str(int(state)) for state in row.states),
            "declared": list(target.timeline.versions_of(own.releases)) if own.declared else [],
            "notices": [f"{each.path}:{each.line}: {each.message}" for each in (*own.notices, *target.notices)],
            "uses": target.uses,
            "findings": [
                {
                    **{
                        k: v
                        for k, v in finding_form(finding, target.timeline).items()
                        if k not in ("releases", "beyond")
                    },
                    "states": "".join(str(int(state)) for state in finding_states(finding, len(target.timeline))),
                    "excerpt": _excerpt(finding, result),
                }
                for finding in result.findings
                if finding.distribution == target.distribution
            ],
            "usage": _usage(result.reached, target.distribution),
        }


def _excerpt(finding: Finding, result: Report) -> list[list[object]]:
    """The lines round a finding, each with its number."""
    place: Location = finding.location
    lines = result.sources.lines(place.path) or ()
    first = max(place.line - _AROUND, 1)
    last = min(place.end_line + _AROUND, first + _MOST_LINES, len(lines))
    return [[number, lines[number - 1][:_LONGEST]] for number in range(first, last + 1)]


# -- how it is used ----------------------------------------------------------------------------------------------------


def _usage(reached: Sequence[Reached], distribution: str) -> list[list[object]]:
    """Each symbol with the number of places that call it, the parameters that these fill, and the literal values."""
    places: dict[str, set[tuple[str, int, int]]] = {}
    filled: dict[str, Counter[str]] = {}
    values: dict[tuple[str, str], Counter[str]] = {}
    for part in reached:
        for use in part.uses:
            if not isinstance(use, CallUse) or use.distribution != distribution:
                continue
            symbol = use.callee.dotted
            place = (part.prefix + use.location.path, use.location.line, use.location.column)
            if place in places.setdefault(symbol, set()):
                continue
            places[symbol].add(place)
            for name, constants in _arguments(use, part.contexts[distribution]).items():
                filled.setdefault(symbol, Counter())[name] += 1
                values.setdefault((symbol, name), Counter()).update(constants or ("?",))
    return [
        [
            symbol,
            len(found),
            [
                [
                    name,
                    number,
                    sorted(values[symbol, name].items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_VALUES],
                ]
                for name, number in sorted(filled.get(symbol, Counter()).items())
            ],
        ]
        for symbol, found in sorted(places.items())
    ]


def _arguments(use: CallUse, context: Context) -> Mapping[str, set[str]]:
    """The parameters that a call fills in the newest release that it reaches, each with the literals it may be."""
    found: dict[str, set[str]] = {}
    parts = [part for part in context.parts(use) if part.signature is not None]
    if parts:
        part = max(parts, key=lambda each: each.releases.mask.bit_length())
        for position, index in enumerate(part.positional):
            name = part.bound.places[position] if position < len(part.bound.places) else None
            if name is not None:
                found[name] = _constants(use.positional[index].values, part.releases)
    for argument in use.keywords:
        if argument.name is not None:
            found[argument.name] = _constants(argument.values, argument.releases)
    return found


def _constants(values: Sequence[tuple[ReleaseSet, object]], releases: ReleaseSet) -> set[str]:
    return {
        "?" if value is Unknown.UNKNOWN else repr(value)[:_LONGEST]
        for where, value in values
        if not where.isdisjoint(releases)
    }
