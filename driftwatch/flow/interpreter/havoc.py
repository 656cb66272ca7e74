"""What code that is not followed may do to the containers that it is given: they may hold anything afterwards.

A function that is followed changes them as it does. What is not followed may put anything in and take anything out,
but for what is known only to read what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from textwrap import dedent

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, ListContent, PartialContent
from driftwatch.flow.domain.loosening import loosened
from driftwatch.flow.domain.renaming import held_by
from driftwatch.flow.domain.values import Unknown, Value, key_of
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.sinks import only_says, says
from driftwatch.flow.syntax.survey import changed_by, walk

_READ_ONLY = (
    "builtins.", "logging.", "warnings.", "json.", "pprint.", "copy.", "operator.", "math.", "inspect.", "typing.",
)  # fmt: skip
"""Beginnings of the import paths of functions that leave what they are given as it is."""

_MAY_WRITE = frozenset({"builtins.exec", "builtins.eval", "builtins.setattr", "operator.setitem", "operator.delitem"})


def only_reads(dotted: str) -> bool:
    """Whether a function of a foreign package is known to leave what it is given as it is."""
    return dotted.startswith(_READ_ONLY) and dotted not in _MAY_WRITE and not dotted.startswith("operator.i")


def havoc(run: Run, arguments: Arguments, node: cst.CSTNode) -> None:
    """A call of something that is not followed: it may change what is in the containers that it is given."""
    values = arguments.values()
    if not values or only_says(node):
        return
    if any(type(atom) is Unknown and atom.parameter for value in values for _, atom in value.alternatives):
        run.effects.passes_on = True
    where = run.state.reach
    for key in mutable_in(run, values):
        content = run.content(key)
        if content is not None:
            after = loosened(content, where)
            if after != content:
                run.change(key, after)


def holds_mutable(run: Run, arguments: Arguments) -> bool:
    """Whether a call passes a container that can be changed, or something that holds one."""
    return next(mutable_in(run, arguments.values()), None) is not None


def mutable_in(run: Run, values: Iterable[Value]) -> Iterator[int]:
    """The dicts, lists and instances that are, or are held by, some values."""
    waiting = [atom for value in values for _, atom in value.alternatives if key_of(atom) is not None]
    seen: set[int] = set()
    while waiting:
        key = key_of(waiting.pop())
        content = run.content(key) if key is not None and key not in seen else None
        if key is None or content is None:
            continue
        seen.add(key)
        if not isinstance(content, PartialContent) and not (isinstance(content, ListContent) and content.is_tuple):
            yield key
        waiting.extend(inner for value in held_by(content) for _, inner in value.alternatives)


# -- functions that were passed over -----------------------------------------------------------------------------------


def changes_given(text: str) -> bool | None:
    """Whether a function, as it is written, changes what is in a container that it is given.

    None where it passes one on: to somebody who may change it.
    """
    try:
        tree = ast.parse(dedent(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    definition = tree.body[0] if tree.body else None
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    arguments = definition.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    passes_on = False
    for statement in definition.body:
        for node in walk(statement):
            if given.intersection(changed_by(node)) or (
                isinstance(node, ast.AugAssign) and _is_one(node.target, given)
            ):
                return True
            passes_on = passes_on or any(_is_one(each, given) for each in _kept_or_passed(node))
    return None if passes_on else False


def _is_one(node: ast.expr | None, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _kept_or_passed(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        harmless = says(name) if isinstance(node.func, ast.Attribute) else name in _PLAIN_READERS
        return [] if harmless else [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg)]
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return, ast.NamedExpr, ast.Yield)):
        return [node.value]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [*node.elts]
    return [*node.values] if isinstance(node, ast.Dict) else []


_PLAIN_READERS = frozenset(
    {"len", "str", "repr", "print", "sorted", "list", "tuple", "dict", "set", "frozenset", "isinstance", "type", "bool",
     "sum", "min", "max", "any", "all", "id", "hash", "int", "float", "range", "enumerate", "zip", "hasattr"}
)  # fmt: skip


def mutates(run: Run, owner: Value) -> None:
    """Something is put into, or taken out of, what this value is: of what is not known, it may have been given."""
    if any(isinstance(atom, Unknown) for _, atom in owner.alternatives):
        run.effects.mutates = True
