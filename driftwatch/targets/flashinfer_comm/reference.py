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


def reference_moe_finalize(
    experts: torch.Tensor,
    expanded_idx_to_permuted_idx: torch.Tensor,
    expert_scale_factor: torch.Tensor,
    shared_expert_output: torch.Tensor | None,
) -> torch.Tensor:
    """What this rank has of each token: its experts' rows, scaled and summed.

    `experts` is `[rows, hidden]`. For each of `[tokens, top_k]`, the index says which
    row an expert's output is in, -1 for an expert of another rank, and the factor, of
    the dtype of `experts`, what it counts. `shared_expert_output` is `[tokens, hidden]`
    or None. The result is new, `[tokens, hidden]`, summed in float32 and rounded once.
    """
    import torch

    index = expanded_idx_to_permuted_idx
    tokens, hidden = index.shape[0], experts.shape[-1]
    total = experts.new_zeros((tokens, hidden), dtype=torch.float32)
    if shared_expert_output is not None:
        total += shared_expert_output
    for k in range(index.shape[1] if experts.shape[0] else 0):
        row, scale = index.select(1, k), expert_scale_factor.narrow(1, k, 1).float()
        part = experts.index_select(0, row.clamp(min=0)).float() * scale
        total += torch.where((row >= 0).unsqueeze(-1), part, torch.zeros_like(part))
    return total.to(experts.dtype)
