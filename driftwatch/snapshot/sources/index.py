"""The package index: which artifacts a project has, and their bytes, checked.

Enters: a project's name. Leaves: its `Artifact`s, and archives in the cache whose sha256 is the one the index gives.
Parsing is pypi-simple's. An index that cannot be reached is an `IndexUnavailableError`; a project that it does not have
is an `InputError`.
"""

from __future__ import annotations

import hashlib
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from packaging.utils import canonicalize_name
from packaging.version import Version
from pypi_simple import ACCEPT_ANY, DistributionPackage, ProjectPage, PyPISimple
from pypi_simple.errors import UnsupportedContentTypeError, UnsupportedRepoVersionError

from driftwatch.errors import IndexUnavailableError, InputError
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.sources.transport import (
    RETRIES,
    WEB,
    BrokenOffError,
    NotFoundError,
    Traffic,
    Transport,
    public_url,
    scheme_of,
)

MAX_ARCHIVE = 2 << 30
"""No archive larger than this is downloaded."""
MAX_PAGE = 32 << 20
"""No project's page larger than this is read."""

MAX_NESTED = 1000


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file of a release on the index. `version` is in its normal form."""

    project: str
    version: str
    filename: str
    wheel: bool
    sha256: str
    url: str = field(repr=False)
    size: int | None = None
    requires_python: str | None = None
    yanked: bool = False

    @property
    def pure(self) -> bool:
        """A wheel for every platform and Python 3."""
        return self.wheel and self.filename.endswith("-none-any.whl") and "py3" in self.filename.split("-")[-3]

    def require_hash(self) -> None:
        """`InputError` when the index gives no sha256 for it: nothing unchecked is used."""
        if not re.fullmatch("[0-9a-f]{64}", self.sha256):
            raise InputError(f"the package index gives no sha256 for {self.filename}, so it is not used")

    @property
    def parsed(self) -> Version:
        return Version(self.version)


@dataclass(frozen=True)
class Project:
    """A project's artifacts by release, oldest release first."""

    name: str
    releases: dict[Version, tuple[Artifact, ...]]

    def finals(self, *, pre: bool = False) -> list[Version]:
        """Final and post releases that are not yanked, oldest first; development and pre-releases if asked for."""
        return [
            version
            for version, artifacts in self.releases.items()
            if (pre or not version.is_prerelease) and not all(a.yanked for a in artifacts)
        ]

    def artifacts(self, version: str) -> tuple[Artifact, ...]:
        """The artifacts of exactly this release, yanked or not; `InputError` naming near ones when there is none."""
        try:
            asked = Version(version)
        except ValueError:
            raise InputError(f"{version!r} is not a version", self._near(version)) from None
        if asked not in self.releases:
            raise InputError(f"{self.name} has no release {version} on the package index", self._near(version))
        return self.releases[asked]

    def newest(self) -> Version:
        """The newest final release; a pre-release only where there is nothing else."""
        found = self.finals() or self.finals(pre=True)
        if not found:
            raise InputError(f"{self.name} has no release on the package index that is not yanked")
        return found[-1]

    def _near(self, version: str) -> str:
        known = list(self.releases)
        if not known:
            return "it has no release at all"
        try:
            asked = Version(version)
            position = sum(v < asked for v in known)
            near = known[max(0, position - 2) : position + 2]
        except ValueError:
            near = known[-3:]
        return f"near it are {', '.join(str(v) for v in near)}; the newest is {(self.finals() or known)[-1]}"


