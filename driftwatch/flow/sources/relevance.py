"""Which pieces of a file need a full parse: those that lead to the library, and what they need to be executed.

Enters: a surveyed module. Leaves: the runs of lines to execute, and the names of what is passed over. A name leads to
the library when it is imported from it, or from a module of the code base that matters, or is bound by a piece that
mentions such a name. That over-approximates: a local variable of the same name counts as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.syntax.builtin_names import BUILTIN_NAMES
from driftwatch.flow.syntax.survey import Import, Piece, walk

if TYPE_CHECKING:
    from driftwatch.flow.sources.files import Files


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a module is executed. `runs` are first and last lines, in order."""

    runs: tuple[tuple[int, int], ...]
    skipped_definitions: dict[str, Piece] = field(default_factory=dict)
    skipped_names: dict[str, list[Piece]] = field(default_factory=dict)


def select(module: ModuleCode, root: str, distribution: str, files: Files) -> Selection:
    """The pieces of a module to execute."""
    survey = module.survey
    if survey is None:
        return Selection(((1, max(1, len(module.lines))),))
    top = root.partition(".")[0]
    pieces = survey.pieces
    leads = set(module.published)
    chosen: set[int] = set()
    binds: list[set[str]] = []
    variables = _variables(pieces)
    defined = variables | {piece.defines for piece in pieces if piece.defines is not None}
    for i, piece in enumerate(pieces):
        bound = {item.bound for item in piece.imports if _matters(item, module, top, root, files)}
        foreign = {item.bound for item in piece.imports} - bound
        if piece.defines is None:
            # What is put into something at the top level comes out of it in a function.
            binds.append((piece.binds - foreign) | (piece.writes & defined))
        else:
            # What a function puts into a variable of its module comes out of it in another function.
            binds.append({piece.defines} | (piece.writes & variables))
        # What is done by text may be done with anything.
        by_text = not _BY_TEXT.isdisjoint(piece.mentions)
        by_text |= not _PROGRAMS.isdisjoint(piece.mentions) and any(root in text for text in piece.strings)
        if bound or by_text or any(_names(text, top, distribution) for text in piece.strings):
            chosen.add(i)
            leads |= binds[i]
        if "*" in bound or _binds_by_name(piece):
            leads |= _unbound(pieces)
    filled = variables & set().union(*(p.writes for p in pieces if p.defines is not None))
    filled |= {p.defines for p in pieces if p.is_class and p.defines is not None and "__init_subclass__" in p.binds}
    writers = {piece.defines: piece.writes & variables for piece in pieces if piece.defines and not piece.is_class}
    changed = True
    while changed:
        changed = False
        for i, piece in enumerate(pieces):
            if i not in chosen and not (leads.isdisjoint(piece.mentions) and leads.isdisjoint(binds[i])):
                chosen.add(i)
                changed = True
            bound = binds[i] | _filled_by(piece, variables, writers) if i in chosen else binds[i]
            if i in chosen and not bound <= leads:
                leads |= bound
                changed = True
            if i in chosen and not (filled & piece.mentions) <= leads:
                # What is taken out of it, others have put there.
                leads |= filled & piece.mentions
                changed = True
    module.relevant = leads
    _add_needed(pieces, chosen)
    runs = _runs(pieces, chosen)
    definitions = {p.defines: p for i, p in enumerate(pieces) if i not in chosen and p.defines is not None}
    names: dict[str, list[Piece]] = {}
    for i, piece in enumerate(pieces):
        if i not in chosen and piece.defines is None:
            for name in piece.binds | piece.writes:
                names.setdefault(name, []).append(piece)
    return Selection(tuple(runs), definitions, names)


def _filled_by(piece: Piece, variables: set[str], writers: Mapping[str, set[str]]) -> set[str]:
    """The variables that the module itself puts something into here, or the functions that it calls."""
    if piece.defines is None:
        return (piece.writes & variables).union(*(writers.get(name, ()) for name in piece.mentions))
    return set().union(*(writers.get(name, ()) for name in _decorators(piece)))


def _decorators(piece: Piece) -> Iterator[str]:
    """The names in the decorators of a definition and of what is defined in it: the module calls these itself."""
    for statement in piece.statements:
        for definition in (statement, *(statement.body if isinstance(statement, ast.ClassDef) else ())):
            for decorator in getattr(definition, "decorator_list", ()):
                yield from (node.id for node in walk(decorator) if isinstance(node, ast.Name))


_BY_TEXT = frozenset({"eval", "exec", "globals"})
_PROGRAMS = frozenset({"os", "runpy", "subprocess"})


def _binds_by_name(piece: Piece) -> bool:
    """Whether a piece may put something into its module under a name that does not stand there as one."""
    return "globals" in piece.mentions or (not _SETTERS.isdisjoint(piece.mentions) and "modules" in piece.attributes)


_SETTERS = frozenset({"setattr", "vars"})


def _unbound(pieces: tuple[Piece, ...]) -> set[str]:
    """The names that are mentioned and that nothing binds but, perhaps, an import of everything."""
    mentioned: set[str] = set().union(*(piece.mentions for piece in pieces))
    return mentioned.difference(BUILTIN_NAMES, *(piece.binds for piece in pieces))


def _variables(pieces: tuple[Piece, ...]) -> set[str]:
    """What the module's own statements bind, but for what they import."""
    found: set[str] = set()
    for piece in pieces:
        if piece.defines is None:
            found |= piece.binds - {item.bound for item in piece.imports}
        elif piece.is_class:
            found.add(piece.defines)
    return found


def nothing_of(module: ModuleCode) -> Selection:
    """Nothing is executed: every name of the module is looked at only when it turns out to be needed."""
    pieces = module.survey.pieces if module.survey is not None else ()
    names: dict[str, list[Piece]] = {}
    for piece in pieces:
        if piece.defines is None:
            for name in piece.binds | piece.writes:
                names.setdefault(name, []).append(piece)
    return Selection((), {p.defines: p for p in pieces if p.defines is not None}, names)


def _matters(item: Import, module: ModuleCode, top: str, root: str, files: Files) -> bool:
    if item.level == 0 and item.module.partition(".")[0] == top:
        path = item.module if item.name is None else f"{item.module}.{item.name}"
        inside = item.module == root or item.module.startswith(root + ".") or root.startswith(path)
        return inside or item.module == top
    return files.leads_to_library(module, item)


def _names(text: str, top: str, distribution: str) -> bool:
    return text == top or text.startswith(top + ".") or text.lower().replace("_", "-") == distribution


def _add_needed(pieces: tuple[Piece, ...], chosen: set[int]) -> None:
    """Add the simple statements that bind what the chosen pieces mention, or put something into it."""
    binders: dict[str, list[int]] = {}
    for i, piece in enumerate(pieces):
        if piece.defines is None:
            for name in piece.binds | piece.writes:
                binders.setdefault(name, []).append(i)
    queue = list(chosen)
    while queue:
        for name in pieces[queue.pop()].mentions:
            for i in binders.get(name, ()):
                if i not in chosen:
                    chosen.add(i)
                    queue.append(i)


def _runs(pieces: tuple[Piece, ...], chosen: set[int]) -> list[tuple[int, int]]:
    """Neighbouring chosen pieces are parsed together, definitions by themselves."""
    runs: list[tuple[int, int]] = []
    joinable = False
    for i, piece in enumerate(pieces):
        if i not in chosen:
            joinable = False
            continue
        if joinable and piece.defines is None:
            runs[-1] = (runs[-1][0], piece.last)
        else:
            runs.append((piece.first, piece.last))
        joinable = piece.defines is None
    return runs
