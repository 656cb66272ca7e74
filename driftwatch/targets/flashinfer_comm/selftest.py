"""What ``python FILE`` and ``torchrun FILE`` do.

The report, and the fused path held against two references.

Enters: an adapter and command line arguments. Leaves: text on stdout, and an exit
status: 1 when the fused path was asked for and did not run, or when numbers disagree.
Errors are held against a bound that follows from how the dtype rounds, element by
element, not against a tolerance that was tuned.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from driftwatch.adapter.runtime import Adapter, as_table
from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.agreement import (
    AUTO,
    BACKENDS,
    MODES,
    OFF,
    REQUIRE,
)
from driftwatch.targets.flashinfer_comm.asked import MODE_VARIABLE
from driftwatch.targets.flashinfer_comm.fused import FusedAllReduce
from driftwatch.targets.flashinfer_comm.vote import Meeting

if TYPE_CHECKING:
    import torch


def main(adapter: Adapter, arguments: Sequence[str] | None = None) -> int:
    """Print the report; under torchrun, run the self-test."""
    parser = argparse.ArgumentParser(
        description="what this adapter found, and under torchrun whether it is right"
    )
    parser.add_argument("--json", action="store_true", help="print data, not a table")
    parser.add_argument(
        "--fused", choices=MODES, default=AUTO, help="what to ask for (default: auto)"
    )
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default=AUTO,
        help="whose kernels (default: auto)",
    )
    parser.add_argument(
        "--hidden", type=int, nargs="+", default=[1024, 4096], help="hidden sizes"
    )
    parser.add_argument(
        "--tokens",
        type=_number,
        nargs="+",
        default=[0, 1, 7, 128, 515],
        help="numbers of tokens",
    )
    dtypes = ["bfloat16", "float16", "float32"]
    parser.add_argument(
        "--dtypes", nargs="+", choices=dtypes, default=dtypes, help="dtypes"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=120.0,
        help="seconds to wait for the other ranks",
    )
    options = parser.parse_args(arguments)
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        _say(
            json.dumps(adapter.report(), indent=2)
            if options.json
            else as_table(adapter.report())
        )
        return 0
    return _self_test(adapter, options)


def _number(text: str) -> int:
    """A number of tokens."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens")
    return int(text)


def _self_test(adapter: Adapter, options: argparse.Namespace) -> int:
    import torch
    import torch.distributed as dist

    cuda = torch.cuda.is_available()
    device = torch.device("cpu")
    if cuda:
        device = torch.device(
            "cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
        )
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo")
    asked = os.environ.get(MODE_VARIABLE) or options.fused
    outcome: dict[str, Any] = {"asked": asked, "cases": [], "problems": []}
    try:
        for hidden in options.hidden:
            for dtype in options.dtypes:
                _try_shapes(outcome, options, hidden, getattr(torch, dtype), device)
        if asked == REQUIRE and not any(
            "fused" in case["path"] for case in outcome["cases"]
        ):
            outcome["problems"].append(
                "the fused path was required and was never launched"
            )
    except Exception as error:
        # Whatever a kernel or a driver raises is what the report is for
        outcome["problems"].append(
            f"rank {os.environ['RANK']}: {type(error).__name__}: {error}"
        )
    try:
        meeting = Meeting(None, options.timeout)
        said = meeting.vote({"problems": outcome["problems"]})
        outcome["problems"] = sorted(
            {problem for ballot in said for problem in ballot["problems"]}
        )
        meeting.end()
    except AdapterError as error:
        outcome["problems"].append(f"{type(error).__name__}: {error}")
    if int(os.environ["RANK"]) == 0:
        _say(
            json.dumps(outcome, indent=2)
            if options.json
            else _as_text(adapter, outcome)
        )
    dist.destroy_process_group()
    return 1 if outcome["problems"] else 0


def _try_shapes(
    outcome: dict[str, Any],
    options: argparse.Namespace,
    hidden: int,
    dtype: torch.dtype,
    device: torch.device,
) -> None:
    limit = max(1, *options.tokens)
    timeout, backend = options.timeout, options.backend
    with (
        FusedAllReduce(
            None,
            hidden,
            dtype,
            limit,
            options.fused,
            backend=backend,
            timeout=timeout,
            max_bytes=0,
        ) as op,
        _without_environment(
            lambda: FusedAllReduce(None, hidden, dtype, limit, OFF, timeout=timeout)
        ) as reference,
    ):
        for tokens in options.tokens:
            outcome["cases"].append(
                _try_one(outcome["problems"], op, reference, tokens, device)
            )


