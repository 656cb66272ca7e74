"""What the interpreter asks of the library as such: its import paths, its versions, whether a call of it fits."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from driftwatch.binding.calls import parts
from driftwatch.flow.uses import CallUse
from driftwatch.flow.values import Alternative, Const
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.history import History


class Target:
    """The library that a code base is held against."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._root = history.module
        self._top = history.module.partition(".")[0]
        self._distribution = _normal(history.distribution)
        self._refused: dict[object, ReleaseSet] = {}

    def is_above(self, module: str) -> bool:
        """Whether a module is a package above the library's public root."""
        return self._root.startswith(module + ".")

    def is_inside(self, module: str) -> bool:
        """Whether a module is the public root or below it."""
        return module == self._root or module.startswith(self._root + ".")

    def is_named_by(self, text: str) -> bool:
        """Whether text could be the import path or the distribution name of something of the library."""
        return text == self._top or text.startswith(self._top + ".") or self.is_distribution(text)

    def is_distribution(self, text: str) -> bool:
        """Whether text is the library's name on the index, in any spelling."""
        return _normal(text) == self._distribution

    def versions(self, where: ReleaseSet) -> list[Alternative]:
        """The library's version, one constant per release."""
        versions = self.history.timeline.versions
        return [(ReleaseSet(1 << i), Const(versions[i])) for i in where.indices()]

    def before(self, version: str) -> ReleaseSet:
        """The releases older than a version; none where that is no version."""
        try:
            least = Version(version)
        except InvalidVersion:
            return EMPTY
        versions = self.history.timeline.versions
        return self.history.timeline.set_of(each for each in versions if Version(each) < least)

    def refuses(self, use: CallUse) -> ReleaseSet:
        """The releases in which a call cannot be bound."""
        # One place is met again and again: by every caller, in every turn of a loop.
        key = (
            use.callee,
            use.releases,
            tuple([(each.releases, each.certain) for each in use.positional]),
            tuple([(each.name, each.releases, each.certain) for each in use.keywords]),
            (use.unknown_positional, use.unknown_keywords, use.method, use.exact, use.unbound),
        )
        refused = self._refused.get(key)
        if refused is None:
            refused = EMPTY
            for part in parts(use, self.history):
                if not part.bound.fits:
                    refused |= part.releases
            self._refused[key] = refused
        return refused

    def public_names(self, module: str) -> Iterator[str]:
        """What ``from module import *`` may bring."""
        for ref in self.history.epochs:
            if ref.module == module and ref.qualname and "." not in ref.qualname and not ref.qualname.startswith("_"):
                yield ref.qualname


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
