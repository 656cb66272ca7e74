"""Snapshots against real imports of FlashInfer, one process to a release: names, parameters, members, values.

Modules that cannot be imported on a machine without a GPU or without an optional package are not compared; how many
must be is part of each expectation, so that the comparison cannot shrink unnoticed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Snapshot
from driftwatch.snapshot.store import store
from tests.live_parity.comparison import compare
from tests.live_parity.environment import Environment, environment, unpacked

DISTRIBUTION = "flashinfer-python"
INSPECTOR = Path(__file__).with_name("inspector.py")

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.version_info[:2] != (3, 11) or sys.platform != "linux",
        reason="the releases compared here import with Python 3.11 on Linux",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = os.environ.get("DRIFTWATCH_PARITY_DIR")
    return Path(named) if named else tmp_path_factory.mktemp("parity")


@pytest.fixture(scope="module")
def prepared(folder: Path) -> Environment:
    return environment(folder)


@pytest.fixture(scope="module")
def history() -> History:
    return store.load(store.shipped() / DISTRIBUTION)


def asked(snapshot: Snapshot) -> dict[str, list[str]]:
    """The modules of a snapshot, with the names to ask for in each (a lazy one is in no `dir()`)."""
    names: dict[str, list[str]] = {ref.module: [] for ref in snapshot.symbols if not ref.qualname}
    for ref in snapshot.symbols:
        if ref.module in names and ref.qualname and "." not in ref.qualname:
            names[ref.module].append(ref.qualname)
    return names


@pytest.mark.parametrize(
    ("version", "modules", "signatures", "loaded"),
    [
        ("0.7.4", 55, 1500, 27),
        ("0.7.2", 40, 1200, 24),
        ("0.6.12", 20, 600, 12),
        ("0.6.3", 14, 500, 10),
        ("0.6.0", 13, 400, 10),
        ("0.5.3", 11, 280, 5),
        ("0.4.1", 11, 280, 5),
    ],
)
def test_the_snapshot_is_what_a_live_import_shows(
    history: History,
    prepared: Environment,
    folder: Path,
    tmp_path: Path,
    version: str,
    modules: int,
    signatures: int,
    loaded: int,
) -> None:
    snapshot = store.snapshot_of(history, version)
    output = tmp_path / "live.json"
    release = unpacked(DISTRIBUTION, version, folder)
    subprocess.run(
        [str(prepared.python), str(INSPECTOR), str(release), str(output), *map(str, prepared.libraries)],
        input=json.dumps(asked(snapshot)),
        text=True,
        check=True,
        # The release writes caches into the home folder and compares its version with packages that are not here.
        env={**os.environ, "HOME": str(tmp_path), "FLASHINFER_DISABLE_VERSION_CHECK": "1"},
    )
    parity = compare(snapshot, json.loads(output.read_text(encoding="utf-8")))
    assert not parity.differences, "\n".join(parity.differences)
    assert parity.agreed["modules"] >= modules, parity.unimportable
    assert parity.agreed["signatures"] >= signatures
    assert parity.agreed["submodules loaded"] == loaded
    assert "flashinfer.comm" not in parity.unimportable
