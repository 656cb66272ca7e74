"""FlashInfer's advisories: each is told of one call, in just its releases, and not of another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftwatch.errors import UsageError
from driftwatch.flow.uses import Outcome
from driftwatch.releases import union
from driftwatch.rules.advisories import load
from driftwatch.rules.unsupported_gpu import parse_gpu
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.snapshot.store.store import load as load_history
from driftwatch.targets.target import shipped_targets
from tests.cli_process import run
from tests.known_releases import said

(TARGET,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
FLASHINFER = load_history(TARGET.snapshots)

CODE = """\
import torch.distributed as dist

import flashinfer.comm as comm
import flashinfer.comm.mnnvl as mnnvl
from flashinfer.comm import AllReduceFusionPattern


def make(x, n, group, mine, chosen, **rest):
    {}
"""
CREATE = "comm.create_allreduce_fusion_workspace"
BOTH = f"{CREATE}(backend='trtllm', comm_backend=mine)"
SINCE = "0.6.0 to 0.7.4"
WARPS = "TLLM_MOE_A2A_ONE_BLOCK_PER_TOKEN"


def fused(backend: str, arguments: str, more: str = "") -> str:
    """A fused allreduce over a workspace of some backend."""
    return f"w = {CREATE}(backend={backend}{more}); comm.allreduce_fusion(x, w, {arguments})"


def pair(arguments: str) -> str:
    return f"comm.trtllm_allreduce_fusion({arguments}, **rest)"


def swallowed(call: str) -> str:
    return f"\n    try:\n        return {call}\n    except Exception:\n        return None"


CASES: dict[str, tuple[str, str, str]] = {
    "mnnvl-workspace-over-mpi": (f"{CREATE}(world_size=n)", SINCE, f"{CREATE}(comm_backend=mine)"),
    "root-rank-is-global": (
        f"{CREATE}(backend='trtllm', comm_backend=mnnvl.TorchDistBackend(group=group))",
        "0.6.0 to 0.6.9",
        f"{CREATE}(backend='trtllm', comm_backend=mnnvl.TorchDistBackend(group=dist.group.WORLD))",
    ),
    "workspace-on-device-of-rank": (BOTH, "0.6.0 to 0.6.6", f"{CREATE}(backend='trtllm')"),
    "trtllm-across-nodes": (
        f"{CREATE}(backend='trtllm', world_size=16, gpus_per_node=8)",
        SINCE,
        f"{CREATE}(backend='trtllm', world_size=8, gpus_per_node=8)",
    ),
    "trtllm-wants-multicast": (BOTH, "0.6.0 to 0.6.9", f"{CREATE}(backend='auto')"),
    "fabric-probe-fails": (BOTH, "0.6.0 to 0.6.6", "comm.allreduce_fusion(x, mine, 0)"),
    "socket-named-by-seed": (BOTH, "0.6.0 to 0.6.9", "comm.allreduce_fusion(x, mine, 0)"),
    "mnnvl-without-vote": (f"{CREATE}(backend='mnnvl')", "0.6.16 to 0.7.4", f"{CREATE}(backend='auto')"),
    "confidential-computing": (f"{CREATE}(backend='mnnvl')", "0.6.16 to 0.7.4", f"{CREATE}(backend='auto')"),
    "libcudart-at-first-use": (swallowed(BOTH), "0.6.14 to 0.7.4", BOTH),
    "libcudart-at-first-use-of-auto": (
        swallowed(f"{CREATE}(world_size=n)"),
        "0.6.16 to 0.7.4",
        swallowed(f"{CREATE}(backend='mnnvl')"),
    ),
    "libcudart-at-first-use-of-the-pair": (
        swallowed("comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(n, n, n, n)"),
        "0.6.14 to 0.7.4",
        "comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(n, n, n, n)",
    ),
    "mnnvl-memory-over-pidfd": (
        "mnnvl.MnnvlMemory(mine, n)",
        "0.6.0 to 0.6.15.post1",
        "mnnvl.MnnvlMemory.initialize()",
    ),
    "plain-dcp-workspace": (
        "comm.decode_cp_a2a_allocate_workspace(n, n)",
        "0.6.10",
        "comm.decode_cp_a2a_allocate_workspace(n, n, mapping=mine)",
    ),
    "mnnvl-hangs-on-subnormals": (f"{CREATE}(comm_backend=mine)", "0.6.0 to 0.6.11.post3", BOTH),
    "mnnvl-function-hangs-on-subnormals": (
        "import flashinfer.comm.trtllm_mnnvl_ar as ar; ar.trtllm_mnnvl_all_reduce(*rest)",
        "0.2.8 to 0.6.11.post3",
        "import flashinfer.comm.trtllm_mnnvl_ar as ar; ar.mpi_barrier()",
    ),
    "mnnvl-misaligned-stages": (f"{CREATE}(backend=chosen)", "0.6.0 to 0.6.17", BOTH),
    "fp4-one-shot-launch": (
        fused("chosen", "AllReduceFusionPattern.kARResidualRMSNormFP4Quant"),
        "0.6.0 to 0.6.3",
        fused("chosen", "AllReduceFusionPattern.kARResidualRMSNormFP8Quant"),
    ),
    "fp4-one-shot-launch-of-the-pair": (
        pair("pattern_code=AllReduceFusionPattern.kARResidualRMSNormOutFP4Quant"),
        "0.6.0 to 0.6.3",
        pair("pattern_code=AllReduceFusionPattern.kARResidualRMSNorm"),
    ),
    "two-shot-registers": (pair("use_oneshot=False"), "0.2.7.post1 to 0.2.13", pair("use_oneshot=True")),
    "graph-buffers-without-base": (
        "comm.vllm_get_graph_buffer_ipc_meta(n)",
        "0.2.7.post1 to 0.4.1",
        "comm.vllm_meta_size()",
    ),
    "import-in-destructor": (BOTH, "0.6.0 to 0.6.4", "comm.allreduce_fusion(x, mine, 0)"),
    "one-shot-ignored-by-mnnvl": (
        fused("chosen", "1, use_oneshot=False"),
        "0.6.0 to 0.6.12",
        fused("'trtllm'", "1, use_oneshot=False"),
    ),
    "one-shot-beyond-mnnvl-workspace": (
        fused("'mnnvl'", "1, use_oneshot=True"),
        "0.6.13 to 0.7.4",
        fused("'mnnvl'", "1, use_oneshot=True", ", force_oneshot_support=True"),
    ),
    "mnnvl-without-quantisation": (fused("'mnnvl'", "2"), "0.6.0 to 0.6.12", fused("'trtllm'", "2")),
    "mnnvl-without-layout": (
        fused("'auto'", "1, layout_code=1"),
        "0.6.0 to 0.6.12",
        fused("'auto'", "1, layout_code=None"),
    ),
    "mnnvl-without-experts-and-blocks": (fused("'mnnvl'", "6"), "0.6.13 to 0.7.4", fused("'mnnvl'", "3")),
    "fp32-sum-ignored-by-mnnvl": (
        fused("'mnnvl'", "1, fp32_acc=True"),
        SINCE,
        fused("'trtllm'", "1, fp32_acc=True"),
    ),
    "fp32-sum-refused-by-cutedsl": (
        fused("'mnnvl-cutedsl'", "1, fp32_acc=True"),
        "0.7.2.post1 to 0.7.4",
        fused("'mnnvl-cutedsl'", "1, fp32_acc=False"),
    ),
    "early-completion-ignored-by-mnnvl": (
        fused("'mnnvl'", "1, trigger_completion_at_end=False"),
        "0.6.8 to 0.7.4",
        fused("'trtllm'", "1, trigger_completion_at_end=False"),
    ),
    "mnnvl-buffer-beyond-uint32": (
        f"{CREATE}(max_token_num=262144, hidden_dim=7168)",
        SINCE,
        f"{CREATE}(max_token_num=8192, hidden_dim=7168)",
    ),
    "workspace-beyond-comm-size": (
        "comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(n, 8, 65536, 8192)",
        "0.2.7.post1",
        "comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(n, 8, n, 8192)",
    ),
    "mnnvl-world-size": (
        f"{CREATE}(backend='mnnvl', world_size=6)",
        SINCE,
        f"{CREATE}(backend='mnnvl', world_size=32)",
    ),
    "trtllm-world-size": (
        f"{CREATE}(backend='trtllm', world_size=32)",
        SINCE,
        f"{CREATE}(backend='trtllm', world_size=n)",
    ),
    "one-sided-top-k-8": (
        "comm.MoeAlltoAll(mine, n, 10, n)",
        "0.6.0 to 0.6.7.post3",
        "comm.MoeAlltoAll(mine, n, 8, n)",
    ),
    "one-sided-top-k-22": (
        "comm.MoeAlltoAll(mine, n, top_k=24, num_experts=n)",
        "0.6.8 to 0.7.2.post1",
        "comm.MoeAlltoAll(mine, n, top_k=22, num_experts=n)",
    ),
    "one-sided-warps-hang": (
        f"import os; os.environ['{WARPS}'] = '0'; comm.MoeAlltoAll(mine, n, 4, n)",
        "0.6.0 to 0.6.13",
        f"import os; os.environ['{WARPS}'] = '1'; comm.MoeAlltoAll(mine, n, 4, n)",
    ),
    "one-sided-warps-gone": (
        f"import os; os.environ.setdefault('{WARPS}', chosen); comm.moe_a2a_dispatch(*rest)",
        "0.6.14 to 0.7.2.post1",
        f"import os; os.environ.get('{WARPS}', '0'); comm.moe_a2a_dispatch(*rest)",
    ),
}
ELSEWHERE = {
    "workspace-meets-on-world",
    "workspace-has-no-sub-group",
    "backend-chosen-unasked",
    "oneshot-by-token-count",
    "workspace-without-asked-metadata",
    "workspace-with-metadata",
    "workspace-with-metadata-alone",
    "workspace-in-symmetric-memory",
}
"""Those that test_rules_advisories tries."""


def told(tmp_path: Path, code: str) -> dict[str, str]:
    (tmp_path / "app.py").write_text(CODE.format(code))
    request = ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("<=0.7.4",), select=("DW401",))
    return {f.name: said(FLASHINFER.timeline, f.releases) for f in scan(request).findings}


def test_every_advisory_is_tried() -> None:
    known = {each.id for each in load(TARGET.data, FLASHINFER.timeline).advisories}
    assert CASES.keys() | ELSEWHERE == known


@pytest.mark.parametrize("name", CASES)
def test_an_advisory_is_told_of_what_it_is_about_and_of_nothing_else(tmp_path: Path, name: str) -> None:
    fires, releases, silent = CASES[name]
    assert told(tmp_path, fires).get(name) == releases
    assert name not in told(tmp_path, silent)


def test_a_backend_that_a_release_does_not_declare_is_an_error(tmp_path: Path) -> None:
    """And nothing is told of what the call would then do."""
    (tmp_path / "app.py").write_text(CODE.format(f"{CREATE}(backend='mnnvl-cutedsl', world_size=6)"))
    result = scan(ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("<=0.7.4",)))
    found = [(f.code, f.severity.value, said(FLASHINFER.timeline, f.releases)) for f in result.findings]
    assert ("DW107", "error", "0.6.0 to 0.7.2") in found
    assert said(FLASHINFER.timeline, result.targets[0].compatible) == "0.7.2.post1 to 0.7.4"
    told_of = [f.releases for f in result.findings if f.code == "DW401"]
    assert all(releases <= result.targets[0].compatible for releases in told_of)


KEPT = """\
class Fused:
    def __init__(self, backend='auto'):
        self.backend = backend

    def make(self):
        return CREATE(backend=self.backend)
