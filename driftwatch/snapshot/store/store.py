"""snapshots/ <-> histories: where snapshots are kept, and in which form.

A target has one folder with two files. `history.jsonl` holds the API of all releases: sorted, one line to a symbol's
facts, with the first release that has them (``since``) and the first later one that does not (``until``), so that a
new release changes only the lines whose API it changes. `releases.jsonl` holds one line to a release: the artifact it
was made from and the digest of its snapshot. The same snapshots always give the same bytes; files are written whole
or not at all; reading is lazy and cheap enough for every scan.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from packaging.version import Version

import driftwatch
from driftwatch.errors import SnapshotError
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.model.codec import Entry, decode, encode, lines
from driftwatch.snapshot.model.gpu_facts import GpuFact
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, Snapshot, Symbol
from driftwatch.snapshot.store.gpu_facts import load_facts
from driftwatch.snapshot.store.stored_epochs import StoredEpochs, StoredLine
from driftwatch.system import atomic_files

HISTORY = "history.jsonl"
RELEASES = "releases.jsonl"
ABSENT = "without_module.jsonl"
"""The releases whose artifacts do not have the module, so that none is fetched twice."""
EARLY = "pre"
"""The folder of the pre-releases below that of the releases: the same two files."""
FORMAT = 2

__all__ = [
    "ReleaseRecord",
    "add",
    "digest",
    "encode",
    "load",
    "records",
    "shipped",
    "snapshot_of",
    "write",
]


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """Where a release's snapshot came from. `artifact` is the file's name on the index, None for other origins."""

    version: str
    artifact: str | None = None
    sha256: str | None = None
    requires_python: str | None = None
    digest: str = ""
    """SHA-256 of the canonical bytes of its snapshot."""


def digest(snapshot: Snapshot) -> str:
    """SHA-256 of a snapshot's canonical bytes."""
    return hashlib.sha256(encode(snapshot)).hexdigest()


def shipped() -> Path:
    """The snapshots that come with driftwatch: inside an installed package, else of the checkout it runs from."""
    package = Path(driftwatch.__file__).parent
    for folder in (package / "_snapshots", package.parent / "snapshots"):
        if folder.is_dir():
            return folder
    raise SnapshotError(
        "this installation of driftwatch has no snapshots", "install it again, or name a folder of snapshots"
    )


# -- reading ---------------------------------------------------------------------------------------------------------


def load(folder: Path, beside: Sequence[Snapshot] = ()) -> History:
    """The history a target's folder holds; `SnapshotError` with file and line when it is damaged.

    `beside` are snapshots to be had in it as well. One that is no release, since its version has a local part, stands
    where its version says, after the ones before it in `beside`.
    """
    recorded = Timeline.of(r.version for r in records(folder))
    timeline = _with(recorded, beside)
    place = [timeline.versions.index(version) for version in recorded.versions]
    path = folder / HISTORY
    text = _text(path)
    header, rows = _rows(path, text)
    by_name: dict[str, list[StoredLine]] = {}
    masks: dict[str, int] = {}
    for number, entry in rows:
        span = (entry.get("since"), entry.get("until"))
        mask = masks.get(str(span))
        if mask is None:
            mask = _mask(recorded, span, path, number)
            if beside:
                mask = sum(1 << place[i] for i in range(len(place)) if mask >> i & 1)
            masks[str(span)] = mask
        name = entry.get("name")
        if not isinstance(name, str):
            raise SnapshotError(f"{path}, line {number} is damaged: it names no symbol")
        by_name.setdefault(name, []).append(StoredLine(entry, mask, number))
    read = hashlib.sha256(f"{json.dumps(timeline.versions)}\n{text}".encode())
    # Lines are told apart by where they stand; these stand before the first.
    numbers = count(-1, -1)
    for snapshot in beside:
        read.update(f"\n{snapshot.release}\n".encode())
        bit = 1 << timeline.index(snapshot.release)
        for ref, line in lines(snapshot):
            read.update(line.encode())
            _put(by_name.setdefault(str(ref), []), json.loads(line), bit, next(numbers))
    epochs = StoredEpochs(by_name, str(path))
    facts = partial(_facts, folder, recorded, tuple(place))
    return History(header["distribution"], header["module"], timeline, epochs, epochs.classes, read.hexdigest(), facts)


def _facts(folder: Path, recorded: Timeline, place: tuple[int, ...]) -> tuple[tuple[GpuFact, ReleaseSet], ...]:
    """What releases say of GPUs, with each release at its place in a wider timeline."""
    return tuple(
        (fact, ReleaseSet(sum(1 << place[i] for i in releases.indices())))
        for fact, releases in load_facts(folder, recorded)
    )


def _with(recorded: Timeline, beside: Sequence[Snapshot]) -> Timeline:
    """The timeline with more in it."""
    if not beside:
        return recorded
    states = [snapshot.release for snapshot in beside if Version(snapshot.release).local]
    dated = Timeline.of((*recorded.versions, *(s.release for s in beside if s.release not in states)))
    versions = list(dated.versions)
    lowest = 0
    for state in states:
        lowest = max(lowest, bisect(dated.parsed, Version(state)) + states.index(state))
        versions.insert(lowest, state)
    return Timeline(tuple(versions), frozenset(states))


