"""The rules about calls, on uses made by hand: exact releases, exact places, and silence where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driftwatch.binding.calls import parts
from driftwatch.binding.signature import Fault
from driftwatch.findings.finding import Severity
from driftwatch.flow.uses import Argument, Catch, Outcome
from driftwatch.rules import missing_argument, shifted_positional, too_many_positional, unknown_keyword
from driftwatch.rules.shifted_positional import renamed_in_place
from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.model.symbols import Ref, Snapshot, Symbol, SymbolKind
from tests.collecting import signature
from tests.made_uses import ALL, SILENT, at, call, findings, passed, releases, said, verdicts

DW101, DW102 = unknown_keyword.RULE, missing_argument.RULE
DW103, DW104 = too_many_positional.RULE, shifted_positional.RULE


# -- DW101 -----------------------------------------------------------------------------------------------------------


def test_a_keyword_is_unknown_in_just_the_releases_that_do_not_take_it() -> None:
    use = call("kiln:fire", None, keywords=("minutes", "glaze", "heat"))
    assert said(DW101, use) == [("error", "1.0", "glaze"), ("error", "1.0 to 1.2", "heat")]


def test_releases_out_of_reach_do_not_count() -> None:
    assert said(DW101, call("kiln:fire", None, where=">=1.1", keywords=("minutes", "glaze"))) == []


def test_a_release_beyond_the_range_makes_a_note() -> None:
    use = call("kiln:fire", None, keywords=("minutes", "heat"))
    assert said(DW101, use, against=">=2.0") == [("note", "none + 1.0 to 1.2", "heat")]
    assert said(DW101, use, against=">=1.2") == [("error", "1.2 + 1.0 to 1.1", "heat")]


def test_an_argument_passed_only_in_some_releases_breaks_only_there() -> None:
    use = call("kiln:fire", None, keywords=("minutes", passed("glaze", ">=1.1"), passed("heat", ">=1.2")))
    assert said(DW101, use) == [("error", "1.2", "heat")]


def test_an_argument_passed_perhaps_counts_as_passed() -> None:
    use = call("kiln:fire", None, keywords=("minutes", passed("glaze", certain=False)))
    assert said(DW101, use) == [("error", "1.0", "glaze")]


def test_an_argument_written_elsewhere_is_reported_there_with_its_own_handler() -> None:
    elsewhere = Argument(ALL, "glaze", location=at(40, "other.py"), catch=Catch(Outcome.SILENT, "other.py", 42))
    (finding,) = findings(DW101, call("kiln:fire", None, keywords=("minutes", elsewhere)))
    assert (finding.location.path, finding.location.line) == ("other.py", 40)
    assert (finding.outcome, finding.caught_at) == (Outcome.SILENT, ("other.py", 42))


def test_what_is_said_names_the_releases_and_the_way_out() -> None:
    (finding,) = findings(DW101, call("kiln:fire", None, keywords=("minutes", "heat"), catch=SILENT))
    assert finding.message == "`fire` does not take `heat` in 1.0 to 1.2"
    assert finding.hint == "needs kiln>=2.0; or pass it only where `inspect.signature` shows it"
    assert finding.symbol == "kiln.fire"
    assert (finding.outcome, finding.caught_at) == (Outcome.SILENT, ("app.py", 9))


def test_a_keyword_no_release_takes_gets_a_near_name() -> None:
    (finding,) = findings(DW101, call("kiln:fire", None, keywords=("minutes", "glase")))
    assert finding.releases == ALL
    assert finding.hint == "no known release takes `glase`; did you mean `glaze`?"


def test_a_function_that_is_not_there_is_not_this_rules_matter() -> None:
    assert said(DW101, call("kiln:raku", None, keywords=("nope",))) == [("error", "1.0 to 1.2", "nope")]
    assert said(DW101, call("kiln:nothing", keywords=("nope",))) == []


def test_a_method_is_wrong_only_where_no_class_of_the_instance_takes_it() -> None:
    wax = call("kiln:Shelf.wax", keywords=("colour",), method=True)
    assert said(DW101, wax) == [("error", "1.2 to 2.1", "colour")]
    add = call("kiln:Shelf.add", keywords=("pot",), method=True)
    assert said(DW101, add) == []


def test_a_function_of_several_signatures_takes_what_any_of_them_takes() -> None:
    ref = Ref("kiln", "fire")
    either = Symbol(ref, SymbolKind.FUNCTION, variants=(signature("(a, *, new=1)"), signature("(a, b)")))
    taken = merge("kiln", "kiln", [Snapshot("1.0", {ref: either})])

    def problems(positional: int, *keywords: str) -> list[Fault]:
        use = replace(call("kiln:fire", *[None] * positional, keywords=keywords), releases=taken.timeline.all)
        (part,) = parts(use, taken)
        return [problem.fault for problem in part.bound.problems]

    assert problems(1, "new") == problems(2) == problems(1, "b") == []
    assert problems(1, "old") == problems(1, "b", "old") == [Fault.UNKNOWN_KEYWORD]


def test_keywords_that_each_way_passes_for_the_signature_at_hand_are_right() -> None:
    ref = Ref("kiln", "fire")
    either = Symbol(ref, SymbolKind.FUNCTION, variants=(signature("(a, *, new=1)"), signature("(a, b=1)")))
    taken = merge("kiln", "kiln", [Snapshot("1.0", {ref: either})])

    def problems(*keywords: Argument | str) -> list[str | None]:
        use = replace(call("kiln:fire", None, keywords=keywords), releases=taken.timeline.all)
        (part,) = parts(use, taken)
        return [problem.parameter for problem in part.bound.problems]

    new, b = Argument(taken.timeline.all, "new", certain=False), Argument(taken.timeline.all, "b", certain=False)
    assert problems(new, b) == problems("new", b) == []
    assert problems(new, b, "old") == ["old"]
    assert problems("new", "b") != []


# -- DW102 -----------------------------------------------------------------------------------------------------------


def test_a_required_parameter_is_missing_where_it_has_no_default() -> None:
    (finding,) = findings(DW102, call("kiln:mould", None))
    assert finding.releases == releases("<2")
    assert finding.message == "`mould` requires `size` in 1.0 to 1.2, and it is not passed"
    assert finding.hint == "pass `size`; leaving it out needs kiln>=2.0"


@pytest.mark.parametrize("unknown", ["unknown_positional", "unknown_keywords"])
def test_what_may_be_passed_is_not_missing(unknown: str) -> None:
    use = replace(call("kiln:mould", None), **{unknown: ALL})
    assert said(DW102, use) == []


def test_unknown_keywords_in_some_releases_only_speak_for_those() -> None:
    use = replace(call("kiln:mould", None), unknown_keywords=releases(">=1.1"))
    assert said(DW102, use) == [("error", "1.0", "size")]


def test_an_argument_passed_perhaps_is_not_missing() -> None:
    assert said(DW102, call("kiln:mould", None, keywords=(passed("size", certain=False),))) == []
    assert said(DW102, call("kiln:mould", None, passed(certain=False))) == []


def test_a_keyword_passed_in_some_releases_is_missing_in_the_others() -> None:
    assert said(DW102, call("kiln:mould", None, keywords=(passed("size", ">=1.2"),))) == [
        ("error", "1.0 to 1.1", "size")
    ]


# -- DW103 -----------------------------------------------------------------------------------------------------------


def test_too_many_positional_arguments() -> None:
    (finding,) = findings(DW103, call("kiln:stack", None, None, None))
    assert finding.releases == releases(">=2")
    assert finding.message == "`stack` takes at most 2 positional arguments in 2.0 to 2.1, and 3 are passed"
    assert finding.hint == "pass the rest by keyword; needs kiln<2.0 as it is"
    assert finding.parameter is None


def test_a_surplus_argument_hides_no_missing_one() -> None:
    use = call("kiln:stack", None, None, None, keywords=("pot",))
    assert said(DW102, use) == []


# -- DW104 -----------------------------------------------------------------------------------------------------------


def test_the_newest_checked_release_says_what_is_meant() -> None:
    use = call("kiln:paint", None, None, None)
    (finding,) = findings(DW104, use)
    assert (finding.severity, finding.releases) == (Severity.ERROR, releases("<2"))
    assert (
        finding.message
        == "the 3rd positional argument of `paint` is `colour` in 1.0 to 1.2, and `primer` in 2.0 to 2.1"
    )
    assert (finding.outcome, finding.caught_at) == (None, None)


def test_a_range_that_agrees_with_itself_is_never_in_error() -> None:
    use = call("kiln:paint", None, None, None)
    assert said(DW104, use, against=">=2.0") == [("note", "none + 1.0 to 1.2", "primer")]
    assert said(DW104, use, against="<2") == [("note", "none + 2.0 to 2.1", "colour")]


def test_only_the_first_argument_that_moves_is_told() -> None:
    use = call("kiln:paint", None, None, None, None)
    assert said(DW104, use) == [("error", "1.0 to 1.2", "primer")]
    assert said(DW103, use) == [("error", "1.0 to 1.2", None)]


def test_a_new_name_at_the_same_place_is_no_shift() -> None:
    assert said(DW104, call("kiln:wash", None, None)) == []


def test_nothing_is_said_of_positions_that_are_not_known() -> None:
    assert said(DW104, call("kiln:paint", passed(certain=False), None, None)) == []
    assert said(DW104, replace(call("kiln:paint", None, None, None), unknown_positional=ALL)) == []


def test_a_parameter_filled_twice_raises() -> None:
    use = call("kiln:paint", None, None, None, keywords=("colour",), where="<2")
    (verdict,) = verdicts(DW104, use)
    assert verdict.releases == releases("<2")
    assert verdict.catch is not None
    assert verdict.message.startswith("`paint` gets `colour` twice in ")


@pytest.mark.parametrize(
    ("one", "other", "position", "renamed"),
    [
        ("(a, x, c)", "(a, y, c)", 1, True),
        ("(x)", "(y)", 0, True),
        ("(x, z, c)", "(y, w, c)", 0, True),
        ("(x, z, c)", "(y, w, c)", 1, True),
        ("(a, x)", "(a, y, z)", 1, True),
        ("(a, x, c)", "(a, y, x, c)", 1, False),
        ("(a, x, y)", "(a, y, x)", 1, False),
        ("(a, x, c)", "(b, y, x)", 1, False),
        ("(a, x, c)", "(a, y, d, c)", 1, False),
        ("(a, x, c)", "(a, c)", 1, False),
        ("(a, x)", "(a, y, *, x=1)", 1, False),
        # Another kind of value is another parameter.
        ("(a, fast: bool)", "(a, backend: Optional[Backend] = None)", 1, False),
        ("(a, fast: bool)", "(a, limit: int)", 1, True),
        ("(a, name: str | None)", "(a, size: 'int | None')", 1, False),
        ("(a, group: Optional['Group'])", "(a, comm: mnnvl.Backend)", 1, True),
        ("(a, fast: bool)", "(a, backend)", 1, True),
        ("(a, fast: bool)", "(a, backend: Any)", 1, True),
        ("(a, fast: bool)", "(a, backend: Union[int, Backend])", 1, True),
        ("(a, dims: List[int])", "(a, dim: int)", 1, False),
        ("(a, mode: Literal['x'])", "(a, kind: int)", 1, True),
    ],
)
def test_what_counts_as_a_renaming(one: str, other: str, position: int, renamed: bool) -> None:
    assert renamed_in_place(signature(one), signature(other), position) is renamed
    assert renamed_in_place(signature(other), signature(one), position) is renamed
