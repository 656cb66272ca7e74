"""The doctor's verdict on made-up environments, held against what importing and calling does in them.

In each, "can run" must be true, "cannot run" must be true, and what was expected must have been found out.
"""

from __future__ import annotations

import json
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from driftwatch.doctor.case import Recorded
from driftwatch.doctor.examine import examine
from driftwatch.doctor.model import Examination, State, Weight
from driftwatch.doctor.needs import needs_of
from driftwatch.report.doctor import render, render_json
from driftwatch.report.styled import Look
from driftwatch.rules.advisories import load
from driftwatch.rules.recorded_kernels import with_recorded
from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests import doctor_contents
from tests.doctor_cases import ENVIRONMENTS, environment, machine, well
from tests.made_environment import Made, bare_python, own_python

TARGET = next(target for target in shipped_targets() if target.distribution == "flashinfer-python")
SCHEMA = json.loads(resources.files("driftwatch.report").joinpath("doctor_schema_v1.json").read_text(encoding="utf-8"))

OLD = sys.version_info < (3, 12)
CAN, CANNOT, UNKNOWN = State.CAN_RUN, State.CANNOT_RUN, State.UNKNOWN


# -- torch -------------------------------------------------------------------------------------------------------------


@environment(CAN)
def all_is_well(made: Made) -> None:
    well(made)


