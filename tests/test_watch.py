"""The watch from end to end: an index over HTTP, real stores on disk, the real program; and the real FlashInfer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.report.markdown import LONGEST
from driftwatch.report.watch import render, render_json, title
from driftwatch.snapshot.commands.update import update
from driftwatch.snapshot.sources import transport
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target, shipped_targets
from driftwatch.watching.watch import CodeBase, WatchRequest, watch
from tests.cli_process import Result, run
from tests.fake_index import FakeIndex, make_wheel, serving

OLD = "def fire(pot, minutes, glaze=None):\n    return pot\n\n\ndef raku(pot):\n    return pot\n\n\ndef dry(pot): ...\n"
NEW = "def fire(pot, minutes):\n    return pot\n\n\ndef dry(pot, *, fan=False): ...\n\n\ndef cool(pot): ...\n"

ENGINE = """\
import kiln


def bake(pot):
    try:
        return kiln.fire(pot, 3, glaze="blue")
    except Exception:
        return None


def finish(pot):
    return kiln.raku(pot)


try:
    from kiln import raku
except ImportError:
    raku = None


def always(pot):
    return kiln.missing(pot)
"""
CONFIGURATION = """\
[project]
name = "engine"
dependencies = ["kiln<2"]

[tool.driftwatch]
watch = ["engine.py"]