def _try_one(
    problems: list[str],
    chosen: FusedAllReduce,
    reference: FusedAllReduce,
    tokens: int,
    device: torch.device,
) -> dict[str, Any]:
    hidden, dtype = chosen.request.hidden_dim, chosen.request.dtype
    parts, residual, weight = make_inputs(tokens, hidden, dtype, chosen.world_size)
    exact = exact_result(parts, residual, weight, 1e-6, 0.0)
    x, before_it, factor = (
        parts[chosen.rank].to(device),
        residual.to(device),
        weight.to(device),
    )
    where = f"{tokens} x {hidden} {dtype}"
    timings: dict[str, float] = {}
    launched = ""
    for name, op in (("chosen", chosen), ("reference", reference)):
        before = dict(op.calls)
        normed, summed = op(x, before_it, factor)
        path = " and ".join(
            key
            for key in ("fused", "reference", "empty")
            if op.calls[key] > before[key]
        )
        launched = launched or path
        for what, got, (want, bound) in (
            ("norm", normed, exact[0]),
            ("residual", summed, exact[1]),
        ):
            excess = (got.detach().cpu().double() - want).abs() - bound
            if not bool((excess <= 0).all()):
                problems.append(
                    f"{where}: the {what} of the {path} path is off by "
                    f"{float(excess.max()):.3g} too much"
                )
        timings[name] = _time(partial(op, x, before_it, factor), device)
    return {
        "tokens": tokens,
        "hidden": hidden,
        "dtype": dtype,
        "path": launched,
        "backend": chosen.terms.backend if chosen.terms is not None else None,
        "why": chosen.decision.reason,
        "microseconds": round(timings["chosen"] * 1e6, 1),
        "reference_microseconds": round(timings["reference"] * 1e6, 1),
    }


def make_inputs(
    tokens: int, hidden: int, dtype: str, size: int
) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    """The input of every rank, the residual and the weight, on the CPU.

    Each rank makes those of all: so what is right is known without asking the others,
    by whatever path.
    """
    import torch

    kind: torch.dtype = getattr(torch, dtype)
    seed = tokens * 7919 + hidden
    shared = torch.Generator().manual_seed(seed)
    residual = torch.randn(tokens, hidden, generator=shared).to(kind)
    weight = (1 + 0.1 * torch.randn(hidden, generator=shared)).to(kind)
    own = [
        torch.Generator().manual_seed(seed + 104729 * (rank + 1))
        for rank in range(size)
    ]
    return (
        [
            torch.randn(tokens, hidden, generator=generator).to(kind)
            for generator in own
        ],
        residual,
        weight,
    )


def exact_result(
    parts: Sequence[torch.Tensor],
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float,
) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """(norm, bound) and (residual, bound) in float64, on the CPU.

    What any right path must return, and how nearly.

    `parts` are the inputs of all ranks, taken as they are, already rounded. Each of the
    roundings on the way is at most one unit of the dtype, relative to the magnitudes
    that went in.
    """
    import torch

    unit = torch.finfo(residual.dtype).eps
    tiny = torch.finfo(residual.dtype).tiny
    exact = [part.double() for part in parts]
    whole = residual.double() + sum(exact)
    magnitude = residual.double().abs() + sum(part.abs() for part in exact)
    off = (len(exact) + 1) * unit * magnitude + tiny
    factor = weight.double() + weight_bias
    mean = whole.square().mean(dim=-1, keepdim=True) + eps
    drift = (2 * whole.abs() * off + off.square()).mean(dim=-1, keepdim=True) / mean
    scale = torch.rsqrt(mean)
    norm = whole * scale * factor
    # d(s/sqrt(m))/sqrt: the error of the sum itself, and that of the mean, which is at
    # most its relative drift.
    norm_off = (
        (off * scale + (whole.abs() + off) * scale * drift) * factor.abs()
        + 4 * unit * norm.abs()
        + tiny
    )
    return (norm, norm_off), (whole, off)


def _time(call: Callable[[], Any], device: torch.device, repeat: int = 20) -> float:
    import torch

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    call()
    wait()
    started = time.perf_counter()
    for _ in range(repeat):
        call()
    wait()
    return (time.perf_counter() - started) / repeat


def _without_environment(make: Callable[[], FusedAllReduce]) -> FusedAllReduce:
    """The reference must be the reference, whatever the environment asks for."""
    kept = os.environ.pop(MODE_VARIABLE, None)
    try:
        return make()
    finally:
        if kept is not None:
            os.environ[MODE_VARIABLE] = kept


def _as_text(adapter: Adapter, outcome: dict[str, Any]) -> str:
    lines = [
        as_table(adapter.report()),
        "",
        f"self-test, asked for {outcome['asked']}:",
    ]
    lines += [
        f"  {c['tokens']:>6} x {c['hidden']:<6} {c['dtype']:<9} {c['path']:<10}"
        f" {c['microseconds']:>10} us, reference {c['reference_microseconds']:>10} us"
        for c in outcome["cases"]
    ]
    lines += [
        f"  why: {why}" for why in dict.fromkeys(c["why"] for c in outcome["cases"])
    ]
    lines += [f"  PROBLEM: {problem}" for problem in outcome["problems"]] or [
        "  the numbers agree"
    ]
    return "\n".join(lines)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
