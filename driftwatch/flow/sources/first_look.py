"""What the bytes of the files say before any is parsed: which mention a library, and which import from whom.

Enters: the contents of the files.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.resolution import tail_of

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Importers = Mapping[bytes, Sequence[str]]
"""For modules by last name, the files that mention one in what looks like an import, in order."""


def mentioning(contents: Contents, root: str) -> list[str]:
    """The files that mention a module of the library: as a dotted name, in a from-import, or in parts."""
    top, _, leaf = root.rpartition(".")
    first = (top or leaf).partition(".")[0].encode()
    last = leaf.encode()
    word = re.compile(rb"\b" + re.escape(first) + rb"\b")
    if not top:
        return [path for path, data in _with(contents, [first]) if word.search(data)]
    look = _Look(first, last)
    return [path for path, data in _with(contents, [first, last]) if look.sees(data)]


class _Look:
    """How a module of a package is looked for, by the first and the last part of its name.

    Every part of a file is looked at a fixed number of times, whatever it holds: a pattern that begins anew at each
    mention, and may go on to the end of the file from there, is for no file that somebody else has written.
    """

    def __init__(self, first: bytes, last: bytes) -> None:
        # A pattern that begins with plain text is searched for many times faster than one that begins with a boundary.
        word = re.escape(first)
        end = re.escape(last)
        self._mention = re.compile(word + rb"(?<!\w" + word + rb")[\w.]*")
        self._dotted_inside = re.compile(rb"\." + end + rb"(?!\w)")
        self._dotted_after = re.compile(rb"\s+" + end + rb"\b")
        self._from = re.compile(rb"from(?<!\wfrom)\s+" + word + rb"[\w.]*\s+import\s+(\(?)")
        self._listed = re.compile(rb"\b" + end + rb"\b|\*")
        self._as = re.compile(rb"\s+as\b")
        self._aliases = (
            # A text that is the package's name, or begins with it and goes on with what is put in.
            re.compile(word + rb"(?<=['\"]" + word + rb")[\w.]*['\"{%]"),
            # The bare name of the package, handed on: ``fi = package``, ``getattr(package, "part")``.
            re.compile(
                word + rb"(?<![\w.'\"]" + word + rb")(?<!import " + word + rb")(?<!from " + word + rb")\s*[,;)\]}\n#]"
            ),
        )
        self._parts = (re.compile(end + rb"(?<=[.'\"]" + end + rb")\b"), re.compile(rb"\.\s+" + end + rb"\b"))

    def sees(self, data: bytes) -> bool:
        aliased = False
        line_end = first_import = -1
        for mention in self._mention.finditer(data):
            start, end = mention.span()
            if self._dotted_inside.search(data, start, end):
                return True
            if data[end - 1] == _DOT and self._dotted_after.match(data, end):
                return True
            if aliased:
                continue
            if start > line_end:
                line_start = data.rfind(b"\n", max(line_end, 0), start) + 1
                line_end = data.find(b"\n", start)
                line_end = len(data) if line_end < 0 else line_end
                found = _IMPORT_WORD.search(data, line_start, line_end)
                first_import = found.start() if found is not None else line_end
            aliased = first_import < start and self._as.match(data, end) is not None
        if self._is_listed(data):
            return True
        if not aliased and not any(pattern.search(data) for pattern in self._aliases):
            return False
        return any(pattern.search(data) for pattern in self._parts)

    def _is_listed(self, data: bytes) -> bool:
        """Whether a from-import lists the module, or everything."""
        searched = closed = 0
        for header in self._from.finditer(data):
            start = header.end()
            if header[1]:
                if closed < start:
                    closed = data.find(b")", start)
                    closed = len(data) if closed < 0 else closed
                end = closed
            else:
                line = _LINE.match(data, start) if start >= searched else None
                end = line.end() if line is not None else searched
            if end > searched and self._listed.search(data, max(start, searched), end):
                return True
            searched = max(searched, end)
        return False


_DOT = ord(".")
_IMPORT_WORD = re.compile(rb"import(?<!\wimport)\s")
_LINE = re.compile(rb"[^\n(]*")


def _with(contents: Contents, words: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    for path in contents.paths:
        data = contents.read(path)
        if data is not None and data.startswith(_WIDE):
            # No Python reads it, but it is meant to be read: it is told of when it mentions what is looked for.
            data = data.replace(b"\0", b"")
        if data is not None and all(word in data for word in words):
            yield path, data


def importers(contents: Contents) -> Importers:
    """Who imports whom, by the last names of the code base's own modules."""
    tails = frozenset(tail_of(path).encode("utf-8", "surrogateescape") for path in contents.paths)
    found: dict[bytes, list[str]] = {}
    for path in contents.paths:
        data = contents.read(path)
        if data is not None:
            text = import_text(data)
            for word in tails.intersection(text.translate(_WORDS).split()):
                found.setdefault(word, []).append(path)
            if b"*" in text and _STAR.search(text):
                found.setdefault(EVERYTHING.encode(), []).append(path)
            if _BY_DOTS.search(text):
                found.setdefault(BY_DOTS.encode(), []).append(path)
    return found


