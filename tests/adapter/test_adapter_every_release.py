"""Every function, on a stub of every release, on every kind of evidence: what is called, dropped and refused.

So that 61 releases with nine kinds of evidence stay quick, a release's functions are made from the snapshot in this
process, where they record what reaches them (tests/adapter/recording.py). Whole stub packages, imported by processes of
their own, are in `test_adapter_consumer.py`.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.adapter.classes import checked_class
from driftwatch.adapter.plan import make_plan
from driftwatch.adapter.policy import load_policy
from driftwatch.adapter.runtime import Adapter
from driftwatch.adapter.settler import Record, Settler
from driftwatch.adapter.signatures import (
    AdapterError,
    MissingArgument,
    UnavailableFunction,
    UnsupportedArgument,
    recorded,
)
from driftwatch.adapter.wrapping import preparing
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, SymbolKind
from driftwatch.targets.flashinfer_comm.conditions import CONDITIONS
from driftwatch.targets.target import Target
from tests.adapter.recording import FUNCTIONS, Recorder

RELEASES = 61
IMPORT_ERRORS = (ImportError, AssertionError, AttributeError, RuntimeError, TypeError)
VALUES: tuple[Any, ...] = (None, True, False, 0, 1.0, "trtllm", object())
# What an older release does anyway, from its sources: function, parameter, value, and what else must be passed.
NEUTRAL: dict[tuple[str, str], tuple[Any, ...]] = {
    ("allreduce_fusion", "trigger_completion_at_end"): (False, True),
    ("allreduce_fusion", "weight_bias"): (None, 0, 0.0),
    ("allreduce_fusion", "block_quant_group_size"): (None,),
    ("allreduce_fusion", "moe_finalize_backend"): ("trtllm",),
    ("trtllm_allreduce_fusion", "weight_bias"): (None, 0, 0.0),
    ("trtllm_allreduce_fusion", "block_quant_group_size"): (None,),
    ("trtllm_allreduce_fusion", "metadata"): (None,),
    ("trtllm_create_ipc_workspace_for_all_reduce_fusion", "create_metadata"): (False,),
    ("trtllm_create_ipc_workspace_for_all_reduce_fusion", "use_symm_dev_mem"): (False,),
    ("trtllm_create_ipc_workspace_for_all_reduce_fusion", "comm_backend"): (None,),
}
NEUTRAL_OF_OTHERS: dict[str, tuple[Any, ...]] = {
    "weight_bias": (None, 0, 0.0),
    "backend": ("trtllm",),
    "eplb_stats_num_experts": (0,),
    "enable_rank_mask": (False,),
    "use_low_precision": (False,),
    "allow_experimental_auto": (False,),
    "probe_pcie": (True,),
    "enable_pdl": (),
    "nvlink_kernel": ("auto", "portable"),
}
"""The same for the functions that are bound without belonging to the fused allreduce."""
EXAMPLES = int(os.environ.get("DRIFTWATCH_ADAPTER_EXAMPLES", "4"))
SETTINGS = settings(max_examples=EXAMPLES, derandomize=True)


@pytest.fixture(scope="module")
def data(history: History, target: Target) -> dict[str, Any]:
    assert target.data is not None
    policy = load_policy(target.data / "policy.toml")
    return make_plan(history, policy, history.timeline.all, companions=target.companions)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "release" in metafunc.fixturenames:
        from driftwatch.snapshot.store import store
        from driftwatch.targets.target import choose, shipped_targets

        versions = store.load(choose(shipped_targets(), "flashinfer-python").snapshots).timeline.versions
        assert len(versions) >= RELEASES
        metafunc.parametrize("release", versions)


def is_same(a: Any, b: Any) -> bool:
    return a is b or (type(a) in (int, float) and type(b) in (int, float) and a == b)


def may_be_dropped(function: str, parameter: str, value: Any) -> bool:
    """The test's own statement of what leaving an argument out does not change."""
    others = NEUTRAL_OF_OTHERS.get(parameter, (None,)) if function not in FUNCTIONS else (None,)
    allowed = NEUTRAL.get((function, parameter), others)
    return any(is_same(value, neutral) for neutral in allowed)


def calls(data: dict[str, Any], function: str) -> st.SearchStrategy[tuple[list[Any], dict[str, Any]]]:
    """Calls that fit the newest signature: some arguments by position, any of the rest by name."""
    shape = recorded(data["functions"][function]["signatures"][-1][1])

    @st.composite
    def draw(pick: st.DrawFn) -> tuple[list[Any], dict[str, Any]]:
        positional = pick(st.integers(0, len(shape.positional)))
        chosen = {
            p.name: pick(st.sampled_from(VALUES))
            for i, p in enumerate(shape.parameters)
            if p.required or p.name in shape.positional[:positional] or pick(st.booleans())
        }
        args = [chosen.pop(name) for name in shape.positional[:positional]]
        return args, chosen

    return draw()


