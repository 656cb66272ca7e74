"""What of an analysis depends on the files alone, and can be done by another process while this one goes on.

Enters: the contents of the files. Leaves: who mentions a library, who imports whom, surveys, and full parses. Whoever
works ahead hands over what it does; whoever is helped takes what is there, and does the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from driftwatch.flow import first_look
from driftwatch.flow.ahead import Inbox, Outbox
from driftwatch.flow.contents import Contents
from driftwatch.flow.survey import Survey, survey

if TYPE_CHECKING:
    import libcst

Result = TypeVar("Result")


class Work:
    """The work on the files of one code base, done once for each text."""

    def __init__(self, contents: Contents, inbox: Inbox | None = None, outbox: Outbox | None = None) -> None:
        self._contents = contents
        self._inbox = inbox
        self._outbox = outbox
        self._surveys: dict[str, Survey | None] = {}

    def mentioning(self, root: str) -> list[str]:
        """The files that mention a module of the library."""
        found = self._inbox.wait(_key("mentioning", root)) if self._inbox is not None else None
        if found is None:
            paths = first_look.mentioning(self._contents, root)
            self._hand_over("mentioning", root, (paths, self._contents.unreadable))
            return paths
        paths, unreadable = cast("tuple[list[str], dict[str, str]]", found)
        self._contents.unreadable.update(unreadable)
        return paths

    def importers(self) -> first_look.Importers:
        """Who imports whom."""
        found = self._inbox.wait(_key("importers", "")) if self._inbox is not None else None
        if found is None:
            found = first_look.importers(self._contents)
            self._hand_over("importers", "", found)
        return cast("first_look.Importers", found)

    def survey(self, text: str) -> Survey | None:
        """The survey of a file's text."""
        if self._outbox is None:
            return self._done("survey", text, survey)
        if text not in self._surveys:
            self._surveys[text] = self._done("survey", text, survey)
        return self._surveys[text]

    def parse(self, text: str) -> libcst.Module:
        """The full syntax of some lines."""
        from libcst import parse_module  # noqa: PLC0415 - who only searches and surveys does without

        return self._done("parse", text, parse_module)

    def _done(self, kind: str, text: str, work: Callable[[str], Result]) -> Result:
        found = self._inbox.find(_key(kind, text)) if self._inbox is not None else None
        if found is not None:
            return cast("Result", found)
        result = work(text)
        self._hand_over(kind, text, result)
        return result

    def _hand_over(self, kind: str, text: str, result: object) -> None:
        if self._outbox is not None and result is not None:
            # What is nested too deeply to be handed over is done by whoever needs it.
            with contextlib.suppress(RecursionError, MemoryError):
                self._outbox.put(_key(kind, text), result)


def _key(kind: str, text: str) -> bytes:
    return hashlib.blake2b(f"{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
