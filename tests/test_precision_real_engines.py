"""What driftwatch says of released engines, exactly: each fact was checked against the release's own source by hand.

docs/precision.md tells of every finding in these and further releases.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from driftwatch.snapshot.store import store
from tests.cli_process import run
from tests.known_releases import said as known_said

pytestmark = [pytest.mark.network, pytest.mark.slow]

Report = dict[str, Any]
Scan = Callable[..., Report]
TIMELINE = store.load(store.shipped() / "flashinfer-python").timeline
FUSION = "sglang/srt/layers/flashinfer_comm_fusion.py"
DISPATCH = "sglang/srt/layers/moe/token_dispatcher/flashinfer.py"
UNIFIED = "flashinfer-python>=0.6.0"
DEVICE = "vllm/distributed/device_communicators"
WORKSPACE = f"{DEVICE}/flashinfer_all_reduce.py"
PASS = "vllm/compilation/passes/fusion/allreduce_rms_fusion.py"

EARLY = "0.6.0 to 0.6.7.post3"
NO_GROUP = "0.6.0 to 0.6.10"
NO_BIAS = "0.6.0 to 0.6.11.post3"


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    """The JSON report of a released project, held against some releases or, with none given, against its own pin."""
    folder = tmp_path_factory.mktemp("engines")

    @cache
    def report(project: str, *against: str) -> Report:
        ranges = [part for each in against for part in ("--against", each)]
        result = run("scan", f"pypi:{project}", *ranges, "--format", "json", "--fail-on", "never", cwd=folder)
        assert (result.status, result.err) == (0, "")
        loaded: Report = json.loads(result.out)
        return loaded

    return report


def releases(finding: Report) -> str:
    return known_said(TIMELINE, TIMELINE.set_of(finding["releases"]))


def said(report: Report, codes: str, path: str) -> list[tuple[str, int, str | None, str, str | None, int | None]]:
    """Code, line, parameter, releases, outcome and the line of the handler, of one file's findings in the range."""
    return [
        (f["code"], f["line"], f["parameter"], releases(f), f["outcome"], (f["caught_at"] or {}).get("line"))
        for f in report["findings"]
        if f["path"] == path and f["code"].startswith(codes) and f["releases"]
    ]


def errors(report: Report) -> list[str]:
    return [f"{f['path']}:{f['line']} {f['code']}" for f in report["findings"] if f["severity"] == "error"]


# -- SGLang ------------------------------------------------------------------------------------------------------------


def test_the_story_that_this_project_exists_for(scan: Scan) -> None:
    report = scan("sglang==0.5.12", UNIFIED)
    assert said(report, "DW1", FUSION) == [
        ("DW101", 401, "group", NO_GROUP, "silent", 404),
        ("DW101", 672, "trigger_completion_at_end", EARLY, "raises", None),
    ]
    (silent,) = (f for f in report["findings"] if f["outcome"] == "silent")
    assert len(silent["releases"]) == 15
    assert [(step["line"], step["note"]) for step in silent["trace"]] == [(390, "`group` is put into the dict here")]


def test_nothing_is_told_of_what_stands_behind_a_guard(scan: Scan) -> None:
    for release in ("0.5.12", "0.5.13"):
        old = TIMELINE.set_of(["0.5.3"])
        for finding in scan(f"sglang=={release}", "all")["findings"]:
            if finding["path"] == FUSION and finding["outcome"] != "guarded" and finding["code"] != "DW501":
                assert TIMELINE.set_of(finding["releases"]).isdisjoint(old), finding


def test_a_guarded_import_degrades_and_does_not_break(scan: Scan) -> None:
    report = scan("sglang==0.5.12", UNIFIED)
    assert said(report, "DW201", DISPATCH) == [
        ("DW201", 29, None, "0.7.4", "guarded", 36),
        ("DW201", 29, None, "0.7.4", "guarded", 36),
    ]
    (target,) = report["targets"]
    assert "0.7.4" in target["degraded"] and "0.7.4" in target["compatible"]


def test_the_fix_guards_both_keywords_and_leaves_a_probe_unguarded(scan: Scan) -> None:
    report = scan("sglang==0.5.13", UNIFIED)
    assert said(report, "DW1", FUSION) == []
    assert [line for _, line, *_ in said(report, "DW502", FUSION)] == [113, 116]
    assert [line for _, line, *_ in said(report, "DW501", FUSION)] == [107]


