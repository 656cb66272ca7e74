"""All ranks of a group deciding one thing together, or none of them going on.

Enters: each rank's ballot, plain data. Leaves: the ballots of all ranks, the same on each. Ballots go through the store
that the process group was made with, not through a collective: so a vote needs no device, knows who is missing, ends
within its timeout, and works where a collective before it has failed. Every rank casts its votes on a group in the
same order, as with collectives.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.conditions import group_ranks


class VoteFailed(AdapterError):
    """Not every rank of the group voted in time; nothing was decided, and nothing may be assumed of the others."""


_rounds: dict[tuple[int, ...], int] = {}
"""How many votes this process has cast, by the ranks of the group."""


class Ballots:
    """The votes of one group. `rank` is this process's rank in it."""

    def __init__(self, group: Any, timeout: float) -> None:
        import torch.distributed as dist

        self.ranks = group_ranks(group)
        self.rank = self.ranks.index(dist.get_rank())
        self.timeout = timeout
        self._store = dist.distributed_c10d._get_default_store()  # the one way to it, since torch 1.8

    def cast(self, ballot: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give this rank's ballot and wait for all; in order of rank. Raises `VoteFailed` within the timeout."""
        number = _rounds[self.ranks] = _rounds.get(self.ranks, 0) + 1
        # A process may hold two copies of this code, under two names: each counts its own votes.
        place = hashlib.sha256(f"{__name__}|{self.ranks}".encode()).hexdigest()[:16]
        prefix = f"driftwatch/{place}/{number}"
        keys = [f"{prefix}/{rank}" for rank in range(len(self.ranks))]
        deadline = time.monotonic() + self.timeout
        try:
            self._store.set(keys[self.rank], json.dumps(dict(ballot)))
            self._store.wait(keys, datetime.timedelta(seconds=self.timeout))
            ballots = [json.loads(self._store.get(key)) for key in keys]
        except Exception as error:
            raise VoteFailed(self._failure(keys, error)) from error
        self._leave(prefix, keys, deadline)
        return ballots

    def _failure(self, keys: list[str], error: Exception) -> str:
        silent: list[int] = []
        try:
            silent = [self.ranks[i] for i, key in enumerate(keys) if not self._store.check([key])]
        except Exception as lost:  # the store went with the process that kept it
            return f"the store of the process group was lost in a vote of ranks {list(self.ranks)}: {lost}"
        return f"no vote within {self.timeout:g} s from rank {', '.join(map(str, silent)) or '?'}: {error}"

    def _leave(self, prefix: str, keys: list[str], deadline: float) -> None:
        """Tidy up. The first rank waits until all have read, since the store may live in its process."""
        with contextlib.suppress(Exception):  # the vote is over: nothing that fails here changes it
            readers = self._store.add(f"{prefix}/read", 1)
            if readers == len(keys):
                for key in [*keys, f"{prefix}/read"]:
                    self._store.delete_key(key)
                self._store.set(f"{prefix}/done", "")
            if self.rank == 0:
                left = max(0.001, deadline - time.monotonic())
                self._store.wait([f"{prefix}/done"], datetime.timedelta(seconds=left))
                self._store.delete_key(f"{prefix}/done")
