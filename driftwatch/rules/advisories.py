"""Facts about a library that no signature shows, as data that its target brings.

Enters: plain tables, as read from TOML. Leaves: frozen advisories, validated; a mistake in the data is a `ConfigError`
that names the entry.
"""

from __future__ import annotations

from dataclasses import dataclass

from driftwatch.findings import Severity
from driftwatch.flow.uses import Constant
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model import Ref


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be known of a parameter's argument: omitted, passed, or its value among (or none of) these."""

    parameter: str
    omitted: bool | None = None
    equals: tuple[Constant, ...] = ()
    differs: tuple[Constant, ...] = ()


@dataclass(frozen=True, slots=True)
class Advisory:
    """Behaviour that drifts under an unchanged signature. All conditions must hold; none means every call."""

    id: str
    symbol: Ref
    releases: ReleaseSet
    message: str
    hint: str
    severity: Severity
    evidence: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """What importing a module may raise other than ImportError, in which releases, and when."""

    id: str
    module: str
    exception: str
    releases: ReleaseSet
    when: str
    evidence: tuple[str, ...] = ()
