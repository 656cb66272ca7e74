"""The modules of one release, and where names lead in them.

Enters: a source tree. Leaves: for a dotted path or a module's attribute, the definition behind it, through any number
of imports, aliases, wildcard imports and lazy attributes. A file is read only when a name leads to it. What leaves the
library ends in `Foreign`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from driftwatch.errors import SnapshotError
from driftwatch.snapshot.collect.reader import Reader
from driftwatch.snapshot.collect.source_facts import (
    Bound,
    ClassFacts,
    Facts,
    ImportFacts,
    LazyTarget,
    ModuleFacts,
    NamedExpression,
    ValueFacts,
)
from driftwatch.snapshot.model.lineage import linearized
from driftwatch.snapshot.model.standard_bases import NAMED_TUPLES
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.snapshot.sources.tree import SourceTree

COMPILED = ("so", "pyd", "pyx")
NAMED_TUPLE_CALLS = frozenset({"collections.namedtuple", *NAMED_TUPLES})
STANDARD_LIBRARY = frozenset(sys.stdlib_module_names) | {"tomllib", "distutils", "imp", "asyncore", "asynchat", "smtpd"}
"""Whatever Python runs driftwatch, so that it makes the same snapshot."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Something the library itself defines, where it stands."""

    ref: Ref
    bound: Bound


@dataclass(frozen=True, slots=True)
class ModuleFound:
    """A module of the library."""

    module: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of another distribution, or of Python."""

    ref: Ref

    @property
    def dotted(self) -> str:
        """Its dotted name; a builtin's is its name alone."""
        return ".".join(part for part in self.ref if part)


Found = Definition | ModuleFound | Foreign


def is_class(facts: Facts) -> bool:
    """Whether a name is bound to a class: by a ``class`` statement, or by a call that makes a named tuple."""
    made = isinstance(facts, ValueFacts) and facts.call is not None and facts.call.path in NAMED_TUPLE_CALLS
    return made or isinstance(facts, ClassFacts)


def _is_compiled(name: str, entries: Iterable[str]) -> bool:
    """Whether a folder has a compiled module of this name."""
    return any(entry.startswith(f"{name}.") and entry.rpartition(".")[2] in COMPILED for entry in entries)


