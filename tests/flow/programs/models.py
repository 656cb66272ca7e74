"""The examples that stand beside the models of known functions, in the modules of `driftwatch.flow.models`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from driftwatch.flow import models
from tests.flow.marked import marked

MODELS = tuple(
    marked(name, text)
    for each in pkgutil.iter_modules(models.__path__)
    for name, text in getattr(import_module(f"{models.__name__}.{each.name}"), "EXAMPLES", {}).items()
)
