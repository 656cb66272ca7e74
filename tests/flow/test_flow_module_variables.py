"""What functions put into a module's variables, and what other functions find there."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import NameUse
from tests.kiln import history

KILN = history()

FILL = """\
import kiln

_first = None
_second = None


def open_first():
    global _first
    if _first is None:
        _first = kiln.open_shelf("wood")
    return _first


def open_second():
    global _second
    _second = kiln.open_shelf("wood")


def _opened(owner):
    yielded = [_first]
    if _second is not _first:
        yielded.append(_second)
    found = []
    for each in yielded:
        if each is None:
            continue
        if id(each) == owner:
            found.append(each)
    return found


"""


def waxed(folder: Path, source: str) -> list[tuple[int, str]]:
    """The lines at which `wax` is read from a shelf, and the releases in which they are reached."""
    (folder / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(folder, [folder / "app.py"], [KILN])
    assert analysis.diagnostics == ()
    return sorted(
        (use.location.line, KILN.timeline.describe(use.releases))
        for use in analysis.uses
        if isinstance(use, NameUse) and use.name == "wax"
    )


@pytest.mark.parametrize(
    "body",
    [
        "_first.wax()",
        "[_first, _second][0].wax()",
        "for each in [_first, _second]: each.wax()",
        "for each in _opened(owner): each.wax()",
        "for each in [e for e in (_first, _second) if e is not None]: each.wax()",
        "for each in {'a': _first, 'b': _second}.values(): each.wax()",
        "for i, each in enumerate((_first, _second)): each.wax()",
    ],
)
def test_a_function_that_names_nothing_of_the_library_uses_what_another_one_left(tmp_path: Path, body: str) -> None:
    source = FILL + f"def wax_all(owner):\n    {body}\n"
    assert waxed(tmp_path, source) == [(source.count("\n"), "1.0 to 2.1")]
