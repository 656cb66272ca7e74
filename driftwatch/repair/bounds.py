"""The requirement on a library made one of releases that work: what is done where the code itself is not fixed.

Enters: a requirement where it is written, and the releases that work. Leaves: its new text, of which no more is changed
than the bound at fault; or the reason why there is none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from driftwatch.project.declared import Declaration
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.repair.model import NoRepairError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PIECE = re.compile(r"(?P<op>===|==|~=|!=|<=|>=|<|>)(?P<gap>\s*)(?P<version>[^\s,;)\"'#\\]+)")
_FILES = re.compile(r"pyproject\.toml|setup\.cfg|[^/]*\.(?:txt|in)")


@dataclass(frozen=True, slots=True)
class Raised:
    """A requirement before and after; `path` is that of reports."""

    path: str
    line: int
    before: str
    after: str


def raised(text: str, timeline: Timeline, works: ReleaseSet) -> str:
    """A requirement that selects only releases of the newest run of those that work; itself where it does already."""
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        raise NoRepairError(f"`{text}` is no requirement that can be read") from None
    if asked.url:
        raise NoRepairError(f"`{text}` names where it comes from, and no release")
    if timeline.matching(str(asked.specifier)) <= works and timeline.matching(str(asked.specifier)):
        return text
    first, last = timeline.ranges(works)[-1]
    run = timeline.matching(f">={first},<={last}")
    pieces = list(_PIECE.finditer(text.partition(";")[0]))
    exact = [piece for piece in pieces if piece["op"] in ("==", "===") and not piece["version"].endswith("*")]
    new = _pinned(text, exact[0], timeline, run) if exact else _bounded(text, pieces, first, last, timeline)
    selected = timeline.matching(str(Requirement(new).specifier))
    if not selected or not selected <= works:
        raise NoRepairError(f"no bound makes `{text}` one of releases that work")
    return new


def _pinned(text: str, piece: re.Match[str], timeline: Timeline, run: ReleaseSet) -> str:
    """The nearest release that works, a newer one before an older one."""
    asked = Version(piece["version"])
    known = [timeline.versions[i] for i in run.indices()]
    newer = [version for version in known if Version(version) >= asked]
    return _with(text, piece, newer[0] if newer else known[-1])


def _bounded(text: str, pieces: list[re.Match[str]], first: str, last: str, timeline: Timeline) -> str:
    lower = next((piece for piece in pieces if piece["op"] in (">=", ">", "~=")), None)
    upper = next((piece for piece in pieces if piece["op"] in ("<", "<=")), None)
    changes: list[tuple[re.Match[str] | None, str, str]] = []
    if lower is None:
        changes += [(None, ">=", first)] if timeline.matching(f"<{first}") else []
    elif Version(lower["version"]) < Version(first) or (lower["op"] == ">" and lower["version"] == first):
        compatible = lower["op"] == "~="
        if compatible and Version(first) not in SpecifierSet(lower[0], prereleases=True):
            raise NoRepairError(f"no release that works is in `{lower[0]}`")
        changes.append((lower, "~=" if compatible else ">=", first))
    if last != timeline.versions[-1]:
        bound = SpecifierSet(upper[0], prereleases=True) if upper is not None else SpecifierSet()
        beyond = timeline.matching(f">{last}")
        if any(timeline.parsed[i] in bound for i in beyond.indices()):
            changes.append((upper, "<=", last))
    # From behind, so that places stay; what is added comes last, a lower bound before an upper one.
    for piece, operator, version in sorted(changes, key=lambda each: -each[0].start() if each[0] else 1):
        text = _with(text, piece, version, operator) if piece is not None else _added(text, f"{operator}{version}")
    return text


def _with(text: str, piece: re.Match[str], version: str, operator: str | None = None) -> str:
    return f"{text[: piece.start()]}{operator or piece['op']}{piece['gap']}{version}{text[piece.end() :]}"


def _added(text: str, piece: str) -> str:
    """A requirement with one more bound: a lower one before the others, an upper one behind them."""
    found = list(_PIECE.finditer(text.partition(";")[0]))
    if found and piece.startswith("<"):
        return f"{text[: found[-1].end()]},{piece}{text[found[-1].end() :]}"
    if found:
        return f"{text[: found[0].start()]}{piece},{text[found[0].start() :]}"
    head = re.match(r"\s*[\w.-]+\s*(?:\[[^\]]*\])?", text)
    end = len(head[0].rstrip()) if head else len(text)
    return f"{text[:end]}{piece}{text[end:]}"


def rewritten(
    declared: Iterable[Declaration],
    project: Path,
    timeline: Timeline,
    works: ReleaseSet,
    files: dict[Path, tuple[bytes, bytes]],
) -> tuple[list[Raised], list[tuple[Declaration, str]]]:
    """What of the requirements is changed, and what is not, with the reason; `files` gets them before and after."""
    changed: list[Raised] = []
    refused: list[tuple[Declaration, str]] = []
    for each in sorted(dict.fromkeys(declared), key=lambda d: (d.path, d.line, d.column), reverse=True):
        place = project / each.path
        try:
            if not _FILES.fullmatch(place.name) or place.name == "requires.txt":
                raise NoRepairError(f"{each.file} is not one of pyproject.toml, setup.cfg and requirements files")
            before = files[place][0] if place in files else place.read_bytes()
            lines = (files[place][1] if place in files else before).split(b"\n")
            line = lines[each.line - 1].decode()
            text, start, end = _written(line, each)
            new = raised(text, timeline, works)
            if new == text:
                continue
            lines[each.line - 1] = f"{line[:start]}{new}{line[end:]}".encode()
            after = b"\n".join(lines)
            _must_be_only_that(place, before if place not in files else files[place][1], after, text, new)
            files[place] = (before, after)
            changed.append(Raised(each.path, each.line, text, new))
        except (NoRepairError, OSError, UnicodeDecodeError, IndexError) as error:
            refused.append((each, str(error)))
    return changed[::-1], refused[::-1]


def _written(line: str, declared: Declaration) -> tuple[str, int, int]:
    """The requirement as it is written in its line, without its marker, and where it begins and ends."""
    name = re.escape(declared.distribution).replace(r"\-", "[-_.]+").replace("-", "[-_.]+")
    written = rf"(?<![\w.-]){name}(?![\w.-])\s*(?:\[[^\]]*\])?[^;\"'#\\]*"
    found = re.search(written, line[declared.column - 1 :], re.IGNORECASE)
    if found is None:
        raise NoRepairError("the requirement cannot be found in its line")
    start = declared.column - 1 + found.start()
    text = found[0].rstrip()
    return text, start, start + len(text)


def _must_be_only_that(place: Path, before: bytes, after: bytes, old: str, new: str) -> None:
    """A TOML file must say the same but for this requirement."""
    if place.suffix != ".toml":
        return
    documents = []
    for data in (before, after):
        try:
            documents.append(repr(tomllib.loads(data.decode("utf-8-sig"))))
        except ValueError as error:
            raise NoRepairError("the file could not be read afterwards") from error
    places = [found.start() for found in re.finditer(re.escape(old), documents[0])]
    if not any(f"{documents[0][:at]}{new}{documents[0][at + len(old) :]}" == documents[1] for at in places):
        raise NoRepairError("more than the requirement would change")
