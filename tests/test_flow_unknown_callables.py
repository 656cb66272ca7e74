"""What cannot be known of a library's callable is counted at each call of it: silence means checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.snapshot.model.history import merge
from tests.collecting import collected
from tests.differential.analysis import analysed

WRAPPED = """
import functools
def injects(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return func(1, *args, **kwargs)
    return wrapper
@injects
def f(session, a): ...
"""


@pytest.mark.parametrize(
    ("library", "code", "reason"),
    [
        (WRAPPED, "import pkg\npkg.f(1, nope=2)\n", "what `pkg.f` takes is not known"),
        ("f = make()\n", "import pkg\npkg.f(1)\n", "what `pkg.f` takes is not known"),
        ("from other import K\n", "from pkg import K\nK\nK(1)\n", "what `pkg.K` takes is not known"),
        ("import other\nclass K(other.B): ...\n", "import pkg\npkg.K(1)\n", "what `pkg.K` takes is not known"),
        ("from . import a\n", "import pkg\npkg.a(1)\n", "`pkg.a` is called, which is a module"),
    ],
)
def test_a_call_of_what_is_not_known_is_unresolved(tmp_path: Path, library: str, code: str, reason: str) -> None:
    history = merge("pkg", "pkg", [collected(tmp_path / "library", __init__=library, a="")])
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "m.py").write_text(code, encoding="utf-8")
    verdicts, unresolved = analysed(tmp_path / "code", history)
    assert not verdicts
    assert [each.reason for each in unresolved] == [reason]


def test_a_call_of_what_is_known_is_not(tmp_path: Path) -> None:
    history = merge("pkg", "pkg", [collected(tmp_path / "library", __init__="def f(a): ...\nclass C: ...\n")])
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "m.py").write_text("import pkg\npkg.f(1)\npkg.C()\n", encoding="utf-8")
    assert analysed(tmp_path / "code", history) == ((), ())
