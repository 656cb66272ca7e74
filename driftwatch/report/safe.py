"""Text of the scanned code, made harmless before it is printed.

Enters: any string, from any file, path or snapshot. Leaves: one line of printable characters. Control characters (ANSI
escapes, newlines in names), invisible and direction-changing characters, and lone surrogates of undecodable names come
out as Python escapes, so that a report shows them and a terminal does not act on them. Nothing else is changed.
"""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def safe(text: str) -> str:
    """The text on one line, with everything a terminal could act on shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(safe_character(character) for character in text)


def safe_character(character: str) -> str:
    """One character as it may be printed: itself, or its escape as Python would write it."""
    if unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
