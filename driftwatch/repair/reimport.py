"""Names of the library imported from elsewhere or under other names: what moved and deprecated names share.

What is changed in one import is changed together: one repair for each statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Location
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.text import Source
from driftwatch.snapshot.model.symbols import Ref


@dataclass(frozen=True, slots=True)
class Reimport:
    """One name of a ``from`` import, and what is imported instead of it.

    `both` says that some release needs the old one. `why` continues the sentence that names the new one.
    """

    findings: tuple[Finding, ...]
    statement: ast.ImportFrom
    alias: ast.alias
    old: Ref
    new: Ref
    both: bool
    why: str


def imported(source: Source, finding: Finding) -> tuple[ast.ImportFrom, list[ast.alias]]:
    """The statement and the names in it that a finding is about: one, or all where it is about their module."""
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
                return node, [alias]
        if node.module == finding.symbol and start <= wanted[0] and wanted[1] <= end:
            return node, node.names
    raise NoRepairError("only a `from` import is fixed")


def together(source: Source, wanted: Iterable[Reimport]) -> Repair:
    """All that is imported otherwise of one statement. What several findings say of one name is done once."""
    names: dict[ast.alias, Reimport] = {}
    for each in wanted:
        known = names.setdefault(each.alias, each)
        if known is not each and known.new == each.new:
            known = replace(known, findings=(*known.findings, *each.findings), both=known.both or each.both)
            names[each.alias] = known
        elif known is not each:
            raise NoRepairError(f"`{known.new.dotted}` and `{each.new.dotted}` both stand for it")
    found = list(names.values())
    statement = found[0].statement
    if statement.level or statement.module is None:
        raise NoRepairError("the import is relative")
    if not source.stands_alone(statement):
        raise NoRepairError("several statements share the line")
    described = ", and ".join(f"import `{each.new.dotted}`{each.why}" for each in found)
    return Repair(
        tuple(dict.fromkeys(finding for each in found for finding in each.findings)),
        source.path,
        tuple(_edits(source, statement, found)),
        described,
        stands_for=tuple((each.old.dotted, each.new.dotted) for each in found),
    )


def _edits(source: Source, statement: ast.ImportFrom, found: Sequence[Reimport]) -> list[Edit]:
    start, end = source.span(statement)
    indent = source.indent_at(start)
    behind = source.line_end(end)
    by_module: dict[str, list[str]] = {}
    for each in found:
        if not each.both:
            by_module.setdefault(each.new.module, []).append(_bound(each))
    plain = [_line(source, module, names, indent) for module, names in by_module.items()]
    tried = [_either(source, each, indent) for each in found if each.both]
    lines = [*plain, *tried]
    at_top = not indent
    if len(found) == len(statement.names):
        # Behind the imports of a module, a block is set apart.
        above = source.lines[source.line_of(start) - 2] if source.line_of(start) > 1 else ""
        if tried and at_top and not plain and above.strip():
            lines[0] = f"\n{lines[0]}"
        if tried and at_top and plain:
            lines[len(plain)] = f"\n{lines[len(plain)]}"
        text = f"\n{indent}".join(lines)
        return [Edit(start, end, text if not tried or not at_top else text + _apart(source, behind))]
    if tried and at_top:
        lines[len(plain)] = f"\n{lines[len(plain)]}"
        lines[-1] += _apart(source, behind)
    text = f"\n{indent}".join(lines)
    gap = "\n" if source.text[behind - 1 : behind] != "\n" else ""
    added = Edit(behind, behind, f"{gap}{indent}{text}" if gap else f"{indent}{text}\n")
    return [*_without(source, statement, [each.alias for each in found]), added]


def _apart(source: Source, behind: int) -> str:
    """A line that sets a block apart from what follows it, where nothing does yet."""
    below = source.text[behind : source.line_end(behind)] if behind < len(source.text) else ""
    return "\n" if below.strip() else ""


def _either(source: Source, each: Reimport, indent: str) -> str:
    inner = f"{indent}    "
    new = _line(source, each.new.module, [_bound(each)], inner)
    old = _line(source, each.statement.module or "", [source.of(each.alias)], inner)
    return f"try:\n{inner}{new}\n{indent}except ImportError:\n{inner}{old}"


def _bound(each: Reimport) -> str:
    bound = each.alias.asname or each.alias.name
    return f"{each.new.qualname} as {bound}" if bound != each.new.qualname or each.alias.asname else each.new.qualname


def _line(source: Source, module: str, names: Sequence[str], indent: str) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(indent) + len(line) <= source.width:
        return line
    listed = "".join(f"{indent}    {name},\n" for name in names)
    return f"from {module} import (\n{listed}{indent})"


def _without(source: Source, statement: ast.ImportFrom, aliases: Sequence[ast.alias]) -> list[Edit]:
    """The statement without some of its names."""
    end = source.span(statement)[1]
    dropped = [statement.names.index(alias) for alias in aliases]
    if source.text[end - 1] == ")":
        return [source.bracket(end).rebuilt(drop=dropped)]
    spans = [source.span(alias) for alias in statement.names]
    kept = [i for i in range(len(spans)) if i not in dropped]
    edits = []
    if kept[0] > 0:
        edits.append(Edit(spans[0][0], spans[kept[0]][0], ""))
    for i, following in zip(kept, [*kept[1:], len(spans)], strict=True):
        if following > i + 1:
            # From behind one that stays to behind the last that goes.
            edits.append(Edit(spans[i][1], spans[following - 1][1], ""))
    return edits


def attribute(source: Source, place: Location, name: str) -> tuple[int, int]:
    """The offsets of a name that is read from a module at a place."""
    node = source.named(place, ast.Attribute)
    if not isinstance(node, ast.Attribute) or node.attr != name:
        raise NoRepairError("only a plain name is fixed")
    _, end = source.span(node)
    return end - len(name), end
