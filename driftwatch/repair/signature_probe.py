"""DW502: a look at a signature that may raise says that nothing is known, where it does."""

from __future__ import annotations

import ast

from driftwatch.findings.finding import Finding
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.text import Source

_RAISED = ("TypeError", "ValueError")
_EMPTY = {"set": "set()", "frozenset": "frozenset()", "list": "[]", "tuple": "()", "dict": "{}", "bool": "False"}


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair:
    call = source.named(finding.location, ast.Call)
    if not isinstance(call, ast.Call):
        raise NoRepairError("the look at the signature cannot be found")
    how = "a signature that cannot be seen counts as unknown"
    handler = _handler(source, call)
    if handler is not None:
        start, end = source.span(handler.type)  # type: ignore[arg-type]
        return Repair((finding,), source.path, (Edit(start, end, "(TypeError, ValueError)"),), how)
    statement = source.statement(call)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) or value is None:
        raise NoRepairError("it stands in a test: keep the answer in a variable first")
    unknown = _unknown(source, value, call)
    if not source.stands_alone(statement):
        raise NoRepairError("several statements share the line")
    if any("\n" in source.of(n) for n in ast.walk(statement) if isinstance(n, ast.Constant | ast.JoinedStr)):
        raise NoRepairError("the statement holds a text of several lines")
    start, end = source.span(statement)
    indent = source.indent_at(start)
    behind = source.line_end(end)
    if isinstance(statement, ast.Return):
        otherwise = f"return {unknown}"
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        otherwise = " = ".join([*(source.of(target) for target in targets), unknown])
    newline = "" if source.text[behind - 1 : behind] == "\n" else "\n"
    text = f"{newline}{indent}except (TypeError, ValueError):\n{indent}    {otherwise}\n"
    edits = (*source.in_try(statement), Edit(behind, behind, text))
    return Repair((finding,), source.path, edits, how)


def _handler(source: Source, call: ast.Call) -> ast.ExceptHandler | None:
    """A handler round it that takes one of the two alone."""
    inside: ast.AST = call
    for node in source.above(call):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            return None
        if isinstance(node, ast.Try) and inside in node.body:
            for handler in node.handlers:
                if isinstance(handler.type, ast.Name) and handler.type.id in _RAISED:
                    return handler
        inside = node
    return None


def _unknown(source: Source, value: ast.expr, call: ast.Call) -> str:
    """What stands for an answer that nobody knows."""
    if value is call:
        return f"{source.of(call.func).rpartition('.')[0] or 'inspect'}.Signature()"
    if isinstance(value, ast.Attribute) and value.attr == "parameters" and value.value is call:
        return "{}"
    if isinstance(value, ast.Compare | ast.BoolOp | ast.UnaryOp):
        if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.NotIn):
            return "True"
        if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.In):
            return "False"
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And):
            return "False"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id in _EMPTY:
            return _EMPTY[value.func.id]
        if value.func.id in ("all", "any"):
            return "False"
    raise NoRepairError("what it means when nothing is known cannot be told")
