"""Whether libcst's own parser can be given a text: it is native code, and its time grows with the square of a chain.

Enters: text that this Python's `ast` does not parse. Leaves: whether it is nested too deeply for the parser that does.
"""

from __future__ import annotations

import re

MAX_BRACKETS = 200
"""As for Python itself, but in any text."""

MAX_CHAIN = 1_000
"""How many operators an expression may have, those between its brackets not counted: these take up to a second."""

_TOKEN = re.compile(
    r"""(?P<skipped>\#[^\n]*|\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\\\n|\d[\w.]*)"""
    r"""|(?P<opening>[(\[{])|(?P<closing>[)\]}])|(?P<end>[,;\n])"""
    r"""|(?P<operator>\*\*|//|[-+*/%@&|^~<>.]|\b(?:not|await|lambda|if|and|or)\b)""",
    re.DOTALL,
)


def is_too_deep(text: str) -> bool:
    """Whether there are more brackets in one another, or operators in one expression, than the parser can bear."""
    chains = [0]
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "opening":
            # A call or a subscript is an operator as well.
            chains[-1] += 1
            chains.append(0)
        elif kind == "closing":
            if len(chains) > 1:
                chains.pop()
        elif kind == "operator":
            chains[-1] += 1
        elif kind == "end" and (found[0] == "," or len(chains) == 1):
            chains[-1] = 0
        if len(chains) > MAX_BRACKETS or chains[-1] > MAX_CHAIN:
            return True
    return False
