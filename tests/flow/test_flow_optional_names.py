"""Names of the library that need a package which may not be there: both ways are gone."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import CallUse
from driftwatch.snapshot.model.history import merge
from tests.collecting import collected

LIBRARY = """
try:
    import stone
    from .other import thing
except ImportError:
    pass


def fire(pot): ...
"""
ASKED = """
import pkg


def run(pot):
    if hasattr(pkg, "thing"):
        return pkg.thing(pot)
    return pkg.fire(pot)
"""
IMPORTED = """
import pkg

try:
    from pkg import thing
except ImportError:
    thing = None


def run(pot):
    if thing is None:
        return pkg.fire(pot)
    return thing(pot)
"""


@pytest.mark.parametrize("source", [ASKED, IMPORTED], ids=["asked", "imported"])
def test_what_may_be_missing_is_followed_both_ways(tmp_path: Path, source: str) -> None:
    snapshot = collected(tmp_path / "library", __init__=LIBRARY, other="def thing(pot): ...\n")
    (tmp_path / "code").mkdir()
    path = tmp_path / "code" / "app.py"
    path.write_text(dedent(source), encoding="utf-8")
    analysis = analyse(path.parent, [path], [merge("pkg", "pkg", [snapshot])])
    assert {str(use.callee) for use in analysis.uses if isinstance(use, CallUse)} == {"pkg:thing", "pkg:fire"}
