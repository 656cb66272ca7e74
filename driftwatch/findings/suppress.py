"""What a project has decided not to be told: comments in the source, patterns in the configuration, a baseline.

Enters: findings, and the texts of the files they are in. Leaves: the findings that stand, those that do not and why,
and every decision that no longer decides anything, so that none outlives its reason unseen.

A comment is ``# driftwatch: ignore``, with codes or names of rules in brackets (``ignore[DW101, missing-name]``), with
``until=0.8`` for as long as only releases before that one are checked, and with a reason in any words. It speaks for
the statement it stands in, and on a line of its own for the one after it.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from packaging.version import Version

from driftwatch.errors import InputError
from driftwatch.findings.finding import Finding, Severity
from driftwatch.project.discovery import path_matches
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.system import atomic_files

_DIRECTIVE = re.compile(
    r"#\s*driftwatch\s*(?::\s*ignore(?![\w-])|(?P<bare>ignore(?=\s*(?:\[|$|until\b))))\s*(\[[^\]\n]*\]?)?(.*)",
    re.IGNORECASE,
)
_UNTIL_BARE = re.compile(r"\buntil\s+v?\d[\w.]*")
_UNTIL = re.compile(r"\buntil\s*=\s*(\S+)")
BASELINE_SCHEMA = 2
"""In schema 1, what a fingerprint stood for depended on how many findings of its kind were in the file."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """A comment. `first` and `last` are the lines of its statement; no `codes` means all. `fault` is what is wrong."""

    path: str
    line: int
    first: int
    last: int
    codes: tuple[str, ...] = ()
    until: str | None = None
    reason: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that is not reported, and by what: ``comment``, ``per-file-ignores``, ``baseline`` or ``base``."""

    finding: Finding
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Idle:
    """A decision that decided nothing, or no longer may; `message` is one sentence."""

    path: str
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """A finding that was there before: it is known for these releases, and comes back for any other."""

    fingerprint: str
    code: str
    path: str
    symbol: str
    releases: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is left, what is not, and what is to be told about the decisions themselves."""

    standing: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    idle: tuple[Idle, ...]


def matches(code: str, selectors: Iterable[str]) -> bool:
    """Whether a code is selected: by itself or by a prefix such as ``DW1``."""
    return any(code.startswith(selector.strip().upper()) for selector in selectors if selector.strip())


# -- comments ------------------------------------------------------------------------------------------------------


def ignores(path: str, text: str, names: Mapping[str, str] = MappingProxyType({})) -> tuple[Ignore, ...]:
    """The ignore comments of a file, in order. Text that merely looks like one, inside a string, is none.

    `names` gives the codes of rules by their names.
    """
    if "driftwatch" not in text:
        return ()
    found: list[Ignore] = []
    pending: list[tuple[int, re.Match[str]]] = []
    first: int | None = None
    last = remarked = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                directive = _DIRECTIVE.search(token.string)
                if directive:
                    pending.append((token.start[0], directive))
                remarked = token.start[0]
            elif token.type == tokenize.NEWLINE:
                start = token.start[0] if first is None else first
                found += [_ignore(path, line, (start, token.end[0]), directive, names) for line, directive in pending]
                pending, first = [], None
            elif token.type == tokenize.NL and first is None and token.start[0] != remarked:
                # One on lines of its own speaks for the statement after it, and not across an empty line.
                found += [_ignore(path, line, (line, line), directive, names) for line, directive in pending]
                pending = []
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                first = token.start[0] if first is None else first
            last = token.end[0]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass  # what was read before the place that Python cannot read still counts
    found += [_ignore(path, line, (first or line, max(last, line)), directive, names) for line, directive in pending]
    return tuple(found)


def _ignore(path: str, line: int, lines: tuple[int, int], directive: re.Match[str], names: Mapping[str, str]) -> Ignore:
    bracket, rest = directive[2], directive[3]
    until = _UNTIL.search(rest)
    reason = _UNTIL.sub("", rest).strip(" -:,")
    codes: tuple[str, ...] = ()
    fault = None
    if bracket is not None:
        parts = [part.strip() for part in bracket.strip("[]").split(",") if part.strip()]
        codes = tuple(names.get(part.lower(), part.upper()) for part in parts)
        if not bracket.endswith("]"):
            fault = "its bracket is not closed"
        elif not codes:
            fault = "its brackets are empty"
    if directive["bare"] is not None:
        fault = "it lacks its colon: write `driftwatch: ignore`"
    elif until is None and (meant := _UNTIL_BARE.search(rest)):
        fault = f"write until={meant[0].split()[1]} with an equals sign"
    if until is not None:
        try:
            Version(until[1])
        except ValueError:
            fault = f"until={until[1]} is not a release"
    return Ignore(path, line, *lines, codes, until[1] if until else None, reason, fault)


# -- all of it -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decisions:
    """Everything that may suppress. `patterns` are per-file ignores; `texts` gives the text of a file, if it can.

    `timelines` and `checked` are by distribution; `codes` are all that exist, `names` gives them by
    the names of their rules, `applied` those that were looked for, or
    None for all. `placed` gives a finding's path as the patterns see it. `unseen` says of a path whether its file is
    there and was not looked at. What was not looked for, or where nobody looked, cannot be said to be gone.
    """

    texts: Callable[[str], str | None]
    timelines: Mapping[str, Timeline]
    checked: Mapping[str, ReleaseSet]
    codes: Sequence[str]
    names: Mapping[str, str] = field(default_factory=dict)
    patterns: Sequence[tuple[str, Sequence[str]]] = ()
    placed: Callable[[str], str] = str
    baseline: Sequence[BaselineEntry] = ()
    baseline_path: str = "baseline"
    applied: Sequence[str] | None = None
    unseen: Callable[[str], bool] = field(default=lambda path: False)


def sift(findings: Sequence[Finding], paths: Iterable[str], decisions: Decisions) -> Sifted:
    """The findings that stand. `paths` are the files whose comments are looked at, those with findings included."""
    comments: dict[str, tuple[Ignore, ...]] = {}
    for path in sorted({*paths, *(finding.location.path for finding in findings)}):
        text = decisions.texts(path)
        if text is not None:
            comments[path] = ignores(path, text, decisions.names)
    known = {entry.fingerprint: entry for entry in decisions.baseline}
    used: set[object] = set()
    expired: set[Ignore] = set()
    standing: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in findings:
        ignore = _comment_for(finding, comments.get(finding.location.path, ()), decisions, expired)
        entry = known.get(finding.fingerprint)
        if entry is not None:
            used.add(entry)
        if ignore is not None:
            used.add(ignore)
            suppressed.append(Suppressed(finding, "comment", ignore.reason))
        elif _by_pattern(finding, decisions):
            suppressed.append(Suppressed(finding, "per-file-ignores"))
        elif entry is not None and _covers(entry, finding, decisions.timelines[finding.distribution]):
            suppressed.append(Suppressed(finding, "baseline"))
        else:
            standing.append(finding)
    idle = [
        _idle(ignore, decisions, ignore in expired)
        for each in comments.values()
        for ignore in each
        if ignore not in used and (ignore in expired or _could_be_needed(ignore, decisions))
    ]
    idle += _gone(decisions, used)
    return Sifted(
        tuple(standing), tuple(suppressed), tuple(sorted(idle, key=lambda i: (i.path, i.line or 0, i.message)))
    )


def _gone(decisions: Decisions, used: set[object]) -> list[Idle]:
    """What is to be told about the entries of the baseline that are not there any more."""
    entries = [
        entry
        for entry in decisions.baseline
        if (decisions.applied is None or entry.code in decisions.applied) and not decisions.unseen(entry.path)
    ]
    gone = [entry for entry in entries if entry not in used]
    if len(gone) > 1 and len(gone) == len(decisions.baseline):
        told = (
            f"none of the {len(gone)} findings in the baseline is here: all are gone, or it was written for other paths"
        )
        return [Idle(decisions.baseline_path, None, told)]
    counted = Counter(f"{entry.code} {entry.symbol} in {entry.path}" for entry in gone)
    return [
        Idle(
            decisions.baseline_path,
            None,
            f"{what} is in the baseline{'' if number == 1 else f' {number} times'} and is gone",
        )
        for what, number in counted.items()
    ]


def _could_be_needed(ignore: Ignore, decisions: Decisions) -> bool:
    """Whether all that a comment speaks for was looked for, so that what it says of the code can be judged."""
    if decisions.applied is None or ignore.fault is not None:
        return True
    return all(code in decisions.applied for code in decisions.codes if not ignore.codes or matches(code, ignore.codes))


def _comment_for(
    finding: Finding, comments: Sequence[Ignore], decisions: Decisions, expired: set[Ignore]
) -> Ignore | None:
    for ignore in comments:
        if ignore.fault is not None or not ignore.first <= finding.location.line <= ignore.last:
            continue
        if ignore.codes and not matches(finding.code, ignore.codes):
            continue
        if ignore.until is not None and _reached(ignore.until, finding, decisions):
            expired.add(ignore)
            continue
        return ignore
    return None


def _by_pattern(finding: Finding, decisions: Decisions) -> bool:
    path = decisions.placed(finding.location.path)
    return any(path_matches(path, pattern) and matches(finding.code, codes) for pattern, codes in decisions.patterns)


def _reached(until: str, finding: Finding, decisions: Decisions) -> bool:
    """Whether a checked release is the one that an ignore ends with, or a later one."""
    timeline = decisions.timelines[finding.distribution]
    return any(timeline.parsed[i] >= Version(until) for i in decisions.checked[finding.distribution].indices())


def _covers(entry: BaselineEntry, finding: Finding, timeline: Timeline) -> bool:
    return set(timeline.versions_of(finding.releases)) <= entry.releases


def _idle(ignore: Ignore, decisions: Decisions, expired: bool) -> Idle:
    unknown = [code for code in ignore.codes if not any(known.startswith(code) for known in decisions.codes)]
    if ignore.fault is not None:
        message = f"this ignore has no effect: {ignore.fault}"
    elif unknown:
        message = f"this ignore has no effect: {_no_such(unknown[0], decisions)}"
    elif expired:
        message = f"this ignore has ended: release {ignore.until} is checked"
    else:
        what = ", ".join(ignore.codes) if ignore.codes else "anything"
        message = f"this ignore is not needed: nothing here is reported as {what}"
    return Idle(ignore.path, ignore.line, message)


def _no_such(code: str, decisions: Decisions) -> str:
    if code.startswith("DW"):
        return f"there is no code {code}"
    near = get_close_matches(code.lower(), list(decisions.names), n=1)
    return f"there is no rule {code.lower()}{f', did you mean {near[0]}?' if near else ''}"


# -- baseline --------------------------------------------------------------------------------------------------------


def read_baseline(path: Path) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline file; `InputError` when it is not one."""
    try:
        data = json.loads(atomic_files.read(path).decode("utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read the baseline {path}: {error.strerror or error}", "make one with `driftwatch baseline write`"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"the baseline {path} is damaged: it is not JSON", "write it anew") from None
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list):
        raise InputError(f"{path} is not a driftwatch baseline")
    schema = data.get("schema")
    if schema != BASELINE_SCHEMA:
        earlier = isinstance(schema, int) and schema < BASELINE_SCHEMA
        raise InputError(
            f"the baseline {path} has schema {schema!r}, not {BASELINE_SCHEMA}",
            "an earlier driftwatch wrote it: `driftwatch baseline write` makes it anew, the diff shows what it takes in"
            if earlier
            else "write it anew",
        )
    return tuple(_entry(path, item) for item in data["entries"])


