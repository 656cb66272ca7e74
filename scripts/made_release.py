"""Record a made release and a made pre-release after the newest ones: what the next one will do to the tests.

    python scripts/made_release.py FOLDER

FOLDER is the `snapshots/flashinfer-python` of a copy of this repository; run its tests afterwards. Both have the API of
the newest release, so that whatever fails then depends on which release is newest, or on how many there are.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from driftwatch.snapshot.store import store
from driftwatch.snapshot.store.gpu_facts import add_facts, facts_of


def main(folder: Path) -> None:
    """Add both to the stores in a folder."""
    before = store.load(folder).timeline
    newest = before.versions[-1]
    snapshot = store.snapshot_of(store.load(folder), newest)
    record = store.records(folder)[-1]
    major, minor, micro = (*Version(newest).release, 0, 0)[:3]
    for version, place in (
        (f"{major}.{minor}.{micro + 1}", folder),
        (f"{major}.{minor + 1}.0rc1", folder / store.EARLY),
    ):
        name = record.artifact and record.artifact.replace(newest, version)
        store.keep(
            place,
            store.load(folder).distribution,
            store.load(folder).module,
            [(replace(snapshot, release=version), replace(record, version=version, artifact=name, digest=""))],
        )
        print(f"{place}: {version}")
    after = store.load(folder).timeline
    add_facts(folder, before, after, {after.versions[-1]: facts_of(folder, before, newest)})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
