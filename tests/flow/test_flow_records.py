"""Dataclasses and named tuples: flags are kept in them, and each holds what it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import CallUse
from tests.kiln import history

KILN = history()

REGISTRY = """\
import kiln
from dataclasses import dataclass
from typing import NamedTuple


HEAD
    name: str
    make: object


RECORDS = [Record("open_shelf", kiln.open_shelf), Record("fire", kiln.fire)]


def use(record, x):
    record.make(x, nonsense=1)
    getattr(kiln, record.name)(x, nonsense=1)


for each in RECORDS:
    use(each, 1)
"""


@pytest.mark.parametrize("head", ["@dataclass\nclass Record:", "class Record(NamedTuple):"])
def test_each_record_holds_what_it_was_given(tmp_path: Path, head: str) -> None:
    source = REGISTRY.replace("HEAD", head)
    (tmp_path / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(tmp_path, [tmp_path / "app.py"], [KILN])
    assert analysis.diagnostics == ()
    line = 1 + source[: source.index("record.make(")].count("\n")
    called = [(use.callee.qualname, use.location.line) for use in analysis.uses if isinstance(use, CallUse)]
    assert sorted(called) == [("fire", line), ("fire", line + 1), ("open_shelf", line), ("open_shelf", line + 1)]
