"""The code base's modules as they are executed: once each, on demand, and of each only what can matter.

What was passed over is still there: a name that turns out to be needed after all is looked at then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from driftwatch.flow.domain.budget import Budget
from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode
from driftwatch.flow.domain.contents import Arguments, Content, Entry, ListContent
from driftwatch.flow.domain.coverage import Coverage
from driftwatch.flow.domain.dependencies import COMPLETES
from driftwatch.flow.domain.enums import is_enumeration
from driftwatch.flow.domain.frames import SILENT, Definitions, Frame, Recording
from driftwatch.flow.domain.heap import Heap
from driftwatch.flow.domain.loosening import counted
from driftwatch.flow.domain.pure import writable
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    NOTHING,
    Atom,
    Const,
    Function,
    Lazy,
    LibModule,
    ProjectModule,
    Value,
    const,
    join,
    unknown,
)
from driftwatch.flow.interpreter.deferred import finish
from driftwatch.flow.interpreter.havoc import changes_given
from driftwatch.flow.interpreter.published import publish
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.shared import open_variables, put_back
from driftwatch.flow.interpreter.skips import MODULE_MARK, mark_of_body
from driftwatch.flow.sources.files import Files
from driftwatch.flow.sources.outline import Definition
from driftwatch.flow.sources.relevance import Selection, nothing_of, select
from driftwatch.flow.syntax.survey import Piece
from driftwatch.flow.syntax.syntax import Tree, of_parsed, parse
from driftwatch.releases import ReleaseSet

if TYPE_CHECKING:
    from driftwatch.flow.interpreter.world import World

_HOOK = "__getattr__"

MAX_NAMES = 4
"""How many other names a constant may be given by."""

SHORT = 30
"""Lines up to which a function is short."""

_BUILDS_ARGUMENTS = re.compile(r"return \{|return dict\(|kwargs\b")
_BUILDS_ARGUMENTS_BYTES = re.compile(_BUILDS_ARGUMENTS.pattern.encode())


class Modules:
    """Executes modules and answers what their names are.

    `written`: a function has changed a module's variable. `outdated`: modules that look at what has been changed since
    they were analysed; `stale`: of them, only what has read what is another now.
    """

    def __init__(self, world: World, files: Files) -> None:
        self._world = world
        self._all = world.all_releases
        self.files = files
        self._top = world.history.module.partition(".")[0]
        self.written = False
        self.executing = 0
        """How many modules are being executed."""
        self.outdated: set[ModuleCode] = set()
        self.stale: set[ModuleCode] = set()
        self.late: dict[ClassCode | FunctionCode, None] = {}
        """What was passed over, and then asked for."""
        self._asked: set[tuple[ModuleCode, str]] = set()
        self._followed: set[tuple[ModuleCode, str]] = set()
        """Names that are looked for where their modules have them from: modules import each other."""
        self._selections: dict[ModuleCode, Selection] = {}
        self._worth: dict[tuple[ModuleCode, str, bool], bool] = {}
        self._enumerations: dict[Lazy, bool] = {}
        self._changes: dict[Lazy, bool | None] = {}
        self._written: dict[Lazy, Atom | None] = {}
        self.published: set[ModuleCode] = set()
        """Modules into which functions have put something of the library since that was last looked at."""
        self._short: dict[Lazy, bool] = {}
        self._nothing: dict[ModuleCode, Selection] = {}
        """What is selected of a module for as long as it does not matter."""

    @property
    def everywhere(self) -> ReleaseSet:
        """All releases."""
        return self._all

    def find(self, name: str, importer: ModuleCode, level: int = 0) -> ModuleCode | None:
        """The file an import means; None when it is none of the code base's."""
        return self.files.resolve(name, importer, level)

    def atom(self, module: ModuleCode) -> Atom:
        """A module of the code base as a value; a generated adapter is what it re-exports."""
        face = self.files.adapters.get(module.path)
        return ProjectModule(module) if face is None else LibModule(face)

    def below_adapter(self, name: str, importer: ModuleCode, level: int) -> str | None:
        """The library's module that a submodule of a generated adapter is; None for any other."""
        last = name.rpartition(".")[2]
        return f"{self._world.history.module}.{last}" if self.files.is_below_adapter(name, importer, level) else None

    def executed(self, path: str) -> ReleaseSet:
        """Execute a module if it matters, and say in which releases it can be imported."""
        module = self.files.module(path)
        if module is None or not self.files.matters(module):
            return self._all
        self.execute(module)
        return self._all if module.executing else module.completes

    def execute(self, module: ModuleCode) -> None:
        """Execute a module's relevant top-level code, once."""
        if module.executed or module.executing:
            return
        module.executing = True
        self.executing += 1
        run = Run(self._world)
        coverage = Coverage(module, self._all)
        self._world.entries.covers(module, coverage)
        recording, budget = Recording(coverage=coverage), Budget()
        selection = self._selection(module)
        try:
            for first, last in selection.runs:
                tree = self.tree(module, first, last)
                if not run.frame.module.path or run.frame.tree is not tree:
                    defined = run.frame.defined if run.frame.module is module else Definitions()
                    run.frame = Frame(module, tree, recording=recording, budget=budget, defined=defined)
                run.block(tree.module.body)
                if not run.state.reach:
                    break
        finally:
            self.executing -= 1
            module.executing = False
            module.executed = True
        before, module.names, module.heap = module.heap, dict(run.state.vars), run.state.heap.as_dict()
        put_back(self._world, module, before)
        mark = self.unexecuted_name(module, MODULE_MARK) if MODULE_MARK not in module.names else None
        mark_of_body(run, module, module.names if mark is None else {MODULE_MARK: mark})
        open_variables(self._world, module, self._selection(module).skipped_definitions)
        finish(run, run.state)
        module.completes = (run.state.live | module.exits) - module.fails
        self._world.dependencies.change(module, COMPLETES)
        module.functions = list(dict.fromkeys(run.frame.defined.functions))
        module.classes = list(dict.fromkeys(run.frame.defined.classes))

    def tree(self, module: ModuleCode, first: int, last: int) -> Tree:
        """The syntax of some lines of a module."""
        found = module.trees.get((first, last))
        if found is None:
            text = "\n".join(module.lines[first - 1 : last]) + "\n"
            if module.survey is None:
                found = parse(module.path, text, first - 1)
            else:
                inside = [piece for piece in module.survey.pieces if first <= piece.first <= last]
                found = of_parsed(module.path, text, first - 1, [each for piece in inside for each in piece.statements])
            module.trees[first, last] = found
        return found

    def _selection(self, module: ModuleCode) -> Selection:
        found = self._selections.get(module)
        if found is None and not self.files.matters(module):
            nothing = self._nothing.get(module)
            if nothing is None:
                nothing = self._nothing[module] = nothing_of(module)
            return nothing
        if found is None:
            found = select(module, self._world.history.module, self._world.history.distribution, self.files)
            self._selections[module] = found
        return found

    def passed_over(self, module: ModuleCode) -> Iterator[Piece]:
        """The pieces of a module that are not executed."""
        selection = self._selection(module)
        yield from selection.skipped_definitions.values()
        for pieces in selection.skipped_names.values():
            yield from pieces

    def matters_more(self, module: ModuleCode) -> bool:
        """Whether more of a module that has been executed matters than did then; if so, it is to be executed again."""
        before = self._selections.get(module)
        if before is None or not module.executed or module.executing:
            return False
        after = select(module, self._world.history.module, self._world.history.distribution, self.files)
        if after.runs == before.runs:
            return False
        self._selections[module] = after
        module.executed = False
        self.outdated.add(module)
        return True

    def unexecuted_name(self, module: ModuleCode, name: str) -> Value | None:
        """The value of a name that a piece of the module binds which was not executed; None when there is none."""
        if not module.path:
            return None
        selection = self._selection(module)
        if name in selection.skipped_definitions:
            return Value(((self._all, Lazy(module, name)),))
        pieces = selection.skipped_names.get(name)
        if pieces is None:
            return None
        return self._execute_skipped(module, name, pieces)

    def _execute_skipped(self, module: ModuleCode, name: str, pieces: list[Piece]) -> Value:
        """Execute the statements that bind a name which turned out to be needed after all."""
        module.names[name] = unknown(self._all)
        run = Run(self._world)
        run.state = State(self._all, dict(module.names), Heap(module.heap))
        del run.state.vars[name]
        for piece in pieces:
            run.frame = Frame(module, self.tree(module, piece.first, piece.last))
            run.block(run.frame.tree.module.body)
        finish(run, run.state)
        module.heap.update(run.state.heap.as_dict())
        module.names[name] = run.state.vars.get(name, unknown(self._all))
        for other, others in self._selection(module).skipped_names.items():
            if others == pieces and other in run.state.vars:
                # The same statements bind it.
                module.names.setdefault(other, run.state.vars[other])
        open_variables(self._world, module, self._selection(module).skipped_definitions)
        return module.names[name]

    def worth_following(self, atom: Lazy) -> bool:
        """Whether a function that was passed over may build keyword arguments, or know something of the library."""
        key = (atom.code, atom.name, self.files.matters(atom.code))
        known = self._worth.get(key)
        if known is None:
            known = self._worth[key] = self._is_worth_following(atom)
        return known

    def _is_worth_following(self, atom: Lazy) -> bool:
        if self.enumeration(atom) is not None:
            return True
        if self._is_short_class(atom):
            # What it makes may hold what was found out of the library.
            return True
        if not any(self.files.holds(atom.code, word) for word in (self._top, "kwargs", "return {", "return dict(")):
            return False
        knows = self.files.holds(atom.code, self._top)
        if not knows and not any(map(_BUILDS_ARGUMENTS_BYTES.search, self.files.definitions(atom.code, atom.name))):
            # The file need not be parsed to know this.
            return False
        if self.files.is_long_class(atom.code, atom.name, SHORT):
            return False
        found = self._passed_over(atom.code, atom.name)
        if found is None or (found.is_class and found.lines >= SHORT):
            return False
        if _BUILDS_ARGUMENTS.search(found.text) or self._top in found.text:
            return True
        # A short function may call one that asks for the library's version.
        return knows and found.lines < SHORT

    def short_class(self, atom: Lazy) -> Value | None:
        """A small class that was passed over, whose attributes somebody asks for."""
        return self.look_at(atom) if self._is_short_class(atom) else None

    def _is_short_class(self, atom: Lazy) -> bool:
        known = self._short.get(atom)
        if known is None:
            known = self._short[atom] = self._seems_short_class(atom)
        return known

    def _seems_short_class(self, atom: Lazy) -> bool:
        defined = any(
            text.lstrip().startswith((b"class", b"@")) for text in self.files.definitions(atom.code, atom.name)
        )
        if not defined or self.files.is_long_class(atom.code, atom.name, SHORT):
            return False
        found = self._passed_over(atom.code, atom.name)
        return found is not None and found.is_class and found.lines < SHORT

    def changes_given(self, atom: Lazy) -> bool | None:
        """Whether a function that was passed over changes a container that it is given; None where nobody can tell."""
        if atom not in self._changes:
            found = self._passed_over(atom.code, atom.name)
            self._changes[atom] = None if found is None or found.is_class else changes_given(found.text)
        return self._changes[atom]

    def _passed_over(self, module: ModuleCode, name: str) -> Definition | None:
        """A definition that is not looked at, as it is written."""
        if not module.is_read and not self.files.matters(module):
            # Of a large file that does not matter, one function is parsed many times faster.
            found = self.files.definition(module, name)
            if found is not None:
                return found
        piece = self._selection(module).skipped_definitions.get(name)
        if piece is None:
            return None
        return Definition("\n".join(module.lines[piece.first - 1 : piece.last]), piece.is_class)

    def enumeration(self, atom: Lazy) -> Value | None:
        """An enumeration that was passed over: what a mode is among its members, the library may decide."""
        if atom not in self._enumerations:
            self._enumerations[atom] = any(map(is_enumeration, self.files.definitions(atom.code, atom.name)))
        return self.look_at(atom) if self._enumerations[atom] else None

    def looked_at(self, value: Value) -> Value:
        """The value, with enumerations and containers that were passed over looked at."""
        if not value.where(lambda atom: isinstance(atom, Lazy)):
            return value
        found = Value()
        for where, atom in value.alternatives:
            known = (self.enumeration(atom) or self.written_out(atom)) if isinstance(atom, Lazy) else None
            found = join(found, Value(((where, atom),)) if known is None else known.within(where))
        return found

    def look_at(self, atom: Lazy) -> Value | None:
        """Look at a definition that had not been looked at."""
        module = atom.code
        known = module.names.get(atom.name)
        if known is not None:
            return known
        if not module.executed:
            self.execute(module)
            known = module.names.get(atom.name)
            if known is not None:
                return known
        selection = self._selection(module)
        piece = selection.skipped_definitions.get(atom.name)
        if piece is None:
            return self._reexported(module, atom.name)
        run = Run(self._world)
        run.frame = Frame(module, self.tree(module, piece.first, piece.last))
        run.state = State(self._all, dict(module.names), Heap(module.heap))
        run.block(run.frame.tree.module.body)
        finish(run, run.state)
        for code in run.frame.defined.classes:
            code.passed_over = True
        self.late.update(dict.fromkeys((*run.frame.defined.classes, *run.frame.defined.functions)))
        value = run.state.vars.get(atom.name)
        if value is not None:
            module.names[atom.name] = value
        return value

    def _reexported(self, module: ModuleCode, name: str) -> Value | None:
        for piece in module.survey.pieces if module.survey is not None else ():
            for item in piece.imports:
                if item.bound == name and item.name is not None:
                    source = self.find(item.module, module, item.level)
                    if source is not None and source is not module:
                        return self.attribute(source, item.name, self._all)
        return None

    def attribute(self, module: ModuleCode, name: str, where: ReleaseSet) -> Value:
        """``module.name`` of a module of the code base."""
        if self.files.matters(module):
            self.execute(module)
        self._world.dependencies.read(module, name)
        value = module.names.get(name)
        written = module.global_writes.get(name)
        if value is not None:
            return (value if written is None else join(value, written)).within(where)
        if written is not None:
            return written.within(where)
        child = self.files.submodule(module, name)
        if child is not None:
            return Value(((where, self.atom(child)),))
        defines = self.files.defines(module, name)
        if defines:
            return Value(((where, Lazy(module, name)),))
        if defines is False:
            return self._by_star(module, name, where) or unknown(where)
        for item in self.files.imports_of(module, name):
            if item.name is not None and not item.module.startswith("__"):
                source = self.find(item.module, module, item.level)
                if source is not None and source is not module and (module, name) not in self._followed:
                    self._followed.add((module, name))
                    try:
                        return self.attribute(source, item.name, where)
                    finally:
                        self._followed.discard((module, name))
        if self.files.holds(module, self._top):
            # It may be the library's version, or a flag that was made from it.
            lazy = self.unexecuted_name(module, name)
            if lazy is not None:
                return lazy.within(where)
        plain = self._plain(module, name)
        if plain is not None:
            return Value(((where, plain),))
        return self._asked_for(module, name, where)

    def _plain(self, module: ModuleCode, name: str) -> Atom | None:
        """What a variable is of a file that need not be looked at: a constant, or a container that is written out."""
        key = Lazy(module, name)
        if key not in self._written:
            expression = self.files.assigned(module, name)
            display = isinstance(expression, (ast.Dict, ast.List, ast.Set))
            self._written[key] = key if display else self._constant(module, expression, 0)
        return self._written[key]

    def _constant(self, module: ModuleCode, expression: ast.expr | None, depth: int) -> Const | None:
        if isinstance(expression, ast.Name) and depth < MAX_NAMES:
            return self._constant(module, self.files.assigned(module, expression.id), depth + 1)
        if expression is None or isinstance(expression, (ast.List, ast.Dict, ast.Set)):
            return None
        try:
            value = ast.literal_eval(expression)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        return Const(value) if writable(value) else None

    def written_out(self, atom: Lazy) -> Value | None:
        """A container that is written out in a file that was not looked at; None for anything else."""
        return self.unexecuted_name(atom.code, atom.name) if self._written.get(atom) == atom else None

    def _by_star(self, module: ModuleCode, name: str, where: ReleaseSet) -> Value | None:
        """A name that a file has from another one, of which it imports all; None when there is none."""
        if module.executing or name.startswith("_"):
            return None
        module.executing = True
        try:
            for item in self.files.imports_of(module, "*"):
                source = self.find(item.module, module, item.level)
                if source is not None and self.files.defines(source, name) is not False:
                    return self.attribute(source, name, where)
                found = self._by_star(source, name, where) if source is not None else None
                if found is not None:
                    return found
        finally:
            module.executing = False
        return None

    def _asked_for(self, module: ModuleCode, name: str, where: ReleaseSet) -> Value:
        """What the module's own ``__getattr__`` gives for a name that it has not."""
        hook = module.names.get(_HOOK, NOTHING).single()
        key = (module, name)
        if not isinstance(hook, Function) or key in self._asked or name.startswith("__"):
            return unknown(where)
        self._asked.add(key)
        try:
            run = Run(self._world)
            # Who asks for the name makes the use; here, none is recorded.
            run.frame = Frame(module, hook.code.tree, recording=SILENT)
            run.state = State(where, {}, Heap(module.heap))
            entry = Entry(where, where, const(name, where))
            found = run.call(Value(((where, hook),)), Arguments(ListContent((entry,))), hook.code.node)
            module.heap.update(run.state.heap.as_dict())
        finally:
            self._asked.discard(key)
        return found.within(where) if found.alternatives else unknown(where)

    def star_names(self, module: ModuleCode) -> Iterator[str]:
        names = dict.fromkeys(n for n in module.names if not n.startswith("_") and "." not in n)
        yield from names

    def publish(self, module: ModuleCode, names: Collection[str]) -> None:
        """Something of the library is put into variables of a module, or into what they hold."""
        module.published.update(names)
        self.published.add(module)
        if not self.files.matters(module):
            self.files.mark_mentions([module.path])
            if not module.executing:
                # Nothing of it has been executed so far, and who has asked it for something was told nothing.
                module.executed = False
                importing = (self.files.module(path) for path in self.files.naming(module.path))
                self.outdated.update(each for each in importing if each is not None and each.executed)

    def write_global(self, module: ModuleCode, name: str, value: Value, heap: Mapping[int, Content]) -> None:
        """A function assigns to a module's variable."""
        before = module.global_writes.get(name, Value())
        identities = self._world.identities
        after = counted(join(identities.renewed(before, value), value))
        if set(after.alternatives) != set(before.alternatives):
            publish(self._world, module, name, (value,), heap)
            module.global_writes[name] = after
            if identities.alike(after, before):
                return
            self._world.dependencies.change(module, name)
            known = module.names.get(name)
            if known is None or join(known, after).alternatives != known.alternatives:
                self.written = True
