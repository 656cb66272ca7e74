"""How far a library reaches into a code base: which of its files are analysed, and in which order.

Files that mention the library are analysed first; then those that import from them a name which tells something about
the library (an alias, a flag, a wrapper, a class), until no more are found.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.interpreter.exports import hooks, telling_names
from driftwatch.flow.interpreter.world import World
from driftwatch.flow.semantics import SEMANTICS
from driftwatch.flow.sources.files import Files
from driftwatch.snapshot.model.adapted import face_of
from driftwatch.snapshot.model.history import History
from driftwatch.system.python_text import SourceError

MAX_ROUNDS = 8
"""How many imports away from a mention of the library files are looked at."""

COLLECT_AFTER = 2_000_000
"""After how many new objects Python looks for cycles. Syntax is millions of objects without any."""


@contextmanager
def many_objects() -> Iterator[None]:
    """What an analysis asks of Python: syntax is very many objects."""
    thresholds = gc.get_threshold()
    if thresholds[0]:
        gc.set_threshold(max(thresholds[0], COLLECT_AFTER), *thresholds[1:])
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What is there counts as old: all of it is not to be looked through on the way out.
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*thresholds)


class LibrarySearch:
    """The analysis of a code base against one library, `among` so many of the same run."""

    def __init__(self, history: History, files: Files, progress: Callable[..., object] | None, among: int = 1) -> None:
        self.files = files
        self.world = World(history, files, SEMANTICS, among)
        self.analysed: set[str] = set()
        self.mentioning: frozenset[str] = frozenset()
        self._progress = progress
        self._exports: dict[ModuleCode, set[str]] = {}
        files.exports = self._exports_of

    def run(self) -> None:
        """Analyse files until no further one can matter."""
        root = self.world.history.module
        first = self._without_adapters(self.files.mentioning(root))
        self.mentioning = frozenset(first)
        self.files.mark_mentions(first)
        for path in first:
            self._analyse(path)
        searched: set[tuple[str, str]] = set()
        for _ in range(MAX_ROUNDS):
            fresh = self._importers(searched)
            if not fresh:
                break
            for path in fresh:
                self._analyse(path)
        self.world.entries.analyse_looked_at()
        modules = [m for m in (self.files.module(path) for path in sorted(self.analysed)) if m is not None]
        for module in modules:
            self.world.entries.analyse_left_over(module, modules)
        self.world.entries.finish()

    def _without_adapters(self, mentioning: list[str]) -> list[str]:
        """A generated adapter is known as what it re-exports, and not followed; those that import it are."""
        history = self.world.history
        if not history.has_module(face_of(history.module)):
            return mentioning
        self.files.mark_adapters(mentioning, history)
        adapters = self.files.adapters
        importing = {path for adapter in adapters for path in self.files.naming(adapter)}
        return sorted({*mentioning, *importing} - adapters.keys())

    def _analyse(self, path: str) -> None:
        module = self.files.readable(path)
        if module is None:
            return
        self.analysed.add(path)
        self.files.mark_mentions([path])
        if self._progress is not None:
            self._progress(path)
        try:
            self.world.entries.analyse_module(module)
        except SourceError as error:
            self.files.failed(module, error)
            return
        except RecursionError:
            self.files.failed(module, SourceError("it is nested too deeply to be analysed"))
            return
        # What its functions and classes do is known only now.
        self._exports.pop(module, None)
        self.files.set_bases(path, hooks(module))
        self.files.set_exports(path, self._exports_of(module))

    def _exports_of(self, module: ModuleCode) -> set[str]:
        known = self._exports.get(module)
        if known is None:
            try:
                self.world.modules.execute(module)
            except SourceError as error:
                self.files.failed(module, error)
            known = self._exports[module] = telling_names(self.world.entries, module, self.world.target)
        return known

    def _importers(self, searched: set[tuple[str, str]]) -> list[str]:
        """Files that import a telling name from an analysed one, and have not been analysed since it was."""
        for changed in self.world.modules.published:
            self._exports.pop(changed, None)
        published = sorted(each.path for each in self.world.modules.published)
        self.world.modules.published.clear()
        found = {path: None for path in published if path not in self.analysed or self._matters_more(path)}
        for path in sorted(self.analysed):
            module = self.files.module(path)
            if module is None:
                continue
            bases, exports = self.files.bases(module), self._exports_of(module)
            names = {n for n in exports | bases.keys() if (path, n) not in searched}
            searched.update((path, n) for n in names)
            hooks = {name: bases[name] for name in names - exports}
            for candidate in self.files.importing(module, names):
                wanted = names if hooks and self.files.extends(candidate, hooks) else names - hooks.keys()
                if wanted and candidate not in found and self._imports(candidate, module, wanted):
                    if candidate not in self.analysed or self._matters_more(candidate):
                        found[candidate] = None
        return sorted(found)

    def _matters_more(self, path: str) -> bool:
        """Whether a file was analysed when less was known of what it imports."""
        module = self.files.module(path)
        if module is None or not self.world.modules.matters_more(module):
            return False
        self._exports.pop(module, None)
        return True

    def _imports(self, path: str, source: ModuleCode, names: set[str]) -> bool:
        module = self.files.readable(path)
        if module is None or module.survey is None:
            return False
        for piece in module.survey.pieces:
            for item in piece.imports:
                if item.name is None or item.name == "*":
                    if self.files.resolve_path(item.module, module, item.level) == source.path:
                        return True
                elif item.name in names:
                    if self.files.resolve_path(item.module, module, item.level) == source.path:
                        return True
                elif self.files.resolve_path(f"{item.module}.{item.name}", module, item.level) == source.path:
                    return True
        return False
