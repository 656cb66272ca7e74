"""A project that was written to do harm: every file of it is told in a sentence, or is read, and nothing takes long."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.cli.program import execute
from tests.cli_process import make_studio
from tests.hostile_files import DECLARATIONS, PATTERNS, SETTINGS, SOURCES, TABLES, damaged_stores

ACTS = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202d\u202e\u2066\u2067"} - {"\n", "\t"}
"""What a terminal would act on."""

Scan = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def scan(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Scan:
    """Scans the project in this process; whatever it holds, the program ends as it should."""
    monkeypatch.chdir(made)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = execute(["scan", "--no-cache", "--unresolved", *arguments], {})
        out, err = capsys.readouterr()
        assert status in (0, 1, 2)
        assert "itself failed" not in err
        assert not ACTS & set(out + err)
        assert all(len(line) <= 600 for line in err.splitlines())
        return status, out, err

    return run


@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_is_analysed_or_told(kind: str, made: Path, scan: Scan) -> None:
    path = made / "bad.py"
    for name, content in SOURCES[kind].items():
        path.write_bytes(content)
        status, out, _ = scan("--format", "json")
        path.unlink()
        assert status == 1, name  # what is wrong with one file hides nothing of the others
        report = json.loads(out)
        assert [f["code"] for f in report["findings"] if f["path"] == "studio.py"] == ["DW101", "DW201"], name
        told = {each["path"] for each in report["diagnostics"]}
        assert told <= {"bad.py"}
        if told and b"kiln" in content:
            assert "bad.py" in {each["path"] for each in report["unresolved"]}, name


@pytest.mark.parametrize("kind", SOURCES)
def test_beside_a_source_the_rest_is_fixed(
    kind: str, made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made)
    paths = [made / f"bad_{i}.py" for i in range(len(SOURCES[kind]))]
    for path, content in zip(paths, SOURCES[kind].values(), strict=True):
        path.write_bytes(content)
    status = execute(["fix", "--unsafe", "--no-cache"], {})
    out, err = capsys.readouterr()
    for path in paths:
        path.unlink()
    assert status == 1
    assert "itself failed" not in err
    assert not ACTS & set(out + err)
    assert '+    if _FIRE_TAKES_GLAZE:\n+        options["glaze"] = "blue"\n' in out


@pytest.mark.parametrize("kind", [SETTINGS, TABLES, PATTERNS], ids=["settings", "tables", "patterns"])
def test_a_configuration_applies_or_is_told(kind: dict[str, bytes], made: Path, scan: Scan) -> None:
    path = made / "pyproject.toml"
    before = path.read_bytes()
    for content in kind.values():
        path.write_bytes(content)
        status, out, err = scan()
        assert (status == 2) == (err.startswith("error: ")), err
        assert status != 2 or not out
    path.write_bytes(before)


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_is_read_or_told(name: str, made: Path, scan: Scan) -> None:
    project = made / "pyproject.toml"
    before = project.read_text()
    project.write_text(before.replace('dependencies = ["kiln>=1.0"]\n', ""))
    path = made / name
    for content in DECLARATIONS[name].values():
        path.write_bytes(content.encode())
        status, _, err = scan(*(["--baseline", name] if name == "baseline.json" else []))
        assert (status == 2) == (err.startswith("error: ")), err
    path.unlink()
    project.write_text(before)


def test_a_stored_history_is_read_or_told(made: Path, scan: Scan) -> None:
    folder = made / "snapshots" / "kiln"
    whole = {path: path.read_bytes() for path in folder.iterdir()}
    for damaged, text in list(damaged_stores(folder))[::4]:
        damaged.write_text(text)
        status, _, err = scan()
        assert (status == 2) == (err.startswith("error: ")), err
        damaged.write_bytes(whole[damaged])
    assert scan()[0] == 1


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "setup.cfg", "requirements.txt", "Dockerfile", "bad.py", "PKG-INFO"]
)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "circle", "nowhere"])
def test_what_is_no_file_is_not_waited_for(kind: str, name: str, made: Path, scan: Scan) -> None:
    path = made / name
    before = path.read_bytes() if path.is_file() else None
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "circle": name, "nowhere": "missing"}[kind])
    try:
        scan()
    finally:
        path.rmdir() if kind == "folder" else path.unlink()
        if before is not None:
            path.write_bytes(before)


def test_how_many_there_are() -> None:
    """So that a table which has lost its rows is noticed."""
    counts = {name: len(table) for name, table in {**SOURCES, **DECLARATIONS}.items()}
    counts |= {"settings": len(SETTINGS), "tables": len(TABLES), "patterns": len(PATTERNS)}
    assert sum(counts.values()) >= 200, counts
    assert min(counts.values()) >= 3, counts
