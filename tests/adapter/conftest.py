"""What the adapter's tests share: the real history, and one adapter file made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.adapter.write import make_adapter
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target, choose, shipped_targets


@pytest.fixture(scope="session")
def target() -> Target:
    return choose(shipped_targets(), "flashinfer-python")


@pytest.fixture(scope="session")
def history(target: Target) -> History:
    return store.load(target.snapshots)


@pytest.fixture(scope="session")
def adapter_file(history: History, target: Target, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adapter") / "fi_adapter.py"
    path.write_text(make_adapter(history, target).text, encoding="utf-8")
    return path
