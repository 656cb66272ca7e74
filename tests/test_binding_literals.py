"""Which constants an annotation takes, and which values an argument may have where."""

from __future__ import annotations

import pytest

from driftwatch.binding.calls import parts
from driftwatch.binding.literals import literals_of
from driftwatch.binding.refused import known_arguments, possible_arguments
from driftwatch.binding.signature import Fault, Problem, Shape, bind
from driftwatch.flow.uses import Argument, Constant
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature
from tests.made_uses import KILN, call, releases


@pytest.mark.parametrize(
    ("annotation", "taken"),
    [
        ("Literal['a', 'b']", ("a", "b")),
        ("typing.Literal[1, True, None]", (1, True, None)),
        ("Literal['a'] | None", ("a", None)),
        ("Optional[Literal['a']]", ("a", None)),
        ("Union[Literal['a'], Literal['b']]", ("a", "b")),
        ("\"Literal['a']\"", ("a",)),
        ("Literal['a'] | 3", ()),
        ("Literal['a'] | int", ()),
        ("Union[Literal['a'], str]", ()),
        ("Literal['a', b]", ()),
        ("Literal['a', 1.5]", ()),
        ("Literal['a'] + Literal['b']", ()),
        ("list[Literal['a']]", ()),
        ("Literal", ()),
        ("str", ()),
        (None, ()),
        ("Literal['a'", ()),
        ("Literal['a']\0", ()),
        ("'Literal[' | Literal['a']", ()),
        (" | ".join(["Literal['a']"] * 20_000), ()),
    ],
)
def test_an_annotation_takes_these_constants_and_no_others(annotation: str | None, taken: tuple[Constant, ...]) -> None:
    assert literals_of(annotation) == taken


def test_a_value_counts_wherever_it_is_known_in_more_releases_than_are_looked_at() -> None:
    everywhere = Argument(releases(""), "minutes", values=((releases(""), 30),))
    use = call("kiln:fire", None, keywords=(everywhere,), where="==1.0")
    (part,) = parts(use, KILN)
    assert list(known_arguments(use, part, ["minutes"])) == [(releases("==1.0"), {"minutes": 30})]
    assert list(possible_arguments(use, part, ["minutes"])) == [(releases("==1.0"), {"minutes": 30})]


def test_a_parameter_that_collects_arguments_has_no_name_to_pass_them_by() -> None:
    taken = Signature(
        (
            Parameter("only", ParameterKind.POSITIONAL_ONLY),
            Parameter("rest", ParameterKind.VAR_POSITIONAL),
        )
    )
    assert bind(taken, Shape((True,), {"rest": True})).problems == (Problem(Fault.UNKNOWN_KEYWORD, "rest"),)
    assert bind(taken, Shape((True,), {"only": True})).problems == (Problem(Fault.POSITIONAL_ONLY, "only"),)
