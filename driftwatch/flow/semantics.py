"""The interpreter put together: what each kind of syntax does, and what the known functions and types do."""

from __future__ import annotations

from driftwatch.flow import models
from driftwatch.flow.interpreter.calls import apply_value
from driftwatch.flow.interpreter.conditions import branch
from driftwatch.flow.interpreter.expressions import evaluate
from driftwatch.flow.interpreter.registry import load
from driftwatch.flow.interpreter.statements import execute
from driftwatch.flow.interpreter.world import Semantics
from driftwatch.flow.models.container_methods import call_method
from driftwatch.flow.models.models import call_external

load(models)
SEMANTICS = Semantics(evaluate, branch, execute, apply_value, call_external, call_method)
