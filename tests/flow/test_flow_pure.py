"""Operations on constants: done as Python does them, or refused; never slow, never large, never a surprise."""

from __future__ import annotations

import operator
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.pure import NotPureError
from driftwatch.flow.domain.values import Const

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-999, 999), st.text(max_size=8), FLOATS)
VALUES = st.one_of(PLAIN, st.tuples(PLAIN, PLAIN), st.frozensets(st.integers(0, 9)))

OPERATORS = {
    "Add": operator.add,
    "Subtract": operator.sub,
    "FloorDivide": operator.floordiv,
    "Divide": operator.truediv,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
}
COMPARISONS = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}


@given(st.sampled_from(sorted(OPERATORS)), VALUES, VALUES)
def test_operators_are_pythons(name: str, left: object, right: object) -> None:
    raised: str | None = None
    expected: object = None
    try:
        expected = OPERATORS[name](left, right)
    except (TypeError, ArithmeticError) as error:
        raised = type(error).__name__
    if raised is None:
        assert pure.binary(name, Const(left), Const(right)) == Const(expected)
        return
    with pytest.raises(NotPureError) as refused:
        pure.binary(name, Const(left), Const(right))
    assert refused.value.raised == raised


@given(st.sampled_from(sorted(COMPARISONS)), VALUES, VALUES)
def test_comparisons_are_pythons(name: str, left: object, right: object) -> None:
    try:
        expected: object = COMPARISONS[name](left, right)
    except TypeError:
        with pytest.raises(NotPureError):
            pure.compare(name, Const(left), Const(right))
    else:
        assert pure.compare(name, Const(left), Const(right)) is bool(expected)


def test_one_and_true_are_equal_but_not_the_same_constant() -> None:
    assert Const(1) != Const(True)
    assert Const(1) != Const(1.0)
    assert hash(Const(0)) != hash(Const(False))
    assert pure.compare("Equal", Const(1), Const(True))


@pytest.mark.parametrize(
    ("dotted", "arguments", "expected"),
    [
        ("builtins.int", ["12"], 12),
        ("builtins.len", [(1, 2)], 2),
        ("builtins.tuple", [(3, 1)], (3, 1)),
        ("builtins.sorted", [(3, 1)], (1, 3)),
        ("builtins.set", [(1, 1, 2)], frozenset({1, 2})),
        ("builtins.max", [(1, 5, 2)], 5),
        ("builtins.range", [3], (0, 1, 2)),
        ("packaging.version.parse", ["1.2"], Version("1.2")),
        ("packaging.version.Version", ["1.2.post1"], Version("1.2.post1")),
        ("packaging.specifiers.SpecifierSet", [">=1"], SpecifierSet(">=1")),
        ("re.split", [r"\.", "1.2"], ("1", "2")),
        ("re.findall", [r"\d+", "0.10"], ("0", "10")),
        ("re.sub", [r"\D", "", "0.10"], "010"),
        ("operator.ge", [2, 1], True),
    ],
)
def test_functions(dotted: str, arguments: list[object], expected: object) -> None:
    assert pure.call(dotted, [Const(a) for a in arguments]) == Const(expected)  # type: ignore[arg-type]


def test_what_a_match_gives() -> None:
    match = pure.call("re.match", [Const(r"(\d+)\.(\d+)"), Const("0.10.3")])
    assert pure.method(match, "group", [Const(2)]) == Const("10")
    assert pure.method(match, "group", []) == Const("0.10")
    assert pure.method(match, "groups", []) == Const(("0", "10"))
    assert pure.call("re.fullmatch", [Const(r"\d"), Const("0.1")]) == Const(None)
    with pytest.raises(NotPureError):
        pure.method(match, "group", [Const(7)])


def test_parts_of_a_version() -> None:
    version = Const(Version("0.6.8.post2"))
    assert pure.attribute(version, "release") == Const((0, 6, 8))
    assert pure.attribute(version, "post") == Const(2)
    assert pure.subscript(pure.attribute(version, "release"), slice(None, 2)) == Const((0, 6))
    with pytest.raises(NotPureError):
        pure.attribute(version, "__class__")


@pytest.mark.parametrize(
    ("dotted", "arguments", "raised"),
    [
        ("packaging.version.Version", ["no version"], "InvalidVersion"),
        ("builtins.int", ["x"], "ValueError"),
        ("builtins.range", [10**30], None),
        ("builtins.range", [10**9], None),
        ("builtins.eval", ["1"], None),
        ("builtins.open", ["/etc/passwd"], None),
        ("re.match", ["(", "a"], "error"),
        ("builtins.max", [()], "ValueError"),
    ],
)
def test_refusals(dotted: str, arguments: list[object], raised: str | None) -> None:
    with pytest.raises(NotPureError) as refused:
        pure.call(dotted, [Const(a) for a in arguments])  # type: ignore[arg-type]
    assert refused.value.raised in (raised, "PatternError" if raised == "error" else raised)


LARGE = "x" * 3000


@pytest.mark.parametrize(
    "work",
    [
        lambda: pure.binary("Multiply", Const(LARGE), Const(9999)),
        lambda: pure.binary("Multiply", Const("x"), Const(10**12)),
        lambda: pure.binary("LeftShift", Const(1), Const(10**9)),
        lambda: pure.binary("Add", Const(LARGE), Const(LARGE)),
        lambda: pure.binary("Modulo", Const("%999999999999d"), Const(1)),
        lambda: pure.binary("Modulo", Const("%*d"), Const((999999999999, 1))),
        lambda: pure.method(Const("{:>999999999999}"), "format", [Const(1)]),
        lambda: pure.method(Const("{0.__class__.__mro__}"), "format", [Const(1)]),
        lambda: pure.call("re.match", [Const("(a+)+$"), Const("a" * 40 + "b")]),
        lambda: pure.call("re.sub", [Const("(a|a)*$"), Const(""), Const("a" * 40 + "b")]),
    ],
)
def test_what_would_be_large_or_slow_is_not_even_begun(work: object) -> None:
    assert callable(work)
    began = time.process_time()
    with pytest.raises(NotPureError):
        work()
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("%s.%s", (1, 2), "1.2"), ("%d", 3, "3"), ("100%%", (), "100%")],
)
def test_plain_formats_are_done(left: str, right: object, expected: str) -> None:
    assert pure.binary("Modulo", Const(left), Const(right)) == Const(expected)  # type: ignore[arg-type]
    assert pure.method(Const("{}.{}"), "format", [Const(0), Const(6)]) == Const("0.6")


def test_methods_of_text_are_the_listed_ones() -> None:
    assert pure.has_method(Const("a"), "split")
    assert not pure.has_method(Const("a"), "encode")
    assert not pure.has_method(Const(1), "split")
    assert pure.method(Const("0.6.8+cu1"), "partition", [Const("+")]) == Const(("0.6.8", "+", "cu1"))
    assert pure.method(Const("1,2"), "split", [], {"sep": Const(",")}) == Const(("1", "2"))
