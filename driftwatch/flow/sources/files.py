"""The code base's files: which mention the library, how imports resolve to them, and what each was found to export.

Enters: the contents of the files. A file that cannot be read or parsed leaves a diagnostic, once, and counts as a
module of which nothing is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.sources import first_look
from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.first_look import BY_DOTS, EVERYTHING, Importers, seems_to_import
from driftwatch.flow.sources.outline import Definition, assigned, definition, definitions, heads, imports, is_long_class
from driftwatch.flow.sources.resolution import Resolution, stem_of, tail_of
from driftwatch.flow.syntax.survey import Import, Survey, survey
from driftwatch.flow.uses import Diagnostic
from driftwatch.snapshot.model.adapted import face_in
from driftwatch.snapshot.model.history import History
from driftwatch.system.python_text import SourceError, decode

MAX_SOURCE = 4 << 20
"""Bytes of a file beyond which it is not parsed: syntax takes more than a hundred times as many."""


class Files:
    """The files of one root, by their paths in it."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.paths = contents.paths
        self.diagnostics: dict[tuple[str, int | None], Diagnostic] = {}
        self.exports: Callable[[ModuleCode], set[str]] = lambda module: set()
        self._resolution = Resolution(contents.paths)
        self._modules: dict[str, ModuleCode | None] = {}
        self._mentions: set[str] = set()
        self.adapters: dict[str, str] = {}
        """Files that are generated adapters of the library."""
        self._interesting: dict[str, set[str]] = {}
        self._bases: dict[str, Mapping[str, frozenset[str]]] = {}
        self._extended: dict[str, frozenset[bytes]] = {}
        self._defines: dict[tuple[str, str], bool | None] = {}
        self._imports: dict[tuple[str, str], Sequence[Import]] = {}
        self._changed: dict[str, dict[str, bool]] = {}

    # -- bytes -----------------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None, with a diagnostic, when it cannot be read."""
        data = self._contents.read(path)
        if data is None:
            self._diagnose(path, None, f"it cannot be read: {self._contents.unreadable[path]}")
        return data

    def mentioning(self, root: str) -> list[str]:
        """The files that mention a module of the library."""
        found = first_look.mentioning(self._contents, root)
        for path in self._contents.unreadable:
            self.read(path)
        return found

    def holds(self, module: ModuleCode, word: str) -> bool:
        """Whether a file's text holds a word."""
        data = self.read(module.path)
        return data is not None and word.encode() in data

    def importing(self, module: ModuleCode, names: Collection[str]) -> list[str]:
        """The files that seem to import one of the names from a module, or the module itself."""
        if not names:
            return []
        found: list[str] = []
        tail = tail_of(module.path).encode("utf-8", "surrogateescape")
        encoded = [name.encode() for name in names]
        bare, stars = set(self._from_its_package(module.path)), self._stars
        for path in sorted({*self._may_import(module.path), *bare}):
            data = self.read(path)
            if data is None or not (path in stars or any(name in data for name in encoded)):
                continue
            if seems_to_import(data, tail, encoded, bare=path in bare):
                found.append(path)
        return found

    def _from_its_package(self, path: str) -> Iterator[str]:
        """The files of a package that import from a package by dots alone, as they may from this one's own file."""
        folder, _, name = path.rpartition("/")
        if name == "__init__.py":
            yield from (other for other in self._with_import_of(BY_DOTS) if other.startswith(folder + "/"))

    def _may_import(self, path: str) -> list[str]:
        """The files whose imports hold all the words that it takes to mean this module from where they are."""
        *above, tail = stem_of(path).split("/")
        kept: list[str] = []
        rest = self._with_import_of(tail)
        while above and self._resolution.is_package("/".join(above)):
            folder = "/".join(above) + "/"
            kept += [other for other in rest if other.startswith(folder)]
            # From outside of it, a package cannot be passed over.
            named = set(self._with_import_of(above.pop()))
            rest = [other for other in rest if other in named and not other.startswith(folder)]
        return sorted([*kept, *rest])

    def naming(self, path: str) -> Sequence[str]:
        """The files that seem to import a module, by its last name."""
        return self._with_import_of(tail_of(path))

    def mark_adapters(self, paths: Iterable[str], history: History) -> None:
        """Look for generated adapters of a library among the paths: `adapters` has them, with what stands for each."""
        faces = {path: face_in(self.read(path) or b"", history) for path in paths}
        self.adapters = {path: face for path, face in faces.items() if face is not None}

    def _with_import_of(self, word: str) -> Sequence[str]:
        return self._imported.get(word.encode("utf-8", "surrogateescape"), ())

    @cached_property
    def _imported(self) -> Importers:
        return first_look.importers(self._contents)

    @cached_property
    def _stars(self) -> frozenset[str]:
        return frozenset(self._with_import_of(EVERYTHING))

    def changed_elsewhere(self, module: ModuleCode, names: Collection[str]) -> set[str]:
        """The containers among a module's variables that another file changes, as far as names tell."""
        known = self._changed.setdefault(module.path, {})
        fresh = [name for name in names if name not in known]
        if fresh:
            known.update(dict.fromkeys(fresh, False))
            known.update(dict.fromkeys(self._find_changed(module, fresh), True))
        return {name for name in names if known[name]}

    def _find_changed(self, module: ModuleCode, names: Collection[str]) -> set[str]:
        found: set[str] = set()
        importing = self.importing(module, names)
        if not importing:
            return found
        anyone = "|".join(map(re.escape, names)).encode()
        # A file is surveyed only where what it does with one of the names looks like a change.
        change = re.compile(rb"\b(?:" + anyone + rb")\b\s*(?:\[|\.\s*\w+\s*\(|[|+]?=(?!=)|as\b)")
        for path in importing:
            data = self.read(path) if path != module.path else None
            other = self.readable(path) if data is not None and change.search(data) else None
            if other is not None and other.survey is not None:
                found.update(self._changed_by(other, module, names))
        return found

    def _changed_by(self, other: ModuleCode, module: ModuleCode, names: Collection[str]) -> Iterator[str]:
        pieces = other.survey.pieces if other.survey is not None else ()
        changes = {name for piece in pieces for name in (*piece.changes, *(f".{name}" for name in piece.outside))}
        for item in (item for piece in pieces for item in piece.imports):
            if item.name is not None and item.name in names and item.bound in changes:
                if self.resolve_path(item.module, other, item.level) == module.path:
                    yield item.name
            dotted = ".".join(part for part in (item.module, item.name) if part)
            of_it = [name for name in names if f".{name}" in changes]
            if of_it and self.resolve_path(dotted, other, item.level) == module.path:
                yield from of_it

    def _diagnose(self, path: str, line: int | None, message: str) -> None:
        self.diagnostics.setdefault((path, line), Diagnostic(path, line, message))

    # -- modules ---------------------------------------------------------------------------------------------------

    def mark_mentions(self, paths: Iterable[str]) -> None:
        """These files mention the library."""
        self._mentions.update(paths)

    def module(self, path: str) -> ModuleCode | None:
        """A file as a module, which is read when its text is first asked for; None when it turned out unreadable."""
        if path not in self._modules:
            self._modules[path] = ModuleCode(path, _module_name(path), self._load)
        return self._modules[path]

    def readable(self, path: str) -> ModuleCode | None:
        """A file as a module that has been read; None, with a diagnostic, when it cannot be read as Python."""
        module = self.module(path)
        if module is not None:
            _ = module.survey
        return self._modules[path]

    def _load(self, module: ModuleCode) -> tuple[str, Survey | None]:
        nothing = "", Survey(())
        data = self.read(module.path)
        if data is None:
            self._modules[module.path] = None
            return nothing
        try:
            if len(data) > MAX_SOURCE:
                raise SourceError(f"it is larger than {MAX_SOURCE:,} bytes")
            text = decode(data)
            return text, survey(text)
        except SourceError as error:
            self.failed(module, error)
            return nothing

    def defines(self, module: ModuleCode, name: str) -> bool | None:
        """Whether a file has a definition of this name at top level; None when it mentions it in another way.

        The file is not parsed for it.
        """
        key = (module.path, name)
        if key not in self._defines:
            data = self.read(module.path)
            mentions = data is not None and name.encode() in data
            self._defines[key] = (any(heads(data, name)) or None) if data is not None and mentions else False
        return self._defines[key]

    def assigned(self, module: ModuleCode, name: str) -> ast.expr | None:
        """What is assigned to a variable of a file, where one statement alone binds it; the file is not parsed for it.

        Another file may set it on the module: then it may be anything.
        """
        data = self.read(module.path)
        found = assigned(data, name) if data is not None else None
        return None if found is None or self._is_set_elsewhere(module, name) else found

    def _is_set_elsewhere(self, module: ModuleCode, name: str) -> bool:
        attribute = b"." + name.encode("utf-8", "surrogateescape")
        for path in self._may_import(module.path):
            data = self.read(path) or b""
            if attribute in data and re.search(re.escape(attribute) + rb"[ \t]*[-+|&]?=(?!=)", data):
                return True
        return False

    def definitions(self, module: ModuleCode, name: str) -> Iterator[bytes]:
        """The text of each top-level definition of this name, or more than that; the file is not parsed for it."""
        data = self.read(module.path)
        return definitions(data, name) if data is not None else iter(())

    def definition(self, module: ModuleCode, name: str) -> Definition | None:
        """The one top-level definition of this name, as far as that can be told without parsing the file."""
        data = self.read(module.path)
        return definition(data, name) if data is not None else None

    def is_long_class(self, module: ModuleCode, name: str, lines: int) -> bool:
        """Whether a name is that of a class of more lines; the file is not parsed for it."""
        data = self.read(module.path)
        return data is not None and is_long_class(data, name, lines)

    def imports_of(self, module: ModuleCode, name: str) -> Sequence[Import]:
        """The imports of a file that bind a name."""
        key = (module.path, name)
        if key not in self._imports:
            self._imports[key] = self._find_imports(module, name)
        return self._imports[key]

    def _find_imports(self, module: ModuleCode, name: str) -> Sequence[Import]:
        data = self.read(module.path)
        if data is None or name.encode("utf-8", "surrogateescape") not in data:
            return ()
        found = None if module.is_read else imports(data, name)
        if found is not None:
            return found
        pieces = module.survey.pieces if module.survey is not None else ()
        return [item for piece in pieces for item in piece.imports if item.bound == name]

    def failed(self, module: ModuleCode, error: SourceError) -> None:
        """A module turned out not to be parseable."""
        self._diagnose(module.path, error.line, error.message)
        self._modules[module.path] = None

    def matters(self, module: ModuleCode) -> bool:
        """Whether executing a module can tell anything about the library."""
        return self.may_matter(module.path)

    def may_matter(self, path: str) -> bool:
        return path in self._mentions or bool(self._interesting.get(path) or self._bases.get(path))

    def interesting(self) -> list[str]:
        """The files that may have to do with the library."""
        return sorted({*self._mentions, *(path for path, names in self._interesting.items() if names)})

    def set_exports(self, path: str, names: set[str]) -> bool:
        """What a file exports that tells something about the library; whether that is news."""
        news = names - self._interesting.get(path, set())
        self._interesting[path] = names
        return bool(news)

    def set_bases(self, path: str, names: Mapping[str, frozenset[str]]) -> None:
        """The classes of a file that use the library, each with what a subclass may set for it."""
        self._bases[path] = names

    def bases(self, module: ModuleCode) -> Mapping[str, frozenset[str]]:
        return self._bases.get(module.path, {})

    def extends(self, path: str, names: Mapping[str, frozenset[str]]) -> bool:
        """Whether a file seems to derive from one of these classes and to set some of that, or is a package's own."""
        if path.endswith("/__init__.py"):
            return True
        data = self.read(path) or b""
        if path not in self._extended:
            self._extended[path] = frozenset(_NAME.findall(b" ".join(_CLASS_HEAD.findall(data))))
        derived = [name for name in names if name.encode() in self._extended[path]]
        return any(_defines(data, hook.encode()) for name in derived for hook in names[name])

    def leads_to_library(self, importer: ModuleCode, item: Import) -> bool:
        """Whether an imported name tells something about the library."""
        path = self.resolve_path(item.module, importer, item.level)
        if path in self.adapters or self.is_below_adapter(item.module, importer, item.level):
            return True
        if path is not None and path != importer.path and self.may_matter(path):
            source = self.module(path)
            if source is not None and (
                item.name in (None, "*") or source.executing or item.name in self.exports(source)
            ):
                return True
            known = self._bases.get(path, {}).get(item.name or "")
            if known is not None and self.extends(importer.path, {item.bound: known}):
                return True
        if item.name is not None:
            name = f"{item.module}.{item.name}" if item.module else item.name
            child = self.resolve_path(name, importer, item.level)
            return child is not None and child != importer.path and (child in self.adapters or self.may_matter(child))
        return False

    def is_below_adapter(self, name: str, importer: ModuleCode, level: int) -> bool:
        """Whether a module is a submodule of a generated adapter, which has those of the library."""
        parent = name.rpartition(".")[0]
        return bool(self.adapters and parent) and self.resolve_path(parent, importer, level) in self.adapters

    # -- imports ---------------------------------------------------------------------------------------------------

    def resolve(self, name: str, importer: ModuleCode, level: int = 0) -> ModuleCode | None:
        """The file that ``from <level dots><name> import ...`` in a module means."""
        path = self.resolve_path(name, importer, level)
        return None if path is None else self.module(path)

    def resolve_path(self, name: str, importer: ModuleCode, level: int = 0) -> str | None:
        """As `resolve`, without reading the file."""
        return self._resolution.path_of(name, importer.path, level)

    def submodule(self, module: ModuleCode, name: str) -> ModuleCode | None:
        """A submodule of a package, by its last name."""
        if not module.path.endswith("__init__.py"):
            return None
        return self.resolve(name, module, 1)


def _defines(data: bytes, name: bytes) -> bool:
    """Whether a file seems to have a method or a variable of a class by this name."""
    return b"def " + name in data or re.search(rb"^[ \t]+" + name + rb"\s*[:=]", data, re.MULTILINE) is not None


_CLASS_HEAD = re.compile(rb"^[ \t]*class\s+\w+\s*(?:\[[^\]]*\]\s*)?\(([^)]*)", re.MULTILINE)
_NAME = re.compile(rb"\w+")


def _module_name(path: str) -> str:
    return stem_of(path).replace("/", ".")
