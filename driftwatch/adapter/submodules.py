"""Submodules of the library under the adapter's own name.

``from fi_adapter.mnnvl import X``.

Enters: the names of the adapter's module and of the library's. Leaves: a finder on
`sys.meta_path`, which imports the library's submodule, the very object, when one of the
adapter's is asked for. Why one cannot be had is an ImportError.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType


class SubmoduleFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `adapter`.x as `library`.x."""

    def __init__(self, adapter: str, library: str) -> None:
        self.adapter, self.library = adapter, library
        self._own: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(f"{self.adapter}."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        name = self.library + spec.name.removeprefix(self.adapter)
        try:
            module = importlib.import_module(name)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # an import can raise anything, and even exit
            raise ImportError(
                f"import {name} raised {type(error).__name__}: {error}", name=spec.name
            ) from error
        self._own[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It is executed already.

        What the import system wrote into it for us is the library's again.
        """
        ours = module.__spec__
        module.__spec__ = self._own.pop(ours.name) if ours is not None else None


def offer_submodules(adapter: str, library: str) -> None:
    """Put a finder where the import system looks last.

    One that an earlier import of the adapter left is replaced.
    """
    sys.meta_path[:] = [
        f for f in sys.meta_path if getattr(f, "adapter", None) != adapter
    ]
    sys.meta_path.append(SubmoduleFinder(adapter, library))
