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
import platform
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
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
from driftwatch.targets.flashinfer_comm.patterns import MOE_PATTERN
from driftwatch.targets.flashinfer_comm.proving import Proof
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
        default=AUTO,
        help=f"whose kernels: auto, or some of {', '.join(BACKENDS)} in their order",
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
    parser.add_argument(
        "--top-k", type=_number, default=8, help="experts of a token, for MoE patterns"
    )
    parser.add_argument(
        "--output", help="write all of it as JSON to a file, to send with a bug report"
    )
    parser.add_argument(
        "--compiler", default=None, help="a backend of torch.compile (default: its own)"
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
    outcome: dict[str, Any] = {
        "asked": asked,
        "machine": _machine(device),
        "backends": {},
        "cases": [],
        "problems": [],
    }
    try:
        _prove_all(outcome, options, device)
        if asked == REQUIRE and not any(
            "fused" in case["path"] for case in outcome["cases"]
        ):
            outcome["problems"].append(
                "the fused path was required and was never launched"
            )
    except Exception as error:
        # Whatever a kernel or a driver raises is what the report is for.
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
        outcome["adapter"] = adapter.report()
        if options.output:
            Path(options.output).write_text(json.dumps(outcome, indent=2) + "\n")
        _say(
            json.dumps(outcome, indent=2)
            if options.json
            else _as_text(adapter, outcome)
        )
    dist.destroy_process_group()
    return 1 if outcome["problems"] else 0


def _machine(device: torch.device) -> dict[str, Any]:
    """What a bug report needs to know of where this ran."""
    import torch

    names = ("DRIFTWATCH_", "FLASHINFER_", "NCCL_", "CUDA_VISIBLE_DEVICES")
    found: dict[str, Any] = {
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "ranks": int(os.environ["WORLD_SIZE"]),
        "environment": {k: v for k, v in os.environ.items() if k.startswith(names)},
    }
    if device.type == "cuda":
        properties: Any = torch.cuda.get_device_properties(device)
        found["device"] = str(getattr(properties, "name", "")) or "unknown"
        found["capability"] = list(torch.cuda.get_device_capability(device))
    return found


def _prove_all(
    outcome: dict[str, Any], options: argparse.Namespace, device: torch.device
) -> None:
    """All shapes as asked for, then each backend in turn, then sub-groups."""
    import torch.distributed as dist

    first = (options.hidden[0], options.dtypes[0])
    for hidden in options.hidden:
        for dtype in options.dtypes:
            thorough = (hidden, dtype) == first
            _prove(outcome, options, device, hidden, dtype, thorough=thorough)
    if options.backend == AUTO and options.fused != OFF:
        for backend in BACKENDS:
            _prove(outcome, options, device, *first, backend=backend, fused=AUTO)
        made_for = {"patterns": (MOE_PATTERN,), "top_k": options.top_k}
        _prove(outcome, options, device, *first, fused=AUTO, **made_for)
    size = dist.get_world_size()
    if size >= 4 and size % 2 == 0:
        halves = [dist.new_group(list(range(s, s + size // 2))) for s in (0, size // 2)]
        group = halves[dist.get_rank() // (size // 2)]
        _prove(outcome, options, device, *first, group=group, fused=AUTO)


def _prove(
    outcome: dict[str, Any],
    options: argparse.Namespace,
    device: torch.device,
    hidden: int,
    dtype: str,
    *,
    fused: str | None = None,
    group: Any = None,
    thorough: bool = False,
    **more: Any,
) -> None:
    """One operation, made with `more` beside the usual arguments."""
    import torch

    kind: torch.dtype = getattr(torch, dtype)
    limit, timeout = max(1, *options.tokens), options.timeout
    mode, wanted = fused or options.fused, more.get("backend", options.backend)

    def reference() -> FusedAllReduce:
        return FusedAllReduce(group, hidden, kind, limit, OFF, timeout=timeout)

    def chosen() -> FusedAllReduce:
        how = {"backend": wanted, "timeout": timeout, "max_bytes": 0, **more}
        return FusedAllReduce(group, hidden, kind, limit, mode, **how)

    make = chosen if fused is None else partial(_without_environment, chosen)
    with make() as op, _without_environment(reference) as other:
        said = {
            "backend": op.terms.backend if op.terms is not None else None,
            "ranks": op.world_size,
            "why": op.decision.reason,
            "objections": list(op.decision.objections),
        }
        asked = "a half of the ranks" if group is not None else wanted
        if "patterns" in more:
            asked = f"{wanted}, for {', '.join(more['patterns'])}"
        outcome["backends"].setdefault(asked, said)
        for tokens in (*options.tokens, limit + 1):
            proof = Proof(op, tokens, device, outcome["problems"].append)
            case = {**proof.numbers(), "hidden": hidden, "dtype": dtype, **said}
            also = thorough or more or group is not None
            if also and 0 < tokens <= limit and dtype != "float32":
                case["moe"] = proof.moe(options.top_k)
            if thorough and 0 < tokens <= limit:
                case |= {"quantised": proof.quantised(), "graph": proof.captured()}
                case |= {"chain": proof.chained(), "speed": proof.speed(other)}
                if tokens == limit:
                    compiler = options.compiler or "inductor"
                    case["compiled"] = proof.compiled(compiler)
            outcome["cases"].append(case)


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
    for asked, said in outcome["backends"].items():
        lines.append(f"  {asked}: {said['backend'] or 'reference'}, {said['why']}")
    for case in outcome["cases"]:
        line = f"  {case['tokens']:>6} x {case['hidden']:<6} {case['dtype']:<9}"
        line += f" {case['backend'] or '':<8} {case['path']:<10}"
        if "speed" in case:
            speed = case["speed"]
            line += f" {speed['microseconds']:>9} us,"
            line += f" reference {speed['reference_microseconds']:>9} us"
        lines.append(line.rstrip())
    lines += [
        f"  {what} of {case['tokens']} tokens: {case[what]}"
        for case in outcome["cases"]
        for what in ("graph", "compiled", "chain")
        if what in case
    ]
    problems = [f"  PROBLEM: {problem}" for problem in outcome["problems"]]
    return "\n".join([*lines, *(problems or ["  the numbers agree"])])


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
