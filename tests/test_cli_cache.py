"""``driftwatch cache``: what is kept, how large it is, and what goes first."""

from __future__ import annotations

import os
import time
from pathlib import Path

from driftwatch.snapshot.sources.cache_size import IN_USE, kinds, shrink
from tests.cli_process import Result, run


def made(root: Path, name: str, size: int, age: float) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    used = time.time() - age
    os.utime(path, (used, used))
    for folder in path.parents:
        if folder == root:
            break
        os.utime(folder, (used, used))
    return path


def cache(root: Path, *arguments: str) -> Result:
    return run("cache", *arguments, cwd=root.parent, environment={"DRIFTWATCH_CACHE_DIR": str(root)})


def test_what_was_not_used_for_the_longest_goes_first(tmp_path: Path) -> None:
    old = made(tmp_path, "archives/aa/old", 1000, 9 * IN_USE)
    older = made(tmp_path, "libraries-2/kiln/kiln-1/history.jsonl", 1000, 10 * IN_USE)
    new = made(tmp_path, "files/bb/new", 1000, 2 * IN_USE)
    assert shrink(tmp_path, 2500) == 1000
    assert (older.exists(), old.exists(), new.exists()) == (False, True, True)
    assert not older.parent.exists()


def test_what_may_be_in_use_stays(tmp_path: Path) -> None:
    now = made(tmp_path, "files/aa/now", 1000, 0)
    assert shrink(tmp_path, 0) == 0
    assert now.exists()


def test_the_command_shows_and_clears(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    made(root, "files/aa/one", 1_500_000, 0)
    other = made(root, "somebody/elses", 10, 0)
    shown = cache(root)
    assert shown.status == 0, shown
    assert str(root) in shown.out
    assert "1.5 MB" in shown.out
    assert cache(root, "--clear").status == 0
    assert kinds(root) == ()
    assert other.exists()


def test_a_cache_that_is_not_there_is_empty(tmp_path: Path) -> None:
    result = cache(tmp_path / "none")
    assert (result.status, result.err) == (0, "")
    assert "0.0 MB" in result.out
