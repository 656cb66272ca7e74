"""Which constants, and which kinds of value, an annotation takes; and what an argument or a default is where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from driftwatch.binding.calls import Part, parts, takes_keyword
from driftwatch.binding.kinds import kinds, other_kind
from driftwatch.binding.literals import literals_of, outside_literals
from driftwatch.binding.refused import known_arguments, possible_arguments
from driftwatch.binding.signature import Fault, Problem, Shape, bind
from driftwatch.flow.uses import Argument, CallUse, Constant, Unknown
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Signature
from tests.made_uses import KILN, call, passed, releases


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


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("int", "str", True),
        ("int", "float | None", False),
        ("int | str", "bytes", True),
        ("Optional[int]", "Union[str, bytes]", True),
        ("Annotated[int, 1]", "str", True),
        ("'int'", "str", True),
        ("torch.Tensor", "list[int]", False),
        ("torch.Tensor", "int", True),
        ("int", "Any", False),
        ("int", "T", False),
        ("int", "Literal['a']", False),
        ("int", None, False),
        ("int", "None", False),
        ("int", "str | 3", False),
    ],
)
def test_two_annotations_differ_where_no_value_suits_both(one: str, other: str | None, differ: bool) -> None:
    assert other_kind(one, other) is differ
    assert other_kind(other, one) is differ


@pytest.mark.parametrize("annotation", ["list[", "int\0", " | ".join(["int"] * 20_000), "-" * 100_000 + "1"])
def test_an_annotation_that_python_cannot_read_may_be_anything(annotation: str) -> None:
    assert kinds(annotation) is None
    assert literals_of(f"Literal['a'] | {annotation}") == ()


def test_a_constant_that_is_not_declared_is_outside_where_it_may_be_passed() -> None:
    def outside(*values: Constant, certain: bool = True) -> list[tuple[Constant, ReleaseSet, bool]]:
        given = tuple((releases(where), value) for where, value in zip(("<2.1", ">=2.1"), values, strict=False))
        use = call("kiln:dry", None, keywords=(Argument(releases(""), "how", certain, given),))
        found = outside_literals(use, parts(use, KILN))
        return [(each.value, each.releases, each.certain) for each in found]

    assert outside("air", "oven") == []
    assert outside("air", "sun") == [("sun", releases(">=2.1"), True)]
    assert outside("air", "sun", certain=False) == [("sun", releases(">=2.1"), False)]
    assert outside("air", 1) == []


def test_a_value_counts_wherever_it_is_known_in_more_releases_than_are_looked_at() -> None:
    everywhere = Argument(releases(""), "minutes", values=((releases(""), 30),))
    use = call("kiln:fire", None, keywords=(everywhere,), where="==1.0")
    (part,) = parts(use, KILN)
    assert list(known_arguments(use, part, ["minutes"])) == [(releases("==1.0"), {"minutes": 30})]
    assert list(possible_arguments(use, part, ["minutes"])) == [(releases("==1.0"), {"minutes": 30})]


def test_what_is_not_passed_is_its_default_unless_something_open_may_fill_it() -> None:
    use = call("kiln:stack", None, None, where="==2.1")
    somewhere = (replace(use, unknown_keywords=use.releases), replace(use, unknown_positional=use.releases))
    perhaps = call("kiln:mould", passed(certain=False), where="==2.1")
    assert [known for _, known in _known(use, "height")] == [{"height": 1}]
    assert [known for each in somewhere for _, known in _known(each, "height")] == [{"height": Unknown.UNKNOWN}] * 2
    assert [known for _, known in _known(perhaps, "size")] == [{"size": Unknown.UNKNOWN}]


def _known(use: CallUse, name: str) -> list[tuple[ReleaseSet, Mapping[str, Constant]]]:
    (part,) = parts(use, KILN)
    return list(known_arguments(use, part, [name]))


def test_each_of_several_values_is_possible_until_there_are_too_many_combinations() -> None:
    def possible(*sizes: int) -> list[dict[str, Constant]]:
        everywhere = releases("==2.1")
        names = {name: tuple((everywhere, n) for n in range(size)) for name, size in zip("ab", sizes, strict=True)}
        given = tuple(Argument(everywhere, name, values=values) for name, values in names.items())
        use = replace(call("kiln:pot", where="==2.1"), keywords=given)
        shape = Shape((), dict.fromkeys(names, True))
        part = Part(everywhere, _TWO, (), (0, 1), shape, bind(_TWO, shape))
        return [dict(known) for _, known in possible_arguments(use, part, ["a", "b"])]

    assert possible(2, 1) == [{"a": 0, "b": 0}, {"a": 1, "b": 0}]
    assert len(possible(3, 4)) == 12
    assert possible(13, 1) == [{"a": Unknown.UNKNOWN, "b": 0}]


_TWO = Signature((Parameter("a", ParameterKind.KEYWORD_ONLY, "0"), Parameter("b", ParameterKind.KEYWORD_ONLY, "0")))


def test_a_keyword_that_a_decorator_refuses_is_not_taken() -> None:
    anything = Signature((Parameter("rest", ParameterKind.VAR_KEYWORD),), refused=("heat",))
    assert takes_keyword(anything, "minutes") and not takes_keyword(anything, "heat")
    assert takes_keyword(None, "heat")


def test_a_parameter_that_collects_arguments_has_no_name_to_pass_them_by() -> None:
    taken = Signature(
        (
            Parameter("only", ParameterKind.POSITIONAL_ONLY),
            Parameter("rest", ParameterKind.VAR_POSITIONAL),
        )
    )
    assert bind(taken, Shape((True,), {"rest": True})).problems == (Problem(Fault.UNKNOWN_KEYWORD, "rest"),)
    assert bind(taken, Shape((True,), {"only": True})).problems == (Problem(Fault.POSITIONAL_ONLY, "only"),)