def called_as(adapter: Adapter, function: str) -> Any:
    """What a caller calls: a function, a class, or the member of an instance."""
    owner, _, member = function.rpartition(".")
    if not owner or adapter.bindings[function].state == "missing":
        return adapter.bindings[function].function
    cls: Any = adapter.bindings[owner].function
    return getattr(object.__new__(cls), member)


def examine(adapter: Adapter, data: dict[str, Any], recorder: Recorder, function: str, call: Any) -> None:
    """Make a call, and hold what happened against what may happen."""
    args, kwargs = call
    reference = recorded(data["functions"][function]["signatures"][-1][1])
    meant = {**dict(zip(reference.positional, args, strict=False)), **kwargs}
    binding = adapter.bindings[function]
    recorder.calls.clear()
    refused: AdapterError | None = None
    try:
        called_as(adapter, function)(*args, **kwargs)
    except AdapterError as error:
        refused = error
    if isinstance(refused, UnsupportedArgument):
        assert not recorder.calls, "refused, and called nevertheless"
        assert refused.parameter in meant
        assert is_same(refused.value, meant[refused.parameter])
        assert refused.why
        assert refused.parameter in str(refused)
        assert adapter.installed.described in str(refused)
        assert refused.first or refused.parameter not in reference.names
        return
    if isinstance(refused, MissingArgument) and function == "UlyssesCommunicator":
        assert "max_elems" not in meant, "the newest takes it or max_bytes, those before it only this"
        return
    if refused is not None:
        assert isinstance(refused, UnavailableFunction), "a call that fits the newest signature misses nothing"
        assert binding.state == "missing"
        assert binding.why in str(refused)
        return
    reached = recorder.last_given
    for name, value in meant.items():
        if name in reached:
            assert reached[name] is value, f"{name} arrived as something else"
        else:
            assert may_be_dropped(function, name, value), f"{name}={value!r} was dropped from {function}"
    assert set(reached) <= set(meant), "more reached the library than was passed"


