"""Which modules of a library are loaded when one of them is imported.

A submodule is an attribute of its package from the moment that anything imports it, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from driftwatch.releases import EMPTY, ReleaseSet

Imports = Callable[[str], Iterable[tuple[ReleaseSet, tuple[str, ...]]]]
"""What a module imports when it is loaded, by release; nothing in releases that do not have it."""


def loaded_with(module: str, root: str, imports: Imports) -> dict[str, ReleaseSet]:
    """The modules that importing one loads, itself and the packages it lies in included, each with the releases."""
    loaded: dict[str, ReleaseSet] = {}
    waiting = [(each, releases) for each in _packages(module, root) for releases, _ in imports(each)]
    while waiting:
        current, releases = waiting.pop()
        fresh = releases - loaded.get(current, EMPTY)
        if not fresh:
            continue
        loaded[current] = loaded.get(current, EMPTY) | fresh
        for having, others in imports(current):
            if here := having & fresh:
                waiting += [(package, here) for other in others for package in _packages(other, root)]
    return loaded


def _packages(module: str, root: str) -> Iterator[str]:
    """A module and the packages it lies in, down to the root."""
    while module == root or module.startswith(root + "."):
        yield module
        module = module.rpartition(".")[0]
