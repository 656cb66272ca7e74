"""TOML of any origin -> data: bounded work, and what is wrong with it in one sentence with its line.

Enters: the text of a file, also of one that somebody else has written. Leaves: its tables, or a `TomlError`.
"""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST_PARTS = 64
_WORD = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"""(?<![\w"'-]){_WORD}(?:[ \t]*\.[ \t]*{_WORD}){{{_MOST_PARTS}}}""")
"""What the parser takes quadratic time and memory for."""
_POSITION = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


class TomlError(ValueError):
    """What is wrong, without a full stop, and in which line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"not valid TOML: {reason}")
        self.reason = f"not valid TOML: {reason}"
        self.line = line


def parse(text: str) -> dict[str, Any]:
    """The tables of a file. Numbers have 64 bits, as TOML promises no more; keys have few parts."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise TomlError(f"a key has more than {_MOST_PARTS} parts", line)
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, and a number of more digits than Python reads
        place = _POSITION.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        reason = _POSITION.sub("", str(error)).partition(";")[0]
        raise TomlError(f"{reason[:1].lower()}{reason[1:]}", line) from None
    except RecursionError:
        raise TomlError("it is nested too deeply", 1) from None
    if _has_large_number(document):
        raise TomlError("a number has more than 64 bits", 1)
    return document


def _has_large_number(document: dict[str, Any]) -> bool:
    left: list[Any] = [document]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)
        elif isinstance(item, int) and item.bit_length() > 64:
            return True
    return False
