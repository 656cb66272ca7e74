"""What a call through the adapter costs, as ratios to references run in the same process.

Each call is made three ways: straight to the library's function, through the adapter, and in the way engines do it by
hand, with a dict built and filtered by the function's parameters on every call. The library's functions are empty and
have the signatures of a release, so that nothing but the way is timed. Some do not tell theirs: a Python function with
a damaged ``__signature__`` (`inspect.signature` raises TypeError), and a native one (ValueError); then the snapshot of
the release serves, or for an unknown version what all releases share. Run it as ``python benchmarks/adapter.py``.
"""

from __future__ import annotations

import sys
import timeit
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.runtime import Adapter
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Ref
from driftwatch.snapshot.store import store
from driftwatch.targets.flashinfer_comm.conditions import CONDITIONS
from driftwatch.targets.target import Target, choose, shipped_targets

FUNCTION = "allreduce_fusion"
TOLD, DAMAGED, NATIVE = "told", "TypeError", "ValueError"
"""What `inspect.signature` makes of the library's function."""
TENSOR = types.SimpleNamespace(dtype="bfloat16")
FORK = "9.9.9+fork"
CASES = (
    ("0.6.0", None, TOLD),
    ("0.6.7.post3", None, TOLD),
    ("0.6.8", None, TOLD),
    ("0.6.12", None, TOLD),
    ("0.7.4", None, TOLD),
    ("0.6.0", None, DAMAGED),
    ("0.6.0", None, NATIVE),
    ("0.6.12", None, DAMAGED),
    ("0.6.0", FORK, DAMAGED),
    ("0.6.0", FORK, NATIVE),
    ("0.6.12", FORK, DAMAGED),
)
"""Release, the version it says it is where that is another one, and whether it tells its signature."""
PASSED = (
    "input", "workspace", "pattern", "launch_with_pdl", "residual_out", "norm_out", "residual_in", "rms_gamma",
    "rms_eps", "use_oneshot", "fp32_acc",
)  # fmt: skip
"""What an engine passes on to a release that takes no more."""


def library(
    history: History, release: str, version: str | None, tells: str
) -> tuple[Callable[..., Any], frozenset[str]]:
    """An empty function with the parameters of a release, put where the adapter looks for it, and their names."""
    at = history.timeline.set_of([release])
    (epoch,) = [e for e in history.of(Ref("flashinfer.comm", FUNCTION)) if not e.releases.isdisjoint(at)]
    assert epoch.symbol.signature is not None
    parameters = epoch.symbol.signature.parameters
    function = NATIVE_FUNCTION if tells == NATIVE else _python_function(parameters)
    if tells == DAMAGED:
        function.__signature__ = 0  # type: ignore[attr-defined]
    top, comm = types.ModuleType("flashinfer"), types.ModuleType("flashinfer.comm")
    top.__version__ = version or release  # type: ignore[attr-defined]
    setattr(comm, FUNCTION, function)
    sys.modules.update({"flashinfer": top, "flashinfer.comm": comm})
    return function, frozenset(p.name for p in parameters)


NATIVE_FUNCTION: Callable[..., Any] = "".format
"""A function made in C that takes any keyword, does nothing with it, and has no signature to tell."""


def _python_function(parameters: Sequence[Parameter]) -> Callable[..., Any]:
    heads, star = [], False
    for parameter in parameters:
        assert parameter.name.isidentifier()
        if parameter.kind is ParameterKind.KEYWORD_ONLY and not star:
            heads.append("*")
            star = True
        heads.append(parameter.name + ("" if parameter.required else "=None"))
    space: dict[str, Any] = {}
    exec(f"def {FUNCTION}({', '.join(heads)}): pass", space)
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


def best(calls: Mapping[str, Callable[[], None]], number: int = 20_000, repeat: int = 25) -> dict[str, float]:
    """The shortest time of each, in seconds a call; they take turns, so that all have the same machine."""
    times = {name: float("inf") for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            times[name] = min(times[name], timeit.timeit(call, number=number) / number)
    return times


def measure(
    history: History, target: Target, release: str, version: str | None, tells: str, **effort: int
) -> dict[str, Any]:
    """The three ways on one release."""
    function, taken = library(history, release, version, tells)
    assert target.data is not None
    plan = make_plan(history, load_policy(target.data / "policy.toml"), history.timeline.all)
    binding = Adapter(plan, CONDITIONS).bindings[FUNCTION]
    if version is not None:  # by hand, nobody filters by what is not known: what the engine's own release takes
        taken = frozenset(PASSED)
    straight = newest if binding.state == "own" else direct
    times = best(
        {
            "direct": lambda: straight(function, TENSOR),
            "adapter": lambda: newest(binding.function, TENSOR),
            "by_hand": lambda: by_hand(function, taken, TENSOR),
        },
        **effort,
    )
    return {
        "release": release if version is None else f"{release} as {version}",
        "signature": tells,
        "state": binding.state,
        "evidence": binding.evidence,
        "same_function": binding.function is function,
        **times,
    }


def main() -> None:
    target = choose(shipped_targets(), "flashinfer-python")
    history = store.load(target.snapshots)
    print(
        f"{'release':<21} {'signature':<11} {'state':<8} {'evidence':<9} {'direct ns':>9} {'adapter/direct':>15}"
        f" {'adapter/by hand':>16}"
    )
    for case in CASES:
        row = measure(history, target, *case)
        through = 1.0 if row["same_function"] else row["adapter"] / row["direct"]
        print(
            f"{row['release']:<21} {row['signature']:<11} {row['state']:<8} {row['evidence']:<9}"
            f" {row['direct'] * 1e9:>9.0f} {through:>15.2f} {row['adapter'] / row['by_hand']:>16.2f}"
        )


if __name__ == "__main__":
    main()
