"""How an exception ends: the handler that takes it with the faults it has swallowed, or the end of the program."""

from __future__ import annotations

from driftwatch.flow.domain.exceptions import Handler, Try
from driftwatch.flow.domain.faults import Ends, Flying, Swallowed, Taken
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    Raised,
)
from driftwatch.releases import EMPTY


def taken_by(handler: Handler | None, attempt: Try, state: State, flying: Flying) -> Swallowed:
    """The faults that a state has swallowed once a handler has taken these."""
    if not flying:
        return state.faults
    found = {taken: where for taken, where in state.faults.items() if taken.fault not in flying}
    for fault, where in flying.items():
        here = where & state.reach
        if here:
            taken = Taken(fault, handler, attempt)
            found[taken] = here
            fault.taken[taken] = fault.taken.get(taken, EMPTY) | here
    return found


_SKIPS = frozenset({"pytest.skip.Exception", "pytest.xfail.Exception", "unittest.SkipTest", "unittest.case.SkipTest"})


def ends_with(raised: Raised) -> Ends:
    """What it is to the program that nobody takes an exception."""
    if raised.names[0] in _SKIPS:
        return Ends.DONE
    if raised.names[0] == "SystemExit":
        if raised.text is None:
            return Ends.EITHER
        return Ends.DONE if raised.text in ("", "0", "None", "False") else Ends.ERROR
    return Ends.ERROR