def test_a_keyword_that_no_release_takes(scan: Scan) -> None:
    """A float32 model switches the fused path off, in the pinned release too: nobody was told so far."""
    report = scan("sglang==0.5.23")
    assert errors(report) == []
    assert said(report, "DW101", FUSION) == [("DW101", 562, "use_fp32_lamport", "0.7.2", "silent", 590)]


# -- vLLM --------------------------------------------------------------------------------------------------------------


def test_vllm_against_older_releases(scan: Scan) -> None:
    report = scan("vllm==0.33.0", UNIFIED)
    assert said(report, "DW101", WORKSPACE) == [
        ("DW101", 89, "group", NO_GROUP, "silent", 105),
        ("DW101", 531, "trigger_completion_at_end", EARLY, "raises", None),
    ]
    assert said(report, "DW101", PASS) == [
        ("DW101", 265, "trigger_completion_at_end", EARLY, "raises", None),
        ("DW101", 265, "weight_bias", NO_BIAS, "raises", None),
    ]


def test_methods_of_workspaces_that_a_helper_collects(scan: Scan) -> None:
    report = scan("vllm==0.33.0", "==0.6.12")
    assert said(report, "DW203", WORKSPACE) == [
        ("DW203", 369, None, "0.6.12", "raises", None),
        ("DW203", 384, None, "0.6.12", "raises", None),
    ]


def test_a_closure_that_a_helper_calls_under_its_own_handler(scan: Scan) -> None:
    path = "vllm/models/muse_spark/nvidia/ops/mnnvl_fusions.py"
    found = said(scan("vllm==0.33.0", "all"), "DW202", path)
    older = "0.2.7.post1 to 0.7.2"
    assert found == [("DW202", line, None, older, "guarded", 52) for line in (67, 89, 111)]


@pytest.mark.parametrize(("release", "path", "line"), [("0.20.0", WORKSPACE, 54), ("0.26.0", WORKSPACE, 58)])
def test_an_omitted_group_is_told_before_it_was_passed_and_not_after(
    scan: Scan, release: str, path: str, line: int
) -> None:
    found = [
        (f["line"], releases(f))
        for f in scan(f"vllm=={release}", "all")["findings"]
        if f["path"] == path and f["code"] == "DW401" and f["parameter"] == "group"
    ]
    assert found == ([(line, "0.6.10.post1 to 0.6.14")] if release == "0.20.0" else [])


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_what_the_newest_release_removed(scan: Scan, engine: str) -> None:
    report = scan({"sglang": "sglang==0.5.23", "vllm": "vllm==0.33.0"}[engine], "==0.7.4")
    gone = {f["symbol"] for f in report["findings"] if f["code"] in ("DW201", "DW202") and f["releases"]}
    expected = {
        "sglang": {"flashinfer.comm.MoeAlltoAll", "flashinfer.comm.moe_a2a_get_workspace_size_per_rank"},
        "vllm": {"flashinfer.comm.trtllm_alltoall", "flashinfer.comm.trtllm_moe_alltoall"},
    }
    assert gone == expected[engine]


# -- at their pins -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "project",
    [
        "sglang==0.5.9",
        "sglang==0.5.12",
        "sglang==0.5.13",
        "sglang==0.5.20",
        "sglang==0.5.23",
        "vllm==0.14.0",
        "vllm==0.20.0",
        "vllm==0.26.0",
        "vllm==0.30.0",
        "vllm==0.33.0",
        "aphrodite-engine==0.24.1",
        "lmdeploy==0.18.0",
    ],
)
def test_no_error_at_the_pin(scan: Scan, project: str) -> None:
    report = scan(project)
    assert errors(report) == []
    assert report["summary"]["analysed"] >= 2


# -- other engines -----------------------------------------------------------------------------------------------------


def test_lmdeploy_falls_back_in_silence_too(scan: Scan) -> None:
    path = "lmdeploy/pytorch/backends/cuda/comm/flashinfer_allreduce.py"
    assert said(scan("lmdeploy==0.18.0", "all"), "DW1", path) == [
        ("DW101", 123, "group", NO_GROUP, "silent", 134),
        ("DW101", 157, "trigger_completion_at_end", EARLY, "raises", None),
        ("DW101", 188, "trigger_completion_at_end", EARLY, "raises", None),
    ]


