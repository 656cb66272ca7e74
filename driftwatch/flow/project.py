"""A code base against a library: files in, uses out.

Enters: a root, its files and the histories of the libraries. Leaves: an `Analysis`, the same whatever the order of the
files. What was analysed before, down to the last byte, is not analysed again: then the interpreter and the parser that
it needs are not even imported, and it takes no longer than to read the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.results_cache import ResultsCache, key_of
from driftwatch.flow.uses import Analysis, Diagnostic, Unresolved, Use
from driftwatch.snapshot.model.history import History
from driftwatch.system.deep_stack import on_deep_stack
from driftwatch.system.python_text import without_warnings

__all__ = ["Analysis", "analyse"]


def analyse(
    root: Path,
    files: Sequence[Path | str],
    histories: Sequence[History],
    *,
    cache: Path | None = None,
    progress: Callable[..., object] | None = None,
    changed: Mapping[str, bytes] | None = None,
) -> Analysis:
    """Analyse a code base against each library. `cache` is the folder of what driftwatch keeps between runs.

    `changed` are bytes to take for those of a file, by its path.

    What is known of one file depends on the files that it imports and on those that import it, so one process follows
    them all.
    """
    contents = Contents(root, files, changed)
    if cache is None:
        return _analysed(contents, histories, progress)
    results = ResultsCache(cache)
    key = key_of(contents.digest(), histories)
    found = results.find(key) if key is not None else None
    if found is None:
        found = _analysed(contents, histories, progress)
        if key is not None and contents.steady:
            results.keep(key, found)
    return found


@on_deep_stack
def _analysed(contents: Contents, histories: Sequence[History], progress: Callable[..., object] | None) -> Analysis:
    from driftwatch.flow.search import LibrarySearch, many_objects  # noqa: PLC0415
    from driftwatch.flow.sources.files import Files  # noqa: PLC0415 - libcst takes longer to import than a warm run lasts

    uses: list[Use] = []
    unresolved: list[Unresolved] = []
    analysed: set[str] = set()
    diagnostics: dict[tuple[str, int | None], Diagnostic] = {}
    with many_objects(), without_warnings():
        for history in histories:
            files = Files(contents)
            one = LibrarySearch(history, files, progress, len(histories))
            one.run()
            uses.extend(one.world.recorder.uses())
            unresolved.extend(one.world.recorder.all_unresolved())
            analysed |= one.analysed
            for key, diagnostic in files.diagnostics.items():
                path = diagnostic.path
                mentions = None if path in contents.unreadable else path in one.mentioning
                if mentions is not False:
                    # What it does with the library is not known, and may be anything.
                    unresolved.append(Unresolved(path, diagnostic.line or 1, f"not analysed: {diagnostic.message}"))
                known = diagnostics.get(key)
                if known is None or not known.mentions:
                    diagnostics[key] = replace(diagnostic, mentions=mentions)
    return Analysis(
        tuple(uses),
        tuple(dict.fromkeys(unresolved)),
        tuple(diagnostics[k] for k in sorted(diagnostics, key=lambda k: (k[0], k[1] or 0))),
        len(contents.paths),
        len(analysed),
    )
