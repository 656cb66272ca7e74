"""Bytes of a Python file to text, as Python would read it.

Enters: the bytes of one ``.py`` file, whatever they are. Leaves: text with ``\\n`` line ends, or a `SourceError` with
one sentence. Nothing is executed and no other file is read.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_LINE_END = re.compile(rb"\r\n|\r|\n")
_NAMED = 60
"""Characters of an encoding's name that are shown."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


class SourceError(Exception):
    """The file cannot be read as Python source; `line` is where, when that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@contextmanager
def without_warnings() -> Iterator[None]:
    """While other people's code is parsed: what Python thinks of its style is not what was asked for."""
    with warnings.catch_warnings():
        for kind in (SyntaxWarning, DeprecationWarning):
            warnings.simplefilter("ignore", kind)
        yield


def decode(data: bytes) -> str:
    """The text of Python source: PEP 263 coding lines, a byte order mark, any line ends."""
    if b"\0" in data:
        raise SourceError("it contains null bytes", data[: data.index(b"\0")].count(b"\n") + 1)
    try:
        encoding, _ = tokenize.detect_encoding(_head(data).readline)
        text = data.decode(encoding)
    except SyntaxError as error:
        _, unknown, name = str(error).partition("unknown encoding: ")
        if unknown:
            raise SourceError(f"it says that its encoding is {name[:_NAMED]!r}, which Python does not have") from None
        raise SourceError("its byte order mark and its coding line name different encodings") from None
    except LookupError:
        raise SourceError(f"it says that its encoding is {encoding!r}, which is no encoding of text") from None
    except UnicodeDecodeError as error:
        raise SourceError(f"it is not valid {encoding}", data[: error.start].count(b"\n") + 1) from None
    except ValueError:  # of codecs that say nothing of the place
        raise SourceError(f"it is not valid {encoding}") from None
    if text.startswith(codecs.BOM_UTF8.decode("utf-8")):
        text = text[1:]
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _head(data: bytes) -> io.BytesIO:
    """The two lines that may name the encoding, as Python reads them: any line ends, and bytes of whatever encoding."""
    lines = _LINE_END.split(data.removeprefix(codecs.BOM_UTF8), 2)[:2]
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return io.BytesIO(mark + b"".join(_NOT_ASCII.sub(b"?", line) + b"\n" for line in lines))
