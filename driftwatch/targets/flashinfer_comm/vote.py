"""All ranks of a group deciding one thing together, or none of them going on.

Enters: what each rank has to say. Leaves: what all ranks said, the same on each. It
goes through the store that the process group was made with, not through a collective:
so it needs no device, knows who is missing, ends within its timeout, and works where a
collective before it has failed. Every rank of a group takes part in the same order.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.conditions import group_ranks


class VoteFailed(AdapterError):
    """Not every rank of the group was heard in time.

    Nothing was decided, and nothing may be assumed of the others.
    """


_SHORTEST, _LONGEST = 0.0005, 0.05
"""Seconds between two looks at what the others said."""
_sessions: dict[tuple[int, ...], int] = {}
"""How many meetings this process has been to, by the ranks of the group."""


class Meeting:
    """The ranks of one group, talking through their store.

    `rank` is this process's rank in the group.
    """

    def __init__(self, group: Any, timeout: float) -> None:
        import torch.distributed as dist

        self.ranks = group_ranks(group)
        self.rank = self.ranks.index(dist.get_rank())
        self.timeout = timeout
        self._store: Any = (
            dist.distributed_c10d._get_default_store()
        )  # the one way to it, since torch 1.8
        number = _sessions[self.ranks] = _sessions.get(self.ranks, 0) + 1
        # A process may hold two copies of this code, under two names: each counts its
        # own meetings.
        place = hashlib.sha256(f"{__name__}|{self.ranks}".encode()).hexdigest()[:16]
        self._prefix = f"driftwatch/{place}/{number}"
        self._votes = self._gathers = self._attempts = 0

    def vote(self, ballot: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give this rank's ballot and wait for all, in order of rank.

        Raises `VoteFailed` within the timeout.
        """
        # Counted apart from the rest: a rank that failed in the middle of that still
        # comes to the next vote.
        self._votes += 1
        said: list[dict[str, Any]] = self._exchange(
            f"vote/{self._votes}", dict(ballot), [self._left]
        )
        return said

    def attempt(self) -> None:
        """Begin something in which ranks `gather`.

        Every rank does, so that none takes an old `give_up` for a new.
        """
        self._attempts += 1
        self._gathers = 0

    def gather(self, value: Any) -> list[Any]:
        """Plain data of each rank, in order of rank.

        Ends early when a rank has called `give_up`.
        """
        self._gathers += 1
        what = f"gather/{self._attempts}/{self._gathers}"
        return self._exchange(what, value, [self._left, self._given_up])

    def give_up(self) -> None:
        """Tell those who wait in `gather` that this rank will not come."""
        self._tell(self._given_up, f"rank {self.ranks[self.rank]} gave up")

    def leave(self, why: str) -> None:
        """Tell those who wait for anything that this rank is gone from the meeting."""
        self._tell(self._left, f"rank {self.ranks[self.rank]} left: {why}")

    @property
    def _left(self) -> str:
        return f"{self._prefix}/left"

    @property
    def _given_up(self) -> str:
        return f"{self._prefix}/given-up/{self._attempts}"

    def _tell(self, key: str, text: str) -> None:
        with contextlib.suppress(
            Exception
        ):  # the store may be gone; they find out by the timeout
            self._store.set(key, text)

    def end(self) -> None:
        """Tidy up after the last word.

        The first rank waits for the others, since the store may live in its process.
        """
        keys = [f"{self._prefix}/done/{rank}" for rank in range(len(self.ranks))]
        with contextlib.suppress(
            Exception
        ):  # all was said: nothing that fails here changes it
            self._store.set(keys[self.rank], "")
            if self.rank == 0:
                self._store.wait(keys, datetime.timedelta(seconds=self.timeout))
                given_up = [
                    f"{self._prefix}/given-up/{attempt}"
                    for attempt in range(1, self._attempts + 1)
                ]
                for key in [*keys, *given_up]:
                    self._store.delete_key(key)

    def _exchange(self, what: str, own: Any, stops: Sequence[str]) -> list[Any]:
        """What each rank has to say.

        It ends early when one of the keys in `stops` is there.
        """
        data = json.dumps(_packed(own)).encode()
        prefix = f"{self._prefix}/{what}"
        keys = [f"{prefix}/{rank}" for rank in range(len(self.ranks))]
        deadline = time.monotonic() + self.timeout
        try:
            self._store.set(keys[self.rank], data)
            # Looked for, not waited for: a store that waits can be told nothing, and
            # logs each time it gives up.
            pause = _SHORTEST
            while not self._store.check(keys):
                for stop in stops:
                    if self._store.check([stop]):
                        raise VoteFailed(self._store.get(stop).decode())
                if time.monotonic() >= deadline:
                    silent = [
                        self.ranks[i]
                        for i, key in enumerate(keys)
                        if not self._store.check([key])
                    ]
                    raise VoteFailed(
                        f"nothing from rank {', '.join(map(str, silent))} within "
                        f"{self.timeout:g} s"
                    )
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
            said = [self._store.get(key) for key in keys]
            if self._store.add(f"{prefix}/read", 1) == len(keys):
                for key in [*keys, f"{prefix}/read"]:
                    self._store.delete_key(key)
        except VoteFailed:
            raise
        except Exception as error:  # the store went with the process that kept it
            raise VoteFailed(
                f"the store of ranks {list(self.ranks)} was lost: {error}"
            ) from error
        return [_unpacked(json.loads(text)) for text in said]


_BYTES, _TUPLE = "bytes", "tuple"


def _packed(value: Any) -> Any:
    """Plain data for JSON.

    What it has no form for, bytes and tuples, is told apart by a list that begins with
    a name.

    Anything else is refused: nothing that comes out of the store is ever more than
    data.
    """
    if isinstance(value, (bytes, bytearray)):
        return [_BYTES, base64.b64encode(value).decode()]
    if isinstance(value, (list, tuple)):
        return [_TUPLE if isinstance(value, tuple) else None, *map(_packed, value)]
    if isinstance(value, Mapping):
        return {str(key): _packed(inner) for key, inner in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be sent to other ranks")


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        if value[0] == _BYTES:
            return base64.b64decode(value[1])
        inner = [_unpacked(item) for item in value[1:]]
        return tuple(inner) if value[0] == _TUPLE else inner
    if isinstance(value, dict):
        return {key: _unpacked(inner) for key, inner in value.items()}
    return value