def test_a_class_that_lacks_what_its_base_came_to_demand(scan: Scan) -> None:
    report = scan("vllm==0.14.0", "all")
    assert said(report, "DW302", f"{DEVICE}/all2all.py") == [
        ("DW302", 455, None, "0.6.0 to 0.6.15.post1", "raises", None)
    ]


def test_it_finds_its_way_through_four_callers(scan: Scan) -> None:
    path = "benchmarks/kernels/benchmark_fused_collective.py"
    found = [f for f in scan("vllm==0.14.0", "all")["findings"] if f["path"] == path and f["line"] == 191]
    assert {(f["outcome"], f["caught_at"]["line"]) for f in found if f["code"] != "DW301"} == {("silent", 495)}


def test_what_is_kept_under_unknown_keys_is_there_only_where_it_was_made(scan: Scan) -> None:
    path = "vllm/models/muse_spark/nvidia/muse_moe_runner.py"
    found = [f for f in scan("vllm==0.33.0", "all")["findings"] if f["path"] == path]
    assert [(f["code"], f["line"]) for f in found if f["code"] != "DW503"] == [("DW202", 187)]
    assert {(f["line"], releases(f)) for f in found if f["code"] == "DW503"} == {
        (224, "0.2.7.post1 to 0.7.2"),
        (252, "0.2.7.post1 to 0.7.2"),
        (276, "0.2.7.post1 to 0.7.2"),
    }


def test_a_backend_over_world_itself_is_right_to_meet_there(scan: Scan) -> None:
    """Its engine passes `group` as well, which the one release that always meets on WORLD does not take."""
    names = ("workspace-meets-on-world", "workspace-has-no-sub-group")
    assert [f["path"] for f in scan("vllm==0.33.0", "all")["findings"] if f["name"] in names] == []
    assert WORKSPACE in [f["path"] for f in scan("vllm==0.20.0", "all")["findings"] if f["name"] in names]


def test_a_constructor_whose_caller_goes_on_without_it(scan: Scan) -> None:
    path = "vllm/models/inkling/nvidia/ops/lamport.py"
    found = [f for f in scan("vllm==0.33.0", "all")["findings"] if f["path"] == path and f["code"] == "DW201"]
    assert [(f["line"], f["outcome"], f["caught_at"]["line"]) for f in found] == [
        (525, "silent", 780),
        (526, "silent", 780),
        (527, "silent", 780),
    ]


def test_a_worker_that_ends_with_a_status_hides_nothing(scan: Scan) -> None:
    path = "tests/kernels/moe/test_moe_layer.py"
    found = [f for f in scan("vllm==0.33.0", "all")["findings"] if f["path"] == path and f["code"] == "DW202"]
    # `os._exit(exit_code)`, of which 0 and 1 are known, and not that it is 1 behind the handler.
    assert [(f["line"], f["outcome"]) for f in found] == [(1830, "unknown")]


def test_what_a_workspace_was_made_with_decides_what_is_said_of_a_call(scan: Scan) -> None:
    """vLLM asks for the backend before it passes a layout, and its helper before it asks for one shot."""
    found = {
        (f["name"], f["path"], f["line"]): releases(f)
        for f in scan("vllm==0.33.0", "all")["findings"]
        if f["code"] == "DW401" and f["symbol"].endswith(".allreduce_fusion")
    }
    benchmark = "benchmarks/kernels/benchmark_fused_collective.py"
    assert found["mnnvl-without-layout", PASS, 265] == "0.6.12"
    assert ("mnnvl-without-layout", benchmark, 196) not in found
    assert ("one-shot-beyond-mnnvl-workspace", PASS, 265) not in found
    told = {line for name, path, line in found if name == "one-shot-beyond-mnnvl-workspace" and path == benchmark}
    assert told == {196}


def test_a_keyword_that_a_probe_has_found_is_passed_rightly(scan: Scan) -> None:
    found = scan("vllm==0.26.0", "all")["findings"]
    assert [f["line"] for f in found if f["code"] == "DW101" and f["path"].endswith("/all2all.py")] == []


def test_there_is_a_table_of_verdicts() -> None:
    text = (Path(__file__).parent.parent / "docs" / "precision.md").read_text(encoding="utf-8")
    assert all(project in text for project in ("sglang 0.5.23", "vllm 0.33.0", "lmdeploy 0.18.0"))
