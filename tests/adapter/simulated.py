"""Builds of FlashInfer that run on the CPU: any release's signatures, with kernels made of gloo collectives.

A build is put into ``sys.modules`` as a package would be. It does what the real one does as far as ranks can notice:
its workspace meets over `comm_backend` or `group` as that release does, its kernel hangs or pairs the wrong ranks when
they were not the same on all, and it refuses what that release refuses.
"""

from __future__ import annotations

import inspect
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import ParameterKind, Ref
from driftwatch.targets.flashinfer_comm.quantised import BLOCKS, DYNAMIC_FP8, FP8, GROUP_FP8, MXFP8, NVFP4, quantize
from driftwatch.targets.flashinfer_comm.quantised import PATTERNS as KINDS_OF_PATTERNS

KINDS = {
    ParameterKind.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
    ParameterKind.POSITIONAL_OR_KEYWORD: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ParameterKind.VAR_POSITIONAL: inspect.Parameter.VAR_POSITIONAL,
    ParameterKind.KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
    ParameterKind.VAR_KEYWORD: inspect.Parameter.VAR_KEYWORD,
}
DEFAULTS = {"None": None, "True": True, "False": False, "1e-06": 1e-6, "1e-6": 1e-6, "0.0": 0.0}


class TorchDistBackend:
    """As in the library, its broadcast within a group included: the root goes out as a global rank."""

    def __init__(self, group: Any = None) -> None:
        import torch.distributed as dist

        self._group, self._dist = group, dist

    def Get_rank(self) -> int:  # noqa: N802 - the library's name
        return self._dist.get_rank(self._group)

    def Get_size(self) -> int:  # noqa: N802 - as above
        return self._dist.get_world_size(self._group)

    def allgather(self, data: Any) -> list[Any]:
        out = [None] * self.Get_size()
        self._dist.all_gather_object(out, data, group=self._group)
        return out

    def bcast(self, data: Any, root: int) -> Any:
        box = [data]
        self._dist.broadcast_object_list(box, src=root, group=self._group)
        return box[0]

    def barrier(self) -> None:
        self._dist.barrier(group=self._group)


PATTERNS = (
    (("kAllReduce", "kARResidualRMSNorm"), ">=0.2.7.post1"),
    (tuple(name for kind in (FP8, NVFP4) for name in KINDS_OF_PATTERNS[kind][:1]), ">=0.2.7.post1"),
    (tuple(name for kind in (FP8, NVFP4) for name in KINDS_OF_PATTERNS[kind][1:]), ">=0.2.7.post1"),
    (("kMoEReductionARResidualRMSNorm", "kMoEFinalizeARResidualRMSNorm"), ">=0.6.8"),
    (KINDS_OF_PATTERNS[GROUP_FP8], ">=0.6.11"),
    (KINDS_OF_PATTERNS[DYNAMIC_FP8], ">=0.6.15"),
    (("kMoEFinalizeARResidualRMSNormFP8Quant",), ">=0.7.2.post1"),
    (KINDS_OF_PATTERNS[MXFP8], ">=0.7.4"),
)
"""The fusion patterns in the order of their numbers, and since when."""
NUMBERS = {name: number for number, name in enumerate(name for names, _ in PATTERNS for name in names)}


class SFLayout:
    SWIZZLED_128x4 = 0
    SWIZZLED_8x4 = 1
    LINEAR = 2


FAILURES: dict[str, type[BaseException]] = {
    "early": RuntimeError,
    "late": RuntimeError,
    "interrupt": KeyboardInterrupt,
    "exit": SystemExit,
}
"""What making a workspace raises, by the name of the trouble."""


ONE_SHOT_THRESHOLD = 1 << 12


class Workspace:
    """What creation returns; `alive` counts those not yet destroyed."""

    alive = 0

    def __init__(self, group: Any, size: int, limit: int, hidden: int, dtype: Any, backend: str = "trtllm") -> None:
        self.group, self.size, self.limit, self.hidden, self.dtype = group, size, limit, hidden, dtype
        self.mc_ptr, self.backend = 1, backend
        self.attached = True
        item = 4 if str(dtype) == "torch.float32" else 2
        self.buffer_size_bytes = max(2 * (limit + size) * hidden * item, ONE_SHOT_THRESHOLD)
        Workspace.alive += 1
        self.destroyed = False

    def destroy(self) -> None:
        if not self.destroyed:
            self.destroyed = True
            Workspace.alive -= 1


class Detachable(Workspace):
    """One whose memory can be given back, from 0.6.15 on."""

    def checkpoint_prepare(self) -> None:
        self.attached = False

    def checkpoint_restore(self, comm_backend: Any) -> None:
        everyone = comm_backend.allgather(comm_backend.Get_rank())
        assert everyone == list(range(self.size)), everyone
        self.attached = True


