"""The interpreter put together: where its parts, which call each other, are given to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftwatch.flow.calls import apply_value
from driftwatch.flow.conditions import branch
from driftwatch.flow.expressions import evaluate
from driftwatch.flow.run import Run, Semantics
from driftwatch.flow.statements import execute

if TYPE_CHECKING:
    from driftwatch.flow.world import World

SEMANTICS = Semantics(evaluate, branch, execute, apply_value)


def new_run(world: World) -> Run:
    """An execution that starts with nothing."""
    return Run(world, SEMANTICS)
