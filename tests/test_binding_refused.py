"""A condition over constants says what Python says of it; where Python raises, or something is unknown, nothing."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.binding.refused import truth_of
from driftwatch.flow.uses import Constant, Unknown

CONDITIONS = (
    "a not in (0, 1)",
    "a and (not b)",
    "a % 4",
    "a <= 0 or a % b",
    "not 0 <= a < b",
    "a is None",
    "a is not None and b == 'x'",
    "a in {'auto', 'cake'}",
    "a - b > 2",
    "-a < b",
)
constants = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "auto", "cake"])


@pytest.mark.parametrize("condition", CONDITIONS)
@given(constants, constants)
def test_agrees_with_python(condition: str, a: Constant, b: Constant) -> None:
    found = truth_of(condition, {"a": a, "b": b})
    try:
        expected = bool(eval(ast.unparse(ast.parse(condition, mode="eval")), {"a": a, "b": b}))  # this file's own text
    except (TypeError, ValueError, ArithmeticError):
        assert found is None
        return
    assert found is expected or (found is None and isinstance(a, str) and "%" in condition)


def test_what_is_unknown_leaves_it_open_unless_it_does_not_matter() -> None:
    unknown = Unknown.UNKNOWN
    assert truth_of("a and b", {"a": False, "b": unknown}) is False
    assert truth_of("a or b", {"a": 1, "b": unknown}) is True
    assert truth_of("a and b", {"a": True, "b": unknown}) is None
    assert truth_of("a < b < 3", {"a": 5, "b": unknown}) is None
    assert truth_of("f(a)", {"a": 1}) is None
