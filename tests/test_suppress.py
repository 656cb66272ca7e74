"""Comments, patterns and baselines: what they hide, and what is told about those that hide nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.errors import InputError
from driftwatch.findings.finding import Finding, Severity, Verdict, judge
from driftwatch.findings.suppress import (
    BASELINE_SCHEMA,
    BaselineEntry,
    Decisions,
    Sifted,
    baseline_text,
    ignores,
    read_baseline,
    sift,
)
from driftwatch.flow.uses import UNCAUGHT, Location
from driftwatch.releases import ReleaseSet, Timeline

TIMELINE = Timeline(("0.6", "0.7", "0.8"))
CODES = ("DW101", "DW102", "DW201")


def finding(line: int = 1, code: str = "DW101", path: str = "app.py", mask: int = 1) -> Finding:
    verdict = Verdict(
        code,
        "name",
        Severity.ERROR,
        "lib",
        Location(path, line, 1, line, 9),
        "lib.f",
        "x",
        ReleaseSet(mask),
        UNCAUGHT,
        "m",
        "h",
    )
    (found,) = judge([verdict], {"lib": TIMELINE}, {"lib": TIMELINE.all})
    return found


def sifted(source: str, *findings: Finding, checked: ReleaseSet = TIMELINE.all, **more: object) -> Sifted:
    decisions = Decisions({"app.py": source}.get, {"lib": TIMELINE}, {"lib": checked}, CODES)
    return sift(findings, ["app.py"], replace(decisions, **more))  # type: ignore[arg-type]


def told(result: Sifted) -> list[tuple[int | None, str]]:
    return [(idle.line, idle.message) for idle in result.idle]


@pytest.mark.parametrize(
    "comment",
    [
        "# driftwatch: ignore",
        "# driftwatch: ignore[DW101]",
        "# driftwatch:ignore[DW102, dw101]",
        "#driftwatch: ignore[DW1] since nobody runs that release",
        "# noqa: E501  # driftwatch: ignore[DW101]",
        "# driftwatch: ignore[DW101] until=0.9 see #12",
    ],
)
def test_a_comment_on_the_line_hides_the_finding(comment: str) -> None:
    result = sifted(f"f(x=1)  {comment}\n", finding())
    assert result.standing == ()
    assert [each.by for each in result.suppressed] == ["comment"]
    assert result.idle == ()


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# driftwatch: ignore[DW2]", "this ignore is not needed: nothing here is reported as DW2"),
        ("# driftwatch: ignore[DW999]", "this ignore has no effect: there is no code DW999"),
        ("# driftwatch: ignore[nonsense]", "this ignore has no effect: there is no rule nonsense"),
        ("# driftwatch: ignore[]", "this ignore has no effect: its brackets are empty"),
        ("# driftwatch: ignore[DW101", "this ignore has no effect: its bracket is not closed"),
        ("# driftwatch: ignore until 0.8", "this ignore has no effect: write until=0.8 with an equals sign"),
        ("# driftwatch ignore[DW101]", "this ignore has no effect: it lacks its colon: write `driftwatch: ignore`"),
        ("# driftwatch ignore", "this ignore has no effect: it lacks its colon: write `driftwatch: ignore`"),
        ("# driftwatch: ignore until=soon", "this ignore has no effect: until=soon is not a release"),
        ("# driftwatch: ignore[DW101] until=0.8", "this ignore has ended: release 0.8 is checked"),
    ],
)
def test_a_comment_that_hides_nothing_is_told(comment: str, message: str) -> None:
    found = finding()
    result = sifted(f"f(x=1)  {comment}\n", found)
    assert result.standing == (found,)
    assert told(result) == [(1, message)]


def test_until_ends_with_the_checked_range_not_with_the_known_releases() -> None:
    result = sifted("f(x=1)  # driftwatch: ignore until=0.8\n", finding(), checked=TIMELINE.set_of(["0.6", "0.7"]))
    assert result.standing == ()


def test_the_reason_is_kept() -> None:
    (each,) = sifted("f(x=1)  # driftwatch: ignore[DW101] until=0.9 - old images only, #7\n", finding()).suppressed
    assert each.reason == "old images only, #7"


STATEMENT = """\
f(  # driftwatch: ignore[DW101]
    1,
    x=g(
        2,
    ),
)
h(x=1)
"""


@pytest.mark.parametrize(("line", "hidden"), [(1, True), (3, True), (4, True), (7, False)])
def test_a_comment_speaks_for_its_whole_statement_and_no_other(line: int, hidden: bool) -> None:
    assert bool(sifted(STATEMENT, finding(line)).suppressed) is hidden


def test_a_comment_at_the_end_of_a_statement_counts_as_well() -> None:
    source = "f(\n    x=1,\n)  # driftwatch: ignore\n"
    assert sifted(source, finding(1)).standing == ()


def test_the_body_of_a_class_is_not_its_header() -> None:
    source = "class A(B):  # driftwatch: ignore\n    def f(self):\n        return g(x=1)\n"
    assert sifted(source, finding(1)).standing == ()
    assert len(sifted(source, finding(3)).standing) == 1


def test_a_text_that_looks_like_a_comment_is_none() -> None:
    assert ignores("app.py", 'f(x="# driftwatch: ignore")\n"""\n# driftwatch: ignore\n"""\n') == ()


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("# driftwatch: ignore\nf(\n    x)\n", 3),
        ("# driftwatch: ignore[DW101]\n# and this is why\nf()\n", 3),
        ("if x:\n    g()\n    # driftwatch: ignore\n    f()\n", 4),
    ],
)
def test_a_comment_on_a_line_of_its_own_speaks_for_the_statement_after_it(source: str, line: int) -> None:
    assert sifted(source, finding(line)).standing == ()
    assert told(sifted(source, finding(line))) == []
    assert len(sifted(source + "f()\n", finding(source.count("\n") + 1)).standing) == 1


