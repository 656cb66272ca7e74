"""The text of a file's top-level definitions, found without parsing it.

Enters: a file's bytes, and a name. Leaves: for each definition of that name its lines, decorators included. Where the
text alone does not say where one ends, it is more than that, never less: enough to tell that a definition does not hold
a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARGIN = re.compile(rb"^[^\s#)\]}]", re.MULTILINE)
"""A line that stands at the margin begins a statement, but within a bracket or a longer string."""

_QUOTES = (b'"""', b"'''")


def definitions(data: bytes, name: str) -> Iterator[bytes]:
    """The text of each top-level function or class of this name."""
    head = rb"^(?:async[ \t]+def|def|class)[ \t]+" + re.escape(name.encode("utf-8", "surrogateescape")) + rb"\b"
    for found in re.finditer(head, data, re.MULTILINE):
        yield data[_first(data, found.start()) : _end(data, found.end())]


def _end(data: bytes, start: int) -> int:
    end = start
    while end < len(data):
        found = _MARGIN.search(data, end + 1)
        end = found.start() if found is not None else len(data)
        text = data[start:end]
        if not _in_a_string(text) and not text.rstrip().endswith(b"\\"):
            break
    return end


def _in_a_string(text: bytes) -> bool:
    """Whether what begins or ends here may be in the middle of a longer string."""
    return any(text.count(quotes) % 2 for quotes in _QUOTES)


def _first(data: bytes, start: int) -> int:
    """Where its decorators begin."""
    while start:
        before = data[:start].rstrip()
        last = before[before.rfind(b"\n") + 1 :]
        if not (last.startswith(b"@") or last.endswith((b")", b"]", b"}", b"'", b'"')) or b"#" in last):
            break
        # The last line of a decorator, or what looks like it.
        above = before.rfind(b"\n") + 1
        while above and (not _MARGIN.match(data, above) or _in_a_string(data[above:start])):
            above = data.rfind(b"\n", 0, above - 1) + 1
        start = above
        if not data.startswith(b"@", above):
            break
    return start
