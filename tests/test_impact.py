"""The impact of a library that is not released: who is reached by which change, against the base that is meant."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from driftwatch.errors import ConfigError, UsageError
from driftwatch.report.safe import safe
from driftwatch.scan.code_bases import each_release, read_list
from tests.cli_process import Result, run
from tests.conftest import ROOT
from tests.fake_index import FakeIndex, make_wheel, serving

RELEASED = """\
def fire(pot, minutes=30, *, glaze=None): ...
def cool(pot, slow=True): ...
def raku(pot): ...
def wedge(clay, times=20): ...
def trim(pot, depth): ...
class Kiln:
    def open(self): ...
    def close(self): ...
"""
BRANCH = """\
import warnings
def fire(pot, minutes=30, *, finish=None): ...
def cool(pot, slow=False): ...
def wedge(clay, times=25, slab=None): ...
def trim(depth, pot): ...
def stack(pots): ...
class Kiln:
    def open(self): ...
"""
ENGINE = """\
import kiln


def bake(pot):
    return kiln.fire(pot, glaze="blue")


def quiet(pot):
    try:
        return kiln.raku(pot)
    except Exception:
        return None


def rest(pot):
    return kiln.cool(pot)


def turn(pot):
    return kiln.trim(pot, 3)


def shut():
    return kiln.Kiln().close()
"""
CONFIGURATION = """\
[[target]]
distribution = "kiln"
module = "kiln"
snapshots = "snapshots/kiln"
"""


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A studio with an engine, and the library beside it: released as 1.0, with a branch on which everything is new."""
    home = tmp_path_factory.mktemp("impact")
    library = home / "upstream"
    library.mkdir()
    (library / "pyproject.toml").write_text('[project]\nname = "kiln"\nversion = "1.0"\n')
    (library / "kiln.py").write_text(RELEASED)
    git(library, "init", "-q", "-b", "main")
    git(library, "add", ".")
    git(library, "commit", "-qm", "1.0")
    studio = home / "studio"
    (studio / "engine").mkdir(parents=True)
    (studio / "engine" / "engine.py").write_text(ENGINE)
    (studio / "other").mkdir()
    (studio / "other" / "other.py").write_text("import kiln\n\nkiln.fire(1)\nkiln.wedge(2, 30)\n")
    (studio / "driftwatch.toml").write_text(CONFIGURATION)
    added = run("snapshot", "add", "--target", "kiln", "1.0=../upstream", cwd=studio)
    assert added.status == 0, added
    git(library, "checkout", "-qb", "topic")
    (library / "kiln.py").write_text(BRANCH)
    git(library, "commit", "-qam", "everything is new")
    return home


def impact(made: Path, library: str, *words: str) -> Result:
    return run("impact", "--target", "kiln", library, *words, cwd=made / "studio")


def form(result: Result) -> dict[str, Any]:
    assert result.out, result
    found: dict[str, Any] = json.loads(result.out)
    jsonschema.validate(found, json.loads((ROOT / "driftwatch/report/impact_schema_v1.json").read_text()))
    return found