@environment(CANNOT, "cpu-build", "uv pip install", real_torch=True)
def cpu_torch_beside_gpus(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.smi("10.0", "10.0")
    made.compiler()


@environment(CANNOT, "cpu-build", "uv pip install", real_torch=True)
def cpu_torch_without_libcudart_at_import(made: Made) -> None:
    made.flashinfer("0.6.12")
    made.smi("10.0", "10.0")


@environment(CANNOT, "cpu-build", real_torch=True, imports=False)
def cpu_torch_that_is_not_imported(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.smi("10.0", "10.0")


@environment(CANNOT, "other-build")
def torch_for_rocm(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch("9.4", "9.4", version="2.9.0+rocm6.4", cuda=None, hip="6.4")
    made.smi("10.0", "10.0")


@environment(CANNOT, "hidden", "unset CUDA_VISIBLE_DEVICES")
def no_visible_device(made: Made) -> None:
    well(made)
    made.variables["CUDA_VISIBLE_DEVICES"] = ""


@environment(CANNOT, "driver-too-old", "uv pip install")
def a_driver_older_than_torch(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch()
    made.smi("9.0", "9.0", cuda="12.4")


@environment(CANNOT, "no-gpu", "docker run --gpus all")
def torch_sees_no_gpu_and_nobody_else_does(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch()


# -- what cannot be found out is not known -----------------------------------------------------------------------------


@environment(UNKNOWN, "import-untried", imports=False)
def nvidia_smi_is_absent_and_nothing_is_imported(made: Made) -> None:
    well(made)
    (made.bin / "nvidia-smi").unlink()


@environment(CAN)
def nvidia_smi_is_absent_and_torch_sees(made: Made) -> None:
    well(made)
    (made.bin / "nvidia-smi").unlink()


@environment(CAN)
def nvidia_smi_is_too_old_and_torch_sees(made: Made) -> None:
    well(made)
    made.smi("10.0", "10.0", old=True)


@environment(UNKNOWN, "import-untried", imports=False)
def nvidia_smi_is_too_old_and_nothing_is_imported(made: Made) -> None:
    well(made)
    made.smi("10.0", "10.0", old=True)


@environment(UNKNOWN, "framework-silent")
def a_driver_that_does_not_talk(made: Made) -> None:
    well(made)
    with (made.site / "torch" / "__init__.py").open("a") as file:
        file.write("def _fails():\n    raise RuntimeError('driver error')\ncuda.is_available = _fails\n")
    made.tool("nvidia-smi", '#!/bin/sh\necho "NVIDIA-SMI has failed because it couldn\'t communicate"\nexit 9\n')


@environment(UNKNOWN, "gpus-served")
def a_source_tree_that_was_never_built(made: Made) -> None:
    made.flashinfer("0.0.0+unknown", release="0.6.14", stated=None)
    machine(made)


@environment(UNKNOWN, "import-untried", imports=False)
def a_source_tree_beside_a_companion(made: Made) -> None:
    made.flashinfer("0.0.0+unknown", release="0.6.14", stated=None)
    machine(made)
    made.companion("flashinfer-cubin", "0.6.13")


@environment(CAN)
def a_fork_under_another_name(made: Made) -> None:
    made.flashinfer("0.6.14", name="flashinfer-python-nightly")
    machine(made)


@environment(CANNOT, "skew", "pip uninstall -y flashinfer-cubin")
def a_fork_with_a_local_version_beside_a_companion(made: Made) -> None:
    made.flashinfer("0.6.14+forge", name="forge-flashinfer")
    machine(made)
    made.companion("flashinfer-cubin", "0.6.14")


@environment(UNKNOWN, "import-unfinished", "driftwatch doctor --timeout")
def an_import_that_does_not_end(made: Made) -> None:
    well(made)
    (made.site / "flashinfer" / "comm" / "__init__.py").write_text("import time; time.sleep(60)\n")


@environment(UNKNOWN, "kernels", "flashinfer-jit-cache==0.6.14+cu130")
def nothing_to_compile_with(made: Made) -> None:
    well(made)
    made.variables["CUDA_HOME"] = str(made.folder / "nowhere")


# -- companions --------------------------------------------------------------------------------------------------------


@environment(CANNOT, "skew", "pip uninstall -y flashinfer-cubin")
def a_local_version_beside_the_cubins_of_the_same_release(made: Made) -> None:
    well(made, "0.6.14+cu130")
    made.companion("flashinfer-cubin", "0.6.14")


@environment(CAN)
def a_local_version_beside_the_jit_cache_of_the_same_release(made: Made) -> None:
    well(made, "0.6.14+cu130")
    made.companion("flashinfer-jit-cache", "0.6.14+cu130")


@environment(CANNOT, "skew", "flashinfer-cubin==0.6.12")
def cubins_of_another_release(made: Made) -> None:
    well(made, "0.6.12")
    made.companion("flashinfer-cubin", "0.6.11")


@environment(CANNOT, "skew", "flashinfer-cubin==0.6.14 --index-url https://flashinfer.ai/whl")
def a_companion_without_metadata(made: Made) -> None:
    well(made)
    made.companion("flashinfer-cubin", "0.6.13", recorded=False)


@environment(CAN)
def metadata_of_a_companion_without_its_module(made: Made) -> None:
    well(made)
    made.record("flashinfer-cubin", "0.6.13")


@environment(CANNOT, "skew", "flashinfer-jit-cache==0.6.14+cu130 --index-url https://flashinfer.ai/whl/cu130")
def two_records_of_one_companion(made: Made) -> None:
    well(made)
    made.companion("flashinfer-jit-cache", "0.6.13+cu130")
    made.record("flashinfer-jit-cache", "0.6.14+cu130", modules=("flashinfer_jit_cache",))


@environment(CANNOT, "companion-left-over", "rm -r ")
def a_folder_that_is_left_of_a_companion(made: Made) -> None:
    well(made)
    (made.site / "flashinfer_cubin" / "cubins").mkdir(parents=True)


@environment(CAN)
def a_release_that_only_ignores_another_companion(made: Made) -> None:
    well(made, "0.7.4")
    made.companion("flashinfer-cubin", "0.6.13")


@environment(CAN)
def a_release_that_knows_no_companion(made: Made) -> None:
    well(made, "0.3.1")
    made.companion("flashinfer-cubin", "0.6.13")


@environment(CAN)
def the_check_is_off_and_only_cubins_differ(made: Made) -> None:
    well(made)
    made.companion("flashinfer-cubin", "0.6.13")
    made.variables["FLASHINFER_DISABLE_VERSION_CHECK"] = "0"


@environment(UNKNOWN, "skew-hidden", "flashinfer-jit-cache==0.6.14+cu130")
def the_check_is_off_and_kernels_differ(made: Made) -> None:
    well(made)
    made.companion("flashinfer-jit-cache", "0.6.13+cu130")
    made.variables["FLASHINFER_DISABLE_VERSION_CHECK"] = "1"


@environment(UNKNOWN, "skew-unseen", "flashinfer-jit-cache==0.6.1+cu130")
def a_release_whose_number_begins_another(made: Made) -> None:
    well(made, "0.6.1")
    made.companion("flashinfer-jit-cache", "0.6.11+cu130")


@environment(CAN)
def a_variable_leads_past_the_companion(made: Made) -> None:
    well(made, "0.6.17")
    made.companion("flashinfer-cubin", "0.6.13")
    made.variables["FLASHINFER_CUBIN_DIR"] = str(made.folder)


@environment(CANNOT, "skew")
def the_variable_does_not_help_an_older_release(made: Made) -> None:
    well(made, "0.6.14")
    made.companion("flashinfer-cubin", "0.6.13")
    made.variables["FLASHINFER_CUBIN_DIR"] = str(made.folder)


# -- the order of imports ----------------------------------------------------------------------------------------------


@environment(CAN)
def a_look_alike_that_nobody_imports(made: Made) -> None:
    well(made)
    made.imitator()


@environment(CANNOT, "call-fails", "flashinfer-python==0.7.1")
def a_look_alike_that_an_earlier_import_has_mapped(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.torch("10.0", "10.0", libcudart=False)
    made.smi("10.0", "10.0")
    made.compiler()
    made.imitator()
    made.after = ("tilework",)


@environment(CANNOT, "import-fails")
def a_look_alike_at_the_import(made: Made) -> None:
    made.flashinfer("0.6.12")
    made.torch("10.0", "10.0", libcudart=False)
    made.imitator()
    made.after = ("tilework", "torch")


@environment(CAN)
def a_release_that_is_not_misled(made: Made) -> None:
    well(made, "0.7.1")
    made.imitator()
    made.after = ("tilework",)


@environment(CANNOT, "import-fails")
def libcudart_is_not_loaded_before_the_import(made: Made) -> None:
    made.flashinfer("0.6.12")
    made.torch("10.0", "10.0", libcudart=False)
    made.smi("10.0", "10.0")


@environment(CAN)
def libcudart_is_loaded_before_the_import(made: Made) -> None:
    well(made, "0.6.12")


# -- what is installed -------------------------------------------------------------------------------------------------


@environment(CANNOT, "not-installed", "pip install flashinfer-python")
def nothing_is_installed(made: Made) -> None:
    machine(made)


@environment(CANNOT, "module-missing", "--force-reinstall --no-deps flashinfer-python==0.6.14")
def a_record_without_a_module(made: Made) -> None:
    made.record("flashinfer-python", "0.6.14")
    machine(made)


@environment(CANNOT, "import-fails", "pip install flashinfer-python==0.6.14")
def there_is_no_torch(made: Made) -> None:
    made.flashinfer("0.6.14")
    made.smi("10.0", "10.0")


@environment(CANNOT, "import-fails", "pip install flashinfer-python==0.6.14")
def a_requirement_is_missing(made: Made) -> None:
    well(made)
    (made.site / "flashinfer" / "comm" / "__init__.py").write_text("import tvm_ffi\n")


@environment(CANNOT, "import-fails", "flashinfer-python==0.6.14")
def a_module_that_the_release_needs_and_does_not_require(made: Made) -> None:
    well(made, "0.6.12")
    (made.site / "flashinfer" / "comm" / "__init__.py").write_text("import triton\n")


@environment(*((CANNOT, "array-annotation", "flashinfer-python==0.6.16.post4") if OLD else (CAN,)))
def an_older_python_than_the_release_was_tried_with(made: Made) -> None:
    well(made, "0.6.16")


@environment(UNKNOWN, "requirements", "pip install flashinfer-python==0.6.14")
def a_requirement_of_the_path_is_of_another_version(made: Made) -> None:
    made.flashinfer("0.6.14", "apache-tvm-ffi<0.2,>=0.1.6", "tabulate")
    machine(made)
    made.record("apache-tvm-ffi", "0.2.1")


@environment(CAN)
def a_requirement_that_the_path_does_not_need_is_missing(made: Made) -> None:
    made.flashinfer("0.6.14", "tabulate", "colorama; sys_platform == 'win32'")
    machine(made)


@environment(CANNOT, "too-old", "flashinfer-python>=0.2.7.post1")
def a_release_without_the_module(made: Made) -> None:
    well(made, "0.2.5")
    for path in sorted((made.site / "flashinfer" / "comm").iterdir()):
        path.unlink()
    (made.site / "flashinfer" / "comm").rmdir()


@environment(CANNOT, "skew")
def another_copy_comes_first_on_the_path(made: Made) -> None:
    other = made.folder / "checkout"
    made.flashinfer("0.6.14")
    made.flashinfer("0.6.13", site=other)
    machine(made)
    made.companion("flashinfer-cubin", "0.6.13")
    made.variables["PYTHONPATH"] = str(other)


# -- GPUs --------------------------------------------------------------------------------------------------------------


@environment(CANNOT, "capability", "flashinfer-python==0.6.17")
def gpus_that_the_release_does_not_serve_yet(made: Made) -> None:
    made.flashinfer("0.6.14")
    machine(made, "12.0", "12.0")


@environment(CAN)
def gpus_that_the_release_serves(made: Made) -> None:
    made.flashinfer("0.6.17")
    machine(made, "12.0", "12.0")


@environment(CANNOT, "capability")
def gpus_that_no_release_serves(made: Made) -> None:
    made.flashinfer("0.6.14")
    machine(made, "8.0", "8.0")


@environment(CAN)
def one_gpu_of_three_is_not_served(made: Made) -> None:
    made.flashinfer("0.6.14")
    machine(made, "9.0", "9.0", "8.9")


@environment(CANNOT, "alone")
def one_gpu(made: Made) -> None:
    made.flashinfer("0.6.14")
    machine(made, "10.0")


@environment(UNKNOWN, "alone")
def one_gpu_of_an_nvlink_fabric(made: Made) -> None:
    made.flashinfer("0.6.14")
    machine(made, "10.0")
    made.smi("10.0", fabric="Completed")


@environment(UNKNOWN, "sees-some", "env -u CUDA_VISIBLE_DEVICES")
def one_visible_gpu_of_two(made: Made) -> None:
    well(made)
    made.variables["CUDA_VISIBLE_DEVICES"] = "1"


@environment(CANNOT, "no-peers")
def gpus_that_do_not_reach_each_other(made: Made) -> None:
    made.flashinfer("0.6.17")
    made.torch("12.0", "12.0", peers=False)
    made.smi("12.0", "12.0")
    made.compiler()


@environment(UNKNOWN, "compiler")
def a_compiler_that_does_not_know_the_gpus(made: Made) -> None:
    well(made)
    made.compiler("12.4")


@environment(UNKNOWN, "unrecorded")
def a_release_that_nobody_has_recorded(made: Made) -> None:
    well(made, "99.1")


# -- the test ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    return bare_python(tmp_path_factory.mktemp("python"))


@pytest.fixture(scope="session")
def recorded() -> dict[str, Recorded]:
    history = store.load(TARGET.snapshots)
    known = with_recorded(load(TARGET.data, history.timeline), history)
    return {TARGET.distribution: Recorded(history.timeline, known)}


@pytest.fixture
def made(request: pytest.FixtureRequest, tmp_path: Path, bare: str, monkeypatch: pytest.MonkeyPatch) -> Made:
    one = ENVIRONMENTS[request.param] if hasattr(request, "param") else None
    found = Made(tmp_path / "made", own_python() if one is not None and one.real_torch else bare)
    if one is not None:
        one.build(found)
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found


def seen(made: Made, recorded: dict[str, Recorded], *, imports: bool = True, seconds: float = 60) -> Examination:
    needs = [needs_of(TARGET)]
    return examine(needs, recorded, python=made.python, importing=imports, after=made.after, seconds=seconds)


@pytest.mark.parametrize(
    ("made", "name"), [(name, name) for name in ENVIRONMENTS], indirect=["made"], ids=list(ENVIRONMENTS)
)
def test_the_verdict_is_true(made: Made, name: str, recorded: dict[str, Recorded]) -> None:
    one = ENVIRONMENTS[name]
    hangs = name == "an_import_that_does_not_end"
    found = seen(made, recorded, imports=one.imports, seconds=3 if hangs else 60)
    (verdict,) = found.verdicts
    first = verdict.causes[0] if verdict.causes else None
    said = render(found, Look())
    assert verdict.state is one.state, said
    if one.says is not None:
        assert first is not None and first.id == one.says, said
        assert one.fixes in " ".join(first.fix), said
    if verdict.state is State.CAN_RUN:
        assert {cause.weight for cause in verdict.causes} <= {Weight.NOTE}
    if not hangs:
        truth = made.truth()
        assert verdict.state is not State.CAN_RUN or truth is None, said
        assert verdict.state is not State.CANNOT_RUN or truth is not None, said
    assert said.startswith(f"{one.state.value}: the fused allreduce of flashinfer-python")
    jsonschema.validate(json.loads(render_json(found)), SCHEMA)


def test_there_are_enough_of_them() -> None:
    assert len(ENVIRONMENTS) >= 25
    assert vars(doctor_contents).keys() & ENVIRONMENTS.keys()
    assert {each.state for each in ENVIRONMENTS.values()} == {CAN, CANNOT, UNKNOWN}
