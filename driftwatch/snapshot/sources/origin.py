"""Where a release's sources come from: the package index, a git ref, a folder, or what is installed here.

Enters: what a person wrote. Leaves: an `OpenedRelease`: which release it is, its source tree, and what it was read
from. Nothing of the library is imported or run, whatever the origin.
"""

from __future__ import annotations

import ast
import email.parser
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from driftwatch.errors import InputError, UsageError
from driftwatch.snapshot.sources.archive import read_members
from driftwatch.snapshot.sources.artifact_tree import COMPILED, ArtifactTree, is_source, package_folder
from driftwatch.snapshot.sources.git import GitTree, checked_out, differs
from driftwatch.snapshot.sources.index import Artifact, PackageIndex
from driftwatch.snapshot.sources.tree import FileTree, FolderTree, SourceTree
from driftwatch.system.toml import parse

GIT_SCHEME = "git+file:"
INSTALLED = "installed"
GIT = "git:"
ARCHIVES = (".whl", ".tar.gz", ".zip")
_FORMS = "write VERSION, NAME==VERSION, a folder, git:FOLDER@REF, a wheel or an sdist, or 'installed'"
_SKIPPED = frozenset({"build", "dist", "node_modules", "site-packages", "__pycache__", "venv", "env"})
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class FromIndex:
    """A release on the package index."""

    version: str


@dataclass(frozen=True, slots=True)
class FromGit:
    """A commit of a local repository; `release` is what to call it, when its version does not say."""

    repository: Path
    ref: str
    release: str | None = None


@dataclass(frozen=True, slots=True)
class FromFolder:
    """Sources in a folder: a checkout, or an unpacked release. `released` says that they are what they call themselves.

    Otherwise they are a state of their own, whatever version they declare: a working tree has what no release has.
    """

    path: Path
    release: str | None = None
    released: bool = False


@dataclass(frozen=True, slots=True)
class FromArchive:
    """A wheel or an sdist in a file."""

    path: Path
    release: str | None = None


@dataclass(frozen=True, slots=True)
class FromInstalled:
    """The distribution installed beside driftwatch."""

    release: str | None = None


Origin = FromIndex | FromGit | FromFolder | FromArchive | FromInstalled


@dataclass(frozen=True, slots=True)
class OpenedRelease:
    """A release that can be read. `artifact` and `sha256` say which file of the index it is, if it is one."""

    release: str
    tree: SourceTree
    artifact: str | None = None
    sha256: str | None = None
    requires_python: str | None = None


def parse_origin(spec: str, distribution: str) -> Origin:
    """What a person wrote: a version, ``NAME==VERSION``, a folder, ``git:FOLDER@REF`` (``FOLDER@REF`` and
    ``git+file:///FOLDER@REF`` are the same), a wheel or an sdist, ``installed``; all but the first two may have
    ``VERSION=`` before them to say which release it is."""
    release, equals, rest = spec.partition("=")
    if equals and not rest.startswith("=") and (named := _version(release)):
        return _local(rest, named)
    if found := _version(spec):
        return FromIndex(found)
    name, equals, version = spec.partition("==")
    if equals and re.fullmatch(r"[\w.-]+\s*", name):
        found = _version(version.strip())
        if found is None:
            raise UsageError(f"{version.strip()!r} is not a version", _FORMS)
        if canonicalize_name(name.strip()) != canonicalize_name(distribution):
            raise UsageError(f"{spec!r} is not a release of {distribution}")
        return FromIndex(found)
    return _local(spec, None)


