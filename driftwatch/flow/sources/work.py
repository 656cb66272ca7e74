"""What of an analysis depends on the files alone, and can be done by another process while this one goes on.

Enters: the contents of the files. Leaves: who mentions a library, who imports whom, and surveys. Most of it is needed
by every analysis; of surveys a helper does ahead what most likely will be asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from typing import cast

from driftwatch.flow.sources import first_look
from driftwatch.flow.sources.ahead import Inbox, Outbox
from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.resolution import Resolution
from driftwatch.flow.syntax.source import SourceError, decode
from driftwatch.flow.syntax.survey import Survey, survey


class Work:
    """The work on the files of one code base. What a helper has done is in the inbox, if there is one."""

    def __init__(self, contents: Contents, inbox: Inbox | None = None) -> None:
        self._contents = contents
        self._inbox = inbox

    def mentioning(self, root: str) -> list[str]:
        """The files that mention a module of the library."""
        found = self._inbox.wait(_key("mentioning", root)) if self._inbox is not None else None
        if found is None:
            return first_look.mentioning(self._contents, root)
        paths, unreadable, steady = cast("tuple[list[str], dict[str, str], bool]", found)
        self._contents.unreadable.update(unreadable)
        self._contents.steady &= steady
        return paths

    def importers(self) -> first_look.Importers:
        """Who imports whom."""
        found = self._inbox.wait(_key("importers", "")) if self._inbox is not None else None
        return first_look.importers(self._contents) if found is None else cast("first_look.Importers", found)

    def survey(self, text: str) -> Survey | None:
        """The survey of a file's text."""
        found = self._inbox.find(_key("survey", text)) if self._inbox is not None else None
        return survey(text) if found is None else cast("Survey", found)


def work_ahead(contents: Contents, roots: Sequence[str], outbox: Outbox) -> None:
    """Do for another process what it is going to need, in the order in which it will."""
    mentioning = {root: first_look.mentioning(contents, root) for root in roots}
    for root, paths in mentioning.items():
        outbox.put(_key("mentioning", root), (paths, contents.unreadable, contents.steady))
    outbox.put(_key("importers", ""), first_look.importers(contents))
    resolution = Resolution(contents.paths)
    done: set[str] = set()
    for root, paths in mentioning.items():
        top = root.partition(".")[0].encode()
        first = [(path, _survey_ahead(contents, path, outbox)) for path in paths]
        done.update(paths)
        for path in _imported(first, resolution):
            if path not in done and top in (contents.read(path) or b""):
                done.add(path)
                _survey_ahead(contents, path, outbox)


def _imported(files: Sequence[tuple[str, Survey | None]], resolution: Resolution) -> Iterator[str]:
    """The files that these import, one by one."""
    for importer, surveyed in files:
        for piece in surveyed.pieces if surveyed is not None else ():
            for item in piece.imports:
                path = resolution.path_of(item.module, importer, item.level)
                if path is not None:
                    yield path


def _survey_ahead(contents: Contents, path: str, outbox: Outbox) -> Survey | None:
    data = contents.read(path)
    with contextlib.suppress(SourceError, RecursionError, MemoryError):
        text = decode(data) if data is not None else ""
        found = survey(text)
        if found is not None:
            outbox.put(_key("survey", text), found)
        return found
    return None


def _key(kind: str, text: str) -> bytes:
    return hashlib.blake2b(f"{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
