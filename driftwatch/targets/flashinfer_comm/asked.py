"""What a caller asks of the fused allreduce, the environment included, and what is
wrong with it.

Enters: arguments of any kind. Leaves: a `Request` and a fault in words. Nothing here
raises for what was asked: the other ranks must hear of it too, or they would wait for
this one.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

from driftwatch.targets.flashinfer_comm.agreement import (
    AUTO,
    BACKENDS,
    MODES,
    Request,
)
from driftwatch.targets.flashinfer_comm.conditions import group_ranks
from driftwatch.targets.flashinfer_comm.patterns import KNOWN_PATTERNS, MOE_PATTERNS

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
    order = _names(os.environ.get(BACKEND_VARIABLE) or given["backend"])
    patterns = _names(given["patterns"] or ())
    top_k, eps, bias = given["top_k"], given["rms_eps"], given["weight_bias"]
    hidden, limit, seconds = (
        _count(hidden_dim),
        _count(max_token_num),
        _seconds(timeout),
    )
    fault = None
    if mode not in MODES:
        fault = f"fused={mode!r} is none of {', '.join(MODES)}"
    elif order != (AUTO,) and not _among(order, BACKENDS):
        fault = (
            f"backend={given['backend']!r} is neither {AUTO} nor one or more of "
            f"{', '.join(BACKENDS)}"
        )
    elif patterns and not _among(patterns, KNOWN_PATTERNS):
        fault = (
            f"patterns={given['patterns']!r} are not some of "
            f"{', '.join(KNOWN_PATTERNS)}"
        )
    elif top_k is None and any(name in MOE_PATTERNS for name in patterns):
        fault = "a MoE finalize pattern needs top_k, the experts of a token"
    elif top_k is not None and _count(top_k) <= 0:
        fault = f"top_k must be None or a positive integer, not {top_k!r}"
    elif not _finite(eps) > 0 or math.isnan(_finite(bias)):
        fault = f"rms_eps and weight_bias must be numbers, not {eps!r} and {bias!r}"
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
        backend=",".join(order),
        launch_with_pdl=bool(given["launch_with_pdl"]),
        fp32_acc=bool(given["fp32_acc"]),
        max_bytes=None if max_bytes is None else _count(max_bytes),
        required_tokens=None if required_tokens is None else _count(required_tokens),
        share=bool(given["share"]),
        fallback=", ".join(
            _name_of(fallback) for fallback in fallbacks if fallback is not None
        ),
        patterns=patterns,
        top_k=None if top_k is None else _count(top_k),
        rms_eps=_finite(eps, 0.0),
        weight_bias=_finite(bias, 0.0),
        include_shared_expert=bool(given["include_shared_expert"]),
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


def _names(value: Any) -> tuple[str, ...]:
    """One name, or several with commas between them or one after the other."""
    try:
        names = value.split(",") if isinstance(value, str) else value
        return tuple(str(name).strip() for name in names)
    except Exception:  # what is no sequence raises what it likes
        return (str(value),)


def _among(names: Sequence[str], known: Sequence[str]) -> bool:
    return bool(names) and set(names) <= set(known) and len(set(names)) == len(names)


def _finite(value: Any, otherwise: float = math.nan) -> float:
    """A finite number as a float."""
    try:
        number = float(value)
    except Exception:  # as below
        return otherwise
    return number if math.isfinite(number) else otherwise


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
