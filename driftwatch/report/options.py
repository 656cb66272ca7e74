"""How a report is to be rendered; a format takes from it what it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from driftwatch.report.styled import Look


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """`look` is for formats made for the eye; `unresolved` asks for the list of what could not be followed, `beyond`
    for that of what a downgrade would cost.
    """

    look: Look = field(default_factory=Look)
    unresolved: bool = False
    beyond: bool = False
