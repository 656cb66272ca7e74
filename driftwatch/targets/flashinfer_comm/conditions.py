"""Tests of argument values that no list of values can say; the policy names them.

Enters: the value, and the other arguments a rule asked for. Leaves: whether the rule
holds. A test that cannot be answered may raise: the caller takes that for no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftwatch.adapter.rules import Condition


def group_ranks(group: Any) -> tuple[int, ...]:
    """The global ranks of a process group, in its order; None is WORLD."""
    import torch.distributed as dist

    return tuple(
        dist.get_process_group_ranks(dist.group.WORLD if group is None else group)
    )


def group_is_world(value: Any, others: Mapping[str, Any]) -> bool:
    """The group has the ranks of WORLD in their order, and a communication backend, if
    there is one, likewise.
    """
    world = group_ranks(None)
    backend = others.get("comm_backend")
    return group_ranks(value) == world and (
        backend is None or _bound_ranks(backend) == world
    )


def bound_to_group(value: Any, others: Mapping[str, Any]) -> bool:
    """The communication backend beside it has the same ranks in the same order."""
    backend = others.get("comm_backend")
    return backend is not None and _bound_ranks(backend) == group_ranks(value)


def bound_to_group_on_own_device(value: Any, others: Mapping[str, Any]) -> bool:
    """As `bound_to_group`, and this process runs on the device that has its rank for an
    index.
    """
    import torch

    return bound_to_group(value, others) and torch.cuda.current_device() == others.get(
        "rank"
    )


def bound_to_group_from_first(value: Any, others: Mapping[str, Any]) -> bool:
    """As `bound_to_group`, and the group's first rank is that of WORLD, or the backend
    is not the library's own.
    """
    backend = others.get("comm_backend")
    own = type(backend).__module__.partition(".")[0] == "flashinfer"
    return bound_to_group(value, others) and not (own and group_ranks(value)[0])


def is_for_mnnvl(value: Any, others: Mapping[str, Any]) -> bool:
    """A value that says something, beside a workspace of mnnvl."""
    return value is not None and others["workspace"].backend == "mnnvl"


def is_of_another_dtype(value: Any, others: Mapping[str, Any]) -> bool:
    """A weight beside an input, `input` or `allreduce_in`, whose dtype it does not
    have.
    """
    x = others["input"] if "input" in others else others["allreduce_in"]
    return bool(value.dtype != x.dtype)


def is_tensor(value: Any, others: Mapping[str, Any]) -> bool:
    """Whether it is a tensor."""
    return hasattr(value, "data_ptr")


def _bound_ranks(backend: Any) -> tuple[int, ...]:
    """The ranks a TorchDistBackend is bound to.

    Any other kind raises AttributeError, which means: not known.
    """
    return group_ranks(backend._group)


CONDITIONS: dict[str, Condition] = {
    "bound_to_group": bound_to_group,
    "bound_to_group_from_first": bound_to_group_from_first,
    "bound_to_group_on_own_device": bound_to_group_on_own_device,
    "group_is_world": group_is_world,
    "is_for_mnnvl": is_for_mnnvl,
    "is_of_another_dtype": is_of_another_dtype,
    "is_tensor": is_tensor,
}
