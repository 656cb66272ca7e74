"""What is known of FlashInfer's releases from their own sources, asked of the shipped snapshots."""

from __future__ import annotations

import pytest

from driftwatch.snapshot.comparison.changes import ChangeKind, Grade
from driftwatch.snapshot.comparison.diff import changes_of, diff
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, SymbolKind
from driftwatch.snapshot.store import store
from tests.known_releases import said

ROOT = "flashinfer.comm"


@pytest.fixture(scope="module")
def history() -> History:
    return store.load(store.shipped() / "flashinfer-python")


def parameter_changes(history: History, name: str) -> list[tuple[str, str, str | None]]:
    """(release, kind, parameter) of what happened to a function's parameters."""
    return [
        (dated.newer, dated.change.kind.value, dated.change.parameter)
        for dated in changes_of(history, Ref(ROOT, name))
        if dated.change.kind.value.startswith(("parameter", "became", "default", "symbol"))
    ]


def removed(history: History, old: str, new: str) -> set[str]:
    found = diff(store.snapshot_of(history, old), store.snapshot_of(history, new))
    return {
        c.ref.qualname for c in found if c.kind is ChangeKind.SYMBOL_REMOVED and c.ref.module == ROOT and c.ref.qualname
    }


def test_all_releases_that_have_the_module(history: History) -> None:
    # Whatever came out since stands behind these.
    assert history.timeline.versions[0] == "0.2.7.post1"
    assert history.timeline.versions[60] == "0.7.4"
    assert history.has_module(ROOT) == history.timeline.all


def test_the_five_states_of_the_fused_allreduce(history: History) -> None:
    assert parameter_changes(history, "allreduce_fusion") == [
        ("0.6.0", "symbol-added", None),
        ("0.6.8", "parameter-added", "trigger_completion_at_end"),
        ("0.6.8", "parameter-added", "expanded_idx_to_permuted_idx"),
        ("0.6.8", "parameter-added", "expert_scale_factor"),
        ("0.6.8", "parameter-added", "moe_reduction_active_experts_token_input"),
        ("0.6.8", "parameter-added", "moe_reduction_device_num_experts"),
        ("0.6.8", "parameter-added", "moe_reduction_scale_input"),
        ("0.6.8", "parameter-added", "moe_reduction_token_input"),
        ("0.6.8", "parameter-added", "shared_expert_output"),
        ("0.6.11", "parameter-added", "block_quant_group_size"),
        ("0.6.12", "parameter-added", "weight_bias"),
        ("0.7.1", "parameter-added", "moe_finalize_backend"),
    ]
    epochs = history.of(Ref(ROOT, "allreduce_fusion"))
    assert [len(e.symbol.signature.parameters) for e in epochs if e.symbol.signature] == [16, 24, 25, 26, 27]


def test_a_parameter_before_others_breaks_and_one_behind_does_not(history: History) -> None:
    grades = {
        d.change.parameter: d.change.grade
        for d in changes_of(history, Ref(ROOT, "allreduce_fusion"))
        if d.change.parameter
    }
    assert grades.pop("trigger_completion_at_end") is Grade.BREAKING
    assert set(grades.values()) == {Grade.COMPATIBLE}


def test_the_workspace(history: History) -> None:
    found = parameter_changes(history, "create_allreduce_fusion_workspace")
    assert found[:2] == [("0.6.0", "symbol-added", None), ("0.6.10.post1", "parameter-added", "group")]
    assert {(release, kind) for release, kind, _ in found[2:]} == {("0.7.2.post1", "parameter-added")}
    assert len(found) == 14


def test_the_older_pair(history: History) -> None:
    assert parameter_changes(history, "trtllm_allreduce_fusion") == [
        ("0.2.7.post1", "symbol-added", None),
        ("0.2.9", "parameter-moved", "use_oneshot"),
        ("0.5.0", "parameter-added", "metadata"),
        ("0.6.11", "parameter-added", "block_quant_group_size"),
        ("0.6.12", "parameter-added", "weight_bias"),
    ]
    assert parameter_changes(history, "trtllm_create_ipc_workspace_for_all_reduce_fusion") == [
        ("0.2.7.post1", "symbol-added", None),
        ("0.5.0", "parameter-added", "create_metadata"),
        ("0.6.0", "parameter-added", "comm_backend"),
        ("0.6.0", "parameter-added", "use_symm_dev_mem"),
    ]


def test_the_changes_of_functions_that_a_submodule_or_a_lazy_module_hides(history: History) -> None:
    hidden = [
        *("all_gather_matmul", "cake_fp4_allreduce", "cake_fused_norm_combine", "cake_gemm_allreduce"),
        *("fp8_rowwise_gemm_allreduce", "quantized_all_reduce", "tp_moe_finalize_rmsnorm"),
    ]
    found = [
        (release, name, parameter) for name in hidden for release, _, parameter in parameter_changes(history, name)
    ]
    assert found == [
        ("0.6.10", "all_gather_matmul", None),
        ("0.7.0", "all_gather_matmul", "backend"),
        ("0.7.4", "cake_fp4_allreduce", None),
        ("0.7.1", "cake_fused_norm_combine", None),
        ("0.7.4", "cake_gemm_allreduce", None),
        ("0.7.4", "fp8_rowwise_gemm_allreduce", None),
        ("0.6.16", "quantized_all_reduce", None),
        ("0.7.2.post1", "tp_moe_finalize_rmsnorm", None),
        ("0.7.4", "tp_moe_finalize_rmsnorm", "backend"),
    ]
    for name in hidden:
        assert {e.symbol.kind for e in history.of(Ref(ROOT, name))} == {SymbolKind.FUNCTION}


