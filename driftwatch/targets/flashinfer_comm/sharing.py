"""One workspace for many shapes: which of them a group of ranks holds, and who uses it.

Enters: a workspace that all ranks of a group have made, and the operations that want
one. Leaves: a `Share`, which every operation of the group uses as long as it is large
enough. It is made anew, larger, only where all ranks meet anyway, in the making of an
operation; a workspace that a captured graph may write to stays for as long as its users
do.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import Any

from driftwatch.adapter.runtime import Adapter
from driftwatch.targets.flashinfer_comm.compiled import CompiledWorkspaces
from driftwatch.targets.flashinfer_comm.workspaces import (
    PairWorkspace,
    UnifiedWorkspace,
)

_held: weakref.WeakKeyDictionary[Adapter, dict[Hashable, Share]] = (
    weakref.WeakKeyDictionary()
)


class Share:
    """A workspace and the operations that use it.

    `detached` while its memory is given back for a checkpoint.
    """

    def __init__(
        self, workspace: UnifiedWorkspace | PairWorkspace | CompiledWorkspaces
    ) -> None:
        self.workspace = workspace
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()
        self.detached = False
        self._freed = False

    def leave(self, adapter: Adapter, user: Any) -> None:
        """The user is done; the last one frees the workspace."""
        self.users.discard(user)
        self.free_unused(adapter)

    def free_unused(self, adapter: Adapter) -> None:
        """Free the workspace when nobody uses it."""
        if not self.users and not self._freed:
            self._freed = True
            shares = _held.get(adapter, {})
            for key in [key for key, share in shares.items() if share is self]:
                del shares[key]
            self.workspace.destroy()


def held(adapter: Adapter, key: Hashable) -> Share | None:
    """The share that later operations are offered."""
    return _held.get(adapter, {}).get(key)


def offer(adapter: Adapter, key: Hashable, share: Share) -> None:
    """Make a share the one that later operations are offered."""
    _held.setdefault(adapter, {})[key] = share
