"""DW501: a guard that stands round an import alone takes whatever the import raises, and the reason is logged.

A guard that stands round more stays as it is: then the import alone gets one of its own, which says ImportError.
"""

from __future__ import annotations

import ast

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import ImportUse
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.names import binds, visible, within
from driftwatch.repair.text import Source

_LEVELS = ("debug", "info", "warning", "error")


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair:
    uses = [use for use in evidence.at(finding) if isinstance(use, ImportUse) and use.location == finding.location]
    if not uses:
        raise NoRepairError("it is no import statement that may raise")
    offset = source.offset(finding.location.line, finding.location.column)
    statement = next(
        (
            node
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Import | ast.ImportFrom) and source.span(node)[0] <= offset < source.span(node)[1]
        ),
        None,
    )
    if statement is None:
        raise NoRepairError("the import cannot be found")
    attempt, handler = _guard(source, statement)
    name = "error" if "error" not in _used(attempt) else "import_error"
    if all(use.checks_only for use in uses):
        edits = _widened(source, handler, uses[0].module, name)
        how = "take whatever the import raises, and log it"
    else:
        edits = _own_guard(source, statement, uses[0].module, name)
        how = "turn whatever the import raises into ImportError"
    return Repair((finding,), source.path, tuple(edits), how)


def _guard(source: Source, statement: ast.stmt) -> tuple[ast.Try, ast.ExceptHandler]:
    """The innermost ``try`` whose handler takes the ImportError."""
    inside: ast.AST = statement
    for node in source.above(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        if isinstance(node, ast.Try) and inside in node.body:
            for handler in node.handlers:
                names = {source.of(each).rpartition(".")[2] for each in _types(handler)}
                if names & {"ImportError", "ModuleNotFoundError"}:
                    return node, handler
        inside = node
    raise NoRepairError("no `except ImportError` stands round it")


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    if isinstance(handler.type, ast.Tuple):
        return handler.type.elts
    return [handler.type] if handler.type is not None else []


def _used(attempt: ast.Try) -> set[str]:
    return {node.id for node in ast.walk(attempt) if isinstance(node, ast.Name)}


def _widened(source: Source, handler: ast.ExceptHandler, module: str, name: str) -> list[Edit]:
    assert handler.type is not None
    start, end = source.span(handler.type)
    edits: list[Edit] = []
    head = "Exception"
    first = handler.body[0]
    logger = _logger(source, handler)
    told = handler.name is not None and handler.name in {
        node.id for each in handler.body for node in ast.walk(each) if isinstance(node, ast.Name)
    }
    if logger is not None and not told and not _logs_trace(source, handler):
        bound = handler.name or name
        head = "Exception" if handler.name else f"Exception as {name}"
        level = _level(source, handler, logger)
        at, until = source.span(first)
        indent = source.indent_at(at)
        said = source.quoted(f"{module} cannot be imported: %s")
        line = f"{logger}.{level}({said}, {bound})"
        if len(indent) + len(line) > source.width:
            line = f"{logger}.{level}(\n{indent}    {said}, {bound}\n{indent})"
        if source.line_of(at) == source.line_of(end):
            raise NoRepairError("the handler stands in one line")
        if len(handler.body) == 1 and isinstance(first, ast.Pass):
            edits.append(Edit(at, until, line))
        else:
            edits.append(Edit(source.line_start(at), source.line_start(at), f"{source.indent_at(at)}{line}\n"))
    return [Edit(start, end, head), *edits]


def _logger(source: Source, handler: ast.ExceptHandler) -> str | None:
    """The module's logger, as far as its name and where it comes from tell, where the handler has it."""
    for statement in within(source.tree.body):
        for name in binds(statement) & {"logger", "log", "LOGGER", "LOG", "_logger", "_LOGGER"}:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                if visible(source, name, handler.body[0]):
                    return name
    return None


def _logs_trace(source: Source, handler: ast.ExceptHandler) -> bool:
    return any("exc_info" in source.of(each) or ".exception(" in source.of(each) for each in handler.body)


def _level(source: Source, handler: ast.ExceptHandler, logger: str) -> str:
    """That at which the handler speaks already."""
    for each in handler.body:
        for node in ast.walk(each):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LEVELS:
                if source.of(node.func.value) == logger:
                    return node.func.attr
    return "debug"


def _raised(source: Source, indent: str, module: str, name: str) -> str:
    text = source.quoted(f"{module} cannot be imported")
    line = f"{indent}    raise ImportError({text}) from {name}\n"
    if len(line) - 1 <= source.width:
        return line
    return f"{indent}    raise ImportError(\n{indent}        {text}\n{indent}    ) from {name}\n"


def _own_guard(source: Source, statement: ast.stmt, module: str, name: str) -> list[Edit]:
    if not source.stands_alone(statement):
        raise NoRepairError("several statements share the line")
    start, end = source.span(statement)
    indent, behind = source.indent_at(start), source.line_end(end)
    handler = f"{indent}except Exception as {name}:\n{_raised(source, indent, module, name)}"
    return [*source.in_try(statement), Edit(behind, behind, handler)]
