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
from driftwatch.targets.flashinfer_comm.patterns import BLOCKS, DYNAMIC_FP8, FP8, GROUP_FP8, MXFP8, NVFP4
from driftwatch.targets.flashinfer_comm.patterns import PATTERNS as KINDS_OF_PATTERNS
from driftwatch.targets.flashinfer_comm.quantised import quantize

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


COMPILED_PROFILES = ((2, 64, 4), (4, 64, 4), (2, 264, 10), (4, 264, 10))
"""For how many ranks, which rows and how many experts of a token the compiled backend has kernels."""
CUTEDSL_BF16 = ("kARResidualRMSNorm", "kMoEFinalizeARResidualRMSNorm")
CUTEDSL_FP8 = {
    (False, False): (KINDS_OF_PATTERNS[FP8][0], "kMoEFinalizeARResidualRMSNormFP8Quant"),
    (False, True): (KINDS_OF_PATTERNS[FP8][1],),
    (True, False): (KINDS_OF_PATTERNS[DYNAMIC_FP8][0],),
    (True, True): (KINDS_OF_PATTERNS[DYNAMIC_FP8][1],),
}


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
        self.workspace_tensor, self.rank = self, 0

    def destroy(self) -> None:
        if not self.destroyed:
            self.destroyed = True
            Workspace.alive -= 1


