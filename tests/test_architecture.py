"""The house: who may import whom is checked by import-linter; here it is run, and shown to be able to fail."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.adapter.render import RUNTIME
from tests.conftest import ROOT

HEAVY = {"torch", "flashinfer"}
"""What a light install does not have."""

HEAVY_ALLOWED = ("driftwatch/adapter/runtime.py", "driftwatch/targets/")

EMBEDDED = "driftwatch/targets/flashinfer_comm/"
"""Beside the adapter's own runtime, what stands in a generated file."""


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def imported_modules(path: Path) -> set[str]:
    """What a file imports, wherever in it, as dotted names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def imported_packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported_modules(path)}


def sources() -> list[Path]:
    return sorted((ROOT / "driftwatch").rglob("*.py"))


def test_the_contracts_are_kept() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("releases.py", "import driftwatch.snapshot.model.symbols", "Data flows one way"),
        ("snapshot/model/symbols.py", "import driftwatch.report", "Data flows one way"),
        ("rules/rule.py", "import driftwatch.flow.domain.values", "Who judges or reports"),
        ("flow/domain/values.py", "import driftwatch.rules", "never judges"),
        ("flow/interpreter/calls.py", "import driftwatch.flow.models.models", "models on the interpreter"),
        ("flow/domain/state.py", "import driftwatch.flow.interpreter.run", "models on the interpreter"),
        ("flow/syntax/nodes.py", "import driftwatch.flow.sources.contents", "models on the interpreter"),
        ("project/config.py", "import driftwatch.project.ranges", "What a project says"),
        ("repair/text.py", "import driftwatch.repair.plan", "the plan on the repairs"),
        ("repair/plan.py", "import libcst", "libcst in the interpreter"),
        ("snapshot/model/symbols.py", "import driftwatch.flow.uses", "know nothing of code bases"),
        ("snapshot/store/store.py", "import driftwatch.snapshot.collect.release", "commands on collect"),
        ("snapshot/model/codec.py", "import driftwatch.snapshot.sources.tree", "commands on collect"),
        ("snapshot/sources/tree.py", "import driftwatch.snapshot.model.symbols", "Fetching knows nothing"),
        ("snapshot/model/history.py", "import griffe", "griffe in the module that reads"),
        ("rules/rule.py", "import libcst", "libcst in the interpreter"),
        ("snapshot/sources/tree.py", "import click", "click in the command line"),
        ("snapshot/sources/tree.py", "import rich", "rich where"),
    ],
)
def test_a_wrong_import_breaks_its_contract(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copytree(ROOT / "driftwatch", tmp_path / "driftwatch", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    target = tmp_path / "driftwatch" / module
    target.write_text(f"{target.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    result = lint_imports(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    broken = [row for row in result.stdout.splitlines() if " BROKEN" in row]
    assert any(contract in row for row in broken), broken


def test_a_light_install_is_enough_for_everything_but_the_adapter() -> None:
    offenders = {
        path.relative_to(ROOT).as_posix(): heavy
        for path in sources()
        if (heavy := imported_packages(path) & HEAVY)
        and not path.relative_to(ROOT).as_posix().startswith(HEAVY_ALLOWED)
    }
    assert offenders == {}


def test_code_that_runs_without_driftwatch_imports_none_of_it() -> None:
    """A generated file joins embedded modules; an import of anything else of driftwatch would be lost in it."""
    runtime = [f"driftwatch/adapter/{name}.py" for name in RUNTIME]
    targets = [p.relative_to(ROOT).as_posix() for p in sources() if p.relative_to(ROOT).as_posix().startswith(EMBEDDED)]
    embedded = {name.removesuffix(".py").replace("/", ".") for name in (*runtime, *targets)}
    allowed = embedded | {"torch", "flashinfer"} | set(sys.stdlib_module_names)
    offenders = {
        name: foreign
        for name in (*runtime, *targets, "driftwatch/doctor/probe.py")
        if (
            foreign := {
                module
                for module in imported_modules(ROOT / name)
                if module not in allowed and module.partition(".")[0] not in allowed
            }
        )
    }
    assert offenders == {}


def test_the_engine_knows_no_library_by_name() -> None:
    """FlashInfer's name is in its target's folder alone; examples for people (help texts, docstrings) may name it."""
    offenders: list[str] = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(("driftwatch/targets/", "driftwatch/cli/")):
            continue
        tree = ast.parse(path.read_bytes())
        documentation = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        offenders += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and "flashinfer" in str(node.value).lower()
            and id(node) not in documentation
        ]
    assert offenders == []


def test_starting_is_quick_because_little_is_imported() -> None:
    code = "import sys, driftwatch.cli; print(sorted({'griffe', 'libcst', 'torch', 'requests'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