def test_the_names_that_0_7_4_no_longer_has(history: History) -> None:
    gone = removed(history, "0.7.2.post1", "0.7.4")
    assert len(gone) == 14
    assert {name for name in gone if name.startswith("gen_")} == {
        *("gen_pcie_ipc_comm_module", "gen_trtllm_comm_module", "gen_ulysses_a2a_module", "gen_vllm_comm_module")
    }
    assert "MoeAlltoAll" in gone
    assert len({name for name in gone if name.startswith("moe_a2a_")}) == 7


def test_other_removals_and_renames(history: History) -> None:
    assert {"trtllm_custom_all_reduce", "trtllm_create_ipc_workspace_for_all_reduce"} <= removed(
        history, "0.6.18.post1", "0.7.0"
    )
    assert removed(history, "0.2.12", "0.2.13") == {"FP4QuantizationSFLayout"}


def test_the_integer_one_changed_its_meaning(history: History) -> None:
    def named(owner: str, release: str) -> str:
        one = history.timeline.set_of([release])
        return next(
            ref.qualname.rpartition(".")[2]
            for ref, epochs in history.epochs.items()
            if ref.module == ROOT and ref.qualname.startswith(f"{owner}.")
            for epoch in epochs
            if epoch.symbol.value == "1" and one <= epoch.releases
        )

    assert named("FP4QuantizationSFLayout", "0.2.12") == "LINEAR"
    assert named("QuantizationSFLayout", "0.2.13") == "LINEAR"
    assert named("QuantizationSFLayout", "0.2.14") == "SWIZZLED_8x4"


def test_deprecations(history: History) -> None:
    def since(name: str) -> str:
        marked = [e for e in history.of(Ref(ROOT, name)) if e.symbol.deprecated is not None]
        return history.timeline.versions_of(marked[0].releases)[0]

    assert since("MoeAlltoAll") == "0.7.2"
    assert since("trtllm_custom_all_reduce") == "0.5.0"
    mark = history.of(Ref(ROOT, "MoeAlltoAll"))[-1].symbol.deprecated
    assert mark is not None
    assert mark.message.startswith("MoeAlltoAll is deprecated; use flashinfer.moe_ep.NVLinkOneSidedAlltoAll")


def test_definitions_outside_the_module_are_found(history: History) -> None:
    (epoch, *_) = history.of(Ref(ROOT, "gen_trtllm_comm_module"))[-1:]
    assert epoch.symbol.definition == Ref("flashinfer.jit.comm", "gen_trtllm_comm_module")
    assert history.timeline.versions_of(epoch.releases)[-1] == "0.7.2.post1"


def test_lazy_names_of_an_inner_module(history: History) -> None:
    lazy = history.present(Ref(f"{ROOT}.mnnvl_cutedsl", "DEFAULT_CONFIG"))
    assert lazy == history.has_module(f"{ROOT}.mnnvl_cutedsl")


def test_optional_names_say_what_they_need(history: History) -> None:
    for epoch in history.of(Ref(ROOT, "tp_moe_finalize_rmsnorm")):
        assert "cutlass" in epoch.symbol.requires
    for epoch in history.of(Ref(ROOT, "allreduce_fusion")):
        assert epoch.symbol.requires == ()


def test_the_workspace_is_the_abstract_one_and_its_kinds_are_known(history: History) -> None:
    epoch = history.of(Ref(ROOT, "create_allreduce_fusion_workspace"))[-1]
    assert epoch.symbol.signature is not None
    base = epoch.symbol.signature.returns_ref
    assert base == Ref("flashinfer.comm.workspace_base", "AllReduceFusionWorkspace")
    below = {ref.qualname for ref in history.subclasses(base)}
    assert {"TRTLLMAllReduceFusionWorkspace", "MNNVLAllReduceFusionWorkspace"} <= below
    concrete = Ref("flashinfer.comm.allreduce", "TRTLLMAllReduceFusionWorkspace")
    lookup = history.member(concrete, "checkpoint_prepare", history.timeline.all)
    assert said(history.timeline, lookup.present) == "0.6.15 to 0.7.4"
    assert not lookup.unknown


def test_a_post_release_that_renames(history: History) -> None:
    assert said(history.timeline, history.attribute(ROOT, "decode_cp_a2a_allocate_workspace")) == "0.6.10"
    renamed = history.attribute(ROOT, "decode_cp_a2a_allocate_mnnvl_workspace")
    assert said(history.timeline, renamed) == "0.6.10.post1 to 0.7.4"


def test_a_class_that_each_branch_of_its_module_defines(history: History) -> None:
    memory = Ref(f"{ROOT}.mnnvl", "MnnvlMemory")
    assert history.of(memory)[0].releases == history.timeline.all
    assert not history.is_open(memory)
    set_from = history.member(memory, "set_comm_from_config", history.timeline.all)
    assert set_from.present == history.timeline.matching(">=0.3.0")
    assert not set_from.unknown
    assert history.member(memory, "ptr", history.timeline.all).present == history.timeline.all
