"""What all ranks of a group agree on, and every rule that is read from it afterwards.

Enters: the ballots of all ranks. Leaves: one `Decision`, and for a backend the `Terms`
that every rank voted for. All functions here are pure: they read the ballots, the terms
and the call, and nothing of this rank's own. So every rank comes to the same end, at
the decision and at each call after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftwatch.targets.flashinfer_comm.patterns import BLOCKS, NORM_PATTERN

AUTO, REQUIRE, OFF = "auto", "require", "off"
MODES = (AUTO, REQUIRE, OFF)
TRTLLM, MNNVL, CUTEDSL = "trtllm", "mnnvl", "mnnvl-cutedsl"
BACKENDS = (TRTLLM, MNNVL, CUTEDSL)
FALLBACK_ORDER = (MNNVL, TRTLLM)
"""The order in which "auto" tries backends; after them comes the reference."""
UNIFIED, PAIR = "unified", "pair"
RUN, PAIR_RUN = "allreduce_fusion", "trtllm_allreduce_fusion"


@dataclass(frozen=True)
class Request:
    """What is asked of the fused allreduce.

    Every rank of a group must ask for the same. `backend` is AUTO, or names in the
    order in which they are to be tried, with commas between them. `patterns` are those
    that it is made for; the four after it are what calls of them will say, which one
    backend compiles in.
    """

    hidden_dim: int
    dtype: str
    max_token_num: int
    backend: str
    launch_with_pdl: bool
    fp32_acc: bool
    max_bytes: int | None = None
    required_tokens: int | None = None
    fallback: str = ""
    share: bool = True
    patterns: tuple[str, ...] = ()
    top_k: int | None = None
    rms_eps: float = 1e-6
    weight_bias: float = 0.0
    include_shared_expert: bool = True

    @property
    def order(self) -> tuple[str, ...]:
        """The backends to try, in order."""
        return (
            FALLBACK_ORDER if self.backend == AUTO else tuple(self.backend.split(","))
        )

    @property
    def item_size(self) -> int:
        return 4 if self.dtype == "float32" else 2

    @property
    def row_bytes(self) -> int:
        return self.hidden_dim * self.item_size


@dataclass(frozen=True)
class Terms:
    """How one backend is used.

    All that a call's path and its arguments depend on, beside the call itself.

    `takes` are the parameters of the functions that are called, `patterns` the fusion
    patterns of the build with their numbers, `serves` those that the backend runs here,
    `layouts` the numbers of the layouts of scales. `oneshot_tokens` is up to where the
    oldest releases want one shot; `max_bytes` the largest message to fuse. `moe_rows`
    and `moe_tokens` are how many rows of experts and tokens a MoE finalize may have.
    `compiled` is what calls must say since it is compiled in, by the name of the
    argument; empty where nothing is.
    """

    backend: str
    kind: str
    build: str
    device_is: str
    takes: Mapping[str, Sequence[str]]
    patterns: Mapping[str, int]
    oneshot_tokens: int | None
    max_bytes: int | None
    serves: Sequence[str] = ()
    layouts: Mapping[str, int] = field(default_factory=dict)
    moe_rows: int | None = None
    moe_tokens: int | None = None
    compiled: Mapping[str, Any] = field(default_factory=dict)

    def has(self, parameter: str) -> bool:
        """Whether the function that runs the kernels takes a parameter."""
        return parameter in self.takes[RUN if self.kind == UNIFIED else PAIR_RUN]


def most_tokens(request: Request, terms: Terms | None) -> int:
    """Up to how many tokens a call goes to the kernels; 0 where there are none."""
    if terms is None:
        return 0
    if terms.max_bytes is None:
        return request.max_token_num
    return min(request.max_token_num, terms.max_bytes // request.row_bytes)


def why_not(
    request: Request,
    terms: Terms,
    tokens: int,
    weight_bias: float,
    eps: float | None = None,
    pattern: str = NORM_PATTERN,
) -> str | None:
    """Why a call cannot, or should not, go to the kernels; None when it goes there.

    `eps` None is what was asked for.
    """
    if pattern not in terms.serves:
        return f"no {pattern} from {terms.backend} of {terms.build} here"
    if tokens > request.max_token_num:
        return f"more than {request.max_token_num} tokens"
    if terms.max_bytes is not None and tokens * request.row_bytes > terms.max_bytes:
        return (
            f"more than {terms.max_bytes} bytes, beyond which fusing does not pay on "
            "this machine"
        )
    if weight_bias and not terms.has("weight_bias"):
        return "this release has no weight_bias"
    said = {"weight_bias": weight_bias, "rms_eps": eps}
    for name, value in said.items():
        if value is not None and terms.compiled.get(name, value) != value:
            return _compiled_otherwise(terms, name, value)
    return None


def why_not_quantised(terms: Terms, pattern: str, kind: str, layout: str) -> str | None:
    """Why a quantised output cannot come from the kernels, beside `why_not`."""
    if pattern not in terms.serves:
        return f"no {kind} output from {terms.backend} of {terms.build} here"
    if kind in BLOCKS and layout not in terms.layouts:
        return f"no kernel writes scales in the layout {layout}"
    return None


def why_not_moe(
    terms: Terms, tokens: int, rows: int, top_k: int, *, shared: bool
) -> str | None:
    """Why a MoE finalize cannot come from the kernels, beside `why_not`.

    `rows` are those of the experts' output, which are as many on every rank.
    """
    if terms.moe_rows is not None and rows > terms.moe_rows:
        return (
            f"more than {terms.moe_rows} rows of experts, which {terms.build} refuses"
        )
    if terms.moe_tokens is not None and tokens > terms.moe_tokens:
        return f"more than {terms.moe_tokens} tokens in one shot, and there are no two"
    said = {"top_k": top_k, "include_shared_expert": shared}
    for name, value in said.items():
        if terms.compiled.get(name, value) != value:
            return _compiled_otherwise(terms, name, value)
    return None


def _compiled_otherwise(terms: Terms, name: str, value: Any) -> str:
    return f"compiled for {name}={terms.compiled[name]}, and the call has {value}"


def oneshot(terms: Terms, size: int, tokens: int, asked: bool | None) -> bool | None:
    """What to pass as use_oneshot.

    What was asked, but where the backend could not do it.
    """
    if terms.backend != TRTLLM:
        return None  # its workspace is sized for the strategy that it chooses itself
    if tokens <= size:
        return True  # two shots need more tokens than ranks, which the kernels assert
    if asked is None and terms.oneshot_tokens is not None:
        return tokens <= terms.oneshot_tokens
    return asked


@dataclass(frozen=True)
class Decision:
    """What the ballots say.

    `error` is for all ranks to raise, `unmet` when one required what cannot be.

    `backends` can be used by every rank, in the order in which they are to be tried;
    `passed_over` says why others cannot. `required` says that any rank requires the
    fused path: then a call that cannot be fused raises on every rank.
    """

    fused: bool
    reason: str
    objections: tuple[str, ...] = ()
    error: str | None = None
    unmet: str | None = None
    required: bool = False
    backends: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    gpus_per_node: int | None = None


def decide(ballots: Sequence[Mapping[str, Any]], ranks: Sequence[int]) -> Decision:
    """One decision from the ballots of all ranks.

    A backend that every one can use, for the same request.
    """
    faults = [
        f"rank {ranks[i]}: {b['fault']}" for i, b in enumerate(ballots) if b["fault"]
    ]
    for i, ballot in enumerate(ballots):
        if not faults and ballot["request"] != ballots[0]["request"]:
            faults.append(
                f"rank {ranks[i]} asks for {ballot['request']}, rank {ranks[0]} "
                f"for {ballots[0]['request']}"
            )
    if faults:
        return Decision(
            fused=False,
            reason=faults[0],
            objections=tuple(faults),
            error="; ".join(faults),
        )
    required = [
        ranks[i] for i, ballot in enumerate(ballots) if ballot["mode"] == REQUIRE
    ]
    general = [
        f"rank {ranks[i]}: {b['objection']}"
        for i, b in enumerate(ballots)
        if b["objection"]
    ]
    usable: list[str] = []
    against: list[str] = []
    order = Request(**ballots[0]["request"]).order
    for backend in order if not general else ():
        if any(backend in ballot["backends"] for ballot in ballots):
            found = _against(backend, ballots, ranks)
            against += found
            if not found:
                usable.append(backend)
    if not usable:
        return unusable(
            general or list(dict.fromkeys(against)) or ["there is no backend to try"],
            required,
        )
    return Decision(
        fused=True,
        reason="every rank can",
        required=bool(required),
        backends=tuple(usable),
        passed_over=tuple(dict.fromkeys(against)),
        gpus_per_node=_gpus_per_node(ballots),
    )


def unusable(objections: Sequence[str], required: Sequence[int]) -> Decision:
    """The decision for the reference path, which is an error where a rank requires the
    other.
    """
    unmet = None
    if required:
        unmet = (
            f"rank {listed(required)} requires the fused allreduce, and it cannot "
            f"run: {'; '.join(objections)}"
        )
    return Decision(
        False, objections[0], tuple(objections), unmet=unmet, required=bool(required)
    )


def _against(
    backend: str, ballots: Sequence[Mapping[str, Any]], ranks: Sequence[int]
) -> list[str]:
    """What speaks against a backend.

    Each rank's own objection, or that the ranks differ.
    """
    offers = [
        ballot["backends"].get(backend)
        or {"objection": "it does not offer the backend"}
        for ballot in ballots
    ]
    found = [
        f"rank {ranks[i]}: {offer['objection']}"
        for i, offer in enumerate(offers)
        if offer["objection"]
    ]
    if found:
        return found
    first = offers[0]["terms"]
    for i, offer in enumerate(offers):
        if offer["terms"] != first:
            return [_difference(offer["terms"], first, ranks[i], ranks[0])]
    return _places(backend, first, ballots, ranks)


def _difference(
    terms: Mapping[str, Any], first: Mapping[str, Any], rank: int, first_rank: int
) -> str:
    """Where the terms of two ranks differ, in words."""
    key = next(key for key in first if terms.get(key) != first[key])
    mine, others = terms.get(key), first[key]
    if isinstance(mine, Mapping) and isinstance(others, Mapping):
        key = next(
            name for name in {**others, **mine} if mine.get(name) != others.get(name)
        )
        mine, others = mine.get(key), others.get(key)
    if key == "build":
        return f"rank {rank} has {mine}, rank {first_rank} has {others}"
    if isinstance(mine, list) and isinstance(others, list):
        only = min(set(mine) ^ set(others))
        has, lacks = (rank, first_rank) if only in mine else (first_rank, rank)
        return f"{key} takes {only} on rank {has}, and not on rank {lacks}"
    return f"rank {rank} has {key} {mine}, rank {first_rank} has {others}"


def _places(
    backend: str,
    terms: Mapping[str, Any],
    ballots: Sequence[Mapping[str, Any]],
    ranks: Sequence[int],
) -> list[str]:
    """What speaks against a backend in where the ranks run.

    Devices, nodes and NVLink domains.
    """
    seen: dict[str, int] = {}
    for i, ballot in enumerate(ballots):
        gpu, other = ballot["gpu"], seen.setdefault(ballot["gpu"], i)
        if gpu and other != i:
            return [f"rank {ranks[i]} runs on the same device as rank {ranks[other]}"]
    nodes = [ballot["node"] for ballot in ballots]
    apart = next((i for i, node in enumerate(nodes) if node != nodes[0]), None)
    if apart is not None and backend == TRTLLM:
        return [
            (
                f"rank {ranks[apart]} is on {nodes[apart]}, rank {ranks[0]} is on "
                f"{nodes[0]}"
            )
        ]
    if apart is not None:
        for i, ballot in enumerate(ballots):
            if not ballot["clique"]:
                return [
                    (
                        f"rank {ranks[i]} is on another node than others, and in no "
                        "NVLink domain that is known"
                    )
                ]
            if ballot["clique"] != ballots[0]["clique"]:
                return [
                    f"rank {ranks[i]} is in another NVLink domain than rank {ranks[0]}"
                ]
    if terms["device_is"] == "local rank":
        per_node = _gpus_per_node(ballots)
        for i, ballot in enumerate(ballots):
            if ballot["device"] != i % per_node:
                wanted = (
                    f"this release allocates on device {i % per_node}, the rank's "
                    "number on its node"
                )
                return [
                    f"rank {ranks[i]}: {wanted}, and runs on device {ballot['device']}"
                ]
    return []


def _gpus_per_node(ballots: Sequence[Mapping[str, Any]]) -> int:
    """How many of the ranks share a node: the most on any."""
    nodes = [ballot["node"] for ballot in ballots]
    return max(nodes.count(node) for node in nodes)


REUSE, GROW, NEW = "reuse", "grow", "new"


def sharing(backend: str, ballots: Sequence[Mapping[str, Any]]) -> str:
    """What becomes of the workspace that every rank has for a backend, if they all have
    the same.
    """
    held = [ballot["held"].get(backend) for ballot in ballots]
    if held[0] is None or any(other != held[0] for other in held):
        return NEW
    return REUSE if held[0]["fits"] else GROW


def listed(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)
