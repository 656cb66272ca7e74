"""Which submodules of the library the code base itself imports: these are attributes of their packages for all of it.

An import of its own file has run by the time a file's code looks; whether one of another file has, nobody knows. Nor
does anybody know what the packages import that the code base imports beside the library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.sources.files import Files
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.history import History, Lookup


class Loading:
    """What the files of a code base import of one library."""

    def __init__(self, history: History, files: Files) -> None:
        self._history = history
        self._files = files
        self._imported: dict[str, frozenset[str]] = {}
        self._brought: dict[tuple[str, str], Lookup] = {}

    def brings(self, reader: ModuleCode, submodule: str) -> Lookup:
        """Where a submodule has been imported by the time that a file's code looks, and where it may have been."""
        key = (reader.path, submodule)
        found = self._brought.get(key)
        if found is None:
            here = self._loaded(reader, submodule)
            perhaps = self._history.may_load(submodule)
            for path in self._files.mentioning(self._history.module):
                other = self._files.module(path)
                if other is not None:
                    perhaps |= self._loaded(other, submodule)
            there = self._history.has_module(submodule)
            found = self._brought[key] = Lookup(here & there, (perhaps & there) - here)
        return found

    def elsewhere(self, reader: ModuleCode, submodule: str) -> ReleaseSet:
        """Where another package may have imported a submodule that the code base does not import."""
        found = self.brings(reader, submodule)
        left = self._history.has_module(submodule) - found.present - found.unknown
        return left if left and self._has_others else EMPTY

    def asks_for(self, reader: ModuleCode, name: str) -> bool:
        """Whether a file has a name as a text, as it has who asks whether something has an attribute of that name."""
        return reader.survey is not None and any(name in piece.strings for piece in reader.survey.pieces)

    @cached_property
    def _has_others(self) -> bool:
        """Whether the code base imports packages beside the library and Python's own, which may import of that as well.

        The files that mention the library are looked at first.
        """
        mentioning = self._files.mentioning(self._history.module)
        for path in dict.fromkeys((*mentioning, *self._files.paths)):
            module = self._files.module(path)
            if module is None or module.survey is None:
                continue
            imports = (item for piece in module.survey.pieces for item in piece.imports if item.level == 0)
            if any(self._is_another(item.module, module) for item in imports):
                return True
        return False

    def _is_another(self, name: str, importer: ModuleCode) -> bool:
        top = name.partition(".")[0]
        if top == self._history.module.partition(".")[0] or top in sys.stdlib_module_names:
            return False
        return self._files.resolve_path(top, importer) is None and self._files.resolve_path(name, importer) is None

    def _loaded(self, module: ModuleCode, submodule: str) -> ReleaseSet:
        imported = self._imported.get(module.path)
        if imported is None:
            imported = self._imported[module.path] = frozenset(self._imports(module))
        found = EMPTY
        for each in imported:
            found |= self._history.loads(each, submodule)
        return found

    def _imports(self, module: ModuleCode) -> Iterator[str]:
        """The modules of the library that a file imports, by statement or by name."""
        inside = self._history.module + "."
        for piece in module.survey.pieces if module.survey is not None else ():
            for item in piece.imports:
                if item.level == 0:
                    yield from (item.module, f"{item.module}.{item.name}")
            # What is patched or imported by name is imported with all the packages on the way.
            yield from (text[:end] for text in piece.strings if text.startswith(inside) for end in _ends(text))


def _ends(dotted: str) -> Iterator[int]:
    yield from (i for i, character in enumerate(dotted) if character == ".")
    yield len(dotted)