class Build:
    """One release's functions, with the way it meets."""

    def __init__(
        self, history: History, release: str, fail_creation: str | None = None, lacks: tuple[str, ...] = ()
    ) -> None:
        """`lacks` are parameters, written `function.parameter`, that the release has and this build does not take."""
        self.release = release
        self.fail_creation = fail_creation
        self.calls: list[dict[str, Any]] = []
        at = history.timeline.set_of([release])
        there = [names for names, since in PATTERNS if not at.isdisjoint(history.timeline.matching(since))]
        self.patterns = type("AllReduceFusionPattern", (), {name: NUMBERS[name] for names in there for name in names})
        late = not at.isdisjoint(history.timeline.matching(">=0.6.15"))
        rendezvous = not at.isdisjoint(history.timeline.matching(">=0.6.10,<0.6.15"))
        self.meets_on = "group" if rendezvous else "comm_backend"
        self.falls_to_group = late
        bodies: dict[str, Callable[[dict[str, Any]], Any]] = {
            "allreduce_fusion": self._unified,
            "create_allreduce_fusion_workspace": self._create,
            "trtllm_allreduce_fusion": self._pair,
            "trtllm_create_ipc_workspace_for_all_reduce_fusion": self._create_pair,
            "trtllm_destroy_ipc_workspace_for_all_reduce_fusion": lambda a: a["workspace"].destroy(),
        }
        self.functions: dict[str, Callable[..., Any]] = {}
        for name, body in bodies.items():
            for epoch in history.of(Ref("flashinfer.comm", name)):
                if not epoch.releases.isdisjoint(at) and epoch.symbol.signature is not None:
                    taken = [p for p in epoch.symbol.signature.parameters if f"{name}.{p.name}" not in lacks]
                    self.functions[name] = _function(name, taken, body)

    def install(self) -> None:
        names = ("flashinfer", "flashinfer.comm", "flashinfer.comm.mnnvl", "flashinfer.comm.trtllm_mnnvl_ar")
        top, comm, mnnvl, mnnvl_ar = (types.ModuleType(name) for name in names)
        top.__version__, top.comm, top.__path__ = self.release, comm, []  # type: ignore[attr-defined]
        comm.mnnvl, comm.__path__ = mnnvl, []  # type: ignore[attr-defined]
        comm.AllReduceFusionPattern = self.patterns  # type: ignore[attr-defined]
        comm.QuantizationSFLayout = SFLayout  # type: ignore[attr-defined]
        mnnvl.TorchDistBackend = TorchDistBackend  # type: ignore[attr-defined]
        for name, function in self.functions.items():
            setattr(comm, name, function)
        mnnvl_ar.get_trtllm_mnnvl_comm_module = self._compile  # type: ignore[attr-defined]
        mnnvl_ar.MNNVL_ONE_SHOT_THRESHOLD = ONE_SHOT_THRESHOLD  # type: ignore[attr-defined]
        sys.modules.update(zip(names, (top, comm, mnnvl, mnnvl_ar), strict=True))

    # -- what it does --------------------------------------------------------------------------------------------

    def _compile(self) -> None:
        if self.fail_creation == "compile":
            raise RuntimeError("ninja exited with status 1")

    def _create(self, a: dict[str, Any]) -> Workspace:
        import torch.distributed as dist

        everyone: list[Any]
        random.random()
        if self.fail_creation in FAILURES and self.fail_creation != "late":
            raise FAILURES[self.fail_creation]("out of handles")
        backend = a["comm_backend"]
        if self.meets_on == "comm_backend" and backend is not None:
            group = backend._group
            everyone = list(backend.allgather((a["rank"], a["world_size"])))
        else:
            group = a.get("group") if self.meets_on == "group" or self.falls_to_group else None
            if self.meets_on == "group" and a["backend"] == "mnnvl":
                group = backend._group  # of whatever group a TorchDistBackend is, no argument says otherwise
            everyone = [None] * dist.get_world_size(group)
            dist.all_gather_object(everyone, (a["rank"], a["world_size"]), group=group)
        assert everyone == [(i, a["world_size"]) for i in range(a["world_size"])], f"met the wrong ranks: {everyone}"
        if backend is not None:
            assert backend.bcast(a["rank"], root=0) == 0
            if self.fail_creation == "late":
                raise RuntimeError("the driver gave up")
            backend.barrier()
        kind = Detachable if self.falls_to_group else Workspace
        return kind(group, a["world_size"], a["max_token_num"], a["hidden_dim"], a["dtype"], a["backend"])

    def _create_pair(self, a: dict[str, Any]) -> tuple[Any, Any]:
        import torch
        import torch.distributed as dist

        if self.fail_creation:
            raise FAILURES.get(self.fail_creation, RuntimeError)("out of handles")
        assert not a.get("create_metadata") and not a.get("use_symm_dev_mem")
        everyone: list[Any] = [None] * dist.get_world_size(a["group"])
        dist.all_gather_object(everyone, a["tp_rank"], group=a["group"])
        assert everyone == list(range(a["tp_size"]))
        dtype = torch.float32 if a["use_fp32_lamport"] else None
        workspace = Workspace(a["group"], a["tp_size"], a["max_token_num"], a["hidden_dim"], dtype)
        return workspace, workspace

    def _unified(self, a: dict[str, Any]) -> Any:
        x, workspace = a["input"], a["workspace"]
        assert not workspace.destroyed
        assert workspace.attached
        self.calls.append(dict(a))
        assert x.is_contiguous()
        item = x.element_size()
        assert (item == 4) == (str(workspace.dtype) == "torch.float32")
        if workspace.backend == "mnnvl":
            rounded = -(-x.shape[0] // workspace.size) * workspace.size
            assert 2 * rounded * x.shape[1] * item <= workspace.buffer_size_bytes
        else:
            assert x.numel() <= workspace.limit * workspace.hidden
        if a["use_oneshot"] is False:
            assert x.shape[0] > workspace.size, "sequence length should be larger than tp_size"
        summed = _sum(x, workspace.group)
        if a["pattern"] == NUMBERS["kAllReduce"]:
            a["output"].copy_(summed)
            return a["output"]
        self._norm_and_more({**a, "norm": x.new_empty(x.shape), "number": a["pattern"]}, summed)
        return a["norm_out"]

    def _norm_and_more(self, a: dict[str, Any], summed: Any) -> None:
        bias = a.get("weight_bias") or 0.0
        _norm(summed, a["residual_in"], a["rms_gamma"], a["rms_eps"], bias, a["norm"], a["residual_out"])
        name = next(name for name, number in NUMBERS.items() if number == a["number"])
        if a["norm_out"] is not None:
            a["norm_out"].copy_(a["norm"])
        if name != "kARResidualRMSNorm":
            assert hasattr(self.patterns, name), f"{self.release} has no {name}"
            assert (a["norm_out"] is not None) == ("NormOut" in name)
            self._quantise(a, name, a["norm"])

    def _quantise(self, a: dict[str, Any], name: str, norm: Any) -> None:
        """Write what the pattern writes to where it was told to, and to nowhere else."""
        import torch

        kind = next(kind for kind, names in KINDS_OF_PATTERNS.items() if name in names)
        layout = {0: "128x4", 2: "linear"}[a["layout_code"]] if kind in BLOCKS else "linear"
        group_size = a.get("block_quant_group_size") or 0
        quant, scales = quantize(_plain(norm), kind, _plain(a["scale_factor"]), layout, group_size)
        assert a["quant_out"].is_contiguous()
        assert a["quant_out"].dtype == (torch.uint8 if kind == NVFP4 else torch.float8_e4m3fn)
        a["quant_out"].copy_(quant)
        if kind == FP8:
            assert a["scale_out"] is None
            return
        wanted = {NVFP4: torch.float8_e4m3fn, MXFP8: torch.uint8, DYNAMIC_FP8: torch.float32, GROUP_FP8: torch.int32}
        assert a["scale_out"].dtype == wanted[kind]
        assert a["scale_out"].shape == scales.shape
        assert a["scale_out"].stride() == scales.stride()
        a["scale_out"].copy_(scales.view(torch.float8_e4m3fn) if kind == NVFP4 else scales)

    def _pair(self, a: dict[str, Any]) -> None:
        x, workspace = a["allreduce_in"], a["workspace_ptrs"]
        self.calls.append(dict(a))
        assert not workspace.destroyed
        assert x.shape == (a["token_num"], a["hidden_dim"])
        assert x.shape[0] <= workspace.limit
        assert x.shape[1] == workspace.hidden
        if self.release in ("0.2.7.post1", "0.2.8"):
            assert isinstance(a["use_oneshot"], bool)
        if a["use_oneshot"] is False:
            assert x.shape[0] > workspace.size
        summed = _sum(x, workspace.group)
        if a["pattern_code"] == NUMBERS["kAllReduce"]:
            a["allreduce_out"].copy_(summed)
        else:
            self._norm_and_more({**a, "norm": x.new_empty(x.shape), "number": a["pattern_code"]}, summed)


def _plain(x: Any) -> Any:
    """A tensor on the CPU, also of one that says it is elsewhere."""
    return vars(x).get("inner", x) if x is not None else None  # every tensor has a method of that name


def _sum(x: Any, group: Any) -> Any:
    import torch.distributed as dist

    out = x.float().clone()
    dist.all_reduce(out, group=group)
    return out


def _norm(summed: Any, residual: Any, weight: Any, eps: float, bias: float, norm_out: Any, residual_out: Any) -> None:
    import torch

    total = summed + residual.float()
    residual_out.copy_(total)
    scale = torch.rsqrt(total.square().mean(-1, keepdim=True) + eps)
    norm_out.copy_(total * scale * (weight.float() + bias))


def _function(name: str, parameters: Any, body: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    signature = inspect.Signature(
        [
            inspect.Parameter(
                p.name,
                KINDS[p.kind],
                default=inspect.Parameter.empty if p.default is None else DEFAULTS.get(p.default, p.default),
            )
            for p in parameters
        ]
    )

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return body(bound.arguments)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def uninstall() -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "flashinfer"]:
        del sys.modules[name]


class RaisingFinder:
    """Makes ``import flashinfer`` raise an exception of any kind."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "flashinfer":
            raise self.error
