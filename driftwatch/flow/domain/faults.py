"""What becomes of the exceptions that a drift raises: followed from where they are thrown to the end of what is run.

A `Fault` is made where a use fails. Handlers that take it are executed like any other code, and the states that come
out of them remember it. Where such a state reaches the end, the fault was swallowed; where it runs into a ``raise`` or
an exit that nobody takes, the fault raises. Both, on ways that nobody can tell apart, is not known.

A ``raise`` behind the handler that is also reached where nothing was thrown has nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from driftwatch.flow.domain.exceptions import Handler, Try, meant_for, tells
from driftwatch.flow.domain.recorder import Recorder
from driftwatch.flow.domain.state import State
from driftwatch.flow.uses import UNCAUGHT, Argument, CallUse, Catch, Outcome, Use
from driftwatch.releases import EMPTY, ReleaseSet, union


@dataclass(eq=False)
class Fault:
    """A use that fails with an exception in some releases.

    `hidden`: the same use is known to raise; it is told only where it is lost in silence here. `told` is where what a
    handler returns tells its caller of it.
    """

    use: Use
    releases: ReleaseSet
    hidden: bool = False
    raised: ReleaseSet = EMPTY
    """Where it gets out, as it is or as what a handler raised in its place."""
    stopped: dict[Hashable, ReleaseSet] = field(default_factory=dict)
    """Where the program ends behind the handler, by place."""
    done: dict[Hashable, ReleaseSet] = field(default_factory=dict)
    """Where it ends there without an error."""
    behind: ReleaseSet = EMPTY
    """As before, where the program had ended already."""
    taken: dict[Taken, ReleaseSet] = field(default_factory=dict)
    swallowed: dict[Taken, ReleaseSet] = field(default_factory=dict)
    told: ReleaseSet = EMPTY


@dataclass(frozen=True, slots=True)
class Taken:
    """A fault that a handler has taken; without one, a ``finally`` that goes another way."""

    fault: Fault
    handler: Handler | None
    attempt: Try

    @property
    def owner(self) -> Handler | Try:
        return self.handler or self.attempt

    def catch(self, releases: ReleaseSet) -> Iterator[tuple[ReleaseSet, Catch]]:
        """What it comes to where it is swallowed."""
        if self.handler is None:
            yield releases, Catch(Outcome.SILENT)
            return
        told = releases & self.fault.told if tells(self.attempt) else EMPTY
        guarded = releases if meant_for(self.fault.use.exception, self.handler, self.attempt) else told
        for where, outcome in ((guarded, Outcome.GUARDED), (releases - guarded, Outcome.SILENT)):
            if where:
                yield where, self.handler.catch(outcome)


Swallowed = Mapping[Taken, ReleaseSet]
"""Faults on the way to a state, and the releases in which they were thrown."""

Flying = Mapping[Fault, ReleaseSet]
"""Faults that an exception is, or is raised in the place of."""


class Ends(Enum):
    """What an exception that nobody takes is to the program."""

    ERROR = "error"
    DONE = "done"
    """The end of a test that is skipped, an exit without an error."""
    EITHER = "either"
    """An exit of which nobody knows whether it is one with an error."""


class Ledger:
    """The faults of one execution, from the entry of a function or module to its end."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._faults: list[Fault] = []
        self._reached: dict[Hashable, list[tuple[ReleaseSet, Swallowed]]] = {}
        self._either: set[Hashable] = set()

    def expect(self, fault: Fault) -> None:
        """A use fails: it is recorded when it is known what becomes of that."""
        self._faults.append(fault)
        if not fault.hidden:
            self._recorder.expect(fault.use)

    def ended(self, state: State, flying: Flying, place: Hashable, ends: Ends) -> None:
        """An exception that nobody takes is thrown in a state."""
        if ends is Ends.DONE:
            self.reached_end(state)
            for taken, where in state.faults.items():
                done = taken.fault.done
                done[place] = done.get(place, EMPTY) | (where & state.live)
            return
        for fault, where in flying.items():
            fault.raised |= where & state.reach
        if isinstance(place, Fault):
            return
        self._reached.setdefault(place, []).append((state.live, state.faults))
        if ends is Ends.EITHER:
            self._either.add(place)
        for taken, where in state.faults.items():
            fault, here = taken.fault, where & state.reach
            if fault in flying:
                continue
            for other, there in flying.items():
                if other.use.location != fault.use.location:
                    # What fails next ends the program whatever became of what failed before.
                    here -= there
            fault.behind |= here - state.live
            if here & state.live:
                fault.stopped[place] = fault.stopped.get(place, EMPTY) | (here & state.live)

    def reached_end(self, state: State | None) -> None:
        """What is executed comes to its end in this state."""
        for taken, where in state.faults.items() if state is not None else ():
            here = where & state.live if state is not None else EMPTY
            if here:
                swallowed = taken.fault.swallowed
                swallowed[taken] = swallowed.get(taken, EMPTY) | here

    def settle(self, state: State | None) -> None:
        """The execution has ended: record every use that failed with what came of it."""
        self.reached_end(state)
        for fault in self._faults:
            self._record(fault)
        self._faults.clear()
        self._reached.clear()

    def _record(self, fault: Fault) -> None:
        found: dict[Catch, ReleaseSet] = {}
        for where, catch in self._catches(fault):
            if not fault.hidden or catch.outcome is Outcome.SILENT:
                found[catch] = found.get(catch, EMPTY) | where
        fits = fault.use.releases - fault.releases
        for i, (catch, where) in enumerate(found.items()):
            # Where it does not fail there is nothing to take: that may stand with any.
            self._recorder.add(_caught(fault.use, where | fits if i == 0 and not fault.hidden else where, catch))

    def _catches(self, fault: Fault) -> list[tuple[ReleaseSet, Catch]]:
        """What becomes of a fault, by release."""
        ends = [each for taken, where in fault.swallowed.items() for each in taken.catch(where)]
        ends.sort(key=lambda end: end[1].outcome is not Outcome.SILENT)
        swallowed, silent = EMPTY, EMPTY
        for where, catch in ends:
            swallowed |= where
            silent |= where if catch.outcome is Outcome.SILENT else EMPTY
        raised, either, stopped = fault.raised, EMPTY, EMPTY
        for place, where in fault.stopped.items():
            if place in self._either:
                either |= where
            else:
                stopped |= where
            if not self._is_reached_without(fault, place):
                # A guard may well be followed by a test, behind which the program refuses to go on.
                raised |= where - (swallowed - silent)
        # An exit that is the same whether it was thrown or not is the end of a program that goes on.
        swallowed |= either - raised
        raised |= (stopped | fault.behind) - swallowed
        # ``sys.exit(status)``: which of several statuses it is, nobody can tell here.
        unsure = union([where & fault.done.get(place, EMPTY) for place, where in fault.stopped.items()])
        found = [(raised & swallowed | unsure, self._unknown(fault)), (raised - swallowed - unsure, UNCAUGHT)]
        left = fault.releases - raised - unsure
        # Where it comes to no end that is seen, whoever took it last has it.
        ends += [each for taken, where in reversed(fault.taken.items()) for each in taken.catch(where)]
        for where, catch in ends:
            found.append((where & left, catch))
            left -= where
        found.append((left, UNCAUGHT))
        return [(where & fault.releases, catch) for where, catch in found if where & fault.releases]

    def _is_reached_without(self, fault: Fault, place: Hashable) -> bool:
        for live, faults in self._reached.get(place, ()):
            for taken, where in faults.items():
                if taken.fault is fault:
                    live -= where
            if live:
                return True
        return False

    def _unknown(self, fault: Fault) -> Catch:
        for taken in (*fault.swallowed, *reversed(fault.taken)):
            if taken.handler is not None:
                return taken.handler.catch(Outcome.UNKNOWN)
        return Catch(Outcome.UNKNOWN)


def _caught(use: Use, releases: ReleaseSet, catch: Catch) -> Use:
    def at(argument: Argument) -> Argument:
        return argument if argument.catch is None else replace(argument, catch=catch)

    found = replace(use, releases=releases, catch=catch, conditional=use.conditional & releases)
    if isinstance(found, CallUse):
        return replace(found, positional=tuple(map(at, found.positional)), keywords=tuple(map(at, found.keywords)))
    return found
