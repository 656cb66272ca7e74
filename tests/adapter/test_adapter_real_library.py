"""The adapter on the real library, imported on the CPU: the newest release, and one of 0.6.x.

Each release runs in a process of its own, in the environment that the live parity tests use.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.live_parity.environment import environment, unpacked

pytestmark = [pytest.mark.network, pytest.mark.slow]

FUNCTIONS = {
    "allreduce_fusion",
    "create_allreduce_fusion_workspace",
    "trtllm_allreduce_fusion",
    "trtllm_create_ipc_workspace_for_all_reduce_fusion",
    "trtllm_destroy_ipc_workspace_for_all_reduce_fusion",
}
PROGRAM = """
import ctypes, importlib, json, sys, warnings
for library in sys.argv[3:]:
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
warnings.simplefilter("ignore")
sys.path[:0] = sys.argv[1:3]
import fi_adapter as fa
comm = fa.ADAPTER.installed.module
out = {"report": fa.report(), "own": {}, "outcomes": {}}
for name in fa.ADAPTER.bindings:
    if "." in name:
        continue  # a method is there on its class alone
    out["own"][name] = getattr(fa, name) is getattr(comm, name, None)
# What reaches the library: the target of every wrapper is replaced by one that binds as the real one does.
import inspect
for name, binding in fa.ADAPTER.bindings.items():
    if binding.target is None or "." in name or inspect.isclass(binding.target):
        continue
    signature = inspect.signature(binding.target)
    record = fa.DATA["functions"][name]
    newest = fa.recorded(record["signatures"][-1][1])
    needed = dict.fromkeys(newest.required)
    results = {}
    reached = []
    def spy(*args, **kwargs):
        reached.append(signature.bind(*args, **kwargs).arguments)
    spy.__signature__ = signature
    setattr(comm, name, spy)
    wrapper = fa.Adapter(fa.DATA, fa.CONDITIONS).bindings[name].function
    for parameter in newest.parameters:
        for value in (None, False, True, 0.0, 1.0, "trtllm", "cake", 3):
            reached.clear()
            try:
                wrapper(**{**needed, parameter.name: value})
                results[f"{parameter.name}={value!r}"] = "passed" if parameter.name in reached[0] else "dropped"
            except fa.UnsupportedArgument as error:
                results[f"{parameter.name}={value!r}"] = "refused"
    out["outcomes"][name] = results
print("RESULT" + json.dumps(out))
"""


@pytest.mark.parametrize("release", ["0.7.4", "0.6.12"])
def test_the_real_library(release: str, adapter_file: Path, tmp_path: Path) -> None:
    folder = Path(os.environ.get("DRIFTWATCH_PARITY_DIR") or Path(tempfile.gettempdir()) / "driftwatch-parity")
    found = environment(folder)
    source = unpacked("flashinfer-python", release, folder)
    command = [str(found.python), "-c", PROGRAM, str(source), str(adapter_file.parent), *map(str, found.libraries)]
    # The release writes caches into the home folder and compares its version with packages that are not here.
    home = {"HOME": str(tmp_path), "FLASHINFER_DISABLE_VERSION_CHECK": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **home})
    assert done.returncode == 0, done.stderr[-3000:]
    check(release, json.loads(done.stdout.partition("RESULT")[2]))


def check(release: str, out: dict[str, Any]) -> None:
    report = out["report"]
    assert report["installed"]["release"] == release
    assert report["installed"]["error"] is None
    there = {name: f for name, f in report["functions"].items() if f["state"] != "missing"}
    assert set(there) >= FUNCTIONS
    for function in there.values():
        assert function["evidence"] == "live"
        assert function["drift"] == []
    reasons = ("first in", "gone since", "although the release of that version has")  # the last: optional packages
    for name, function in report["functions"].items():
        assert name in there or any(reason in function["why"] for reason in reasons)
    if release == "0.7.4":
        assert all(out["own"][name] for name in there if "." not in name)
        assert all(set(results.values()) == {"passed"} for results in out["outcomes"].values())
        return
    assert {name: own for name, own in out["own"].items() if name in FUNCTIONS} == {
        "allreduce_fusion": False,
        "create_allreduce_fusion_workspace": False,
        "trtllm_allreduce_fusion": True,
        "trtllm_create_ipc_workspace_for_all_reduce_fusion": True,
        "trtllm_destroy_ipc_workspace_for_all_reduce_fusion": True,
    }
    fusion = out["outcomes"]["allreduce_fusion"]
    assert fusion["moe_finalize_backend='trtllm'"] == "dropped"
    assert fusion["moe_finalize_backend='cake'"] == "refused"
    assert {outcome for key, outcome in fusion.items() if not key.startswith("moe_finalize")} == {"passed"}
    workspace = out["outcomes"]["create_allreduce_fusion_workspace"]
    assert workspace["config=None"] == "dropped"
    assert workspace["top_k=3"] == "refused"
    assert workspace["group=3"] == "passed"
