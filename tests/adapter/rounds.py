"""One rank of a group that makes, runs and closes fused allreduces, round after round, on simulated builds.

Run as a script with a JSON file that says everything. It prints one line of JSON per round: what this rank saw. The
rounds are drawn from one seed, so that every rank draws the same; what differs between ranks is named in the round.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import torch.distributed as dist

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.simulated import Build, RaisingFinder, Workspace, uninstall

JUNK: tuple[dict[str, Any], ...] = (
    {"hidden_dim": None},
    {"max_token_num": "many"},
    {"timeout": "soon"},
    {"dtype": None},
    {"fused": object()},
    {"backend": []},
)
PAIRS = ("0.2.7.post1", "0.4.1", "0.5.3")
MAKING = ("early", "late", "compile", "interrupt", "exit")
"""Troubles in making the workspace."""
ERRORS = (ImportError, AssertionError, AttributeError, RuntimeError, TypeError)
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


class Forbidden:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a call read {name} of the adapter")


def load_adapter(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("fi_adapter", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fi_adapter"] = module
    spec.loader.exec_module(module)
    return module


def draw(rng: random.Random, size: int, world: int, number: int) -> dict[str, Any]:
    """A round: a kind of trouble, the rank it befalls, a release, and sizes."""
    releases = ["0.2.7.post1", "0.4.1", "0.5.3", "0.6.0", "0.6.9", "0.6.10", "0.6.12", "0.6.15", "0.7.4"]
    troubles = ["none", "none", "none", "build", "import", "early", "late", "require", "off", "hardware", "request"]
    troubles += ["junk", "look", "takes", "compile", "interrupt", "exit"]
    release = rng.choice(releases)
    trouble = troubles[number % len(troubles)]
    backend = rng.choice(["auto", "trtllm"] if release in PAIRS else ["auto", "trtllm", "mnnvl"])
    if trouble == "takes":
        release = rng.choice(["0.6.12", "0.6.15", "0.7.4"])
    if trouble in ("early", "late", "interrupt", "exit", "compile"):
        # The others meet in a collective that is theirs alone only where the build meets through its comm_backend; a
        # CPU group of the older pair is given up for good after a failure, so that has a run of its own.
        release = rng.choice(["0.6.0", "0.6.9", "0.6.15", "0.7.4"])
    if trouble == "compile":
        backend = "mnnvl"
    plan = {
        "backend": backend,
        "release": release,
        "trouble": trouble,
        "who": rng.randrange(size),
        "error": rng.randrange(len(ERRORS)),
        "mode": rng.choice(["auto", "auto", "require"]),
        "hidden": rng.choice([8, 40, 64, 264]),
        "dtype": rng.randrange(len(DTYPES)),
        "tokens": [rng.choice([0, 1, 2, 3, 17, 33, 129]) for _ in range(2)],
        "limit": rng.choice([1, 33, 200]),
        "bias": rng.choice([0.0, 0.0, 1.0]),
    }
    draws = rng.random(), rng.random()
    if draws[0] < 0.3 and release == "0.7.4" and trouble not in MAKING:  # it meets in collectives of torch's own
        plan |= {"backend": COMPILED, "hidden": 64, "dtype": DTYPES.index(torch.bfloat16)}
    plan["moe"] = draws[1] < 0.4 and (serves_moe(plan) or trouble in ("none", "require"))
    return plan


COMPILED = "mnnvl-cutedsl"


def serves_moe(plan: dict[str, Any]) -> bool:
    """Whether the plan's backend has a MoE finalize for its dtype."""
    return plan["backend"] != "mnnvl" and DTYPES[plan["dtype"]] != torch.float32


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    rank, world, size = int(sys.argv[2]), given["world"], given["size"]
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{given['port']}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=60),
    )
    torch.set_num_threads(1)
    group = None
    if size != world:
        groups = [dist.new_group(list(range(i, i + size))) for i in range(0, world, size)]
        group = groups[rank // size]
    place = rank % size
    target = shipped_targets()[0]
    history = store.load(target.snapshots)
    sys.meta_path.insert(0, RaisingFinder(ImportError("not installed")))
    fa = load_adapter(given["adapter"])
    sys.meta_path.pop(0)
    rng = random.Random(given["seed"])
    for number in range(given["rounds"]):
        plan = draw(rng, size, world, number)
        if given.get("only"):
            plan.update(given["only"])
        me = place == plan["who"]
        trouble = plan["trouble"]
        fa.FusedAllReduce.latched.clear()
        uninstall()
        finder = None
        release = "0.6.16" if trouble == "build" and me else plan["release"]
        lacks = ("allreduce_fusion.weight_bias",) if trouble == "takes" and me else ()
        build = Build(history, release, trouble if trouble in MAKING and me else None, lacks)
        if trouble == "import" and me:
            finder = RaisingFinder(ERRORS[plan["error"]]("broken install"))
            sys.meta_path.insert(0, finder)
        else:
            build.install()
        adapter = fa.Adapter(fa.DATA, fa.CONDITIONS)
        fa.install(adapter)
        if finder:
            sys.meta_path.remove(finder)
        capability: Any = (8, 0) if trouble == "hardware" and me else (10, 0)
        if trouble == "look" and me:
            capability = "no pair of numbers"
        fa.probe_machine = lambda capability=capability: fa.Machine(
            cuda=True,
            capability=capability,
            device=place,
            free_memory=1 << 40,
            node="here",
            gpu=f"GPU-{rank}",
            multicast=True,
            kind="cpu",
        )
        fa.unreachable = lambda machine, gpus: None
        mode = "auto" if trouble == "require" else plan["mode"]
        if trouble == "require" and me:
            mode = "require"
        if trouble == "off" and me:
            mode = "off"
        if trouble == "dead" and me:
            os._exit(7)
        hidden = plan["hidden"] * (2 if trouble == "request" and me else 1)
        dtype = DTYPES[plan["dtype"]]
        seen: dict[str, Any] = {"round": number, "plan": plan, "mode": mode}
        started = time.monotonic()
        try:
            asked = {"hidden_dim": hidden, "dtype": dtype, "max_token_num": plan["limit"], "fused": mode}
            asked |= {"timeout": given["timeout"], "launch_with_pdl": True, "backend": plan["backend"]}
            asked |= {"rms_eps": 1e-5, "weight_bias": plan["bias"], "top_k": 4}
            basic = [fa.NORM_PATTERN, fa.PLAIN_PATTERN] * (plan["backend"] == COMPILED)
            asked["patterns"] = [*basic, *[fa.MOE_PATTERN] * plan["moe"]]
            if trouble == "junk" and me:
                asked |= JUNK[number % len(JUNK)]
            with fa.FusedAllReduce(group, **asked) as op:
                seen["path"] = "fused" if op.decision.fused else "reference"
                seen["backend"] = op.terms and op.terms.backend
                seen["why"] = list(op.decision.objections)
                fa.FusedAllReduce.adapter = Forbidden()  # a call reads nothing that was not voted on
                seen["bad"] = check(fa, op, plan, group, build)
                seen["calls"] = op.calls
        except (fa.AdapterError, ValueError, KeyboardInterrupt, SystemExit) as error:
            seen["raised"] = type(error).__name__
            seen["message"] = str(error)
        fa.install(adapter)
        if trouble in ("early", "late"):  # nothing stands in the way now, but that it failed before
            build.fail_creation = None
            asked = {**asked, "fused": "auto"}
            with fa.FusedAllReduce(group, **asked) as op:
                seen["again"] = list(op.decision.objections)
            with fa.FusedAllReduce(group, **{**asked, "max_token_num": plan["limit"] + 1}) as op:
                seen["smaller"] = op.decision.fused
            fa.FusedAllReduce.forget_failures()
            with fa.FusedAllReduce(group, **asked) as op:
                seen["forgotten"] = op.decision.fused
        seen["seconds"] = time.monotonic() - started
        seen["alive"] = Workspace.alive
        seen["groups"] = len(dist.distributed_c10d._world.pg_map)
        print(json.dumps(seen), flush=True)
    if (given.get("only") or {}).get("trouble") != "dead":
        dist.barrier()  # the store lives in one of the processes: it must not end while another group still votes
        dist.destroy_process_group()


def check(fa: Any, op: Any, plan: dict[str, Any], group: Any, build: Build) -> list[str]:
    """Run the op on random inputs and hold it against float64."""
    bad = []
    for index, tokens in enumerate(plan["tokens"]):
        dtype = DTYPES[plan["dtype"]]
        parts, residual, weight = fa.make_inputs(tokens, op.request.hidden_dim, op.request.dtype, op.world_size)
        x = parts[op.rank]
        if index:  # a view that is not contiguous
            x = torch.stack([x, x], dim=-1)[..., 0]
        norm, total = fa.exact_result(parts, residual, weight, 1e-5, plan["bias"])
        can_run = op.can_run(x, plan["bias"])
        before = dict(op.calls)
        try:
            got = op(x, residual, weight, 1e-5, plan["bias"])
        except fa.FusedUnavailable:
            if not op.decision.required:
                bad.append("raised without being required")
            if can_run:
                bad.append("it said it could run this")
            continue
        if tokens and can_run != (op.calls["fused"] > before["fused"]):
            bad.append(f"it said can_run={can_run}, and did {op.calls} after {before}")
        for what, value, (want, bound) in (("norm", got[0], norm), ("residual", got[1], total)):
            if value.shape != x.shape or value.dtype != dtype:
                bad.append(f"{what} has the wrong form")
            elif not bool(((value.double() - want).abs() <= bound).all()):
                bad.append(f"{what} is off by {float(((value.double() - want).abs() - bound).max())}")
        if not index:
            bad += check_quantised(fa, op, (x, residual, weight, 1e-5, plan["bias"]), got)
        if tokens <= 33:
            bad += check_moe(fa, op, tokens, residual, weight, plan["bias"])
        if tokens <= op.request.max_token_num or not op.decision.required:
            plain = op.allreduce(x)
            limit = op.world_size * torch.finfo(dtype).eps * sum(p.double().abs() for p in parts)
            if not bool(((plain.double() - sum(p.double() for p in parts)).abs() <= limit).all()):
                bad.append(f"plain allreduce is off: {op.decision.fused} {dtype} {x.shape}")
    if any(call.get("trigger_completion_at_end", True) is not True for call in build.calls):
        bad.append("completion could be signalled early")
    return bad


def check_moe(fa: Any, op: Any, tokens: int, residual: Any, weight: Any, bias: float) -> list[str]:
    """A MoE finalize, on either path, is within what its roundings explain, and takes the path that is foretold."""
    made = fa.make_experts(tokens, op.request, op.world_size, 4)
    exact = [fa.exact_experts(*each) for each in made]
    experts, index, factor, shared = made[op.rank]
    before = dict(op.calls)
    can_run = op.can_run(residual, bias, pattern=fa.MOE_PATTERN)
    try:
        got = op.moe_finalize(experts, index, factor, residual, weight, 1e-5, bias, shared_expert_output=shared)
    except fa.FusedUnavailable:
        return [] if op.decision.required and not can_run else ["a MoE finalize raised"]
    bad = []
    if tokens and can_run != (op.calls["fused"] > before["fused"]):
        bad.append(f"a MoE finalize: can_run={can_run}, {op.calls} after {before}")
    off = sum((off for _, off in exact), torch.zeros(()))
    wanted = fa.exact_result([part for part, _ in exact], residual, weight, 1e-5, bias, off)
    for what, value, (want, bound) in (("norm", got[0], wanted[0]), ("residual", got[1], wanted[1])):
        if not bool(((value.double() - want).abs() <= bound).all()):
            bad.append(f"{what} of a MoE finalize is off by {float(((value.double() - want).abs() - bound).max())}")
    return bad


def check_quantised(fa: Any, op: Any, given: tuple[Any, ...], got: tuple[Any, Any]) -> list[str]:
    """Every kind of quantised output, on either path, is that of the normed output which the path gives."""
    bad = []
    rows, hidden = given[0].shape
    for kind in fa.PATTERNS:
        scale = torch.tensor([0.5]) if kind in fa.SCALED else None
        how = {"kind": kind, "scale": scale, "layout": "linear", "group_size": 8, "keep_norm": rows % 2 == 1}
        if fa.fault_of(kind, "linear", 8, hidden, scale):
            continue
        before = dict(op.calls)
        try:
            made = op.quantized(*given, **how)
        except fa.FusedUnavailable:
            if not op.decision.required:
                bad.append(f"{kind} raised without being required")
            continue
        pattern = fa.PATTERNS[kind][how["keep_norm"]]
        able = op.terms is not None and op.can_run(given[0], given[4], eps=given[3], pattern=pattern)
        if rows and able != (op.calls["fused"] > before["fused"]):
            bad.append(f"{kind}: {op.calls} after {before}")
        if not rows:
            continue
        alike = able == op.can_run(given[0], given[4])  # the sum of the other path is rounded elsewhere
        if alike and not torch.equal(made.residual, got[1]):
            bad.append(f"{kind} has another residual")
        if alike and made.norm.numel() and not torch.equal(made.norm, got[0]):
            bad.append(f"{kind} has another norm")
        norm = made.norm if made.norm.numel() else got[0]
        quant, scales = fa.quantize(norm, kind, scale, "linear", 8)
        same = torch.equal(made.quant.view(torch.uint8), quant.view(torch.uint8)) and torch.equal(made.scale, scales)
        if not same and (alike or made.norm.numel()):
            bad.append(f"{kind} is not that of the norm")
    return bad


if __name__ == "__main__":
    main()
