"""``history``, ``diff`` and ``snapshot`` as processes, on the shipped snapshots and on a small library of one's own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli_process import LIBRARY, make_studio, run

KNOWN = "flashinfer.comm.allreduce_fusion"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("made"))


@pytest.fixture
def studio(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "studio")


# -- history -------------------------------------------------------------------------------------------------------


def test_the_five_changes_of_the_fused_allreduce() -> None:
    result = run("history", KNOWN)
    assert (result.status, result.err) == (0, "")
    lines = [line for line in result.out.splitlines() if re.match(r"  [0-9]", line)]
    assert [line.split()[0] for line in lines] == ["0.6.0", "0.6.8", "0.6.11", "0.6.12", "0.7.1"]
    said = {line.split()[0]: line for line in lines}
    assert "first release: (input, workspace, pattern, launch_with_pdl=False, output=None," in said["0.6.0"]
    assert "+ trigger_completion_at_end=True   breaking: position 5" in said["0.6.8"]
    assert "+ block_quant_group_size=None" in said["0.6.11"]
    assert "+ weight_bias=0.0" in said["0.6.12"]
    assert "+ moe_finalize_backend='trtllm'   by keyword only" in said["0.7.1"]
    added = re.findall(
        r"^ +(?:0\.6\.8 +)?\+ (moe_reduction_\w+|expanded\w+|expert\w+|shared\w+)=None$", result.out, re.MULTILINE
    )
    assert len(added) == 7


@pytest.mark.parametrize("symbol", ["allreduce_fusion", "flashinfer.comm:allreduce_fusion", "comm.allreduce_fusion"])
def test_every_way_to_name_it(symbol: str) -> None:
    assert run("history", symbol).out == run("history", KNOWN).out


def test_history_as_json() -> None:
    form = json.loads(run("history", KNOWN, "--format", "json").out)
    (symbol,) = form["symbols"]
    assert symbol["releases"][0] == "0.6.0" and len(symbol["releases"]) >= 39
    assert list(dict.fromkeys(change["release"] for change in symbol["changes"])) == [
        *("0.6.0", "0.6.8", "0.6.11", "0.6.12", "0.7.1")
    ]


def test_a_function_and_a_submodule_of_one_name_are_two_things() -> None:
    form = json.loads(run("history", "flashinfer.comm.all_gather_matmul", "--format", "json").out)
    assert {(symbol["symbol"], symbol["kind"]) for symbol in form["symbols"]} == {
        ("flashinfer.comm:all_gather_matmul", "function"),
        ("flashinfer.comm.all_gather_matmul", "module"),
    }


@pytest.mark.parametrize(
    ("symbol", "message", "hint"),
    [
        ("all_reduce_fusion", "has a symbol 'all_reduce_fusion'", "did you mean flashinfer.comm.allreduce_fusion"),
        ("flashinfer.comm.alreduce_fusion", "has a symbol", "did you mean flashinfer.comm.allreduce_fusion"),
        ("pandas.DataFrame.take", "no library with a module 'pandas'", "set up are flashinfer.comm"),
        ("flashinfr.comm.allreduce", "has a symbol 'flashinfr.comm.allreduce'", "did you mean flashinfer.comm"),
        ("zzzzqqqq", "has a symbol 'zzzzqqqq'", "names begin with flashinfer.comm"),
        ("checkpoint_prepare", "may be any of ", "say which: flashinfer.comm"),
        ("...", "has a symbol '...'", "names begin with"),
    ],
)
def test_a_symbol_that_is_not_there(symbol: str, message: str, hint: str) -> None:
    result = run("history", symbol)
    assert (result.status, result.out) == (2, "")
    first, second = result.err.splitlines()
    assert first.startswith("error: ") and message in first
    assert second.startswith(f"hint: {hint}")


# -- diff ----------------------------------------------------------------------------------------------------------


def test_the_fourteen_names_that_went() -> None:
    result = run("diff", "0.7.2.post1", "0.7.4")
    assert (result.status, result.err) == (0, "")
    head = result.out.split("\n\n")[1].splitlines()
    assert head[0].startswith("BREAKING: ")
    assert head[1] == "  14 names removed from flashinfer.comm"
    names = [line.split()[1] for line in head[2:16]]
    assert all(line.startswith("    - ") for line in head[2:16])
    assert names[0] == "MoeAlltoAll"
    assert sum(name.startswith("moe_a2a_") for name in names) == 7
    assert sum(name.startswith("gen_") for name in names) == 4
    assert sum(name.startswith("get_") for name in names) == 2
    assert result.out.splitlines()[-1].startswith("14 names removed from flashinfer.comm; ")


def test_diff_as_json() -> None:
    form = json.loads(run("diff", "0.7.2.post1", "0.7.4", "--format", "json").out)
    assert form["summary"]["removed"] == 14
    assert form["changes"][0]["grade"] == "breaking"


def test_the_way_back_is_the_other_way_round() -> None:
    assert json.loads(run("diff", "0.7.4", "0.7.2.post1", "--format", "json").out)["summary"]["removed"] > 0


@pytest.mark.parametrize(("old", "new", "bad"), [("0.7.3", "0.7.4", "0.7.3"), ("0.7.4", "9", "9")])
def test_an_unknown_release(old: str, new: str, bad: str) -> None:
    result = run("diff", old, new)
    assert (result.status, result.out) == (2, "")
    assert result.err.splitlines()[0] == f"error: release {bad} is not known"


def test_not_a_version() -> None:
    result = run("diff", "latest", "0.7.4")
    assert result.status == 2 and result.err.startswith("error: 'latest' is neither a release nor a folder")


# -- a library of one's own ----------------------------------------------------------------------------------------


def test_several_targets_must_be_told_apart(studio: Path) -> None:
    result = run("diff", "1.0", "2.0", cwd=studio)
    assert result.status == 2
    assert result.err == "error: there are several targets\nhint: say which with --target: flashinfer-python, kiln\n"
    result = run("diff", "1.0", "2.0", "--target", "kiln", cwd=studio)
    assert "    - raku\n" in result.out
    result = run("diff", "1.0", "2.0", "--target", "kilm", cwd=studio)
    assert result.err.startswith("error: 'kilm' is not a target\n")


def test_history_looks_in_every_target(studio: Path) -> None:
    assert "first release: (pot, minutes)" in run("history", "kiln.fire", cwd=studio).out
    assert run("history", KNOWN, cwd=studio).status == 0


def test_list(studio: Path) -> None:
    result = run("snapshot", "list", "--target", "kiln", cwd=studio)
    assert result.out.splitlines() == [
        "kiln  kiln, 3 releases",
        "  1.0  not from the index",
        "  1.1  not from the index",
        "  2.0  not from the index",
    ]
    form = json.loads(run("snapshot", "list", "--format", "json", cwd=studio).out)
    found = {target["distribution"]: [r["version"] for r in target["releases"]] for target in form["targets"]}
    assert found["kiln"] == list(LIBRARY)
    assert found["flashinfer-python"][0] == "0.2.7.post1" and "0.7.4" in found["flashinfer-python"]


def test_add_tells_what_is_new_and_how_to_see_it(studio: Path) -> None:
    (studio / "next").mkdir()
    (studio / "next" / "kiln.py").write_text(LIBRARY["2.0"].replace("cone=6", "cone"))
    result = run("snapshot", "add", "--target", "kiln", "2.1=next", cwd=studio)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        "  added    2.1",
        "kiln: 4 releases known",
        "what it changes: driftwatch diff 2.0 2.1",
    ]
    again = run("snapshot", "add", "--target", "kiln", "2.1=next", cwd=studio)
    assert again.out == "kiln: 4 releases known, nothing new\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "--target", "kiln", "nothing"], "error: 'nothing' is neither a release nor a folder"),
        (["add", "--target", "kiln", "other==1.0"], "error: 'other==1.0' is not a release of kiln"),
        (["verify", "--target", "kiln", "9"], "error: release 9 is not known"),
        (["list", "--target", "other"], "error: 'other' is not a target"),
        (["add", "1.0=."], "error: there are several targets"),
    ],
)
def test_bad_input(studio: Path, arguments: list[str], message: str) -> None:
    result = run("snapshot", *arguments, cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(message)
    assert "Traceback" not in result.err


def test_verify_says_what_it_cannot_make_again(studio: Path) -> None:
    result = run("snapshot", "verify", "--target", "kiln", cwd=studio)
    assert result.status == 0
    assert result.out.splitlines() == [
        "  skipped  1.0 to 2.0: nothing to make it from again",
        "kiln: 0 of 0 releases made again, byte for byte the same",
    ]


def test_update_without_an_index(studio: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "UV_INDEX_URL": "", "PIP_RETRIES": "0"}
    result = run("snapshot", "update", "--target", "kiln", cwd=studio, environment=nowhere)
    assert result.status == 2
    assert result.err.startswith("error: ") and "Traceback" not in result.err
    assert run("snapshot", "list", "--target", "kiln", cwd=studio).status == 0
