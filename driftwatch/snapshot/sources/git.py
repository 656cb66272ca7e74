"""A commit of a git repository as a source tree: objects are read, nothing is checked out, no hook or filter runs.

Enters: a repository's folder and a ref. Leaves: a `SourceTree` of the commit. Objects that a partial clone lacks are
not fetched: the network is the package index's alone.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import subprocess
from collections.abc import Sequence
from pathlib import Path

from driftwatch.errors import InputError
from driftwatch.snapshot.sources.artifact_tree import folders_of, package_folder
from driftwatch.system.subprocesses import program

_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_TIMEOUT = 120


class GitCommit:
    """One commit of a repository: its full hash, and the regular files in it, by path and object name."""

    def __init__(self, repository: Path, ref: str) -> None:
        self.repository = repository
        self.ref = ref
        if ref.startswith("-"):
            raise InputError(f"{ref!r} is not a git ref")
        resolved = git(
            repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", missing=ref
        )
        self.commit = resolved.decode().strip()
        self.blobs = self._list()

    def _list(self) -> dict[str, str]:
        """Path to object name of every regular file; links and submodules are none."""
        blobs: dict[str, str] = {}
        listing = git(self.repository, "ls-tree", "-r", "-z", "--full-tree", self.commit)
        for line in listing.decode("utf-8", "surrogateescape").split("\0"):
            head, tab, path = line.partition("\t")
            if tab:
                mode, _, name = head.split(" ")
                if mode in ("100644", "100755"):
                    blobs[path] = name
        return blobs

    def contents(self, paths: Sequence[str]) -> list[bytes]:
        """The contents of these files, read with one process."""
        names = [self.blobs[path] for path in paths]
        output = git(self.repository, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
        found: list[bytes] = []
        position = 0
        for name in names:
            end = output.index(b"\n", position)
            kind = output[position:end].split(b" ")
            if len(kind) != 3:
                raise InputError(
                    f"{self.repository} lacks an object of {self.ref}",
                    f"a partial clone? object {name}; fetch it first",
                )
            size = int(kind[2])
            found.append(output[end + 1 : end + 1 + size])
            position = end + 2 + size
        return found


class GitTree:
    """The files of one commit, below the folder that holds the top-level package. `commit` is its full hash."""

    def __init__(self, repository: Path, ref: str, top: str) -> None:
        self._commit = GitCommit(repository, ref)
        self.commit = self._commit.commit
        self._blobs = self._commit.blobs
        self._prefix = package_folder((path for path in self._blobs if path.endswith((".py", ".pyi"))), top)
        self._folders = folders_of(self._blobs, self._prefix)
        self._contents: dict[str, bytes] = {}

    def read(self, path: str) -> bytes | None:
        return self._content(self._prefix + posixpath.normpath(path))

    def read_top(self, name: str) -> bytes | None:
        """A file of the repository's own top folder."""
        return self._content(name)

    def names(self, path: str) -> tuple[str, ...]:
        folder = posixpath.normpath(path) if path else "."
        return tuple(sorted(self._folders.get("" if folder == "." else folder, ())))

    def prefetch(self, folder: str) -> None:
        """Reads all Python sources below a folder with one process."""
        inside = self._prefix + folder.rstrip("/") + "/"
        paths = [p for p in self._blobs if p.startswith(inside) and p.endswith((".py", ".pyi"))]
        self._contents.update(zip(paths, self._commit.contents(paths), strict=True))

    def _content(self, name: str) -> bytes | None:
        if name not in self._blobs:
            return None
        if name not in self._contents:
            (self._contents[name],) = self._commit.contents([name])
        return self._contents[name]


def checked_out(folder: Path) -> GitCommit:
    """The commit that a working tree stands on; `InputError` where a folder is in none."""
    top = git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    return GitCommit(Path(top), "HEAD")


def object_name(data: bytes, like: str) -> str:
    """The name that git has for a file's contents, in the same hash as another's."""
    kind = "sha256" if len(like) == 64 else "sha1"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def differs(commit: GitCommit, folder: Path, top: str) -> bool:
    """Whether the Python files of a package or module below a folder of a working tree are others than the commit has.

    Their bytes are held against the names of git's objects: `git status` would run filters that the repository names.
    """
    root = commit.repository.resolve()
    home = folder.resolve()
    there: dict[str, str] = {}
    for path in (home / f"{top}.py", *sorted((home / top).rglob("*.py"))):
        if path.is_file() and not path.is_symlink():
            there[path.relative_to(root).as_posix()] = object_name(path.read_bytes(), commit.commit)
    prefix = "" if home == root else f"{home.relative_to(root).as_posix()}/"
    beginnings = (f"{prefix}{top}/", f"{prefix}{top}.py")
    known = {p: name for p, name in commit.blobs.items() if p.endswith(".py") and p.startswith(beginnings)}
    return there != known


def merge_base(repository: Path, one: str, other: str) -> str:
    """The commit from which two others come, by its full hash; `InputError` where there is none."""
    for ref in (one, other):
        if ref.startswith("-"):
            raise InputError(f"{ref!r} is not a git ref")
    found = git(repository, "merge-base", "--", one, other, missing=f"{one}..{other}")
    return found.decode().strip()


def git(repository: Path, *arguments: str, given: bytes = b"", missing: str | None = None) -> bytes:
    """What git prints. `missing` is the ref that was asked for, where a silent failure means that there is none."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    # A partial clone's missing objects would be fetched by whatever program the repository's configuration names.
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    installed = program("git")
    if installed is None:
        raise InputError("git is not installed, so that a git ref cannot be read")
    command = [installed, "--no-pager", *_SAFE, "-C", str(repository), *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, env=environment, timeout=_TIMEOUT, check=False)
    except OSError as error:
        raise InputError(f"git cannot be run: {error.strerror or type(error).__name__}") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"git does not answer in {_TIMEOUT} seconds about {repository}") from None
    if done.returncode == 0:
        return done.stdout
    complaint = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if missing is not None and not complaint:
        raise InputError(f"{repository} has no commit {missing!r}")
    raise InputError(f"git cannot read {repository}: {complaint[0] if complaint else 'it says not why'}")
