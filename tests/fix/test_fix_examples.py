"""The examples of the repairs, which are their documentation: each is what is offered, and nothing is left to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.repair.examples import EXAMPLES, RepairExample
from driftwatch.repair.plan import CODES
from tests.fix.fixing import fixed, text_of
from tests.kiln import knowledge

ALL = [pytest.param(code, each, id=f"{code} {each.title}") for code, repaired in EXAMPLES.items() for each in repaired]


def test_every_repair_has_one() -> None:
    assert EXAMPLES.keys() <= CODES
    # DW104 is repaired as DW103 is, DW202 as DW201.
    assert CODES - EXAMPLES.keys() == {"DW104", "DW202"}


@pytest.mark.parametrize(("code", "repaired"), ALL)
def test_an_example_is_what_is_offered(
    code: str, repaired: RepairExample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if code == "DW501":  # what importing the library may raise is data beside its history
        monkeypatch.setattr("driftwatch.scan.pipeline.load", lambda data, timeline: knowledge())
    result = fixed(tmp_path, repaired.before, against=repaired.against or "all", unsafe=repaired.unsafe, select=(code,))
    assert text_of(result) == repaired.after
    assert code in {finding.code for finding in result.offer.repaired}
    assert not result.offer.refusals
    again = fixed(tmp_path, repaired.after, against=repaired.against or "all", unsafe=repaired.unsafe)
    assert not again.offer.files


@pytest.mark.parametrize(("code", "repaired"), [each for each in ALL if each.values[1].unsafe])  # type: ignore[union-attr]
def test_what_is_unsafe_is_not_offered_unasked(code: str, repaired: RepairExample, tmp_path: Path) -> None:
    result = fixed(tmp_path, repaired.before, against=repaired.against or "all")
    assert not result.offer.files
