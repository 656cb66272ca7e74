"""Every command, run in a folder full of traps: nothing of the folder is executed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click import Group

from driftwatch.cli.program import program
from tests.cli_process import make_studio, run
from tests.test_cli_help import commands
from tests.traps import SEARCHED, SITE, Trapped, imported_by_driftwatch, set_traps, standard_library

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("scan",),
    ("scan", ".", "--format", "json", "--format", "html=../home/report.html"),
    ("scan", "--diff-base", "HEAD"),
    ("scan", "--fixes", "--format", "json"),
    ("fix", "--unsafe"),
    ("fix", "--unsafe", "--pins"),
    ("matrix", "."),
    ("deps",),
    ("cache",),
    ("baseline", "write", "-o", "-"),
    ("config",),
    ("history", "fire", "--target", "kiln"),
    ("diff", "1.0", "2.0", "--target", "kiln"),
    ("snapshot", "list"),
    ("snapshot", "add", "3.0=.@HEAD", "--target", "kiln"),
    ("snapshot", "add", "installed", "--target", "kiln"),
    ("snapshot", "verify", "--target", "kiln"),
    ("snapshot", "update", "--target", "kiln"),
    ("watch", "--code", ".", "--target", "kiln"),
    ("impact", "1.0", ".", "--base", "2.0", "--target", "kiln"),
    ("fleet", "fleet.txt"),
    ("snapshot", "remove", "3.0"),
    ("adapter", "write", "--target", "kiln"),
    ("adapter", "check", "adapter.py", "--target", "kiln"),
    ("doctor",),
    ("doctor", "--import"),
    ("doctor", "--format", "json"),
    ("explain", "DW101"),
    ("scan", "leads"),
    ("scan", "leads/pipe.py"),
    ("scan", "leads/requirements.txt"),
    ("config", "leads"),
    ("scan", "--baseline", "leads/setup.cfg"),
    ("scan", "--config", "leads/pyproject.toml"),
)


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Trapped:
    return set_traps(tmp_path_factory.mktemp("traps"))


def test_a_trap_is_set_for_every_module_that_is_imported() -> None:
    assert imported_by_driftwatch() - {*standard_library(), *SITE} <= {
        "atexit", "builtins", "distributed", "errno", "gc", "itertools", "marshal",
        "pypi_simple", "remotezip", "sys", "time", "tomli",
        "typing_extensions", "urllib3",
    }  # fmt: skip


def test_no_command_is_left_out() -> None:
    known = [path for path, command in commands(program) if not isinstance(command, Group)]
    assert [path for path in known if not any(command[: len(path)] == path for command in COMMANDS)] == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_of_the_folder_is_executed(command: tuple[str, ...], trapped: Trapped) -> None:
    """Also where the person's own PATH and PYTHONPATH lead there by an empty entry or a dot."""
    before = trapped.standing()
    result = trapped.run(*command, PIP_NO_INDEX="1", PATH=os.environ["PATH"] + SEARCHED)
    assert result.status in (0, 1, 2), result
    assert trapped.standing() == before, "and nothing is left where it does not belong"
    assert "driftwatch itself failed" not in result.err
    assert "trap" not in result.err
    assert trapped.sprung == []


def test_doctor_has_its_python_import_nothing_of_the_folder(trapped: Trapped) -> None:
    result = trapped.run("doctor")
    assert (result.status, result.err) == (0, "")
    assert trapped.sprung == []


def test_doctor_where_the_path_of_modules_leads_to_the_folder(trapped: Trapped, tmp_path: Path) -> None:
    from driftwatch.system.subprocesses import python_environment

    own = str(tmp_path)
    given = os.pathsep.join(["", own, ".", "lib", ""])
    assert python_environment({"PYTHONPATH": given, "A": "b"}) == {"PYTHONPATH": own, "A": "b"}
    assert python_environment({"PYTHONPATH": f".{os.pathsep}"}) == {}


def test_no_program_of_the_folder_is_started(trapped: Trapped) -> None:
    for path in (f".{os.pathsep}", os.pathsep, "bin"):
        result = trapped.run("doctor", PATH=path)
        assert "nvidia-smi is not there" in result.out
        result = trapped.run("scan", "--diff-base", "HEAD", PATH=path)
        assert result.status == 2
        assert "git is not installed" in result.err
    assert trapped.sprung == []