def places(found: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    touches = [touch for change in found["changes"] for touch in change["places"]] + found["besides"]
    return sorted((t["code_base"], t["effect"], t["finding"]["code"], t["finding"]["line"]) for t in touches)


EXPECTED = [
    ("engine", "breaks", "DW101", 5),
    ("engine", "breaks", "DW203", 24),
    ("engine", "differs", "DW304", 16),
    ("engine", "silent", "DW201", 10),
]


@pytest.mark.parametrize("library", ["../upstream", "git:../upstream@topic", "git:../upstream@main..topic"])
def test_each_change_names_the_places_that_it_reaches_and_no_other(made: Path, library: str) -> None:
    result = impact(made, library, "engine", "other", "--format", "json")
    found = form(result)
    assert result.status == 1
    shifted = ("engine", "breaks", "DW104", 20)
    assert places(found) == sorted([*EXPECTED, shifted])
    assert found["breaks"] is True
    commit, base = git(made / "upstream", "rev-parse", "topic"), git(made / "upstream", "rev-parse", "main")
    assert found["library"]["version"] == f"1.0+g{commit[:9]}"
    assert found["base"]["version"] == f"1.0+g{base[:9]}"
    homes = {touch["finding"]["code"]: (c["kind"], c["symbol"]) for c in found["changes"] for touch in c["places"]}
    assert homes == {
        "DW101": ("parameter-renamed", "kiln:fire"),
        "DW201": ("symbol-removed", "kiln:raku"),
        "DW203": ("symbol-removed", "kiln:Kiln.close"),
        "DW304": ("default-changed", "kiln:cool"),
        "DW104": homes["DW104"],
    }
    assert homes["DW104"][1] == "kiln:trim"
    # `wedge` is used, and its places stay right; `stack` is nobody's.
    used = {(c["symbol"], c["kind"]) for c in found["changes"] if not c["places"]}
    assert {symbol for symbol, _ in used} <= {"kiln:wedge", "kiln:fire", "kiln:trim"}
    assert ("kiln:wedge", "default-changed") in used
    assert [c["symbol"] for c in found["untouched"]] == ["kiln:stack"]


def test_what_is_not_committed_counts(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "upstream"
    git(made, "clone", "-q", "upstream", str(copy))
    git(copy, "checkout", "-q", "origin/main")
    (copy / "kiln.py").write_text(RELEASED.replace("def raku(pot): ...\n", ""))
    found = form(impact(made, str(copy), "engine", "--format", "json"))
    assert places(found) == [("engine", "silent", "DW201", 10)]
    commit = git(copy, "rev-parse", "HEAD")[:9]
    assert (found["base"]["version"], found["library"]["version"]) == (f"1.0+g{commit}", f"1.0+g{commit}.dirty")
    assert found["base"]["source"] == f"{commit}, the commit it is on"


def test_what_the_main_line_has_broken_is_not_the_fault_of_a_branch(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "upstream"
    git(made, "clone", "-q", "upstream", str(copy))
    git(copy, "checkout", "-q", "-B", "main", "origin/main")
    (copy / "kiln.py").write_text(RELEASED.replace("def raku(pot): ...\n", ""))
    git(copy, "commit", "-qam", "main breaks raku")
    git(copy, "checkout", "-q", "-b", "fix")
    (copy / "kiln.py").write_text((copy / "kiln.py").read_text().replace("slow=True", "slow=False"))
    git(copy, "commit", "-qam", "slow no more")
    git(copy, "update-ref", "-d", "refs/remotes/origin/main")
    git(copy, "update-ref", "-d", "refs/remotes/origin/HEAD")
    git(copy, "update-ref", "refs/remotes/origin/main", "main")
    result = impact(made, f"git:{copy}@fix", "engine", "--format", "json")
    assert places(form(result)) == [("engine", "differs", "DW304", 16)]
    assert result.status == 0
    assert form(result)["code"][0]["already_broken"] == 1
    # Against the release, both count.
    against = form(impact(made, f"git:{copy}@fix", "engine", "--base", "1.0", "--format", "json"))
    assert places(against) == [("engine", "differs", "DW304", 16), ("engine", "silent", "DW201", 10)]


def test_an_archive_is_held_against_the_newest_release(made: Path, tmp_path: Path) -> None:
    archive = tmp_path / "kiln-1.1-py3-none-any.whl"
    archive.write_bytes(make_wheel({"kiln.py": BRANCH}, "kiln", "1.1"))
    found = form(impact(made, str(archive), "engine", "--format", "json"))
    assert (found["base"]["version"], found["library"]["version"]) == ("1.0", "1.1+file")
    assert places(found) == sorted([*EXPECTED, ("engine", "breaks", "DW104", 20)])


def test_the_same_as_a_scan_says(made: Path) -> None:
    """The machinery of `scan --against PLACE` is the same: what it says of the state is what is new, and no more."""
    scanned = run("scan", "engine", "--against", "kiln @ ../upstream", "--format", "json", cwd=made / "studio")
    errors = [(f["code"], f["line"]) for f in json.loads(scanned.out)["findings"] if f["severity"] == "error"]
    told = [(code, line) for _, effect, code, line in EXPECTED if effect in ("breaks", "silent")]
    assert sorted(errors) == sorted(told)


def test_a_code_base_that_cannot_be_looked_at_is_a_row(made: Path) -> None:
    result = impact(made, "git:../upstream@main", "other", "nowhere", "--base", "git:../upstream@main~0")
    assert (result.status == 2 and "itself" in result.err) or "nowhere" in result.err
    result = impact(made, "../upstream", "nowhere", "other", "--format", "json")
    assert [each["name"] for each in form(result)["code"]] == ["other"]
    assert [each["code_base"] for each in form(result)["not_looked_at"]] == ["nowhere"]
    assert result.status == 2
    assert "error: nowhere: " in result.err


def test_for_a_person_and_for_a_pull_request(made: Path) -> None:
    words = ("engine", "other", "--format", "markdown=body.md", "--format", "html=impact.html", "--format", "text")
    result = impact(made, "git:../upstream@topic", *words)
    lines = result.out.splitlines()
    version = f"1.0+g{git(made / 'upstream', 'rev-parse', 'topic')[:9]}"
    said = "breaks 4 places (1 silently) of engine, changes what is done at 1 place"
    assert lines[-1] == f"kiln {version}: {said}"
    assert "raku is removed  breaks silently 1 place" in lines
    assert any(line.startswith("  SILENT     engine engine.py:10:16 DW201") for line in lines), result.out
    assert "1 change touch nobody here; --all lists them" in lines
    body = (made / "studio" / "body.md").read_text(encoding="utf-8")
    assert body.startswith("<!-- driftwatch impact -->\n")
    assert "| `other` | 2 places | ✅ works as before | none |" in body.replace("3 places", "2 places")
    page = (made / "studio" / "impact.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "kiln.raku(pot)" in page.replace("<mark>", "").replace("</mark>", "")
    assert "<script" not in page


def test_a_commit_of_a_code_base_and_a_list(made: Path) -> None:
    engine = made / "git-engine"
    engine.mkdir(exist_ok=True)
    (engine / "engine.py").write_text(ENGINE)
    git(engine, "init", "-q", "-b", "main")
    git(engine, "add", ".")
    git(engine, "commit", "-qm", "engine")
    (engine / "engine.py").write_text("")
    (made / "code.txt").write_text(f"# ours\ngit:{engine.name}@main\nstudio/other  # theirs\n")
    found = form(impact(made, "../upstream", "../code.txt", "--format", "json"))
    assert [each["name"] for each in found["code"]] == ["git-engine at main", "other"]
    assert {code for code, *_ in places(found)} == {"git-engine at main"}


def test_hostile_names_have_no_effect(made: Path) -> None:
    folder = made / "studio" / "<u>x\x1b[2J @all"
    folder.mkdir(exist_ok=True)
    (folder / "engine.py").write_text(ENGINE)
    words = (str(folder), "--format", "markdown=h.md", "--format", "html=h.html", "--format", "text")
    result = impact(made, "../upstream", *words)
    assert result.status == 1 and "\x1b" not in result.out
    for name in ("h.md", "h.html"):
        text = (made / "studio" / name).read_text(encoding="utf-8")
        assert "\x1b" not in text and "<u>" not in text.replace("`<u>x", "")
    assert safe("\x1b") in result.out


@pytest.mark.parametrize(
    ("library", "words", "said"),
    [
        ("../upstream", ("engine", "--base", "7.0"), "7.0"),
        ("git:../upstream@nope", ("engine",), "has no commit 'nope'"),
        ("git:../upstream@main..topic", ("engine", "--base", "1.0"), "names its base itself"),
        ("1.0", ("engine",), "there is no release before 1.0"),
        ("nowhere", ("engine",), "neither a release nor a folder"),
    ],
)
def test_what_makes_no_sense_is_said(made: Path, library: str, words: tuple[str, ...], said: str) -> None:
    result = impact(made, library, *words)
    assert result.status == 2
    assert said in result.err, result.err


def test_a_range_means_each_release() -> None:
    known = {"vllm": ("0.19.0", "0.20.0", "0.20.1", "0.21.0")}
    assert each_release("pypi:vllm>=0.20,!=0.20.1", known.__getitem__) == ("pypi:vllm==0.20.0", "pypi:vllm==0.21.0")
    for text in ("pypi:vllm", "pypi:vllm==0.20.0", "../engine", "git:x@>=1"):
        assert each_release(text, known.__getitem__) == (text,)
    with pytest.raises(UsageError, match="selects no release"):
        each_release("pypi:vllm>9", known.__getitem__)


def test_lists(tmp_path: Path) -> None:
    (tmp_path / "code.toml").write_text('code = ["pypi:vllm>=0.20", "../engine", "git:../lib@main"]\n')
    assert read_list(tmp_path / "code.toml") == (
        "pypi:vllm>=0.20",
        f"{tmp_path}/../engine",
        f"git:{tmp_path}/../lib@main",
    )
    (tmp_path / "code.toml").write_text("code = 3\n")
    with pytest.raises(ConfigError, match=":1: 'code' must be a list of strings, not 3"):
        read_list(tmp_path / "code.toml")


# -- libraries that nobody has set up ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """Code that uses a library of a package index, a repository of that library, and what has the index asked."""
    home = tmp_path_factory.mktemp("wheels")
    with serving(FakeIndex()) as index:
        for version, source in {"1.0": "def throw(clay): ...\n", "1.1": "def throw(clay): ...\n", "2.0": ""}.items():
            wheel = make_wheel(
                {"wheels/__init__.py": source, "wheels/fast.py": "", "other.py": ""}, "potters-wheels", version
            )
            index.add("potters-wheels", f"potters_wheels-{version}-py3-none-any.whl", wheel)
        library = home / "upstream"
        library.mkdir()
        (library / "pyproject.toml").write_text('[project]\nname = "potters-wheels"\nversion = "2.1"\n')
        (library / "wheels").mkdir()
        (library / "wheels" / "__init__.py").write_text("def throw(clay): ...\n")
        git(library, "init", "-q", "-b", "main")
        git(library, "add", ".")
        git(library, "commit", "-qm", "2.1")
        (library / "wheels" / "__init__.py").write_text("def throw(clay, speed): ...\n")
        (home / "app").mkdir()
        (home / "app" / "app.py").write_text("import wheels\n\nwheels.throw(1)\n")
        yield (
            home,
            {
                "PIP_INDEX_URL": index.url,
                "PIP_EXTRA_INDEX_URL": "",
                "UV_INDEX_URL": "",
                "PIP_RETRIES": "0",
                "DRIFTWATCH_CACHE_DIR": str(home / "cache"),
            },
        )


@pytest.mark.parametrize(
    ("library", "base", "told"),
    [
        (("potters-wheels==2.0",), "1.1", ["DW201"]),
        (("2.0", "--target", "potters-wheels"), "1.1", ["DW201"]),
        (("2.0", "--target", "potters-wheels", "--base", "1.0"), "1.0", ["DW201"]),
        (("upstream", "--target", "potters-wheels"), None, ["DW102"]),
        (("potters-wheels @ upstream",), None, ["DW102"]),
        (("potters-wheels==1.1",), "1.0", []),
    ],
)
def test_a_library_that_nobody_has_set_up(
    wheels: tuple[Path, dict[str, str]], library: tuple[str, ...], base: str | None, told: list[str]
) -> None:
    home, environment = wheels
    result = run("impact", library[0], "app", *library[1:], "--format", "json", cwd=home, environment=environment)
    assert result.status == bool(told), result
    found = form(result)
    assert (found["library"]["distribution"], found["library"]["module"]) == ("potters-wheels", "wheels")
    assert base is None or found["base"]["version"] == base
    assert [code for _, _, code, _ in places(found)] == told
    assert "potters-wheels: module wheels, not other" in result.err


def test_what_changed_between_states(made: Path, wheels: tuple[Path, dict[str, str]]) -> None:
    """`diff` and `history` take what `impact` takes."""
    studio = made / "studio"
    changed = run("diff", "1.0", "git:../upstream@topic", "--target", "kiln", "--format", "json", cwd=studio)
    kinds = {(each["kind"], each["symbol"]) for each in json.loads(changed.out)["changes"]}
    assert {("symbol-removed", "kiln:raku"), ("symbol-added", "kiln:stack")} <= kinds
    back = run("diff", "../upstream", "git:../upstream@main", "--target", "kiln", "--format", "json", cwd=studio)
    assert {"symbol-added"} == {each["kind"] for each in json.loads(back.out)["changes"] if "raku" in each["symbol"]}
    lived = run("history", "kiln.raku", "--with", "../upstream", "--format", "json", cwd=studio)
    (symbol,) = json.loads(lived.out)["symbols"]
    assert (symbol["releases"], [each["kind"] for each in symbol["changes"]]) == (
        ["1.0"],
        ["symbol-added", "symbol-removed"],
    )
    (symbol,) = json.loads(run("history", "kiln.raku", "--format", "json", cwd=studio).out)["symbols"]
    assert [each["kind"] for each in symbol["changes"]] == ["symbol-added"]
    home, environment = wheels
    other = run("diff", "potters-wheels==1.0", "2.0", "--format", "json", cwd=home, environment=environment)
    assert [each["symbol"] for each in json.loads(other.out)["changes"]] == ["wheels:throw"]


def test_a_method_that_a_base_class_demands_is_the_change_that_breaks(tmp_path: Path) -> None:
    """Such as `CommBackend.barrier`, by which a pull request of FlashInfer broke a class of vLLM."""
    library = tmp_path / "upstream"
    library.mkdir()
    (library / "pyproject.toml").write_text('[project]\nname = "kiln"\nversion = "1.0"\n')
    backend = (
        "from abc import ABC, abstractmethod\n\n\nclass Oven(ABC):\n    @abstractmethod\n    def heat(self): ...\n"
    )
    (library / "kiln").mkdir()
    (library / "kiln" / "__init__.py").write_text("")
    (library / "kiln" / "ovens.py").write_text(backend)
    (library / "kiln" / "fast.py").write_text("")
    git(library, "init", "-q", "-b", "main")
    git(library, "add", ".")
    git(library, "commit", "-qm", "1.0")
    (tmp_path / "driftwatch.toml").write_text(CONFIGURATION)
    added = run("snapshot", "add", "--target", "kiln", "1.0=upstream", cwd=tmp_path)
    assert added.status == 0, added
    (library / "kiln" / "ovens.py").write_text(f"{backend}    @abstractmethod\n    def cool(self): ...\n")
    # The class is to be had in one more place, which is a change of its own and breaks nobody.
    (library / "kiln" / "fast.py").write_text("from kiln.ovens import Oven\n")
    (tmp_path / "app").mkdir()
    own = "from kiln.ovens import Oven\n\n\nclass Mine(Oven):\n    def heat(self):\n        return 1\n\n\nMine()\n"
    (tmp_path / "app" / "app.py").write_text(own)
    result = run("impact", "upstream", "app", "--target", "kiln", "--format", "json", cwd=tmp_path)
    found = form(result)
    broken = [(each["symbol"], touch["finding"]["line"]) for each in found["changes"] for touch in each["places"]]
    assert (result.status, broken) == (1, [("kiln.ovens:Oven.cool", 9)])
