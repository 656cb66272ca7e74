"""A scan that tells only what is new against a base revision of the git repository: the pre-merge question.

Enters: a `ScanRequest` and a revision. Leaves: the `Report` of the working tree in which every finding that the
base has too is suppressed, by ``base``. The base is where the two lines of history parted; its files are read from
git's objects into a folder that is gone afterwards: nothing is checked out, no hook and no filter runs. It is scanned
like the working tree, by its own configuration and declared dependencies, against the same snapshots.

A finding is old when the base says the same of the same place, for at least the same releases, at least as severely.
The same place is the line itself, wherever the edits between have moved it, a line edited in place, or the same text
elsewhere in the file. So a bad call that is put before an equal one is told with its own line.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from driftwatch.errors import ConfigError, InputError, UsageError
from driftwatch.findings.finding import Before, Finding, Severity
from driftwatch.findings.suppress import Suppressed
from driftwatch.project.config import Config, discover, load
from driftwatch.releases import union
from driftwatch.scan.code_bases import write_commit
from driftwatch.scan.pipeline import ScanRequest, scan
from driftwatch.scan.report_model import Report, TargetReport
from driftwatch.scan.sources import Sources
from driftwatch.snapshot.sources.git import GitCommit, git

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Base:
    """The base revision: `copy` stands for `root`, the repository's top. `renamed` gives old names by new ones."""

    commit: str
    root: Path
    copy: Path
    renamed: Mapping[str, str]

    def mirrored(self, path: Path) -> Path:
        """The path that stands for a path of the working tree."""
        return self.copy / Path(os.path.normpath(path)).relative_to(self.root)


def scan_new(request: ScanRequest, revision: str) -> Report:
    """Scan, and suppress what the base revision has too."""
    with opened(request, revision) as base:
        now = scan(request)
        then_request = _request_for(request, base)
        then = scan(then_request) if then_request is not None else None
        old = _old(now, then, base) if then is not None else set()
    told_before = f"there before, at {base.commit[:12]}"
    new = tuple(finding for finding in now.findings if finding not in old)
    return replace(
        now,
        targets=tuple(replace(target.by(new), before=_before(target, old)) for target in now.targets),
        findings=new,
        suppressed=(
            *now.suppressed,
            *(Suppressed(finding, "base", told_before) for finding in now.findings if finding in old),
        ),
    )


def _before(target: TargetReport, old: set[Finding]) -> Before:
    errors = [f for f in old if f.severity is Severity.ERROR and f.distribution == target.distribution]
    return Before(len(errors), union([f.releases for f in errors]))


# -- the base as files -------------------------------------------------------------------------------------------------


@contextmanager
def opened(request: ScanRequest, revision: str) -> Iterator[Base]:
    """The base revision's files, for as long as the context lasts."""
    here = (request.base or Path.cwd()).resolve()
    root = _top([here / path for path in request.paths])
    commit = _parting(root, revision)
    with tempfile.TemporaryDirectory(prefix="driftwatch-base-") as folder:
        copy = Path(folder).resolve() / root.name
        write_commit(commit, copy)
        yield Base(commit.commit, root, copy, _renamed(root, commit))


def _top(paths: Sequence[Path]) -> Path:
    """The top folder of the one repository that all paths are in."""
    tops: set[Path] = set()
    for path in paths:
        folder = path if path.is_dir() else path.parent
        if not folder.is_dir():
            raise InputError(f"cannot scan {str(path)!r}: no such file or folder")
        try:
            answer = git(folder, "rev-parse", "--show-toplevel")
        except InputError as error:
            raise InputError(f"{folder} is in no git repository, so that there is no base: {error.message}") from None
        tops.add(Path(os.fsdecode(answer.rstrip(b"\r\n"))).resolve())
    if len(tops) != 1:
        raise UsageError("the paths are in several repositories", "scan them one after the other")
    return tops.pop()