# -- a configuration that chooses where to write -----------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What is the person's own, beside the project."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("notes.txt", "history.jsonl", "releases.jsonl"):
        (folder / name).write_text("mine\n")
    return folder


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    folder = tmp_path / "studio"
    folder.mkdir()
    return make_studio(folder)


def untouched(outside: Path) -> bool:
    names = ["history.jsonl", "notes.txt", "releases.jsonl"]
    return sorted(path.name for path in outside.iterdir()) == names and all(
        (outside / name).read_text() == "mine\n" for name in names
    )


@pytest.mark.parametrize("way", ["up", "absolute", "link", "linked_folder", "default"])
def test_a_configured_baseline_is_not_written_outside_of_the_project(studio: Path, outside: Path, way: str) -> None:
    (studio / "link.json").symlink_to(outside / "notes.txt")
    (studio / "folder").symlink_to(outside)
    (studio / "driftwatch-baseline.json").symlink_to(outside / "notes.txt")
    baseline = {
        "up": "../outside/notes.txt",
        "absolute": str(outside / "new.json"),
        "link": "link.json",
        "linked_folder": "folder/new.json",
    }.get(way)
    configuration = (studio / "pyproject.toml").read_text()
    if baseline is not None:
        configuration = configuration.replace("[tool.driftwatch]", f'[tool.driftwatch]\nbaseline = "{baseline}"', 1)
    (studio / "pyproject.toml").write_text(configuration)
    result = run("baseline", "write", cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert "out of the project" in result.err
    assert "hint: name the file on the command line: --output FILE" in result.err
    assert untouched(outside)
    # Named by the person, any place is as good as another.
    assert run("baseline", "write", "-o", str(outside / "mine.json"), cwd=studio).status == 0
    assert (outside / "mine.json").is_file()


@pytest.mark.parametrize("way", ["up", "absolute", "linked_folder", "linked_file"])
def test_configured_snapshots_are_not_written_outside_of_the_project(studio: Path, outside: Path, way: str) -> None:
    (studio / "folder").symlink_to(outside)
    (studio / "halfway").mkdir()
    (studio / "halfway" / "history.jsonl").symlink_to(outside / "history.jsonl")
    place = {"up": "../outside", "absolute": str(outside), "linked_folder": "folder", "linked_file": "halfway"}[way]
    configuration = (studio / "pyproject.toml").read_text()
    (studio / "pyproject.toml").write_text(configuration.replace('"snapshots/kiln"', f'"{place}"'))
    for command in (("snapshot", "add", "3.0=."), ("snapshot", "update"), ("watch", "--code", ".")):
        result = run(*command, "--target", "kiln", cwd=studio, environment={"PIP_NO_INDEX": "1"})
        assert (result.status, result.out) == (2, "")
        assert "`snapshots` of kiln leads to" in result.err
        assert "out of the project" in result.err
        assert untouched(outside)


@pytest.mark.parametrize("name", ["studio.py", "./studio.py", "link.txt", "pyproject.toml", "script"])
def test_a_report_never_replaces_what_is_scanned(studio: Path, name: str) -> None:
    (studio / "link.txt").symlink_to("studio.py")
    (studio / "script").write_bytes((studio / "studio.py").read_bytes())
    before = {path: path.read_bytes() for path in studio.glob("*") if path.is_file()}
    for command in (
        ("scan", "studio.py", "script", "--output", name),
        ("scan", "studio.py", "script", "--format", f"html={name}"),
        ("matrix", "script", "--output", name),
    ):
        result = run(*command, cwd=studio)
        assert (result.status, result.out) == (2, "")
        assert "is a file that is scanned, and is not replaced\n" in result.err
    for command in (
        ("baseline", "write", "-o", name),
        ("config", "--output", name),
        ("snapshot", "list", "--output", name),
    ):
        if name != "script":
            assert "is a file that is scanned" in run(*command, cwd=studio).err
    assert {path: path.read_bytes() for path in studio.glob("*") if path.is_file()} == before


def test_an_adapter_may_replace_the_one_that_is_scanned(studio: Path) -> None:
    (studio / "adapter.py").write_text("# the one of last week\n")
    assert run("adapter", "write", "-o", "adapter.py", "--target", "flashinfer-python", cwd=studio).status == 0
    assert len((studio / "adapter.py").read_text()) > 1000