def _local(spec: str, release: str | None) -> Origin:
    if spec == INSTALLED:
        return FromInstalled(release)
    if spec.startswith("git+"):
        if not spec.startswith(GIT_SCHEME):
            raise UsageError(f"{spec!r} is not in a local repository", "clone it first: only git+file: URLs are read")
        path, at, ref = url2pathname(urlsplit(spec[4:]).path).rpartition("@")
        return FromGit(_folder(path if at else ref), ref if at else "HEAD", release)
    if spec.startswith(GIT):
        path, at, ref = spec.removeprefix(GIT).rpartition("@")
        return FromGit(_folder(path if at else ref), ref if at else "HEAD", release)
    if spec and Path(spec).expanduser().is_dir():
        return FromFolder(_folder(spec), release)
    if spec.endswith(ARCHIVES) and Path(spec).expanduser().is_file():
        return FromArchive(Path(spec).expanduser(), release)
    path, at, ref = spec.rpartition("@")
    if at and ref and Path(path).expanduser().is_dir():
        return FromGit(_folder(path), ref, release)
    raise InputError(f"{spec!r} is neither a release nor a folder", _FORMS)


def _folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise InputError(f"{path} is not a folder")
    return folder


def _version(text: str) -> str | None:
    try:
        return str(Version(text))
    except ValueError:
        return None


# -- opening -----------------------------------------------------------------------------------------------------------


def open_release(
    origin: Origin, distribution: str, module: str, index: PackageIndex, also: Sequence[str] = ()
) -> OpenedRelease:
    """The release behind an origin, ready to be read; the module's own files are fetched already, if it has any."""
    match origin:
        case FromIndex(version):
            artifact = choose_for_snapshot(index.project(distribution).artifacts(version))
            return open_artifact(artifact, module, index, also)
        case FromGit(repository, ref, release):
            return _open_git(repository, ref, release, module)
        case FromFolder(path, release, released):
            return _open_folder(path, release, module, released=released)
        case FromArchive(path, release):
            return _open_archive(path, release, module)
        case FromInstalled(release):
            return _open_installed(distribution, release, module)


def open_artifact(artifact: Artifact, module: str, index: PackageIndex, also: Sequence[str] = ()) -> OpenedRelease:
    """A release as one file of the index holds it: its sources, and files that are `also` asked for."""
    tree = ArtifactTree(artifact, index, _top(module), also)
    tree.prefetch(module.replace(".", "/"))
    return OpenedRelease(artifact.version, tree, artifact.filename, artifact.sha256, artifact.requires_python)


def choose_for_snapshot(artifacts: tuple[Artifact, ...]) -> Artifact:
    """The pure wheel, else one platform's wheel, else the sdist: the same on every machine."""

    def rank(artifact: Artifact) -> tuple[bool, bool, bool, str]:
        platform = "linux" in artifact.filename and "x86_64" in artifact.filename
        return artifact.pure, artifact.wheel, platform, artifact.filename

    return max(artifacts, key=rank)


def has_module(tree: SourceTree, module: str) -> bool:
    """Whether a release has this module, as a file or a package."""
    path = module.replace(".", "/")
    head, _, last = path.rpartition("/")
    files = {f"{last}.{suffix}" for suffix in ("py", "pyi")}
    beside, inside = tree.names(head), tree.names(path)
    compiled = any(name.startswith(f"{last}.") and name.endswith(COMPILED) for name in beside)
    return compiled or bool(files & set(beside)) or "__init__.py" in inside or "__init__.pyi" in inside


def _open_git(repository: Path, ref: str, release: str | None, module: str) -> OpenedRelease:
    tree = GitTree(repository, ref, _top(module))
    tree.prefetch(module.replace(".", "/"))
    if release is None:
        release = _version(ref.rpartition("/")[2])
    if release is None:
        declared = _declared(tree.read_top, tree, _top(module))
        if declared is None:
            raise _unnamed(f"{repository}@{ref}")
        release = _state_of(declared, f"g{tree.commit[:9]}")
    return OpenedRelease(release, tree)


