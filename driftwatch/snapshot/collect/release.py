"""A source tree -> the snapshot of one release: the API of a module and of all modules below it.

Enters: a tree of files. Leaves: every name that can be imported from those modules, with its facts; a name that is
defined elsewhere appears in full under each module that has it, and once more where it is defined. Classes that a
signature or another class refers to are there as well. Nothing of the library is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from driftwatch.errors import NoModuleError
from driftwatch.snapshot.collect.describe import Descriptions, is_dunder
from driftwatch.snapshot.collect.library import Definition, Foreign, Found, Library, ModuleFound
from driftwatch.snapshot.collect.reader import Reader
from driftwatch.snapshot.collect.source_facts import ClassFacts, ModuleFacts, ValueFacts
from driftwatch.snapshot.model.codec import alias_of
from driftwatch.snapshot.model.symbols import Ref, Snapshot, Symbol, SymbolKind
from driftwatch.snapshot.sources.tree import SourceTree
from driftwatch.system.deep_stack import on_deep_stack

UNKNOWN_BASE = "?"


@on_deep_stack
def collect(tree: SourceTree, module: str, release: str, reader: Reader | None = None) -> Snapshot:
    """The API of `module` in one release. A `reader` shared between releases reads equal files once."""
    library = Library(tree, module, release, reader or Reader())
    if library.module(module) is None:
        raise NoModuleError(f"release {release} has no module {module}")
    return Snapshot(release, _Collecting(library, module).symbols())


class _Collecting:
    """The collection of one release."""

    def __init__(self, library: Library, root: str) -> None:
        self._library = library
        self._root = root
        self._descriptions = Descriptions(library)
        self._symbols: dict[Ref, Symbol] = {}

    def symbols(self) -> dict[Ref, Symbol]:
        for path in self._library.modules_under(self._root):
            facts = self._library.module(path)
            if facts is not None:
                self._module(facts)
            for compiled in self._library.compiled_under(path):
                ref = Ref(compiled, "")
                self._symbols[ref] = Symbol(ref, SymbolKind.MODULE, open=True)
        for symbol in self._descriptions.all():
            self._symbols.setdefault(symbol.ref, symbol)
        aliases: dict[Ref, list[Ref]] = {}
        for symbol in self._symbols.values():
            if symbol.definition is not None:
                aliases.setdefault(symbol.definition, []).append(symbol.ref)
        for path in self._library.modules_under(self._root):
            facts = self._library.module(path)
            for owner, name in facts.gives if facts is not None else ():
                self._give(self._library.resolve(owner), name, aliases)
        return dict(sorted(self._symbols.items()))

    def _module(self, facts: ModuleFacts) -> None:
        ref = Ref(facts.name, "")
        imports, demands = self._library.loaded_by(facts)
        self._symbols[ref] = Symbol(
            ref,
            SymbolKind.MODULE,
            requires=self._descriptions.module_requires(facts.name),
            open=self._library.is_open(facts),
            imports=tuple(sorted(imports)),
            demands=tuple(sorted(demands)),
        )
        for name in self._library.names(facts):
            bound = facts.bound.get(name)
            if is_dunder(name):
                if bound is not None and isinstance(bound.facts, ValueFacts) and name != "__all__":
                    self._symbols[ref.member(name)] = Symbol(ref.member(name), SymbolKind.ATTRIBUTE)
                continue
            found = self._library.attribute(facts.name, name)
            lazy = facts.lazy.get(name, ()) if bound is None else ()
            needs = bound.needs if bound is not None else [f"{t.module}.{t.name}".rstrip(".") for t in lazy]
            self._place(ref.member(name), found, self._descriptions.requires(needs))

    def _give(self, owner: Found | None, name: str | None, aliases: Mapping[Ref, Sequence[Ref]]) -> None:
        """A module of the library gives a name to another one, or to a class: perhaps one that nobody can tell.

        A class has it by whatever name it is known.
        """
        if isinstance(owner, ModuleFound):
            ref = Ref(owner.module, "")
        elif isinstance(owner, Definition) and isinstance(owner.bound.facts, ClassFacts):
            ref = owner.ref
        else:
            return
        for each in (ref, *aliases.get(ref, ())):
            symbol = self._symbols.get(each)
            if name is None and symbol is not None:
                # What it inherits may be replaced as well, as if something unknown stood before its bases.
                bases = (UNKNOWN_BASE, *symbol.bases) if symbol.bases else ()
                self._symbols[each] = replace(symbol, open=True, bases=bases)
            elif name is not None and symbol is not None and not name.startswith("_"):
                member = Symbol(ref.member(name), SymbolKind.ATTRIBUTE)
                placed = member if each == ref else alias_of(member, ref, each)
                self._symbols.setdefault(placed.ref, placed)

    def _place(self, ref: Ref, found: Found | None, requires: tuple[str, ...]) -> None:
        """Record what a name of a module leads to."""
        if found is None:
            self._symbols[ref] = Symbol(ref, SymbolKind.ATTRIBUTE, requires=requires)
        elif isinstance(found, Foreign):
            self._symbols[ref] = Symbol(ref, SymbolKind.ATTRIBUTE, definition=found.ref, requires=requires)
        elif isinstance(found, ModuleFound):
            if found.module != ref.dotted:
                target = Ref(found.module, "")
                self._symbols[ref] = Symbol(ref, SymbolKind.MODULE, definition=target, requires=requires)
        else:
            for symbol in self._descriptions.of(found):
                placed = symbol if found.ref == ref else alias_of(symbol, found.ref, ref)
                if placed.ref == ref and requires:
                    placed = replace(placed, requires=tuple(sorted({*placed.requires, *requires})))
                self._symbols[placed.ref] = placed
