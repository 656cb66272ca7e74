"""Containers that functions share: code behind a test or a loop over them is reached, whatever was in them at first."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import CallUse
from tests.kiln import history

KILN = history()

MODULE = """\
import torch
import kiln

_shelves = {}
_pots = []
_sizes = {5: 1}


def fill(key):
    _shelves[key] = kiln.open_shelf("wood")
    _pots.append(key)


def empty(key):
    _sizes.pop(key)


def use(key):
    BODY
"""

CLASS = """\
import kiln


class Potter:
    def __init__(self, wood):
        self.shelves = {}
        self.pots = []
        self.options = {}
        self.options["wood"] = wood

    def fill(self, key):
        self.shelves[key] = 1
        self.pots.append(key)

    def use(self, key):
        BODY
"""


def calls(folder: Path, source: str) -> list[CallUse]:
    (folder / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(folder, [folder / "app.py"], [KILN])
    assert analysis.diagnostics == () and analysis.unresolved == ()
    last = source.rstrip().count("\n") + 1
    return [u for u in analysis.uses if isinstance(u, CallUse) and u.location.line == last]


@pytest.mark.parametrize(
    "before",
    [
        "for each in _shelves.values():\n        BODY",
        "for each in _shelves:\n        BODY",
        "if not _shelves:\n        return\n    BODY",
        "if not _pots:\n        return\n    BODY",
        "for each in _pots:\n        BODY",
        "if key in _pots:\n        BODY",
        "if 5 in _sizes:\n        BODY",
        "if 5 not in _sizes:\n        BODY",
        "for size in _sizes:\n        BODY",
        "if not _sizes:\n        BODY",
        "if torch.version.hip is not None:\n        return\n    BODY",
        "if torch.version.hip is None:\n        BODY",
    ],
)
def test_variables_of_a_module(tmp_path: Path, before: str) -> None:
    source = MODULE.replace("BODY", before).replace("BODY", "kiln.fire(key, 1)")
    assert [KILN.timeline.describe(u.releases) for u in calls(tmp_path, source)] == ["1.0 to 2.1"]


@pytest.mark.parametrize(
    "before",
    [
        "for each in self.shelves.values():\n            BODY",
        "if not self.shelves:\n            return\n        BODY",
        "if self.pots:\n            BODY",
    ],
)
def test_attributes(tmp_path: Path, before: str) -> None:
    source = CLASS.replace("BODY", before).replace("BODY", "kiln.fire(key, 1)")
    assert [KILN.timeline.describe(u.releases) for u in calls(tmp_path, source)] == ["1.0 to 2.1"]


def test_what_a_constructor_puts_into_a_container_is_known_exactly(tmp_path: Path) -> None:
    (use,) = calls(tmp_path, CLASS.replace("BODY", "kiln.open_shelf(**self.options)"))
    assert [(a.name, a.certain) for a in use.keywords] == [("wood", True)]
    assert not use.unknown_keywords


def test_a_container_that_nobody_changes_is_known_exactly(tmp_path: Path) -> None:
    source = "import kiln\n\n_none = {}\n\n\ndef use(key):\n    for each in _none:\n        kiln.fire(key, 1)\n"
    assert calls(tmp_path, source) == []


ELSEWHERE = """\
_settings = None
_count = 0


def set_settings(settings):
    global _settings
    _settings = settings


class Counter:
    def step(self):
        global _count
        _count += 1


def get_settings():
    if _settings is None:
        raise ValueError("not set")
    return _settings


def counted():
    return _count != 0
"""


@pytest.mark.parametrize("test", ["get_settings()", "if not counted(): return"])
def test_a_variable_that_a_function_assigns_which_nobody_looked_at(tmp_path: Path, test: str) -> None:
    (tmp_path / "settings.py").write_text(ELSEWHERE, encoding="utf-8")
    source = f"import kiln\nfrom settings import *\n\n\ndef use(key):\n    {test}\n    kiln.fire(key, 1)\n"
    (tmp_path / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(tmp_path, [tmp_path / "app.py", tmp_path / "settings.py"], [KILN])
    (use,) = (u for u in analysis.uses if isinstance(u, CallUse))
    assert KILN.timeline.describe(use.releases) == "1.0 to 2.1"
