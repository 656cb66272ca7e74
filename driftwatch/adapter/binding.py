"""One function of the library, made callable as its newest known release takes it, whatever build is installed.

Enters: the recorded signatures, the rules, and what is installed. Leaves: a `Binding`, whose `function` is the
library's own where that takes everything, and else a wrapper made once, here. A wrapper passes on what the build takes,
drops what the rules let go, and refuses the rest. It never calls the library with something it does not take.
"""

from __future__ import annotations

import inspect
import keyword
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftwatch.adapter.installed import Installed
from driftwatch.adapter.rules import DROP, REFUSE, WARN, Condition, Rule, verdict
from driftwatch.adapter.signatures import (
    EITHER,
    KEYWORD_ONLY,
    POSITIONAL_ONLY,
    MissingArgument,
    Parameter,
    Shape,
    UnavailableFunction,
    UnsupportedArgument,
    differences,
    read_live,
    shared,
)

logger = logging.getLogger(__name__)


class _Omitted:
    """The default of a wrapper's parameters: an argument that was not passed."""

    def __repr__(self) -> str:
        return "<omitted>"


OMITTED: Any = _Omitted()


@dataclass(frozen=True)
class Record:
    """What is known of one function: its signature in each release that has it, and the rules.

    `shapes` are in the order of the last release that has each. `reference` is the newest signature: the one by which
    callers of the adapter pass their arguments. `releases` are all the adapter knows, oldest first.
    """

    name: str
    releases: tuple[str, ...]
    shapes: tuple[tuple[tuple[str, ...], Shape], ...]
    rules: tuple[Rule, ...]

    @property
    def reference(self) -> Shape:
        return self.shapes[-1][1]

    def first(self) -> str | None:
        """The first release that has the function."""
        return self._first({release for held, _ in self.shapes for release in held})

    def shape_in(self, release: str | None) -> Shape | None:
        return next((shape for held, shape in self.shapes if release in held), None)

    def first_with(self, parameter: str) -> str | None:
        """The first release that takes a parameter."""
        return self._first({release for held, shape in self.shapes if parameter in shape.names for release in held})

    def _first(self, held: set[str]) -> str | None:
        return next((release for release in self.releases if release in held), None)


LIVE, SNAPSHOT, COMMON, NONE = "live", "snapshot", "common", "none"
OWN, ADAPTED, MISSING = "own", "adapted", "missing"


