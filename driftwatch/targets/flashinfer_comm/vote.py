"""All ranks of a group deciding one thing together, or none of them going on.

Enters: what each rank has to say. Leaves: what all ranks said, the same on each. It goes through the store that the
process group was made with, not through a collective: so it needs no device, knows who is missing, ends within its
timeout, and works where a collective before it has failed. Every rank of a group takes part in the same order.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any

from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.conditions import group_ranks


class VoteFailed(AdapterError):
    """Not every rank of the group was heard in time; nothing was decided, and nothing may be assumed of the others."""


_SHORTEST, _LONGEST = 0.0005, 0.05
"""Seconds between two looks at what the others said."""
_sessions: dict[tuple[int, ...], int] = {}
"""How many meetings this process has been to, by the ranks of the group."""


class Meeting:
    """The ranks of one group, talking through their store. `rank` is this process's rank in the group."""

    def __init__(self, group: Any, timeout: float) -> None:
        import torch.distributed as dist

        self.ranks = group_ranks(group)
        self.rank = self.ranks.index(dist.get_rank())
        self.timeout = timeout
        self._store: Any = dist.distributed_c10d._get_default_store()  # the one way to it, since torch 1.8
        number = _sessions[self.ranks] = _sessions.get(self.ranks, 0) + 1
        # A process may hold two copies of this code, under two names: each counts its own meetings.
        place = hashlib.sha256(f"{__name__}|{self.ranks}".encode()).hexdigest()[:16]
        self._prefix = f"driftwatch/{place}/{number}"
        self._votes = self._gathers = 0

    def vote(self, ballot: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give this rank's ballot and wait for all, in order of rank. Raises `VoteFailed` within the timeout."""
        # Counted apart from the rest: a rank that failed in the middle of that still comes to the next vote.
        self._votes += 1
        said = self._exchange(f"vote/{self._votes}", json.dumps(dict(ballot)).encode(), lambda: False)
        return [json.loads(text) for text in said]

    def gather(self, value: Any) -> list[Any]:
        """Any object of each rank, in order of rank; ends early when a rank has called `give_up`."""
        # Pickle between processes of one job, as `all_gather_object` does it, and from the same store.
        self._gathers += 1
        given_up = [f"{self._prefix}/given-up"]
        said = self._exchange(f"gather/{self._gathers}", pickle.dumps(value), lambda: bool(self._store.check(given_up)))
        return [pickle.loads(data) for data in said]  # noqa: S301 - see above

    def give_up(self) -> None:
        """Tell those who wait in `gather` that this rank will not come."""
        with contextlib.suppress(Exception):  # they find out by the timeout
            self._store.set(f"{self._prefix}/given-up", str(self.ranks[self.rank]))

    def end(self) -> None:
        """Tidy up after the last word. The first rank waits for the others, since the store may live in its process."""
        keys = [f"{self._prefix}/done/{rank}" for rank in range(len(self.ranks))]
        with contextlib.suppress(Exception):  # all was said: nothing that fails here changes it
            self._store.set(keys[self.rank], "")
            if self.rank == 0:
                self._store.wait(keys, datetime.timedelta(seconds=self.timeout))
                for key in [*keys, f"{self._prefix}/given-up"]:
                    self._store.delete_key(key)

    def _exchange(self, what: str, own: bytes, stopped: Callable[[], bool]) -> list[bytes]:
        prefix = f"{self._prefix}/{what}"
        keys = [f"{prefix}/{rank}" for rank in range(len(self.ranks))]
        deadline = time.monotonic() + self.timeout
        try:
            self._store.set(keys[self.rank], own)
            # Looked for, not waited for: a store that waits can be told nothing, and logs each time it gives up.
            pause = _SHORTEST
            while not self._store.check(keys):
                if stopped():
                    raise VoteFailed(f"rank {self._store.get(f'{self._prefix}/given-up').decode()} gave up")
                if time.monotonic() >= deadline:
                    silent = [self.ranks[i] for i, key in enumerate(keys) if not self._store.check([key])]
                    raise VoteFailed(f"nothing from rank {', '.join(map(str, silent))} within {self.timeout:g} s")
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
            said = [self._store.get(key) for key in keys]
            if self._store.add(f"{prefix}/read", 1) == len(keys):
                for key in [*keys, f"{prefix}/read"]:
                    self._store.delete_key(key)
        except VoteFailed:
            raise
        except Exception as error:  # the store went with the process that kept it
            raise VoteFailed(f"the store of ranks {list(self.ranks)} was lost: {error}") from error
        return said
