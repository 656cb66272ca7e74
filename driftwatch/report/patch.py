"""Repairs for a person and for programs: a unified diff, and what is and is not fixed, in words.

Enters: what has stood the proof. Leaves: text. The diff is one that ``git apply`` and ``patch -p1`` take.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from pathlib import Path

from driftwatch.repair.model import Changed, Offer
from driftwatch.report.phrases import count


def diff(files: Iterable[Changed]) -> str:
    """The changes as one unified diff."""
    return "".join(_of(file) for file in files)


def _of(file: Changed) -> str:
    before, after = map(_lines, file.texts)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(before, after, f"a/{file.path}", f"b/{file.path}")
    )


def diff_of_pins(project: Path, files: Mapping[Path, tuple[bytes, bytes]]) -> str:
    """The changed requirements as one unified diff."""
    text = ""
    for place, (before, after) in sorted(files.items()):
        name = Path(os.path.relpath(place, project)).as_posix()
        texts = (before.decode("utf-8-sig"), after.decode("utf-8-sig"))
        text += _of(Changed(name, place, before, after, texts, ()))
    return text


def _lines(text: str) -> list[str]:
    found = [f"{line}\n" for line in text.split("\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]


def done(offer: Offer) -> list[str]:
    """What each repair does, a line each."""
    return [
        f"{finding.location.path}:{finding.location.line}: {finding.code} {repair.description}"
        for file in offer.files
        for repair in file.repairs
        for finding in repair.findings
    ]


def left(offer: Offer) -> list[str]:
    """What is not fixed, a line each with the reason; what several findings share is said once."""
    alike: dict[tuple[str, str, str], list[int]] = {}
    for refusal in offer.refusals:
        place = refusal.finding.location
        alike.setdefault((place.path, refusal.finding.code, refusal.reason), []).append(place.line)
    lines = []
    for (path, code, reason), where in alike.items():
        more = f" (and line {', '.join(map(str, where[1:]))})" if where[1:] else ""
        lines.append(f"{path}:{where[0]}: {code} not fixed: {reason}{more}")
    return lines


def summary(offer: Offer, *, written: bool) -> str:
    """What it comes to, in one line."""
    if not offer.findings:
        return "nothing to fix"
    done = len(set(offer.repaired))
    parts = [f"{done} of {count(len(offer.findings), 'finding')} {'fixed' if written else 'can be fixed'}"]
    if offer.files:
        parts.append(f"in {count(len(offer.files), 'file')}")
    waiting = sum(refusal.reason.startswith("with --unsafe") for refusal in offer.refusals)
    text = " ".join(parts)
    if waiting:
        text += f"; {waiting} more with --unsafe"
    codes = Counter(
        refusal.finding.code for refusal in offer.refusals if not refusal.reason.startswith("with --unsafe")
    )
    if codes:
        text += f"; not {', '.join(f'{code} ({number})' for code, number in sorted(codes.items()))}"
    return text
