"""What people read about the rules is what the rules say of themselves."""

from __future__ import annotations

import re
from pathlib import Path

from driftwatch.report.rule_page import render, render_index
from driftwatch.report.styled import Look
from driftwatch.rules import RULES

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_readme_lists_every_rule_in_its_own_words() -> None:
    rows = re.findall(r"^\| (DW\d+) \| ([\w-]+) \| (.+) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(rule.code, rule.name, rule.summary) for rule in RULES]


def test_every_rule_has_a_page_and_a_line() -> None:
    index = render_index(RULES, Look())
    for rule in RULES:
        page = render(rule, Look())
        assert f"{rule.code} {rule.name}" in page
        assert page.count("Found: ") == len(rule.bad)
        assert page.count("Not found: ") == len(rule.good)
        assert rule.code in index
