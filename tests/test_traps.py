"""Every command, run in a folder full of traps: nothing of the folder is executed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from driftwatch.cli.program import Program, program
from tests.traps import SEARCHED, SITE, Trapped, imported_by_driftwatch, set_traps, standard_library

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("scan",),
    ("scan", ".", "--format", "json", "--format", "html=../home/report.html", "--jobs", "2"),
    ("scan", "--diff-base", "HEAD"),
    ("matrix", "."),
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
    ("adapter", "write", "--target", "kiln"),
    ("adapter", "check", "adapter.py", "--target", "kiln"),
    ("doctor",),
    ("doctor", "--import"),
    ("doctor", "--format", "json"),
    ("explain", "DW101"),
)


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Trapped:
    return set_traps(tmp_path_factory.mktemp("traps"))


def test_a_trap_is_set_for_every_module_that_is_imported() -> None:
    assert imported_by_driftwatch() - {*standard_library(), *SITE} <= {
        "builtins", "errno", "gc", "itertools", "marshal",
        "pypi_simple", "remotezip", "sys", "time", "tomli", "urllib3",
    }  # fmt: skip


def test_no_command_is_left_out() -> None:
    assert isinstance(program, Program)
    assert {command[0] for command in COMMANDS} == set(program.commands) | set(program.list_commands(None))  # type: ignore[arg-type]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_of_the_folder_is_executed(command: tuple[str, ...], trapped: Trapped) -> None:
    """Also where the person's own PATH and PYTHONPATH lead there by an empty entry or a dot."""
    result = trapped.run(*command, PIP_NO_INDEX="1", PATH=os.environ["PATH"] + SEARCHED)
    assert result.status in (0, 1, 2), result
    assert "driftwatch itself failed" not in result.err
    assert "trap" not in result.err
    assert trapped.sprung == []


def test_doctor_has_its_python_import_nothing_of_the_folder(trapped: Trapped) -> None:
    result = trapped.run("doctor")
    assert (result.status, result.err) == (0, "")
    assert trapped.sprung == []


def test_doctor_where_the_path_of_modules_leads_to_the_folder(trapped: Trapped, tmp_path: Path) -> None:
    from driftwatch.children import python_environment

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
