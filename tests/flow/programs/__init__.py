"""The programs by area."""

from __future__ import annotations

from tests.flow.programs.arguments import ARGUMENTS
from tests.flow.programs.bases import BASES
from tests.flow.programs.call_graph import CALL_GRAPH
from tests.flow.programs.careful import CAREFUL
from tests.flow.programs.carried import CARRIED
from tests.flow.programs.carried_by_exceptions import CARRIED_BY_EXCEPTIONS
from tests.flow.programs.compared import COMPARED
from tests.flow.programs.constants import CONSTANTS
from tests.flow.programs.containers import CONTAINERS
from tests.flow.programs.control import CONTROL
from tests.flow.programs.decorators import DECORATORS
from tests.flow.programs.derived import DERIVED
from tests.flow.programs.dynamic import DYNAMIC
from tests.flow.programs.exported import EXPORTED
from tests.flow.programs.flags import FLAGS
from tests.flow.programs.given_back import GIVEN_BACK
from tests.flow.programs.guards import GUARDS
from tests.flow.programs.havoc import HAVOC
from tests.flow.programs.helpers import HELPERS
from tests.flow.programs.imports import IMPORTS
from tests.flow.programs.instances import INSTANCES
from tests.flow.programs.iteration import ITERATION
from tests.flow.programs.kept import KEPT
from tests.flow.programs.layout import LAYOUT
from tests.flow.programs.looked_up import LOOKED_UP
from tests.flow.programs.made_classes import MADE_CLASSES
from tests.flow.programs.managers import MANAGERS
from tests.flow.programs.managers_as_decorators import MANAGERS_AS_DECORATORS
from tests.flow.programs.matched import MATCHED
from tests.flow.programs.models import MODELS
from tests.flow.programs.named_elsewhere import NAMED_ELSEWHERE
from tests.flow.programs.namespaces import NAMESPACES
from tests.flow.programs.objects import OBJECTS
from tests.flow.programs.obtainable import OBTAINABLE
from tests.flow.programs.outcomes import OUTCOMES
from tests.flow.programs.outcomes_of_callers import OUTCOMES_OF_CALLERS
from tests.flow.programs.outcomes_of_handlers import OUTCOMES_OF_HANDLERS
from tests.flow.programs.outside import OUTSIDE
from tests.flow.programs.probes import PROBES
from tests.flow.programs.published import PUBLISHED
from tests.flow.programs.put_by_others import PUT_BY_OTHERS
from tests.flow.programs.put_off import PUT_OFF
from tests.flow.programs.reach import REACH
from tests.flow.programs.refused import REFUSED
from tests.flow.programs.registries import REGISTRIES
from tests.flow.programs.repeated_calls import REPEATED_CALLS
from tests.flow.programs.replaced import REPLACED
from tests.flow.programs.results import RESULTS
from tests.flow.programs.scopes import SCOPES
from tests.flow.programs.sets import SETS
from tests.flow.programs.sight import SIGHT
from tests.flow.programs.skips import SKIPS
from tests.flow.programs.small_faults import SMALL_FAULTS
from tests.flow.programs.submodules import SUBMODULES
from tests.flow.programs.taint import TAINT
from tests.flow.programs.told_apart import TOLD_APART
from tests.flow.programs.told_by_callers import TOLD_BY_CALLERS
from tests.flow.programs.travelled import TRAVELLED
from tests.flow.programs.wrappers import WRAPPERS

PROGRAMS = (
    *MODELS,
    *SMALL_FAULTS,
    *CARRIED, *TRAVELLED, *REPEATED_CALLS, *MANAGERS_AS_DECORATORS,
    *IMPORTS, *HAVOC, *GUARDS, *ARGUMENTS, *WRAPPERS, *OBJECTS, *DERIVED, *MANAGERS, *PUT_OFF, *DECORATORS, *CONTROL,
    *OUTCOMES, *OUTCOMES_OF_HANDLERS, *OUTCOMES_OF_CALLERS,
    *KEPT, *PROBES, *LAYOUT, *REACH, *TAINT, *SKIPS, *CONTAINERS, *INSTANCES, *BASES, *SETS,
    *SUBMODULES, *RESULTS, *REFUSED, *SIGHT, *HELPERS, *FLAGS, *OBTAINABLE, *DYNAMIC, *OUTSIDE,
    *ITERATION, *EXPORTED, *CONSTANTS, *PUBLISHED, *PUT_BY_OTHERS, *MATCHED, *TOLD_BY_CALLERS,
    *CARRIED_BY_EXCEPTIONS, *REGISTRIES, *SCOPES, *TOLD_APART, *NAMED_ELSEWHERE,
    *COMPARED, *REPLACED, *NAMESPACES, *GIVEN_BACK, *LOOKED_UP, *MADE_CLASSES, *CAREFUL,
    *CALL_GRAPH,
)  # fmt: skip