@pytest.mark.parametrize("hide", [None, ValueError, TypeError], ids=["live", "ValueError", "TypeError"])
def test_calls(
    release: str, hide: type[Exception] | None, data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(history, release, hide=hide)
    recorder.install(monkeypatch)
    adapter = Adapter(data, CONDITIONS)
    assert adapter.installed.release == release
    for function in FUNCTIONS:
        check_binding(adapter, data, recorder, function, "live" if hide is None else "snapshot")
        exercise(adapter, data, recorder, function)


def check_binding(adapter: Adapter, data: dict[str, Any], recorder: Recorder, function: str, evidence: str) -> None:
    binding = adapter.bindings[function]
    if function not in recorder.functions:
        assert binding.state == "missing"
        assert "first in" in binding.why
    else:
        assert binding.evidence == evidence
        assert not binding.drift
        newest = recorded(data["functions"][function]["signatures"][-1][1])
        same = recorder.shapes[function] == newest
        assert (binding.function is recorder.functions[function]) == same, binding.state


def exercise(adapter: Adapter, data: dict[str, Any], recorder: Recorder, function: str) -> None:
    """Every parameter with every value alone, by position and by name; then calls of any combination."""
    shape = recorded(data["functions"][function]["signatures"][-1][1])
    needed = dict.fromkeys(shape.required)
    for parameter in shape.parameters:
        for value in VALUES:
            examine(adapter, data, recorder, function, ([], {**needed, parameter.name: value}))
    for count in range(len(shape.positional) + 1):
        named = dict.fromkeys(name for name in shape.required if name not in shape.positional[:count])
        examine(adapter, data, recorder, function, ([None] * count, named))

    @SETTINGS
    @given(calls(data, function))
    def holds(call: Any) -> None:
        examine(adapter, data, recorder, function, call)

    holds()


@pytest.mark.parametrize("hide", [None, ValueError, TypeError], ids=["live", "ValueError", "TypeError"])
def test_calls_of_an_unknown_version(
    release: str, hide: type[Exception] | None, data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork says it is 9.9.9: live evidence still serves, and without it only what all releases share is passed."""
    recorder = Recorder(history, release, hide=hide, version="9.9.9+fork")
    recorder.install(monkeypatch)
    adapter = Adapter(data, CONDITIONS)
    assert adapter.installed.release is None
    for function in (name for name in FUNCTIONS if name in recorder.functions):
        binding = adapter.bindings[function]
        assert binding.evidence == ("live" if hide is None else "common")
        exercise(adapter, data, recorder, function)


@pytest.mark.parametrize("error", IMPORT_ERRORS)
def test_an_import_that_raises(
    release: str, error: type[Exception], data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(history, release)
    recorder.install(monkeypatch, broken=error("libcudart is not loaded"))
    adapter = Adapter(data, CONDITIONS)
    assert adapter.installed.release == release, "the version is known although the import failed"
    assert adapter.installed.error == f"import flashinfer.comm raised {error.__name__}: libcudart is not loaded"
    for function in FUNCTIONS:
        assert not adapter.available(function)
        with pytest.raises(UnavailableFunction, match="libcudart is not loaded"):
            adapter.function(function)(1, 2, 3, no_such=4)
    report = adapter.report()
    assert report["installed"]["error"] == adapter.installed.error
    with pytest.raises(AttributeError, match="libcudart is not loaded"):
        adapter.attribute("AllReduceFusionPattern")


def test_the_newest_release_needs_no_adapter(
    data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = history.timeline.versions[-1]
    recorder = Recorder(history, newest)
    recorder.install(monkeypatch)
    adapter = Adapter(data, CONDITIONS)
    for function in FUNCTIONS:
        assert adapter.function(function) is getattr(sys.modules["flashinfer.comm"], function)


def test_available_answers_for_the_build(
    data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for names that the adapter does not bind, and for one whose first use raises, or exits."""
    recorder = Recorder(history, "0.6.12")
    recorder.install(monkeypatch)
    adapter = Adapter(data, CONDITIONS)

    def lazy(name: str) -> Any:
        if name == "exits":
            raise SystemExit(3)
        raise AttributeError(name)

    sys.modules["flashinfer.comm"].Mapping = object  # type: ignore[attr-defined]
    sys.modules["flashinfer.comm"].__getattr__ = lazy  # type: ignore[method-assign]
    assert adapter.available("Mapping")
    assert adapter.available("allreduce_fusion")
    assert not any(adapter.available(name) for name in ("no_such", "exits", "__path__"))
    recorder.install(monkeypatch, broken=ImportError("not here"))
    assert not Adapter(data, CONDITIONS).available("Mapping")


TURNS = ("0.2.8", "0.6.0", "0.6.8", "0.6.12", "0.6.14", "0.6.16", "0.7.0", "0.7.1", "0.7.2.post1", "0.7.4")
"""Releases round which signatures of the other functions change."""


@pytest.mark.parametrize("hide", [None, TypeError], ids=["live", "hidden"])
@pytest.mark.parametrize("turn", TURNS)
def test_all_others_that_drifted(
    turn: str, hide: type[Exception] | None, data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [name for name in data["functions"] if name not in FUNCTIONS]
    assert any("." in name for name in others)
    recorder = Recorder(history, turn, hide=hide, functions=others)
    recorder.install(monkeypatch)
    adapter = Adapter(data, CONDITIONS)
    for function in others:
        assert (adapter.bindings[function].state == "missing") == (function not in recorder.functions)
        exercise(adapter, data, recorder, function)


def test_every_function_whose_signature_drifted_is_bound(data: dict[str, Any], history: History) -> None:
    drifted = set()
    for ref, epochs in history.epochs.items():
        if ref.module == history.module and ref.qualname and "." not in ref.qualname:
            named = {
                tuple((p.name, p.kind) for p in e.symbol.signature.parameters)
                for e in epochs
                if e.symbol.kind is SymbolKind.FUNCTION and e.symbol.signature is not None
            }
            if len(named) > 1:
                drifted.add(ref.qualname)
    assert len(drifted) >= 20
    assert drifted <= set(data["functions"])


MADE_BY_THE_LIBRARY = {"UlyssesBackendDecision", "UlyssesRankTopology"}
"""Records that its functions hand out: engines read them, and make none."""


def test_every_class_whose_signatures_drifted_is_bound(data: dict[str, Any], history: History) -> None:
    def drifts(ref: Ref) -> bool:
        rows = {
            tuple((p.name, p.kind, p.required) for p in e.symbol.signature.parameters)
            for e in history.of(ref)
            if e.symbol.signature is not None
        }
        return len(rows) > 1

    classes = {
        ref.qualname
        for ref, epochs in history.epochs.items()
        if ref.module == history.module and epochs[-1].symbol.kind is SymbolKind.CLASS and "." not in ref.qualname
    }
    public = {name: [m for m in history.members(Ref(history.module, name)) if m[0] != "_"] for name in classes}
    drifted = {
        name
        for name in classes
        if any(drifts(Ref(history.module, each)) for each in (name, *(f"{name}.{member}" for member in public[name])))
    }
    assert len(drifted) >= 6
    assert drifted - MADE_BY_THE_LIBRARY == {n for n, record in data["functions"].items() if record["is_class"]}


def test_a_class_is_the_library_s_where_it_takes_everything(
    data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere what the library makes is an instance of the one like it, and of no class below that."""
    names = [name for name in data["functions"] if name.startswith("MoeAlltoAll")]
    for release, own in (("0.7.1", True), ("0.6.16", False), ("0.6.0", False)):
        recorder = Recorder(history, release, functions=names)
        recorder.install(monkeypatch)
        adapter = Adapter(data, CONDITIONS)
        theirs: Any = recorder.classes["MoeAlltoAll"]
        ours: Any = adapter.function("MoeAlltoAll")
        assert (ours is theirs) == own
        made = theirs(1, 2, 3, 4)
        assert isinstance(made, ours)
        assert issubclass(theirs, ours)
        assert isinstance(ours(1, 2, 3, 4, enable_rank_mask=False), theirs)
        below = type("Below", (ours,), {})
        assert not isinstance(made, below)
        assert isinstance(below(1, 2, 3, 4), ours)
        assert ours.get_workspace(1, 2, 3, 4, 5, eplb_stats_num_experts=0) == "MoeAlltoAll.get_workspace"


def test_a_class_below_an_abstract_one() -> None:
    """An abstract base asks every class below it, and so the one that is made here."""

    class Base(ABC):
        @abstractmethod
        def destroy(self) -> None: ...

    class Theirs(Base):
        def __init__(self, a: int) -> None:
            pass

        def destroy(self) -> None: ...

    record = Record("Theirs", ("1",), ((("1",), recorded(("a", "b="))),), ())
    settler = Settler(record, "library 1", recorded(("a",)), (), {})
    ours: Any = checked_class(Theirs, (record, preparing(record, recorded(("a",)), settler)), {})
    assert isinstance(Theirs(1), ours)
    assert isinstance(ours(1), Base)
    assert not isinstance(3, ours)
    assert not issubclass(int, ours)
    assert issubclass(ours, Base)
    with pytest.raises(UnsupportedArgument, match="Theirs: b=2"):
        ours(1, b=2)


@pytest.mark.parametrize(
    ("function", "beside"), [("allreduce_fusion", "input"), ("trtllm_allreduce_fusion", "allreduce_in")]
)
def test_a_weight_of_another_dtype(
    function: str, beside: str, data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused wherever there is a wrapper; the library's own function stays the library's own."""
    half, single = SimpleNamespace(dtype="bfloat16"), SimpleNamespace(dtype="float32")
    for release in ("0.6.0", "0.6.11"):
        Recorder(history, release).install(monkeypatch)
        adapter = Adapter(data, CONDITIONS)
        needed = dict.fromkeys(adapter.bindings[function].shape.required)  # type: ignore[union-attr]
        call = adapter.function(function)
        assert call(**{**needed, beside: half, "rms_gamma": half}) == function
        with pytest.raises(UnsupportedArgument, match=r"rms_gamma=<SimpleNamespace> .* gives noise"):
            call(**{**needed, beside: half, "rms_gamma": single})


def test_a_backend_that_came_later(data: dict[str, Any], history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    for release, taken in (("0.6.12", False), ("0.7.2.post1", True)):
        Recorder(history, release).install(monkeypatch)
        create = Adapter(data, CONDITIONS).function("create_allreduce_fusion_workspace")
        if taken:
            assert create("mnnvl-cutedsl", 1, 2, 3, 4, 5)
        else:
            with pytest.raises(UnsupportedArgument, match=r"backend='mnnvl-cutedsl'.* trtllm and mnnvl alone"):
                create("mnnvl-cutedsl", 1, 2, 3, 4, 5)


@pytest.mark.slow
def test_a_few_of_the_many_calls() -> None:
    """`tests/adapter/many_calls.py` makes as many as are wanted, on all evidence; so that it stays what it says."""
    from tests.adapter.many_calls import play

    done = play(4000)
    assert {what for what, _ in done} == {"live", "snapshot", "common", "outcome"}
    assert done["outcome", "passed"] > 400
    assert done["outcome", "refused"] > 400
    for each in ("quantised", "MoE"):
        assert sum(count for (what, kind), count in done.items() if kind == each) > 900
