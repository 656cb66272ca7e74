"""A small distribution on an index of its own, and how tests get at it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from driftwatch.snapshot.sources.artifact_tree import ArtifactTree
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.sources.origin import choose_for_snapshot
from tests.fake_index import FakeIndex

WHEEL = "demo-1.0-py3-none-any.whl"
SDIST = "demo-1.0.tar.gz"
BULK = "".join(f"# {hashlib.sha256(str(n).encode()).hexdigest()}\n" for n in range(6000))
FILES = {
    "demo/__init__.py": "def f(): ...\n",
    "demo/sub/__init__.py": "from demo.sub.a import x\n",
    "demo/sub/a.py": "x = 1\n",
    "demo/sub/b.py": "y = 1\n",
    "demo/kernels/big.cu": BULK,
    "demo/last.py": "z = 1\n",
}


def client(fake: FakeIndex, cache: Path, **settings: object) -> PackageIndex:
    return PackageIndex(IndexSettings(fake.url, **settings), Cache(cache))  # type: ignore[arg-type]


def tree(index: PackageIndex, version: str = "1.0") -> ArtifactTree:
    return ArtifactTree(choose_for_snapshot(index.project("demo").artifacts(version)), index, "demo")
