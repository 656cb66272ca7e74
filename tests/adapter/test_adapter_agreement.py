"""What ranks agree on: equal ballots give equal paths, and no rule reads anything that was not voted on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.runtime import Adapter
from driftwatch.snapshot.model.history import History
from driftwatch.targets.flashinfer_comm import backends as backends_module
from driftwatch.targets.flashinfer_comm import machine as machine_module
from driftwatch.targets.flashinfer_comm.agreement import Decision, Request, Terms, decide, oneshot, why_not
from driftwatch.targets.flashinfer_comm.backends import UnifiedKernels
from driftwatch.targets.flashinfer_comm.conditions import CONDITIONS
from driftwatch.targets.flashinfer_comm.gates import known_fault, offers, workspace_bytes
from driftwatch.targets.flashinfer_comm.machine import Machine, unreachable
from driftwatch.targets.flashinfer_comm.vote import _packed, _unpacked
from driftwatch.targets.flashinfer_comm.workspaces import UnifiedWorkspace
from driftwatch.targets.target import Target
from tests.adapter.simulated import Build, uninstall

HERE = Machine(cuda=True, capability=(10, 0), device=0, free_memory=1 << 40, node="here", gpu="GPU-0", multicast=True)
ASKED = Request(64, "bfloat16", 128, "auto", launch_with_pdl=True, fp32_acc=True)


@pytest.fixture(scope="module")
def make(history: History, target: Target) -> Callable[..., Adapter]:
    """Adapters over simulated builds."""
    assert target.data is not None
    data = make_plan(history, load_policy(target.data / "policy.toml"), history.timeline.all)

    def made(release: str, lacks: tuple[str, ...] = (), says: str | None = None) -> Adapter:
        uninstall()
        build = Build(history, release, None, lacks)
        build.release = says or release
        build.install()
        try:
            return Adapter(data, CONDITIONS)
        finally:
            adapters.append(build)

    adapters: list[Build] = []
    return made


def ballot(adapter: Adapter, machine: Machine, request: Request, rank: int, size: int, world: int) -> dict[str, Any]:
    """As a rank casts it, and as it comes out of the store."""
    said = {
        "mode": "auto",
        "fault": None,
        "objection": None,
        "request": asdict(request),
        "backends": offers(adapter, request, machine, rank, size, world),
        **{name: getattr(machine, name) for name in ("node", "device", "gpu", "clique")},
    }
    out: dict[str, Any] = _unpacked(json.loads(json.dumps(_packed(said))))
    return out


def two(adapters: Any, machines: Any, request: Request = ASKED, world: int = 2) -> tuple[Decision, list[Any]]:
    ballots = [ballot(adapters[i], machines[i], request, i, 2, world) for i in range(2)]
    return decide(ballots, (0, 1)), ballots


def at(number: int, **other: Any) -> Machine:
    known: dict[str, Any] = {**asdict(HERE), "device": number, "gpu": f"GPU-{number}", **other}
    return Machine(**{**known, "capability": tuple(known["capability"])})


@settings(max_examples=150, derandomize=True)
@given(st.randoms(use_true_random=False))
@pytest.mark.slow
def test_ranks_that_differ_in_anything_take_one_path(make: Callable[..., Adapter], rng: random.Random) -> None:
    """Builds, parameters, versions and machines differ at random: a fused decision means equal rules for every call."""
    run, create = "allreduce_fusion", "create_allreduce_fusion_workspace"
    parameters = [f"{run}.weight_bias", f"{run}.trigger_completion_at_end", f"{run}.fp32_acc", f"{create}.group"]
    parameters += [f"{create}.gpus_per_node", "trtllm_allreduce_fusion.metadata"]
    release = rng.choice(["0.2.8", "0.5.3", "0.6.0", "0.6.9", "0.6.12", "0.7.4"])
    adapters, machines = [], []
    for rank in range(2):
        mine = release if rng.random() < 0.8 else rng.choice(["0.6.0", "0.7.4"])
        lacks = tuple(name for name in parameters if rng.random() < 0.15)
        adapters.append(make(mine, lacks, release if rng.random() < 0.7 else "9.9.9+fork"))
        capability = (10, 0) if rng.random() < 0.8 else rng.choice([(9, 0), (10, 3)])
        machines.append(at(rank, capability=capability, multicast=rng.choice([True, True, None, False])))
    request = Request(64, "bfloat16", 128, rng.choice(["auto", "trtllm", "mnnvl"]), True, True)
    decision, ballots = two(adapters, machines, request)
    for backend in decision.backends:
        mine, other = (Terms(**b["backends"][backend]["terms"]) for b in ballots)
        assert mine == other
        for tokens in (1, 2, 3, 128, 129):
            for bias in (0.0, 1.0):
                assert why_not(request, mine, tokens, bias) == why_not(request, other, tokens, bias)
            for asked in (None, True, False):
                assert oneshot(mine, 2, tokens, asked) == oneshot(other, 2, tokens, asked)
    if not decision.fused:
        assert decision.objections


def test_a_parameter_that_one_rank_lacks(make: Callable[..., Adapter]) -> None:
    """The version string is the same: only the live signature tells."""
    decision, _ = two([make("0.7.4"), make("0.7.4", ("allreduce_fusion.weight_bias",))], [at(0), at(1)])
    assert not decision.fused
    assert decision.objections == ("allreduce_fusion takes weight_bias on rank 0, and not on rank 1",)


class Forbidden:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a launch read {name}")


def test_a_launch_reads_the_terms_alone(make: Callable[..., Adapter]) -> None:
    decision, ballots = two([make("0.7.4"), make("0.7.4")], [at(0), at(1)])
    calls: list[dict[str, Any]] = []
    for backend in decision.backends:
        kernels = UnifiedKernels.__new__(UnifiedKernels)
        kernels.terms = Terms(**ballots[0]["backends"][backend]["terms"])
        kernels._size, kernels._fixed, kernels._triggers = 2, {}, True
        kernels.share = SimpleNamespace(workspace=SimpleNamespace(object=Forbidden()))  # type: ignore[assignment]
        kernels._run = lambda **arguments: calls.append(arguments)

        class Rows:
            shape = (1, 64)

        kernels.launch(Rows(), "kAllReduce", None, False, output=Rows())  # type: ignore[arg-type]
    assert decision.backends == ("mnnvl", "trtllm")
    assert [(call["use_oneshot"], call["trigger_completion_at_end"]) for call in calls] == [
        (None, False),
        (True, False),
    ]


@pytest.mark.parametrize(
    ("backend", "tokens", "asked", "passed"),
    [
        ("mnnvl", 12, None, None),
        ("mnnvl", 12, True, None),
        ("trtllm", 12, None, True),
        ("trtllm", 16, False, True),
        ("trtllm", 17, None, None),
        ("trtllm", 17, False, False),
    ],
)
def test_one_shot_is_forced_on_trtllm_alone(backend: str, tokens: int, asked: bool | None, passed: bool | None) -> None:
    """A workspace of mnnvl is not sized for it: 12 tokens of 7168 on 16 ranks raised."""
    terms = Terms(backend, "unified", "", "current", {"allreduce_fusion": []}, {}, None, None)
    assert oneshot(terms, 16, tokens, asked) is passed


def test_the_order_of_backends(make: Callable[..., Adapter]) -> None:
    """mnnvl where it may be chosen unasked, then trtllm; what was passed over is said."""
    adapter = make("0.7.4")
    both, machines = [adapter, adapter], [at(0), at(1)]
    assert two(both, machines)[0].backends == ("mnnvl", "trtllm")
    hopper = two(both, [at(0, capability=(9, 0)), at(1, capability=(9, 0))])[0]
    assert hopper.backends == ("trtllm",)
    assert "only when it is asked for" in hopper.passed_over[0]
    nothing_known = two(both, [at(0, multicast=None), at(1, multicast=None)])[0]
    assert nothing_known.backends == ("trtllm",)
    old = make("0.6.11")
    assert two([old, old], machines)[0].backends == ("trtllm",)
    mnnvl = Request(64, "bfloat16", 128, "mnnvl", launch_with_pdl=True, fp32_acc=True)
    assert two([old, old], machines, mnnvl)[0].backends == ("mnnvl",)
    assert not two(both, [at(0, multicast=False), at(1)], mnnvl)[0].fused


@pytest.mark.parametrize(("size", "able"), [(2, True), (3, False), (16, True), (32, True), (64, True), (128, False)])
def test_sizes_of_groups(size: int, able: bool, make: Callable[..., Adapter]) -> None:
    adapter = make("0.7.4")
    found = offers(adapter, ASKED, HERE, 0, size, size)
    assert (found["mnnvl"]["objection"] is None) == able
    assert (found["trtllm"]["objection"] is None) == (able and size <= 16)


@pytest.mark.parametrize(
    ("release", "backend", "able"),
    [
        ("0.6.10", "mnnvl", True),
        ("0.6.10", "trtllm", False),
        ("0.6.10.post1", "trtllm", True),
        ("0.6.9", "trtllm", True),
    ],
)
def test_a_part_of_the_ranks(release: str, backend: str, able: bool, make: Callable[..., Adapter]) -> None:
    adapter = make(release)
    request = Request(64, "bfloat16", 128, backend, launch_with_pdl=True, fp32_acc=True)
    assert two([adapter, adapter], [at(0), at(1)], request, world=4)[0].fused == able


def test_the_device_of_early_releases(make: Callable[..., Adapter]) -> None:
    """Up to 0.6.6 trtllm allocates on the device of the rank, mnnvl on that of the rank on its node."""
    adapter = make("0.6.6")
    mnnvl = Request(64, "bfloat16", 128, "mnnvl", launch_with_pdl=True, fp32_acc=True)
    trtllm = Request(64, "bfloat16", 128, "trtllm", launch_with_pdl=True, fp32_acc=True)

    def fused(request: Request, places: list[tuple[str, int]], clique: str = "domain/0") -> Decision:
        machines = [at(i, device=device, node=node, clique=clique) for i, (node, device) in enumerate(places)]
        size = len(places)
        ballots = [ballot(adapter, machines[i], request, i, size, size) for i in range(size)]
        return decide(ballots, tuple(range(size)))

    nodes = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    over_nodes = fused(mnnvl, nodes)
    assert (over_nodes.fused, over_nodes.gpus_per_node) == (True, 2)
    assert "in no NVLink domain" in fused(mnnvl, nodes, clique="").reason
    assert "rank 2 is on b" in fused(trtllm, [("a", 0), ("a", 1), ("b", 2), ("b", 3)]).reason
    assert "allocates on device 1, the rank's number on its node" in fused(mnnvl, [("a", 0), ("a", 2)]).reason
    assert "allocates on device 1, the rank's own number" in fused(trtllm, [("a", 0), ("a", 2)]).reason


def test_two_ranks_on_one_device(make: Callable[..., Adapter]) -> None:
    adapter = make("0.7.4")
    assert two([adapter, adapter], [at(0), at(1, gpu="GPU-0")])[0].reason == (
        "rank 1 runs on the same device as rank 0"
    )


def test_peers_are_those_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight visible devices two are in the group; a process that sees one device asks the driver."""
    torch = pytest.importorskip("torch")
    names = [f"GPU-{number}" for number in range(8)]
    asked: list[Any] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(names))
    monkeypatch.setattr(machine_module, "_gpu", lambda index: names[index])
    monkeypatch.setattr(torch.cuda, "can_device_access_peer", lambda a, b: asked.append(b) or b != 7)
    machine = at(0)
    assert unreachable(machine, ["GPU-0", "GPU-1"]) is None
    assert asked == [1]
    assert unreachable(machine, ["GPU-0", "GPU-7"]) == "GPU-7"
    names[:] = ["GPU-0"]
    monkeypatch.setattr(machine_module, "_reached_by_driver", lambda gpu, other: other == "GPU-1")
    assert unreachable(machine, ["GPU-0", "GPU-1"]) is None
    assert unreachable(machine, ["GPU-0", "GPU-5"]) == "GPU-5"

    def no_driver(gpu: str, other: str) -> bool:
        raise ImportError("pynvml")

    monkeypatch.setattr(machine_module, "_reached_by_driver", no_driver)
    assert unreachable(machine, ["GPU-0", "GPU-5"]) is None


