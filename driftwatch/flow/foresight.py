"""What an analysis is most likely to ask for, done ahead of it.

Enters: the contents of the files and the libraries. Leaves: nothing but work done, in the order in which it will be
asked for: a search and surveys at first, which cost no more than to look, then full parses, for which libcst is
imported. What was guessed wrongly costs time on a processor that would have been idle.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from driftwatch.flow.contents import Contents
from driftwatch.flow.resolution import Resolution
from driftwatch.flow.source import SourceError, decode
from driftwatch.flow.survey import Survey
from driftwatch.flow.work import Work
from driftwatch.snapshot.history import History

if TYPE_CHECKING:
    from driftwatch.flow.code import ModuleCode
    from driftwatch.flow.files import Files

LEAD = 4
"""Of this many files that mention a library, one will be done before any parse of it can have been handed over."""


def work_ahead(contents: Contents, histories: Sequence[History], work: Work) -> None:
    """Do for another process what it is going to need."""
    mentioning = {history.module: work.mentioning(history.module) for history in histories}
    work.importers()
    resolution = Resolution(contents.paths)
    done: set[str] = set()
    for root, paths in mentioning.items():
        top = root.partition(".")[0].encode()
        surveyed = [(path, _survey(contents, path, work)) for path in paths]
        done.update(paths)
        for path in _imported(surveyed, resolution):
            if path not in done and top in (contents.read(path) or b""):
                done.add(path)
                _survey(contents, path, work)
    for history in histories:
        _parse(contents, history, mentioning[history.module], work)


def _imported(files: Sequence[tuple[str, Survey | None]], resolution: Resolution) -> Iterator[str]:
    """The files that these import, one by one."""
    for importer, surveyed in files:
        for piece in surveyed.pieces if surveyed is not None else ():
            for item in piece.imports:
                path = resolution.path_of(item.module, importer, item.level)
                if path is not None:
                    yield path


def _survey(contents: Contents, path: str, work: Work) -> Survey | None:
    data = contents.read(path)
    with contextlib.suppress(SourceError, RecursionError, MemoryError):
        return work.survey(decode(data)) if data is not None else None
    return None


def _parse(contents: Contents, history: History, paths: Sequence[str], work: Work) -> None:
    """Parse the pieces of files that seem to lead to the library, and the bodies of methods that do."""
    from driftwatch.flow.files import Files  # noqa: PLC0415 - libcst takes longer to import than all of the above
    from driftwatch.flow.relevance import select  # noqa: PLC0415
    from driftwatch.flow.target import Target  # noqa: PLC0415

    files = Files(contents, work)
    files.mark_mentions(paths)
    leading: dict[ModuleCode, set[str]] = {}

    def leads(module: ModuleCode) -> set[str]:
        if module not in leading:
            leading[module] = set()
            select(module, history.module, history.distribution, files)
            leading[module] = module.relevant
        return leading[module]

    files.exports = leads
    names_library = Target(history).is_named_by
    begin = len(paths) // LEAD
    for path in (*paths[begin:], *paths[:begin]):
        module = files.readable(path)
        if module is not None:
            with contextlib.suppress(SourceError, RecursionError, MemoryError):
                _parse_module(module, history, files, names_library)


def _parse_module(module: ModuleCode, history: History, files: Files, names_library: Callable[[str], bool]) -> None:
    from driftwatch.flow.bodies import tree_of  # noqa: PLC0415 - as above
    from driftwatch.flow.heat import heat_of  # noqa: PLC0415
    from driftwatch.flow.relevance import select  # noqa: PLC0415

    classes = {piece.first: piece for piece in module.survey.pieces if piece.tree} if module.survey is not None else {}
    for first, last in select(module, history.module, history.distribution, files).runs:
        tree = tree_of(module, first, last, files.work.parse)
        node = classes[first].tree if first in classes else None
        hot = heat_of(node, module.relevant - {node.name}, names_library).methods if node is not None else ()
        for method in tree.left_out:
            if method.name.value in hot:
                tree.body(method)
