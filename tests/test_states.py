"""A pin on a release that is not recorded: it is fetched for that scan alone, or said loudly."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driftwatch.snapshot.commands.update import update
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target
from tests.cli_process import Result, run
from tests.fake_index import FakeIndex, make_wheel, serving

SOURCES = {
    "1.0": "def fire(pot): ...\n",
    "2.0": "def fire(pot, heat=1): ...\n",
    "2.1rc1": "def fire(pot, heat=1): ...\n",
    "2.1rc2": "def fire(pot): ...\n",
}
CONFIGURATION = """\
[project]
name = "engine"
dependencies = ["{requirement}"]

[tool.driftwatch]
[[tool.driftwatch.target]]
distribution = "kiln"
module = "kiln"
snapshots = "snapshots/kiln"
"""


@pytest.fixture
def index() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as served:
        served.add("kiln", "kiln-0.9-py3-none-any.whl", make_wheel({"oven.py": "def heat(): ...\n"}, "kiln", "0.9"))
        for version, source in SOURCES.items():
            served.add("kiln", f"kiln-{version}-py3-none-any.whl", make_wheel({"kiln.py": source}, "kiln", version))
        yield served


@pytest.fixture
def engine(index: FakeIndex, tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "engine.py").write_text("import kiln\n\n\ndef bake(pot):\n    return kiln.fire(pot, heat=3)\n")
    with PackageIndex(IndexSettings(index.url), Cache(tmp_path / "first")) as client:
        update(Target("kiln", "kiln", folder / "snapshots" / "kiln"), index=client)
    return folder


def look(engine: Path, url: str, requirement: str, *arguments: str) -> Result:
    (engine / "pyproject.toml").write_text(CONFIGURATION.format(requirement=requirement))
    return run("scan", "--format", "json", *arguments, cwd=engine, environment=surrounded(engine, url))


def surrounded(engine: Path, url: str) -> dict[str, str]:
    return {
        "PIP_INDEX_URL": url,
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_EXTRA_INDEX_URL": "",
        "DRIFTWATCH_CACHE_DIR": str(engine.parent / "cache"),
    }


def target(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = next(t for t in json.loads(result.out)["targets"] if t["distribution"] == "kiln")
    return found


def told(result: Result) -> list[tuple[str, list[str], list[str]]]:
    return [(f["code"], f["releases"], f["beyond"]) for f in json.loads(result.out)["findings"]]


def test_a_pinned_pre_release_is_what_is_checked(engine: Path, index: FakeIndex) -> None:
    result = look(engine, index.url, "kiln==2.1rc2")
    assert target(result)["releases"] == {"known": ["1.0", "2.0", "2.1rc2"], "checked": ["2.1rc2"]}
    assert target(result)["notices"] == []
    assert told(result) == [("DW101", ["2.1rc2"], ["1.0"])]
    # Another pre-release, of the same base, takes the keyword.
    assert told(look(engine, index.url, "kiln==2.1rc1")) == [("DW101", [], ["1.0"])]


def test_no_other_scan_gets_it(engine: Path, index: FakeIndex) -> None:
    look(engine, index.url, "kiln==2.1rc2")
    assert store.load(engine / "snapshots" / "kiln").timeline.versions == ("1.0", "2.0")
    for requirement, arguments in (("kiln>=1", ()), ("kiln==2.1rc2", ("--against", "all"))):
        assert target(look(engine, index.url, requirement, *arguments))["releases"]["known"] == ["1.0", "2.0"]


def test_it_is_fetched_once(engine: Path, index: FakeIndex) -> None:
    first = look(engine, index.url, "kiln==2.1rc2")
    # Without an index it is still there.
    assert look(engine, "http://127.0.0.1:9/simple/", "kiln==2.1rc2").out == first.out


@pytest.mark.parametrize(
    ("requirement", "nearest", "reason"),
    [
        ("kiln==2.1rc3", "2.0", "kiln has no release 2.1rc3 on the package index"),
        ("kiln==1.0.dev4", "1.0", "kiln has no release 1.0.dev4 on the package index"),
    ],
)
def test_what_cannot_be_had_is_said(
    engine: Path, index: FakeIndex, requirement: str, nearest: str, reason: str
) -> None:
    result = look(engine, index.url, requirement)
    assert target(result)["releases"] == {"known": ["1.0", "2.0"], "checked": [nearest]}
    said = f"`{requirement}` pins a pre-release that is not recorded ({reason}); {nearest}, the nearest one, is checked"
    assert target(result)["notices"] == [{"path": "pyproject.toml", "line": 3, "message": f"{said} in its place"}]


def test_without_an_index_the_nearest_is_taken(engine: Path) -> None:
    result = look(engine, "http://127.0.0.1:9/simple/", "kiln==2.1rc2")
    (notice,) = target(result)["notices"]
    assert notice["message"].startswith("`kiln==2.1rc2` pins a pre-release that is not recorded (the package index ")
    assert target(result)["releases"]["checked"] == ["2.0"]


def test_a_commit_is_no_release(engine: Path, index: FakeIndex) -> None:
    result = look(engine, index.url, "kiln @ git+https://host.org/kiln@abc")
    (notice,) = target(result)["notices"]
    assert notice["message"] == (
        "`kiln @ git+https://host.org/kiln@abc` is no release of an index, so nothing is known of it; the newest "
        "release, 2.0, is checked in its place"
    )


@pytest.mark.parametrize("requirement", ["kiln==0.9", "kiln<1"])
def test_a_release_without_the_module_has_nothing_of_it(engine: Path, index: FakeIndex, requirement: str) -> None:
    for url in (index.url, "http://127.0.0.1:9/simple/"):
        result = look(engine, url, requirement)
        assert target(result)["releases"] == {"known": ["0.9", "1.0", "2.0"], "checked": ["0.9"]}
        assert target(result)["notices"] == []
        assert told(result) == [("DW202", ["0.9"], []), ("DW101", [], ["1.0"])]
        assert result.status == 1


def test_a_release_that_turns_out_to_be_without_it(engine: Path, index: FakeIndex) -> None:
    index.add("kiln", "kiln-0.8-py3-none-any.whl", make_wheel({"oven.py": "def heat(): ...\n"}, "kiln", "0.8"))
    assert told(look(engine, index.url, "kiln==0.8")) == [("DW202", ["0.8"], []), ("DW101", [], ["1.0"])]


def test_who_expects_no_module_is_right_without_it(engine: Path, index: FakeIndex) -> None:
    guarded = "try:\n    import kiln\nexcept ImportError:\n    kiln = None\n\nif kiln:\n    kiln.fire(1)\n"
    (engine / "engine.py").write_text(guarded)
    result = look(engine, index.url, "kiln==0.9")
    assert target(result)["degraded"] == ["0.9"]
    assert result.status == 0


def test_a_range_that_selects_a_recorded_release_is_checked_in_those(engine: Path, index: FakeIndex) -> None:
    assert target(look(engine, index.url, "kiln>=0.5"))["releases"]["known"] == ["1.0", "2.0"]


# -- what comes with another package -----------------------------------------------------------------------------------

CARRYING = """\
[project]
name = "engine"
dependencies = ["{requirement}"]