def test_limits(make: Callable[..., Adapter]) -> None:
    """What engines fuse at most, unless another limit is asked for; and what a workspace may take."""
    adapter = make("0.7.4")

    def limit(**asked: Any) -> int | None:
        request = Request(64, "bfloat16", 128, "trtllm", True, True, **asked)
        _, ballots = two([adapter, adapter], [at(0), at(1)], request)
        terms = Terms(**ballots[0]["backends"]["trtllm"]["terms"])
        return terms.max_bytes

    assert limit() == 64 << 20
    assert limit(max_bytes=4096) == 4096
    assert limit(max_bytes=0) is None
    terms = Terms("trtllm", "unified", "", "current", {"allreduce_fusion": []}, {}, None, 4096, ["kARResidualRMSNorm"])
    assert why_not(ASKED, terms, 32, 0.0) is None
    assert "more than 4096 bytes" in str(why_not(ASKED, terms, 33, 0.0))
    large = Request(16384, "float32", 100_000, "mnnvl", launch_with_pdl=True, fp32_acc=True)
    assert workspace_bytes(large, "mnnvl", 8) == 3 * 2 * 100_000 * 16384 * 4
    assert "is the most" in offers(adapter, large, HERE, 0, 8, 8)["mnnvl"]["objection"]


class Meeting:
    """A meeting of one that plays two."""

    ranks, rank, timeout = (0, 1), 0, 1.0

    def gather(self, value: Any) -> list[Any]:
        return [(0, 2), (1, 2)] if isinstance(value, tuple) else [value, value]


