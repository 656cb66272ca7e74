"""Configuration: found upward, validated in full, and every mistake told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.errors import ConfigError
from driftwatch.project.config import Config, discover, load

FULL = """\
[project]
name = "engine"

[tool.driftwatch]
against = ">=0.6"
select = ["DW1", "missing-name"]
ignore = ["DW304"]
exclude = ["docs", "vendor/*"]
baseline = "ci/baseline.json"
fail-on = "warning"

[tool.driftwatch.per-file-ignores]
"tests/*" = ["DW2"]

[tool.driftwatch.severity]
DW301 = "error"

[[tool.driftwatch.target]]
distribution = "kiln"
module = "kiln"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", FULL)
    assert load(path) == Config(
        path=path,
        against=(">=0.6",),
        select=("DW1", "missing-name"),
        ignore=("DW304",),
        exclude=("docs", "vendor/*"),
        per_file_ignores=(("tests/*", ("DW2",)),),
        severity={"DW301": "error"},
        baseline=tmp_path / "ci/baseline.json",
        fail_on="warning",
        targets=({"distribution": "kiln", "module": "kiln"},),
    )


def test_the_nearest_file_that_speaks_of_driftwatch_counts(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", "[tool.driftwatch]\nagainst = '0.7'\n")
    write(tmp_path / "engine/pyproject.toml", "[project]\nname = 'engine'\n")
    source = write(tmp_path / "engine/src/app.py", "")
    assert discover(source).path == outer
    assert discover(source.parent).path == outer
    own = write(tmp_path / "engine/driftwatch.toml", "against = ['0.6', '0.7']\n")
    assert discover(source).path == own
    assert discover(source).against == ("0.6", "0.7")


def test_no_file_is_no_configuration(tmp_path: Path) -> None:
    assert discover(tmp_path) == Config()


def test_a_project_that_only_mentions_driftwatch_is_passed_by(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[dependency-groups]\ndev = ['driftwatch']\n")
    assert discover(tmp_path) == Config()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[tool.driftwatch]\nagianst = '1'\n", ":2: unknown key 'agianst'", "did you mean 'against'?"),
        ("[tool.driftwatch]\n\nfail_on = 'never'\n", ":3: unknown key 'fail_on'", "did you mean 'fail-on'?"),
        ("[tool.driftwatch]\nzzz = 1\n", ":2: unknown key 'zzz'", "known are adapter-policy, against, baseline"),
        ("[tool.driftwatch]\nagainst = 7\n", ":2: 'against' must be a string or a list of strings, not 7", None),
        ("[tool.driftwatch]\nselect = 'DW1'\n", ":2: 'select' must be a list of strings, not 'DW1'", None),
        ("[tool.driftwatch]\nexclude = ['a', 1]\n", ":2: 'exclude' must be a list of strings", None),
        ("[tool.driftwatch]\nbaseline = true\n", ":2: 'baseline' must be the path of a file, not True", None),
        ("[tool.driftwatch]\nfail-on = 'errors'\n", ":2: 'fail-on' must be one of error, warning, never", None),
        ("[tool.driftwatch.severity]\nDW1 = 'fatal'\n", ":2: 'DW1' must be one of error, warning, note", None),
        ("[tool.driftwatch.per-file-ignores]\nx = 'DW1'\n", ":2: 'x' must be a list of strings", None),
        ("[tool.driftwatch.target]\nmodule = 'x'\n", "an array of tables, [[tool.driftwatch.target]]", None),
        ("[tool]\ndriftwatch = 3\n", "tool.driftwatch must be a table", None),
        ("[tool.driftwatch]\n\nagainst = = 1\n", ":3: not valid TOML: invalid value", None),
        ("# driftwatch\n[tool.driftwatch\n", ": not valid TOML", None),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, message: str, hint: str | None) -> None:
    path = write(tmp_path / "pyproject.toml", text)
    with pytest.raises(ConfigError) as caught:
        discover(tmp_path)
    assert caught.value.message.startswith(str(path))
    assert message in caught.value.message
    assert (caught.value.hint or "").startswith(hint or "")


def test_other_bytes_than_utf8(tmp_path: Path) -> None:
    path = tmp_path / "driftwatch.toml"
    path.write_bytes(b"against = '1'\n# caf\xe9\n")
    with pytest.raises(ConfigError, match=r":2: not valid UTF-8"):
        discover(tmp_path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "driftwatch.toml").write_bytes(b"\xef\xbb\xbfagainst = '1'\n")
    assert discover(tmp_path).against == ("1",)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "nothing.toml")
    with pytest.raises(ConfigError, match=r"has no table \[tool.driftwatch\]"):
        load(write(tmp_path / "pyproject.toml", "[project]\n"))
