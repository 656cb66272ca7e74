"""What a target may be, how a mistake in its configuration is told, and that those which are shipped are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from driftwatch.errors import ConfigError, UsageError
from driftwatch.system.tables import Table
from driftwatch.targets.target import Target, choose, shipped_snapshots, shipped_target, shipped_targets

MINIMAL = {"distribution": "Demo_Lib", "module": "demo.api"}


def configured(folder: Path, **table: object) -> Target:
    return Target.from_config(Table(table, "pyproject.toml", "[[tool.driftwatch.target]]"), folder)


def test_the_least_there_is(tmp_path: Path) -> None:
    target = configured(tmp_path, **MINIMAL)
    assert target == Target("Demo_Lib", "demo.api", tmp_path / "snapshots" / "demo-lib")
    assert target.top == "demo"


def test_everything_there_is(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    given = {"since": "1.0.0", "snapshots": "api", "origin": "checkout", "companions": ["demo-data"]}
    assert configured(tmp_path, **MINIMAL, **given) == Target(
        "Demo_Lib", "demo.api", tmp_path / "api", tmp_path / "checkout", ("demo-data",), None, "1.0.0"
    )
    assert configured(tmp_path, **MINIMAL, origin="index").origin is None


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"modul": "x"}, "unknown key 'modul'", "did you mean 'module'?"),
        ({"zzz": 1}, "unknown key 'zzz'", "known are distribution, module"),
        ({"distribution": ""}, "'distribution' must be a string that is not empty", None),
        ({"distribution": 3}, "'distribution' must be a string that is not empty, not 3", None),
        ({"distribution": "a b"}, "'distribution' must be the name of a distribution, not 'a b'", None),
        ({"distribution": "../x"}, "must be the name of a distribution", None),
        ({"module": "demo-api"}, "'module' must be an import path, as in 'package.module', not 'demo-api'", None),
        ({"module": "demo..api"}, "must be an import path", None),
        ({"since": "soon"}, "'since' must be a release, not 'soon'", None),
        ({"origin": "nowhere"}, "'origin' must be 'index' or a folder, not 'nowhere'", None),
        ({"companions": "demo-data"}, "'companions' must be a list of names of distributions", None),
        ({"companions": [1]}, "'companions' must be a list of names of distributions", None),
        ({"companions": ["a b"]}, "'companions' must be a list of names of distributions", None),
    ],
)
def test_mistakes(tmp_path: Path, change: dict[str, object], message: str, hint: str | None) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        configured(tmp_path, **{**MINIMAL, **change})
    assert "[[tool.driftwatch.target]]" in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


@pytest.mark.parametrize("key", ["distribution", "module"])
def test_what_must_be_there(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match=f"'{key}' is missing"):
        configured(tmp_path, **{k: v for k, v in MINIMAL.items() if k != key})


def test_what_is_shipped() -> None:
    (target,) = shipped_targets()
    assert (target.distribution, target.module, target.since) == ("flashinfer-python", "flashinfer.comm", "0.2.7.post1")
    assert target.companions == ("flashinfer-cubin", "flashinfer-jit-cache")
    assert target.snapshots == shipped_snapshots() / "flashinfer-python"
    assert target.data is not None
    assert (target.data / "target.toml").is_file()


def test_a_broken_target_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*target\.toml: No such file"):
        shipped_target(tmp_path)
    (tmp_path / "target.toml").write_text("module = ")
    with pytest.raises(ConfigError, match=r"target\.toml:1: not valid TOML"):
        shipped_target(tmp_path)
    (tmp_path / "target.toml").write_text('distribution = "a"\nmodule = "a"\nmodules = "b"\n')
    with pytest.raises(ConfigError, match=r"target\.toml:3: unknown key 'modules'"):
        shipped_target(tmp_path)


def test_choosing() -> None:
    targets = [Target("demo-lib", "demo.api", Path("a")), Target("other", "other", Path("b"))]
    assert choose(targets, "Demo_Lib") is choose(targets, "demo.api") is targets[0]
    with pytest.raises(UsageError, match="'nope' is not a target") as caught:
        choose(targets, "nope")
    assert caught.value.hint == "targets are demo-lib, other"
