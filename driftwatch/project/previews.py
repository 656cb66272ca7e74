"""Releases that a code base pins and that are not recorded: a history with them, for one scan.

Enters: a target, and versions. Leaves: its history with those that the index has, and for each other one the reason. A
release that does not have the module is one in which nothing of it is there. They are fetched as every snapshot is,
into a copy of the target's snapshots in the user's cache: neither the snapshots themselves nor the timeline of any
other scan gets a release by this.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from packaging.utils import canonicalize_name

from driftwatch.errors import DriftwatchError, NoModuleError
from driftwatch.snapshot.commands.update import add, add_empty
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.sources.cache import cache_root
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target

FOLDER = "previews-1"  # another number for another form


def with_releases(
    target: Target, versions: Sequence[str], index: PackageIndex | None = None
) -> tuple[History | None, tuple[tuple[str, str], ...]]:
    """The history with those of the versions that could be had, None where none could; and why the others could not."""
    if target.origin is not None:
        return None, ()
    home = cache_root() / FOLDER / canonicalize_name(target.distribution)
    unavailable: list[tuple[str, str]] = []
    try:
        place = home / _name(target, versions)
        if not place.is_dir():
            home.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=home) as folder:
                copy = Path(folder) / "snapshots"
                shutil.copytree(target.snapshots, copy)
                unavailable = _added(replace(target, snapshots=copy), versions, index)
                if len(unavailable) == len(versions):
                    return None, tuple(unavailable)
                if unavailable:
                    place = home / _name(target, [v for v in versions if v not in dict(unavailable)])
                if not place.is_dir():
                    copy.replace(place)
        return store.load(place), tuple(unavailable)
    except OSError as error:
        reason = f"the cache cannot be used: {error.strerror or error}"
        return None, tuple((version, reason) for version in versions)


def _added(target: Target, versions: Sequence[str], index: PackageIndex | None) -> list[tuple[str, str]]:
    """Add what can be had; the versions that cannot, with the reason."""
    unavailable: list[tuple[str, str]] = []
    absent = store.releases_without_module(target.snapshots)
    for version in versions:
        try:
            if version in absent:
                add_empty(target, version)
            else:
                add(target, [f"{target.distribution}=={version}"], index=index)
        except NoModuleError:
            add_empty(target, version)
        except DriftwatchError as error:
            unavailable.append((version, error.message))
    return unavailable


def _name(target: Target, versions: Sequence[str]) -> str:
    """A name that depends on all that the copy is made of."""
    digest = hashlib.sha256("\n".join(versions).encode())
    for path in sorted(target.snapshots.iterdir()):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:32]