def test_a_workspace_without_a_multicast_pointer(make: Callable[..., Adapter], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from tests.adapter import simulated

    adapter = make("0.6.9")
    _, ballots = two([adapter, adapter], [at(0), at(1)], Request(64, "bfloat16", 8, "mnnvl", True, True))
    terms = Terms(**ballots[0]["backends"]["mnnvl"]["terms"])
    state = random.getstate()
    made = UnifiedWorkspace(adapter, terms, ASKED, None, Meeting(), 2)  # type: ignore[arg-type]
    assert made.object.mc_ptr
    assert random.getstate() == state, "the caller's random numbers are the caller's"
    made.destroy()
    drawn = []
    real = simulated.Build._create

    def create(self: Build, a: dict[str, Any]) -> Any:
        drawn.append(random.random())
        workspace = real(self, a)
        workspace.mc_ptr = 0
        return workspace

    monkeypatch.setattr(simulated.Build, "_create", create)
    adapter = make("0.6.9")
    for _ in range(2):  # two groups that are seeded alike
        random.seed(5)
        with pytest.raises(RuntimeError, match="no multicast pointer"):
            UnifiedWorkspace(adapter, terms, ASKED, None, Meeting(), 2)  # type: ignore[arg-type]
    assert drawn[0] != drawn[1], "both would name their sockets alike"
    assert simulated.Workspace.alive == 0


def test_stages_that_are_not_aligned(make: Callable[..., Adapter], monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception on the device would end the process: it is told before, so that all ranks take the next backend."""
    pytest.importorskip("torch")
    from tests.adapter import simulated

    adapter = make("0.6.15")
    _, ballots = two([adapter, adapter], [at(0), at(1)])
    terms = Terms(**ballots[0]["backends"]["mnnvl"]["terms"])
    real = simulated.Build._create

    def create(self: Build, a: dict[str, Any]) -> Any:
        workspace = real(self, a)
        workspace.buffer_size_bytes = 699_056
        return workspace

    monkeypatch.setattr(simulated.Build, "_create", create)
    with pytest.raises(RuntimeError, match="would not be aligned"):
        UnifiedWorkspace(make("0.6.15"), terms, ASKED, None, Meeting(), 2)  # type: ignore[arg-type]
    assert simulated.Workspace.alive == 0


def test_what_is_known_to_go_wrong_is_told(make: Callable[..., Adapter]) -> None:
    assert "negative subnormal" in str(known_fault(make("0.6.10"), "mnnvl"))
    assert known_fault(make("0.6.10"), "trtllm") is None
    assert known_fault(make("0.6.12"), "mnnvl") is None


def test_a_kernel_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Kernels:
        terms = SimpleNamespace(serves=("kAllReduce", "kARResidualRMSNorm"), has=lambda name: True)

        def launch(self, x: Any, pattern: str, *how: Any, **outputs: Any) -> None:
            for name in ("output", "residual_out", "norm_out"):
                if name in outputs:
                    outputs[name].fill_(1 if name == "norm_out" else wrong)

    wrong = 2
    machine = at(0, kind="cpu")
    backends_module.warm_up(Kernels(), ASKED, machine, 2, 0.1)  # type: ignore[arg-type]
    wrong = 3
    with pytest.raises(RuntimeError, match="kAllReduce: 2 ones were not summed to 2"):
        backends_module.warm_up(Kernels(), ASKED, machine, 2, 0.1)  # type: ignore[arg-type]
    event = type("Event", (), {"record": lambda self: None, "query": lambda self: False})
    monkeypatch.setattr(torch.cuda, "Event", event)
    monkeypatch.setattr(torch, "device", lambda name: "cpu")
    with pytest.raises(backends_module.Stuck, match="not ended within"):
        backends_module.warm_up(Kernels(), ASKED, at(0), 2, 0.1)  # type: ignore[arg-type]


@settings(derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_what_goes_through_the_store_comes_out_as_it_was(value: Any) -> None:
    again = _unpacked(json.loads(json.dumps(_packed(value))))
    assert again == value
    assert type(again) is type(value)


def test_nothing_but_data_goes_through_the_store() -> None:
    with pytest.raises(TypeError, match="a object cannot be sent"):
        _packed([object()])
