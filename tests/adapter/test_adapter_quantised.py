"""Quantised outputs against formulas of their own: fractions for the numbers, offsets for the places."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from driftwatch.targets.flashinfer_comm.patterns import BLOCKS, PATTERNS, SCALED  # noqa: E402 - torch first
from driftwatch.targets.flashinfer_comm.quantised import empty_outputs, fault_of, quantize  # noqa: E402

E2M1 = [Fraction(value).limit_denominator(2) for value in (0, 0.5, 1, 1.5, 2, 3, 4, 6)]
E4M3 = [
    Fraction(mantissa, 8 * 2**6) if not exponent else Fraction(8 + mantissa, 8) * Fraction(2) ** (exponent - 7)
    for exponent in range(16)
    for mantissa in range(8)
][:127]
"""All finite numbers that are not negative, in the order of their codes."""
DTYPES = ("bfloat16", "float16", "float32")


def nearest(value: Fraction, table: list[Fraction]) -> int:
    """The code of the nearest number, ties to the even code, the largest for all beyond."""
    size = abs(value)
    return min(range(len(table)), key=lambda code: (abs(table[code] - size), code % 2))


def single(value: Fraction) -> Fraction:
    """Rounded once to float32."""
    return Fraction(float(torch.tensor(float(value), dtype=torch.float64).float()))


def coded(tensor: Any) -> list[list[int]]:
    rows: list[list[int]] = (tensor.view(torch.uint8).int() & 0x7F).tolist()
    return rows


def rows_of(dtype: str, rows: int = 5, hidden: int = 64) -> Any:
    generator = torch.Generator().manual_seed(rows * hidden)
    values = (
        torch.randn(rows, hidden, generator=generator) * torch.tensor([[1.0], [1e-4], [300.0], [0.0], [1e-9]])[:rows]
    )
    values[0, :8] = torch.tensor([0.25, 0.75, -1.25, 1.75, -2.5, 3.5, 5.0, -0.0])
    return values.to(getattr(torch, dtype))


def exact(norm: Any) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in norm.double().tolist()]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.5, 0.37, 3.0])
def test_fp8(dtype: str, scale: float) -> None:
    """Divided by the scale, as a multiplication by its reciprocal in float32."""
    norm = rows_of(dtype)
    quant, _ = quantize(norm, "fp8", torch.tensor([scale]), "linear", 0)
    factor = single(1 / single(Fraction(scale)))
    assert coded(quant) == [[nearest(single(v * factor), E4M3) for v in row] for row in exact(norm)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dynamic_fp8(dtype: str) -> None:
    norm = rows_of(dtype)
    quant, scales = quantize(norm, "dynamic-fp8", None, "linear", 0)
    for row, codes, scale in zip(exact(norm), coded(quant), scales[:, 0].tolist(), strict=True):
        wanted = max(single(max(map(abs, row)) / 448), single(Fraction(1, 512 * 448)))
        assert Fraction(scale) == wanted
        assert codes == [nearest(single(v / wanted), E4M3) for v in row]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group", [8, 16, 64])
def test_group_fp8(dtype: str, group: int) -> None:
    """One power of two for each group, its exponent packed four to a word, columns by rows rounded up to four."""
    norm = rows_of(dtype)
    quant, words = quantize(norm, "group-fp8", None, "linear", group)
    columns = 64 // group
    assert words.shape == (5, (columns + 3) // 4)
    assert words.stride() == (1, 8)
    for number, (row, codes) in enumerate(zip(exact(norm), coded(quant), strict=True)):
        for column in range(columns):
            part = row[column * group : (column + 1) * group]
            least = max(single(max(map(abs, part)) / 448), single(Fraction(1e-10)))
            exponent = math.ceil(math.log2(least))
            exponent += (Fraction(2) ** exponent < least) - (Fraction(2) ** (exponent - 1) >= least)
            assert words[number, column // 4].item() >> (column % 4 * 8) & 0xFF == exponent + 127
            got = codes[column * group : (column + 1) * group]
            assert got == [nearest(v / Fraction(2) ** exponent, E4M3) for v in part]


@pytest.mark.parametrize("dtype", DTYPES)
def test_mxfp8(dtype: str) -> None:
    norm = rows_of(dtype)
    quant, scales = quantize(norm, "mxfp8", None, "linear", 0)
    for number, (row, codes) in enumerate(zip(exact(norm), coded(quant), strict=True)):
        for column in range(2):
            part = row[column * 32 : (column + 1) * 32]
            least = single(max(map(abs, part)) * single(Fraction(1, 448)))
            exponent = scales[number * 2 + column].item() - 127
            if least:
                assert Fraction(2) ** exponent >= least > Fraction(2) ** (exponent - 1)
                wanted = [nearest(v / Fraction(2) ** exponent, E4M3) for v in part]
            else:
                assert exponent == -127
                wanted = [0] * 32
            assert codes[column * 32 : (column + 1) * 32] == wanted


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("scale", [1.0, 7.5])
def test_nvfp4(dtype: str, scale: float) -> None:
    norm = rows_of(dtype)
    quant, scales = quantize(norm, "nvfp4", torch.tensor([scale]), "linear", 0)
    assert quant.shape == (5, 32)
    assert quant.dtype == torch.uint8
    for number, row in enumerate(exact(norm)):
        for column in range(4):
            part = row[column * 16 : (column + 1) * 16]
            sixth = single(max(map(abs, part)) * single(Fraction(1, 6)))
            code = nearest(single(Fraction(scale) * sixth), E4M3)
            assert scales[number * 4 + column].item() == code
            factor = single(Fraction(scale) / E4M3[code]) if E4M3[code] else Fraction(0)
            for place, value in enumerate(part):
                byte = quant[number, column * 8 + place // 2].item()
                got = byte >> (4 * (place % 2)) & 0xF
                assert got & 7 == nearest(single(value * factor), E2M1)
                assert got >> 3 == (
                    value < 0 or (value == 0 and math.copysign(1, norm[number, column * 16 + place]) < 0)
                )


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (7, 4), (128, 5), (130, 9), (300, 12)])
@pytest.mark.parametrize("kind", ["nvfp4", "mxfp8"])
def test_where_scales_are(kind: str, rows: int, columns: int) -> None:
    """By the kernels' own formula for the offset of the scale of a row and a column."""
    hidden = columns * BLOCKS[kind]
    norm = torch.rand(rows, hidden) * torch.rand(rows, 1) * 100
    scale = torch.tensor([1.0]) if kind == "nvfp4" else None
    plain = quantize(norm, kind, scale, "linear", 0)[1].view(rows, columns)
    tiles = (columns + 3) // 4
    for layout, height in (("128x4", 128), ("8x4", 8)):
        stored = quantize(norm, kind, scale, layout, 0)[1]
        assert stored.shape == empty_outputs(norm, kind, layout, 0, keep_norm=False)[1].shape
        places = torch.full_like(stored, 1)
        for m in range(rows):
            for k in range(columns):
                inner = (m % 32) * 16 + (m % 128) // 32 * 4 if height == 128 else (m % 8) * 4
                offset = (m // height) * tiles * height * 4 + (k // 4) * height * 4 + inner + k % 4
                assert stored[offset] == plain[m, k]
                places[offset] = 0
        assert not (stored * places).any(), "the padding is zero"


def test_what_a_call_is_told_is_wrong() -> None:
    one = torch.tensor([1.0])
    assert "is none of fp8" in str(fault_of("int8", "linear", 0, 64, None))
    assert "is none of 128x4" in str(fault_of("mxfp8", "4x4", 0, 64, None))
    assert fault_of("fp8", "128x4", 128, 64, None) == "fp8 needs a scale"
    assert fault_of("mxfp8", "128x4", 128, 64, one) == "mxfp8 makes its own scale"
    assert "one float32 number" in str(fault_of("fp8", "128x4", 128, 64, torch.ones(2)))
    assert fault_of("group-fp8", "128x4", 128, 64, None) == "rows of 64 are not of whole groups of 128"
    assert fault_of("mxfp8", "128x4", 128, 48, None) == "rows of 48 are not of whole groups of 32"
    for kind in PATTERNS:
        assert fault_of(kind, "128x4", 32, 64, one if kind in SCALED else None) is None
