"""Everything that the analysis skips to save time, each with a way to do without it.

A kind is switched off where it decides: either the decision is put out of action, or the files are changed in a way
that gives it nothing to skip and changes nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.interpreter import modules
from driftwatch.flow.interpreter import statements as loops
from driftwatch.flow.interpreter.modules import Modules
from driftwatch.flow.sources.files import Files
from driftwatch.flow.sources.outline import Definition
from driftwatch.flow.sources.relevance import Selection, select
from driftwatch.flow.syntax.survey import Import, Piece

MENTION = "\n\nimport {module} as _mentioned_here  # {top} kwargs return {{ return dict(\n"
"""With this, neither a file nor a function of it is passed over because of a word that it does not hold."""


def off(patch: pytest.MonkeyPatch, kinds: Collection[str]) -> None:
    """Put out of action what the analysis itself skips."""
    for kind in kinds:
        if kind in _SWITCHES:
            _SWITCHES[kind](patch)


def changed(files: Mapping[str, str], kinds: Collection[str], module: str) -> dict[str, str]:
    """The files with nothing that a search for bytes could skip."""
    text = MENTION.format(module=module, top=module.partition(".")[0]) if "byte search" in kinds else ""
    return {path: source + text for path, source in files.items()}


def _no_importers(patch: pytest.MonkeyPatch) -> None:
    """Every file is parsed to know what it imports."""

    def importing(self: Files, module: ModuleCode, names: Collection[str]) -> list[str]:
        return [path for path in self.paths if names and _imports(self, path, module)]

    patch.setattr(Files, "importing", importing)
    patch.setattr(Files, "extends", lambda self, path, names: True)


def _imports(files: Files, path: str, module: ModuleCode) -> bool:
    other = files.readable(path)
    for piece in _pieces(other) if other is not None else ():
        for item in piece.imports:
            for name in (item.module, f"{item.module}.{item.name}".lstrip(".")):
                if files.resolve_path(name, other, item.level) == module.path:
                    return True
    return False


def _pieces(module: ModuleCode) -> tuple[Piece, ...]:
    return module.survey.pieces if module.survey is not None else ()


def _text(module: ModuleCode, piece: Piece) -> str:
    return "\n".join(module.lines[piece.first - 1 : piece.last])


def _no_outline(patch: pytest.MonkeyPatch) -> None:
    """Every file is parsed that something is to be known of."""

    def defines(self: Files, module: ModuleCode, name: str) -> bool | None:
        if any(piece.defines == name for piece in _pieces(module)):
            return True
        return None if any(name in line for line in module.lines) else False

    def imports_of(self: Files, module: ModuleCode, name: str) -> Iterable[Import]:
        return [item for piece in _pieces(module) for item in piece.imports if item.bound == name]

    def definitions(self: Files, module: ModuleCode, name: str) -> Iterator[bytes]:
        return (_text(module, piece).encode() for piece in _pieces(module) if piece.defines == name)

    def definition(self: Files, module: ModuleCode, name: str) -> Definition | None:
        found = [piece for piece in _pieces(module) if piece.defines == name]
        return Definition(_text(module, found[0]), found[0].is_class) if len(found) == 1 else None

    def is_long_class(self: Files, module: ModuleCode, name: str, lines: int) -> bool:
        found = definition(self, module, name)
        return found is not None and found.is_class and found.lines >= lines

    for function in (defines, imports_of, definitions, definition, is_long_class):
        patch.setattr(Files, function.__name__, function)


def _no_relevance(patch: pytest.MonkeyPatch) -> None:
    """Every statement of a module is executed; which classes are entered of their own accord stays as it is."""
    execute = Modules.execute
    relevant: dict[ModuleCode, Selection] = {}

    def everything(module: ModuleCode, root: str, distribution: str, files: Files) -> Selection:
        relevant[module] = select(module, root, distribution, files)
        runs = tuple((piece.first, piece.last) for piece in _pieces(module))
        return Selection(runs if module.survey is not None else ((1, max(1, len(module.lines))),))

    def executed(self: Modules, module: ModuleCode) -> None:
        execute(self, module)
        passed_over = tuple(relevant[module].skipped_definitions.values()) if module in relevant else ()
        for code in module.classes:
            line = code.tree.line(code.node)
            code.passed_over = any(piece.first <= line <= piece.last for piece in passed_over)
        self.late.update(dict.fromkeys(code for code in module.classes if code.passed_over))
        module.classes = [code for code in module.classes if not code.passed_over]

    def matters_more(self: Modules, module: ModuleCode) -> bool:
        before = relevant.get(module)
        history = self._world.history
        select_all = everything(module, history.module, history.distribution, self.files)
        if before is None or before.runs == relevant[module].runs or not module.executed or module.executing:
            return False
        self._selections[module] = select_all
        module.executed = False
        self.outdated.add(module)
        return True

    patch.setattr(Modules, "matters_more", matters_more)
    patch.setattr(modules, "select", everything)
    patch.setattr(Modules, "execute", executed)


def _all_worth_following(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Modules, "worth_following", lambda self, atom: True)


def _all_turns(patch: pytest.MonkeyPatch) -> None:
    """A loop whose elements are known goes through all of them."""
    patch.setattr(loops, "_asks_for_part", lambda run, node: True)


_SWITCHES = {
    "importers": _no_importers,
    "outline": _no_outline,
    "relevance": _no_relevance,
    "worth following": _all_worth_following,
    "turns": _all_turns,
}

KINDS = ("byte search", *_SWITCHES)


def write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """The files in a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return [folder / path for path in files]
