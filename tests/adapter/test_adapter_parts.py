"""Small parts of the adapter by themselves: shapes, rules, rows of the plan, values of the policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.adapter.plan import _row
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.rules import DROP, REFUSE, WARN, Rule
from driftwatch.adapter.settler import Record, Settler
from driftwatch.adapter.signatures import UnsupportedArgument, recorded, shared
from driftwatch.errors import ConfigError
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature


@pytest.mark.parametrize(
    ("mine", "other", "covers"),
    [
        (("a", "b="), ("a",), True),
        (("a", "/", "b="), ("a",), False),
        (("a",), ("a", "/"), False),
        (("a", "/"), ("a", "/"), True),
        (("a", "b"), ("a",), False),
        (("b=", "a="), ("a=",), False),
    ],
)
def test_covers(mine: tuple[str, ...], other: tuple[str, ...], covers: bool) -> None:
    """A parameter that one takes by position alone is another one: it has no name."""
    assert recorded(mine).covers(recorded(other)) is covers


def test_what_any_shape_requires_is_required_of_all() -> None:
    assert shared([recorded(("a", "b")), recorded(("a", "b="))]).required == ("a", "b")
    assert shared([recorded(("a=",)), recorded(("a=", "b"))]).required == ()


def test_every_argument_beside_it_must_be_as_given() -> None:
    rule = Rule(("a",), DROP, "", equals=(1,), given=(("b", True), ("c", None)))
    assert rule.fits(1, {"b": True}, {})
    assert not rule.fits(1, {"b": True, "c": 0}, {})
    assert not rule.fits(1, {"b": False}, {})


@pytest.mark.parametrize(("action", "refused"), [(DROP, False), (WARN, True), (REFUSE, True)])
def test_a_value_that_the_build_has_and_a_rule_lets_go(action: str, refused: bool) -> None:
    """A rule about a parameter that is taken refuses, unless it says that the value does no harm."""
    shape = recorded(("a", "b="))
    rules = (Rule(("b",), action, "because", equals=(1,), taken=True),)
    settler = Settler(Record("f", ("1",), ((("1",), shape),), rules), "library 1", shape, rules, {})
    settler.check_usable("b", 2, {})
    if refused:
        with pytest.raises(UnsupportedArgument, match="because"):
            settler.check_usable("b", 1, {})
    else:
        settler.check_usable("b", 1, {})


@pytest.mark.parametrize("value", ["[1]", "(1, 2)", "{}", "b'x'", "1j"])
def test_a_policy_names_plain_values_alone(value: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    row = 'functions = ["f"]\nparameters = ["p"]\naction = "drop"\nbecause = "b"\nevidence = "e"'
    path.write_text(f'[[rule]]\n{row}\nequals = ["{value}"]\n')
    with pytest.raises(ConfigError, match="is not a plain value"):
        load_policy(path)


def test_further_keywords_of_a_signature() -> None:
    """Names that a decorator adds stand before an open end, which takes them anyway: nothing follows `**`."""
    a = Parameter("a", ParameterKind.POSITIONAL_OR_KEYWORD)
    more = Parameter("more", ParameterKind.VAR_KEYWORD)
    assert _row(Signature((a,), extra_keywords=("x", "y")), "f") == ("a", "*", "x=", "y=")
    assert _row(Signature((a, more), extra_keywords=("x",)), "f") == ("a", "**more")


def test_a_rule_of_some_releases_holds_for_no_other_and_for_no_unknown_build() -> None:
    some = Rule(("group",), DROP, "it is the default", releases=frozenset({"1"}))
    assert [some.applies_to(release) for release in ("1", "2", None)] == [True, False, False]
    every = Rule(("group",), DROP, "it is the default")
    assert [every.applies_to(release) for release in ("1", "2", None)] == [True, True, True]


def test_what_opens_a_recorded_signature() -> None:
    for row, any_positional, any_keyword in (
        (("a", "*args", "b="), True, False),
        (("a", "*", "b"), False, False),
        (("a", "**rest"), False, True),
    ):
        shape = recorded(row)
        assert (shape.any_positional, shape.any_keyword) == (any_positional, any_keyword)
