"""The accelerated path, run: an adapter's self-test in processes of the examined environment, one for each GPU.

Enters: a Python, an adapter's text, GPUs. Leaves: a `Run`. Only numbers that agree, on the fused path, count as active.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from driftwatch.doctor.asking import run
from driftwatch.doctor.model import Run
from driftwatch.system.subprocesses import python_environment

_TEST = ("--json", "--fused", "require", "--hidden", "4096", "--tokens", "1", "128", "--dtypes", "bfloat16")
_START = "import sys; sys.path[:] = [entry for entry in sys.path if entry]; import torch.distributed.run as r; r.main()"


def run_path(python: str, program: str, gpus: int, sizes: tuple[int, ...], seconds: float) -> Run:
    """Run the path on as many GPUs as a group of them can have."""
    size = max((each for each in sizes if each <= gpus), default=0)
    if size == 0:
        return Run(gpus, (f"no group can be made of {gpus} GPUs",), unfinished=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adapter.py"
        file.write_text(program, encoding="utf-8")
        start = [python, "-c", _START, "--standalone", f"--nproc-per-node={size}", str(file)]
        ended = run([*start, *_TEST], seconds, environment=python_environment())
    if ended.status is None:
        return Run(size, (f"no result within {seconds:g} seconds",), unfinished=True)
    try:
        # It is printed whole, after whatever else the processes print.
        outcome = json.loads(ended.out[ended.out.index('{\n  "asked"') :].rpartition("}")[0] + "}")
    except ValueError:
        return Run(size, (ended.how,))
    paths = {case["path"] for case in outcome["cases"]}
    problems = list(outcome["problems"])
    if not problems and (ended.status or paths != {"fused"}):
        problems.append(f"it went by {' and '.join(sorted(paths)) or 'no path'}: {ended.how}")
    return Run(size, tuple(problems))
