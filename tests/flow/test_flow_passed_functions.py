"""A function that is handed to another one of the code base runs where that one calls it, under its handlers."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import ImportUse, Outcome
from tests.kiln import history

KILN = history()

RUNNERS = """\
import elsewhere


def quietly(make):
    try:
        return make()
    except ImportError:
        return None


def _quietly_by_name(make=None):
    made = None
    if make is elsewhere.enabled:
        return made
    try:
        made = make()
    except (ImportError, RuntimeError):
        pass
    return made


def loudly(make):
    return make()


def never(make):
    return 1


"""
MADE = "def _make():\n    from kiln import raku\n    return raku\n\n\n"
NESTED = "    def make():\n        from kiln import raku\n        return raku\n"


def outcomes(folder: Path, source: str) -> list[str]:
    (folder / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(folder, [folder / "app.py"], [KILN])
    assert analysis.diagnostics == ()
    uses = [use for use in analysis.uses if isinstance(use, ImportUse) and use.name == "raku"]
    assert {KILN.timeline.describe(use.releases) for use in uses} == {"1.0 to 2.1"}
    return sorted(use.catch.outcome.value for use in uses)


GUARDED, RAISES = [Outcome.GUARDED.value], [Outcome.RAISES.value]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("quietly({})", GUARDED),
        ("quietly(make={})", GUARDED),
        ("_quietly_by_name({})", GUARDED),
        ("loudly({})", RAISES),
        ("never({})", RAISES),
        ("elsewhere.run({})", RAISES),
        ("quietly({0}), loudly({0})", GUARDED + RAISES),
    ],
)
def test_a_function_runs_under_the_handlers_of_whoever_calls_it(tmp_path: Path, call: str, expected: list[str]) -> None:
    assert outcomes(tmp_path, RUNNERS + "def use():\n" + NESTED + f"    return {call.format('make')}\n") == expected
    assert outcomes(tmp_path, RUNNERS + MADE + f"def use():\n    return {call.format('_make')}\n") == expected


def test_lambdas_and_bound_methods_too(tmp_path: Path) -> None:
    assert outcomes(tmp_path, RUNNERS + MADE + "def use():\n    return quietly(lambda: _make())\n") == GUARDED
    method = "class Oven:\n    def use(self):\n        return quietly(self._method)\n\n    def _method(self):\n"
    source = RUNNERS + method + "        from kiln import raku\n        return raku\n"
    assert outcomes(tmp_path, source) == GUARDED
