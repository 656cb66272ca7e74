"""Which files have something that git could not give back.

Enters: files. Leaves: those of them that differ from the last commit, or are in none. No filter, hook or other program
of the repository runs: contents are compared by their object names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driftwatch.errors import InputError
from driftwatch.snapshot.sources.git import GitCommit, git, object_name


def uncommitted(files: Sequence[Path]) -> list[Path]:
    """The files with changes that are not committed; none of those that are in no repository."""
    found: list[Path] = []
    commits: dict[Path, GitCommit | None] = {}
    for file in files:
        try:
            top = Path(git(file.parent, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
        except InputError:
            continue
        if top not in commits:
            try:
                commits[top] = GitCommit(top, "HEAD")
            except InputError:
                commits[top] = None  # nothing has been committed yet
        commit = commits[top]
        name = commit.blobs.get(file.resolve().relative_to(top.resolve()).as_posix()) if commit is not None else None
        data = file.read_bytes()
        if name is None or name not in (object_name(data, name), object_name(data.replace(b"\r\n", b"\n"), name)):
            found.append(file)
    return found
