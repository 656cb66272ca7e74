"""What a package that a project pins requires itself, from the metadata of that release on the package index.

Enters: a package and a release of it. Leaves: its requirements, as they are written. Of a wheel nothing else is
fetched; a release that has no wheel is not looked into.
"""

from __future__ import annotations

from email.parser import HeaderParser

from driftwatch.errors import InputError
from driftwatch.snapshot.sources.index import PackageIndex, the_index
from driftwatch.snapshot.sources.remote_zip import NoRangesError, RemoteWheel


def requirements_of(name: str, version: str, index: PackageIndex | None = None) -> tuple[str, ...]:
    """The requirements of a release; `InputError` or `IndexUnavailableError` where they cannot be had."""
    with the_index(index) as used:
        wheels = [artifact for artifact in used.project(name).artifacts(version) if artifact.wheel]
        if not wheels:
            raise InputError(f"{name} {version} has no wheel")
        try:
            wheel = RemoteWheel(min(wheels, key=lambda artifact: artifact.filename), used.transport)
        except NoRangesError:
            raise InputError(f"the package index serves no part of a wheel of {name} {version}") from None
        paths = [path for path in wheel.members if path.count("/") == 1 and path.endswith(".dist-info/METADATA")]
        if len(paths) != 1:
            raise InputError(f"{name} {version} has no metadata")
        text = wheel.read(paths[0]).decode("utf-8", "replace")
    return tuple(HeaderParser().parsestr(text).get_all("Requires-Dist") or ())