class Library:
    """One release of a library, read on demand."""

    def __init__(self, tree: SourceTree, root: str, release: str, reader: Reader) -> None:
        self.root = root
        self.top = root.partition(".")[0]
        self.release = release
        self._tree = tree
        self._reader = reader
        self._modules: dict[str, ModuleFacts | None] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._packages: dict[str, frozenset[str]] = {}
        self._lineages: dict[Ref, tuple[Bound, tuple[Found | None, ...]]] = {}

    # -- files ---------------------------------------------------------------------------------------------------

    def module(self, path: str) -> ModuleFacts | None:
        """The facts of a module; None when the release has no such file."""
        if path not in self._modules:
            self._modules[path] = self._load(path)
        return self._modules[path]

    def _load(self, path: str) -> ModuleFacts | None:
        if not self.owns(path) or not all(part.isidentifier() for part in path.split(".")):
            return None
        folder, _, last = path.replace(".", "/").rpartition("/")
        entries = self._entries(folder)
        if last in entries and "__init__.py" in self._entries(f"{folder}/{last}".lstrip("/")):
            source = self._tree.read(path.replace(".", "/") + "/__init__.py")
            if source is not None:
                return self._read(source, path, True)
        if f"{last}.py" in entries:
            source = self._tree.read(path.replace(".", "/") + ".py")
            if source is not None:
                return self._read(source, path, False)
        elif f"{last}.pyi" in entries and _is_compiled(last, entries):
            source = self._tree.read(path.replace(".", "/") + ".pyi")
            if source is not None:
                # What the stub says of a compiled module is right; that it says all is nowhere promised.
                return replace(self._read(source, path, False), open=True)
        return ModuleFacts(path, True, {}) if last in entries and self._is_package(path) else None

    def _is_package(self, path: str) -> bool:
        """Whether a folder is a package; one without ``__init__.py`` is a namespace package where it holds sources."""
        entries = self._entries(path.replace(".", "/"))
        return "__init__.py" in entries or any(name.endswith(".py") for name in entries)

    def _read(self, source: bytes, path: str, is_package: bool) -> ModuleFacts:
        """The facts of a file. One below the root that is no Python of today is there, and may have any name."""
        try:
            return self._reader.facts(source, path, is_package, self.release)
        except SnapshotError:
            if not self._below_root(path):
                raise
            return ModuleFacts(path, is_package, {}, open=True)

    def _entries(self, folder: str) -> tuple[str, ...]:
        if folder not in self._names:
            self._names[folder] = self._tree.names(folder)
        return self._names[folder]

    def exists(self, path: str) -> bool:
        """Whether a module is there, without reading it."""
        if path in self._modules:
            return self._modules[path] is not None
        folder, _, last = path.replace(".", "/").rpartition("/")
        entries = self._entries(folder)
        stub = f"{last}.pyi" in entries and _is_compiled(last, entries)
        return stub or f"{last}.py" in entries or (last in entries and self._is_package(path))

    def modules_under(self, root: str) -> Iterator[str]:
        """The module and every module below it that has a source, in order."""
        yield root
        for name in self._below(root):
            if self._is_package(f"{root}.{name}"):
                yield from self.modules_under(f"{root}.{name}")
            elif self.exists(f"{root}.{name}"):
                yield f"{root}.{name}"

    def compiled_under(self, root: str) -> Iterator[str]:
        """The compiled modules directly in a package: they are there, and nothing is known of them."""
        for name in self._below(root):
            if not self.exists(f"{root}.{name}"):
                yield f"{root}.{name}"

    def _below(self, package: str) -> Iterator[str]:
        stems: dict[str, None] = {}
        for name in self._entries(package.replace(".", "/")):
            stem, _, suffix = name.partition(".")
            compiled = suffix.rpartition(".")[2] in COMPILED
            if stem.isidentifier() and stem not in ("__init__", "__main__") and (suffix in ("", "py") or compiled):
                if compiled or suffix == "py" or self._is_package(f"{package}.{stem}"):
                    stems[stem] = None
        return iter(stems)

    def owns(self, path: str) -> bool:
        return path == self.top or path.startswith(self.top + ".")

    # -- names ---------------------------------------------------------------------------------------------------

    def names(self, module: ModuleFacts, seen: frozenset[str] = frozenset()) -> dict[str, None]:
        """Every name of a module: bound, imported by wildcard, answered lazily."""
        found = dict.fromkeys(module.bound)
        for star in module.stars:
            if star not in seen and (source := self.module(star)) is not None:
                found.update(dict.fromkeys(self.exported(source, seen | {module.name})))
        found.update(dict.fromkeys(module.lazy))
        return found

    def exported(self, module: ModuleFacts, seen: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """What a wildcard import of the module brings."""
        if module.exported is not None:
            return module.exported
        names = {**self.names(module, seen), **dict.fromkeys(self._loaded_below(module))}
        return tuple(name for name in names if not name.startswith("_"))

    def _loaded_below(self, module: ModuleFacts) -> Iterator[str]:
        """The submodules that a package itself imports: each is an attribute of it then."""
        if module.is_package:
            for path in sorted(self.loaded_by(module)[0]):
                package, _, name = path.rpartition(".")
                if package == module.name:
                    yield name

    def is_open(self, module: ModuleFacts, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the module may have names that cannot be listed, be it from one that it imports everything from."""
        if module.open:
            return True
        sources = [self.module(star) for star in module.stars if star not in seen]
        return any(
            source is None
            or (source.exported is None and (source.exports_computed or self.is_open(source, seen | {module.name})))
            for source in sources
        )

    def attribute(self, module: str, name: str, seen: frozenset[str] = frozenset()) -> Found | None:
        """What ``from module import name`` gives."""
        facts = self.module(module)
        key = f"{module}:{name}"
        if facts is None or key in seen:
            return None
        seen |= {key}
        bound = facts.bound.get(name)
        if bound is not None:
            return self._chosen(Ref(module, name), bound, seen)
        for star in reversed(facts.stars):
            source = self.module(star)
            if source is not None and name in self.exported(source):
                return self.attribute(star, name, seen)
        for target in facts.lazy.get(name, ()):
            if (found := self._lazy(target, seen)) is not None:
                return found
        submodule = f"{module}.{name}"
        return ModuleFound(submodule) if self.exists(submodule) else None

    def _lazy(self, target: LazyTarget, seen: frozenset[str]) -> Found | None:
        if not self.owns(target.module):
            return Foreign(Ref(target.module, target.name))
        if not target.name:
            return ModuleFound(target.module) if self.exists(target.module) else self.resolve(target.module, seen)
        return self.attribute(target.module, target.name, seen)

    def _chosen(self, ref: Ref, bound: Bound, seen: frozenset[str]) -> Found | None:
        """What a name leads to; itself, where it is imported from one place on one branch and not so on another."""
        found = self._followed(ref, bound, seen)
        if isinstance(found, Definition) and found.ref != ref:
            if any(self._followed(ref, Bound(rival), seen) != found for rival in self.rivals(bound)):
                return Definition(ref, bound)
        return found

    def rivals(self, bound: Bound) -> tuple[Facts, ...]:
        """What a name may be bound to as well; a handler counts only where what it handles can fail."""
        if bound.fallbacks and any(self.packages_of(path) - self.packages(self.root) for path in bound.tried):
            return (*bound.rivals, *bound.fallbacks)
        return bound.rivals

    def branches(self, found: Definition) -> Iterator[Found | None]:
        """What a definition is on each branch that makes it, the one of an ordinary installation first."""
        own = frozenset({str(found.ref)})
        yield self._followed(found.ref, Bound(found.bound.facts, found.bound.needs), own)
        for rival in self.rivals(found.bound):
            yield self._followed(found.ref, Bound(rival, found.bound.needs), own)

    def _followed(self, ref: Ref, bound: Bound, seen: frozenset[str]) -> Found | None:
        facts = bound.facts
        if isinstance(facts, ImportFacts):
            if self.owns(facts.path):
                return self.resolve(facts.path, seen)
            head, _, last = facts.path.rpartition(".")
            return Foreign(Ref(facts.path, "") if facts.module or not head else Ref(head, last))
        if isinstance(facts, ValueFacts) and facts.path is not None and self.owns(facts.path):
            target = self.resolve(facts.path, seen)
            if isinstance(target, ModuleFound) or (isinstance(target, Definition) and self._is_alias(ref, target)):
                return target
        return Definition(ref, bound)

    @staticmethod
    def _is_alias(ref: Ref, target: Definition) -> bool:
        """Whether a name given the value of another is a second name for it, rather than a constant that equals it."""
        if not isinstance(target.bound.facts, ValueFacts):
            return True
        return ref.qualname.rpartition(".")[0] == target.ref.qualname.rpartition(".")[0]

    def resolve(self, path: str, seen: frozenset[str] = frozenset()) -> Found | None:
        """What a dotted path leads to: the longest module that has the rest as attributes, else a module."""
        if not self.owns(path):
            head, _, last = path.rpartition(".")
            return Foreign(Ref(head, last))
        parts = path.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:cut])
            if not self.exists(module):
                continue
            found = self.attribute(module, parts[cut], seen)
            for part in parts[cut + 1 :]:
                found = self._inside(found, part, seen)
            if found is not None:
                return found
        return ModuleFound(path) if self.exists(path) else None

    def _inside(self, found: Found | None, name: str, seen: frozenset[str]) -> Found | None:
        if isinstance(found, ModuleFound):
            return self.attribute(found.module, name, seen)
        if isinstance(found, Definition) and isinstance(found.bound.facts, ClassFacts):
            return self.member(found, name, seen)
        return None

    def made(self, value: ValueFacts) -> Definition | None:
        """The class of the library whose instance a value is, where it is written as a call of it."""
        path = value.call.path if value.call is not None else ""
        found = self.resolve(path) if path and self.owns(path) else None
        return found if isinstance(found, Definition) and isinstance(found.bound.facts, ClassFacts) else None

    def member(self, owner: Definition, name: str, seen: frozenset[str] = frozenset()) -> Found | None:
        """What a class's own body binds a name to."""
        assert isinstance(owner.bound.facts, ClassFacts)
        bound = owner.bound.facts.body.get(name)
        ref = owner.ref.member(name)
        if bound is None or str(ref) in seen:
            return None
        return self._followed(ref, bound, seen | {str(ref)})

    # -- classes -------------------------------------------------------------------------------------------------

    def bases(self, owner: Definition) -> tuple[Found | None, ...]:
        """What a class's bases lead to, in order; None for an expression that names nothing."""
        assert isinstance(owner.bound.facts, ClassFacts)
        return tuple(self._base(base) for base in owner.bound.facts.bases)

    def _base(self, base: NamedExpression) -> Found | None:
        if base.call is not None and base.call.path in NAMED_TUPLE_CALLS:
            return Foreign(Ref("typing", "NamedTuple"))
        return self.resolve(base.path) if base.path else None

    def lineage(self, owner: Definition) -> tuple[Found | None, ...]:
        """The class and all it descends from in the order of lookup, foreign bases included, ``object`` not.

        None stands for a base that is an expression nobody can name.
        """
        known = self._lineages.get(owner.ref)
        if known is None or known[0] is not owner.bound:
            known = self._lineages[owner.ref] = (owner.bound, self._lineage(owner))
        return known[1]

    def _lineage(self, owner: Definition) -> tuple[Found | None, ...]:
        definitions = {str(owner.ref): owner}

        def bases(key: str) -> list[str]:
            current = definitions.get(key)
            keys: list[str] = []
            of_class = current is not None and isinstance(current.bound.facts, ClassFacts)
            for base in self.bases(current) if current is not None and of_class else ():
                if isinstance(base, Definition) and is_class(base.bound.facts):
                    definitions[str(base.ref)] = base
                    keys.append(str(base.ref))
                else:
                    keys.append(f"?{base.ref.dotted}" if isinstance(base, Foreign) else "?")
                    others[keys[-1]] = base if isinstance(base, Foreign) else None
            return list(dict.fromkeys(keys))

        others: dict[str, Foreign | None] = {}
        order = linearized(str(owner.ref), bases)
        return tuple(definitions[key] if key in definitions else others[key] for key in order)

    # -- loading -------------------------------------------------------------------------------------------------

    def loaded_by(self, facts: ModuleFacts) -> tuple[set[str], set[str]]:
        """The modules below the root that are loaded with a module, and those that it loads later or perhaps.

        What is imported under a ``try`` is loaded with it, unless an optional package may be missing.
        """
        certain, perhaps = list(facts.imports), list(facts.demands)
        for path, together in facts.tries:
            optional = any(self.packages_of(each) - self.packages(self.root) for each in together)
            (perhaps if optional else certain).append(path)
        loaded = {module for path in certain for module in self._on_the_way(path)} - {facts.name}
        return loaded, {module for path in perhaps for module in self._on_the_way(path)} - loaded - {facts.name}

    def _on_the_way(self, path: str) -> Iterator[str]:
        """The modules below the root that importing a dotted path loads."""
        parts = path.split(".")
        for cut in range(self.root.count(".") + 2, len(parts) + 1):
            module = ".".join(parts[:cut])
            if not self._below_root(module) or not self.exists(module):
                return
            if cut == len(parts) and self.attribute(module.rpartition(".")[0], parts[-1]) != ModuleFound(module):
                return  # ``from package import name`` asks the package first
            yield module

    def _below_root(self, path: str) -> bool:
        return path.startswith(self.root + ".")

    # -- optional packages ---------------------------------------------------------------------------------------

    def packages(self, module: str) -> frozenset[str]:
        """The foreign packages without which a module cannot be imported, as far as modules under the root tell."""
        if module not in self._packages:
            self._packages[module] = frozenset()  # ends cycles
            facts = self.module(module)
            found: set[str] = set()
            for path in facts.imports if facts is not None else ():
                found |= self.packages_of(path)
            self._packages[module] = frozenset(found)
        return self._packages[module]

    def packages_of(self, path: str) -> frozenset[str]:
        """The foreign packages that an import of a dotted path needs."""
        if not self.owns(path):
            top = path.partition(".")[0]
            return frozenset() if top in STANDARD_LIBRARY or not top else frozenset({top})
        if path != self.root and not self._below_root(path):
            return frozenset()
        found: frozenset[str] = frozenset()
        parts = path.split(".")
        for cut in range(self.root.count(".") + 2, len(parts) + 1):
            module = ".".join(parts[:cut])
            if self.exists(module):
                found |= self.packages(module)
        return found
