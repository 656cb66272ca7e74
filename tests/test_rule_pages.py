"""The pages of the rules: made from the rules, current, whole, and with examples that are what the rules find."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.report.rule_markdown import index, pages, render
from driftwatch.rules import RULES
from driftwatch.rules.advisories import load
from driftwatch.rules.rule import Rule
from driftwatch.snapshot.store.store import load as load_history
from driftwatch.targets.target import shipped_targets
from tests.cli_process import run
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "rules"
SCRIPT = ROOT / "scripts" / "rule_pages.py"


def test_the_pages_are_current() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert there == pages(RULES), "python scripts/rule_pages.py writes them"


def test_the_script_says_what_is_stale_and_fixes_it(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    copy = tmp_path / "scripts" / "rule_pages.py"
    copy.write_bytes(SCRIPT.read_bytes())
    folder = tmp_path / "docs" / "rules"
    folder.mkdir(parents=True)

    def script(*arguments: str) -> tuple[int, list[str]]:
        done = subprocess.run(
            [sys.executable, str(copy), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()

    assert script("--check")[0] == 1
    assert script()[0] == 0
    assert script("--check") == (0, [])
    (folder / "DW101.md").write_text("old\n")
    (folder / "DW999.md").write_text("a rule that is gone\n")
    assert script("--check")[1] == [
        f"docs/rules/{name} is not current; scripts/rule_pages.py writes it" for name in ("DW101.md", "DW999.md")
    ]
    assert script()[0] == 0
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == pages(RULES)


def test_the_pages_about_targets_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    page = (ROOT / "docs" / "advisories" / "flashinfer.comm.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "](https://" in line]
    (target,) = (each for each in shipped_targets() if each.module == "flashinfer.comm")
    known = load(target.data, load_history(target.snapshots).timeline)
    assert len(rows) == sum(map(len, (known.advisories, known.import_failures, known.kernels, known.reported)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_says_all_that_the_rule_says(rule: Rule) -> None:
    page = render(rule)
    assert page.startswith(f"# {rule.code} {rule.name}\n")
    blocks = re.findall(r"```(?:python|toml|text)\n(.*?)\n```", page, re.DOTALL)
    shown = [each for it in (*rule.bad, *rule.good) for each in (it.source, *(text for _, text in it.beside))]
    assert blocks == [each.rstrip("\n") for each in shown]
    told = re.findall(r"(?m)^- line (\d+) ", page)
    assert [int(line) for line in told] == [e.line for example in (*rule.bad, *rule.good) for e in example.expected]
    assert len(page.splitlines()) == len(page.rstrip("\n").split("\n")), "plain lines, and one newline at the end"


def test_the_index_leads_to_every_page() -> None:
    assert re.findall(r"\((DW\d+)\.md\)", index(RULES)) == [rule.code for rule in RULES]


def test_explain_prints_the_page() -> None:
    assert run("explain", "DW101", "--format", "markdown").out == (FOLDER / "DW101.md").read_text(encoding="utf-8")
    assert run("explain", "--format", "markdown").out == (FOLDER / "README.md").read_text(encoding="utf-8")
    assert run("explain", "DW101").out.startswith("DW101 unknown-keyword")