[[tool.driftwatch.target]]
distribution = "kiln"
module = "kiln"
snapshots = "snapshots/kiln"
"""
LET_IN = "no: engine's own requirement kiln&lt;2 (pyproject.toml) |"
SILENTLY = "SILENT: the `except Exception` at line 7 takes the TypeError and the program goes on without it"


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BACKOFF", 0.0)


@pytest.fixture
def index() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as served:
        put(served, "1.0", OLD)
        yield served


@pytest.fixture
def engine(index: FakeIndex, tmp_path: Path) -> Path:
    """A project that uses kiln; 1.0 is recorded, then 2.0 came out."""
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(CONFIGURATION)
    (folder / "engine.py").write_text(ENGINE)
    with PackageIndex(IndexSettings(index.url), Cache(tmp_path / "first")) as client:
        update(Target("kiln", "kiln", folder / "snapshots" / "kiln"), index=client)
    put(index, "2.0", NEW)
    return folder


def put(index: FakeIndex, version: str, source: str) -> None:
    index.add("kiln", f"kiln-{version}-py3-none-any.whl", make_wheel({"kiln.py": source}, "kiln", version))


def look(engine: Path, index: FakeIndex, *arguments: str) -> Result:
    own = {"PIP_INDEX_URL": index.url, "PIP_CONFIG_FILE": "/dev/null", "PIP_EXTRA_INDEX_URL": ""}
    return run("watch", "--target", "kiln", *arguments, cwd=engine, environment=own)


def recorded(engine: Path) -> tuple[str, ...]:
    return store.load(engine / "snapshots" / "kiln").timeline.versions


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("missing", "error: cannot scan 'missing': no such file or folder\n"),
        ("empty", "error: there is no Python file in empty\n"),
        ("lost", "error: cannot read the baseline "),
    ],
)
def test_a_code_base_that_cannot_be_looked_at_costs_no_release(
    engine: Path, index: FakeIndex, code: str, message: str
) -> None:
    (engine / "empty").mkdir()
    (engine / "lost").mkdir()
    (engine / "lost" / "lost.py").write_text("import kiln\n")
    (engine / "lost" / "pyproject.toml").write_text('[tool.driftwatch]\nbaseline = "gone.json"\n')
    result = look(engine, index, "--code", ".", "--code", code)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(message)
    assert recorded(engine) == ("1.0",)
    assert "kiln 2.0" in look(engine, index, "--code", ".").out, "it is still new"


# -- a new release -----------------------------------------------------------------------------------------------------


def test_a_new_release_is_recorded_and_told(engine: Path, index: FakeIndex) -> None:
    result = look(engine, index)
    assert (result.status, result.err) == (1, "")
    assert recorded(engine) == ("1.0", "2.0")
    assert result.out.splitlines()[:24] == [
        "<!-- driftwatch watch -->",
        "",
        "## kiln 2.0: 1 name removed, breaks 2 call sites of engine.py (1 silently)",
        "",
        "### `kiln 2.0`, after `1.0`",
        "",
        "| code base | with `2.0` | newly broken | degraded | is it let in? |",
        "|---|---|---|---|---|",
        "| `engine.py` | ❌ breaks | 2 call sites, **1 silently** | 1 place | " + LET_IN,
        "",
        "**What breaks in `engine.py` with `2.0`**",
        "",
        "- **silent** `engine.py:6` DW101: `fire` does not take `glaze` in 2.0; " + SILENTLY,
        "- `engine.py:12` DW201: `kiln` has no `raku` in 2.0; raises AttributeError",
        "",
        "**What switches itself off in `engine.py` with `2.0`**",
        "",
        "- `engine.py:16` DW201: `kiln` has no `raku` in 2.0; guarded: `except ImportError` at line 17",
        "",
        "**1 name removed** from `kiln`:",
        "",
        "- `raku`, used by `engine.py`",
        "",
        "<details><summary>1 more breaking</summary>",
    ]
    assert "- `kiln.fire`: `- glaze=None` (breaking)" in result.out
    assert "- `kiln.cool` is new: `(pot)`" in result.out


def test_a_second_look_has_nothing_to_say(engine: Path, index: FakeIndex) -> None:
    look(engine, index)
    result = look(engine, index)
    assert result.status == 0
    assert result.out == (
        "<!-- driftwatch watch -->\n\n## nothing new\n\n`kiln`: nothing new; the newest known release is `2.0`.\n"
    )


def test_as_json(engine: Path, index: FakeIndex) -> None:
    form = json.loads(look(engine, index, "--json").out)
    assert (form["schema"], form["new"], form["breaks"]) == (1, True, True)
    assert form["title"] == "kiln 2.0: 1 name removed, breaks 2 call sites of engine.py (1 silently)"
    (target,) = form["targets"]
    assert (target["distribution"], target["before"], target["recorded"]) == ("kiln", "1.0", ["2.0"])
    (release,) = target["releases"]
    assert (release["version"], release["previous"], release["preview"]) == ("2.0", "1.0", False)
    assert release["removed"] == ["raku"]
    assert release["summary"] == {"breaking": 2, "risky": 0, "compatible": 2, "informational": 0}
    (code,) = release["code"]
    assert (code["name"], code["allowed"], code["errors"], code["silent"], code["degraded"], code["already"]) == (
        "engine.py",
        False,
        2,
        1,
        1,
        1,
    )
    assert [(f["code"], f["line"], f["outcome"], f["releases"]) for f in code["findings"]] == [
        ("DW101", 6, "silent", ["2.0"]),
        ("DW201", 12, "raises", ["2.0"]),
        ("DW201", 16, "guarded", ["2.0"]),
    ]


def test_both_forms_to_files(engine: Path, index: FakeIndex) -> None:
    result = look(engine, index, "--format", "markdown=body.md", "--format", "json=watch.json")
    assert (result.status, result.out) == (1, "")
    assert (engine / "body.md").read_text().startswith("<!-- driftwatch watch -->\n")
    assert json.loads((engine / "watch.json").read_text())["breaks"] is True


def test_a_dry_run_records_nothing(engine: Path, index: FakeIndex) -> None:
    before = {path.name: path.read_bytes() for path in (engine / "snapshots" / "kiln").iterdir()}
    result = look(engine, index, "--dry-run")
    assert result.status == 1
    assert "Not recorded: a dry run." in result.out and "**1 name removed**" in result.out
    assert {path.name: path.read_bytes() for path in (engine / "snapshots" / "kiln").iterdir()} == before
    assert json.loads(look(engine, index, "--dry-run", "--json").out)["targets"][0]["recorded"] == []


def test_a_release_that_breaks_nothing_here(engine: Path, index: FakeIndex) -> None:
    (engine / "engine.py").write_text("import kiln\n\nkiln.fire(1, 2)\n")
    result = look(engine, index)
    assert result.status == 0
    assert "| `engine.py` | ✅ works | none | none | no: " in result.out
    assert "## kiln 2.0: 1 name removed\n" in result.out


def test_without_code_bases_the_changes_are_told(engine: Path, index: FakeIndex) -> None:
    (engine / "pyproject.toml").write_text(CONFIGURATION.replace('watch = ["engine.py"]\n', ""))
    result = look(engine, index)
    assert result.status == 0
    assert "code base" not in result.out and "- `raku`\n" in result.out


def test_several_releases_are_told_one_by_one(engine: Path, index: FakeIndex) -> None:
    put(index, "2.1", NEW)
    put(index, "1.0.post1", OLD.replace("def dry(pot)", "def dry(pots)"))
    form = json.loads(look(engine, index, "--json").out)
    steps = [(r["previous"], r["version"], len(r["code"][0]["findings"])) for r in form["targets"][0]["releases"]]
    assert steps == [("1.0", "1.0.post1", 0), ("1.0.post1", "2.0", 3), ("2.0", "2.1", 0)]
    assert (
        form["title"] == "kiln 2.0: 1 name removed, breaks 2 call sites of engine.py (1 silently), and 2 more releases"
    )


def test_the_first_look_of_all_records_and_does_not_compare(engine: Path, index: FakeIndex) -> None:
    for path in (engine / "snapshots" / "kiln").iterdir():
        path.unlink()
    result = look(engine, index)
    assert result.status == 0
    assert "`kiln`: 2 releases recorded, 1.0 to 2.0." in result.out
    assert recorded(engine) == ("1.0", "2.0")


# -- before it is released ---------------------------------------------------------------------------------------------


def test_pre_releases_are_recorded_beside_the_releases(engine: Path, index: FakeIndex) -> None:
    look(engine, index)
    put(index, "0.9rc1", OLD)
    put(index, "3.0rc1", NEW.replace("def dry(pot, *, fan=False): ...\n", ""))
    put(index, "3.0rc2", NEW.replace("def cool(pot): ...\n", ""))
    assert "nothing new" in look(engine, index).out
    result = look(engine, index, "--pre", "--json")
    releases = json.loads(result.out)["targets"][0]["releases"]
    assert [(r["previous"], r["version"], r["preview"], r["removed"]) for r in releases] == [
        ("2.0", "3.0rc1", True, ["dry"]),
        ("2.0", "3.0rc2", True, ["cool"]),
    ]
    assert recorded(engine) == ("1.0", "2.0")
    early = store.records(engine / "snapshots" / "kiln" / store.EARLY)
    assert [record.version for record in early] == ["0.9rc1", "3.0rc1", "3.0rc2"]
    put(index, "3.0rc3", NEW)
    assert "A pre-release." in look(engine, index, "--pre").out


def test_a_final_release_is_recorded_beside_a_preview(engine: Path, index: FakeIndex) -> None:
    put(index, "3.0rc1", NEW)
    releases = json.loads(look(engine, index, "--pre", "--json").out)["targets"][0]["releases"]
    assert [(r["previous"], r["version"], r["preview"]) for r in releases] == [
        ("1.0", "2.0", False),
        ("2.0", "3.0rc1", True),
    ]
    assert recorded(engine) == ("1.0", "2.0")


# -- what can go wrong -------------------------------------------------------------------------------------------------


def test_a_release_that_cannot_be_read_is_said(engine: Path, index: FakeIndex) -> None:
    index.add("kiln", "kiln-2.1-py3-none-any.whl", b"no archive")
    result = look(engine, index)
    assert result.status == 2
    assert "error: 2.1: " in result.err
    assert "⚠️ `2.1` could not be read: " in result.out and "### `kiln 2.0`, after `1.0`" in result.out
    assert recorded(engine) == ("1.0", "2.0")


def test_an_index_that_does_not_answer(engine: Path) -> None:
    own = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple/", "PIP_CONFIG_FILE": "/dev/null", "PIP_EXTRA_INDEX_URL": ""}
    result = run("watch", "--target", "kiln", cwd=engine, environment=own)
    assert result.status == 2
    assert result.err.startswith("error: ")
    assert recorded(engine) == ("1.0",)


def test_a_code_base_that_asks_for_what_nobody_knows(engine: Path, index: FakeIndex) -> None:
    (engine / "pyproject.toml").write_text(CONFIGURATION.replace("watch =", 'against = "kiln==9.9"\nwatch ='))
    result = look(engine, index)
    assert result.status == 1
    assert "| no: release 9.9 of kiln is not known |" in result.out


def test_a_code_base_that_is_not_there(engine: Path, index: FakeIndex) -> None:
    result = look(engine, index, "--code", "nowhere")
    assert result.status == 2
    assert "nowhere" in result.err


def test_names_and_paths_have_no_effect_as_markup(engine: Path, index: FakeIndex, tmp_path: Path) -> None:
    folder = engine / "<img src=x> `@ada` | [a](b)"
    folder.mkdir()
    (folder / "#1 | ``.py").write_text("import kiln\n\nkiln.raku('x')\n")
    body = look(engine, index, "--code", str(folder)).out
    prose = [part for line in body.splitlines() for part in outside_code(line)]
    assert not any("<img" in part or "@ada" in part or "[a](b)" in part for part in prose), body
    rows = [line for line in body.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {6}


def outside_code(line: str) -> list[str]:
    """What of a line of Markdown is not in a code span."""
    import re

    return re.split(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", line)[::2]


def test_a_body_stays_within_what_a_pull_request_may_have(tmp_path: Path, index: FakeIndex) -> None:
    many = "".join(f"def f{i}(a, b, *, a_rather_long_parameter_{i}=None): ...\n" for i in range(3000))
    put(index, "1.0", many)
    put(index, "2.0", "def one(): ...\n")
    (tmp_path / "code.py").write_text("import kiln\n" + "".join(f"kiln.f{i}(1, 2)\n" for i in range(500)))
    target = Target("kiln", "kiln", tmp_path / "snapshots")
    with PackageIndex(IndexSettings(index.url), Cache(tmp_path / "cache")) as client:
        index.yanked.add("kiln-2.0-py3-none-any.whl")
        update(target, index=client)
    index.yanked.clear()
    with PackageIndex(IndexSettings(index.url), Cache(tmp_path / "cache")) as client:
        news = watch(WatchRequest((target,), (CodeBase("code", (tmp_path / "code.py",)),)), client)
    body = render(news)
    assert len(body) < LONGEST
    assert "- … and 460 more" in body and "- … and 2800 more" in body
    assert title(news) == "kiln 2.0: 3000 names removed, breaks 500 call sites of code"


# -- the real one ------------------------------------------------------------------------------------------------------


@pytest.mark.network
@pytest.mark.slow
def test_flashinfer_0_7_4_as_sglang_0_5_23_would_have_met_it(tmp_path: Path) -> None:
    from driftwatch.snapshot.sources.cache import cache_root
    from driftwatch.snapshot.sources.fetch import fetch_project

    (shipped,) = (target for target in shipped_targets() if target.distribution == "flashinfer-python")
    history = store.load(shipped.snapshots)
    end = history.timeline.index("0.7.2.post1")
    early = [(store.snapshot_of(history, r.version), r) for r in store.records(shipped.snapshots)[: end + 1]]
    target = Target(
        shipped.distribution, shipped.module, tmp_path / "snapshots", data=shipped.data, since=shipped.since or "0.7.0"
    )
    store.write(target.snapshots, history.distribution, history.module, early)
    project = fetch_project("pypi:sglang==0.5.23")
    (news,) = watch(WatchRequest((target,), (CodeBase(project.label, (project.path,)),), cache=cache_root()))
    release = next(each for each in news.releases if each.version == "0.7.4")
    assert (news.before, release.previous) == ("0.7.2.post1", "0.7.2.post1")
    assert "0.7.4" in store.load(target.snapshots).timeline.versions
    form = next(r for r in json.loads(render_json([news]))["targets"][0]["releases"] if r["version"] == "0.7.4")
    assert len(form["removed"]) == 14
    (hits,) = release.code
    assert (hits.errors, hits.silent, hits.already, hits.allowed) == ((), (), 0, False)
    assert {(f.location.path, f.symbol, f.location.line) for f in hits.degraded if f.code == "DW201"} == {
        ("sglang/srt/layers/moe/token_dispatcher/flashinfer.py", f"flashinfer.comm.{name}", 51)
        for name in ("MoeAlltoAll", "moe_a2a_get_workspace_size_per_rank")
    }
    body = render([news])
    assert "**14 names removed** from `flashinfer.comm`:\n\n- `MoeAlltoAll`, used by `sglang 0.5.23`\n" in body