def _parting(root: Path, revision: str) -> GitCommit:
    """The commit from which both the working tree and the revision come; the revision itself where none is known."""
    try:
        asked = GitCommit(root, revision)
    except InputError as error:
        raise InputError(error.message, _how_to_have(root, revision)) from None
    try:
        found = git(root, "merge-base", asked.commit, "HEAD").decode().strip()
    except InputError:
        # A shallow clone does not know; then what was named is what is meant.
        return asked
    return asked if found in ("", asked.commit) else GitCommit(root, found)


def _how_to_have(root: Path, revision: str) -> str | None:
    """What brings a commit that is not here; a ref or a commit can be asked for by name, what is reckoned cannot."""
    shallow = git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
    why = "this clone is shallow; " if shallow else ""
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", revision):
        return f"{why}fetch it first: git fetch origin {revision}"
    name = revision.removeprefix("origin/")
    if re.fullmatch(r"\w[\w./-]*", name) and b"origin" in git(root, "remote").split():
        # A fetch by name alone would leave nothing of that name here.
        fetch = f"git fetch origin +{name}:refs/remotes/origin/{name}"
        return f"{why}fetch it first, then say --diff-base origin/{name}: {fetch}"
    return f"{why}fetch the rest first: git fetch --unshallow" if shallow and re.match(r"\w|@", revision) else None


def _renamed(root: Path, commit: GitCommit) -> dict[str, str]:
    """Old names by new ones, as the index has them."""
    listing = git(root, "diff-index", "--cached", "-M", "--diff-filter=R", "--name-status", "-z", commit.commit)
    words = listing.decode("utf-8", "surrogateescape").split("\0")
    return {words[i + 2]: words[i + 1] for i in range(0, len(words) - 2, 3)}


# -- the scan of the base ----------------------------------------------------------------------------------------------


def _request_for(request: ScanRequest, base: Base) -> ScanRequest | None:
    """The same request, of the base; None where the base has none of its paths."""
    here = (request.base or Path.cwd()).resolve()
    given = [_real(here / path) for path in request.paths]
    paths = [there for path in given if (there := base.mirrored(path)).exists()]
    # A named file that was called something else is looked for under that name.
    paths += [
        base.copy / old for new, old in base.renamed.items() if base.root / new in given and (base.copy / old).is_file()
    ]
    if not paths:
        return None
    baseline = request.baseline
    if baseline is not None:
        baseline = _there(base, Path.cwd() / baseline)
    return replace(request, paths=tuple(paths), config=_config(request.config, base), baseline=baseline)


def _real(path: Path) -> Path:
    """A path as git has it: links on the way are followed, the last name is kept."""
    plain = Path(os.path.normpath(path))
    return plain.resolve() if plain.is_dir() else plain.parent.resolve() / plain.name


def _config(config: Config, base: Base) -> Config:
    """The configuration as the base has it."""
    place = config.path.resolve() if config.path is not None else base.root / "pyproject.toml"
    if not place.is_relative_to(base.root):
        return config
    there = base.mirrored(place)
    try:
        found = load(there) if config.path is not None and there.is_file() else discover(there.parent)
    except ConfigError:
        # It was not valid then, or not for this version: what applies now is the better guess.
        return replace(config, path=there, baseline=_there(base, config.baseline))
    if found.path is None or not found.path.is_relative_to(base.copy):
        return Config()
    if found.baseline is not None and not found.baseline.is_file():
        found = replace(found, baseline=None)
    return found


def _there(base: Base, path: Path | None) -> Path | None:
    """A file of the base, if it has it; one outside of the repository is what it is."""
    if path is None:
        return None
    real = _real(path)
    if not real.is_relative_to(base.root):
        return path
    there = base.mirrored(real)
    return there if there.is_file() else None


# -- what is new -------------------------------------------------------------------------------------------------------


