"""What a library's releases do beside a companion package of another version, as data that its target brings.

Enters: ``companions.toml`` in a target's folder. Leaves: a frozen `Companions`, validated; a mistake in the data is a
`ConfigError`. Whether a mismatch raises, is ignored, or is not seen at all differs between releases, and so does what
is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.system.tables import Table, read_if_there

FILE = "companions.toml"
RAISES, IGNORES = "raises", "ignores"
_KEYS = (
    "distribution",
    "module",
    "missing",
    "index",
    "compared",
    "published",
    "plain",
    "cuda",
    "elsewhere",
    "used",
    "payload",
)
_HOW = ("whole", "prefix", "public")


@dataclass(frozen=True, slots=True)
class Companion:
    """One companion package. `compared` is how its version is held against the library's, by releases of the library:

    "whole": they must be equal, local part and all; "prefix": it must begin with the library's; "public": it must be
    equal, but for a local part. `published` are its releases on the package index, None where it is on none; `index`
    is where the others are; `plain` says that none of them has a local part, `builds` which local part is for which
    major of CUDA. `elsewhere` is a variable that leads past it, and in which releases. `used` says that the target's
    own module takes kernels from it, `missing` what is done without it. `payload` is the folder in it that holds what
    it is there for.
    """

    distribution: str
    module: str
    missing: str
    index: str
    compared: tuple[tuple[str, str], ...]
    published: str | None = None
    plain: bool = False
    builds: tuple[tuple[str, str], ...] = ()
    elsewhere: tuple[str, str] | None = None
    used: bool = True
    payload: str | None = None

    def fits(self, version: str, other: str) -> bool | None:
        """Whether a release of the library takes this version of the companion; None where it does not look."""
        how = next((how for releases, how in self.compared if among(version, releases)), None)
        if how is None:
            return None
        if how == "whole":
            return other == version
        if how == "prefix":
            return other.startswith(version)
        return other == version or other.startswith(f"{version}+")


@dataclass(frozen=True, slots=True)
class Companions:
    """The companions, and what a mismatch does: (releases, what, exception)."""

    companions: tuple[Companion, ...] = ()
    skews: tuple[tuple[str, str, str], ...] = ()
    switch: str | None = None
    unbuilt: tuple[str, str] | None = None

    def does(self, version: str) -> tuple[str, str] | None:
        """What a release does beside a mismatch, and the exception; None where it does not look, or is not known."""
        return next(((what, error) for releases, what, error in self.skews if among(version, releases)), None)

    def is_wrong(self, distribution: str, version: str, other: str) -> bool:
        """Whether pins of the library and of a companion cannot be right together, as far as pins tell.

        A pin without a local part may bring a release with one.
        """
        companion = self.of(distribution)
        if self.skews and self.does(version) is None:
            return False  # this release does not look
        if Version(Version(version).public) != Version(Version(other).public):
            return True
        return companion is not None and companion.plain and companion.fits(version, other) is False

    def of(self, distribution: str) -> Companion | None:
        name = canonicalize_name(distribution)
        return next((each for each in self.companions if canonicalize_name(each.distribution) == name), None)


def among(version: str, releases: str) -> bool:
    """Whether a version is among these releases. A pre-release does what its release will do."""
    try:
        parsed = Version(version)
    except ValueError:
        return False
    return SpecifierSet(releases).contains(parsed.base_version if parsed.is_prerelease else parsed.public)


def load_companions(folder: Path | None) -> Companions:
    """What the file in a target's folder says; nothing where there is none."""
    table = read_if_there(folder, FILE)
    if table is None:
        return Companions()
    table.only(("companion", "skew", "switch", "unbuilt"))
    unbuilt = table.table("unbuilt")
    return Companions(
        tuple(_companion(each) for each in table.tables("companion")),
        tuple(
            (_releases(each), each.one_of("does", (RAISES, IGNORES)), each.maybe("exception") or "")
            for each in table.tables("skew")
        ),
        table.maybe("switch"),
        (unbuilt.string("version"), _releases(unbuilt)) if unbuilt is not None else None,
    )


def _companion(table: Table) -> Companion:
    table.only(_KEYS)
    elsewhere = table.table("elsewhere")
    return Companion(
        table.string("distribution"),
        table.string("module"),
        table.string("missing"),
        table.string("index"),
        tuple((_releases(each), each.one_of("how", _HOW)) for each in table.tables("compared")),
        table.read_as("published", lambda text: str(SpecifierSet(text)), "a version specifier"),
        table.flag("plain"),
        table.pairs("cuda"),
        (elsewhere.string("variable"), _releases(elsewhere)) if elsewhere is not None else None,
        table.flag("used", default=None),
        table.maybe("payload"),
    )


def _releases(table: Table) -> str:
    table.string("releases")
    return table.read_as("releases", lambda text: str(SpecifierSet(text)), "a version specifier") or ""
