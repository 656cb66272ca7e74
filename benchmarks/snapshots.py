"""What snapshots cost: CPU seconds and memory for all releases, and what is fetched for them.

    python benchmarks/snapshots.py FOLDER        collect every release whose sources lie in FOLDER/<version>/
    python benchmarks/snapshots.py --fetch       fetch every release from the package index, into an empty cache

Both compare what they make with the shipped snapshots, and time how long these take to load. Seconds of one machine say
little about another, so the time that Python's own parser needs for the same distinct files stands beside them.
"""

from __future__ import annotations

import ast
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
from packaging.version import Version

from driftwatch.snapshot.collect.reader import Reader
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.origin import FromIndex, open_release
from driftwatch.snapshot.sources.tree import FolderTree, SourceTree
from driftwatch.snapshot.store import store


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--fetch", is_flag=True, help="Fetch the sources from the package index instead.")
@click.option("--target", default="flashinfer-python", show_default=True, help="Which shipped target.")
def main(folder: Path | None, fetch: bool, target: str) -> None:
    """Measure the making of all snapshots of a target."""
    if (folder is None) is not fetch:
        raise click.UsageError("name a folder of sources, or --fetch")
    shipped = store.shipped() / target
    started = time.perf_counter()
    history = store.load(shipped)
    print(f"load            {1000 * (time.perf_counter() - started):8.1f} ms for {len(history.timeline)} releases")
    known = {record.version: record.digest for record in store.records(shipped)}
    if folder is not None:
        _measure(((v, FolderTree(folder / v)) for v in _versions(folder)), history.module, known)
    else:
        with tempfile.TemporaryDirectory() as empty, PackageIndex(cache=Cache(Path(empty))) as index:
            releases = (
                (v, open_release(FromIndex(v), target, history.module, index).tree) for v in history.timeline.versions
            )
            _measure(releases, history.module, known)
            traffic = index.traffic
            print(f"fetched         {traffic.bytes / 1e6:8.1f} MB in {traffic.requests} requests")


class _Watched:
    """A source tree that remembers what was read from it."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self.sources: list[bytes] = []

    def read(self, path: str) -> bytes | None:
        source = self._tree.read(path)
        if source is not None:
            self.sources.append(source)
        return source

    def names(self, path: str) -> tuple[str, ...]:
        return self._tree.names(path)


def _versions(folder: Path) -> list[str]:
    return sorted((p.name for p in folder.iterdir() if p.is_dir() and p.name[:1].isdigit()), key=Version)


def _measure(releases: Iterator[tuple[str, SourceTree]], module: str, known: dict[str, str]) -> None:
    reader = Reader()
    parsed: dict[bytes, float] = {}
    spent = wall = 0.0
    symbols = made = 0
    different: list[str] = []
    for version, tree in releases:
        if version not in known:
            continue
        watched = _Watched(tree)
        clock, began = time.process_time(), time.perf_counter()
        snapshot = collect(watched, module, version, reader)
        spent += time.process_time() - clock
        wall += time.perf_counter() - began
        symbols += len(snapshot.symbols)
        for source in watched.sources:
            if source not in parsed:
                clock = time.process_time()
                ast.parse(source)
                parsed[source] = time.process_time() - clock
        made += 1
        if store.digest(snapshot) != known[version]:
            different.append(version)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    print(f"collect         {spent:8.1f} CPU s, {wall:.1f} s, for {made} releases, {symbols} symbols")
    reference = sum(parsed.values())
    size = sum(map(len, parsed)) / 1e6
    print(f"ast.parse       {reference:8.1f} CPU s for the {len(parsed)} distinct files, {size:.1f} MB of them")
    print(f"ratio           {spent / reference:8.1f}")
    print(f"peak memory     {peak:8.0f} MB")
    print(f"unlike shipped  {', '.join(different) or 'none'}")


if __name__ == "__main__":
    main()