@dataclass
class Binding:
    """A function bound: what to call, on what evidence, and what becomes of each argument the build does not take."""

    name: str
    state: str
    evidence: str
    function: Callable[..., Any]
    target: Callable[..., Any] | None
    shape: Shape | None
    why: str
    lacks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters of the newest release that this build does not take, each with its rules in words."""
    drift: tuple[str, ...] = ()

    def takes(self, parameter: str) -> bool:
        """Whether the installed function is known to take this parameter."""
        return self.shape is not None and (parameter in self.shape.names or self.shape.any_keyword)


def bind(record: Record, installed: Installed, conditions: Mapping[str, Condition]) -> Binding:
    """Bind one function to the installed build; never raises."""
    if installed.module is None:
        return _missing(record, installed, installed.error or "it is not installed")
    try:
        target = getattr(installed.module, record.name)
    except AttributeError:
        known = record.shape_in(installed.release) is None
        why = f"{installed.described} has no {record.name}"
        why += f" (first in {record.first()})" if known else ", although the release of that version has"
        return _missing(record, installed, why)
    except Exception as error:  # a lazy attribute may import on first use
        return _missing(record, installed, f"reading {record.name} raised {type(error).__name__}: {error}")
    if not callable(target):
        return _missing(record, installed, f"{record.name} of {installed.described} cannot be called")
    return _bound(record, installed, conditions, target)


def _bound(
    record: Record, installed: Installed, conditions: Mapping[str, Condition], target: Callable[..., Any]
) -> Binding:
    expected = record.shape_in(installed.release)
    live = read_live(target)
    defaults: Mapping[str, Any] | None = None
    drift: tuple[str, ...] = ()
    release = installed.release
    if not isinstance(live, str):
        shape, defaults = live
        evidence, why = LIVE, "the signature of the installed function"
        if expected is not None:
            drift = differences(shape, expected)
            if drift:
                release = None  # the version string lies; what is known of that release does not hold here
    elif expected is not None:
        shape, evidence, why = expected, SNAPSHOT, f"{live}; the recorded signature of {release} is used"
    else:
        shape = shared([recorded for _, recorded in record.shapes])
        evidence, why = COMMON, f"{live}, and the release is not known; what all releases take is used"
    rules = tuple(rule for rule in record.rules if rule.applies_to(release))
    settler = _Settler(record, installed.described, shape, rules, conditions)
    lacks = {
        p.name: tuple(f"{rule.action}: {rule.because}" for rule in settler.rules.get(p.name, ()))
        for p in record.reference.parameters
        if p.name not in shape.names and not shape.any_keyword
    }
    binding = Binding(record.name, ADAPTED, evidence, target, target, shape, why, lacks, drift)
    if evidence != COMMON and shape.covers(record.reference) and not settler.unusable:
        binding.state = OWN
    elif defaults is not None and not shape.any_positional and not shape.any_keyword:
        binding.function = _direct_wrapper(record, target, shape, defaults, settler)
    else:
        binding.function = _general_wrapper(record, target, shape, settler)
    return binding


def _missing(record: Record, installed: Installed, why: str) -> Binding:
    message = f"{installed.module_name}.{record.name} is not available: {why}"

    def unavailable(*args: Any, **kwargs: Any) -> Any:
        raise UnavailableFunction(message)

    _dress(unavailable, record, None)
    return Binding(record.name, MISSING, NONE, unavailable, None, None, why)


class _Settler:
    """Decides about single arguments of one bound function."""

    def __init__(
        self,
        record: Record,
        release: str,
        shape: Shape,
        rules: Sequence[Rule],
        conditions: Mapping[str, Condition],
    ) -> None:
        self.record = record
        self.release = release
        self.shape = shape
        self.conditions = conditions
        self.warned: set[str] = set()
        self.rules: dict[str, tuple[Rule, ...]] = {}
        self.unusable: dict[str, tuple[Rule, ...]] = {}
        """Parameters the build has, with values it cannot use."""
        for rule in rules:
            for parameter in rule.parameters:
                if rule.taken == (parameter in shape.names):
                    table = self.unusable if rule.taken else self.rules
                    table[parameter] = (*table.get(parameter, ()), rule)

    def others(self, parameter: str) -> tuple[str, ...]:
        """The other arguments that the rules of a parameter look at, each once."""
        rules = self.unusable.get(parameter) or self.rules.get(parameter, ())
        return tuple(dict.fromkeys(name for rule in rules for name in rule.asked_for()))

    def settle(self, parameter: str, value: Any, others: Mapping[str, Any]) -> None:
        """Return when the argument may be dropped; raise when not."""
        action, because = verdict(self.rules.get(parameter, ()), value, others, self.conditions)
        if action == REFUSE:
            raise self.refusal(parameter, value, because)
        if action == WARN and parameter not in self.warned:
            self.warned.add(parameter)
            logger.warning("%s: %s was left out for %s: %s", self.record.name, parameter, self.release, because)

    def check_usable(self, parameter: str, value: Any, others: Mapping[str, Any]) -> None:
        """Raise when the build has the parameter but cannot use this value."""
        for rule in self.unusable.get(parameter, ()):
            if rule.action != DROP and rule.fits(value, others, self.conditions):
                raise self.refusal(parameter, value, rule.because)

    def refusal(self, parameter: str, value: Any, because: str) -> UnsupportedArgument:
        first = self.record.first_with(parameter)
        return UnsupportedArgument(self.record.name, parameter, value, self.release, first, because)

    def missing(self, given: Mapping[str, Any]) -> MissingArgument:
        names = [n for n in self.shape.required if given.get(n, OMITTED) is OMITTED]
        return MissingArgument(f"{self.record.name}: {self.release} requires {', '.join(names)}")

    def surplus(self, positional: Sequence[Any], keywords: Mapping[str, Any]) -> UnsupportedArgument:
        """The refusal of arguments that neither the reference signature nor the build knows."""
        for name, value in keywords.items():
            return self.refusal(name, value, "the installed build does not take it")
        count = len(self.record.reference.positional)
        return self.refusal(f"positional argument {count + 1}", positional[0], f"{count} are taken by position")


def _direct_wrapper(
    record: Record, target: Callable[..., Any], shape: Shape, defaults: Mapping[str, Any], settler: _Settler
) -> Callable[..., Any]:
    """A function with the reference's parameters that calls the target without building a dict.

    It is compiled from parameter names alone, each checked to be an identifier; what was not passed takes the default
    object of the live signature, so that the target sees exactly what it would have put there itself.
    """
    reference = record.reference.parameters
    own = [p for p in shape.parameters if p.name not in record.reference.names]
    names = [p.name for p in reference] + [p.name for p in own]
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in names):
        return _general_wrapper(record, target, shape, settler)
    space: dict[str, Any] = {"_omitted": OMITTED, "_target": target, "_settler": settler}
    heads: list[str] = []
    last_kind = EITHER
    surplus = _fresh("surplus", names)
    unknown = _fresh("unknown", names)
    for position, parameter in enumerate([*reference, *(Parameter(p.name, KEYWORD_ONLY, False) for p in own)]):
        if parameter.kind == KEYWORD_ONLY and last_kind != KEYWORD_ONLY:
            heads.append(f"*{surplus}")
            last_kind = KEYWORD_ONLY
        space[f"_default{position}"] = defaults.get(parameter.name, OMITTED)
        heads.append(f"{parameter.name}=_default{position}")
    if last_kind != KEYWORD_ONLY:
        heads.append(f"*{surplus}")
    heads.append(f"**{unknown}")
    body = [f"if {surplus} or {unknown}:", f"    raise _settler.surplus({surplus}, {unknown})"]
    if shape.required:
        test = " or ".join(f"{name} is _omitted" for name in shape.required)
        body += [f"if {test}:", "    raise _settler.missing(locals())"]
    for name in names:
        others = "{" + ", ".join(f"{o!r}: {o}" for o in settler.others(name) if o in names) + "}"
        if name not in shape.names:
            harmless = _harmless(name, settler.rules.get(name, ()), {other: other for other in names}, space)
            test = f"{name} is not _omitted" + (f" and not ({' or '.join(harmless)})" if harmless else "")
            body += [f"if {test}:", f"    _settler.settle({name!r}, {name}, {others})"]
        elif name in settler.unusable:
            body.append(f"_settler.check_usable({name!r}, {name}, {others})")
    passed = [p.name if p.kind != KEYWORD_ONLY else f"{p.name}={p.name}" for p in shape.parameters]
    body.append(f"return _target({', '.join(passed)})")
    source = f"def _wrapper({', '.join(heads)}):\n" + "\n".join(f"    {line}" for line in body)
    exec(compile(source, f"<adapter of {record.name}>", "exec"), space)  # noqa: S102 - of identifiers alone, see above
    wrapper: Callable[..., Any] = space["_wrapper"]
    return _dress(wrapper, record, target)


def _harmless(name: str, rules: Sequence[Rule], others: Mapping[str, str], space: dict[str, Any]) -> list[str]:
    """Tests, as source, for the plain values that may be dropped without a word: most calls end with one of them.

    `others` says how the source gets at another argument. The tests stand for the drop rules that come first, and no
    other: what is not plain is left to the settler.
    """
    tests: list[str] = []
    for rule in rules:
        if rule.action != DROP:
            break
        if rule.condition is not None or rule.equals is None or not all(other in others for other, _ in rule.given):
            continue
        beside = [_is_same(others[other], wanted, space) for other, wanted in rule.given]
        tests += [" and ".join([_is_same(name, wanted, space), *beside]) for wanted in rule.equals]
    return tests


def _is_same(source: str, wanted: Any, space: dict[str, Any]) -> str:
    """`rules.same` as source; a number of another type than the wanted one is left to the settler."""
    constant = f"_value{len(space)}"
    space[constant] = wanted
    if wanted is None or isinstance(wanted, bool):
        return f"{source} is {constant}"
    kind = f"_kind{len(space)}"
    space[kind] = type(wanted)
    return f"{source}.__class__ is {kind} and {source} == {constant}"


def _harmless_test(rules: Sequence[Rule], names: frozenset[str]) -> Callable[[Any, Mapping[str, Any]], bool]:
    """The same tests as one function, of the value and of all arguments by name."""
    space: dict[str, Any] = {}
    others = {name: f"others.get({name!r})" for name in names if name.isidentifier()}
    tests = _harmless("value", rules, others, space) or ["False"]
    source = f"lambda value, others: {' or '.join(tests)}"
    test: Callable[[Any, Mapping[str, Any]], bool] = eval(source, space)  # noqa: S307 - of identifiers alone
    return test


def _general_wrapper(record: Record, target: Callable[..., Any], shape: Shape, settler: _Settler) -> Callable[..., Any]:
    """The wrapper for a callable that does not tell its defaults: arguments are passed by keyword."""
    order = record.reference.positional
    accepted = shape.names
    first = tuple(p.name for p in shape.parameters if p.kind == POSITIONAL_ONLY)
    required = shape.required
    unusable = tuple(settler.unusable)
    any_keyword = shape.any_keyword
    lacking = record.reference.names - accepted
    harmless = {name: _harmless_test(settler.rules.get(name, ()), record.reference.names) for name in lacking}

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            if len(args) > len(order):
                raise settler.surplus(args[len(order) :], {})
            for name, value in zip(order, args, strict=False):
                if name in kwargs:
                    raise settler.refusal(name, value, "it is passed twice, by position and by name")
                kwargs[name] = value
        if not (any_keyword or accepted.issuperset(kwargs)):
            extra = lacking.intersection(kwargs)
            for name in extra:
                if not harmless[name](kwargs[name], kwargs):
                    settler.settle(name, kwargs[name], kwargs)
            for name in extra:
                del kwargs[name]
            if not accepted.issuperset(kwargs):
                raise settler.surplus((), {name: kwargs[name] for name in kwargs if name not in accepted})
        for name in unusable:
            if name in kwargs:
                settler.check_usable(name, kwargs[name], kwargs)
        for name in required:
            if name not in kwargs:
                raise settler.missing(kwargs)
        if not first:
            return target(**kwargs)
        return target(*[kwargs.pop(name) for name in first if name in kwargs], **kwargs)

    return _dress(wrapper, record, target)


def _dress(wrapper: Callable[..., Any], record: Record, target: Callable[..., Any] | None) -> Callable[..., Any]:
    """Give a wrapper the name, the documentation and the reference signature of what it stands for."""
    wrapper.__name__ = wrapper.__qualname__ = record.name
    wrapper.__module__ = __name__
    documentation = getattr(target, "__doc__", None)
    wrapper.__doc__ = documentation if isinstance(documentation, str) else None
    kinds = {
        POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
        EITHER: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
    }
    parameters: list[inspect.Parameter] = []
    optional = False
    for p in record.reference.parameters:
        optional = (optional or not p.required) and p.kind != KEYWORD_ONLY
        default = OMITTED if optional or not p.required else inspect.Parameter.empty
        parameters.append(inspect.Parameter(p.name, kinds[p.kind], default=default))
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper


def _fresh(name: str, taken: Sequence[str]) -> str:
    """A name that no parameter has."""
    while name in taken:
        name += "_"
    return name
