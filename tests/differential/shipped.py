"""The history of the library that ships with driftwatch, and stubs of all its releases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.store import store
from tests.stubs import write_stub


@cache
def shipped() -> History:
    return store.load(store.shipped() / "flashinfer-python")


def shipped_stubs(folder: Path) -> Mapping[str, Path]:
    """A stub of each release, in a folder of its own."""
    history = shipped()
    return {
        release: write_stub(store.snapshot_of(history, release), folder / release)
        for release in history.timeline.versions
    }
