"""What is offered, finding by finding, as reports show it.

Enters: files with repairs that have stood the proof. Leaves: for each finding the bytes that its repair replaces, and a
diff of that alone. The repairs of a file were proven together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import unified_diff

from driftwatch.repair.model import Changed, Edit, Fix, Replacement
from driftwatch.repair.probes import edits_of
from driftwatch.repair.text import Source


def described(files: Iterable[Changed], source: Callable[[str], Source]) -> Mapping[str, Fix]:
    """The fix of each finding that is fixed, by its fingerprint."""
    found: dict[str, Fix] = {}
    for file in files:
        for repair in file.repairs:
            one = source(repair.path)
            edits = edits_of(one, [repair])
            fix = Fix(
                repair.path,
                repair.description,
                repair.safety,
                repair.lost,
                tuple(_replacement(one, edit) for edit in sorted(edits, key=lambda each: (each.start, each.end))),
                _diff(repair.path, one, edits),
            )
            found.update((finding.fingerprint, fix) for finding in repair.findings)
    return found


def _replacement(source: Source, edit: Edit) -> Replacement:
    start, end = source.byte_offset(edit.start), source.byte_offset(edit.end)
    return Replacement(
        start, end, *source.place(edit.start), *source.place(edit.end), edit.text.replace("\n", source.newline)
    )


def _diff(path: str, source: Source, edits: Iterable[Edit]) -> str:
    """As Python reads the file: for a person, and not for ``git apply``."""
    after = Source(path, source.changed(edits)).text
    return "".join(
        line if line.endswith("\n") else f"{line}\n"
        for line in unified_diff(_lines(source.text), _lines(after), f"a/{path}", f"b/{path}")
    )


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
