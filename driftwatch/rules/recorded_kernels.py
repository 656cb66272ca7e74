"""The GPUs that calls are known to need, as they are recorded of each release.

Enters: a history. Leaves: the `Kernels` of calls that surely need them, beside those that a target's data has: what the
sources of a release say by themselves is no data of ours.
"""

from __future__ import annotations

from dataclasses import replace

from driftwatch.releases import ReleaseSet
from driftwatch.rules.advisories import Kernels, Knowledge
from driftwatch.snapshot.model.gpu_facts import Said
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref


def with_recorded(knowledge: Knowledge, history: History) -> Knowledge:
    """What is known, and what is recorded of GPUs."""
    return replace(knowledge, kernels=(*recorded_kernels(history), *knowledge.kernels))


def recorded_kernels(history: History) -> tuple[Kernels, ...]:
    """Each list of GPUs with all symbols that it is about in the same releases."""
    found: dict[tuple[tuple[str, ...], str, ReleaseSet], list[Ref]] = {}
    for fact, releases in history.gpu_facts:
        if fact.said in (Said.MAJORS, Said.CAPABILITIES) and not fact.perhaps:
            found.setdefault((fact.values, fact.by, releases), []).append(Ref.parse(fact.symbol))
    return tuple(
        Kernels(id=f"recorded: {by}", symbols=tuple(symbols), releases=releases, compute=values, evidence=(by,))
        for (values, by, releases), symbols in found.items()
    )