BY_DOTS = "."
"""Stands among the modules for a package that is meant by dots alone."""

EVERYTHING = "*"
"""Stands among them for a module of which all is imported."""


def import_text(data: bytes) -> bytes:
    """A file's import statements, and some more."""
    return b"\n".join([data[start:end] for start, end in import_lines(data)])


def seems_to_import(data: bytes, tail: bytes, names: Collection[bytes], *, bare: bool = False) -> bool:
    """Whether a file seems to import one of the names from a module of this last name, or the module itself.

    `bare`: dots alone may mean the module, too. A pattern for each module would take longer to make than to use.
    """
    for start, end in import_lines(data):
        if data.find(tail, start, end) < 0:
            if bare and _BY_DOTS.search(data, start, end):
                words = frozenset(_WORD.findall(data[start:end]))
                if not words.isdisjoint(names) or data.find(b"*", start, end) >= 0:
                    return True
            continue
        before, *after = _IMPORT.split(data[start:end], 1)
        words = frozenset(_WORD.findall(b" ".join(after)))
        if tail in words:
            return True
        if after and (not words.isdisjoint(names) or b"*" in after[0]) and tail in _WORD.findall(before):
            return True
    return False


_STAR = re.compile(rb"import[ \t\\\r\n]*\*")
_BY_DOTS = re.compile(rb"from[ \t\\\r\n]*\.[. \t\\\r\n]*import\b")
_IMPORT = re.compile(rb"\bimport\b")
_WORD = re.compile(rb"[\w\x80-\xff]+")
_WORDS = bytes(each if _WORD.match(bytes([each])) else ord(" ") for each in range(256))
"""Makes a space of whatever stands between words: to take text apart there is faster than to look for them."""


def import_lines(data: bytes) -> list[tuple[int, int]]:
    """Where the lines of a file that hold the word begin and end: all import statements, and some more.

    With the lines on which they are continued, and what they open in brackets.
    """
    found: list[tuple[int, int]] = []
    find, find_last = data.find, data.rfind
    at = find(b"import")
    while at >= 0:
        end = find(b"\n", at)
        if end < 0:
            end = len(data)
        elif data[end - 1] in _MAY_CONTINUE:
            end = _continued(data, end)
        if find(b"(", at, end) >= 0:
            end = max(end, _closed(data, at))
        start = find_last(b"\n", 0, at) + 1
        if start > 1 and data[start - 2] in _MAY_CONTINUE:
            start = _begun(data, start)
        found.append((start, end))
        at = find(b"import", end)
    return found


_MAY_CONTINUE = b"\\\r"


def _continued(data: bytes, end: int) -> int:
    """The end of a line, and of those that it is continued on."""
    while end < len(data) and data.endswith((b"\\", b"\\\r"), 0, end):
        following = data.find(b"\n", end + 1)
        end = len(data) if following < 0 else following
    return end


def _begun(data: bytes, start: int) -> int:
    """Where a line begins that is continued on this one."""
    while start and data.endswith((b"\\\n", b"\\\r\n"), 0, start):
        start = data.rfind(b"\n", 0, start - 1) + 1
    return start


def _closed(data: bytes, at: int) -> int:
    """Where the next bracket is closed, outside of comments."""
    closed = data.find(b")", at)
    while closed >= 0 and data.find(b"#", max(data.rfind(b"\n", 0, closed), at), closed) >= 0:
        line = data.find(b"\n", closed)
        closed = data.find(b")", line) if line >= 0 else -1
    return len(data) if closed < 0 else closed + 1