def _put(there: list[StoredLine], entry: Entry, bit: int, number: int) -> None:
    """Have a line hold for one more release."""
    for position, line in enumerate(there):
        if {key: value for key, value in line.entry.items() if key not in ("since", "until")} == entry:
            there[position] = line._replace(mask=line.mask | bit)
            return
    there.append(StoredLine(entry, bit, number))


def records(folder: Path) -> tuple[ReleaseRecord, ...]:
    """What is known of each release in a target's folder, oldest first."""
    path = folder / RELEASES
    found: list[ReleaseRecord] = []
    for number, entry in _parsed(path, _text(path)):
        try:
            record = ReleaseRecord(**entry)
            Version(record.version)
        except (TypeError, ValueError) as error:
            raise SnapshotError(f"{path}, line {number} is damaged: {error}") from error
        found.append(record)
    versions = [Version(r.version) for r in found]
    if versions != sorted(set(versions)):
        raise SnapshotError(f"{path} is damaged: its releases are not distinct and in order")
    return tuple(found)


def snapshot_of(history: History, release: str) -> Snapshot:
    """The snapshot of one release, out of the history of all."""
    bit = 1 << history.timeline.index(release)
    symbols: dict[Ref, Symbol] = {}
    for ref, epochs in history.epochs.items():
        for epoch in epochs:
            if epoch.releases.mask & bit:
                symbols[ref] = epoch.symbol
    return Snapshot(history.timeline.versions[history.timeline.index(release)], symbols)


def snapshots_of(history: History) -> dict[str, Snapshot]:
    """The snapshot of every release: one walk through the history, however many there are."""
    symbols: list[dict[Ref, Symbol]] = [{} for _ in history.timeline.versions]
    for ref, epochs in history.epochs.items():
        for epoch in epochs:
            for index in epoch.releases.indices():
                symbols[index][ref] = epoch.symbol
    return {v: Snapshot(v, found) for v, found in zip(history.timeline.versions, symbols, strict=True)}


def _rows(path: Path, text: str) -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]]]:
    rows = _parsed(path, text)
    header = rows[0][1] if rows else {}
    if header.get("format") != FORMAT:
        another = (
            "another version of driftwatch made it; without the folder, `driftwatch snapshot update` makes it anew"
        )
        hint = another if "format" in header else None
        raise SnapshotError(f"{path}, line 1 is not the header of a history file of format {FORMAT}", hint)
    if not all(isinstance(header.get(key), str) for key in ("distribution", "module")):
        raise SnapshotError(f"{path}, line 1 is damaged: it does not name distribution and module")
    return header, rows[1:]


