"""Raises the lower bound of a requirement where it is written, and leaves all else of the file as it is.

Enters: a declaration and the release from which on the code works. Leaves: the file's new text, in which the
requirement allows nothing older; `InputError` where the place does not say it in a form that can be changed.
"""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

from driftwatch.errors import InputError
from driftwatch.project.declared import Declaration

_LOWER = re.compile(r"(>=|>(?!=)|~=)\s*([0-9][^\s,;\"')\]]*)")
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?(?:\s*\[[^\]]*\])?")


def raised(text: str, declared: Declaration, lowest: str) -> str:
    """A file's text with the requirement's lower bound raised to a release."""
    lines = text.split("\n")
    if not 1 <= declared.line <= len(lines):
        raise _not_written(declared)
    line = lines[declared.line - 1]
    start, end = declared.column - 1, declared.end_column - 1
    written = line[start:end]
    found = _NAME.search(written)
    if found is None:
        raise _not_written(declared)
    changed = _with_bound(written, found.end(), lowest)
    _check(written, changed, declared, lowest)
    lines[declared.line - 1] = line[:start] + changed + line[end:]
    return "\n".join(lines)


def _with_bound(written: str, behind: int, lowest: str) -> str:
    """The requirement with another lower bound: in the place of the one it has, else behind the name."""
    end = written.find(";") if ";" in written else len(written)
    bound = next((each for each in _LOWER.finditer(written, behind, end)), None)
    if bound is None:
        rest = written[behind:].lstrip()
        separator = "," if rest[:1] in ("<", "!", "=") else ""
        return f"{written[:behind]}>={lowest}{separator}{written[behind:]}"
    upper = ""
    if bound[1] == "~=":
        series = bound[2].split(".")[:-1]
        upper = f",=={'.'.join(series)}.*"
    return f"{written[: bound.start()]}>={lowest}{upper}{written[bound.end() :]}"


def _check(written: str, changed: str, declared: Declaration, lowest: str) -> None:
    """`InputError` unless the new text is the old requirement but for what is older than the bound."""
    try:
        before, after = Requirement(_bare(written)), Requirement(_bare(changed))
    except InvalidRequirement:
        raise _not_written(declared) from None
    same = (before.name, before.extras, str(before.marker)) == (after.name, after.extras, str(after.marker))
    allowed = SpecifierSet(str(before.specifier))
    if not same or not after.specifier.contains(lowest, prereleases=True) or not allowed.contains(lowest):
        raise _not_written(declared)


def _bare(written: str) -> str:
    text = written.strip()
    return text[1:-1] if text[:1] in ("'", '"') and text[-1:] == text[:1] else text


def _not_written(declared: Declaration) -> InputError:
    return InputError(
        f"{declared.path}:{declared.line} does not say `{declared.requirement}` in a form that can be changed",
        "raise the bound by hand",
    )
