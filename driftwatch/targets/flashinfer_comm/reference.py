"""The reference path: allreduce, residual add and RMSNorm in plain torch.

Enters: tensors as the fused kernel takes them. Leaves: new tensors, never views of the
inputs. The sum over ranks is taken in the input's dtype, as a collective does it;
everything after that is in float32 and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def reference_allreduce(x: torch.Tensor, group: Any, world_size: int) -> torch.Tensor:
    """The sum over the ranks of the group, a new contiguous tensor like `x`.

    It is taken in the dtype of `x`. No rank communicates for no elements.
    """
    import torch

    out = x.clone(memory_format=torch.contiguous_format)
    if world_size > 1 and out.numel():
        torch.distributed.all_reduce(out, group=group)
    return out


def reference_add_rmsnorm(
    x: torch.Tensor,
    residual: torch.Tensor | None,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The normed output and the new residual of an input that is already summed.

    `x` and `residual` are `[..., hidden]`, `weight` is `[hidden]`; `eps` is added to
    the mean square. Both results are new, like `x`, and rounded once from float32.
    """
    import torch

    summed = x.float() if residual is None else x.float() + residual.float()
    scale = torch.rsqrt(summed.square().mean(dim=-1, keepdim=True) + eps)
    normed = summed * scale * (weight.float() + weight_bias)
    return normed.to(x.dtype), summed.to(x.dtype)
