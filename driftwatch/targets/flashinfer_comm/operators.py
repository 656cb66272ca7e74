"""The fused allreduce as custom ops of torch, so that compilers and graph captures take
a call as one step.

Enters: an object to run, by its key. Leaves: `operators()`, registered when the first
is needed. An op looks its object up, and does what the object does: nothing is decided
here.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.patterns import FP8, SWIZZLED
from driftwatch.targets.flashinfer_comm.quantised import empty_outputs

if TYPE_CHECKING:
    import torch

live: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""What can be run, by key; an object that was dropped or closed is not in it."""
_registered: list[Any] = []
_HOW = "bool? use_oneshot, bool trigger_completion_at_end, str key"
_QUANTIZED = "Tensor? scale, str kind, str layout, int group_size, bool keep_norm"
_MOE = "Tensor index, Tensor factor, Tensor? shared, Tensor? scale"
_NORM = "Tensor input, Tensor? residual, Tensor weight, float eps, float weight_bias"


def run_norm(
    x: torch.Tensor,
    residual: torch.Tensor | None,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float,
    use_oneshot: bool | None,
    trigger_completion_at_end: bool,
    key: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    check_devices(x, residual, weight)
    normed, summed = x.new_empty(x.shape), x.new_empty(x.shape)
    how = (use_oneshot, trigger_completion_at_end)
    out = (normed, summed)
    _find(key).run_norm(x, residual, weight, eps, weight_bias, *out, *how, new=True)
    return out


def run_norm_into(
    x: torch.Tensor,
    residual: torch.Tensor | None,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float,
    norm_out: torch.Tensor,
    residual_out: torch.Tensor,
    *how: Any,
) -> None:
    check_devices(x, residual, weight, norm_out, residual_out)
    _find(how[-1]).run_norm(
        x, residual, weight, eps, weight_bias, norm_out, residual_out, *how[:-1]
    )


def run_quantized(
    x: torch.Tensor, *given: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    (
        residual,
        weight,
        eps,
        weight_bias,
        scale,
        kind,
        layout,
        group_size,
        keep_norm,
        *how,
    ) = given
    check_devices(x, residual, weight, scale)
    out = empty_outputs(x, kind, layout, group_size, keep_norm=keep_norm)
    asked_for = (scale, kind, layout, group_size, keep_norm)
    _find(how[-1]).run_quantized(
        (x, residual, weight, eps, weight_bias), asked_for, out, *how[:-1]
    )
    return out


def run_moe(x: torch.Tensor, *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    residual, weight, eps, weight_bias, index, factor, shared, scale, key = given
    check_devices(x, residual, weight, index, factor, shared, scale)
    out = _empty_of_moe(x, index, scale)
    _find(key).run_moe(
        (x, residual, weight, eps, weight_bias), (index, factor, shared), scale, out
    )
    return out


def _empty_of_moe(
    x: torch.Tensor, index: torch.Tensor, scale: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    summed = x.new_empty((index.shape[0], x.shape[-1]))
    if scale is None:
        return x.new_empty(summed.shape), summed
    return empty_outputs(summed, FP8, SWIZZLED, 1, keep_norm=False)[0], summed


def run_plain(x: torch.Tensor, *how: Any) -> torch.Tensor:
    out: torch.Tensor = _find(how[-1]).run_plain(x, *how[:-1])
    return out


def _fake_norm(
    x: torch.Tensor,
    residual: torch.Tensor | None,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float,
    *how: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    check_devices(
        x, residual, weight
    )  # torch also comes here for real tensors when one of them is on meta
    return x.new_empty(x.shape), x.new_empty(x.shape)


def _fake_norm_into(x: torch.Tensor, *others: Any) -> None:
    return None


def _fake_quantized(
    x: torch.Tensor, *given: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    residual, weight, _, _, scale, kind, layout, group_size, keep_norm, *_ = given
    check_devices(x, residual, weight, scale)
    return empty_outputs(x, kind, layout, group_size, keep_norm=keep_norm)


def _fake_moe(x: torch.Tensor, *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    residual, weight, _, _, index, factor, shared, scale, _ = given
    check_devices(x, residual, weight, index, factor, shared, scale)
    return _empty_of_moe(x, index, scale)


def _fake_plain(x: torch.Tensor, *how: Any) -> torch.Tensor:
    return x.new_empty(x.shape)


def _ops() -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """Each op's schema, with what it does and what shapes it gives."""
    return {
        f"allreduce_rmsnorm({_NORM}, {_HOW}) -> (Tensor, Tensor)": (
            run_norm,
            _fake_norm,
        ),
        (
            f"allreduce_rmsnorm_into({_NORM}, Tensor(a!) norm_out, Tensor(b!) "
            f"residual_out, {_HOW}) -> ()"
        ): (
            run_norm_into,
            _fake_norm_into,
        ),
        (
            f"allreduce_rmsnorm_quantized({_NORM}, {_QUANTIZED}, {_HOW}) -> (Tensor, "
            "Tensor, Tensor, Tensor)"
        ): (
            run_quantized,
            _fake_quantized,
        ),
        f"allreduce(Tensor input, {_HOW}) -> Tensor": (run_plain, _fake_plain),
        f"allreduce_moe_finalize({_NORM}, {_MOE}, str key) -> (Tensor, Tensor)": (
            run_moe,
            _fake_moe,
        ),
    }


def operators() -> Any:
    """The custom ops, registered when the first is needed.

    Importing this module does not need torch.
    """
    if _registered:
        return _registered[0]
    import torch

    make_library: Any = torch.library.Library  # not typed in every release of torch
    base = "driftwatch_" + re.sub(r"\W", "_", __name__)
    for number in range(1000):  # a reloaded module finds its own name taken
        name = f"{base}_{number}" if number else base
        library = make_library(name, "FRAGMENT")
        try:
            for schema in _ops():
                library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        except RuntimeError:
            continue
        for schema, (run, fake) in _ops().items():
            op = schema.partition("(")[0]
            library.impl(op, run, "CompositeExplicitAutograd")
            torch.library.register_fake(f"{name}::{op}", fake, lib=library)
        _registered.extend([getattr(torch.ops, name), library])
        return _registered[0]
    raise AdapterError("no free name for the custom ops")


def _find(key: str) -> Any:
    try:
        return live[key]
    except KeyError:
        raise RuntimeError("this FusedAllReduce is closed") from None


def check_devices(x: torch.Tensor, *others: torch.Tensor | None) -> None:
    """A kernel takes pointers as they are, whichever memory they are of."""
    device = x.device
    for other in others:
        if other is not None and other.device != device:
            raise ValueError(f"all tensors must be on {device}, not {other.device}")
