"""Shapes of calls by the categories of the PyCG micro-benchmark, with the library's functions at the leaves.

Every program bears the truth, which execution confirms. Those in `KNOWN` say what driftwatch does not do yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.flow.marked import Marked
from tests.flow.programs.call_graph.args import ARGS
from tests.flow.programs.call_graph.assignments import ASSIGNMENTS
from tests.flow.programs.call_graph.builtins import BUILTINS
from tests.flow.programs.call_graph.classes import CLASSES
from tests.flow.programs.call_graph.decorators import DECORATORS
from tests.flow.programs.call_graph.dicts import DICTS
from tests.flow.programs.call_graph.direct_calls import DIRECT_CALLS
from tests.flow.programs.call_graph.dynamic import DYNAMIC
from tests.flow.programs.call_graph.exceptions import EXCEPTIONS
from tests.flow.programs.call_graph.external import EXTERNAL
from tests.flow.programs.call_graph.functions import FUNCTIONS
from tests.flow.programs.call_graph.generators import GENERATORS
from tests.flow.programs.call_graph.imports import IMPORTS
from tests.flow.programs.call_graph.known import KNOWN
from tests.flow.programs.call_graph.kwargs import KWARGS
from tests.flow.programs.call_graph.lambdas import LAMBDAS
from tests.flow.programs.call_graph.lists import LISTS
from tests.flow.programs.call_graph.mro import MRO
from tests.flow.programs.call_graph.returns import RETURNS

CATEGORIES: Mapping[str, tuple[Marked, ...]] = {
    "args": ARGS,
    "assignments": ASSIGNMENTS,
    "builtins": BUILTINS,
    "classes": CLASSES,
    "decorators": DECORATORS,
    "dicts": DICTS,
    "direct calls": DIRECT_CALLS,
    "dynamic": DYNAMIC,
    "exceptions": EXCEPTIONS,
    "external": EXTERNAL,
    "functions": FUNCTIONS,
    "generators": GENERATORS,
    "imports": IMPORTS,
    "kwargs": KWARGS,
    "lambdas": LAMBDAS,
    "lists": LISTS,
    "mro": MRO,
    "returns": RETURNS,
}

CALL_GRAPH = tuple(p for programs in CATEGORIES.values() for p in programs if p.name not in KNOWN)
NOT_YET = tuple(p for programs in CATEGORIES.values() for p in programs if p.name in KNOWN)
