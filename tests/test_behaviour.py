"""What begins and ends between two releases, as `diff` and `watch` tell it."""

from __future__ import annotations

import json

from driftwatch.report import diff as diff_report
from driftwatch.report import watch as watch_report
from driftwatch.report.styled import Look
from driftwatch.rules.advisories import load
from driftwatch.rules.behaviour import BehaviourChange, behaviour_changes
from driftwatch.snapshot.comparison.diff import diff
from driftwatch.snapshot.store.store import load as load_history
from driftwatch.snapshot.store.store import snapshot_of
from driftwatch.targets.target import shipped_targets
from driftwatch.watching.news import NewRelease, News
from tests.kiln import history, knowledge

KILN = history()


def changes(old: str, new: str) -> tuple[BehaviourChange, ...]:
    return behaviour_changes(knowledge(), KILN.timeline, old, new)


def test_what_holds_in_one_of_two_releases_begins_or_ends() -> None:
    (begins,) = changes("1.2", "2.0")
    assert (begins.begins, begins.name, begins.about) == (True, "cracks", ("kiln.cool",))
    assert begins.message == "pots crack when they cool fast in 2.0 to 2.1"
    (ends,) = changes("1.1", "1.2")
    assert (ends.begins, ends.name, ends.about) == (False, "thermometer", ("kiln",))
    assert ends.message == "importing it raises RuntimeError where there is no thermometer"
    assert [change.begins for change in changes("1.0", "2.1")] == [True, False]
    # The other way round, as a downgrade.
    assert [(change.begins, change.name) for change in changes("2.1", "1.0")] == [
        (True, "thermometer"),
        (False, "cracks"),
    ]
    assert changes("2.0", "2.1") == changes("1.0", "1.1") == ()


def test_a_diff_tells_it() -> None:
    old, new = snapshot_of(KILN, "1.0"), snapshot_of(KILN, "2.0")
    comparison = diff_report.Comparison(
        "kiln", "kiln", ("1.0", "2.0"), diff(old, new), new.symbols, changes("1.0", "2.0")
    )
    text = diff_report.render(comparison, Look())
    assert "  + kiln.cool  pots crack when they cool fast in 2.0 to 2.1\n     begins: cracks; see kiln#12\n" in text
    assert "  - kiln  importing it raises RuntimeError where there is no thermometer\n     ends: thermometer;" in text
    assert text.endswith("; 2 changes that no signature shows\n")
    form = json.loads(diff_report.render_json(comparison))
    assert form["behaviour"][0] == {
        "begins": True,
        "name": "cracks",
        "about": ["kiln.cool"],
        "message": "pots crack when they cool fast in 2.0 to 2.1",
        "releases": ["2.0", "2.1"],
        "evidence": ["kiln#12"],
    }


def test_the_watch_tells_it() -> None:
    release = NewRelease("2.0", "1.2", (), {}, behaviour=changes("1.2", "2.0"))
    news = [News("kiln", "kiln", "1.2", (release,))]
    assert "- begins: `kiln.cool`: pots crack when they cool fast in 2.0 to 2.1 (" in watch_report.render(news)
    (form,) = json.loads(watch_report.render_json(news))["targets"][0]["releases"]
    assert [each["name"] for each in form["behaviour"]] == ["cracks"]


def test_flashinfer_0_6_16() -> None:
    (target,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
    timeline = load_history(target.snapshots).timeline
    found = behaviour_changes(load(target.data, timeline), timeline, "0.6.15.post1", "0.6.16")
    assert {(change.begins, change.name) for change in found} >= {
        (True, "array-annotation"),
        (True, "mnnvl-without-vote"),
        (False, "backend-chosen-unasked"),
    }
