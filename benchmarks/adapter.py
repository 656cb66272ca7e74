"""What a call through the adapter costs, as ratios to references run in the same process.

Each call is made three ways: straight to the library's function, through the adapter, and in the way engines do it by
hand, with a dict built and filtered by the function's parameters on every call. The library's functions are empty and
have the signatures of a release, so that nothing but the way is timed. Run it as ``python benchmarks/adapter.py``.
"""

from __future__ import annotations

import inspect
import sys
import timeit
import types
from collections.abc import Callable
from typing import Any

from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.runtime import Adapter
from driftwatch.snapshot import store
from driftwatch.snapshot.history import History
from driftwatch.snapshot.model import ParameterKind, Ref
from driftwatch.targets.flashinfer_comm.conditions import CONDITIONS
from driftwatch.targets.target import Target, choose, shipped_targets

FUNCTION = "allreduce_fusion"
RELEASES = ("0.6.0", "0.6.7.post3", "0.6.8", "0.6.12", "0.7.4")


def library(history: History, release: str) -> Callable[..., Any]:
    """An empty function with the signature of a release, put where the adapter looks for it."""
    at = history.timeline.set_of([release])
    (epoch,) = [e for e in history.of(Ref("flashinfer.comm", FUNCTION)) if not e.releases.isdisjoint(at)]
    assert epoch.symbol.signature is not None
    heads, star = [], False
    for parameter in epoch.symbol.signature.parameters:
        assert parameter.name.isidentifier()
        if parameter.kind is ParameterKind.KEYWORD_ONLY and not star:
            heads.append("*")
            star = True
        heads.append(parameter.name + ("" if parameter.required else "=None"))
    space: dict[str, Any] = {}
    exec(f"def {FUNCTION}({', '.join(heads)}): pass", space)
    top, comm = types.ModuleType("flashinfer"), types.ModuleType("flashinfer.comm")
    top.__version__ = release  # type: ignore[attr-defined]
    setattr(comm, FUNCTION, space[FUNCTION])
    sys.modules.update({"flashinfer": top, "flashinfer.comm": comm})
    function: Callable[..., Any] = space[FUNCTION]
    return function


def direct(function: Callable[..., Any], x: object) -> None:
    function(
        input=x, workspace=x, pattern=1, launch_with_pdl=True, residual_out=x, norm_out=x,
        residual_in=x, rms_gamma=x, rms_eps=1e-6, use_oneshot=None, fp32_acc=False,
    )  # fmt: skip


def newest(function: Callable[..., Any], x: object) -> None:
    function(
        input=x, workspace=x, pattern=1, launch_with_pdl=True, trigger_completion_at_end=True, residual_out=x,
        norm_out=x, residual_in=x, rms_gamma=x, rms_eps=1e-6, use_oneshot=None, fp32_acc=False, weight_bias=0.0,
    )  # fmt: skip


def by_hand(function: Callable[..., Any], taken: frozenset[str], x: object) -> None:
    kwargs = dict(  # noqa: C408 - as engines write it
        input=x, workspace=x, pattern=1, launch_with_pdl=True, trigger_completion_at_end=True, residual_out=x,
        norm_out=x, residual_in=x, rms_gamma=x, rms_eps=1e-6, use_oneshot=None, fp32_acc=False, weight_bias=0.0,
    )  # fmt: skip
    function(**{name: value for name, value in kwargs.items() if name in taken})


def best(call: Callable[[], None], number: int = 40_000, repeat: int = 15) -> float:
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


def measure(history: History, target: Target, release: str, *, hidden: bool = False) -> dict[str, Any]:
    """The three ways on one release; `hidden` takes the signature away, so that the snapshot has to serve."""
    function = library(history, release)
    if hidden:
        inner = function

        def function(**kwargs: Any) -> None:
            inner(**kwargs)

        function.__signature__ = "none to be had"  # type: ignore[attr-defined]
        setattr(sys.modules["flashinfer.comm"], FUNCTION, function)
    assert target.data is not None
    plan = make_plan(history, load_policy(target.data / "policy.toml"), history.timeline.all)
    adapter = Adapter(plan, CONDITIONS)
    binding = adapter.bindings[FUNCTION]
    taken = frozenset(inspect.signature(inner if hidden else function).parameters)
    all_taken = binding.state == "own"
    return {
        "release": release,
        "state": binding.state,
        "evidence": binding.evidence,
        "same_function": binding.function is function,
        "direct": best(lambda: (newest if all_taken else direct)(function, 0)),
        "adapter": best(lambda: newest(binding.function, 0)),
        "by_hand": best(lambda: by_hand(function, taken, 0)),
    }


def main() -> None:
    target = choose(shipped_targets(), "flashinfer-python")
    history = store.load(target.snapshots)
    print(
        f"{'release':<12} {'state':<8} {'evidence':<9} {'direct ns':>9} {'adapter/direct':>15} {'adapter/by hand':>16}"
    )
    for release, hidden in [*((release, False) for release in RELEASES), ("0.6.0", True)]:
        row = measure(history, target, release, hidden=hidden)
        through = 1.0 if row["same_function"] else row["adapter"] / row["direct"]
        print(
            f"{row['release']:<12} {row['state']:<8} {row['evidence']:<9} {row['direct'] * 1e9:>9.0f}"
            f" {through:>15.2f} {row['adapter'] / row['by_hand']:>16.2f}"
        )


if __name__ == "__main__":
    main()
