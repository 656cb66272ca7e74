"""What a Dockerfile installs with pip at exactly one version: its stages, with place and version of each.

Enters: the text, and patterns for the names of interest. Leaves: for each stage what it pins. Variables that the file
itself sets are filled in; what a shell would decide is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_NAME = re.compile(r"(?:Dockerfile|Containerfile)(?:\..+)?|.+\.(?:Dockerfile|Containerfile)", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNED = re.compile(r"(?:^|\s)(\w+)=(\"[^\"]*\"|'[^']*'|\S*)")
_COMMAND = re.compile(r"[^;&|]+")
_PINNED = r"(?:\[[\w,-]*\])?==([^\s\"';&|,)]+)"
_PIP_INSTALL = re.compile(r"\bpip3?\b.*\binstall\b", re.DOTALL)


class Installed(NamedTuple):
    name: str
    version: str
    line: int
    column: int
    end_column: int


def is_dockerfile(name: str) -> bool:
    """Whether a file of this name is one."""
    return _NAME.fullmatch(name) is not None


def installed(text: str, names: Mapping[str, str]) -> Iterator[list[Installed]]:
    """What each stage pins; `names` are patterns of how a distribution is spelt, by its name."""
    values: dict[str, str] = {}
    found: list[Installed] = []
    for first, lines in _instructions(text):
        whole = "\n".join(lines)
        word = whole.split(None, 1)[0].upper() if whole.strip() else ""
        if word == "FROM":
            yield found
            found = []
        elif word in ("ARG", "ENV"):
            values.update((m[1], m[2].strip("\"'")) for m in _ASSIGNED.finditer(whole))
        elif word == "RUN" and _PIP_INSTALL.search(whole):
            inside = {m[1] for m in _ASSIGNED.finditer(whole)}
            found += _in_shell(whole, first, names, {k: v for k, v in values.items() if k not in inside})
    yield found


def _in_shell(text: str, first: int, names: Mapping[str, str], values: dict[str, str]) -> Iterator[Installed]:
    """What those commands pin that are ``pip install``."""
    for command in _COMMAND.finditer(text):
        if not _PIP_INSTALL.search(command[0]):
            continue
        for name, spelt in sorted(names.items()):
            for match in re.finditer(rf"(?<![\w./=-]){spelt}{_PINNED}", command[0], re.IGNORECASE):
                version = _VARIABLE.sub(lambda v: values.get(v[1] or v[2], v[0]), match[1])
                start = command.start() + match.start()
                column = start - text.rfind("\n", 0, start)
                line = first + text.count("\n", 0, start)
                yield Installed(name, version, line, column, column + len(match[0]))


def _instructions(text: str) -> Iterator[tuple[int, list[str]]]:
    """The instructions of a Dockerfile, each with its first line's number; a backslash continues one."""
    first = 0
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            if lines:
                lines.append("")
            continue
        if not lines:
            first = number
        lines.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\"):
            yield first, lines
            lines = []
    if lines:
        yield first, lines
