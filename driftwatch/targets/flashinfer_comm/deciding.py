"""How all ranks of a group come to one path.

Looking, voting, making, launching once, voting on that.

Enters: a group and a request. Leaves: a `Decided`, which has its decision and, where it
is for the kernels, a workspace and the terms of its use. What fails is heard by every
rank, and is remembered by all that decides.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar

from driftwatch.adapter.runtime import Adapter
from driftwatch.adapter.signatures import AdapterError
from driftwatch.targets.flashinfer_comm.agreement import (
    CUTEDSL,
    GROW,
    OFF,
    REQUIRE,
    REUSE,
    TRTLLM,
    Decision,
    Request,
    Terms,
    decide,
    sharing,
    unusable,
)
from driftwatch.targets.flashinfer_comm.asked import place_in
from driftwatch.targets.flashinfer_comm.backends import (
    Kernels,
    Stuck,
    make_kernels,
    warm_up,
)
from driftwatch.targets.flashinfer_comm.compiled import (
    compiled_patterns,
    compiled_values,
)
from driftwatch.targets.flashinfer_comm.gates import known_fault, offers
from driftwatch.targets.flashinfer_comm.machine import (
    Machine,
    probe_machine,
    unreachable,
)
from driftwatch.targets.flashinfer_comm.sharing import Share, held, offer
from driftwatch.targets.flashinfer_comm.vote import Meeting, VoteFailed
from driftwatch.targets.flashinfer_comm.workspaces import make_workspace

logger = logging.getLogger(__name__)

_ALONE = "there is one rank, so nothing to reduce"


class FusedUnavailable(AdapterError):
    """The fused allreduce was required and cannot run.

    The message says on which rank, and why.
    """


class Decided:
    """What the ranks of a group decided together, and the workspace that came of it."""

    adapter: ClassVar[Adapter]
    number: int
    calls: dict[str, int]
    latched: ClassVar[dict[tuple[Any, ...], str]] = {}
    """What failed, by ranks, backend, build and request, with the reason.

    It is not tried again.
    """

    def __init__(
        self, group: Any, mode: str, request: Request, timeout: float, fault: str | None
    ) -> None:
        self.group, self.mode, self.request, self.timeout = (
            group,
            mode,
            request,
            timeout,
        )
        self.closed = False
        self.terms: Terms | None = None
        self._kernels: Kernels | None = None
        self.rank, self.world_size, self.ranks = place_in(group)
        if self.world_size == 1:
            if fault:
                raise ValueError(fault)
            self.decision = unusable([_ALONE], [self.rank] if mode == REQUIRE else [])
        else:
            self.decision = self._decide_together(fault)
        self._conclude()

    def _decide_together(self, fault: str | None) -> Decision:
        meeting = Meeting(self.group, self.timeout)
        try:
            decision = self._hold(meeting, fault)
        except BaseException as error:
            # Also one that ends the process: the others must hear that this rank is
            # gone
            if not isinstance(error, VoteFailed):
                meeting.leave(type(error).__name__)
            self._release()
            raise
        meeting.end()
        return decision

    def _hold(self, meeting: Meeting, fault: str | None) -> Decision:
        """Look, vote, and make what was voted for.

        The first backend of which every rank could.
        """
        against = "fused is off" if self.mode == OFF else None
        machine, offered, shared = Machine(cuda=False), {}, {}
        if against is None and fault is None:
            try:
                machine, shared = probe_machine(), self._shared()
                fitting = [
                    backend for backend, share in shared.items() if share["fits"]
                ]
                place = (self.rank, self.world_size, _world_size())
                offered = offers(self.adapter, self.request, machine, *place, fitting)
            except Exception as error:
                # Whatever it is, the other ranks must hear of it
                against = (
                    f"looking at what is here raised {type(error).__name__}: {error}"
                )
        for backend, made in offered.items():
            made["objection"] = made["objection"] or self.latched.get(
                self._latch(backend)
            )
        ballots = meeting.vote(
            {
                "mode": self.mode,
                "fault": fault,
                "objection": against,
                "request": asdict(self.request),
                "backends": offered,
                "held": shared,
                "node": machine.node,
                "device": machine.device,
                "gpu": machine.gpu,
                "clique": machine.clique,
            }
        )
        decision = decide(ballots, self.ranks)
        failed: list[str] = []
        backends = list(decision.backends)
        if TRTLLM in backends:
            failed = self._ask_peers(meeting, machine, ballots)
            if failed:
                backends.remove(TRTLLM)
        for backend in backends:
            terms = Terms(**ballots[self.rank]["backends"][backend]["terms"])
            failures = self._make_together(
                meeting,
                terms,
                machine,
                decision.gpus_per_node,
                sharing(backend, ballots),
            )
            if not failures:
                self.terms = terms
                return replace(
                    decision,
                    backends=(backend,),
                    passed_over=(*decision.passed_over, *failed),
                )
            failed += failures
        if not decision.fused:
            return decision
        return unusable(
            failed,
            [self.ranks[i] for i, b in enumerate(ballots) if b["mode"] == REQUIRE],
        )

    def _ask_peers(
        self, meeting: Meeting, machine: Machine, ballots: Sequence[Mapping[str, Any]]
    ) -> list[str]:
        """Whether each rank's device reaches those of the others, which are known only
        now.
        """
        missing = unreachable(machine, [ballot["gpu"] for ballot in ballots])
        said = meeting.vote(
            {
                "objection": missing
                and f"the device cannot reach the memory of {missing}"
            }
        )
        return [
            f"rank {self.ranks[i]}: {b['objection']}"
            for i, b in enumerate(said)
            if b["objection"]
        ]

    def _make_together(
        self,
        meeting: Meeting,
        terms: Terms,
        machine: Machine,
        gpus_per_node: int | None,
        how: str,
    ) -> list[str]:
        """Make the workspace, launch once, and vote on both.

        If any rank fails none keeps it, and it says why.
        """
        meeting.attempt()
        key = self._share_key(terms.backend)
        before = held(self.adapter, key) if how in (REUSE, GROW) else None

        def make() -> None:
            share = before if how == REUSE else None
            if share is None:
                asked = (
                    self.adapter,
                    terms,
                    self.request,
                    self.group,
                    meeting,
                    gpus_per_node,
                )
                share = Share(make_workspace(*asked))
            share.users.add(self)
            self._kernels = make_kernels(self.adapter, terms, self.request, share)

        def launch() -> None:
            assert self._kernels is not None
            ranks, timeout = self.world_size, self.timeout
            warm_up(self._kernels, self.request, machine, ranks, timeout)

        failed = self._step(meeting, "making the workspace", make)
        if not failed:
            failed = self._step(meeting, "the first launch", launch)
        if failed:
            self._release()
            self.latched[self._latch(terms.backend)] = (
                f"this could not be made before: {failed[0]}"
            )
        elif how != REUSE and self.request.share and self._kernels is not None:
            if before is not None:
                self._move_users(meeting, before, self._kernels.share, machine)
            offer(self.adapter, key, self._kernels.share)
        return failed

    def _move_users(
        self, meeting: Meeting, before: Share, share: Share, machine: Machine
    ) -> None:
        """Let the users of a workspace that was too small go on with the new one, and
        free the old.

        All ranks are here, so none is in a kernel on the old one once its device is
        done. A captured graph would still write to it, and a rank with one keeps it for
        all.
        """
        users = sorted(
            (user for user in before.users if share.workspace.fits(user.request)),
            key=lambda u: u.number,
        )
        captured = any(user.calls["captured"] for user in before.users)
        if any(ballot["captured"] for ballot in meeting.vote({"captured": captured})):
            return
        machine.wait()
        meeting.vote({})  # the last of them is done
        for user in users:
            share.users.add(user)
            user.use(share)
            before.leave(self.adapter, user)
        before.free_unused(self.adapter)

    def use(self, share: Share) -> None:
        """Launch on another workspace from now on."""
        assert self._kernels is not None
        self._kernels.share = share

    def checkpoint_prepare(self) -> bool:
        """Give the memory of the workspace back until `checkpoint_restore`.

        Every rank does it, and none calls the op.

        False where the release or the workspace cannot, and it stays where it is. Doing
        it again does nothing, also by another op that shares the workspace.
        """
        return self._checkpoint("prepare")

    def checkpoint_restore(self) -> bool:
        """Get the memory of the workspace back, at the same addresses.

        Every rank does it.
        """
        return self._checkpoint("restore")

    def _checkpoint(self, step: str) -> bool:
        kernels = self._kernels
        if kernels is None:
            return False
        share, done = kernels.share, [False]
        meeting = Meeting(self.group, self.timeout)
        meeting.attempt()
        if share.detached == (step == "prepare"):
            return True

        def do() -> None:
            done[0] = share.workspace.checkpoint(step, meeting)

        failed = self._step(meeting, f"to {step} for a checkpoint", do)
        said = [] if failed else meeting.vote({"done": done[0]})
        meeting.end()
        if failed or any(ballot["done"] != done[0] for ballot in said):
            share.detached = True  # whatever state it is in, nothing is launched on it
            raise FusedUnavailable(
                "; ".join(failed) or f"some ranks could not {step} for a checkpoint"
            )
        if done[0]:
            share.detached = step == "prepare"
        return done[0]

    def _step(self, meeting: Meeting, what: str, do: Callable[[], None]) -> list[str]:
        """Do something that every rank does, and hear from all how it went."""
        failure, own, stuck = None, True, False
        try:
            do()
        except Exception as error:  # whatever it is, the other ranks must hear of it
            failure, own = (
                f"{what} raised {type(error).__name__}: {error}",
                not _is_of_another(error),
            )
            stuck = isinstance(error, Stuck)
            meeting.give_up()
        ballots = meeting.vote({"objection": failure, "own": own, "stuck": stuck})
        failed = [
            (not b["own"], self.ranks[i], b["objection"])
            for i, b in enumerate(ballots)
            if b["objection"]
        ]
        said = [
            f"rank {rank}: {text}" for _, rank, text in sorted(failed)
        ]  # who failed before who waited for it
        if any(ballot["stuck"] for ballot in ballots):
            self._kernels = (
                None  # freeing memory that a kernel still writes to would make it worse
            )
            raise FusedUnavailable(
                "a kernel does not end, and its device is of no use any more: "
                f"{'; '.join(said)}"
            )
        return said

    def _shared(self) -> dict[str, dict[str, Any]]:
        """The workspaces that there are for such a request, by backend.

        What for, and whether it fits.
        """
        found = {
            backend: held(self.adapter, self._share_key(backend))
            for backend in self.request.order
        }
        return {
            backend: {
                "made_for": asdict(share.workspace.made_for),
                "fits": not share.detached and share.workspace.fits(self.request),
            }
            for backend, share in found.items()
            if share is not None and self.request.share
        }

    def _share_key(self, backend: str) -> tuple[Any, ...]:
        """What a workspace must have in common with what it is used for, beside its
        size.
        """
        return (
            self.ranks,
            backend,
            self.adapter.installed.described,
            self.request.dtype == "float32",
            self._compiled_in() if backend == CUTEDSL else None,
        )

    def _compiled_in(self) -> str:
        """All that a workspace is compiled for, but how many tokens it takes."""
        values = compiled_values(self.request)
        patterns = compiled_patterns(self.request)
        return json.dumps([self.request.hidden_dim, patterns, values], sort_keys=True)

    def _latch(self, backend: str) -> tuple[Any, ...]:
        """All that decides whether making a workspace can work."""
        request = json.dumps(asdict(self.request), sort_keys=True)
        return (self.ranks, backend, self.adapter.installed.described, request)

    @classmethod
    def forget_failures(cls) -> None:
        """Try again what failed before: for a process that has freed memory, say.

        Every rank should do it.
        """
        cls.latched.clear()

    def _conclude(self) -> None:
        """Say what was decided, once for the group, and raise what every rank is to
        raise.
        """
        decision = self.decision
        first = self.rank == 0
        if decision.error or decision.unmet:
            self.closed = True
            if first:
                logger.warning("%s", decision.error or decision.unmet)
            if decision.error:
                raise ValueError(decision.error)
            raise FusedUnavailable(str(decision.unmet))
        fault = (
            known_fault(self.adapter, self.terms.backend)
            if self.terms is not None
            else None
        )
        if fault is not None and first:
            logger.warning(
                "%s was asked for: in %s %s",
                decision.backends[0],
                self.adapter.installed.described,
                fault,
            )
        level = (
            logging.INFO
            if decision.fused or self.mode == OFF or self.world_size == 1
            else logging.WARNING
        )
        logger.log(
            level if first else logging.DEBUG,
            "allreduce of %d ranks takes the %s path: %s",
            self.world_size,
            f"fused ({decision.backends[0]})" if decision.fused else "reference",
            "; ".join(decision.objections or decision.passed_over) or decision.reason,
        )

    def _release(self) -> None:
        kernels, self._kernels = self._kernels, None
        if kernels is not None:
            try:
                kernels.share.leave(self.adapter, self)
            except Exception:
                # The group may be gone; what is left is freed with the process
                logger.exception("freeing the workspace failed")


def _world_size() -> int:
    import torch.distributed as dist

    return int(dist.get_world_size())


def _is_of_another(error: BaseException | None) -> bool:
    """Whether a failure, or what it came from, is that another rank gave up or was not
    heard.
    """
    while error is not None and not isinstance(error, VoteFailed):
        error = error.__cause__ or error.__context__
    return error is not None
