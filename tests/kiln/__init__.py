"""A small library that never was, in five releases: what the rules' examples, and many tests, are written against.

It has one of everything that rules are about. `releases/` holds its sources, which the collector reads as it reads
those of any other library; `diff -r` of two of them shows what changed when.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from driftwatch.findings.finding import Severity
from driftwatch.releases import Timeline
from driftwatch.rules.advisories import Advisory, Condition, ImportFailure, Kernels, Knowledge
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.snapshot.sources.tree import FolderTree
from driftwatch.targets.companions import Companion, Companions

DISTRIBUTION = "kiln"
COMPANIONS = ("kiln-bricks", "kiln-fuel")
BESIDE = Companions(
    (Companion("kiln-bricks", "kiln_bricks", "bricks are baked", "https://bricks.example", (), published="<2"),)
)
RELEASES = ("1.0", "1.1", "1.2", "2.0", "2.1")
_SOURCES = Path(__file__).with_name("releases")


@cache
def history() -> History:
    """The history of the library, collected from its sources."""
    snapshots = [collect(FolderTree(_SOURCES / release), "kiln", release) for release in RELEASES]
    return merge(DISTRIBUTION, "kiln", snapshots, Timeline(RELEASES))


def knowledge() -> Knowledge:
    """What no signature of the library shows."""
    timeline = Timeline(RELEASES)
    thermometer = ImportFailure(
        "thermometer", "kiln", "RuntimeError", timeline.matching("<1.2"), "where there is no thermometer", ("kiln#7",)
    )
    cracks = Advisory(
        "cracks",
        (Ref("kiln", "cool"),),
        timeline.matching(">=2.0"),
        "pots crack when they cool fast in {releases}",
        "pass slow=True",
        Severity.WARNING,
        ("kiln#12",),
        (Condition("slow", equals=(False,)),),
    )
    electric = Kernels("electric", (Ref("kiln", "glow"),), timeline.matching("<2"), ("8",), ("kiln#15",))
    return Knowledge((cracks,), (thermometer,), kernels=(electric,))