def _open_folder(path: Path, release: str | None, module: str, *, released: bool) -> OpenedRelease:
    top = _top(module)
    inside = package_folder(_sources(path), top)
    tree = FolderTree(path / inside)
    if release is None:
        declared = _declared(FolderTree(path).read, tree, top)
        if declared is None:
            raise _unnamed(str(path))
        release = declared if released else _state_of(declared, _of_checkout(path, path / inside, top))
    return OpenedRelease(release, tree)


def _open_archive(path: Path, release: str | None, module: str) -> OpenedRelease:
    files = read_members(path, path.name, lambda name: is_source(name) or name.endswith(("/METADATA", "/PKG-INFO")))
    tree = FileTree(files, package_folder((name for name in files if is_source(name)), _top(module)))
    if release is None:
        try:
            if path.name.endswith(".whl"):
                version = parse_wheel_filename(path.name)[1]
            else:
                version = parse_sdist_filename(path.name)[1]
        except ValueError:
            raise _unnamed(str(path)) from None
        release = _state_of(str(version), "file") if version.local is None else str(version)
    return OpenedRelease(release, tree)


def _state_of(declared: str, what: str) -> str:
    """The version of what is no release: that which the sources declare, with a local part that says what it is."""
    return f"{Version(declared).public}+{what}"


def _of_checkout(folder: Path, above: Path, top: str) -> str:
    """The commit of a working tree, and whether its Python files differ from it; where there is none, ``local``."""
    try:
        commit = checked_out(folder)
    except InputError:
        return "local"
    return f"g{commit.commit[:9]}" + (".dirty" if differs(commit, above, top) else "")


def _open_installed(distribution: str, release: str | None, module: str) -> OpenedRelease:
    try:
        installed = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise InputError(f"{distribution} is not installed beside driftwatch") from None
    top = _top(module)
    try:
        spec = importlib.util.find_spec(top)  # of a top-level name: nothing is imported
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places and not (spec and spec.origin):
        raise InputError(f"{distribution} is installed, but no sources of {top} are to be found")
    root = Path(places[0]).parent if places else Path(str(spec and spec.origin)).parent
    return OpenedRelease(release or _version(installed.version) or installed.version, FolderTree(root))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _unnamed(what: str) -> UsageError:
    return UsageError(f"{what} does not say which release it is", f"say it: VERSION={what}")


# -- what a folder of sources is --------------------------------------------------------------------------------------


def _sources(root: Path) -> Iterator[str]:
    """Python files not far below a folder, by posix paths relative to it."""
    for where, folders, files in os.walk(root):
        here = Path(where).relative_to(root)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
        if len(here.parts) >= _DEPTH:
            folders.clear()
        for name in files:
            if name.endswith(".py"):
                yield (here / name).as_posix()


def _declared(read_top: Callable[[str], bytes | None], tree: SourceTree, top: str) -> str | None:
    """The version that sources declare in words, looked up where projects write it; no code is run for it."""
    for text in _declarations(read_top, tree, top):
        if text and (found := _version(text.strip())):
            return found
    return None


def _declarations(read_top: Callable[[str], bytes | None], tree: SourceTree, top: str) -> Iterator[str | None]:
    for name in ("PKG-INFO", "METADATA"):
        if content := read_top(name):
            yield email.parser.BytesHeaderParser().parsebytes(content).get("Version")
    if content := read_top("pyproject.toml"):
        try:
            project = parse(content.decode("utf-8")).get("project", {})
        except ValueError:
            project = {}
        if isinstance(project, dict) and isinstance(project.get("version"), str):
            yield project["version"]
    for name in ("version.txt", "VERSION", "VERSION.txt"):
        if content := read_top(name):
            yield content.decode("utf-8", "replace").strip().partition("\n")[0]
    for path in (f"{top}/__init__.py", f"{top}/_version.py", f"{top}/version.py", f"{top}.py"):
        if content := tree.read(path):
            yield _literal_version(content)


def _literal_version(content: bytes) -> str | None:
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
            if names & {"__version__", "version", "VERSION"} and isinstance(statement.value.value, str):
                return statement.value.value
    return None
