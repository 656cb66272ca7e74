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
import resource
import shutil
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
    "suppress": Area(("driftwatch/findings/suppress.py",), _tests("suppress")),
    "binding": Area(
        ("driftwatch/binding",),
        _tests("binding", "binding_refused", "binding_annotations", "rules_calls", "rules_names"),
    ),
    "rules": Area(
        ("driftwatch/rules",),
        _tests("rules_examples", "rules_calls", "rules_names", "rules_more", "rules_advisories", "rules_installations"),
    ),
    "diff_base": Area(("driftwatch/scan/diff_base.py",), _tests("diff_base_matching", "diff_base")),
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
LIMIT = 120
"""Seconds of processor time for the tests of one fault."""
PRELOADED = ("pytest", "hypothesis.strategies", "griffe", "libcst", "packaging.version", "requests", "rich", "click")


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
            # The copy before what is installed, here and in the processes that tests start.
            sys.path.insert(0, str(copy))
            os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
            sys.dont_write_bytecode = True
            for module in PRELOADED:
                import_module(module)
            run(name, AREAS[name], copy, arguments.sample, random.Random(arguments.seed))
    return 0


def run(name: str, area: Area, copy: Path, sample: int | None, chance: random.Random) -> None:
    faults = [fault for fault in all_faults(area, copy) if counts(copy, fault)]
    chosen = faults if sample is None else chance.sample(faults, min(sample, len(faults)))
    if not passes(area, copy):
        raise SystemExit(f"{name}: its tests fail as it is")
    survivors = [fault for fault in chosen if passes(area, copy, fault)]
    print(f"{name}: {len(chosen) - len(survivors)} of {len(chosen)} faults caught (of {len(faults)} that there are)")
    for fault in sorted(survivors, key=lambda each: (str(each.module_path), each.start_pos)):
        line, column = fault.start_pos
        print(f"  {fault.module_path}:{line}:{column}: {fault.operator_name} {fault.occurrence}")
        print(f"    {(copy / fault.module_path).read_text(encoding='utf-8').splitlines()[line - 1].strip()}")


def all_faults(area: Area, copy: Path) -> list[Any]:
    """The faults that cosmic-ray can put into the modules of an area."""
    os.chdir(copy)
    with import_module("cosmic_ray.work_db").use_db(str(copy / "mutants.sqlite")) as known:
        modules = import_module("cosmic_ray.modules").find_modules([Path(module) for module in area.modules])
        import_module("cosmic_ray.commands").init(modules, known, {})
        return [item.mutations[0] for item in known.work_items]


def passes(area: Area, copy: Path, fault: Any = None) -> bool:
    """Whether an area's tests pass with a fault in the copy. They run in a fork: imports are paid for once."""
    path, source = (None, "") if fault is None else (copy / fault.module_path, read(copy / fault.module_path))
    try:
        if path is not None:
            operator = import_module("cosmic_ray.plugins").get_operator(fault.operator_name)(**fault.operator_args)
            changed = import_module("cosmic_ray.mutating").mutate_code(source, operator, fault.occurrence)
            if changed is None:
                return True
            path.write_text(changed, encoding="utf-8")
        child = os.fork()
        if child == 0:
            os._exit(tested(area))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        if path is not None:
            path.write_text(source, encoding="utf-8")


def tested(area: Area) -> int:
    """What pytest says of an area's tests; the limit is one of processor time, whatever else the machine does."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    # What was imported before the fork cannot be rewritten any more; nothing that asserts is among it.
    ignored = "ignore::pytest.PytestAssertRewriteWarning"
    options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-W", ignored, "-m", "not slow and not network"]
    try:
        return int(import_module("pytest").main([*options, *area.tests]))
    except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as its parent
        return 1


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


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
