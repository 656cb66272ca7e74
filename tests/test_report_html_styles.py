"""The page's colours and breaks, computed from its style sheet: labels stand out, paper is white."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from driftwatch.report.html.markup import copied, ticked
from tests.test_report_html import STYLE


def colours(dark: bool) -> dict[str, tuple[int, int, int]]:
    """The colours of a theme, by name."""
    blocks = [re.search(r":root\{(.*?)\}", STYLE, re.DOTALL)]
    if dark:
        blocks.append(re.search(r"\[data-theme=dark\]\{(.*?)\}", STYLE, re.DOTALL))
    found: dict[str, tuple[int, int, int]] = {}
    for block in blocks:
        assert block is not None
        for name, digits in re.findall(r"--([\w-]+):#([0-9a-f]{3,6})\b", block[1]):
            long = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
            found[name] = (int(long[:2], 16), int(long[2:4], 16), int(long[4:], 16))
    return found


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The ratio of the Web Content Accessibility Guidelines."""

    def light(colour: Sequence[float]) -> float:
        parts = [c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_labels_stand_out_in_the_checked_range_and_outside_of_it(dark: bool) -> None:
    palette = colours(dark)
    for state in ("breaks", "silent"):
        assert contrast(palette["on"], palette[state]) >= 4.5, state
        mixed = rf"--c:color-mix\(in srgb,var\(--{state}\) (\d+)%,var\(--card\)\)"
        rule_ = re.search(rf"\.track \.{state}\.out\{{{mixed}\}}", STYLE)
        assert rule_ is not None
        share = int(rule_[1]) / 100
        paler = [a * share + b * (1 - share) for a, b in zip(palette[state], palette["card"], strict=True)]
        assert contrast(palette["ink"], paler) >= 4.5, state
        assert contrast(palette["on"], paler) < contrast(palette["ink"], paler), "why a label there has another colour"
    for text_colour in ("ink", "soft", "faint"):
        for ground in ("bg", "card"):
            assert contrast(palette[text_colour], palette[ground]) >= 4.5, (text_colour, ground)
    assert "opacity" not in "".join(re.findall(r"\.out[^{]*\{[^}]*\}", STYLE))


def test_dark_is_for_screens_alone() -> None:
    without_screens = re.sub(r"@media screen[^{]*\{:root[^{]*\{[^}]*\}\}", "", STYLE)
    assert "color-scheme:dark" not in without_screens
    assert "data-theme=dark" not in without_screens
    assert "prefers-color-scheme:dark" not in without_screens


def test_identifiers_break_where_their_parts_end() -> None:
    assert ticked("no `comm.all_reduce` here") == "no <code>comm.<wbr>all_<wbr>reduce</code> here"
    assert copied("a/b.py:3") == '<code class="place" data-copy="a/b.py:3">a/<wbr>b.<wbr>py:3</code>'
