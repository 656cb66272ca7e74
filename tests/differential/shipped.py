"""The history of the library that ships with driftwatch, and stubs of all its releases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from driftwatch.snapshot.history import History


@cache
def shipped() -> History:
    raise NotImplementedError


def shipped_stubs(folder: Path) -> Mapping[str, Path]:
    return {}
