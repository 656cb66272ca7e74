"""The interpreter put together: what each kind of syntax does, and what the known functions and types do."""

from __future__ import annotations

from driftwatch.flow.calls import apply_value
from driftwatch.flow.conditions import branch
from driftwatch.flow.container_methods import call_method
from driftwatch.flow.expressions import evaluate
from driftwatch.flow.models import call_external
from driftwatch.flow.run import Semantics
from driftwatch.flow.statements import execute

SEMANTICS = Semantics(evaluate, branch, execute, apply_value, call_external, call_method)
