"""What stands in the body of a function: gathered once, however many facts are read from it."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from driftwatch.snapshot.collect import bodies, closures, reader
from driftwatch.snapshot.collect.bodies import SCOPES, FunctionNode, inside, statements
from tests.collecting import collected

FILES = [Path(inspect.getfile(module)) for module in (ast, inspect, bodies, closures, reader)]


def functions(tree: ast.AST) -> list[FunctionNode]:
    return [node for node in ast.walk(tree) if isinstance(node, FunctionNode)]


def runs(node: ast.AST) -> set[ast.AST]:
    """A node and all below it, but for what is in definitions; without what only says how its neighbour is used."""
    below = [] if isinstance(node, SCOPES) else list(ast.iter_child_nodes(node))
    there = (each for each in below if not isinstance(each, ast.expr_context | ast.operator | ast.cmpop | ast.boolop))
    return {node}.union(*(runs(each) for each in there if not isinstance(each, ast.unaryop)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_that_runs_in_a_function_is_there_once(path: Path) -> None:
    found = functions(ast.parse(path.read_text(encoding="utf-8")))
    assert found
    for function in found:
        there = inside(function)
        assert len(there) == len(set(there))
        assert set(there) == set().union(*(runs(statement) for statement in function.body))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_statements_are_there(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    expected = {node for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    found = list(statements(tree.body))
    assert (set(found), len(found)) == (expected, len(expected))


def test_a_function_is_gone_through_once_for_all_its_facts(tmp_path: Path) -> None:
    made = "    def made(*args):\n        yield args\n    return made\n"
    text = "".join(f"def function_{number}(key, **kwargs):\n{made}" for number in range(20))
    inside.cache_clear()
    collected(tmp_path, __init__=text)
    assert inside.cache_info().hits > 40
    assert inside.cache_info().misses == 40
