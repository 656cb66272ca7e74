"""``driftwatch adapter``: what it prints, writes and exits with; and the self-test's exit status under torchrun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def driftwatch(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "driftwatch", "adapter", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_write_then_check(tmp_path: Path, adapter_file: Path) -> None:
    made = driftwatch("write", "-o", "fi.py", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "fi.py").read_bytes() == adapter_file.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["fi.py"]
    checked = driftwatch("check", "fi.py", cwd=tmp_path)
    assert (checked.returncode, checked.stdout) == (0, "fi.py: current\n")
    with (tmp_path / "fi.py").open("a") as file:
        file.write("# mine\n")
    checked = driftwatch("check", "fi.py", cwd=tmp_path)
    assert (checked.returncode, checked.stdout) == (1, "fi.py: it was edited after it was made, or damaged\n")


def test_a_part(tmp_path: Path) -> None:
    arguments = ("--against", "flashinfer-python>=0.6.8,<0.7", "--functions", "allreduce_fusion", "-o", "fi.py")
    assert driftwatch("write", *arguments, cwd=tmp_path).returncode == 0
    assert driftwatch("check", "fi.py", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fi.py").read_text()
    assert "flashinfer-python 0.6.8 to 0.6.18.post1" in text
    assert "trtllm_allreduce_fusion: Callable" not in text


def test_two_files(tmp_path: Path) -> None:
    made = driftwatch("write", "--split", "-o", "fi.py", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fi.py", "fi_runtime.py"]
    assert driftwatch("check", "fi.py", cwd=tmp_path).returncode == 0
    (tmp_path / "fi_runtime.py").unlink()
    checked = driftwatch("check", "fi.py", cwd=tmp_path)
    assert checked.returncode == 1
    assert checked.stdout.startswith("fi.py: its run time beside it: cannot read ")


POLICY = """
functions = ["vllm_all_reduce"]

