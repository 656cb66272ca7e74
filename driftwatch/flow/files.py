"""The code base's files: which mention the library, how imports resolve to them, and what each was found to export.

Enters: the contents of the files. A file that cannot be read or parsed leaves a diagnostic, once, and counts as a
module of which nothing is known.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from driftwatch.flow.code import ModuleCode
from driftwatch.flow.contents import Contents
from driftwatch.flow.outline import definitions
from driftwatch.flow.source import SourceError, decode
from driftwatch.flow.survey import Import, Survey, survey
from driftwatch.flow.uses import Diagnostic

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Files:
    """The files of one root, by their paths in it."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.paths = contents.paths
        self.diagnostics: dict[tuple[str, int | None], Diagnostic] = {}
        self.exports: Callable[[ModuleCode], set[str]] = lambda module: set()
        self._by_tail: dict[str, list[str]] = {}
        for path in self.paths:
            self._by_tail.setdefault(_tail(path), []).append(path)
        self._modules: dict[str, ModuleCode | None] = {}
        self._mentions: set[str] = set()
        self._interesting: dict[str, set[str]] = {}
        self._resolved: dict[tuple[str, str, int], str | None] = {}

    # -- bytes -----------------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None, with a diagnostic, when it cannot be read."""
        data = self._contents.read(path)
        if data is None:
            self._diagnose(path, None, f"it cannot be read: {self._contents.unreadable[path]}")
        return data

    def mentioning(self, root: str) -> list[str]:
        """The files that mention a module of the library: as a dotted name, in a from-import, or in parts."""
        top, _, leaf = root.rpartition(".")
        first = (top or leaf).partition(".")[0].encode()
        last = leaf.encode()
        word = re.compile(rb"\b" + re.escape(first) + rb"\b")
        if not top:
            return [path for path, data in self._with([first]) if word.search(data)]
        # A pattern that begins with plain text is searched for many times faster than one that begins with a boundary.
        top_word = re.escape(first) + rb"(?<!\w" + re.escape(first) + rb")"
        end = re.escape(last)
        dotted = re.compile(top_word + rb"[\w.]*\.\s*" + end + rb"\b")
        listed = re.compile(
            rb"from(?<!\wfrom)\s+" + top_word + rb"[\w.]*\s+import\s+(?:\([^)]*?|[^\n(]*?)(?:\b" + end + rb"\b|\*)"
        )
        aliases = (
            re.compile(rb"import(?<!\wimport)\s[^\n]*\b" + re.escape(first) + rb"[\w.]*\s+as\b"),
            re.compile(re.escape(first) + rb"(?<=['\"]" + re.escape(first) + rb")[\w.]*['\"]"),
            # The bare name of the package, handed on: ``fi = package``, ``getattr(package, "part")``.
            re.compile(
                re.escape(first) + rb"(?<![\w.'\"]" + re.escape(first) + rb")(?<!import " + re.escape(first) + rb")"
                rb"(?<!from " + re.escape(first) + rb")\s*[,;)\]}\n#]"
            ),
        )
        parts = (
            re.compile(end + rb"(?<=[.'\"]" + end + rb")\b"),
            re.compile(rb"\.\s+" + end + rb"\b"),
        )
        return [
            path
            for path, data in self._with([first, last])
            if dotted.search(data)
            or listed.search(data)
            or (any(p.search(data) for p in aliases) and any(p.search(data) for p in parts))
        ]

    def _with(self, words: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
        for path in self.paths:
            data = self.read(path)
            if data is not None and data.startswith(_WIDE):
                # No Python reads it, but it is meant to be read: it is told of when it mentions what is looked for.
                data = data.replace(b"\0", b"")
            if data is not None and all(word in data for word in words):
                yield path, data

    def holds(self, module: ModuleCode, word: str) -> bool:
        """Whether a file's text holds a word."""
        data = self.read(module.path)
        return data is not None and word.encode() in data

    def importing(self, wanted: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
        """For modules by last name, the files that seem to import one of the names from it, or the module itself."""
        found: dict[str, list[str]] = {}
        for tail, names in wanted.items():
            seem = found[tail] = []
            if names:
                statements = _import_patterns(tail, names)
                encoded = [name.encode() for name in names]
                for path in self._imported.get(tail.encode("utf-8", "surrogateescape"), ()):
                    data = self.read(path)
                    if data is None or not any(name in data for name in encoded):
                        continue
                    if any(statement.search(data) for statement in statements):
                        seem.append(path)
        return found

    @cached_property
    def _imported(self) -> dict[bytes, list[str]]:
        """For modules by last name, the files that mention one in what looks like an import, in order."""
        tails = frozenset(tail.encode("utf-8", "surrogateescape") for tail in self._by_tail)
        found: dict[bytes, list[str]] = {}
        for path in self.paths:
            data = self.read(path)
            if data is not None:
                for word in tails.intersection(_WORD.findall(_imports(data))):
                    found.setdefault(word, []).append(path)
        return found

    def changed_elsewhere(self, module: ModuleCode, names: Collection[str]) -> set[str]:
        """The containers among a module's variables that another file changes, as far as names tell."""
        tail = _tail(module.path)
        found: set[str] = set()
        anyone = "|".join(map(re.escape, names)).encode()
        # A file is surveyed only where what it does with one of the names looks like a change.
        change = re.compile(rb"\b(?:" + anyone + rb")\b\s*(?:\[|\.\s*\w+\s*\(|[|+]?=(?!=)|as\b)")
        for path in self.importing({tail: names})[tail]:
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
            text = decode(data)
            return text, survey(text)
        except SourceError as error:
            self.failed(module, error)
            return nothing

    def defines(self, module: ModuleCode, name: str) -> bool | None:
        """Whether a file has a definition of this name at top level; None when it mentions it in another way.

        The file is not parsed for it.
        """
        data = self.read(module.path)
        encoded = name.encode()
        if data is None or encoded not in data:
            return False
        pattern = rb"^(?:async[ \t]+def|def|class)[ \t]+" + re.escape(encoded) + rb"\b"
        return True if re.search(pattern, data, re.MULTILINE) else None

    def definitions(self, module: ModuleCode, name: str) -> Iterator[bytes]:
        """The text of each top-level definition of this name, or more than that; the file is not parsed for it."""
        data = self.read(module.path)
        return definitions(data, name) if data is not None else iter(())

    def may_import(self, module: ModuleCode, name: str) -> bool:
        """Whether a file seems to have an import of this name; it is not parsed for it."""
        data = self.read(module.path)
        encoded = name.encode("utf-8", "surrogateescape")
        return data is not None and encoded in data and encoded in _WORD.findall(_imports(data))

    def failed(self, module: ModuleCode, error: SourceError) -> None:
        """A module turned out not to be parseable."""
        self._diagnose(module.path, error.line, error.message)
        self._modules[module.path] = None

    def matters(self, module: ModuleCode) -> bool:
        """Whether executing a module can tell anything about the library."""
        return self.may_matter(module.path)

    def may_matter(self, path: str) -> bool:
        return path in self._mentions or bool(self._interesting.get(path))

    def set_exports(self, path: str, names: set[str]) -> bool:
        """What a file exports that tells something about the library; whether that is news."""
        news = names - self._interesting.get(path, set())
        self._interesting[path] = names
        return bool(news)

    def leads_to_library(self, importer: ModuleCode, item: Import) -> bool:
        """Whether an imported name tells something about the library."""
        path = self.resolve_path(item.module, importer, item.level)
        if path is not None and path != importer.path and self.may_matter(path):
            source = self.module(path)
            if source is not None and (
                item.name in (None, "*") or source.executing or item.name in self.exports(source)
            ):
                return True
        if item.name is not None:
            name = f"{item.module}.{item.name}" if item.module else item.name
            child = self.resolve_path(name, importer, item.level)
            return child is not None and child != importer.path and self.may_matter(child)
        return False

    # -- imports ---------------------------------------------------------------------------------------------------

    def resolve(self, name: str, importer: ModuleCode, level: int = 0) -> ModuleCode | None:
        """The file that ``from <level dots><name> import ...`` in a module means."""
        path = self.resolve_path(name, importer, level)
        return None if path is None else self.module(path)

    def resolve_path(self, name: str, importer: ModuleCode, level: int = 0) -> str | None:
        """As `resolve`, without reading the file."""
        key = (name, importer.path.rpartition("/")[0], level)
        if key not in self._resolved:
            self._resolved[key] = self._find(name, importer.path, level)
        return self._resolved[key]

    def submodule(self, module: ModuleCode, name: str) -> ModuleCode | None:
        """A submodule of a package, by its last name."""
        if not module.path.endswith("__init__.py"):
            return None
        return self.resolve(name, module, 1)

    def _find(self, name: str, importer: str, level: int) -> str | None:
        if level:
            folder = PurePosixPath(importer).parent
            for _ in range(level - 1):
                if folder == folder.parent:
                    return None
                folder = folder.parent
            base = folder.joinpath(*name.split(".")) if name else folder
            return self._file_of(str(base))
        if not name:
            return None
        suffix = name.replace(".", "/")
        found = [
            path
            for path in self._by_tail.get(suffix.rpartition("/")[2], ())
            if (_stem(path) == suffix or _stem(path).endswith("/" + suffix))
            and self._is_import_root(_stem(path)[: -len(suffix)].rstrip("/"), importer)
        ]
        if len(found) <= 1:
            return found[0] if found else None
        return min(found, key=lambda path: _distance(path, suffix, importer))

    def _is_import_root(self, root: str, importer: str) -> bool:
        """Whether Python could have a folder on its path: none inside a package, but for a script's own folder."""
        if not root:
            return True
        if root == importer.rpartition("/")[0]:
            return True
        parts = root.split("/")
        return not any("/".join(parts[: i + 1]) + "/__init__.py" in self._contents for i in range(len(parts)))

    def _file_of(self, base: str) -> str | None:
        for candidate in (f"{base}.py", f"{base}/__init__.py"):
            normal = str(PurePosixPath(candidate))
            if normal in self._contents:
                return normal
        return None


_WORD = re.compile(rb"[\w\x80-\xff]+")


def _imports(data: bytes) -> bytes:
    """The lines of a file that hold the word, with what they open in brackets: all import statements, and some more."""
    lines: list[bytes] = []
    at = data.find(b"import")
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if data.find(b"(", at, end) >= 0:
            closed = data.find(b")", at)
            end = max(end, len(data) if closed < 0 else closed)
        lines.append(data[start:end])
        at = data.find(b"import", end)
    return b"\n".join(lines)


def _import_patterns(tail: str, names: Collection[str]) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    word = re.escape(tail.encode("utf-8", "surrogateescape"))
    anyone = rb"|".join(re.escape(name.encode()) for name in sorted(names))
    from_it = rb"\bfrom\s+[\w.]*\b" + word + rb"\s+import\s+(?:\([^)]*?|[^\n(]*?)(?:\b(?:" + anyone + rb")\b|\*)"
    itself = rb"\bimport\b[^\n(]*\b" + word + rb"\b|\bimport\s*\([^)]*\b" + word + rb"\b"
    return re.compile(from_it), re.compile(itself)


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    stem = path[: dot - len(name)] if 0 < dot < len(name) - 1 else path
    return stem.removesuffix("/__init__")


def _tail(path: str) -> str:
    return _stem(path).rpartition("/")[2]


def _module_name(path: str) -> str:
    return _stem(path).replace("/", ".")


def _distance(path: str, suffix: str, importer: str) -> tuple[int, int, str]:
    """How far the import root of a candidate is from the importing file: a nearer root is on its path more likely."""
    root = _stem(path)[: -len(suffix)].rstrip("/")
    folder = importer.rpartition("/")[0]
    if not root or folder == root or folder.startswith(root + "/"):
        return (0, folder.count("/") - root.count("/"), path)
    return (1, len(path), path)
