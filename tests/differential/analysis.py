"""The one place where the differential test calls the analysis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driftwatch.findings.finding import Verdict
from driftwatch.flow.project import analyse
from driftwatch.flow.uses import Unresolved
from driftwatch.rules import apply
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.history import History


def analysed(folder: Path, history: History) -> tuple[Sequence[Verdict], Sequence[Unresolved]]:
    """The verdicts of every rule over a folder's files, for all releases at once."""
    result = analyse(folder, sorted(folder.rglob("*.py")), [history])
    contexts = {history.distribution: Context(history, history.timeline.all)}
    return tuple(apply(result.uses, contexts)), result.unresolved
