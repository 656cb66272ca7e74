"""DW301: a name that upstream has marked as deprecated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ImportUse, NameUse, Use
from driftwatch.releases import ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.scope import may_have_more
from driftwatch.snapshot.model.history import Epoch, History
from driftwatch.snapshot.model.symbols import Deprecation, Ref

_HEADING = Heading("DW301", "deprecated", Severity.WARNING)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    history = context.history
    if isinstance(use, ImportUse) and use.name is not None:
        ref, epochs = Ref(use.module, use.name), history.of(Ref(use.module, use.name))
    elif isinstance(use, NameUse):
        ref = use.owner.member(use.name)
        epochs = _epochs(use, history)
    else:
        return
    marks: dict[Deprecation, ReleaseSet] = {}
    for epoch in epochs:
        mark, here = epoch.symbol.deprecated, epoch.releases & use.releases
        if mark is not None and here:
            marks[mark] = marks.get(mark, here) | here
    for mark, releases in marks.items():
        # A class that is marked marks all that it has: that is one thing to be told, at each of its places.
        of_class = isinstance(use, NameUse) and _has(history, use.owner, mark)
        marked = use.owner if isinstance(use, NameUse) and of_class else ref
        gist = _gist(mark, marked)
        yield _HEADING.verdict(
            use,
            marked.dotted,
            releases,
            f"`{marked.qualname}` is deprecated in {RELEASES}{f': {gist}' if gist else ''}",
            _hint(mark, history, marked, history.of(marked) if of_class else epochs),
            raises=False,
        )


def _has(history: History, ref: Ref, mark: Deprecation) -> bool:
    return any(epoch.symbol.deprecated == mark for epoch in history.of(ref))


def _epochs(use: NameUse, history: History) -> tuple[Epoch, ...]:
    if not use.owner.qualname:
        return history.of(use.owner.member(use.name))
    return tuple(epoch for _, epoch in history.member_epochs(use.owner, use.name, use.releases))


def _gist(mark: Deprecation, ref: Ref) -> str:
    """What the mark says beyond that it is one."""
    name = re.escape(ref.qualname.rpartition(".")[2])
    said = re.sub(rf"^\W*{name}(?:\(\))?\W*\s(?:is|are|was|has been)\s+deprecated\b[\s.,;:]*", "", mark.message or "")
    return said.strip()


def _hint(mark: Deprecation, history: History, ref: Ref, epochs: tuple[Epoch, ...]) -> str:
    """Whether it is gone by now, or when it will be."""
    last = max(epoch.releases.mask.bit_length() for epoch in epochs)
    versions = history.timeline.versions
    if last < len(versions) and not may_have_more(history, ref.module).mask >> last & 1:
        return f"it is gone since {versions[last]}"
    if mark.removal:
        return f"upstream means to remove it in {mark.removal}"
    return "use what upstream names before it is gone" if mark.message else "look for what replaces it"


_IMPORT = """\
from kiln import raku


def bake(pot):
    return raku(pot)
"""

_REPLACED = """\
import kiln


def bake(pot):
    return kiln.fire(pot, 30)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A name that upstream has marked as deprecated.",
    rationale=(
        "The name still works, and upstream means to remove it. driftwatch reads the mark from the library's "
        "own source: a `deprecated` decorator, or a warning that the function gives. If a later release no "
        "longer has the name, the hint says which."
    ),
    hint="Use what the mark names in its place.",
    check=check,
    bad=(Example("Marked in 1.2, gone in 2.0", _IMPORT, (Expected(1, "1.2", None),), against="<2"),),
    good=(
        Example("What it names in its place", _REPLACED),
        Example("No checked release has the mark", _IMPORT, against="<1.2"),
    ),
)