def test_a_comment_on_a_line_of_its_own_does_not_reach_over_an_empty_one() -> None:
    result = sifted("# driftwatch: ignore\n\nf()\n", finding(3))
    assert len(result.standing) == 1
    assert [line for line, _ in told(result)] == [1]


def test_the_name_of_a_rule_is_as_good_as_its_code() -> None:
    names = {"unknown-keyword": "DW101", "missing-name": "DW201"}
    source = "f()  # driftwatch: ignore[Unknown-Keyword, missing-name]\n"
    result = sifted(source, finding(1), finding(1, "DW201"), finding(1, "DW102"), names=names)
    assert [f.code for f in result.standing] == ["DW102"]
    assert told(result) == []


def test_a_similar_word_is_no_ignore() -> None:
    assert ignores("app.py", "f()  # driftwatch: ignore-file\ng()  # driftwatch: ignored\n") == ()


def test_what_python_cannot_read_to_the_end_still_counts() -> None:
    source = "f(x=1)  # driftwatch: ignore\nx = (\n"
    assert sifted(source, finding(1)).standing == ()


def test_a_file_that_cannot_be_read_any_more_hides_nothing() -> None:
    gone = finding(path="gone.py")
    assert sifted("", gone).standing == (gone,)


@pytest.mark.parametrize(
    ("pattern", "path", "hidden"),
    [
        ("tests", "tests/unit/test_a.py", True),
        ("tests", "src/tests/test_a.py", True),
        ("tests/*", "tests/test_a.py", True),
        ("tests/*", "src/tests/test_a.py", False),
        ("*.pyw", "app.py", False),
        ("test_*.py", "tests/test_a.py", True),
        ("./src/", "src/a.py", True),
        ("", "src/a.py", False),
    ],
)
def test_per_file_ignores(pattern: str, path: str, hidden: bool) -> None:
    result = sifted("", finding(path=path), patterns=[(pattern, ("DW1",))])
    assert bool(result.suppressed) is hidden
    other = sifted("", finding(path=path, code="DW201"), patterns=[(pattern, ("DW1",))])
    assert other.suppressed == ()


# -- baseline --------------------------------------------------------------------------------------------------------