def _old(now: Report, then: Report, base: Base) -> set[Finding]:
    """The findings that the base has too."""
    before: dict[tuple[object, ...], list[Finding]] = {}
    for finding in then.findings:
        name = _name(then.sources, finding, base.copy)
        before.setdefault(_subject(finding, name), []).append(finding)
    groups: dict[tuple[object, ...], list[Finding]] = {}
    # What is suppressed now takes its own counterpart, so that no other finding is held to be the same.
    for finding in (*now.findings, *(each.finding for each in now.suppressed)):
        name = _name(now.sources, finding, base.root)
        groups.setdefault(_subject(finding, base.renamed.get(name, name)), []).append(finding)
    moves: dict[tuple[str, str], Moves] = {}
    old: set[Finding] = set()
    for key, found in groups.items():
        known = before.get(key, [])
        if not known:
            continue
        names = known[0].location.path, found[0].location.path
        if names not in moves:
            moves[names] = Moves(then.sources.lines(names[0]) or (), now.sources.lines(names[1]) or ())
        old |= matched(found, known, moves[names])
    return old


def matched(found: Sequence[Finding], known: Sequence[Finding], moves: Moves) -> set[Finding]:
    """Those of the findings that are known, each known one speaking for one: by line, by edited line, by text."""
    old: set[Finding] = set()
    left = list(known)
    for same_place in (moves.same_line, moves.edited, moves.same_text):
        for finding in found:
            if finding in old:
                continue
            match = next((b for b in left if same_place(b, finding) and _covers(b, finding)), None)
            if match is not None:
                old.add(finding)
                left.remove(match)
    return old


def _covers(before: Finding, finding: Finding) -> bool:
    rank = list(Severity)
    return (
        finding.releases <= before.releases
        and finding.beyond <= before.beyond | before.releases
        and rank.index(before.severity) <= rank.index(finding.severity)
    )


def _name(sources: Sources, finding: Finding, root: Path) -> str:
    """A finding's file by its name in the repository."""
    path = sources.path(finding.location.path)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else finding.location.path


def _subject(finding: Finding, name: str) -> tuple[object, ...]:
    """What a finding is about and how it ends, but for the place within the file."""
    return (
        finding.code,
        finding.name,
        finding.distribution,
        name,
        finding.symbol,
        finding.parameter,
        finding.outcome,
    )


class Moves:
    """What became of the lines of a file."""

    def __init__(self, before: Lines, after: Lines) -> None:
        self._before = before
        self._after = after
        self._to: dict[int, int] = {}
        self._edits: list[tuple[range, range]] = []
        for tag, i1, i2, j1, j2 in _operations(before, after):
            if tag == "equal":
                self._to.update(zip(range(i1 + 1, i2 + 1), range(j1 + 1, j2 + 1), strict=True))
            elif tag == "replace":
                self._edits.append((range(i1 + 1, i2 + 1), range(j1 + 1, j2 + 1)))

    def same_line(self, before: Finding, after: Finding) -> bool:
        here = before.location, after.location
        return self._to.get(here[0].line) == here[1].line and here[0].column == here[1].column

    def edited(self, before: Finding, after: Finding) -> bool:
        if self._to.get(before.location.line) == after.location.line:
            return True
        return any(before.location.line in old and after.location.line in new for old, new in self._edits)

    def same_text(self, before: Finding, after: Finding) -> bool:
        return _text(self._before, before) == _text(self._after, after)


def _text(lines: Lines, finding: Finding) -> list[str]:
    return [line.strip() for line in lines[finding.location.line - 1 : finding.location.end_line]]


def _operations(before: Lines, after: Lines) -> list[tuple[str, int, int, int, int]]:
    """The edits between two texts; what is equal at both ends costs nothing."""
    was, now = [[line.rstrip("\r") for line in lines] for lines in (before, after)]
    first = 0
    while first < min(len(was), len(now)) and was[first] == now[first]:
        first += 1
    last = 0
    while last < min(len(was), len(now)) - first and was[-1 - last] == now[-1 - last]:
        last += 1
    middle = SequenceMatcher(None, was[first : len(was) - last], now[first : len(now) - last], autojunk=False)
    found = [("equal", 0, first, 0, first)]
    found += [(tag, i1 + first, i2 + first, j1 + first, j2 + first) for tag, i1, i2, j1, j2 in middle.get_opcodes()]
    return [*found, ("equal", len(was) - last, len(was), len(now) - last, len(now))]
