"""What a caller asks of the fused allreduce, the environment included, and what is
wrong with it.

Enters: arguments of any kind. Leaves: a `Request` and a fault in words. Nothing here
raises for what was asked: the other ranks must hear of it too, or they would wait for
this one.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

from driftwatch.targets.flashinfer_comm.agreement import BACKENDS, MODES, Request
from driftwatch.targets.flashinfer_comm.conditions import group_ranks

MODE_VARIABLE = "DRIFTWATCH_FUSED"
BACKEND_VARIABLE = "DRIFTWATCH_FUSED_BACKEND"
TIMEOUT_VARIABLE = "DRIFTWATCH_FUSED_TIMEOUT"


def asked(
    given: Mapping[str, Any], fallbacks: Sequence[Any]
) -> tuple[str, Request, float, str | None]:
    """The mode, the request, the seconds to wait, and what is wrong with them."""
    hidden_dim, dtype, max_token_num = (
        given["hidden_dim"],
        given["dtype"],
        given["max_token_num"],
    )
    max_bytes, required_tokens, timeout = (
        given["max_bytes"],
        given["required_tokens"],
        given["timeout"],
    )
    mode = os.environ.get(MODE_VARIABLE) or given["fused"]
    backend = os.environ.get(BACKEND_VARIABLE) or given["backend"]
    hidden, limit, seconds = (
        _count(hidden_dim),
        _count(max_token_num),
        _seconds(timeout),
    )
    fault = None
    if mode not in MODES:
        fault = f"fused={mode!r} is none of {', '.join(MODES)}"
    elif backend not in BACKENDS:
        fault = f"backend={backend!r} is none of {', '.join(BACKENDS)}"
    elif hidden <= 0 or limit <= 0:
        fault = (
            "hidden_dim and max_token_num must be positive integers, not "
            f"{hidden_dim!r} and {max_token_num!r}"
        )
    elif name_of_dtype(dtype) not in ("float16", "bfloat16", "float32"):
        fault = f"dtype must be float16, bfloat16 or float32, not {dtype}"
    elif not seconds:
        fault = (
            "timeout must be a number of seconds, not "
            f"{os.environ.get(TIMEOUT_VARIABLE) or timeout!r}"
        )
    elif any(
        value is not None and _count(value, -1) < 0
        for value in (max_bytes, required_tokens)
    ):
        fault = (
            "max_bytes and required_tokens must be None or counts, not "
            f"{max_bytes!r} and {required_tokens!r}"
        )
    elif any(fallback is not None and not callable(fallback) for fallback in fallbacks):
        fault = "fallback and fallback_allreduce must be None or callable"
    request = Request(
        hidden_dim=hidden,
        dtype=name_of_dtype(dtype),
        max_token_num=limit,
        backend=str(backend),
        launch_with_pdl=bool(given["launch_with_pdl"]),
        fp32_acc=bool(given["fp32_acc"]),
        max_bytes=None if max_bytes is None else _count(max_bytes),
        required_tokens=None if required_tokens is None else _count(required_tokens),
        share=bool(given["share"]),
        fallback=", ".join(
            _name_of(fallback) for fallback in fallbacks if fallback is not None
        ),
    )
    return str(mode), request, seconds or 120.0, fault


def place_in(group: Any) -> tuple[int, int, tuple[int, ...]]:
    """This process's rank in the group, the group's size, and its global ranks."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()):
        if group is not None:
            raise ValueError(
                "torch.distributed is not initialized, so there is no group"
            )
        return 0, 1, (0,)
    try:
        ranks = group_ranks(group)
    except Exception as error:  # each release of torch has its own way
        raise ValueError(
            f"group is no process group that this process is in: {group!r}"
        ) from error
    if dist.get_rank() not in ranks:
        raise ValueError("this process is not in the group")
    return ranks.index(dist.get_rank()), len(ranks), ranks


def name_of_dtype(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _name_of(function: Any) -> str:
    """What a callable is called, the same on every rank: no address is in it."""
    try:
        return f"{function.__module__}.{function.__qualname__}"
    except Exception:
        # An instance has no name of its own, and a proxy raises what it likes
        return (
            f"an instance of {type(function).__module__}.{type(function).__qualname__}"
        )


def _count(value: Any, otherwise: int = 0) -> int:
    """An integer of any sort as an int."""
    try:
        return operator.index(value)
    except Exception:  # a tensor of many elements raises what it likes
        return otherwise


def _seconds(timeout: Any) -> float:
    """The time to wait, the environment included; 0 for what cannot be one."""
    try:
        seconds = float(os.environ.get(TIMEOUT_VARIABLE) or timeout)
    except Exception:  # as above
        return 0.0
    return seconds if 0 < seconds < 1e6 else 0.0
