"""Every rule's own examples: a bad one gives exactly what it says, a good one nothing worse than a note."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.findings.finding import Finding, Severity, judge
from driftwatch.flow.project import analyse
from driftwatch.project.declared import Requirements
from driftwatch.project.pins import installations
from driftwatch.project.python_files import PythonFiles
from driftwatch.project.version_checks import VersionChecks
from driftwatch.rules import RULES, apply, apply_to_installations, rule
from driftwatch.rules.rule import Context, Example, Rule
from tests.kiln import BESIDE, COMPANIONS, DISTRIBUTION, history, knowledge

KILN = history()
BAD = [pytest.param(each, example, id=f"{each.code}-{i}") for each in RULES for i, example in enumerate(each.bad)]
GOOD = [pytest.param(each, example, id=f"{each.code}-{i}") for each in RULES for i, example in enumerate(each.good)]


def findings(folder: Path, example: Example) -> list[Finding]:
    """What all rules say of an example."""
    path = folder / example.file
    path.write_text(example.source, encoding="utf-8")
    checked = KILN.timeline.matching(example.against or "")
    context = Context(KILN, checked, knowledge(), COMPANIONS, BESIDE, gpu=example.gpu)
    if path.suffix == ".py":
        analysis = analyse(folder, [path], [KILN])
        assert analysis.diagnostics == ()
        assert analysis.uses
        verdicts = apply(analysis.uses, {DISTRIBUTION: context})
    else:
        for name, text in example.beside:
            (folder / name).write_text(text, encoding="utf-8")
        context.version_checks = VersionChecks(PythonFiles({name: folder / name for name, _ in example.beside})).of
        installed = installations(Requirements(folder, (DISTRIBUTION, *COMPANIONS)), (DISTRIBUTION, *COMPANIONS))
        assert installed
        verdicts = apply_to_installations(installed, context)
    return list(judge(verdicts, {DISTRIBUTION: KILN.timeline}, {DISTRIBUTION: checked}))


@pytest.mark.parametrize(("each", "example"), BAD)
def test_a_bad_example_gives_exactly_what_it_says(tmp_path: Path, each: Rule, example: Example) -> None:
    found = [
        (f.location.line, KILN.timeline.describe(f.releases), f.outcome, f.parameter)
        for f in findings(tmp_path, example)
        if f.code == each.code and f.releases
    ]
    assert found == [(e.line, e.releases, e.outcome, e.parameter) for e in example.expected]


@pytest.mark.parametrize(("each", "example"), GOOD)
def test_a_good_example_gives_nothing_worse_than_a_note(tmp_path: Path, each: Rule, example: Example) -> None:
    found = findings(tmp_path, example)
    assert [f.message for f in found if f.code == each.code and f.severity is not Severity.NOTE] == []


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.code)
def test_a_rule_says_what_it_is(each: Rule) -> None:
    assert each.bad and each.good
    assert each.summary.endswith(".") and "\n" not in each.summary
    assert each.rationale.endswith(".") and each.hint.endswith(".")
    assert all(example.expected for example in each.bad)
    assert not any(example.expected for example in each.good)
    assert rule(each.code.lower()) is each
    assert rule(each.name) is each


def test_codes_and_names_are_distinct_and_in_order() -> None:
    codes = [each.code for each in RULES]
    assert codes == sorted(set(codes))
    assert len({each.name for each in RULES}) == len(RULES)
