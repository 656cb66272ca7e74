"""Write docs/rules/ from the rules: one page a rule, and the index. With ``--check``, only say what is not current."""

from __future__ import annotations

import sys
from pathlib import Path

from driftwatch.report.rule_markdown import pages
from driftwatch.rules import RULES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"


def main(arguments: list[str]) -> int:
    wanted = pages(RULES)
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
    stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
    if "--check" in arguments:
        for name in stale:
            print(f"docs/rules/{name} is not current; scripts/rule_pages.py writes it")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        path = FOLDER / name
        if name in wanted:
            path.write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            path.unlink()
        print(f"docs/rules/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
