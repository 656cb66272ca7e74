"""``driftwatch scan`` as a process: exit statuses, bad input, ranges, formats, files, hostile names."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from tests.cli_process import CONFIGURATION, make_studio, run

SCHEMA = json.loads(resources.files("driftwatch.report").joinpath("schema_v1.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("made"))


@pytest.fixture
def studio(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "studio")


def configure(studio: Path, lines: str) -> None:
    text = CONFIGURATION.replace("[tool.driftwatch]\n", f"[tool.driftwatch]\n{lines}\n")
    (studio / "pyproject.toml").write_text(text)


# -- the report and the exit status --------------------------------------------------------------------------------


def test_findings(studio: Path) -> None:
    result = run("scan", cwd=studio)
    assert result.status == 1
    assert result.err == ""
    assert "\x1b" not in result.out
    lines = result.out.splitlines()
    assert lines[0] == "studio.py:8:16: error DW101 unknown-keyword: `fire` does not take `glaze` in 1.0"
    assert (
        "  = then   SILENT: the `except Exception` at line 9 takes the TypeError and the program goes on without it"
        in lines
    )
    assert "studio.py:14:12: error DW201 missing-name: `kiln` has no `raku` in 2.0" in lines
    assert "  works with    1.1" in lines
    assert "  breaks with   1.0, 2.0 (2 releases), silent in 1 of them" in lines
    assert any(line.startswith("2 errors (1 silent) in 1 file (1 analysed, ") for line in lines)


@pytest.mark.parametrize("names", [[], ["odd.py"]])
def test_what_python_thinks_of_the_code_is_not_told(studio: Path, names: list[str]) -> None:
    (studio / "odd.py").write_text(
        'import kiln\n\nPATTERN = "\\d"\n\n\ndef f(x):\n    return kiln.fire("\\d", x is 1)\n'
    )
    for filters in ("default", "error"):
        result = run("scan", "--against", "kiln==2.0", *names, cwd=studio, environment={"PYTHONWARNINGS": filters})
        assert result.err == ""
        assert "Warning" not in result.out


def test_nothing_to_report(studio: Path) -> None:
    result = run("scan", "--against", "kiln==1.1", cwd=studio)
    assert result.status == 0
    assert "kiln (kiln): checked 1.1 (--against kiln==1.1)" in result.out
    assert "what a downgrade would cost: 1 note, which --beyond lists\n" in result.out
    listed = run("scan", "--against", "kiln==1.1", "--beyond", cwd=studio)
    assert "what a downgrade would break:\nstudio.py:8:16: note DW101" in listed.out


@pytest.mark.parametrize(("fail_on", "status"), [("error", 1), ("warning", 1), ("never", 0)])
def test_fail_on(studio: Path, fail_on: str, status: int) -> None:
    assert run("scan", "--fail-on", fail_on, cwd=studio).status == status


def test_select_and_ignore(studio: Path) -> None:
    result = run("scan", "--select", "DW101", cwd=studio)
    assert "DW101" in result.out and "DW201" not in result.out
    result = run("scan", "--ignore", "DW1,missing-name", cwd=studio)
    assert result.status == 0
    assert "DW" not in result.out


def test_declared_dependency_is_the_range(studio: Path) -> None:
    (studio / "pyproject.toml").write_text(CONFIGURATION.replace("kiln>=1.0", "kiln>=1.1,<2"))
    result = run("scan", cwd=studio)
    assert result.status == 0
    assert "kiln>=1.1,<2 (pyproject.toml)" in result.out.replace("<2,>=1.1", ">=1.1,<2")


def test_baseline(studio: Path) -> None:
    report = json.loads(run("scan", "--format", "json", cwd=studio).out)
    entries = [
        {key: finding[key] for key in ("fingerprint", "code", "path", "symbol", "releases")}
        for finding in report["findings"]
    ]
    (studio / "baseline.json").write_text(json.dumps({"schema": 2, "entries": entries}))
    result = run("scan", "--baseline", "baseline.json", cwd=studio)
    assert (result.status, result.err) == (0, ""), result
    assert "0 errors" in result.out and "2 suppressed" in result.out


def test_an_inline_ignore_that_is_not_needed_is_told(studio: Path) -> None:
    (studio / "studio.py").write_text("import kiln  # driftwatch: ignore[DW101] not yet\n\nkiln.fire(1, 2)\n")
    result = run("scan", cwd=studio)
    assert result.status == 0
    assert "studio.py:1: " in result.out


# -- formats and files ---------------------------------------------------------------------------------------------


def test_json_is_valid_and_always_the_same(studio: Path) -> None:
    first = run("scan", "--format", "json", cwd=studio)
    assert first.status == 1
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(first.out))
    again = run("scan", "--format", "json", "--no-cache", ".", cwd=studio, environment={"COLUMNS": "40"})
    assert again.out == first.out
    elsewhere = shutil.copytree(studio, studio.parent / "elsewhere")
    assert run("scan", "--format", "json", str(elsewhere)).out == first.out


def test_output_is_written_whole_and_the_summary_told(studio: Path) -> None:
    result = run("scan", "--format", "json", "--output", "report.json", cwd=studio)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("2 errors (1 silent) in 1 file")
    assert json.loads((studio / "report.json").read_text())["summary"]["errors"] == 2
    assert not list(studio.glob(".report*"))


def test_output_that_cannot_be_written(studio: Path) -> None:
    result = run("scan", "--output", "missing/report.txt", cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err == "error: cannot write 'missing/report.txt': No such file or directory\n"


def test_output_to_a_device(studio: Path) -> None:
    assert run("scan", "--output", "/dev/stdout", cwd=studio).out.startswith("studio.py:8:16: error")


def test_colour_when_forced(studio: Path) -> None:
    forced = run("scan", cwd=studio, environment={"FORCE_COLOR": "1"})
    assert "\x1b[1;31merror" in forced.out
    assert "\x1b" not in run("scan", cwd=studio, environment={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "error: cannot scan 'missing': no such file or folder"),
        (["--against", "kiln==1.5"], "error: release 1.5 of kiln is not known"),
        (["--against", "kiln>>1"], "error: 'kiln>>1' is not a version specifier"),
        (["--select", "DW999"], "error: there is no rule 'DW999'"),
        (["--baseline", "missing.json"], "error: "),
        (["--config", "missing.toml"], "error: cannot read missing.toml: No such file or directory"),
        (["empty"], "error: there is no Python file in 'empty'"),
        (["pypi:sglang=0.5"], "error: 'pypi:sglang=0.5' does not name a release"),
    ],
)
def test_one_clear_sentence(studio: Path, arguments: list[str], message: str) -> None:
    (studio / "empty").mkdir()
    result = run("scan", *arguments, cwd=studio)
    assert (result.status, result.out) == (2, "")
    first, *hints = result.err.splitlines()
    assert first.startswith(message)
    assert all(hint.startswith("hint: ") for hint in hints) and len(hints) <= 1


@pytest.mark.parametrize("arguments", [["--format", "xml"], ["--nonsense"]])
def test_usage_errors(studio: Path, arguments: list[str]) -> None:
    result = run("scan", *arguments, cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert "Error: " in result.err


def test_an_unknown_key_in_the_configuration(studio: Path) -> None:
    configure(studio, 'agianst = [">=1.0"]')
    result = run("scan", cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        f"error: {studio / 'pyproject.toml'}:7: unknown key 'agianst' in [tool.driftwatch]\n"
        "hint: did you mean 'against'?\n"
    )


@pytest.mark.parametrize("damage", ["garbage", "half", "unknown release", "gone"])
def test_a_damaged_snapshot(studio: Path, damage: str) -> None:
    path = studio / "snapshots" / "kiln" / "history.jsonl"
    text = path.read_text()
    if damage == "garbage":
        path.write_text("\x00\x01")
    elif damage == "half":
        path.write_text(text[: len(text) // 2])
    elif damage == "unknown release":
        path.write_text(text.replace('"since": "1.1"', '"since": "9"'))
    else:
        path.unlink()
    result = run("scan", cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"error: {path}")
    assert "Traceback" not in result.err


def test_an_index_that_cannot_be_reached(studio: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://user:secret@127.0.0.1:9/simple", "UV_INDEX_URL": "", "PIP_RETRIES": "0"}
    result = run("scan", "pypi:sglang==0.5.12", cwd=studio, environment=nowhere)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert "secret" not in result.err and "Traceback" not in result.err
    assert run("scan", cwd=studio, environment=nowhere).status == 1, "the recorded snapshots serve"


def test_a_file_that_is_not_python_alone_is_nothing_useful(studio: Path) -> None:
    (studio / "readme.txt").write_text("this is (not Python\n")
    result = run("scan", "readme.txt", cwd=studio)
    assert result.status == 2
    assert result.out.startswith("readme.txt:1: not analysed: ")
    assert "works with" not in result.out


def test_a_file_that_is_not_python_does_not_harm_the_rest(studio: Path) -> None:
    (studio / "broken.py").write_text("import kiln\nkiln.fire(\n")
    (studio / "binary.py").write_bytes(b"import kiln\n\x00\xff\xfe")
    result = run("scan", cwd=studio)
    assert result.status == 1
    assert "broken.py:2: not analysed: " in result.out or "broken.py:3: not analysed: " in result.out
    assert "binary.py" in result.out
    assert "2 errors (1 silent) in 3 files" in result.out
    assert "2 not analysed in full" in result.out


# -- hostile input -------------------------------------------------------------------------------------------------


HOSTILE_NAMES = [
    "<script>alert(1)<",
    "a\n::error::b",
    "\x1b[2J",
    "ü 'q\" %0A",
    os.fsdecode(b"\xff"),
    "--help",
    "[bold]",
]


@pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be made there")
@pytest.mark.parametrize("output_format", ["text", "json", "github"])
def test_hostile_names_are_harmless(studio: Path, output_format: str) -> None:
    names = {f"{name}.py" for name in HOSTILE_NAMES}
    for name in names:
        (studio / name).write_text((studio / "studio.py").read_text())
    (studio / "studio.py").unlink()
    result = run("scan", "--format", output_format, cwd=studio, environment={"PYTHONUTF8": "1"})
    assert result.status == 1, result.err
    assert all(character == "\n" or character.isprintable() for character in result.out)
    if output_format == "json":
        assert {finding["path"] for finding in json.loads(result.out)["findings"]} == names
    elif output_format == "github":
        commands = [line for line in result.out.splitlines() if line.startswith("::")]
        assert len(commands) == 2 * len(names)
        assert all(line.startswith("::error file=") for line in commands)


def test_hostile_source_is_harmless(studio: Path) -> None:
    evil = 'kiln.raku("\x1b[2J\x9b31m\u202e[bold red]")  # \x1b]0;owned\x07\n'
    (studio / "studio.py").write_text("import kiln\n" + evil, encoding="utf-8")
    for environment in ({}, {"FORCE_COLOR": "1"}):
        result = run("scan", cwd=studio, environment=environment)
        assert r"\x1b[2J\x9b31m\u202e[bold red]" in result.out
        assert "\x1b[2J" not in result.out and "\x07" not in result.out and "\x9b" not in result.out


def test_an_ascii_terminal_gets_ascii(studio: Path) -> None:
    (studio / "studio.py").write_text('import kiln\nkiln.raku("Ton é 粘土")\n', encoding="utf-8")
    result = run("scan", cwd=studio, environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.status == 1
    assert r"Ton \xe9 \u7c98\u571f" in result.out


def test_what_is_for_programs_is_utf_8_whatever_the_terminal_has(studio: Path) -> None:
    (studio / "studio.py").write_text('import kiln\nkiln.raku("Ton é 粘土")\n', encoding="utf-8")
    for form in ("json", "sarif", "junit", "html", "markdown", "github"):
        script = f"scan --format {form}={form}.txt".split()
        assert run(*script, cwd=studio).status == 1
        written = (studio / f"{form}.txt").read_bytes()
        encoding = "utf-16" if form == "junit" else "latin-1"
        printed = run("scan", "--format", form, cwd=studio, environment={"PYTHONIOENCODING": encoding})
        assert printed.out.encode("utf-8", "surrogateescape") == written, form


@pytest.mark.parametrize("command", ["scan", "config", "baseline write"])
def test_a_configured_range_of_a_library_that_is_no_target(studio: Path, command: str) -> None:
    text = (studio / "pyproject.toml").read_text()
    (studio / "pyproject.toml").write_text(
        text.replace("[tool.driftwatch]\n", '[tool.driftwatch]\nagainst = "kilm>=1"\n')
    )
    result = run(*command.split(), cwd=studio)
    assert (result.status, result.out) == (2, "")
    place = (studio / "pyproject.toml").resolve()
    assert result.err == f"error: {place}: 'kilm' in 'kilm>=1' is no target\nhint: did you mean kiln?\n"