[tool.driftwatch]
[[tool.driftwatch.target]]
distribution = "kiln"
module = "kiln"
snapshots = "snapshots/kiln"
carriers = ["oven"]
"""
METADATA = """\
Metadata-Version: 2.1
Name: oven
Version: {version}
Requires-Dist: kiln=={kiln}
Requires-Dist: kiln<1 ; extra == 'old'
"""


@pytest.fixture
def carrier(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> FakeIndex:
    for version, kiln in (("3.0", "1.0"), ("4.0", "2.1rc2")):
        files = {f"oven-{version}.dist-info/METADATA": METADATA.format(version=version, kiln=kiln), "oven.py": ""}
        index.add("oven", f"oven-{version}-py3-none-any.whl", wheel_of(files))
    monkeypatch.setitem(globals(), "CONFIGURATION", CARRYING)
    return index


def wheel_of(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def test_a_pinned_package_brings_the_release_that_it_pins(engine: Path, carrier: FakeIndex) -> None:
    result = look(engine, carrier.url, "oven==3.0")
    assert target(result)["releases"]["checked"] == ["1.0"]
    assert target(result)["notices"] == []
    assert told(result) == [("DW101", ["1.0"], [])]
    text = run("scan", cwd=engine, environment=surrounded(engine, carrier.url)).out
    assert "checked 1.0 (oven 3.0's own requirement kiln==1.0 (pyproject.toml))" in text


def test_that_release_need_not_be_recorded(engine: Path, carrier: FakeIndex) -> None:
    assert target(look(engine, carrier.url, "oven==4.0"))["releases"]["checked"] == ["2.1rc2"]


def test_what_the_project_says_itself_counts_before(engine: Path, carrier: FakeIndex) -> None:
    assert target(look(engine, carrier.url, 'kiln==2.0", "oven==3.0'))["releases"]["checked"] == ["2.0"]
    assert target(look(engine, carrier.url, "oven==3.0", "--against", "kiln==2.0"))["releases"]["checked"] == ["2.0"]
    # What is not pinned may be any release.
    assert target(look(engine, carrier.url, "oven>=3"))["releases"]["checked"] == ["2.0"]


def test_a_package_that_cannot_be_asked_is_said(engine: Path, carrier: FakeIndex) -> None:
    for url, requirement in ((carrier.url, "oven==5.0"), ("http://127.0.0.1:9/simple/", "oven==3.0")):
        result = look(engine, url, requirement)
        (notice,) = target(result)["notices"]
        assert notice["message"].startswith(f"what `{requirement}` requires of kiln is not known: ")
        assert (notice["path"], notice["line"]) == ("pyproject.toml", 3)
        assert target(result)["releases"]["checked"] == ["2.0"]


def test_a_companion_is_held_against_what_the_carrier_brings(engine: Path, carrier: FakeIndex) -> None:
    (engine / "requirements.txt").write_text("kiln-bricks==2.0\n")
    configuration = CARRYING.replace("carriers =", 'companions = ["kiln-bricks"]\ncarriers =')
    (engine / "pyproject.toml").write_text(configuration.format(requirement="oven==3.0"))
    result = run("scan", "--format", "json", cwd=engine, environment=surrounded(engine, carrier.url))
    found = [(f["code"], f["path"], f["message"]) for f in json.loads(result.out)["findings"] if f["code"] == "DW601"]
    said = "`kiln-bricks` is pinned to 2.0, and `kiln` beside it to 1.0: they must be of one version"
    assert found == [("DW601", "requirements.txt", said)]


# -- what is named beside the releases --------------------------------------------------------------------------------


def checked(engine: Path, index: FakeIndex, *against: str) -> tuple[list[str], list[str]]:
    words = [w for text in against for w in ("--against", f"kiln{text}" if text[0] in "<>=!" else text)]
    result = look(engine, index.url, "kiln>=1", *words)
    assert result.out, result
    releases = target(result)["releases"]
    return releases["known"], releases["checked"]


def recorded_early(engine: Path, index: FakeIndex) -> None:
    with PackageIndex(IndexSettings(index.url), Cache(engine.parent / "second")) as client:
        result = update(Target("kiln", "kiln", engine / "snapshots" / "kiln"), pre=True, index=client)
    assert result.added == ("2.1rc1", "2.1rc2")


@pytest.mark.parametrize("early", [False, True])
def test_pre_releases_count_where_one_is_named(engine: Path, index: FakeIndex, early: bool) -> None:
    if early:
        recorded_early(engine, index)
    for text in ("all", ">=1", ">1", "!=1.0", ">=2,<3", "newest"):
        known, found = checked(engine, index, text)
        assert known == ["1.0", "2.0"] and "2.1rc1" not in found
    assert checked(engine, index, "==2.1rc1") == (["1.0", "2.0", "2.1rc1"] + ["2.1rc2"] * early, ["2.1rc1"])
    if early:
        # PEP 440: a specifier that names one lets them in.
        assert checked(engine, index, ">=2.1rc1")[1] == ["2.1rc1", "2.1rc2"]
        assert checked(engine, index, ">=2.0rc1")[1] == ["2.0", "2.1rc1", "2.1rc2"]


def test_a_local_build_of_a_release_is_that_release(engine: Path, index: FakeIndex) -> None:
    for text in ("==2.0+cu130", "===2.0+cu130"):
        assert checked(engine, index, text) == (["1.0", "2.0"], ["2.0"])
    assert target(look(engine, index.url, "kiln==2.0+cu130"))["releases"]["checked"] == ["2.0"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "kiln"\nversion = "1.0"\n')
    (folder / "kiln.py").write_text("def fire(pot): ...\n")
    return folder


@pytest.mark.parametrize("text", ["{}", "kiln @ {}"])
def test_a_folder_is_checked_by_its_name_alone(engine: Path, index: FakeIndex, checkout: Path, text: str) -> None:
    """It stands where its version says, in the history of that scan, and no range selects it."""
    assert checked(engine, index, text.format(checkout)) == (["1.0", "1.0+local", "2.0"], ["1.0+local"])
    assert checked(engine, index, text.format(checkout), ">=1") == (
        ["1.0", "1.0+local", "2.0"],
        ["1.0", "1.0+local", "2.0"],
    )
    result = look(engine, index.url, "kiln>=1", "--against", text.format(checkout))
    assert told(result) == [("DW101", ["1.0+local"], ["1.0"])]
    assert checked(engine, index, "all") == (["1.0", "2.0"], ["1.0", "2.0"])


def test_what_is_added_by_hand_is_meant_where_it_is_named(engine: Path, index: FakeIndex, checkout: Path) -> None:
    (engine / "pyproject.toml").write_text(CONFIGURATION.format(requirement="kiln"))
    own = surrounded(engine, index.url)
    done = run("snapshot", "add", "--target", "kiln", str(checkout), cwd=engine, environment=own)
    assert done.status == 0, done
    for text in ("all", "==1.0", ">=1.0", "newest"):
        assert checked(engine, index, text)[0] == ["1.0", "2.0"]
    assert checked(engine, index, "==1.0+local") == (["1.0", "1.0+local", "2.0"], ["1.0+local"])
    pinned = target(look(engine, index.url, "kiln==1.0+local"))["releases"]
    assert pinned["checked"] == ["1.0+local"]
    listed = run("snapshot", "list", "--target", "kiln", cwd=engine, environment=own).out
    assert "1 state in the user's store, each only where it is named\n  1.0+local  not from the index" in listed
    assert run("snapshot", "remove", "--target", "kiln", "1.0+local", cwd=engine, environment=own).status == 0
    assert checked(engine, index, "==1.0+local") == (["1.0", "2.0"], ["1.0"])


@pytest.mark.parametrize("requirement", ["kiln==2.1.dev7", "kiln @ git+https://host.org/kiln@abc"])
def test_a_pin_that_is_not_known_is_no_green_check(engine: Path, index: FakeIndex, requirement: str) -> None:
    (engine / "engine.py").write_text("import kiln\n\nkiln.fire(1)\n")
    result = look(engine, index.url, requirement)
    assert (result.status, target(result)["stand_in"]) == (0, ["2.0"])
    assert look(engine, index.url, requirement, "--fail-on", "warning").status == 1
    assert look(engine, index.url, "kiln==2.0", "--fail-on", "warning").status == 0
    assert "stand_in" not in target(look(engine, index.url, "kiln==2.0"))
    look(engine, index.url, "kiln==2.1.dev7")
    text = run("scan", cwd=engine, environment=surrounded(engine, index.url)).out
    (line,) = [line for line in text.splitlines() if line.startswith("  ATTENTION")]
    assert "the nearest one, is checked in its place" in line


def test_an_empty_page_is_not_believed(engine: Path, index: FakeIndex) -> None:
    (engine / "pyproject.toml").write_text(CONFIGURATION.format(requirement="kiln"))
    index.files["kiln"].clear()
    result = run("snapshot", "update", "--target", "kiln", cwd=engine, environment=surrounded(engine, index.url))
    assert result.status == 2
    assert result.err.startswith("error: the package index lists no release of kiln at all, which is not believed\n")


def test_two_code_bases_are_each_held_against_their_own_pin(engine: Path, index: FakeIndex) -> None:
    """`heat` is taken from 2.0 on: it breaks the one that pins 1.0, and not the other, which would break in it."""
    (engine / "pyproject.toml").write_text(CONFIGURATION.format(requirement="kiln"))
    for name, pin in (("old", "1.0"), ("new", "2.0")):
        folder = engine / name
        folder.mkdir()
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\ndependencies = ["kiln=={pin}"]\n')
        (folder / f"{name}.py").write_text("import kiln\n\nkiln.fire(1, heat=3)\n")
    result = run("scan", "old", "new", "--format", "json", cwd=engine, environment=surrounded(engine, index.url))
    found = [(f["path"], f["severity"], f["releases"], f["beyond"]) for f in json.loads(result.out)["findings"]]
    assert found == [("new/new.py", "note", [], ["1.0"]), ("old/old.py", "error", ["1.0"], [])]
    assert target(result)["releases"]["checked"] == ["1.0", "2.0"]
    assert target(result)["compatible"] == ["2.0"]
