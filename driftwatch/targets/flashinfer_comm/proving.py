"""Single proofs that an operation is right on this machine, as the self-test runs them.

Enters: an operation that all ranks have made, a device, and where to put problems.
Leaves: what was tried, as plain data. Every rank runs the same proofs in the same
order. What a proof cannot do here it says; what it finds wrong is a problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from driftwatch.targets.flashinfer_comm.agreement import Request
from driftwatch.targets.flashinfer_comm.deciding import FusedUnavailable
from driftwatch.targets.flashinfer_comm.fused import FusedAllReduce
from driftwatch.targets.flashinfer_comm.patterns import (
    GROUP_FP8,
    LINEAR,
    NVFP4,
    PATTERNS,
    SCALED,
)
from driftwatch.targets.flashinfer_comm.quantised import fault_of, quantize

if TYPE_CHECKING:
    import torch

Say = Callable[[str], None]
"""What takes a problem, in words."""
_EPS = 1e-6


class Proof:
    """One operation with inputs of which every rank knows what is right."""

    def __init__(
        self, op: FusedAllReduce, tokens: int, device: torch.device, say: Say
    ) -> None:
        request = op.request
        self.op, self.tokens, self.device = op, tokens, device
        self.where = f"{tokens} x {request.hidden_dim} {request.dtype}"
        self._say = say
        self.parts, self.residual, self.weight = make_inputs(
            tokens, request.hidden_dim, request.dtype, op.world_size
        )

    def say(self, text: str) -> None:
        self._say(f"{self.where}: {text}")

    def inputs(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """This rank's input, the residual and the weight, on the device."""
        x = self.parts[self.op.rank].to(self.device)
        return x, self.residual.to(self.device), self.weight.to(self.device)

    def holds(
        self, what: str, got: tuple[torch.Tensor, torch.Tensor], bias: float = 0.0
    ) -> None:
        """Hold a norm and a sum against float64, element by element."""
        exact = exact_result(self.parts, self.residual, self.weight, _EPS, bias)
        self._within(what, "norm", got[0], exact[0])
        self._within(what, "residual", got[1], exact[1])

    # -- what is tried -------------------------------------------------------------

    def numbers(self) -> dict[str, Any]:
        """A call, one with a bias, and the sum alone."""
        before = dict(self.op.calls)
        x, residual, weight = self.inputs()
        done: dict[str, Any] = {"tokens": self.tokens, "path": "none"}
        try:
            got = self.op(x, residual, weight, _EPS)
            done["path"] = self._path(before)
            self.holds(f"the {done['path']} path", got)
            self.holds("a call with a bias", self.op(*self._biased()), 1.0)
            self._hold_sum(self.op.allreduce(x))
        except FusedUnavailable as error:
            # Where it is required, what it says it cannot do must not be done.
            if self.op.can_run(x) and self.op.can_run(x, 1.0):
                self.say(f"it said that it could run this: {error}")
            done["refused"] = str(error)
        return done

    def _biased(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float, float]:
        return (*self.inputs(), _EPS, 1.0)

    def _path(self, before: dict[str, int]) -> str:
        paths = ("fused", "reference", "fallback", "empty")
        return " and ".join(p for p in paths if self.op.calls[p] > before[p])

    def _hold_sum(self, got: torch.Tensor) -> None:
        import torch

        exact = sum(part.double() for part in self.parts)
        unit = torch.finfo(self.residual.dtype).eps
        bound = len(self.parts) * unit * sum(part.double().abs() for part in self.parts)
        if not bool(((got.cpu().double() - exact).abs() <= bound).all()):
            self.say("the sum alone is wrong")

    def quantised(self) -> list[dict[str, Any]]:
        """Each kind of output: no value further off than one step of its form."""
        import torch

        tried = []
        hidden = self.op.request.hidden_dim
        for kind in PATTERNS:
            scale = torch.ones(1).to(self.device) if kind in SCALED else None
            if fault_of(kind, LINEAR, 128, hidden, scale) or not self.tokens:
                continue
            before = dict(self.op.calls)
            try:
                made = self.op.quantized(
                    *self.inputs(),
                    _EPS,
                    kind=kind,
                    scale=scale,
                    layout=LINEAR,
                    keep_norm=True,
                )
            except FusedUnavailable as error:
                tried.append({"kind": kind, "refused": str(error)})
                continue
            tried.append({"kind": kind, "path": self._path(before)})
            self.holds(f"{kind} output", (made.norm, made.residual))
            norm, cpu = made.norm.cpu(), None if scale is None else scale.cpu()
            wanted = quantize(norm.view(-1, hidden), kind, cpu, LINEAR, 128)
            got = (made.quant.cpu().view(-1, made.quant.shape[-1]), made.scale.cpu())
            off = _steps_apart(kind, got[0], wanted[0])
            if off > 1:
                self.say(f"{kind} output is {off} steps off")
            if kind != GROUP_FP8 and got[1].shape != wanted[1].shape:
                self.say(f"{kind} output has scales of another form")
        return tried

    def moe(self, top_k: int) -> list[dict[str, Any]]:
        """A MoE finalize, without a shared expert, with one, and quantised."""
        import torch

        tried: list[dict[str, Any]] = []
        made = make_experts(self.tokens, self.op.request, self.op.world_size, top_k)
        own = [each.to(self.device) for each in made[self.op.rank]]
        residual, weight = self.inputs()[1:]
        for what, shared, quantised in (
            ("a MoE finalize", False, False),
            ("one with a shared expert", True, False),
            ("a quantised one", True, True),
        ):
            before = dict(self.op.calls)
            try:
                got = self.op.moe_finalize(
                    own[0],
                    own[1],
                    own[2],
                    residual,
                    weight,
                    _EPS,
                    shared_expert_output=own[3] if shared else None,
                    scale=torch.ones(1).to(self.device) if quantised else None,
                )
            except FusedUnavailable as error:
                tried.append({"what": what, "refused": str(error)})
                continue
            tried.append({"what": what, "path": self._path(before)})
            wanted = [
                exact_experts(e, i, f, s if shared else None) for e, i, f, s in made
            ]
            off = sum((off for _, off in wanted), torch.zeros(()))
            parts = [part for part, _ in wanted]
            exact = exact_result(parts, self.residual, self.weight, _EPS, 0.0, off)
            norm, bound = exact[0]
            if quantised:
                bound = bound + norm.abs() / 8 + 2.0**-9  # a step of its form
                norm = norm.clamp(-448, 448)
            self._within(what, "norm", got[0].to(torch.float32), (norm, bound))
            self._within(what, "residual", got[1], exact[1])
        return tried

    def _within(
        self,
        what: str,
        name: str,
        got: torch.Tensor,
        wanted: tuple[torch.Tensor, torch.Tensor],
    ) -> None:
        excess = (got.detach().cpu().double() - wanted[0]).abs() - wanted[1]
        if not bool((excess <= 0).all()):
            most = f"{float(excess.max()):.3g} too much"
            self.say(f"the {name} of {what} is off by {most}")

    def captured(self) -> str:
        """A call in a CUDA graph, replayed with other inputs than were captured."""
        import torch

        if self.device.type != "cuda":
            return "there are no graphs on this device"
        x, residual, weight = self.inputs()
        buffers = (torch.zeros_like(x), torch.zeros_like(residual))
        for _ in range(2):  # whatever is made on a first call is made before
            self.op(*buffers, weight, _EPS)
        torch.cuda.synchronize(self.device)
        make_graph: Any = torch.cuda.CUDAGraph
        graph = make_graph()
        with torch.cuda.graph(graph):
            got = self.op(*buffers, weight, _EPS)
        for _ in range(3):
            buffers[0].copy_(x)
            buffers[1].copy_(residual)
            graph.replay()
            torch.cuda.synchronize(self.device)
            self.holds("a replayed graph", got)
        return "replayed"

    def compiled(self, backend: str) -> str:
        """A layer under torch.compile(fullgraph=True)."""
        import torch

        x, residual, weight = self.inputs()

        def layer(
            a: torch.Tensor, b: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            normed, summed = self.op(a + 0, b, weight, _EPS)
            return normed + 0, summed

        run: Any = torch.compile(layer, fullgraph=True, backend=backend)
        for _ in range(2):
            self.holds("a compiled layer", run(x, residual))
        return backend

    def chained(self, times: int = 50) -> str:
        """Calls that signal early, each of which reads what the last one wrote.

        Each is launched by programmatic dependent launch, so that it may start before
        the one ahead has ended, and must wait for its data by itself.
        """
        x, residual, weight = self.inputs()
        late = early = (x, residual)
        wrong = 0
        for number in range(times):
            late = self.op(*late, weight, _EPS)
            early = self.op(
                *early, weight, _EPS, trigger_completion_at_end=number % 2 == 1
            )
            # No rank stops here: the others would wait for it.
            same = [bool((a == b).all()) for a, b in zip(late, early, strict=True)]
            wrong += not all(same)
        if wrong:
            self.say(f"{wrong} calls of a chain read what was not written yet")
        return f"{times} calls"

    def speed(self, reference: FusedAllReduce) -> dict[str, Any]:
        """Microseconds of a call of each, in graphs where there are any."""
        given = (*self.inputs(), _EPS)
        graphs = self.device.type == "cuda"
        return {
            "tokens": self.tokens,
            "in_graphs": graphs,
            "microseconds": _time(partial(self.op, *given), self.device, graphs),
            "reference_microseconds": _time(
                partial(reference, *given), self.device, graphs
            ),
        }


def _steps_apart(kind: str, got: torch.Tensor, wanted: torch.Tensor) -> int:
    """How many representable values lie between two quantised tensors, at most."""
    import torch

    if kind == NVFP4:
        codes = [
            torch.stack([each & 15, each >> 4], dim=-1).short()
            for each in (got, wanted)
        ]
        places = [torch.where(c >= 8, 8 - c, c) for c in codes]
    else:
        codes = [each.view(torch.uint8).short() for each in (got, wanted)]
        places = [torch.where(c >= 128, 128 - c, c) for c in codes]
    return int((places[0] - places[1]).abs().max()) if got.numel() else 0


def make_inputs(
    tokens: int, hidden: int, dtype: str, size: int
) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    """The input of every rank, the residual and the weight, on the CPU.

    Each rank makes those of all: so what is right is known without asking the others,
    by whatever path.
    """
    import torch

    kind: torch.dtype = getattr(torch, dtype)
    seed = tokens * 7919 + hidden
    shared = torch.Generator().manual_seed(seed)
    residual = torch.randn(tokens, hidden, generator=shared).to(kind)
    weight = (1 + 0.1 * torch.randn(hidden, generator=shared)).to(kind)
    own = [
        torch.Generator().manual_seed(seed + 104729 * (rank + 1))
        for rank in range(size)
    ]
    return (
        [
            torch.randn(tokens, hidden, generator=generator).to(kind)
            for generator in own
        ],
        residual,
        weight,
    )


def make_experts(
    tokens: int, request: Request, size: int, top_k: int
) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """For every rank its experts' rows, their index, their factors and the shared
    expert's output, on the CPU. Some experts of a token are on no rank of it.
    """
    import torch

    kind: torch.dtype = getattr(torch, request.dtype)
    made = []
    for rank in range(size):
        seed = tokens * 7919 + request.hidden_dim + 104729 * (rank + 1) + top_k
        own = torch.Generator().manual_seed(seed)
        rows = tokens * top_k
        index = torch.randperm(rows, generator=own).view(tokens, top_k)
        index[torch.rand(tokens, top_k, generator=own) < 0.25] = -1
        made.append(
            (
                torch.randn(rows + 3, request.hidden_dim, generator=own).to(kind),
                index.to(torch.int32),
                torch.rand(tokens, top_k, generator=own).to(kind),
                torch.randn(tokens, request.hidden_dim, generator=own).to(kind),
            )
        )
    return made


def exact_experts(
    experts: torch.Tensor,
    index: torch.Tensor,
    factor: torch.Tensor,
    shared: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What a rank has of each token in float64, and how far off any right path may be
    that rounds each product and each sum on the way to the dtype.
    """
    import torch

    chosen = experts.double()[index.clamp(min=0).long()]
    parts = chosen * factor.double().unsqueeze(-1) * (index >= 0).unsqueeze(-1)
    whole, size = parts.sum(dim=1), parts.abs().sum(dim=1)
    if shared is not None:
        whole, size = whole + shared.double(), size + shared.double().abs()
    return whole, (index.shape[1] + 2) * torch.finfo(experts.dtype).eps * size


def exact_result(
    parts: Sequence[torch.Tensor],
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float,
    more: torch.Tensor | float = 0.0,
) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """(norm, bound) and (residual, bound) in float64, on the CPU.

    What any right path must return, and how nearly.

    `parts` are the inputs of all ranks, taken as they are, already rounded, or off by
    `more` in their sum. Each of the
    roundings on the way is at most one unit of the dtype, relative to the magnitudes
    that went in.
    """
    import torch

    unit = torch.finfo(residual.dtype).eps
    tiny = torch.finfo(residual.dtype).tiny
    exact = [part.double() for part in parts]
    whole = residual.double() + sum(exact)
    magnitude = residual.double().abs() + sum(part.abs() for part in exact)
    off = (len(exact) + 1) * unit * magnitude + tiny + more
    factor = weight.double() + weight_bias
    mean = whole.square().mean(dim=-1, keepdim=True) + eps
    drift = (2 * whole.abs() * off + off.square()).mean(dim=-1, keepdim=True) / mean
    scale = torch.rsqrt(mean)
    norm = whole * scale * factor
    # d(s/sqrt(m))/sqrt: the error of the sum itself, and that of the mean, which is at
    # most its relative drift.
    norm_off = (
        (off * scale + (whole.abs() + off) * scale * drift) * factor.abs()
        + 4 * unit * norm.abs()
        + tiny
    )
    return (norm, norm_off), (whole, off)


def _time(
    call: Callable[[], Any], device: torch.device, in_graph: bool, repeat: int = 20
) -> float:
    """Microseconds of a call: of `repeat` in one graph, or one after the other."""
    import torch

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    def all_of_them() -> None:
        for _ in range(repeat):
            call()

    call()
    wait()
    run: Callable[[], Any] = all_of_them
    if in_graph:
        make_graph: Any = torch.cuda.CUDAGraph
        graph = make_graph()
        with torch.cuda.graph(graph):
            all_of_them()
        run = graph.replay
        run()
        wait()
    started = time.perf_counter()
    run()
    wait()
    return round((time.perf_counter() - started) / repeat * 1e6, 1)
