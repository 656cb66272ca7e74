"""How many small faults the tests of an area catch: a run of cosmic-ray over its modules, on request.

    pip install cosmic-ray==8.7.0
    python scripts/mutants.py suppress binding [--sample 60] [--seed 1]

It works on a copy of the repository, puts one fault after the other into it, and runs the area's tests on each. What
survives is printed with its line. Faults in annotations change nothing that runs, and are left out; so are those of
which another kind says as much.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent


class Area(NamedTuple):
    """Modules, and the tests that have to catch what is wrong with them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/test_{name}.py" for name in names)


AREAS = {
    "suppress": Area(("driftwatch/suppress.py",), _tests("suppress")),
    "binding": Area(("driftwatch/binding",), _tests("binding", "binding_refused", "rules_calls", "rules_names")),
    "rules": Area(
        ("driftwatch/rules",),
        _tests("rules_examples", "rules_calls", "rules_names", "rules_more", "rules_advisories", "rules_installations"),
    ),
    "diff_base": Area(("driftwatch/diff_base.py",), _tests("diff_base_matching", "diff_base")),
    "adapter": Area(
        tuple(f"driftwatch/adapter/{name}.py" for name in ("rules", "signatures", "settler", "policy", "plan")),
        tuple(f"tests/adapter/test_adapter_{name}.py" for name in ("parts", "generated", "every_release")),
    ),
    "snapshot": Area(
        tuple(f"driftwatch/snapshot/{room}" for room in ("model", "collect", "store")),
        _tests(
            *(f"snapshot_{n}" for n in ("history", "conditions", "raising", "returned", "collect", "codec", "store")),
            "snapshot_made_callables",
            "snapshot_lazy_names",
        ),
    ),
    "interpreter": Area(
        (
            *(f"driftwatch/flow/interpreter/{n}.py" for n in ("calls", "conditions", "containers", "exceptional")),
            "driftwatch/flow/domain/state.py",
        ),
        ("tests/flow/test_flow_programs.py::test_says_exactly_what_is_marked",),
    ),
}
LEFT_OUT = ("ReplaceBinaryOperator", "ReplaceUnaryOperator", "NumberReplacer")
KEPT = ("BitOr_BitAnd", "BitAnd_BitOr", "Add_Sub", "Sub_Add", "Delete_Not")
"""Of the operators left out, those that are not."""
LIMIT = 120.0
"""Seconds for the tests of one fault."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="+", choices=sorted(AREAS))
    parser.add_argument("--sample", type=int, help="only so many faults of each area, drawn by chance")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.areas:
        with tempfile.TemporaryDirectory(prefix="driftwatch-mutants-") as folder:
            copy = Path(folder) / "copy"
            shutil.copytree(
                ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".mypy_cache", "__pycache__", "shared")
            )
            run(name, AREAS[name], copy, arguments.sample, random.Random(arguments.seed))
    return 0


def run(name: str, area: Area, copy: Path, sample: int | None, chance: random.Random) -> None:
    config, session = copy / "mutants.toml", copy / "mutants.sqlite"
    tests = " ".join(area.tests)
    command = f"{sys.executable} -m pytest -x -q -p no:xdist -p no:cacheprovider -m 'not slow and not network' {tests}"
    config.write_text(
        f"[cosmic-ray]\nmodule-path = {list(area.modules)}\ntimeout = {LIMIT}\nexcluded-modules = []\n"
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    cosmic_ray(copy, "init", config.name, session.name)
    database = import_module("cosmic_ray.work_db")
    results = import_module("cosmic_ray.work_item")
    with database.use_db(str(session), database.WorkDB.Mode.open) as known:
        faults = [item for item in known.work_items if counts(copy, item.mutations[0])]
        chosen = faults if sample is None else chance.sample(faults, min(sample, len(faults)))
        wanted = {item.job_id for item in chosen}
        skipped = results.WorkResult(worker_outcome=results.WorkerOutcome.SKIPPED)
        known.set_multiple_results([i.job_id for i in known.work_items if i.job_id not in wanted], skipped)
    cosmic_ray(copy, "exec", config.name, session.name)
    with database.use_db(str(session), database.WorkDB.Mode.open) as known:
        killed = {job: result.is_killed for job, result in known.results if job in wanted}
        survivors = [item.mutations[0] for item in chosen if not killed.get(item.job_id, False)]
    print(f"{name}: {len(chosen) - len(survivors)} of {len(chosen)} faults caught (of {len(faults)} that there are)")
    for fault in sorted(survivors, key=lambda each: (str(each.module_path), each.start_pos)):
        line, column = fault.start_pos
        print(f"  {fault.module_path}:{line}:{column}: {fault.operator_name} {fault.occurrence}")
        print(f"    {(copy / fault.module_path).read_text().splitlines()[line - 1].strip()}")


def cosmic_ray(copy: Path, *arguments: str) -> None:
    # The copy before what is installed.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])}
    subprocess.run(
        [sys.executable, "-m", "cosmic_ray.cli", *arguments], cwd=copy, env=environment, check=True, stdout=sys.stderr
    )


def counts(copy: Path, fault: Any) -> bool:
    """Whether a fault can change what runs, and is not one of many of its kind."""
    kind = fault.operator_name.rpartition("/")[2]
    if kind.startswith(LEFT_OUT) and not kind.endswith(KEPT):
        return False
    line, column = fault.start_pos
    source = (copy / fault.module_path).read_text(encoding="utf-8")
    return not any(first <= (line, column) < last for first, last in annotations(source))


def annotations(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if isinstance(found, ast.expr):
                yield (found.lineno, found.col_offset), (found.end_lineno or 0, found.end_col_offset or 0)


if __name__ == "__main__":
    sys.exit(main())
