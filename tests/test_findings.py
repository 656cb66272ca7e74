"""Judging: the same verdicts in any order give the same findings, each release under its worst outcome."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.findings.finding import RELEASES, Finding, Severity, Verdict, judge
from driftwatch.findings.passages import Passages
from driftwatch.flow.uses import UNCAUGHT, Catch, Location, Outcome
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union

TIMELINE = Timeline(("1", "2", "3", "4"))
ALL = TIMELINE.all


def at(line: int, path: str = "app.py") -> Location:
    return Location(path, line, 1, line, 9)


VERDICT = Verdict(
    code="DW101",
    name="unknown-keyword",
    severity=Severity.ERROR,
    distribution="lib",
    location=at(5),
    symbol="lib.f",
    parameter="x",
    releases=TIMELINE.set_of(["1", "2"]),
    catch=UNCAUGHT,
    message=f"not in {RELEASES}",
    hint="do",
)


def judged(*verdicts: Verdict, checked: ReleaseSet = ALL) -> tuple[Finding, ...]:
    return judge(verdicts, {"lib": TIMELINE}, {"lib": checked})


def test_releases_are_split_by_the_range() -> None:
    (finding,) = judged(VERDICT, checked=TIMELINE.set_of(["2", "3"]))
    assert (finding.releases, finding.beyond) == (TIMELINE.set_of(["2"]), TIMELINE.set_of(["1"]))
    assert finding.severity is Severity.ERROR
    assert finding.message == "not in 2"


def test_nothing_in_the_range_is_a_note_about_what_is_beyond() -> None:
    (finding,) = judged(VERDICT, checked=TIMELINE.set_of(["4"]))
    assert (finding.severity, finding.releases, finding.message) == (Severity.NOTE, EMPTY, "not in 1 to 2")


def test_what_is_guarded_is_a_note_whatever_the_rule_says() -> None:
    (finding,) = judged(replace(VERDICT, catch=Catch(Outcome.GUARDED, "app.py", 8)))
    assert (finding.severity, finding.outcome, finding.caught_at) == (Severity.NOTE, Outcome.GUARDED, ("app.py", 8))


def test_a_configured_severity_replaces_the_rules_own() -> None:
    (finding,) = judge([VERDICT], {"lib": TIMELINE}, {"lib": ALL}, {"DW101": Severity.WARNING})
    assert finding.severity is Severity.WARNING


def test_the_same_said_twice_is_one_finding() -> None:
    (finding,) = judged(VERDICT, replace(VERDICT, releases=TIMELINE.set_of(["2", "3"])))
    assert finding.releases == TIMELINE.set_of(["1", "2", "3"])


def test_of_two_that_say_the_same_the_more_severe_speaks() -> None:
    lenient = replace(VERDICT, severity=Severity.NOTE, hint="look at it")
    for both in ((VERDICT, lenient), (lenient, VERDICT)):
        (finding,) = judged(*both)
        assert (finding.severity, finding.hint) == (Severity.ERROR, "do")


def test_the_worst_outcome_of_a_release_counts() -> None:
    silent = replace(VERDICT, catch=Catch(Outcome.SILENT, "app.py", 9), releases=TIMELINE.set_of(["1"]))
    guarded = replace(VERDICT, catch=Catch(Outcome.GUARDED, "app.py", 8), releases=ALL)
    found = judged(guarded, VERDICT, silent)
    assert [(f.outcome, TIMELINE.versions_of(f.releases)) for f in found] == [
        (Outcome.SILENT, ("1",)),
        (Outcome.RAISES, ("2",)),
        (Outcome.GUARDED, ("3", "4")),
    ]
    assert len({f.fingerprint for f in found}) == 3


def test_fingerprints_survive_edits_above_and_tell_places_apart() -> None:
    first, second = judged(VERDICT, replace(VERDICT, location=at(9)))
    assert first.fingerprint != second.fingerprint
    moved = judged(replace(VERDICT, location=at(105)), replace(VERDICT, location=at(109)))
    assert [f.fingerprint for f in moved] == [first.fingerprint, second.fingerprint]


def code_at(lines: dict[str, str]) -> Passages:
    return Passages(lambda path: lines[path].split("\n"))


TWO = "def one(x):\n    lib.f(x=x)\n\n\ndef two(x):\n    lib.f(x=x)\n    lib.f(x=x)\n"


def marks(text: str, *lines: int, catch: Catch = UNCAUGHT, column: int = 5) -> list[str]:
    """The fingerprints of a finding on each of the lines, from a column to the end."""
    found = [replace(VERDICT, location=Location("app.py", line, column, line, 99), catch=catch) for line in lines]
    judged = judge(found, {"lib": TIMELINE}, {"lib": ALL}, passages=code_at({"app.py": text}))
    return [f.fingerprint for f in judged]


def test_a_fingerprint_does_not_depend_on_other_findings() -> None:
    one, two, again = marks(TWO, 2, 6, 7)
    assert len({one, two, again}) == 3
    assert marks(TWO, 6) == [two], "the other function's call is none of its business"
    assert marks(TWO, 6, 7) == [two, again]
    assert marks(TWO, 7) == [two], "only among what is alike to the letter, the first is the first"


def test_a_fingerprint_moves_with_its_code() -> None:
    swapped = "\n# new\ndef two(x):\n    lib.f(x=x)\n    lib.f(x=x)\n\n\ndef one(x):\n    lib.f(x=x)\n"
    one, two, again = marks(TWO, 2, 6, 7)
    assert marks(swapped, 4, 5, 9) == [two, again, one]


def test_other_code_has_another_fingerprint() -> None:
    (before,) = marks(TWO, 2)
    assert marks(TWO.replace("lib.f(x=x)", "lib.f(x=y)"), 2) != [before]
    assert marks(TWO.replace("def one", "def won"), 2) != [before]
    assert marks("class C:\n" + indent(TWO, "    "), 3, column=9) != [before]
    assert marks(TWO.replace("    lib", "        lib"), 2, column=9) == [before], "what is compared is not the column"


def test_handlers_are_told_apart_by_where_they_are_not_by_their_number() -> None:
    text = (
        f"{TWO}try:\n    one(1)\nexcept Exception:\n    pass\n\n\n"
        "def three():\n    try:\n        one(1)\n    except Exception:\n        pass\n"
    )
    outside, inside = (Catch(Outcome.SILENT, "app.py", line) for line in (10, 17))
    (first,), (second,) = marks(text, 2, catch=outside), marks(text, 2, catch=inside)
    assert first != second
    edited = text.replace("except Exception:\n        pass", "except (OSError, Exception) as gone:\n        pass")
    assert marks(edited, 2, catch=inside) == [second]


def test_the_range_changes_no_fingerprint() -> None:
    (inside,) = judged(VERDICT)
    (beyond,) = judged(VERDICT, checked=TIMELINE.set_of(["4"]))
    assert inside.fingerprint == beyond.fingerprint


verdicts = st.builds(
    lambda mask, line, path, parameter, outcome, handler: replace(
        VERDICT,
        releases=ReleaseSet(mask),
        location=at(line, path),
        parameter=parameter,
        catch=None if outcome is None else Catch(outcome, "app.py", handler),
    ),
    st.integers(0, 15),
    st.integers(1, 2),
    st.sampled_from(["a.py", "b.py"]),
    st.sampled_from(["x", None]),
    st.sampled_from([*Outcome, None]),
    st.integers(1, 2),
)


@given(st.lists(verdicts, max_size=8), st.randoms(use_true_random=False), st.integers(0, 15))
def test_order_does_not_matter_and_no_release_is_lost(found: list[Verdict], random: object, mask: int) -> None:
    checked = ReleaseSet(mask)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    findings = judged(*found, checked=checked)
    assert judged(*shuffled, checked=checked) == findings
    assert len({f.fingerprint for f in findings}) == len(findings)
    places = {(v.location, v.parameter) for v in found if v.releases}
    assert {(f.location, f.parameter) for f in findings} == places
    for location, parameter in places:
        said = union([v.releases for v in found if (v.location, v.parameter) == (location, parameter)])
        here = [f for f in findings if (f.location, f.parameter) == (location, parameter)]
        assert union([f.releases | f.beyond for f in here]) == said
        assert sum(len(f.releases | f.beyond) for f in here) == len(said)
        assert all(f.releases <= checked and f.beyond.isdisjoint(checked) for f in here)
