"""A code base against a library: files in, uses out.

Enters: a root, its files and the histories of the libraries. Leaves: an `Analysis`, the same whatever the order of the
files. Files that mention a library are analysed first; then those that import from them a name which tells something
about the library (an alias, a flag, a wrapper, a class), until no more are found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwatch.flow.code import ModuleCode
from driftwatch.flow.exports import telling_names
from driftwatch.flow.files import Files
from driftwatch.flow.source import SourceError
from driftwatch.flow.uses import Diagnostic, Unresolved, Use
from driftwatch.flow.world import World
from driftwatch.snapshot.history import History

MAX_ROUNDS = 8
"""How many imports away from a mention of the library files are looked at."""

RECURSION_LIMIT = 6000


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found. `files` were searched, `analysed` of them looked into."""

    uses: tuple[Use, ...]
    unresolved: tuple[Unresolved, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    analysed: int


def analyse(
    root: Path,
    files: Sequence[Path],
    histories: Sequence[History],
    *,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[..., object] | None = None,
) -> Analysis:
    """Analyse a code base against each library."""
    uses: list[Use] = []
    unresolved: list[Unresolved] = []
    known = Files(root, files)
    analysed: set[str] = set()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    diagnostics: dict[tuple[str, int | None], Diagnostic] = {}
    try:
        for history in histories:
            here = known if len(histories) == 1 else Files(root, files)
            one = _OneLibrary(history, here, progress)
            one.run()
            uses.extend(one.world.recorder.uses())
            unresolved.extend(one.world.recorder.all_unresolved())
            analysed |= one.analysed
            diagnostics.update(here.diagnostics)
    finally:
        sys.setrecursionlimit(limit)
    return Analysis(
        tuple(uses),
        tuple(dict.fromkeys(unresolved)),
        tuple(diagnostics[k] for k in sorted(diagnostics, key=lambda k: (k[0], k[1] or 0))),
        len(known.paths),
        len(analysed),
    )


class _OneLibrary:
    """The analysis of a code base against one library."""

    def __init__(self, history: History, files: Files, progress: Callable[..., object] | None) -> None:
        self.files = files
        self.world = World(history, files)
        self.analysed: set[str] = set()
        self._progress = progress
        self._exports: dict[ModuleCode, set[str]] = {}
        files.exports = self._exports_of

    def run(self) -> None:
        """Analyse files until no further one can matter."""
        root = self.world.history.module
        first = self.files.mentioning(root)
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
        modules = [m for m in (self.files.module(path) for path in sorted(self.analysed)) if m is not None]
        for module in modules:
            self.world.entries.analyse_left_over(module, modules)
        self.world.entries.finish()

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
        self.files.set_exports(path, self._exports_of(module))

    def _exports_of(self, module: ModuleCode) -> set[str]:
        known = self._exports.get(module)
        if known is None:
            try:
                self.world.modules.execute(module)
            except SourceError as error:
                self.files.failed(module, error)
            known = self._exports[module] = telling_names(self.world.entries, module)
        return known

    def _importers(self, searched: set[tuple[str, str]]) -> list[str]:
        """Files not analysed yet that import a telling name from an analysed one."""
        found: dict[str, None] = {}
        sources: list[tuple[str, ModuleCode, set[str]]] = []
        wanted: dict[str, set[str]] = {}
        for path in sorted(self.analysed):
            module = self.files.module(path)
            if module is None:
                continue
            tail = module.name.rpartition(".")[2]
            names = {n for n in self._exports_of(module) if (path, n) not in searched}
            searched.update((path, n) for n in names)
            if names:
                sources.append((tail, module, names))
                wanted.setdefault(tail, set()).update(names)
        candidates = self.files.importing(wanted)
        for tail, module, names in sources:
            for candidate in candidates[tail]:
                new = candidate not in self.analysed and candidate not in found
                if new and self._imports(candidate, module, names):
                    found[candidate] = None
        return sorted(found)

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