def _text(path: Path) -> str:
    try:
        text = atomic_files.read(path).decode()
    except FileNotFoundError:
        raise SnapshotError(f"{path} does not exist", "`driftwatch snapshot update` makes it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SnapshotError(f"{path} cannot be read: {error}") from error
    if text and not text.endswith("\n"):
        raise SnapshotError(f"{path}, line {text.count(chr(10)) + 1} is damaged: it ends in the middle")
    return text


def _parsed(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    rows = text.split("\n")[:-1]
    try:
        # One call for all lines is several times faster than one call for each.
        values = json.loads("[" + ",".join(rows) + "]")
        if len(values) != len(rows):
            raise ValueError
    except (ValueError, RecursionError):
        values = [_one(path, number, row) for number, row in enumerate(rows, 1)]
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise SnapshotError(f"{path}, line {number} is damaged: it is not an object")
    return list(enumerate(values, 1))


def _one(path: Path, number: int, row: str) -> Any:
    try:
        return json.loads(row)
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{path}, line {number} is damaged: {error}") from error


def _mask(timeline: Timeline, span: tuple[object, object], path: Path, number: int) -> int:
    since, until = span
    try:
        first = timeline.versions.index(since)
        end = len(timeline) if until is None else timeline.versions.index(until)
    except (ValueError, TypeError):
        raise SnapshotError(f"{path}, line {number} is damaged: it names a release that is not recorded") from None
    if end <= first:
        raise SnapshotError(f"{path}, line {number} is damaged: it ends before it begins")
    return (1 << end) - (1 << first)


def without_module(folder: Path) -> dict[str, dict[str, str]]:
    """The artifacts that are known not to have the module, by sha256; each with its ``version``."""
    try:
        rows = atomic_files.read(folder / ABSENT).decode().splitlines()
        return {row["sha256"]: row for row in map(json.loads, rows)}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise SnapshotError(f"{folder / ABSENT} is damaged", "delete it; it is made again") from None


def releases_without_module(folder: Path) -> tuple[str, ...]:
    """The releases that are known not to have the module, oldest first."""
    return Timeline.of({row["version"] for row in without_module(folder).values()}).versions


# -- writing ---------------------------------------------------------------------------------------------------------


def write(
    folder: Path, distribution: str, module: str, made: Iterable[tuple[Snapshot, ReleaseRecord]]
) -> tuple[ReleaseRecord, ...]:
    """Write a target's folder from the snapshots of all its releases; the records as they were written."""
    return _save(folder, distribution, module, {}, (), made)


def add(folder: Path, made: Iterable[tuple[Snapshot, ReleaseRecord]]) -> tuple[ReleaseRecord, ...]:
    """Put releases into a target's folder, replacing those that are there; the records as they were written."""
    known = records(folder)
    timeline = Timeline.of(r.version for r in known)
    header, rows = _rows(folder / HISTORY, _text(folder / HISTORY))
    held: dict[str, set[str]] = {}
    for number, entry in rows:
        mask = _mask(timeline, (entry.pop("since", None), entry.pop("until", None)), folder / HISTORY, number)
        versions = {v for i, v in enumerate(timeline.versions) if mask >> i & 1}
        held.setdefault(json.dumps(entry, ensure_ascii=False), set()).update(versions)
    return _save(folder, header["distribution"], header["module"], held, known, made)


def keep(
    folder: Path, distribution: str, module: str, made: Iterable[tuple[Snapshot, ReleaseRecord]]
) -> tuple[ReleaseRecord, ...]:
    """Put releases into a target's folder, which need not be there yet."""
    if (folder / RELEASES).exists():
        return add(folder, made)
    return write(folder, distribution, module, made)


def drop(folder: Path, versions: Sequence[str]) -> None:
    """Take releases out of a target's folder; with the last of them, the files go."""
    history = load(folder)
    left = [record for record in records(folder) if record.version not in versions]
    if left:
        snapshots = snapshots_of(history)
        made = ((snapshots[record.version], record) for record in left)
        write(folder, history.distribution, history.module, made)
        return
    (folder / RELEASES).unlink()
    (folder / HISTORY).unlink()


def _save(
    folder: Path,
    distribution: str,
    module: str,
    held: dict[str, set[str]],
    known: Sequence[ReleaseRecord],
    made: Iterable[tuple[Snapshot, ReleaseRecord]],
) -> tuple[ReleaseRecord, ...]:
    """`held` says for each line which releases have it."""
    by_version = {Version(r.version): r for r in known}
    for snapshot, record in made:
        old = by_version.get(Version(record.version))
        if old is not None:
            for versions in held.values():
                versions.discard(old.version)
        own = [line for _, line in lines(snapshot)]
        for line in own:
            held.setdefault(line, set()).add(record.version)
        digested = hashlib.sha256("".join(line + "\n" for line in own).encode()).hexdigest()
        by_version[Version(record.version)] = ReleaseRecord(
            record.version, record.artifact, record.sha256, record.requires_python, digested
        )
    ordered = tuple(by_version[version] for version in sorted(by_version))
    timeline = Timeline.of(r.version for r in ordered)
    header = json.dumps({"format": FORMAT, "distribution": distribution, "module": module}, ensure_ascii=False)
    history = [header, *_spans(held, timeline)]
    folder.mkdir(parents=True, exist_ok=True)
    # A history may name releases only when they are recorded: the records go first.
    atomic_files.write_lines(folder / RELEASES, [json.dumps(_record(r), ensure_ascii=False) for r in ordered])
    atomic_files.write_lines(folder / HISTORY, history)
    return ordered


def _spans(held: dict[str, set[str]], timeline: Timeline) -> Iterator[str]:
    """The lines of a history file: each line of a snapshot once for each run of releases that have it."""
    index = {version: i for i, version in enumerate(timeline.versions)}
    found: list[tuple[Ref, int, str]] = []
    for line, versions in held.items():
        entry = json.loads(line)
        mask = sum(1 << index[v] for v in versions)
        ref = Ref.parse(entry["name"])
        i = 0
        while mask >> i:
            if mask >> i & 1:
                start = i
                while mask >> i & 1:
                    i += 1
                span = {"since": timeline.versions[start]}
                if i < len(timeline):
                    span["until"] = timeline.versions[i]
                found.append((ref, start, json.dumps({**entry, **span}, ensure_ascii=False)))
            else:
                i += 1
    return (text for _, _, text in sorted(found))


def _record(record: ReleaseRecord) -> dict[str, str]:
    fields = ("version", "artifact", "sha256", "requires_python", "digest")
    return {name: getattr(record, name) for name in fields if getattr(record, name)}


def check(folder: Path) -> None:
    """Read everything a target's folder holds; `SnapshotError` for the first thing that is wrong."""
    history = load(folder)
    for number, entry in _rows(folder / HISTORY, _text(folder / HISTORY))[1]:
        if "is" not in entry:
            try:
                decode(entry)
            except (KeyError, ValueError, TypeError) as error:
                raise SnapshotError(f"{folder / HISTORY}, line {number} is damaged: {error}") from error
    snapshots = snapshots_of(history)
    for record in records(folder):
        if digest(snapshots[record.version]) != record.digest:
            raise SnapshotError(
                f"the snapshot of {record.version} in {folder} does not match its digest",
                "`driftwatch snapshot verify` makes it again and shows the difference",
            )
