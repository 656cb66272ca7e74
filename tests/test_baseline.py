"""A baseline from end to end: written by the program, hiding what is known, and giving it back when that changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli_process import CONFIGURATION, LIBRARY, STUDIO, make_studio, run

KNOWN = "driftwatch-baseline.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("made"))


@pytest.fixture
def studio(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "studio")


def configure(studio: Path, lines: str) -> None:
    text = CONFIGURATION.replace("[tool.driftwatch]\n", f"[tool.driftwatch]\n{lines}\n")
    (studio / "pyproject.toml").write_text(text)


def new_release(studio: Path, version: str, source: str) -> None:
    place = studio / ".kiln" / version
    place.mkdir(parents=True)
    (place / "kiln.py").write_text(source)
    assert run("snapshot", "add", "--target", "kiln", f"{version}=.kiln/{version}", cwd=studio).status == 0
    shutil.rmtree(studio / ".kiln")


def findings(studio: Path, *arguments: str) -> list[tuple[str, int, list[str]]]:
    report = json.loads(run("scan", "--format", "json", *arguments, cwd=studio).out)
    return [(f["code"], f["line"], f["releases"]) for f in report["findings"] if f["severity"] != "note"]


def test_what_is_written_hides_what_is_there(studio: Path) -> None:
    written = run("baseline", "write", cwd=studio)
    assert (written.status, written.out) == (0, "")
    assert written.err == f"{KNOWN}: 2 findings taken as known\n"
    entries = json.loads((studio / KNOWN).read_text())["entries"]
    assert [(e["code"], e["path"], e["symbol"], e["releases"]) for e in entries] == [
        ("DW101", "studio.py", "kiln.fire", ["1.0"]),
        ("DW201", "studio.py", "kiln.raku", ["2.0"]),
    ]
    assert "line" not in "".join(entries[0])
    result = run("scan", "--baseline", KNOWN, cwd=studio)
    assert (result.status, result.err) == (0, "")
    assert "error DW" not in result.out
    assert "breaks with   1.0, 2.0" in result.out, "what is known is still true"


def test_an_entry_outlives_edits_and_a_new_call_does_not_hide_behind_it(studio: Path) -> None:
    run("baseline", "write", cwd=studio)
    (studio / "studio.py").write_text("# one\n# two\n" + STUDIO + "\n\ndef more(pot):\n    return kiln.fire(pot)\n")
    assert findings(studio, "--baseline", KNOWN) == [("DW102", 20, ["1.0", "1.1", "2.0"])]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("\n\ndef more(pot):\n    return kiln.raku(pot)\n", 18),
        ("\n\nclass Finisher:\n    def finish(self, pot):\n        return kiln.raku(pot)\n", 19),
    ],
)
def test_a_new_call_elsewhere_does_not_take_the_place_of_one_that_is_gone(studio: Path, code: str, line: int) -> None:
    run("baseline", "write", cwd=studio)
    without = STUDIO.replace("    return kiln.raku(pot)\n", "    return pot\n")
    (studio / "studio.py").write_text(without)
    assert findings(studio, "--baseline", KNOWN) == []
    (studio / "studio.py").write_text(without + code)
    assert findings(studio, "--baseline", KNOWN) == [("DW201", line, ["2.0"])]


def test_another_call_in_the_same_function_does_not_either(studio: Path) -> None:
    run("baseline", "write", cwd=studio)
    other = STUDIO.replace("kiln.fire(pot, **options)", 'kiln.fire(pot, 40, glaze="red")')
    (studio / "studio.py").write_text(other)
    assert findings(studio, "--baseline", KNOWN) == [("DW101", 8, ["1.0"])]


MOVED = """\
import kiln


def finish(
    pot,
):
    # fired once more
    return kiln . raku(
        pot,
    )


def bake(pot):
    options = {'minutes': 30}
    options['glaze'] = 'blue'
    try:
        return kiln.fire(
            pot,  # clay
            **options,
        )
    except (Exception,):
        return None
