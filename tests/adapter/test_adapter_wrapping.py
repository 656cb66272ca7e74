"""Wrappers by themselves: what reaches a function that hides its signature, odd names and kinds, what a call costs."""

from __future__ import annotations

import inspect
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from driftwatch.adapter.binding import Binding, bind
from driftwatch.adapter.installed import Installed
from driftwatch.adapter.rules import DROP, WARN, Rule
from driftwatch.adapter.settler import Record
from driftwatch.adapter.signatures import (
    AdapterError,
    MissingArgument,
    UnavailableFunction,
    UnsupportedArgument,
    recorded,
)

OLD = ("a", "b", "c=", "d=", "e=", "f=", "g=")
NEW = (*OLD, "h=", "i=")
RULES = (
    Rule(("h",), DROP, "the build has no h", equals=(None, 0)),
    Rule(("i",), DROP, "with c it does so", equals=(True,), given=(("c", True),)),
    Rule(("i",), WARN, "without c it does otherwise", equals=(True,)),
)


class Hidden:
    """A function that records how it was called and does not tell its signature."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    __signature__ = 0

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        self.calls.append((args, kwargs))
        return "done"


def bound(
    target: Callable[..., Any],
    rows: tuple[tuple[str, ...], ...],
    rules: tuple[Rule, ...] = (),
    release: str | None = "1",
) -> Binding:
    """A function bound as that of release 1 of as many as there are signatures."""
    module = types.ModuleType("library")
    module.f = target  # type: ignore[attr-defined]
    releases = tuple(str(number) for number in range(1, len(rows) + 1))
    shapes = tuple(((held,), recorded(row)) for held, row in zip(releases, rows, strict=True))
    installed = Installed("library", "library", module, release, release, None, {}, ())
    return bind(Record("f", releases, shapes, rules), installed, {})


@pytest.mark.parametrize("release", ["1", None], ids=["snapshot", "common"])
def test_what_was_passed_and_nothing_else_reaches_a_function_that_hides_its_defaults(release: str | None) -> None:
    """Many sets of arguments, by position and by name."""
    target = Hidden()
    binding = bound(target, (OLD, NEW), RULES, release)
    assert binding.evidence == ("snapshot" if release else "common")
    wrapper = binding.function
    rng = random.Random(7)
    sets = set()
    for _ in range(600):
        values = {name: object() for name in ("a", "b")}
        values |= {name: rng.choice([None, False, 1, object()]) for name in "cdefg" if rng.random() < 0.5}
        sets.add(tuple(values))
        kept = dict(values)
        order = list(values)
        if rng.random() < 0.5:
            values["h"] = rng.choice([None, 0])
        count = rng.randrange(3)
        args = [values.pop(name) for name in order[:count]]
        assert wrapper(*args, **values) == "done"
        ((got_args, got),) = target.calls
        target.calls.clear()
        assert got_args == tuple(args), "given as it was"
        got = {**dict(zip(order, got_args, strict=False)), **got}
        assert got.keys() == kept.keys()
        assert all(got[name] is value for name, value in kept.items())
    assert len(sets) == 32


def test_rules_see_what_was_not_passed_as_absent(caplog: pytest.LogCaptureFixture) -> None:
    """A rule that asks for None beside an argument is met when that one was not passed."""
    rules = (Rule(("h",), DROP, "without c", equals=(1,), given=(("c", None),)),)
    target = Hidden()
    wrapper = bound(target, (OLD, NEW), rules).function
    wrapper(1, 2, h=1)
    wrapper(1, 2, c=None, h=1)
    assert target.calls == [((1, 2), {}), ((1, 2), {"c": None})]
    with pytest.raises(UnsupportedArgument, match="h=1 is not supported"):
        wrapper(1, 2, c=3, h=1)
    with pytest.raises(UnsupportedArgument, match="h=1 is not supported"):
        wrapper(1, 2, 3, h=1)
    warned = bound(target, (OLD, NEW), RULES).function
    warned(1, 2, c=True, i=True)
    assert not caplog.records
    warned(1, 2, i=True)
    assert "without c it does otherwise" in caplog.text


def test_what_is_refused_names_what_is_missing_or_unknown() -> None:
    wrapper = bound(Hidden(), (OLD, NEW), RULES).function
    with pytest.raises(MissingArgument, match="requires a, b"):
        wrapper(c=1)
    with pytest.raises(UnsupportedArgument, match="newest=1"):
        wrapper(1, 2, newest=1)
    with pytest.raises(UnsupportedArgument, match="positional argument 10"):
        wrapper(*range(9), object())
    with pytest.raises(UnsupportedArgument, match=r"h=1 is not supported by library 1 \(first taken in 2\): "):
        wrapper(1, 2, h=1)


class Loud:
    """A value with operators that must not be used, as those of a tensor on a GPU."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("it was compared")

    def __bool__(self) -> bool:
        raise AssertionError("it was asked for its truth")

    __hash__ = object.__hash__


