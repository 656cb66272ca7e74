"""What an analysis of a code base found. Light to import: who reads it need not be able to make it."""

from __future__ import annotations

from dataclasses import dataclass

from driftwatch.flow.uses import Diagnostic, Unresolved, Use


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found. `files` were searched, `analysed` of them looked into."""

    uses: tuple[Use, ...]
    unresolved: tuple[Unresolved, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    analysed: int
