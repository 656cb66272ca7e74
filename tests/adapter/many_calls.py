"""As many calls of the bound functions as wanted, on all releases and all kinds of evidence, and what became of them.

Run it as ``python -m tests.adapter.many_calls 300000``. Every call fits the newest signature; a quarter are of
quantised outputs and a quarter MoE finalizes, as engines write them. Each must arrive as it was meant, but for
arguments that the release does anyway, or be refused by name; see `examine`. What comes of it is printed by evidence.
"""

from __future__ import annotations

import itertools
import logging
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.runtime import Adapter
from driftwatch.adapter.signatures import recorded
from driftwatch.snapshot.store import store
from driftwatch.targets.flashinfer_comm.conditions import CONDITIONS
from driftwatch.targets.target import choose, shipped_targets
from tests.adapter.recording import Recorder
from tests.adapter.test_adapter_every_release import VALUES, examine

MODES = tuple(itertools.product((None, ValueError, TypeError), (False, True)))
"""Whether the functions hide their signatures, and by which error; whether the version is one that nobody knows."""
MOE = ("expanded_idx_to_permuted_idx", "expert_scale_factor", "shared_expert_output", "quant_out", "scale_out")
QUANTISED = ("quant_out", "scale_out", "norm_out", "scale_factor", "layout_code", "block_quant_group_size")


def call(rng: random.Random, shape: Any) -> tuple[list[Any], dict[str, Any]]:
    """A call that fits a signature: some arguments by position, any of the rest by name."""
    count = rng.randrange(len(shape.positional) + 1)
    placed, often = shape.positional[:count], rng.random()
    chosen = {
        p.name: rng.choice(VALUES) for p in shape.parameters if p.required or p.name in placed or rng.random() < often
    }
    return [chosen.pop(name) for name in placed], chosen


def quantised(rng: random.Random, shape: Any) -> tuple[list[Any], dict[str, Any]]:
    """A call for a quantised output, by name, as engines write it."""
    chosen = {p.name: object() for p in shape.parameters if p.required}
    wanted = {"pattern": range(2, 15), "pattern_code": range(2, 15), "layout_code": (None, 0, 1, 2)}
    wanted |= {"block_quant_group_size": (None, 128), "trigger_completion_at_end": (True, False)}
    wanted |= {"launch_with_pdl": (True, False), "weight_bias": (0.0, 1.0), "use_oneshot": (None, True, False)}
    for name in (*QUANTISED, *wanted):
        if name in shape.names and (name in chosen or rng.random() < 0.8):
            chosen[name] = rng.choice(wanted[name]) if name in wanted else rng.choice((None, object()))
    return [], chosen


def moe(rng: random.Random, shape: Any) -> tuple[list[Any], dict[str, Any]]:
    """A call for a MoE finalize, by name, as engines write it."""
    chosen = {p.name: object() for p in shape.parameters if p.required}
    wanted: dict[str, Any] = {"pattern": (7, 12), "moe_finalize_backend": ("trtllm", "cake"), "backend": ("trtllm",)}
    wanted |= {"launch_with_pdl": (True, False), "weight_bias": (0.0, 1.0), "routed_scaling_factor": (None, 2.5)}
    for name in (*MOE, *wanted):
        if name in shape.names and (name in chosen or rng.random() < 0.8):
            chosen[name] = rng.choice(wanted[name]) if name in wanted else rng.choice((None, object()))
    return [], chosen


def play(total: int, seed: int = 1) -> Counter[tuple[str, str]]:
    """Make the calls, each of which must pass `examine`, and count what came of them by evidence."""
    target = choose(shipped_targets(), "flashinfer-python")
    history = store.load(target.snapshots)
    assert target.data is not None
    policy = load_policy(target.data / "policy.toml")
    data = make_plan(history, policy, history.timeline.all, companions=target.companions)
    shapes = {name: recorded(record["signatures"][-1][1]) for name, record in data["functions"].items()}
    fusing = [name for name, shape in shapes.items() if "quant_out" in shape.names]
    finalizing = [name for name, shape in shapes.items() if MOE[0] in shape.names and "rms_gamma" in shape.names]
    finalizing += [name for name, shape in shapes.items() if MOE[0] in shape.names and "norm_weight" in shape.names]
    rng, done = random.Random(seed), Counter[tuple[str, str]]()
    places = list(itertools.product(history.timeline.versions, MODES))
    rng.shuffle(places)
    each = -(-total // len(places))
    for release, (hide, unknown) in places:
        with pytest.MonkeyPatch.context() as patch:
            version = "9.9.9+fork" if unknown else None
            recorder = Recorder(history, release, hide=hide, version=version, functions=tuple(shapes))
            recorder.install(patch)
            adapter = Adapter(data, CONDITIONS)
            there = [name for name in shapes if name in recorder.functions]
            for number in range(each):
                kind, make, among = {0: ("quantised", quantised, fusing), 1: ("MoE", moe, finalizing)}.get(
                    number % 4, ("any", call, there)
                )
                name = rng.choice([known for known in among if known in there])
                made = make(rng, shapes[name])
                examine(adapter, data, recorder, name, made)
                done[adapter.bindings[name].evidence, kind] += 1
                done["outcome", "passed" if recorder.calls else "refused"] += 1
    return done


def main() -> None:
    logging.disable()  # what is dropped with a warning is warned of on each of the releases
    done = play(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for (what, kind), count in sorted(done.items()):
        print(f"{what:<10} {kind:<10} {count:>8}")


if __name__ == "__main__":
    main()
