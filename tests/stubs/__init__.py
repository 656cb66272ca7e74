"""Stand-ins for a library's releases, written from their snapshots: what the tests run programs against."""

from __future__ import annotations

from tests.stubs.writer import write_stub

__all__ = ["write_stub"]