class Compiled(Workspace):
    """One whose kernels are compiled for what calls say, and which refuses what says otherwise."""

    def __init__(self, group: Any, a: dict[str, Any]) -> None:
        super().__init__(group, a["world_size"], a["max_token_num"], a["hidden_dim"], a["dtype"], "mnnvl-cutedsl")
        said = {"top_k": 10, "rms_eps": 1e-6, "weight_bias": 0.0, "include_shared_expert": True, "add_residual": True}
        said |= {"apply_rms_norm": True, "output_dtype": None, "dynamic_fp8": False, "write_norm_output": False}
        self.said = {name: default if a[name] is None else a[name] for name, default in said.items()}
        profile = (self.size, self.hidden, self.said["top_k"])
        if profile not in COMPILED_PROFILES:
            raise ValueError("No MNNVL CuTe DSL profile supports this static shape")

    def check(self, a: dict[str, Any], name: str) -> None:
        """What the release refuses, in the order of its own checks."""
        said = self.said
        refused = [n for n in ("layout_code", "use_oneshot", "block_quant_group_size") if a.get(n) is not None]
        refused += ["fp32_acc"] * bool(a["fp32_acc"])
        refused += ["output"] * bool(a["output"] is not None and name != "kAllReduce")
        assert not refused, f"MNNVL CuTe DSL does not support: {refused}"
        if name == "kAllReduce":
            assert not said["apply_rms_norm"]
            assert not said["add_residual"]
            assert all(a[n] is None for n in ("residual_in", "residual_out", "norm_out", "rms_gamma", "scale_factor"))
            return
        assert a["rms_eps"] == said["rms_eps"], "rms_eps does not match the compiled workspace"
        assert a["weight_bias"] == said["weight_bias"], "weight_bias does not match the compiled workspace"
        assert said["apply_rms_norm"]
        assert a["residual_in"] is not None
        if said["output_dtype"] is None:
            assert name in CUTEDSL_BF16
            assert a["quant_out"] is None
            assert a["scale_factor"] is None
            assert a["scale_out"] is None
        else:
            assert name in CUTEDSL_FP8[said["dynamic_fp8"], said["write_norm_output"]]
            assert (a["norm_out"] is not None) == said["write_norm_output"]
        if "MoEFinalize" in name:
            assert (a["shared_expert_output"] is not None) == said["include_shared_expert"]
            assert a["expanded_idx_to_permuted_idx"].shape[1] == said["top_k"]
        for tensor in (value for value in a.values() if hasattr(value, "data_ptr")):
            assert tensor.is_contiguous()
            assert not _plain(tensor).data_ptr() % 4


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
            "trtllm_moe_finalize_allreduce_fusion": self._moe_function,
            "is_mnnvl_cutedsl_supported": _cutedsl_supported,
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
        if a["backend"] == "mnnvl-cutedsl":
            assert "apply_rms_norm" in a, "Unknown backend: mnnvl-cutedsl"
            return self._create_compiled(a)
        assert not [name for name in ("top_k", "rms_eps", "config", "apply_rms_norm") if a.get(name) is not None]
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

    def _create_compiled(self, a: dict[str, Any]) -> Workspace:
        import torch.distributed as dist

        refused = [n for n in ("gpus_per_node", "comm_backend") if a[n] is not None] + ["f"] * a[
            "force_oneshot_support"
        ]
        assert not refused, f"backend='mnnvl-cutedsl' does not use: {refused}"
        made = Compiled(a["group"], a)
        everyone: list[Any] = [None] * dist.get_world_size(a["group"])
        dist.all_gather_object(everyone, a["rank"], group=a["group"])
        assert everyone == list(range(a["world_size"]))
        return made

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
        name = next(name for name, number in NUMBERS.items() if number == a["pattern"])
        if workspace.backend == "mnnvl-cutedsl":
            workspace.check(a, name)
        if "MoEFinalize" in name:
            return self._moe(a, workspace, name)
        item = x.element_size()
        assert (item == 4) == (str(workspace.dtype) == "torch.float32")
        if workspace.backend == "mnnvl-cutedsl":
            assert 1 <= x.shape[0] <= workspace.limit
            assert x.shape[1] == workspace.hidden
        elif workspace.backend == "mnnvl":
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

    def _moe(self, a: dict[str, Any], workspace: Workspace, name: str) -> Any:
        """As the kernels do it: every product and every sum is rounded to the dtype of the rows."""
        assert hasattr(self.patterns, name) or a.get("by_function")
        assert workspace.backend != "mnnvl", "MNNVL AllReduce+RMS fusion does not support this pattern"
        assert workspace.backend != "trtllm" or "FP8" not in name, "it requires a compiled workspace"
        residual = a["residual_in"]
        assert residual.shape[0] * residual.shape[1] <= workspace.limit * workspace.hidden
        rows = _experts(*(_plain(a[n]) for n in MOE_INPUTS), dtype=_plain(residual).dtype)
        there = residual.new_empty(residual.shape)  # where the residual is, also on a device that checks
        there.copy_(rows)
        summed = _sum(there, workspace.group)
        if a["norm_out"] is not None:
            assert a["norm_out"].shape == residual.shape
        more = {"scale_out": None, "scale_factor": None, "quant_out": None, "layout_code": None, **a}
        full = {**more, "norm": residual.new_empty(residual.shape), "number": NUMBERS["kARResidualRMSNorm"]}
        if "FP8" in name:
            full["number"] = NUMBERS[KINDS_OF_PATTERNS[FP8][0]]
        self._norm_and_more(full, summed)
        return a["norm_out"]

    def _moe_function(self, a: dict[str, Any]) -> None:
        """The function of its own that it is before it is a pattern."""
        ours, theirs = ("input", "rms_gamma", "rms_eps"), ("allreduce_in", "norm_weight", "eps")
        made = {**a, **{mine: a[its] for mine, its in zip(ours, theirs, strict=True)}, "by_function": True}
        workspace = a["workspace_ptrs"]
        assert not workspace.destroyed
        self.calls.append(dict(a))
        assert a["allreduce_in"].numel() * 2 * a["world_size"] <= 2**31
        self._moe(made, workspace, "kMoEFinalizeARResidualRMSNorm")

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


MOE_INPUTS = ("input", "expanded_idx_to_permuted_idx", "expert_scale_factor", "shared_expert_output")


def _experts(x: Any, index: Any, factor: Any, shared: Any, dtype: Any) -> Any:
    import torch

    assert x.dtype == factor.dtype == dtype
    assert dtype != torch.float32, "Unsupported dtype in DISPATCH_FLOATING_TYPES_FOR_ALLREDUCE."
    assert index.dtype == torch.int32
    total = x.new_zeros((index.shape[0], x.shape[1]))
    for k in range(index.shape[1]):
        for token in range(index.shape[0]):
            if index[token, k] != -1:
                total[token] += (x[index[token, k]].float() * factor[token, k].float()).to(dtype)
    return total if shared is None else total + shared


def _cutedsl_supported(a: dict[str, Any]) -> bool:
    import torch

    fits = (a["tp_size"], a["hidden_dim"], int(a["top_k"])) in COMPILED_PROFILES
    return fits and a["dtype"] == torch.bfloat16 and a["max_token_num"] > 0


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
