"""Quantised outputs in plain torch.

The numbers that the fused patterns write, and the places of their scales.

Enters: the normed output, rounded to its dtype as the kernels round it. Leaves: new
tensors in the forms that GEMMs take. Each kind is as the kernels define it
(trtllm_allreduce_fusion.cuh): division, rounding and saturation included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from driftwatch.targets.flashinfer_comm.patterns import (
    BLOCKS,
    DYNAMIC_FP8,
    FP8,
    GROUP_FP8,
    LAYOUTS,
    LINEAR,
    MXFP8,
    NVFP4,
    PATTERNS,
    SCALED,
    SWIZZLED,
    SWIZZLED_8,
)

if TYPE_CHECKING:
    import torch

_E4M3_MAX = 448.0
_SMALLEST_DYNAMIC = 1.0 / 512.0 / _E4M3_MAX


class Quantized(NamedTuple):
    """`quant` and its `scale`, empty where the caller gave it.

    `norm` is empty unless it was asked for.
    """

    quant: torch.Tensor
    scale: torch.Tensor
    norm: torch.Tensor
    residual: torch.Tensor


def fault_of(
    kind: str, layout: str, group_size: int, hidden: int, scale: torch.Tensor | None
) -> str | None:
    """What is wrong with a call for a quantised output, whatever runs it."""
    import torch

    if kind not in PATTERNS:
        return f"kind={kind!r} is none of {', '.join(PATTERNS)}"
    if layout not in LAYOUTS:
        return f"layout={layout!r} is none of {', '.join(LAYOUTS)}"
    if (scale is not None) != (kind in SCALED):
        return f"{kind} {'needs a scale' if kind in SCALED else 'makes its own scale'}"
    if scale is not None and (scale.numel() != 1 or scale.dtype != torch.float32):
        return (
            "scale must be one float32 number in a tensor, so that a captured graph "
            "can be given another"
        )
    block = BLOCKS.get(kind, group_size if kind == GROUP_FP8 else 1)
    if block < 1 or hidden % block:
        return f"rows of {hidden} are not of whole groups of {block}"
    return None


def empty_outputs(
    x: torch.Tensor, kind: str, layout: str, group_size: int, *, keep_norm: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Where a call for `x` of [..., hidden] writes: quant, scale, norm and residual.

    Scales that a layout pads are zeros, since kernels leave the padding as it is.
    """
    import torch

    rows, hidden = x.numel() // x.shape[-1] if x.shape[-1] else 0, x.shape[-1]
    if kind == NVFP4:
        quant = x.new_empty((*x.shape[:-1], hidden // 2), dtype=torch.uint8)
    else:
        quant = x.new_empty(x.shape, dtype=torch.float8_e4m3fn)
    scale = x.new_empty((0,), dtype=torch.float32)
    if kind == DYNAMIC_FP8:
        scale = x.new_empty((rows, 1), dtype=torch.float32)
    elif kind == GROUP_FP8:
        packed, aligned = (hidden // group_size + 3) // 4, (rows + 3) // 4 * 4
        scale = x.new_zeros((packed * aligned,), dtype=torch.int32).as_strided(
            (rows, packed), (1, aligned)
        )
    elif kind in BLOCKS:
        columns = hidden // BLOCKS[kind]
        size = (
            rows * columns if layout == LINEAR else swizzled_size(rows, columns, layout)
        )
        scale = x.new_zeros((size,), dtype=torch.uint8)
    norm = x.new_empty(x.shape if keep_norm else (0,))
    return quant, scale, norm, x.new_empty(x.shape)


def quantize(
    norm: torch.Tensor,
    kind: str,
    scale: torch.Tensor | None,
    layout: str,
    group_size: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The quantised form of normed rows [rows, hidden], and its scales as
    `empty_outputs` shapes them.
    """
    import torch

    values = norm.float()
    none = values.new_empty((0,))
    if kind == FP8:
        assert scale is not None
        return _to_e4m3(values * (1.0 / scale)), none
    if kind == DYNAMIC_FP8:
        largest = values.abs().amax(dim=-1, keepdim=True)
        per_row = (largest / _E4M3_MAX).clamp(min=_SMALLEST_DYNAMIC)
        return _to_e4m3(values / per_row), per_row
    block = BLOCKS.get(kind, group_size)
    groups = values.view(*values.shape[:-1], -1, block)
    largest = groups.abs().amax(dim=-1)
    if kind == GROUP_FP8:
        exponents = _exponent_above((largest / _E4M3_MAX).clamp(min=1e-10))
        return _to_e4m3(
            groups / torch.exp2(exponents.float() - 127).unsqueeze(-1)
        ).flatten(-2), _packed_words(exponents)
    if kind == MXFP8:
        exponents = torch.where(
            largest > 0, _exponent_above(largest * (1.0 / _E4M3_MAX)), 0
        )
        factor = torch.where(
            exponents > 0, torch.exp2(127 - exponents.double()), 0.0
        ).float()
        return _to_e4m3(groups * factor.unsqueeze(-1)).flatten(-2), _laid_out(
            exponents.to(torch.uint8), layout
        )
    assert scale is not None
    stored = (
        (scale * (largest * (1.0 / 6.0))).clamp(max=_E4M3_MAX).to(torch.float8_e4m3fn)
    )
    back = stored.float()
    factor = torch.where(back != 0, scale / back, 0.0)
    codes = _to_e2m1(groups * factor.unsqueeze(-1)).flatten(-2)
    return codes[..., 0::2] | (codes[..., 1::2] << 4), _laid_out(
        stored.view(torch.uint8), layout
    )


def swizzled_size(rows: int, columns: int, layout: str) -> int:
    """How many scales a swizzled layout holds, padding included."""
    height = 8 if layout == SWIZZLED_8 else 128
    return (rows + height - 1) // height * height * ((columns + 3) // 4 * 4)


def _laid_out(scales: torch.Tensor, layout: str) -> torch.Tensor:
    """Scales [rows, columns] in the order in which a layout stores them.

    A swizzled layout goes tile by tile, each of 128 or 8 rows and four columns; in one
    of 128, the rows 32 apart lie next to each other.
    """
    rows, columns = scales.shape
    if layout == LINEAR:
        return scales.flatten()
    height = 8 if layout == SWIZZLED_8 else 128
    tall, wide = (rows + height - 1) // height, (columns + 3) // 4
    padded = scales.new_zeros((tall * height, wide * 4))
    padded[:rows, :columns] = scales
    inner = height // 4 if layout == SWIZZLED else height
    tiles = padded.view(tall, height // inner, inner, wide, 4)
    return tiles.permute(0, 3, 2, 1, 4).flatten()


def _packed_words(exponents: torch.Tensor) -> torch.Tensor:
    """Four exponents to an int32, the first in its lowest byte.

    Columns lie apart by the rows rounded up to four.
    """
    import torch

    rows, groups = exponents.shape
    packed, aligned = (groups + 3) // 4, (rows + 3) // 4 * 4
    padded = exponents.new_zeros((rows, packed * 4), dtype=torch.uint8)
    padded[:, :groups] = exponents.to(torch.uint8)
    words = padded.view(torch.int32)
    store = words.new_zeros((packed * aligned,))
    out = store.as_strided((rows, packed), (1, aligned))
    out.copy_(words)
    return out


def _exponent_above(values: torch.Tensor) -> torch.Tensor:
    """The biased exponent of the smallest power of two that is not below each positive
    float32.
    """
    import torch

    bits = values.contiguous().view(torch.int32)
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    up = (mantissa != 0) & ~((exponent == 0) & (mantissa <= 0x400000))
    return (exponent + up.int()).clamp(max=254)


def _to_e4m3(values: torch.Tensor) -> torch.Tensor:
    """Rounded to the nearest, ties to even, never beyond the largest finite number."""
    import torch

    return values.clamp(-_E4M3_MAX, _E4M3_MAX).to(torch.float8_e4m3fn)


def _to_e2m1(values: torch.Tensor) -> torch.Tensor:
    """The codes of the nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6, ties to the even code.

    The fourth bit is the sign.
    """
    import torch

    size = values.abs()
    code = torch.zeros_like(size, dtype=torch.uint8)
    for above, at in (
        (0.25, False),
        (0.75, True),
        (1.25, False),
        (1.75, True),
        (2.5, False),
        (3.5, True),
        (5.0, False),
    ):
        code += (size >= above if at else size > above).to(torch.uint8)
    return code | (torch.signbit(values).to(torch.uint8) << 3)