@pytest.mark.parametrize("hide", [True, False])
def test_no_operator_of_a_value_is_run(hide: bool) -> None:
    target: Any = Hidden() if hide else lambda a, b, c=None, d=None, e=None, f=None, g=None: "done"
    wrapper = bound(target, (OLD, NEW), RULES).function
    for _ in range(3):
        assert wrapper(*(Loud() for _ in range(7))) == "done"
        with pytest.raises(UnsupportedArgument, match="h=<Loud>"):
            wrapper(Loud(), Loud(), h=Loud())


ODD = ("_target", "_omitted", "_none", "__x", "_", "o", "none", "locals", "match", "__debug__", "_wrapper", "é", "ﬁ")


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("name", ODD)
def test_a_parameter_of_any_name(name: str, told: bool) -> None:
    """Names that our own code, Python or Unicode use for something: the call is right, and nothing raises before it."""
    target = Hidden()
    if told:
        parameters = [
            inspect.Parameter(
                n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=1 if n == "c" else inspect.Parameter.empty
            )
            for n in ("a", name, "c")
        ]
        target.__signature__ = inspect.Signature(parameters)  # type: ignore[assignment]
    wrapper = bound(target, (("a", name, "c="), ("a", name, "c=", "h="))).function
    for _ in range(2):
        wrapper(1, **{name: 2})
        args, got = target.calls[-1]
        assert {**dict(zip(("a", name, "c"), args, strict=False)), **got} in (
            {"a": 1, name: 2},
            {"a": 1, name: 2, "c": 1},
        )
    with pytest.raises(AdapterError):
        wrapper(1)
    with pytest.raises(UnsupportedArgument, match="h=3"):
        wrapper(1, **{name: 2}, h=3)


def test_what_an_unknown_build_may_require_is_not_dropped() -> None:
    """Some release requires it: left out, that one would raise a TypeError of its own."""
    rules = (Rule(("b",), DROP, "the build has no b", equals=(None,)),)
    rows = (("a",), ("a", "b"), ("a", "b="))
    assert bound(Hidden(), rows, rules, "1").function(1, b=None) == "done"
    wrapper = bound(Hidden(), rows, rules, None).function
    with pytest.raises(UnsupportedArgument, match=r"b=None .*some require it"):
        wrapper(1, b=None)
    assert wrapper(1) == "done"


def test_parameters_by_position_alone() -> None:
    """One that was not passed cannot be stepped over: what comes after it would land in its place."""
    target = Hidden()
    wrapper = bound(target, (("a=", "b=", "/", "c="), ("a=", "b=", "c=", "d="))).function
    wrapper(1, b=2, c=3)
    wrapper(c=3)
    assert target.calls == [((1, 2), {"c": 3}), ((), {"c": 3})]
    with pytest.raises(UnsupportedArgument, match=r"b=2 .*after a"):
        wrapper(b=2)
    with pytest.raises(UnsupportedArgument, match=r"a=1 .*passed twice"):
        wrapper(1, a=1)


def test_an_open_signature() -> None:
    calls = []

    def target(a: int, *more: int, **other: int) -> None:
        calls.append((a, more, other))

    binding = bound(target, (("a", "*more", "**other"), ("a", "b=")))
    binding.function(1, b=2)
    assert calls == [(1, (), {"b": 2})]


class Broken(Hidden):
    """Everything that is asked of it beside a call raises, as of a proxy whose object is gone."""

    def __getattribute__(self, name: str) -> Any:
        if name == "calls":
            return super().__getattribute__(name)
        raise SystemError(f"no {name}")


def test_a_function_of_which_nothing_can_be_read() -> None:
    target = Broken()
    binding = bound(target, (OLD, NEW), RULES)
    assert binding.evidence == "snapshot"
    assert binding.function(1, 2, c=3) == "done"
    assert list(target.calls) == [((1, 2), {"c": 3})]


