"""One function of the library, made callable as its newest known release takes it,
whatever build is installed.

Enters: the recorded signatures, the rules, and what is installed. Leaves: a `Binding`,
whose `function` is the library's own where that takes everything, and else a wrapper
made once, here. A wrapper passes on what the build takes, drops what the rules let go,
and refuses the rest. It never calls the library with something it does not take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftwatch.adapter.classes import Prepared, absent_class, checked_class, members_of
from driftwatch.adapter.installed import Installed
from driftwatch.adapter.rules import Condition
from driftwatch.adapter.settler import Record, Settler
from driftwatch.adapter.signatures import (
    Shape,
    UnavailableFunction,
    differences,
    read_live,
    shared,
)
from driftwatch.adapter.wrapping import dress, preparing, wrap

LIVE, SNAPSHOT, COMMON, NONE = "live", "snapshot", "common", "none"
OWN, ADAPTED, MISSING = "own", "adapted", "missing"


@dataclass
class Binding:
    """A function bound.

    What to call, on what evidence, and what becomes of each argument the build does not
    take.
    """

    name: str
    state: str
    evidence: str
    function: Callable[..., Any]
    target: Callable[..., Any] | None
    shape: Shape | None
    why: str
    lacks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters of the newest release that this build does not take, each with its
    rules in words.
    """
    drift: tuple[str, ...] = ()
    prepared: Prepared | None = None
    """Of what is wrapped: what becomes of its arguments."""
    refused: dict[str, int] = field(default_factory=dict)
    """What was refused so far, in the words of the error, and how often."""

    def takes(self, parameter: str) -> bool:
        """Whether the installed function is known to take this parameter."""
        return self.shape is not None and (
            parameter in self.shape.names or self.shape.any_keyword
        )


def bind(
    record: Record, installed: Installed, conditions: Mapping[str, Condition]
) -> Binding:
    """Bind one function, or one class by its constructor, to the installed build.

    Never raises.
    """
    if installed.module is None:
        return _missing(record, installed, installed.error or "it is not installed")
    try:
        target = getattr(installed.module, record.name)
    except AttributeError:
        return _missing(record, installed, _absence(record, installed))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        # A lazy attribute may import on first use, and an import can even exit
        return _missing(
            record,
            installed,
            f"reading {record.name} raised {type(error).__name__}: {error}",
        )
    if not callable(target):
        return _missing(
            record,
            installed,
            f"{record.name} of {installed.described} cannot be called",
        )
    try:
        return _bound(record, installed, conditions, target)
    except Exception as error:
        # An object with attributes that raise; nothing of the library may keep us from
        # starting
        return _missing(
            record,
            installed,
            f"looking at {record.name} raised {type(error).__name__}: {error}",
        )


def bind_member(
    record: Record,
    owner: Binding,
    installed: Installed,
    conditions: Mapping[str, Condition],
) -> Binding:
    """Bind a method of a class that is bound.

    What an instance's method takes is told without the instance.
    """
    if not isinstance(owner.target, type):
        return _missing(record, installed, owner.why)
    try:
        target = members_of(owner.target, record.name.rpartition(".")[2])
        if target is None:
            return _missing(record, installed, _absence(record, installed))
        return _bound(record, installed, conditions, target)
    except Exception as error:  # as above
        return _missing(
            record,
            installed,
            f"looking at {record.name} raised {type(error).__name__}: {error}",
        )


def finish_class(owner: Binding, members: Sequence[Binding]) -> None:
    """Let a class's binding be the class itself, or one like it with what is not the
    library's own wrapped.
    """
    if not isinstance(owner.target, type):
        return
    wrapped = {
        b.name.rpartition(".")[2]: b.prepared
        for b in members
        if b.state == ADAPTED and b.prepared is not None
    }
    constructor = owner.prepared if owner.state == ADAPTED else None
    owner.function = owner.target
    if wrapped or constructor is not None:
        owner.state = ADAPTED
        owner.function = checked_class(owner.target, constructor, wrapped)


def _bound(
    record: Record,
    installed: Installed,
    conditions: Mapping[str, Condition],
    target: Callable[..., Any],
) -> Binding:
    expected = record.shape_in(installed.release)
    live = read_live(target)
    drift: tuple[str, ...] = ()
    release = installed.release
    if not isinstance(live, str):
        shape = live
        evidence, why = LIVE, "the signature of the installed function"
        if expected is not None:
            drift = differences(shape, expected)
            if drift:
                # the version string lies; what is known of that release does not hold
                # here
                release = None
    elif expected is not None:
        shape, evidence, why = (
            expected,
            SNAPSHOT,
            f"{live}; the recorded signature of {release} is used",
        )
    else:
        shape = shared([recorded for _, recorded in record.shapes])
        evidence, why = (
            COMMON,
            f"{live}, and the release is not known; what all releases take is used",
        )
    rules = tuple(rule for rule in record.rules if rule.applies_to(release))
    guessed = evidence == COMMON
    settler = Settler(
        record, installed.described, shape, rules, conditions, guessed=guessed
    )
    lacks = {
        p.name: tuple(
            f"{rule.action}: {rule.because}" for rule in settler.rules.get(p.name, ())
        )
        for p in record.reference.parameters
        if p.name not in shape.names and not shape.any_keyword
    }
    binding = Binding(
        record.name, ADAPTED, evidence, target, target, shape, why, lacks, drift
    )
    binding.refused = settler.refused
    # What no build can use is refused where there is a wrapper; it is no reason to have
    # one.
    gated = any(
        rule.releases is not None
        for rules in settler.unusable.values()
        for rule in rules
    )
    if evidence != COMMON and shape.covers(record.reference) and not gated:
        binding.state = OWN
    else:
        binding.prepared = (record, preparing(record, shape, settler))
        binding.function = wrap(record, target, shape, settler)
    return binding


def _absence(record: Record, installed: Installed) -> str:
    """Why an installed module lacks a function.

    It came later, it went earlier, or the version string lies.
    """
    why = f"{installed.described} has no {record.name}"
    if record.shape_in(installed.release) is not None:
        return f"{why}, although the release of that version has"
    gone = record.gone()
    if (
        gone is not None
        and installed.release is not None
        and record.is_past(installed.release)
    ):
        return f"{why} (last in {record.last()}, gone since {gone})"
    return f"{why} (first in {record.first()}{f', gone since {gone}' if gone else ''})"


def _missing(record: Record, installed: Installed, why: str) -> Binding:
    message = f"{installed.module_name}.{record.name} is not available: {why}"

    def unavailable(*args: Any, **kwargs: Any) -> Any:
        raise UnavailableFunction(message)

    dress(unavailable, record, None)
    stand_in = absent_class(record.name, message) if record.is_class else unavailable
    return Binding(record.name, MISSING, NONE, stand_in, None, None, why)
