"""What a release's sources say of the machines that its functions run on; a signature shows none of it.

Plain data, of one symbol of one release each.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Said(str, Enum):
    """What a fact is about."""

    MAJORS = "majors"
    """Majors of the compute capabilities that kernels are compiled for."""
    CAPABILITIES = "capabilities"
    """Compute capabilities that are accepted."""
    RANKS = "ranks"
    """Sizes of groups that kernels are written for."""
    DTYPES = "dtypes"
    PATTERNS = "patterns"
    REFUSES = "refuses"
    """A condition over constants, as source text, under which it raises; the value is the exception as well."""


@dataclass(frozen=True, slots=True, order=True)
class GpuFact:
    """One fact of a symbol, ``module:qualname``.

    `values` are numbers as text ("9", "10.0"), or a condition and its exception. `by` is the function in which it
    stands. `perhaps` says that the way there leads through a condition, so that another may be asked instead.
    """

    symbol: str
    said: Said
    values: tuple[str, ...]
    by: str
    perhaps: bool = False


@dataclass(frozen=True, slots=True)
class KernelList:
    """Where the sizes of groups, dtypes or patterns stand that a kernel is written for.

    In the first of `files` that a release has, `pattern` finds each, between the first place that matches `begins` and
    the next that matches `ends`. `symbols` are the functions, where they are defined, that launch it.
    """

    says: Said
    symbols: tuple[str, ...]
    files: tuple[str, ...]
    pattern: str
    begins: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True)
class GpuWords:
    """How a library says it.

    `decorators` have a list of capabilities (90 is 9.0), `keywords` one of majors. `parameters` are those whose checks
    are recorded, `lists` where kernels are dispatched.
    """

    decorators: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    lists: tuple[KernelList, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read beside the sources, in order."""
        return tuple(sorted({path for each in self.lists for path in each.files}))

    def __bool__(self) -> bool:
        return bool(self.decorators or self.keywords or self.parameters or self.lists)