class PackageIndex:
    """The user's index and its extras, over one session; project pages are asked for once."""

    def __init__(
        self, settings: IndexSettings | None = None, cache: Cache | None = None, traffic: Traffic | None = None
    ) -> None:
        self.settings = settings or IndexSettings.from_environment()
        self.cache = cache or Cache()
        self.transport = Transport(self.settings, traffic)
        self._projects: dict[str, Project] = {}

    def __enter__(self) -> PackageIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.transport.close()

    @property
    def traffic(self) -> Traffic:
        return self.transport.traffic

    def project(self, name: str) -> Project:
        """A project's page, from the first of the user's indexes that has one."""
        normal = canonicalize_name(name)
        if normal not in self._projects:
            self._projects[normal] = self._fetch_project(name)
        return self._projects[normal]

    def _fetch_project(self, name: str) -> Project:
        if self.settings.disabled:
            raise IndexUnavailableError(
                "pip's configuration says to use no package index", "unset no-index (PIP_NO_INDEX) to fetch releases"
            )
        empty = False
        for url in (self.settings.index_url, *self.settings.extra_urls):
            page = self._page(name, url)
            if page is not None:
                project = _project(name, page.packages)
                if project.releases:
                    return project
                empty = True
        if empty:
            # A project without a single file is one that an index has forgotten, or a proxy has not fetched.
            raise IndexUnavailableError(
                f"the package index lists no release of {name} at all, which is not believed",
                "a mirror that is not filled yet, or a proxy that lost its page? check PIP_INDEX_URL",
            )
        raise InputError(f"the package index has no project named {name!r}", "check the name's spelling")

    def _page(self, name: str, url: str) -> ProjectPage | None:
        what = f"the package index cannot be asked about {name}"
        endpoint = self.transport.trusted(url)
        client = PyPISimple(endpoint, session=self.transport.session)
        headers = {"Accept": ACCEPT_ANY, "Accept-Encoding": "gzip"}
        try:
            with self.transport.get(client.get_project_url(name), what, headers) as response:
                # Read here, while it is bounded and failures of the network are translated.
                response._content = body = self.transport.body(response, MAX_PAGE)
            if _is_tangled(body):
                raise ValueError
            with _silenced():
                page = ProjectPage.from_response(response, name)
            return _checked(page, response.url)
        except NotFoundError:
            return None
        except (UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError, RecursionError):
            raise IndexUnavailableError(
                f"{what}: {public_url(endpoint)} does not answer as a package index does", "check PIP_INDEX_URL"
            ) from None

    def download(self, artifact: Artifact) -> Path:
        """The whole archive, from the cache or the index; its sha256 is checked before anyone sees it."""
        artifact.require_hash()
        if found := self.cache.archive(artifact.sha256):
            return found
        what = f"{artifact.filename} cannot be downloaded"
        attempt = 0
        while True:
            try:
                return self._download(artifact, what)
            except BrokenOffError:
                # The session retries a request that fails; this retries a body that breaks off.
                attempt += 1
                if attempt > RETRIES:
                    raise

    def _download(self, artifact: Artifact, what: str) -> Path:
        limit = min(MAX_ARCHIVE, artifact.size) if artifact.size else MAX_ARCHIVE
        digest = hashlib.sha256()
        with self.cache.incoming() as (file, path):
            with self.transport.get(artifact.url, what) as response:
                for chunk in self.transport.chunks(response, limit):
                    digest.update(chunk)
                    file.write(chunk)
            file.flush()
            if digest.hexdigest() != artifact.sha256:
                raise InputError(
                    f"{artifact.filename} does not have the sha256 that the package index gives, and is not used",
                    "the download was altered or broken on its way; try again, or ask who runs the index",
                )
            return self.cache.keep(path, artifact.sha256)


_OPENED = re.compile(rb"<(?!(?:br|hr|img|input|link|meta)\b)[a-z]", re.IGNORECASE)
_CLOSED = re.compile(rb"</[a-z]", re.IGNORECASE)
_SPECIAL = re.compile(rb"<[!?]")


@contextmanager
def _silenced() -> Iterator[None]:
    """What a parser has to say of a page that is none is no message of ours: the error is."""
    parser = logging.getLogger("bs4")
    before, parser.propagate = parser.propagate, False
    parser.addHandler(quiet := logging.NullHandler())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        parser.propagate = before
        parser.removeHandler(quiet)


def _is_tangled(body: bytes) -> bool:
    """Whether a page is tags within tags within tags, which takes the parser of HTML time without end."""
    nested = abs(len(_OPENED.findall(body)) - len(_CLOSED.findall(body)))
    return max(nested, len(_SPECIAL.findall(body))) > MAX_NESTED


def _checked(page: ProjectPage, address: str) -> ProjectPage:
    """The page, when all that it links is where it may lead: from the web, to the web alone."""
    for package in page.packages:
        if scheme_of(address) in WEB and scheme_of(package.url) not in WEB:
            raise IndexUnavailableError(
                f"{public_url(address)} links {package.filename} at another address than http or https, and is not used"
            )
    return page


def _project(name: str, packages: list[DistributionPackage]) -> Project:
    releases: dict[Version, list[Artifact]] = {}
    for package in packages:
        artifact = _artifact(name, package)
        if artifact is not None:
            releases.setdefault(artifact.parsed, []).append(artifact)
    return Project(name, {version: tuple(releases[version]) for version in sorted(releases)})


def _artifact(name: str, package: DistributionPackage) -> Artifact | None:
    """A wheel or sdist of this project with a version of today's form; anything else on the page is no release."""
    if package.package_type not in ("wheel", "sdist") or not package.version or not package.project:
        return None
    if canonicalize_name(package.project) != canonicalize_name(name):
        return None
    try:
        version = str(Version(package.version))
    except ValueError:  # also for a number of more digits than Python reads
        return None
    return Artifact(
        project=name,
        version=version,
        filename=package.filename,
        wheel=package.package_type == "wheel",
        sha256=package.digests.get("sha256", "").lower(),
        url=package.url,
        size=package.size,
        requires_python=package.requires_python,
        yanked=package.is_yanked,
    )


@contextmanager
def the_index(index: PackageIndex | None) -> Iterator[PackageIndex]:
    """The index given, or one of the user's for as long as it takes."""
    if index is not None:
        yield index
        return
    with PackageIndex() as own:
        yield own