"""


@pytest.mark.parametrize(
    ("source", "fires"),
    [
        ("def make(n):\n    return CREATE(backend=os.environ.get('BACKEND', 'auto'))", True),
        ("def make(n):\n    chosen = os.getenv('BACKEND', default='auto')\n    return CREATE(backend=chosen)", True),
        ("def make(n, config):\n    return CREATE(backend=config.get('backend', 'auto'))", True),
        ("def make(n, config):\n    return CREATE(backend=config.setdefault('backend', 'auto'))", True),
        ("CONFIG = {'size': 3}\ndef make(n):\n    return CREATE(backend=CONFIG.get('backend', 'auto'))", True),
        ("def make(n, backend='auto'):\n    return CREATE(backend=backend)", True),
        ("def make(n, *, backend: Literal['trtllm', 'auto']):\n    return CREATE(backend=backend)", True),
        ('def make(n, backend: \'Literal["trtllm", "auto"] | None\'):\n    return CREATE(backend=backend)', True),
        ("def make(n, backend: Optional[Literal['auto']] = None):\n    return CREATE(backend=backend)", True),
        (
            "Backend = Literal['trtllm', 'auto']\ndef make(n, backend: Backend):\n    return CREATE(backend=backend)",
            True,
        ),
        ("B = Literal['auto'] | None\ndef make(n, backend: 'B' = None):\n    return CREATE(backend=backend)", True),
        ("B = Literal['trtllm'] | Optional['B']\ndef make(n, backend: B):\n    return CREATE(backend=backend)", False),
        ("B = Literal['auto']\nB = str\ndef make(n, backend: B):\n    return CREATE(backend=backend)", False),
        (KEPT, True),
        ("def make(n, backend='trtllm'):\n    return CREATE(backend=backend)", False),
        ("def make(n):\n    return CREATE(backend=os.getenv('auto', 'trtllm'))", False),
        ("def make(n, backend):\n    return CREATE(backend=backend)", False),
    ],
)
def test_a_default_is_what_an_argument_may_be(tmp_path: Path, source: str, fires: bool) -> None:
    text = "import os\nfrom typing import Literal, Optional\nimport flashinfer.comm as comm\n\n"
    (tmp_path / "app.py").write_text(text + source.replace("CREATE", CREATE) + "\n")
    request = ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("<=0.7.4",), select=("DW401",))
    assert ("backend-chosen-unasked" in {finding.name for finding in scan(request).findings}) is fires


@pytest.mark.parametrize(
    ("arguments", "severity"),
    [
        ("backend: Literal['mnnvl-cutedsl', 'auto']", "warning"),
        ("backend='mnnvl-cutedsl'", "warning"),
        ("backend: Chosen", "warning"),
        ("backend: 'Chosen | None'", "warning"),
        ("backend", None),
    ],
)
def test_what_a_parameter_may_be_is_held_against_the_literals(
    tmp_path: Path, arguments: str, severity: str | None
) -> None:
    chosen = "from typing import Literal\nChosen = Literal['mnnvl-cutedsl', 'auto']\n"
    source = f"{chosen}import flashinfer.comm as comm\ndef make({arguments}):\n    return {CREATE}(backend=backend)\n"
    (tmp_path / "app.py").write_text(source)
    request = ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("0.7.2",), select=("DW107",))
    found = [finding.severity.value for finding in scan(request).findings]
    assert found == ([severity] if severity else [])


CREATE_PAIR = "comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(n, n, n, n)"
KERNELS: dict[str, tuple[str, str, str]] = {
    # A call, a GPU, and the releases without kernels for it.
    "trtllm-kernels": (CREATE_PAIR, "sm120", "0.3.1 to 0.6.16.post4"),
    "trtllm-kernels-with-sm12x": (CREATE_PAIR, "sm80", "0.3.1 to 0.7.4"),
    "trtllm-moe-kernels": ("comm.trtllm_moe_finalize_allreduce_fusion(**rest)", "sm80", "0.3.1 to 0.7.0.post1"),
    "trtllm-workspace-kernels": (f"{CREATE}(backend='trtllm')", "sm120", "0.6.0 to 0.6.16.post4"),
    "trtllm-workspace-kernels-with-sm12x": (f"{CREATE}(backend='trtllm')", "8.0", SINCE),
    "mnnvl-fusion-kernels": (fused("'mnnvl'", "1"), "sm120a", "0.6.13 to 0.7.4"),
    "mnnvl-cutedsl-kernels": (f"{CREATE}(backend='mnnvl-cutedsl')", "sm90", "0.7.2.post1 to 0.7.4"),
    "mixed-comm-kernels": (
        "import flashinfer.comm.mixed_comm as mixed; mixed.run_mixed_comm(mine, mine, x)",
        "sm103",
        "0.6.10 to 0.7.4",
    ),
}
RECORDED: dict[str, tuple[str, str, str]] = {
    "pair": (pair("pattern_code=0"), "sm120", "0.3.1 to 0.6.16.post4"),
    "pair-with-sm12x": (pair("pattern_code=0"), "sm80", "0.3.1 to 0.7.4"),
    "mnnvl": (
        "import flashinfer.comm.trtllm_mnnvl_ar as ar; ar.trtllm_mnnvl_allreduce(*rest)",
        "sm_120",
        "0.6.13 to 0.7.4",
    ),
    "dcp": ("comm.decode_cp_a2a_init_workspace(x, n, n)", "sm80", "0.6.10 to 0.7.0.post1"),
}
"""What the sources of releases say by themselves."""


def unsupported(tmp_path: Path, code: str, gpu: str | None) -> list[str]:
    (tmp_path / "app.py").write_text(CODE.format(code))
    asked = None if gpu is None else parse_gpu(gpu)
    target = Watched(FLASHINFER, TARGET.data)
    result = scan(ScanRequest((tmp_path,), (target,), against=("<=0.7.4",), select=("DW402",), gpu=asked))
    found = [finding.releases for finding in result.findings]
    return [said(FLASHINFER.timeline, union(found))] if found else []


def test_every_entry_about_gpus_is_tried() -> None:
    known = load(TARGET.data, FLASHINFER.timeline).kernels
    assert KERNELS.keys() == {each.id for each in known}
    for each in known:
        assert each.ground, each.id
        # Some of the names are gone in the newest of these releases.
        assert all(each.releases & FLASHINFER.present(symbol) for symbol in each.symbols), each.id


@pytest.mark.parametrize("name", [*KERNELS, *RECORDED])
def test_calls_are_held_against_a_gpu(tmp_path: Path, name: str) -> None:
    code, gpu, releases = {**KERNELS, **RECORDED}[name]
    assert unsupported(tmp_path, code, gpu) == [releases]
    assert unsupported(tmp_path, code, "sm100") == unsupported(tmp_path, code, None) == []


@pytest.mark.parametrize(
    ("handler", "line"), [("Exception", 6), ("BaseException", 6), ("TypeError", None), ("RuntimeError", None)]
)
def test_only_a_handler_for_anything_hides_that_kernels_are_not_there(
    tmp_path: Path, handler: str, line: int | None
) -> None:
    (tmp_path / "app.py").write_text(
        "import flashinfer.comm as comm\n\ndef run(x, n):\n    try:\n"
        f"        comm.decode_cp_a2a_init_workspace(x, n, n)\n    except {handler}:\n        pass\n"
    )
    target = Watched(FLASHINFER, TARGET.data)
    request = ScanRequest((tmp_path,), (target,), against=("==0.6.10",), select=("DW402",), gpu=parse_gpu("sm80"))
    (finding,) = scan(request).findings
    assert finding.caught_at == (None if line is None else ("app.py", line))
    assert finding.outcome is (None if line is None else Outcome.SILENT)


@pytest.mark.parametrize("text", ["", "h100", "sm", "sm9", "1000", "9.0.0"])
def test_what_is_no_gpu_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="is no GPU architecture"):
        parse_gpu(text)


def test_a_scan_is_asked_for_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CODE.format(pair("pattern_code=0")))
    command = ("scan", str(tmp_path), "--against", "0.6.9", "--select", "DW402", "--no-cache")
    assert run(*command).status == 0
    done = run(*command, "--gpu", "sm120")
    assert done.status == 1
    assert "error DW402 unsupported-gpu: the kernels behind `trtllm_allreduce_fusion`" in done.out
    assert run(*command, "--gpu", "h100").status == 2


def test_the_history_shows_the_gpus() -> None:
    done = run("history", "flashinfer.comm.trtllm_allreduce_fusion")
    assert "  kernels for sm9x, sm10x in 0.3.1 to 0.6.16.post4" in done.out
    assert "sm9x, sm10x, sm12x in 0.6.17 to " in done.out
    (symbol,) = json.loads(run("history", "flashinfer.comm.mixed_comm.run_mixed_comm", "--format", "json").out)[
        "symbols"
    ]
    assert [each["compute"] for each in symbol["kernels"]] == [["9.0", "10.0"]]


OLD = "0.2.7.post1 to 0.2.8, 0.2.10 to 0.2.14.post1"


@pytest.mark.parametrize(
    ("test", "message"),
    [
        # As text, "0.2.10" is less than "0.2.9".
        ('flashinfer.__version__ >= "0.2.9"', f"{OLD}; switched off in 11 releases that have it: {OLD}"),
        (
            "Version(flashinfer.__version__) >= Version('0.2.8')",
            "0.2.7.post1; switched off in a release that has it: 0.2.7.post1",
        ),
        ("hasattr(comm, 'trtllm_moe_finalize_allreduce_fusion')", None),
    ],
)
def test_a_guard_that_shuts_out_releases_that_have_the_thing_says_so(
    tmp_path: Path, test: str, message: str | None
) -> None:
    (tmp_path / "app.py").write_text(
        "import flashinfer\nimport flashinfer.comm as comm\nfrom packaging.version import Version\n\n\n"
        f"def make(x):\n    if {test}:\n        return comm.vllm_meta_size()\n    return x\n"
    )
    request = ScanRequest((tmp_path,), (Watched(FLASHINFER, TARGET.data),), against=("<=0.7.4",), select=("DW503",))
    found = [finding.message for finding in scan(request).findings]
    assert found == ([f"a test here leads past `vllm_meta_size` in {message}"] if message else [])