def test_a_baseline_hides_what_it_knows_and_no_new_release(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    old, elsewhere = finding(mask=0b011), finding(line=5, code="DW201", mask=0b100)
    path.write_text(baseline_text([elsewhere, old], {"lib": TIMELINE}))
    entries = read_baseline(path)
    assert sifted("", old, elsewhere, baseline=entries).standing == ()
    fewer = finding(mask=0b001)
    assert sifted("", fewer, baseline=entries).standing == ()
    more = finding(mask=0b111)
    assert sifted("", more, baseline=entries).standing == (more,)


def test_a_baseline_does_not_hold_notes_and_is_in_order(tmp_path: Path) -> None:
    note = replace(finding(), severity=Severity.NOTE)
    assert baseline_text([note], {"lib": TIMELINE}) == '{\n  "schema": 2,\n  "entries": []\n}\n'
    one, two = finding(path="b.py"), finding(path="a.py")
    text = baseline_text([one, two], {"lib": TIMELINE})
    assert text == baseline_text([two, one], {"lib": TIMELINE})
    assert [entry["path"] for entry in json.loads(text)["entries"]] == ["a.py", "b.py"]


def entry(path: str = "app.py", code: str = "DW101", mark: str = "0") -> BaselineEntry:
    return BaselineEntry(mark * 32, code, path, "lib.f", frozenset({"0.6"}))


def test_what_was_not_looked_for_cannot_be_gone() -> None:
    known = (entry(mark="1"), entry(code="DW201", mark="2"), entry("other.py", mark="3"))
    result = sifted("", baseline=known, applied=["DW101"], unseen="other.py".__eq__)
    assert told(result) == [(None, "DW101 lib.f in app.py is in the baseline and is gone")]


def test_a_baseline_of_which_nothing_is_left_is_told_once() -> None:
    result = sifted("", baseline=(entry(mark="1"), entry(code="DW201", mark="2")))
    assert told(result) == [
        (None, "none of the 2 findings in the baseline is here: all are gone, or it was written for other paths")
    ]


def test_entries_alike_are_told_together() -> None:
    found = finding()
    known = (
        entry(mark="1"),
        entry(mark="2"),
        replace(entry(), fingerprint=found.fingerprint, releases=frozenset(TIMELINE.versions)),
    )
    assert told(sifted("", found, baseline=known)) == [
        (None, "DW101 lib.f in app.py is in the baseline 2 times and is gone")
    ]


@pytest.mark.parametrize(
    ("comment", "applied", "idle"),
    [
        ("ignore[DW101]", ["DW201"], False),
        ("ignore[DW1]", ["DW101"], False),
        ("ignore[DW1]", ["DW101", "DW102"], True),
        ("ignore", ["DW101", "DW102"], False),
        ("ignore", CODES, True),
        ("ignore[DW999]", ["DW101"], True),
    ],
)
def test_a_comment_is_judged_where_all_it_speaks_for_was_looked_for(
    comment: str, applied: list[str], idle: bool
) -> None:
    assert bool(told(sifted(f"f(x=1)  # driftwatch: {comment}\n", applied=applied))) is idle


def test_an_entry_that_is_gone_is_told() -> None:
    entry = BaselineEntry("0" * 32, "DW101", "app.py", "lib.f", frozenset({"0.6"}))
    result = sifted("", baseline=(entry,), baseline_path="ci/baseline.json")
    assert [(i.path, i.line, i.message) for i in result.idle] == [
        ("ci/baseline.json", None, "DW101 lib.f in app.py is in the baseline and is gone")
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged: it is not JSON"),
        ("[]", "is not a driftwatch baseline"),
        ('{"schema": 1, "entries": []}', "has schema 1, not 2"),
        ('{"entries": []}', "has schema None, not 2"),
        ('{"schema": 9, "entries": []}', "has schema 9, not 2"),
        ('{"schema": 2, "entries": [{"fingerprint": "x"}]}', "is not an entry"),
        ('{"schema": 2, "entries": [3]}', "is not an entry"),
    ],
)
def test_a_damaged_baseline_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_baseline(path)


def test_a_baseline_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the baseline"):
        read_baseline(tmp_path / "nothing.json")


def test_a_comment_that_has_ended_hides_no_other_of_the_same_statement() -> None:
    text = "f(  # driftwatch: ignore until=0.1\n  x=1)  # driftwatch: ignore[DW101]\n"
    result = sifted(text, finding())
    assert (result.standing, [each.by for each in result.suppressed]) == ((), ["comment"])
    assert told(result) == [(1, "this ignore has ended: release 0.1 is checked")]


@pytest.mark.parametrize(
    ("schema", "earlier"),
    [(BASELINE_SCHEMA - 1, True), (0, True), (BASELINE_SCHEMA + 1, False), ("2", False), (None, False)],
)
def test_a_baseline_of_another_schema_says_what_wrote_it(tmp_path: Path, schema: object, earlier: bool) -> None:
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"schema": schema, "entries": []}))
    with pytest.raises(InputError, match="has schema") as refused:
        read_baseline(path)
    assert ("an earlier driftwatch wrote it" in (refused.value.hint or "")) is earlier


def test_what_decided_nothing_is_told_by_line() -> None:
    text = "x = 1  # driftwatch: ignore until=soon\ny = 2  # driftwatch: ignore[]\n"
    assert [line for line, _ in told(sifted(text))] == [1, 2]