"""


def test_code_that_moves_or_is_laid_out_anew_stays_known(studio: Path) -> None:
    run("baseline", "write", cwd=studio)
    (studio / "studio.py").write_text(MOVED)
    assert findings(studio) == [("DW201", 8, ["2.0"]), ("DW101", 17, ["1.0"])]
    assert findings(studio, "--baseline", KNOWN) == []


def test_of_calls_that_are_alike_as_many_are_known_as_were_there(studio: Path) -> None:
    twice = STUDIO.replace("    return kiln.raku", "    kiln.raku(pot)\n    return kiln.raku")
    (studio / "studio.py").write_text(twice)
    run("baseline", "write", cwd=studio)
    assert findings(studio, "--baseline", KNOWN) == []
    (studio / "studio.py").write_text(twice.replace("    return kiln.raku", "    kiln.raku(pot)\n    return kiln.raku"))
    assert [(code, releases) for code, _, releases in findings(studio, "--baseline", KNOWN)] == [("DW201", ["2.0"])]


def test_a_baseline_of_an_earlier_schema_is_an_input_error(studio: Path) -> None:
    run("baseline", "write", cwd=studio)
    old = (studio / KNOWN).read_text().replace('"schema": 2', '"schema": 1')
    (studio / KNOWN).write_text(old)
    result = run("scan", "--baseline", KNOWN, cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(
        f"error: the baseline {KNOWN} has schema 1, not 2\nhint: an earlier driftwatch wrote it"
    )
    assert run("baseline", "write", cwd=studio).status == 0
    assert run("scan", "--baseline", KNOWN, cwd=studio).status == 0


def test_an_old_finding_that_breaks_in_a_new_release_comes_back(studio: Path) -> None:
    run("baseline", "write", cwd=studio)
    new_release(studio, "2.1", "def fire(pot, minutes):\n    return pot\n")
    # `glaze` is gone again, `raku` still is.
    assert findings(studio, "--baseline", KNOWN) == [
        ("DW101", 8, ["1.0", "2.1"]),
        ("DW201", 14, ["2.0", "2.1"]),
    ]
    assert run("baseline", "write", cwd=studio).status == 0
    assert findings(studio, "--baseline", KNOWN) == []


def test_a_release_that_changes_nothing_brings_nothing_back(studio: Path) -> None:
    run("baseline", "write", cwd=studio)
    new_release(studio, "1.2", LIBRARY["1.1"])
    assert findings(studio, "--baseline", KNOWN) == []


def test_a_stale_entry_is_told(studio: Path) -> None:
    configure(studio, f'baseline = "{KNOWN}"')
    run("baseline", "write", cwd=studio)
    (studio / "studio.py").write_text(STUDIO.replace('    options["glaze"] = "blue"\n', ""))
    result = run("scan", cwd=studio)
    assert result.status == 0
    assert "DW101 kiln.fire in studio.py is in the baseline and is gone" in result.out


def test_part_of_a_scan_does_not_take_the_rest_for_gone(studio: Path) -> None:
    (studio / "more.py").write_text("import kiln\n\nkiln.raku(1)\n")
    run("baseline", "write", cwd=studio)
    for part in (["more.py"], ["--select", "DW1"], ["--ignore", "DW201"]):
        result = run("scan", "--baseline", KNOWN, *part, cwd=studio)
        assert (result.status, "is gone" in result.out) == (0, False), result.out
    (studio / "more.py").unlink()
    assert (
        "DW201 kiln.raku in more.py is in the baseline and is gone" in run("scan", "--baseline", KNOWN, cwd=studio).out
    )


def test_the_configured_file_is_the_one_that_is_written(studio: Path) -> None:
    configure(studio, 'baseline = "known/here.json"')
    (studio / "known").mkdir()
    assert run("baseline", "write", "--config", "pyproject.toml", cwd=studio).err == (
        "known/here.json: 2 findings taken as known\n"
    )
    assert run("scan", cwd=studio).status == 0
    # The file that is there hides nothing from the one that replaces it.
    before = (studio / "known" / "here.json").read_bytes()
    run("baseline", "write", cwd=studio)
    assert (studio / "known" / "here.json").read_bytes() == before


def test_it_can_be_printed_or_written_elsewhere(studio: Path) -> None:
    printed = run("baseline", "write", "-o", "-", cwd=studio)
    assert (printed.status, printed.err) == (0, "")
    assert run("baseline", "write", "-o", "there.json", cwd=studio).status == 0
    assert (studio / "there.json").read_text() == printed.out


def test_only_the_releases_that_are_checked_are_known(studio: Path) -> None:
    run("baseline", "write", "--against", "kiln<2", cwd=studio)
    entries = json.loads((studio / KNOWN).read_text())["entries"]
    assert [(e["code"], e["releases"]) for e in entries] == [("DW101", ["1.0"])]
    assert findings(studio, "--baseline", KNOWN) == [("DW201", 14, ["2.0"])]


def test_nothing_to_take_is_an_error_not_an_empty_file(studio: Path) -> None:
    (studio / "empty").mkdir()
    result = run("baseline", "write", "empty", cwd=studio)
    assert result.status == 2
    assert result.err == "error: there is no Python file in 'empty'\n"
    assert not (studio / KNOWN).exists()


# -- comments ----------------------------------------------------------------------------------------------------------


def test_a_comment_holds_until_its_release_is_checked(studio: Path) -> None:
    ignored = STUDIO.replace(
        "return kiln.raku(pot)", "return kiln.raku(pot)  # driftwatch: ignore[DW201] until=2.0 until we leave it"
    )
    (studio / "studio.py").write_text(ignored)
    assert findings(studio, "--against", "kiln<2", "--select", "DW201") == []
    result = run("scan", "--select", "DW201", cwd=studio)
    assert result.status == 1
    assert "studio.py:14:12: error DW201" in result.out
    assert "this ignore has ended: release 2.0 is checked" in result.out


def test_a_comment_that_ignores_nothing_is_told(studio: Path) -> None:
    (studio / "studio.py").write_text(STUDIO.replace("import kiln\n", "import kiln  # driftwatch: ignore[DW202]\n"))
    assert "this ignore is not needed: nothing here is reported as DW202" in run("scan", cwd=studio).out


def test_what_a_comment_ignores_gets_no_entry(studio: Path) -> None:
    (studio / "studio.py").write_text(
        STUDIO.replace("return kiln.raku(pot)", "return kiln.raku(pot)  # driftwatch: ignore")
    )
    run("baseline", "write", cwd=studio)
    assert [e["code"] for e in json.loads((studio / KNOWN).read_text())["entries"]] == ["DW101"]


# -- config ------------------------------------------------------------------------------------------------------------


def test_config_says_what_applies_and_where_from(studio: Path) -> None:
    configure(studio, f'ignore = ["DW3"]\nfail-on = "warning"\nbaseline = "{KNOWN}"\n')
    shown = json.loads(run("config", "--format", "json", cwd=studio).out)
    file = str((studio / "pyproject.toml").resolve())
    assert shown["file"] == file
    assert shown["settings"]["ignore"] == {"values": ["DW3"], "source": f"{file}:7"}
    assert shown["settings"]["fail-on"] == {"values": ["warning"], "source": f"{file}:8"}
    assert shown["settings"]["select"] == {"values": [], "source": "default"}
    kiln = next(target for target in shown["targets"] if target["distribution"] == "kiln")
    assert (kiln["known"], kiln["checked"], kiln["source"]) == (["1.0", "1.1", "2.0"],) * 2 + (f"{file}:12",)
    assert "kiln>=1.0 (pyproject.toml)" in kiln["reason"]
    flashinfer = next(target for target in shown["targets"] if target["module"] == "flashinfer.comm")
    assert flashinfer["source"] == "comes with driftwatch"
    text = run("config", cwd=studio).out
    assert f"ignore            DW3   {file}:7\n" in text
    assert "checked  1.0 to 2.0, 3 releases   studio's own requirement" in text


def test_config_is_that_of_the_path(studio: Path, tmp_path: Path) -> None:
    shown = json.loads(run("config", str(studio), "--format", "json", cwd=tmp_path).out)
    assert shown["file"] == str((studio / "pyproject.toml").resolve())
    assert run("config", "nowhere", cwd=tmp_path).status == 2


def test_config_survives_snapshots_that_cannot_be_read(studio: Path) -> None:
    shutil.rmtree(studio / "snapshots")
    result = run("config", cwd=studio)
    assert result.status == 0
    assert "does not exist" in result.out


def test_a_misspelt_key_has_a_suggestion(studio: Path) -> None:
    configure(studio, 'base-line = "x"')
    result = run("config", cwd=studio)
    assert result.status == 2
    assert "unknown key 'base-line'" in result.err and "did you mean 'baseline'?" in result.err


def test_the_key_of_another_tool_is_not_taken_for_ours(studio: Path) -> None:
    before = (studio / "pyproject.toml").read_text()
    (studio / "pyproject.toml").write_text(
        '[tool.other]\nignore = ["x"]\n\n' + before.replace("[tool.driftwatch]\n", "[tool.driftwatch]\nignore = []\n")
    )
    number = (studio / "pyproject.toml").read_text().splitlines().index("ignore = []") + 1
    shown = json.loads(run("config", "--format", "json", cwd=studio).out)
    assert shown["settings"]["ignore"]["source"].endswith(f"pyproject.toml:{number}")
