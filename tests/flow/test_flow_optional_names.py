"""Names of the library that may be missing, or stand for something else than the module of that name."""

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
    assert called(tmp_path, source, __init__=LIBRARY, other="def thing(pot): ...\n") == {"pkg:thing", "pkg:fire"}


def test_an_attribute_hides_the_module_of_its_name(tmp_path: Path) -> None:
    source = "import pkg.wheel as wheel\n\n\ndef run(clay):\n    return wheel(clay)\n"
    assert called(tmp_path, source, __init__="from .wheel import wheel\n", wheel="def wheel(clay): ...\n") == {
        "pkg:wheel"
    }


def called(folder: Path, source: str, **library: str) -> set[str]:
    """The functions of a made library that a file calls."""
    snapshot = collected(folder / "library", **library)
    (folder / "code").mkdir()
    path = folder / "code" / "app.py"
    path.write_text(dedent(source), encoding="utf-8")
    analysis = analyse(path.parent, [path], [merge("pkg", "pkg", [snapshot])])
    return {str(use.callee) for use in analysis.uses if isinstance(use, CallUse)}