def _entry(path: Path, item: Any) -> BaselineEntry:
    texts = ("fingerprint", "code", "path", "symbol")
    if (
        not isinstance(item, dict)
        or not all(isinstance(item.get(key), str) for key in texts)
        or not isinstance(item.get("releases"), list)
        or not all(isinstance(release, str) for release in item["releases"])
    ):
        raise InputError(f"the baseline {path} is damaged: {str(item)[:80]!r} is not an entry", "write it anew")
    return BaselineEntry(item["fingerprint"], item["code"], item["path"], item["symbol"], frozenset(item["releases"]))


def baseline_text(findings: Iterable[Finding], timelines: Mapping[str, Timeline]) -> str:
    """A baseline of all errors and warnings among the findings, one entry to a line, in a fixed order."""
    entries = [
        {
            "fingerprint": finding.fingerprint,
            "code": finding.code,
            "path": finding.location.path,
            "symbol": finding.symbol,
            "releases": list(timelines[finding.distribution].versions_of(finding.releases)),
        }
        for finding in findings
        if finding.severity is not Severity.NOTE
    ]
    entries.sort(key=lambda entry: (entry["path"], entry["code"], entry["symbol"], entry["fingerprint"]))
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
    body = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{{\n  "schema": {BASELINE_SCHEMA},\n  "entries": {body}\n}}\n'
