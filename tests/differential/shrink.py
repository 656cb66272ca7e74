"""A smaller program with the same disagreement: statements, branches and arguments are taken away while it lasts."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from tests.differential.programs import Program

BLOCKS = ("body", "orelse", "finalbody", "handlers")


def shrink(program: Program, fails: Callable[[Program], bool], attempts: int = 400) -> Program:
    """The smallest found of at most so many tried; the program itself when none is smaller."""
    left = attempts
    smaller = True
    while smaller and left > 0:
        smaller = False
        for candidate in _candidates(program):
            left -= 1
            if fails(candidate):
                program, smaller = candidate, True
                break
            if left <= 0:
                break
    return program


def _candidates(program: Program) -> Iterator[Program]:
    for call in program.calls:
        if len(program.calls) > 1:
            others = tuple(other for other in program.calls if other is not call)
            yield from _checked(Program(_without(program, call.function), program.main, others))
    for path, text in program.files.items():
        if len(program.files) > 1 and path != f"{program.main}.py":
            yield from _checked(
                Program({p: t for p, t in program.files.items() if p != path}, program.main, program.calls)
            )
        for changed in _edits(ast.parse(text)):
            yield from _checked(Program({**program.files, path: changed}, program.main, program.calls))


def _without(program: Program, function: str) -> dict[str, str]:
    """The files, less a function of the main one: what is not called is not run, and so says nothing."""
    path = f"{program.main}.py"
    tree = ast.parse(program.files[path])
    tree.body = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name == function)]
    return {**program.files, path: ast.unparse(tree) + "\n"}


def _checked(program: Program) -> Iterator[Program]:
    """The program, if it still has the functions it calls, and files that compile."""
    try:
        for path, text in program.files.items():
            compile(text, path, "exec")
    except SyntaxError:
        return
    yield program


def _edits(tree: ast.Module) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        for block in BLOCKS:
            statements = getattr(node, block, None)
            if not isinstance(statements, list):
                continue
            for position, statement in enumerate(statements):
                yield _edited(tree, number, block, position, [])
                inner = getattr(statement, "body", None)
                if isinstance(inner, list) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                    yield _edited(tree, number, block, position, inner)
        if isinstance(node, ast.Call):
            for position in range(len(node.keywords)):
                yield _edited(tree, number, "keywords", position, [])
            for position in range(len(node.args)):
                yield _edited(tree, number, "args", position, [])
        if isinstance(node, ast.BoolOp):
            for position in range(len(node.values)):
                yield _edited(tree, number, "values", position, [])


def _edited(tree: ast.Module, number: int, block: str, position: int, inner: list[ast.stmt]) -> str:
    changed = copy.deepcopy(tree)
    node = list(ast.walk(changed))[number]
    part = getattr(node, block)
    part[position : position + 1] = copy.deepcopy(inner)
    if block == "body" and not part:
        part.append(ast.Pass())
    try:
        return ast.unparse(changed) + "\n"
    except (ValueError, IndexError, AttributeError):
        return "("  # does not compile, and so is not tried
