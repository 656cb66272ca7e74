"""What holds for the repository as a whole: its documents say what is so, and its files stay small and portable."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

import driftwatch
from driftwatch.project.config import discover
from driftwatch.rules import RULES
from driftwatch.targets.target import Target
from tests.conftest import ROOT

WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "action.yml"]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
MAX_LINES = 500

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|farm|root|tmp|home)/[a-z]")
REGISTRY_HOST = re.compile(r"files\.pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org|download\.pytorch\.org")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def readme_command(marker: str) -> str:
    """The one line of the code block after ``<!-- command: marker -->``."""
    pattern = rf"<!-- command: {marker} -->\n```sh\n([^\n]+)\n```\n"
    (command,) = re.findall(pattern, text_of(ROOT / "README.md"))
    return str(command)


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY_HOST])
def test_no_file_names_a_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if path.suffix != ".jsonl"
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert offenders == []


def test_modules_stay_small() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(text_of(path).splitlines()) for path in tracked()}
    assert {name: n for name, n in lengths.items() if name.endswith(".py") and n > MAX_LINES} == {}


def test_every_module_says_what_it_is() -> None:
    silent = [
        path.relative_to(ROOT).as_posix()
        for path in tracked()
        if path.suffix == ".py"
        and "cases" not in path.parts
        and (text := text_of(path).lstrip())
        and not text.startswith(('"""', 'r"""'))
    ]
    assert silent == []


@pytest.mark.parametrize("marker", ["scan", "test"])
def test_the_readmes_commands_can_be_pasted(marker: str) -> None:
    command = readme_command(marker)
    subprocess.run(["bash", "-n", "-c", command], check=True)
    assert command.startswith("python3 -m venv .venv && ")


def test_ci_runs_the_readmes_test_command() -> None:
    """The script takes the command out of the README; this runs that part of it."""
    script = text_of(ROOT / ".ci" / "run")
    (extraction,) = re.findall(
        r"(?ms)^test_command=\$\(.*?^\s*inside \{ print \}' README\.md\)$", script, re.MULTILINE | re.DOTALL
    )
    result = subprocess.run(
        ["bash", "-c", f'{extraction}\nprintf "%s" "$test_command"'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == readme_command("test")


def test_the_version_is_the_same_everywhere() -> None:
    assert version("driftwatch") == driftwatch.__version__
    changelog = text_of(ROOT / "CHANGELOG.md")
    assert re.search(
        rf"(?m)^## \[{re.escape(driftwatch.__version__)}\] - (\d{{4}}-\d\d-\d\d|unreleased)$", changelog, re.MULTILINE
    )


def test_the_readme_lists_every_rule() -> None:
    listed = re.findall(r"(?m)^\| (DW\d+) \| ([\w-]+) \| (.+) \|$", text_of(ROOT / "README.md"))
    assert listed == [(rule.code, rule.name, rule.summary) for rule in RULES]


def test_the_readmes_configuration_is_valid(tmp_path: Path) -> None:
    (block,) = re.findall(r"(?s)```toml\n(.*?)```", text_of(ROOT / "README.md"))
    (tmp_path / "pyproject.toml").write_text(block, encoding="utf-8")
    config = discover(tmp_path)
    assert config.against == ("flashinfer-python>=0.6.0",)
    assert [Target.from_config(table, tmp_path).distribution for table in config.targets] == ["some-library"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_within_the_repository_lead_somewhere(name: str) -> None:
    document = text_of(ROOT / name)
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", document)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_map_names_every_room() -> None:
    """ARCHITECTURE.md mentions each package and module of the house at top level, and none that is not there."""
    document = text_of(ROOT / "ARCHITECTURE.md")
    rooms = {
        path.name if path.is_file() else f"{path.name}/"
        for path in (ROOT / "driftwatch").iterdir()
        if (path.suffix == ".py" and not path.name.startswith("__")) or (path / "__init__.py").exists()
    }
    assert {room for room in rooms if room not in document} == set()
    mentioned = set(re.findall(r"`((?:driftwatch|tests|snapshots)/[\w/.-]*)`", document))
    assert {name for name in mentioned if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(workflow: Path) -> None:
    used = re.findall(r"^\s*-?\s*uses:\s*(.+)$", text_of(workflow), re.MULTILINE)
    assert used
    assert [use for use in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v[\d.]+", use)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_no_expression_reaches_a_shell(workflow: Path) -> None:
    """Inputs go through the environment: an expression inside a script would be code of whoever wrote the input."""
    offenders: list[str] = []
    script_indent: int | None = None
    for line in text_of(workflow).splitlines():
        indent = len(line) - len(line.lstrip())
        if script_indent is not None and line.strip() and indent <= script_indent:
            script_indent = None
        if match := re.match(r"(\s*(?:- )?)run:", line):
            script_indent = len(match[1])
        if script_indent is not None and "${{" in line:
            offenders.append(line.strip())
    assert offenders == []


@pytest.mark.parametrize("workflow", WORKFLOWS[:-1], ids=lambda path: path.name)
def test_workflows_may_only_read(workflow: Path) -> None:
    text = text_of(workflow)
    assert re.search(r"^permissions:\n  contents: read\n(?! )", text, re.MULTILINE)
    assert "pull_request_target" not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
