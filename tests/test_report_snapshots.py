"""What is said of an update and of a verification, in every way they can end."""

from __future__ import annotations

from pathlib import Path

from driftwatch.errors import SnapshotError
from driftwatch.report.snapshots import Recorded, render_records, render_update, render_verify
from driftwatch.report.styled import Look
from driftwatch.snapshot.commands.update import Failure, UpdateResult
from driftwatch.snapshot.commands.verify import Difference, Verified, VerifyResult
from driftwatch.snapshot.store.store import ReleaseRecord
from driftwatch.targets.target import Target

KILN = Target("kiln", "kiln.core", Path("snapshots/kiln"))
FAILURE = Failure("1.3", SnapshotError("the archive of \x1b[2J1.3 is damaged"))


def test_an_update_that_finds_something() -> None:
    result = UpdateResult(
        added=("1.1", "1.2"), changed=("1.0",), without_module=("0.8", "0.9"), failed=(FAILURE,), known=4
    )
    assert render_update(KILN, result, "1.0", Look()).splitlines() == [
        "  changed  1.0",
        "  added    1.1 to 1.2",
        "  left out 0.8 to 0.9, which have no kiln.core",
        r"  failed   1.3: the archive of \x1b[2J1.3 is damaged",
        "kiln: 4 releases known",
        "what it changes: driftwatch diff 1.0 1.2",
    ]


def test_an_update_that_finds_nothing() -> None:
    assert render_update(KILN, UpdateResult(known=1), "1.0", Look()) == "kiln: 1 release known, nothing new\n"


def test_the_first_update_has_nothing_to_compare_with() -> None:
    shown = render_update(KILN, UpdateResult(added=("1.0",), known=1), None, Look())
    assert shown.splitlines() == ["  added    1.0", "kiln: 1 release known"]


def test_a_verification_that_finds_a_difference() -> None:
    many = tuple(Difference(f"kiln.core:f{i}", None, f"line {i}") for i in range(11))
    result = VerifyResult(
        verified=(
            Verified("1.0"),
            Verified("1.1", (Difference("kiln.core:fire", '{"old\x1b": 1}', '{"new": 1}'),)),
            Verified("1.2", many),
            Verified("1.4", (), digest_differs=True),
        ),
        skipped=("0.9",),
        failed=(FAILURE,),
    )
    lines = render_verify(KILN, result, Look()).splitlines()
    assert lines[:4] == [
        "  1.1: 1 symbol differs",
        "    kiln.core:fire",
        r'      - {"old\x1b": 1}',
        '      + {"new": 1}',
    ]
    assert "  1.2: 11 symbols differ" in lines
    assert "    and 1 more" in lines
    assert "  1.4: its digest differs" in lines
    assert lines[-2:] == [
        "  skipped  0.9: nothing to make it from again",
        "kiln: 1 of 4 releases made again, byte for byte the same",
    ]


def test_the_list_of_what_is_known() -> None:
    records = [ReleaseRecord("1.0", "kiln-1.0.tar.gz", "00", ">=3.10", "11"), ReleaseRecord("1.1.post1")]
    assert render_records(Recorded(KILN, records), Look()).splitlines() == [
        "kiln  kiln.core, 2 releases",
        "  1.0        kiln-1.0.tar.gz  Python >=3.10",
        "  1.1.post1  not from the index",
    ]
