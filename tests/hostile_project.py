"""A project whose names and sources try to break out of every format; what is harmless here is harmless anywhere."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cli_process import make_studio

MARKUP = "<img src=x onerror=alert(1)>"

NAMES = [
    "<script>alert(1)</script>",
    "a\n::error::b",
    "'q\" onmouseover=alert(1) x",
    "\x1b[2J\x1b]0;owned\x07",
    "[link](javascript:alert(1))",
    "| `cell` | @everyone #1 ![i](https:/example.com/x.png)",
    "ü %0A&lt;b&gt; {0}",
    "]]>--><!--",
    "\u202eevil",
    os.fsdecode(b"\xff"),
    "--help",
]
"""Paths without their suffix; a slash in one makes a folder."""

SOURCE = f"""\
import kiln


def bake(pot):  # {MARKUP} \x1b[31m </script><script>alert(1)</script> ``` </pre> ]]> @everyone
    options = {{"minutes": 30}}
    options["{MARKUP}`|@everyone #1 [x](https://example.com)"] = "blue"  # \u202e \x9b31m
    try:
        return kiln.fire(pot, **options)
    except (Exception, OSError if "</script><script>alert(1)//" else OSError):
        return None


def finish(pot):
    return kiln.raku(pot)  # ``````` <details>
"""


def make_hostile(folder: Path) -> Path:
    """The project of `make_studio`, with every file called and written by an enemy."""
    folder.mkdir(parents=True, exist_ok=True)
    studio = make_studio(folder)
    (studio / "studio.py").unlink()
    for name in NAMES:
        path = studio / "src" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE, encoding="utf-8")
    (studio / "src" / "<script>alert(2)<").mkdir()
    (studio / "src" / "<script>alert(2)<" / "broken<b>.py").write_text("import kiln\nkiln.fire(\n")
    return studio