[[rule]]
functions = ["allreduce_fusion"]
parameters = ["weight_bias"]
equals = ["2.0"]
action = "drop"
because = "our layers fold it into the weight"
evidence = "layers/norm.py"
"""


def test_a_policy_of_one_s_own(tmp_path: Path) -> None:
    """More functions, and rules that come before the target's; a scan knows what is bound by the header."""
    (tmp_path / "driftwatch.toml").write_text('adapter-policy = "fi_policy.toml"\n')
    (tmp_path / "fi_policy.toml").write_text(POLICY)
    assert driftwatch("write", "-o", "fi.py", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fi.py").read_text()
    assert "vllm_all_reduce: Callable[..., Any] = ADAPTER.function" in text
    assert text.index("our layers fold it into the weight") < text.index("the build adds no bias to the weight")
    assert "vllm_all_reduce" in text.split("# functions: ")[1].splitlines()[0]
    assert driftwatch("check", "fi.py", cwd=tmp_path).returncode == 0
    (tmp_path / "fi_policy.toml").write_text(POLICY.replace("2.0", "3.0"))
    checked = driftwatch("check", "fi.py", cwd=tmp_path)
    assert checked.stdout == "fi.py: signatures of its functions, or the rules for them, changed\n"
    (tmp_path / "fi_policy.toml").write_text('embed = ["selftest"]\n')
    assert driftwatch("check", "fi.py", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("write", "--split"),
        ("write", "--split", "-o", "fi-adapter.py"),
        ("check", "none.py"),
        ("write", "--against", "nothing"),
        ("write", "--functions", "nothing"),
        ("write", "--colour"),
        ("write", "-o", "."),
        ("write", "-o", "no/such/folder/fi.py"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = driftwatch(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_device_is_written_to_and_a_link_is_followed(tmp_path: Path, adapter_file: Path) -> None:
    """Neither is replaced: for root, a regular file in the place of /dev/null would be the end of the machine."""
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "driftwatch", "adapter", "write", "-o", "pipe"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        assert (tmp_path / "pipe").read_bytes() == adapter_file.read_bytes()
    assert process.returncode == 0
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link.py").symlink_to("engine.py")
    assert driftwatch("write", "-o", "link.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "engine.py").read_bytes() == adapter_file.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("fused", "status"), [("auto", 0), ("require", 1), ("off", 0)])
def test_the_self_test(fused: str, status: int, adapter_file: Path, tmp_path: Path) -> None:
    """Without a build: what a compiler makes of it is tried here, on the CPU."""
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(adapter_file)]
    more = ["--json", "--fused", fused, "--hidden", "64", "--tokens", "0", "3", "--timeout", "30"]
    more += ["--compiler", "eager", "--output", str(tmp_path / "report.json")]
    done = subprocess.run([*command, *more], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == status, done.stderr[-2000:]
    outcome = json.loads(done.stdout)
    assert json.loads((tmp_path / "report.json").read_text()) == outcome
    assert bool(outcome["problems"]) == bool(status)
    assert outcome["machine"]["ranks"] == 2
    assert outcome["adapter"]["installed"]["error"]
    if status:
        assert "FusedUnavailable" in outcome["problems"][0]
        return
    turns = 3 + (4 if fused == "auto" else 0)  # each dtype, then each backend, then what is for a MoE
    assert [case["path"] for case in outcome["cases"]] == ["empty", "reference", "reference"] * turns
    (thorough,) = [case for case in outcome["cases"] if "compiled" in case]
    assert thorough["compiled"] == "eager"
    assert thorough["graph"] == "there are no graphs on this device"
    assert {tried["path"] for tried in thorough["quantised"]} == {"reference"}
    assert [tried["path"] for tried in thorough["moe"]] == ["reference"] * 3
    assert thorough["speed"]["microseconds"] > 0


def on_device(adapter_file: Path, *more: str, ranks: int = 2) -> tuple[int, dict[str, Any], str]:
    """The self-test through a device-checking stub of CUDA: its status, what it said, and its errors."""
    program = Path(__file__).with_name("on_device.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks), str(program)]
    options = [str(adapter_file), "--json", "--hidden", "64", "--dtypes", "bfloat16", "--timeout", "30", *more]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=240)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr[-3000:]


@pytest.mark.slow
def test_the_self_test_on_a_group_that_serves_no_cpu(adapter_file: Path) -> None:
    """Every collective gets tensors of the device alone, as NCCL wants them; every proof but a compiler's is made."""
    pytest.importorskip("torch")
    status, outcome, errors = on_device(adapter_file, "--tokens", "0", "3")
    assert status == 0, errors
    assert outcome["problems"] == []
    assert outcome["machine"]["device"] == "a device that is not there"
    assert {asked: said["backend"] for asked, said in outcome["backends"].items()} == {
        "auto": "mnnvl",
        "mnnvl": "mnnvl",
        "trtllm": "trtllm",
        "mnnvl-cutedsl": None,
        "auto, for kMoEFinalizeARResidualRMSNorm": "trtllm",
    }
    (why,) = set(outcome["backends"]["mnnvl-cutedsl"]["objections"][0].split(" says no: ")[:1])
    assert why == "rank 0: is_mnnvl_cutedsl_supported of flashinfer-python 0.7.4"
    paths_of_all = [case["path"] for case in outcome["cases"]]
    assert paths_of_all == ["empty", "fused", "reference"] * 3 + ["empty", "reference", "reference"] + [
        *("empty", "fused", "reference")
    ]
    of_experts = [[tried["path"] for tried in case["moe"]] for case in outcome["cases"] if "moe" in case]
    assert of_experts == [
        ["reference", "reference", "reference"],  # mnnvl, chosen
        ["fused", "fused", "reference"],  # trtllm, which has no quantised one
        ["reference", "reference", "reference"],  # mnnvl, named
        ["reference", "reference", "reference"],  # no kernels are compiled for such a shape
        ["fused", "fused", "reference"],
    ]
    (thorough,) = [case for case in outcome["cases"] if "quantised" in case]
    assert (thorough["graph"], thorough["chain"], thorough["speed"]["in_graphs"]) == ("replayed", "50 calls", True)
    paths = {tried["kind"]: tried["path"] for tried in thorough["quantised"]}
    assert paths == {"fp8": "fused", "nvfp4": "fused", "dynamic-fp8": "fused", "mxfp8": "fused"}


@pytest.mark.slow
def test_the_self_test_takes_halves_of_four_ranks(adapter_file: Path) -> None:
    pytest.importorskip("torch")
    status, outcome, errors = on_device(adapter_file, "--tokens", "2", "--backend", "trtllm", ranks=4)
    assert status == 0, errors
    half = outcome["backends"]["a half of the ranks"]
    assert (half["backend"], half["ranks"]) == ("trtllm", 2)
    of_experts = [[tried["path"] for tried in case["moe"]] for case in outcome["cases"] if "moe" in case]
    assert of_experts == [["fused", "fused", "reference"]] * 2  # of all four, and of the half


@pytest.mark.slow
def test_the_self_test_ends_red_where_nothing_was_launched(adapter_file: Path) -> None:
    pytest.importorskip("torch")
    status, outcome, _ = on_device(adapter_file, "--tokens", "0", "--fused", "require", "--backend", "mnnvl")
    assert status == 1
    assert outcome["problems"] == ["the fused path was required and was never launched"]


@pytest.mark.parametrize(
    ("against", "same"),
    [("0.7.4", "==0.7.4"), ("0.6.x", "==0.6.*"), ("flashinfer-python>=0.7", ">=0.7"), ("all", ">=0.1")],
)
def test_the_releases_are_written_as_for_a_scan(against: str, same: str, tmp_path: Path) -> None:
    made = []
    for number, text in enumerate((against, same)):
        file = tmp_path / f"{number}.py"
        done = driftwatch("write", "-o", file.name, "--against", text, "--functions", "allreduce_fusion", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        made.append([line for line in file.read_text().splitlines() if "releases" in line.lower()])
    assert made[0] == made[1]


def test_the_newest_release_is_one(tmp_path: Path) -> None:
    done = driftwatch("write", "-o", "a.py", "--against", "newest", cwd=tmp_path)
    assert (done.returncode, " to " in done.stderr) == (0, False), done.stderr
