"""Write docs/rules/ from the rules, and docs/advisories/ from what targets know beside their snapshots.

With ``--check``, only say what is not current.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from driftwatch.report.advisory_page import page
from driftwatch.report.rule_markdown import pages
from driftwatch.rules import RULES
from driftwatch.rules.advisories import load
from driftwatch.snapshot.store.store import load as load_history
from driftwatch.targets.target import shipped_targets

DOCS = Path(__file__).resolve().parent.parent / "docs"


def advisories() -> dict[str, str]:
    """A page for each target that knows something beside its snapshots."""
    known = {target: load(target.data, load_history(target.snapshots).timeline) for target in shipped_targets()}
    return {f"{target.module}.md": page(target.module, each) for target, each in known.items() if each.advisories}


def main(arguments: list[str]) -> int:
    stale = [name for folder, wanted in _folders().items() for name in _update(folder, wanted, "--check" in arguments)]
    return 1 if stale and "--check" in arguments else 0


def _folders() -> dict[Path, Mapping[str, str]]:
    return {DOCS / "rules": pages(RULES), DOCS / "advisories": advisories()}


def _update(folder: Path, wanted: Mapping[str, str], only_check: bool) -> list[str]:
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
    for name in stale:
        shown = f"docs/{folder.name}/{name}"
        if only_check:
            print(f"{shown} is not current; scripts/rule_pages.py writes it")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            (folder / name).unlink()
        print(shown)
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
