"""Binding agrees with Python's own, on generated signatures and calls; what is unknown never makes a problem."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from driftwatch.binding.signature import Fault, Shape, bind
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature
from tests.collecting import signature

NAMES = ("a", "b", "c", "d", "e", "f", "g")


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    names = iter(draw(st.permutations(NAMES)))
    parameters: list[Parameter] = []
    only, either = draw(st.integers(0, 2)), draw(st.integers(0, 3))
    required = draw(st.integers(0, only + either))
    for i in range(only + either):
        kind = ParameterKind.POSITIONAL_ONLY if i < only else ParameterKind.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(next(names), kind, None if i < required else "0"))
    if draw(st.booleans()):
        parameters.append(Parameter("args", ParameterKind.VAR_POSITIONAL))
    defaults = draw(st.lists(st.sampled_from([None, "0"]), max_size=2))
    parameters += [Parameter(next(names), ParameterKind.KEYWORD_ONLY, default) for default in defaults]
    if draw(st.booleans()):
        parameters.append(Parameter("kwargs", ParameterKind.VAR_KEYWORD))
    return Signature(tuple(parameters))


calls = st.tuples(st.integers(0, 6), st.sets(st.sampled_from((*NAMES, "x", "args", "kwargs"))))


def call_python(taken: Signature, positional: int, keywords: set[str]) -> dict[str, object]:
    """What a real function of this signature gets: its arguments by parameter; TypeError where Python refuses.

    A real one, since `inspect.Signature.bind` is itself wrong in some Pythons (a positional-only parameter with a
    default beside ``**kwargs``).
    """
    texts: list[str] = []
    kinds = [p.kind for p in taken.parameters]
    for i, parameter in enumerate(taken.parameters):
        starred = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is ParameterKind.KEYWORD_ONLY and not {"*", "*args"} & set(texts):
            texts.append("*")
        texts.append(f"{starred}{parameter.name}" + (f"={parameter.default}" if parameter.default else ""))
        if parameter.kind is ParameterKind.POSITIONAL_ONLY and kinds[i + 1 : i + 2] != [ParameterKind.POSITIONAL_ONLY]:
            texts.append("/")
    namespace: dict[str, Any] = {}
    exec(f"def function({', '.join(texts)}): return locals()", namespace)
    got: dict[str, object] = namespace["function"](
        *[f"#{i}" for i in range(positional)], **dict.fromkeys(keywords, "k")
    )
    return got


def shape(positional: int, keywords: set[str]) -> Shape:
    return Shape((True,) * positional, dict.fromkeys(sorted(keywords), True))


@settings(max_examples=800)
@given(signatures(), calls)
@example(signature("(a, /, **kwargs)"), (0, {"a"}))
@example(signature("(a, /, **kwargs)"), (1, {"a"}))
@example(signature("(a, b, *, c)"), (3, set()))
@example(signature("(a, *args, b=0)"), (4, {"b"}))
def test_a_call_fits_exactly_when_python_binds_it(taken: Signature, call: tuple[int, set[str]]) -> None:
    positional, keywords = call
    bound = bind(taken, shape(positional, keywords))
    try:
        call_python(taken, positional, keywords)
    except TypeError:
        assert not bound.fits
    else:
        assert bound.fits, bound.problems


@settings(max_examples=300)
@given(signatures(), calls)
def test_positional_arguments_land_where_python_puts_them(taken: Signature, call: tuple[int, set[str]]) -> None:
    positional, keywords = call
    bound = bind(taken, shape(positional, keywords))
    if bound.fits:
        got = call_python(taken, positional, keywords)
        expected = {value: name for name, value in got.items() if isinstance(value, str) and value.startswith("#")}
        assert {f"#{i}": place for i, place in enumerate(bound.places) if place is not None} == expected


@settings(max_examples=300)
@given(signatures(), calls)
def test_every_problem_is_one_that_the_fix_it_suggests_takes_away(taken: Signature, call: tuple[int, set[str]]) -> None:
    positional, keywords = call
    for _ in range(20):
        problems = bind(taken, shape(positional, keywords)).problems
        if not problems:
            break
        problem = problems[0]
        if problem.fault in (Fault.UNKNOWN_KEYWORD, Fault.POSITIONAL_ONLY, Fault.TWICE):
            keywords = keywords - {problem.parameter or ""}
        elif problem.fault is Fault.TOO_MANY:
            positional = problem.position or 0
        else:
            kind = next(p.kind for p in taken.parameters if p.name == problem.parameter)
            if kind is ParameterKind.POSITIONAL_ONLY:
                positional += 1
            else:
                keywords = keywords | {problem.parameter or ""}
    assert bind(taken, shape(positional, keywords)).fits


@settings(max_examples=300)
@given(signatures(), calls, st.booleans(), st.booleans(), st.data())
def test_what_is_unknown_only_takes_problems_away(
    taken: Signature, call: tuple[int, set[str]], star: bool, double_star: bool, data: st.DataObject
) -> None:
    positional, keywords = call
    certain = tuple(data.draw(st.booleans()) for _ in range(positional))
    known = bind(taken, shape(positional, keywords))
    unknown = bind(taken, Shape(certain, dict.fromkeys(sorted(keywords), True), star, double_star))
    assert set(unknown.problems) <= set(known.problems)
    assert all(here in (None, there) for here, there in zip(unknown.places, known.places, strict=True))


def test_an_open_call_may_still_have_a_keyword_too_many() -> None:
    open_call = Shape((), {"x": True}, open_positional=True, open_keywords=True)
    assert [p.fault for p in bind(signature("(a, b)"), open_call).problems] == [Fault.UNKNOWN_KEYWORD]


def test_unknown_positionals_cannot_fill_a_keyword_only_parameter() -> None:
    problems = bind(signature("(a, *, b)"), Shape(open_positional=True)).problems
    assert [(p.fault, p.parameter) for p in problems] == [(Fault.MISSING, "b")]


def test_a_keyword_that_a_decorator_takes_may_stand_for_any_parameter() -> None:
    taken = Signature(signature("(new, other=1)").parameters, extra_keywords=("old",))
    assert bind(taken, shape(0, {"old"})).fits
    assert not bind(taken, shape(0, {"older"})).fits
    assert not bind(taken, shape(0, set())).fits
