"""The scan from end to end, against the example library of the rules."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.errors import ConfigError, InputError, UsageError
from driftwatch.findings.suppress import baseline_text
from driftwatch.flow.uses import Outcome
from driftwatch.project.config import Config, config_for, load
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from tests.kiln import history

KILN = history()
TIMELINE = KILN.timeline

BREAKS = """\
import kiln


def bake(pot):
    return kiln.fire(pot, 30, glaze="blue")
"""

GUARDED = """\
try:
    from kiln import raku
except ImportError:
    raku = None
"""


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def run(*paths: Path, base: Path | None = None, config: Config | None = None, **more: object) -> Report:
    request = ScanRequest(paths, (Watched(KILN),), config or Config(), base=base)
    return scan(replace(request, **more))  # type: ignore[arg-type]


def said(result: Report) -> list[tuple[str, int, str, str]]:
    return [
        (f.location.path, f.location.line, f.code, TIMELINE.describe(f.releases)) for f in result.findings if f.releases
    ]


def standing(result: Report) -> tuple[str, str, str]:
    (target,) = result.targets
    return tuple(TIMELINE.describe(s) for s in (target.compatible, target.degraded, target.broken))  # type: ignore[return-value]


def test_what_works_what_works_degraded_and_what_breaks(tmp_path: Path) -> None:
    result = run(write(tmp_path, app=BREAKS, old=GUARDED), against=("all",))
    assert said(result) == [
        ("app.py", 5, "DW101", "1.0"),
        ("old.py", 2, "DW201", "2.0 to 2.1"),
        ("old.py", 2, "DW301", "1.2"),
    ]
    assert standing(result) == ("1.1 to 2.1", "2.0 to 2.1", "1.0")
    assert [f.outcome for f in result.findings if f.code == "DW201"] == [Outcome.GUARDED]
    assert (result.files, result.analysed, result.failed) == (2, 2, True)
    assert result.targets[0].origin == "--against all"


def test_only_the_range_fails_the_run(tmp_path: Path) -> None:
    result = run(write(tmp_path, app=BREAKS))
    assert said(result) == []
    assert [TIMELINE.describe(f.beyond) for f in result.findings] == ["1.0"]
    assert standing(result) == ("2.1", "none", "none")
    assert not result.failed


def test_a_release_that_is_broken_is_not_degraded_as_well(tmp_path: Path) -> None:
    source = GUARDED + "\n\ndef f():\n    import kiln\n    return kiln.stack(1, 2, 3)\n"
    result = run(write(tmp_path, app=source), against=("all",))
    assert standing(result) == ("1.0 to 1.2", "none", "2.0 to 2.1")


def test_the_projects_own_requirement_is_the_range(tmp_path: Path) -> None:
    write(tmp_path, src__app=BREAKS)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pottery'\ndependencies = ['kiln==1.0']\n")
    result = run(tmp_path / "src")
    assert said(result) == [("src/app.py", 5, "DW101", "1.0")]
    assert result.targets[0].origin == "pottery's own requirement kiln==1.0 (pyproject.toml)"


def test_roots_with_different_requirements_are_each_held_against_their_own(tmp_path: Path) -> None:
    for name, pin in (("one", "1.0"), ("two", "2.0")):
        write(tmp_path / name, app=BREAKS)
        (tmp_path / name / "pyproject.toml").write_text(f"[project]\nname = '{name}'\ndependencies = ['kiln=={pin}']\n")
    write(tmp_path / "three", app="")
    result = run(Path("one"), Path("two"), Path("three"), base=tmp_path)
    assert said(result) == [("one/app.py", 5, "DW101", "1.0")]
    # What breaks the one is beyond what the other asks for.
    assert [(f.location.path, f.severity.value) for f in result.findings if not f.releases] == [("two/app.py", "note")]
    assert result.targets[0].origin == (
        "one's own requirement kiln==1.0 (one/pyproject.toml); two's own requirement kiln==2.0 (two/pyproject.toml)"
    )


def test_paths_of_several_roots_have_their_sources(tmp_path: Path) -> None:
    write(tmp_path / "a", app=BREAKS)
    write(tmp_path / "b", app="\n" + BREAKS)
    result = run(Path("a"), Path("b"), base=tmp_path, against=("all",))
    assert [f.location.path for f in result.findings] == ["a/app.py", "b/app.py"]
    for finding in result.findings:
        lines = result.sources.lines(finding.location.path)
        assert lines is not None
        assert "kiln.fire" in lines[finding.location.line - 1]
    assert result.sources.path("b/app.py") == tmp_path / "b/app.py"


def test_a_handler_in_another_root_keeps_its_path(tmp_path: Path) -> None:
    source = BREAKS.replace("    return", "    try:\n        return") + "    except Exception:\n        return None\n"
    write(tmp_path / "a", app=source)
    write(tmp_path / "b", app="")
    (finding,) = run(Path("a"), Path("b"), base=tmp_path, against=("all",)).findings
    assert (finding.outcome, finding.caught_at) == (Outcome.SILENT, ("a/app.py", 7))


def test_one_file_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "tools" / "bake"
    path.parent.mkdir()
    path.write_text(BREAKS)
    assert said(run(Path("tools/bake"), base=tmp_path, against=("all",))) == [("bake", 5, "DW101", "1.0")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\x00\x00kiln", "not Python: it contains null bytes"),
        (b"just some words\n", "not Python: invalid syntax"),
    ],
)
def test_a_named_file_that_is_no_python_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "picture").write_bytes(data)
    write(tmp_path, app=BREAKS)
    result = run(Path("picture"), Path("app.py"), base=tmp_path, against=("all",))
    assert said(result) == [("app.py", 5, "DW101", "1.0")]
    assert [d.path for d in result.diagnostics] == ["picture"]
    assert message.removeprefix("not Python: ") in result.diagnostics[0].message


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot scan 'nothing': no such file or folder"):
        run(Path("nothing"), base=tmp_path)


def test_the_result_does_not_depend_on_the_order_of_anything(tmp_path: Path) -> None:
    names = [f"m{i}" for i in range(12)]
    for name in names:
        write(tmp_path / name, app=BREAKS, old=GUARDED)
    paths = [Path(name) for name in names]
    first = run(*paths, base=tmp_path, against=("all",))
    random.Random(7).shuffle(paths)
    second = run(*paths, base=tmp_path, against=("all",))
    assert second.findings == first.findings
    assert second.targets == first.targets


# -- rules and suppression -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ({}, ["DW101", "DW201", "DW301"]),
        ({"select": ("DW1",)}, ["DW101"]),
        ({"select": ("unknown-keyword,DW2",)}, ["DW101", "DW201"]),
        ({"ignore": ("dw101",)}, ["DW201", "DW301"]),
        ({"select": ("DW1", "DW2"), "ignore": ("DW2",)}, ["DW101"]),
        ({"config": Config(ignore=("DW1",))}, ["DW201", "DW301"]),
        ({"config": Config(ignore=("DW1",)), "ignore": ("DW2",)}, ["DW101", "DW301"]),
        ({"config": Config(select=("DW1",)), "select": ("DW201",)}, ["DW201"]),
    ],
)
def test_rules_are_chosen_by_code_name_or_beginning(tmp_path: Path, more: dict[str, object], codes: list[str]) -> None:
    write(tmp_path, app=BREAKS, old=GUARDED)
    result = run(tmp_path, **{"against": ("all",), **more})  # type: ignore[arg-type]
    assert [finding.code for finding in result.findings] == codes


def test_a_rule_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        run(tmp_path, select=("unknown-keywrod",))
    assert caught.value.hint == "did you mean DW101 (unknown-keyword)?"
    with pytest.raises(ConfigError, match=r"x\.toml: there is no rule 'DW9'"):
        run(tmp_path, config=Config(path=Path("x.toml"), ignore=("DW9",)))


def test_severities_and_what_fails_the_run(tmp_path: Path) -> None:
    write(tmp_path, app=BREAKS)
    lower = Config(severity={"DW1": "note", "DW101": "warning"})
    result = run(tmp_path, config=lower, against=("all",))
    assert [f.severity.value for f in result.findings] == ["warning"]
    assert not result.failed
    assert standing(result)[2] == "none"
    assert run(tmp_path, config=lower, against=("all",), fail_on="warning").failed
    assert not run(tmp_path, against=("all",), fail_on="never").failed


def test_an_ignored_finding_breaks_nothing_and_a_baselined_one_still_does(tmp_path: Path) -> None:
    write(tmp_path, app=BREAKS)
    before = run(tmp_path, against=("all",))
    baseline = tmp_path / "baseline.json"
    baseline.write_text(baseline_text(before.findings, {"kiln": TIMELINE}))
    after = run(tmp_path, against=("all",), baseline=baseline)
    assert (after.findings, after.failed, standing(after)[2]) == ((), False, "1.0")
    write(tmp_path, app=BREAKS.replace('"blue")', '"blue")  # driftwatch: ignore[DW101]'))
    ignored = run(tmp_path, against=("all",))
    assert (ignored.findings, standing(ignored)[2], ignored.idle) == ((), "none", ())
    assert [each.by for each in ignored.suppressed] == ["comment"]


def test_an_ignore_that_is_not_needed_is_told(tmp_path: Path) -> None:
    write(tmp_path, app=BREAKS.replace('"blue")', '"blue")  # driftwatch: ignore[DW2]'))
    (idle,) = run(tmp_path, against=("all",)).idle
    assert (idle.path, idle.line) == ("app.py", 5)


def test_patterns_and_exclusions_are_relative_to_the_configuration(tmp_path: Path) -> None:
    write(tmp_path, src__app=BREAKS, src__gen__app=BREAKS, src__old__app=BREAKS)
    (tmp_path / "driftwatch.toml").write_text(
        "exclude = ['src/gen']\n[per-file-ignores]\n'src/old/*' = ['unknown-keyword']\n"
    )
    config = load(tmp_path / "driftwatch.toml")
    result = run(tmp_path / "src", config=config, against=("all",))
    assert said(result) == [("app.py", 5, "DW101", "1.0")]
    assert [each.finding.location.path for each in result.suppressed] == ["old/app.py"]


def test_one_configuration_for_all_paths(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, app="")
        (tmp_path / name / "driftwatch.toml").write_text("against = 'all'\n")
    assert config_for([Path("a"), Path("a/app.py")], tmp_path).against == ("all",)
    with pytest.raises(UsageError, match="the paths have different configurations"):
        config_for([Path("a"), Path("b")], tmp_path)


def test_no_target_is_no_scan(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no target"):
        scan(ScanRequest((tmp_path,), ()))


def test_what_a_target_knows_beside_its_signatures(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "advisories.toml").write_text(
        '[[advisory]]\nid = "cracks"\nsymbol = "kiln:cool"\nreleases = ">=2.0"\nseverity = "error"\n'
        'message = "pots crack in {releases}"\nhint = "pass slow=True"\nevidence = ["kiln#12"]\n'
        '[[advisory.when]]\nparameter = "slow"\nequals = [false]\n'
    )
    write(tmp_path / "src", app="import kiln\n\nkiln.cool(1, slow=False)\nkiln.cool(1, slow=True)\n")
    result = scan(ScanRequest((tmp_path / "src",), (Watched(KILN, data),), against=("all",)))
    (finding,) = result.findings
    assert (finding.location.line, finding.code, finding.name) == (3, "DW401", "cracks")
    assert finding.message == "pots crack in 2.0 to 2.1"
    assert standing(result)[2] == "2.0 to 2.1"
