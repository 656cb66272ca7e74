"""Environments that differ in what packages bring and in how their Python starts; the doctor is sent to them."""

from __future__ import annotations

from driftwatch.doctor.model import State
from tests.doctor_cases import environment, well
from tests.made_environment import Made

CAN, CANNOT, UNKNOWN = State.CAN_RUN, State.CANNOT_RUN, State.UNKNOWN

# -- what a package really brings --------------------------------------------------------------------------------------


def without_compiler(made: Made) -> None:
    """None for the library, none for the doctor."""
    made.variables["CUDA_HOME"] = str(made.folder / "nowhere")
    (made.bin / "nvcc").unlink()


@environment(UNKNOWN, "kernels", "flashinfer-jit-cache==0.6.14+cu130")
def a_jit_cache_without_the_kernels(made: Made) -> None:
    well(made)
    made.companion("flashinfer-jit-cache", "0.6.14+cu130", whole=False)
    without_compiler(made)


@environment(CAN)
def a_jit_cache_and_no_compiler(made: Made) -> None:
    well(made)
    made.companion("flashinfer-jit-cache", "0.6.14+cu130")
    without_compiler(made)


@environment(CAN)
def a_jit_cache_without_metadata_and_no_compiler(made: Made) -> None:
    well(made)
    made.companion("flashinfer-jit-cache", "0.6.14+cu130", recorded=False)
    without_compiler(made)


@environment(CAN)
def kernels_in_a_package_beside_the_jit_cache(made: Made) -> None:
    well(made, "0.7.4")
    made.companion("flashinfer-jit-cache", "0.7.4+cu130", whole=False)
    made.provider("flashinfer-jit-cache-sm100", "0.7.4+cu130")
    without_compiler(made)


@environment(CAN)
def kernels_that_come_with_the_library(made: Made) -> None:
    well(made, "0.3.1")
    path = made.site / "flashinfer" / "data" / "aot" / "trtllm_comm" / "trtllm_comm.so"
    path.parent.mkdir(parents=True)
    path.write_text("")
    without_compiler(made)


@environment(UNKNOWN, "kernels")
def kernels_that_were_compiled_before_and_no_compiler(made: Made) -> None:
    well(made)
    path = made.folder / "base" / ".cache" / "flashinfer" / "0.6.14" / "100a" / "cached_ops" / "trtllm_comm"
    path.mkdir(parents=True)
    (path / "trtllm_comm.so").write_text("")
    made.variables["FLASHINFER_WORKSPACE_BASE"] = str(made.folder / "base")
    without_compiler(made)


@environment(UNKNOWN, "kernels")
def no_home_folder_and_no_compiler(made: Made) -> None:
    well(made)
    made.variables["HOME"] = str(made.folder / "no-such-home")
    without_compiler(made)


@environment(CAN, "companion-empty", "flashinfer-cubin")
def cubins_that_are_not_there(made: Made) -> None:
    well(made)
    made.companion("flashinfer-cubin", "0.6.14", whole=False)


# -- how an interpreter starts -----------------------------------------------------------------------------------------


@environment(CAN)
def start_files_that_print_and_fail(made: Made) -> None:
    well(made)
    (made.site / "sitecustomize.py").write_text("print('{\"executable\": 3}')\nraise ValueError('at the start')\n")


@environment(CAN)
def records_that_nobody_can_read(made: Made) -> None:
    well(made)
    for name, data in (
        ("broken-1.0", b"\xff\xfe\x00"),
        ("nameless-1.0", b"Metadata-Version: 2.1\n"),
        ("empty-1.0", None),
    ):
        (made.site / f"{name}.dist-info").mkdir()
        if data is not None:
            (made.site / f"{name}.dist-info" / "METADATA").write_bytes(data)


@environment(CAN)
def a_version_that_is_none_in_a_companion_nobody_compares(made: Made) -> None:
    well(made, "0.3.1")
    made.companion("flashinfer-jit-cache", "local-build")


@environment(CANNOT, "import-fails")
def a_module_that_ends_the_process(made: Made) -> None:
    well(made)
    (made.site / "flashinfer" / "comm" / "__init__.py").write_text("import os\nos._exit(3)\n")


@environment(CANNOT, "import-fails")
def a_module_that_ends_the_process_without_a_fault(made: Made) -> None:
    well(made)
    (made.site / "flashinfer" / "comm" / "__init__.py").write_text("import os\nos._exit(0)\n")


@environment(CANNOT, "import-fails")
def a_file_that_is_cut_off(made: Made) -> None:
    well(made)
    (made.site / "flashinfer" / "comm" / "__init__.py").write_text("def create(:\n")


@environment(CAN)
def a_library_that_speaks_while_it_is_imported(made: Made) -> None:
    well(made)
    path = made.site / "flashinfer" / "comm" / "__init__.py"
    path.write_text("import sys\nprint('{\"import\": {}}')\nprint(1, file=sys.stderr)\n" + path.read_text())


@environment(CAN)
def warnings_are_errors_for_the_shell(made: Made) -> None:
    well(made)
    made.variables["PYTHONUNBUFFERED"] = "1"
    made.variables["PYTHONDONTWRITEBYTECODE"] = "1"
    made.variables["PYTHONIOENCODING"] = "ascii"
