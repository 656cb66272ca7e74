"""A name of the library imported from elsewhere or under another name: what moved and deprecated names share."""

from __future__ import annotations

import ast

from driftwatch.findings import Finding
from driftwatch.flow.uses import Location
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.text import Source
from driftwatch.snapshot.model.symbols import Ref


def imported(source: Source, finding: Finding) -> tuple[ast.ImportFrom, ast.alias]:
    """The statement and the name in it that a finding is about."""
    place = finding.location
    wanted = source.offset(place.line, place.column), source.offset(place.end_line, place.end_column)
    last = finding.symbol.rpartition(".")[2]
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        start, end = source.span(node)
        for alias in node.names:
            at = source.span(alias)[0] == wanted[0]
            if at or (alias.name == last and start <= wanted[0] and wanted[1] <= end):
                return node, alias
    raise NoRepairError("only a `from` import is fixed")


def from_elsewhere(source: Source, finding: Finding, old_ref: Ref, new: Ref, *, both: bool, why: str) -> Repair:
    """Import `new` instead, or where the releases need both, the old one where that is not there."""
    statement, alias = imported(source, finding)
    if statement.level or statement.module is None:
        raise NoRepairError("the import is relative")
    if not source.stands_alone(statement):
        raise NoRepairError("several statements share the line")
    bound = alias.asname or alias.name
    as_bound = f" as {bound}" if bound != new.qualname or alias.asname else ""
    line = f"from {new.module} import {new.qualname}{as_bound}"
    old = f"from {statement.module} import {source.of(alias)}"
    start, end = source.span(statement)
    indent = source.indent_at(start)
    behind = source.line_end(end)
    if both:
        line = f"try:\n{indent}    {line}\n{indent}except ImportError:\n{indent}    {old}"
        # Behind the imports of a module, a block is set apart.
        above = source.lines[source.line_of(start) - 2] if source.line_of(start) > 1 else ""
        below = source.text[behind : source.line_end(behind)] if behind < len(source.text) else ""
        if not indent and len(statement.names) == 1:
            line = f"\n{line}" if above.strip() else line
            line = f"{line}\n" if below.strip() else line
    if len(statement.names) == 1:
        edits = [Edit(start, end, line)]
    else:
        edits = [_without(source, statement, alias), Edit(behind, behind, f"{indent}{line}\n")]
        if source.text[behind - 1 : behind] != "\n":
            edits[1] = Edit(behind, behind, f"\n{indent}{line}")
    return Repair(
        (finding,), source.path, tuple(edits), f"import `{new.dotted}`{why}", stands_for=(old_ref.dotted, new.dotted)
    )


def _without(source: Source, statement: ast.ImportFrom, alias: ast.alias) -> Edit:
    """The statement without one of its names."""
    end = source.span(statement)[1]
    index = statement.names.index(alias)
    if source.text[end - 1] == ")":
        return source.bracket(end).rebuilt(drop=[index])
    own_start, own_end = source.span(alias)
    if index + 1 < len(statement.names):
        return Edit(own_start, source.span(statement.names[index + 1])[0], "")
    return Edit(source.span(statement.names[index - 1])[1], own_end, "")


def attribute(source: Source, place: Location, name: str) -> tuple[int, int]:
    """The offsets of a name that is read from a module at a place."""
    node = source.named(place, ast.Attribute)
    if not isinstance(node, ast.Attribute) or node.attr != name:
        raise NoRepairError("only a plain name is fixed")
    _, end = source.span(node)
    return end - len(name), end
