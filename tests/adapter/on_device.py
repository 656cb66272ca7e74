"""The self-test on a device that is not there: CUDA as torch shows it, on tensors that check where they are.

A tensor "on the device" is a wrapper round one on the CPU that says it is CUDA's. Operations that mix the two are
refused, and collectives take those on the device alone, as on a group that serves no CPU. Run as a script by torchrun,
with the adapter's path and the arguments of the self-test.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.adapter.rounds import load_adapter
from tests.adapter.simulated import Build

RANK = int(os.environ.get("RANK", "0"))
_MOVES = ("aten::_to_copy", "aten::copy_")


class OnDevice(torch.Tensor):
    """A tensor that says it is CUDA's."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> OnDevice:
        made: OnDevice = torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), dtype=inner.dtype, device=torch.device("cuda", RANK)
        )
        made.inner = inner
        return made

    def copy_(self, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        """Torch itself asks the device before it dispatches this one."""
        out: torch.Tensor = run(torch.ops.aten.copy_.default, (self, src), {})
        return out

    def data_ptr(self) -> int:
        return self.inner.data_ptr()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})


class Checking(TorchDispatchMode):
    """Sees every operation, also of tensors that are on the CPU or that are made."""

    ops: Any = None
    captured: list[Any] | None = None
    """The calls of ours that a graph is to replay, while one is captured."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace.startswith("driftwatch"):
            call = getattr(self.ops, "run" + FUNCTIONS[func._schema.name.partition("::")[2]])
            with self:
                out = call(*args)
            if Checking.captured is not None:
                Checking.captured.append((call, args, out))
            return out
        return run(func, args, kwargs or {})


class Graph:
    """A CUDA graph: its calls, made again on the tensors they were captured with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def replay(self) -> None:
        for call, args, out in self.calls:
            for tensor, again in zip(out, call(*args), strict=True):
                tensor.copy_(again)


@contextlib.contextmanager
def capture(graph: Graph) -> Iterator[None]:
    Checking.captured = graph.calls
    try:
        yield
    finally:
        Checking.captured = None


FUNCTIONS = {
    "allreduce_rmsnorm": "_norm",
    "allreduce_rmsnorm_into": "_norm_into",
    "allreduce": "_plain",
    "allreduce_rmsnorm_quantized": "_quantized",
    "allreduce_moe_finalize": "_moe",
}


def run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    placed = [tensor for tensor in tensors if isinstance(tensor, OnDevice)]
    name = func._schema.name
    if len(placed) < len([t for t in tensors if t.dim() or name.startswith("c10d")]):
        if name.startswith("c10d"):
            raise RuntimeError("No backend type associated with device type cpu")
        if placed and name not in _MOVES:
            raise RuntimeError(f"{name}: expected all tensors to be on the same device")
    asked = kwargs.get("device")
    on_device = bool(placed) if asked is None else torch.device(asked).type == "cuda"
    kwargs = {
        key: torch.device("cpu") if key == "device" and value is not None else value for key, value in kwargs.items()
    }
    if name == "aten::copy_":
        on_device = isinstance(args[0], OnDevice)
    known = {id(tensor.inner): tensor for tensor in placed}
    args, kwargs = tree_map(lambda leaf: leaf.inner if isinstance(leaf, OnDevice) else leaf, (args, kwargs))
    out = func(*args, **kwargs)
    if not on_device:
        return out

    def placed_again(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return known[id(leaf)] if id(leaf) in known else OnDevice(leaf)

    return tree_map(placed_again, out)


def pretend(cuda: Any) -> None:
    """What torch.cuda says of the device."""
    answers = {
        "is_available": True,
        "device_count": 2,
        "current_device": RANK,
        "set_device": None,
        "synchronize": None,
        "get_device_capability": (10, 0),
        "mem_get_info": (1 << 40, 1 << 40),
        "can_device_access_peer": True,
    }
    for name, answer in answers.items():
        setattr(cuda, name, lambda *_, answer=answer, **__: answer)
    cuda.is_current_stream_capturing = lambda: Checking.captured is not None
    cuda.CUDAGraph, cuda.graph = Graph, capture
    cuda.get_device_properties = lambda index: SimpleNamespace(uuid=f"{index}", name="a device that is not there")
    cuda._lazy_init = lambda: None
    cuda.Event = lambda: SimpleNamespace(record=lambda: None, query=lambda: True)


def main() -> None:
    history = store.load(shipped_targets()[0].snapshots)
    Build(history, "0.7.4", None).install()
    fa = load_adapter(sys.argv[1])
    pretend(torch.cuda)
    fa._multicast = lambda device: True
    made = fa.quantize

    def quantize(norm: Any, kind: str, scale: Any, *how: Any) -> Any:
        """Python's indexing asks the device of a tensor for itself."""
        if not isinstance(norm, OnDevice):
            return made(norm, kind, scale, *how)
        out = made(norm.inner, kind, scale.inner if scale is not None else None, *how)
        return tuple(OnDevice(each) for each in out)

    fa.quantize = quantize
    # A compiler follows no code under a mode that sees every operation: what it does is tried on the CPU.
    torch.compile = lambda layer, **how: layer
    init = dist.init_process_group
    asked = []
    dist.init_process_group = lambda backend: (asked.append(backend), init("gloo"))
    Checking.ops = fa
    with Checking(), torch.no_grad(), contextlib.suppress(SystemExit):
        status = fa.main(fa.ADAPTER, sys.argv[2:])
    assert asked == ["nccl"]
    sys.stderr.write(json.dumps({"status": status}) + "\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
