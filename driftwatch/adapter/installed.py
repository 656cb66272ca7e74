"""What is installed here.

The library's module or the reason it is absent, its release, and its companion
packages.

Enters: names of a distribution and a module. Leaves: an `Installed`. Nothing here
raises: an import may fail with any exception, and that exception is what is recorded.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Installed:
    """The library as found.

    `release` is the known release its version names, None when it names none.
    """

    distribution: str
    module_name: str
    module: ModuleType | None
    version: str | None
    release: str | None
    error: str | None
    companions: dict[str, str]
    notes: tuple[str, ...]

    @property
    def described(self) -> str:
        """The build in a few words, for messages."""
        return f"{self.distribution} {self.version or 'of unknown version'}"


def find_installed(
    distribution: str,
    module_name: str,
    releases: Sequence[str],
    companions: Iterable[str],
) -> Installed:
    """Import the module, whatever happens, and find out which release this is."""
    module: ModuleType | None = None
    error: str | None = None
    try:
        module = importlib.import_module(module_name)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as caught:
        # An import can even exit: what it raised is the record
        error = (
            f"import {module_name} raised "
            f"{': '.join(filter(None, [type(caught).__name__, _first_line(caught)]))}"
        )
    declared = _distribution_version(distribution)
    stated = _stated_version(module_name)
    version = stated or declared
    notes: list[str] = []
    if stated and declared and public_version(stated) != public_version(declared):
        notes.append(
            f"the module says it is {stated}, the package's metadata says {declared}"
        )
    found = {name: text for name in companions if (text := _distribution_version(name))}
    for name, text in found.items():
        if version and public_version(text) != public_version(version):
            notes.append(
                f"{name} is {text}, {distribution} is {version}: they must be "
                "the same release"
            )
    return Installed(
        distribution,
        module_name,
        module,
        version,
        known_release(version, releases),
        error,
        found,
        tuple(notes),
    )


def public_version(text: str) -> str:
    """A version without its local part, in one spelling of the common variants of PEP
    440.
    """
    text = text.strip().lower().partition("+")[0]
    text = re.sub(
        r"[-_.]?(?:post|rev|r)[-_.]?(\d+)$", r".post\1", text.removeprefix("v")
    )
    text = re.sub(r"^(\d+(?:\.\d+)*)-(\d+)$", r"\1.post\2", text)
    return re.sub(r"^(\d+(?:\.\d+){2})(?:\.0)+$", r"\1", text)


def known_release(version: str | None, releases: Sequence[str]) -> str | None:
    """The known release a version string names.

    A local part such as ``+cu130`` does not make it another one.
    """
    if version is None:
        return None
    wanted = public_version(version)
    return next(
        (release for release in releases if public_version(release) == wanted), None
    )


def _distribution_version(name: str) -> str | None:
    try:
        return str(importlib.metadata.version(name)) or None
    except Exception:  # not installed, or metadata that cannot be read
        return None


def _stated_version(module_name: str) -> str | None:
    """The ``__version__`` of the top-level package, which is the code that runs.

    Placeholders count as none.
    """
    try:
        text = importlib.import_module(module_name.partition(".")[0]).__version__
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException:
        # What the import of the module met, the import of its package meets again.
        return None
    if (
        not isinstance(text, str)
        or not text[:1].isdigit()
        or public_version(text) in ("0.0.0", "0.0", "0")
    ):
        return None
    return text


def _first_line(error: BaseException) -> str:
    try:
        return (str(error).strip().splitlines() or [""])[0][:300]
    except Exception:  # the text of a foreign error may raise as well
        return "(no message)"
