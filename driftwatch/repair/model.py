"""What a repair is: edits of one file, what they make go away, and how far they can be relied on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from driftwatch.findings.finding import Finding


class Safety(str, Enum):
    """Whether a repaired program does what it did in every release in which it worked, and what was meant elsewhere."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    """Where the release does not take it, something is left out that may be missed."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters of a file's text, from `start` to before `end`, and what stands there instead.

    The text is the one that Python reads: without a byte order mark, and with line ends of one character.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to the installed build: whether what an expression names takes a parameter.

    `flag` is the module's variable with the answer; None asks where it is needed. `after` is the offset from which on
    the module can ask for a new flag, 0 where there is none to be made. `before` is the offset of the statement of the
    module that asks in place, 0 where a function does.
    """

    function: str
    parameter: str
    flag: str | None = None
    after: int = 0
    before: int = 0


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair of one file. `findings` are those that it makes go away.

    `probes` are what the module must ask the build for it, and `lost` is what an unsafe one leaves out, in words.
    `stands_for` are pairs of symbols, the second of which is used instead of the first; `renamed` is a symbol, an old
    name of one of its parameters, and the new one.
    """

    findings: tuple[Finding, ...]
    path: str
    edits: tuple[Edit, ...]
    description: str
    safety: Safety = Safety.SAFE
    lost: str = ""
    probes: tuple[Probe, ...] = ()
    stands_for: tuple[tuple[str, str], ...] = ()
    renamed: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A finding that is not repaired, and why, in a few words."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A file as it is and as it would be; `path` is that of reports.

    The texts are those of the bytes, with their own line ends; `edits` are of the text that Python reads.
    """

    path: str
    place: Path
    before: bytes
    after: bytes
    texts: tuple[str, str]
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """What has stood the proof. `findings` are those that a repair was looked for."""

    findings: tuple[Finding, ...] = ()
    files: tuple[Changed, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def repaired(self) -> tuple[Finding, ...]:
        """The findings that go away."""
        return tuple(finding for file in self.files for repair in file.repairs for finding in repair.findings)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Bytes of a file, from `start` to before `end`, and the text that stands there instead, with the file's line ends.

    Lines and columns say the same in characters, from 1; the end is the first place after.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What is offered for one finding, for reports: by itself, with all that it needs elsewhere in its file."""

    path: str
    description: str
    safety: Safety
    lost: str
    replacements: tuple[Replacement, ...]
    diff: str


class NoRepairError(Exception):
    """There is no repair; the message says why, in a few words."""
