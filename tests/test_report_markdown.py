"""Markdown: rendered as a page, so that what is held is what a reader sees, and nothing scanned becomes markup."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from driftwatch.report import render
from driftwatch.report.markdown import BAR, LONGEST, MARKER, code, text
from driftwatch.report.options import RenderOptions
from driftwatch.report.safe import safe
from tests.cli_process import run
from tests.hostile_project import make_hostile
from tests.report_sample import REPORT, SILENT

ALLOWED = {
    *("h2", "h3", "p", "ul", "li", "strong", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"),
    *("details", "summary", "sub"),
}


class Page(HTMLParser):
    """What a browser would make of the rendered page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words += data


def page(markdown: str) -> Page:
    return Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


def sample(**changes: object) -> str:
    return render("markdown", replace(REPORT, title="engine 1.0", **changes), RenderOptions())  # type: ignore[arg-type]


def test_the_sample_in_full() -> None:
    lines = sample().splitlines()
    assert lines[:3] == [MARKER, "", "## driftwatch engine 1.0: ❌ 3 errors, 1 of them silent"]
    assert lines[4:11] == [
        "| `flashinfer-python` | checked 0.6.0 to 0.7.1, 5 releases |",
        "|---|---|",
        "| ⚠️ attention | of what could be read; 1 file could not be analysed |",
        "| ✅ works with | 0.6.2 |",
        "| 🔶 degraded with | 0.7.0 |",
        "| ❌ breaks with | 0.6.0 to 0.6.1, 0.7.1 (3 releases), silent in 2 of them |",
        "| way out | require `flashinfer-python>=0.6.2,<=0.7.0` (degraded with 0.7.0), or fix the 3 errors below |",
    ]
    shown = page(sample())
    assert set(shown.tags) <= ALLOWED
    assert shown.attributes <= {"class"}
    assert shown.tags["details"] == 5 and shown.tags["table"] == 2
    assert "pkg/fusion.py:9: create_workspace does not take group in 0.6.0 to 0.6.1" in shown.words
    assert shown.words.index("create_workspace does not") < shown.words.index("allreduce_fusion does not"), (
        "silent first"
    )
    assert "15s" not in sample() and "4.1s" not in sample()


def test_nothing_found() -> None:
    assert "## driftwatch engine 1.0: ✅ nothing breaks" in sample(findings=(), diagnostics=())
    partly = "nothing breaks of what could be read; 1 file could not be analysed"
    assert f"## driftwatch engine 1.0: ⚠️ {partly}" in sample(findings=())


def test_it_fits_into_a_comment() -> None:
    many = tuple(replace(SILENT, fingerprint=f"{number:032}", message=f"number {number} `x`") for number in range(2000))
    shown = sample(findings=many)
    assert len(shown) <= LONGEST
    told = len(re.findall(r"^\*\*DW101", shown, re.MULTILINE))
    assert 50 < told < 2000
    assert f"… and {2000 - told} more, which would not fit here." in shown
    assert shown.count("<details>") == shown.count("</details>")


@given(st.text())
def test_text_is_read_as_it_is(words: str) -> None:
    shown = page(f"x {text(words)} x")
    expected = f"x {safe(words)} x"
    if words.count("`") % 2 == 0:
        expected = expected.replace("`", "")
    assert set(shown.tags) <= {"p", "code"}
    assert "".join(shown.words.split()) == "".join(expected.replace("|", BAR).split()) or "".join(
        shown.words.split()
    ) == "".join(expected.split())


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_code_is_read_as_it_is(words: str) -> None:
    expected = safe(words).replace("|", BAR)
    shown = page(f"x {code(words)} x")
    assert set(shown.tags) <= {"p", "code"}
    assert "".join(unescape(shown.words).split()) == "".join(f"x{unescape(expected)}x".split())


def test_nobody_is_called_and_nothing_is_linked() -> None:
    shown = text("@everyone fixes #1 in org/repo#2, GH-3, !4, see https://example.com, www.example.com or a@b.c")
    bare = re.sub(r"<!-- -->", "\0", shown)
    assert not re.search(r"@\w|#\d|GH-\d|!\d|://|www\.", bare)
    assert page(shown).words == (
        "@everyone fixes #1 in org/repo#2, GH-3, !4, see https://example.com, www.example.com or a@b.c\n"
    )


def test_hostile_project(tmp_path: Path) -> None:
    result = run("scan", "--format", "markdown", cwd=make_hostile(tmp_path), environment={"PYTHONUTF8": "1"})
    assert result.status == 1, result.err
    assert all(character == "\n" or character.isprintable() for character in result.out.replace("\ufe0f", ""))
    shown = page(result.out)
    assert set(shown.tags) <= ALLOWED
    assert shown.attributes <= {"class"}
    for line in result.out.splitlines():
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        if not line.startswith((" ", *"0123456789")):
            assert "@everyone" not in outside and "https://" not in outside, line
    assert "<script>alert(1)</script>.py:8" in shown.words