@pytest.mark.parametrize("error", [ImportError("x"), SystemExit(3), ZeroDivisionError()])
def test_a_function_that_cannot_be_read(error: BaseException) -> None:
    class Lazy(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise error

    installed = Installed("library", "library", Lazy("library"), "1", "1", None, {}, ())
    binding = bind(Record("f", ("1",), ((("1",), recorded(OLD)),), ()), installed, {})
    assert binding.state == "missing"
    assert f"reading f raised {type(error).__name__}" in binding.why
    with pytest.raises(UnavailableFunction, match=type(error).__name__):
        binding.function(1, 2)


@pytest.mark.parametrize("seen", [0, 1, 9])
@pytest.mark.parametrize("hide", [True, False])
def test_a_compiler_takes_the_wrapper_whole(hide: bool, seen: int) -> None:
    """Also one that has not seen these arguments yet, or has seen too many: code is not made while it reads along."""
    torch = pytest.importorskip("torch")

    def target(a: Any, b: Any, c: Any = 1, d: Any = 2, e: Any = 3, f: Any = 4, g: Any = 5) -> Any:
        return a * b + c + 10 * d + 100 * e + 1000 * f + 10000 * g

    if hide:
        target.__signature__ = 0  # type: ignore[attr-defined]
    wrapper = bound(target, (OLD, NEW), RULES).function
    for number in range(seen):
        wrapper(1, 2, **{name: 3 for place, name in enumerate("edcfg") if number >> place & 1})

    def layer(x: Any) -> Any:
        return wrapper(x, x, d=x, h=0)

    x = torch.arange(4.0)
    for _ in range(2):
        assert torch.equal(torch.compile(layer, fullgraph=True, backend="eager")(x), x * x + 1 + 10 * x + 54300)


def test_a_refusal_names_itself_to_a_compiler() -> None:
    torch = pytest.importorskip("torch")

    def target(a: Any, b: Any, c: Any = 1, d: Any = 2, e: Any = 3, f: Any = 4, g: Any = 5) -> Any:
        return a * b

    wrapper = bound(target, (OLD, NEW), RULES).function
    x = torch.arange(4.0)
    for value, shown in ((5, "h=5"), (x, "h=<Tensor")):

        def layer(x: Any, value: Any = value) -> Any:
            return wrapper(x, x, h=value)

        def guarded(x: Any, value: Any = value) -> Any:
            try:
                return wrapper(x, x, h=value)
            except UnsupportedArgument:
                return x + 1

        with pytest.raises(Exception, match=f"UnsupportedArgument.*{shown}.* is not supported by library 1"):
            torch.compile(layer, fullgraph=True, backend="eager")(x)
        assert torch.equal(torch.compile(guarded, fullgraph=True, backend="eager")(x), x + 1)


def test_refusals_are_counted() -> None:
    binding = bound(Hidden(), (OLD, NEW), RULES)
    for value in (1, 1, 2):
        with pytest.raises(UnsupportedArgument) as caught:
            binding.function(1, 2, h=value)
        assert (caught.value.function, caught.value.parameter, caught.value.value) == ("f", "h", value)
        assert (caught.value.release, caught.value.first) == ("library 1", "2")
    with pytest.raises(MissingArgument):
        binding.function(1)
    why = "(first taken in 2): leaving it out could change the result"
    assert binding.refused == {
        f"f: h=1 is not supported by library 1 {why}": 2,
        f"f: h=2 is not supported by library 1 {why}": 1,
        "f: library 1 requires b": 1,
    }
    for value in range(10, 100):
        with pytest.raises(UnsupportedArgument):
            binding.function(1, 2, h=value)
    assert len(binding.refused) == 32


def test_a_name_that_is_gone_says_when_it_went() -> None:
    def why(release: str) -> str:
        installed = Installed("library", "library", types.ModuleType("library"), release, release, None, {}, ())
        return bind(Record("f", ("1", "2", "3", "4"), ((("2", "3"), recorded(OLD)),), ()), installed, {}).why

    assert why("1") == "library 1 has no f (first in 2, gone since 4)"
    assert why("3") == "library 3 has no f, although the release of that version has"
    assert why("4") == "library 4 has no f (last in 3, gone since 4)"


# -- what it costs ---------------------------------------------------------------------------------------------------


def frames_of(call: Callable[[], Any]) -> int:
    """How many Python functions run in a call, its own frame not counted."""
    frames = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal frames
        frames += event == "call"

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return frames - 1


def test_what_a_call_costs() -> None:
    """What the build takes goes through one frame; only what it does not take is judged."""

    def target(a: Any, b: Any, c: Any = 1, d: Any = 2, e: Any = 3, f: Any = 4, g: Any = 5) -> Any:
        return a

    wrapper = bound(target, (OLD, NEW), RULES).function
    calls: list[Callable[[], Any]] = [
        lambda: wrapper(1, 2),
        lambda: wrapper(1, b=2, c=3, d=4, g=5),
        lambda: wrapper(a=1, b=2, c=3, d=4, e=5, f=6, g=7),
    ]
    listed = frames_of(lambda: wrapper(1, b=2))
    assert listed <= 4  # the wrapper, its look at the arguments with a comprehension, and the target
    for call in calls:
        assert frames_of(call) <= 4
    assert frames_of(lambda: wrapper(1, b=2, h=None)) <= listed + 8
