"""Everything the interpreter knows that is not a program state: the library, the code base, what was learnt so far.

The world executes each module once, on demand, and then analyses its functions and classes: public ones as called by
anyone, private ones where their callers are. Identities (functions, classes, containers) are made here, once each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import libcst as cst

from driftwatch.binding.calls import parts
from driftwatch.flow.calls import NO_ARGUMENTS, Arguments
from driftwatch.flow.code import ClassCode, FunctionCode, ModuleCode, Summary
from driftwatch.flow.files import Files
from driftwatch.flow.library import is_above, is_inside, module_member
from driftwatch.flow.recorder import Recorder, merged_constructions
from driftwatch.flow.relevance import Selection, select
from driftwatch.flow.run import Frame, Run
from driftwatch.flow.state import Content, State
from driftwatch.flow.survey import Piece
from driftwatch.flow.syntax import Tree, parse
from driftwatch.flow.uses import CallUse, Construction, SubclassUse
from driftwatch.flow.values import (
    Alternative,
    Class,
    Const,
    External,
    Function,
    Lazy,
    LibInstance,
    LibObject,
    ProjectModule,
    Unknown,
    Value,
    join,
    touches_library,
    unknown,
    value_of,
)
from driftwatch.flow.world_classes import analyse_class
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.history import History
from driftwatch.snapshot.model import Ref

MAX_ROUNDS = 3
"""How often a module's functions are analysed anew because of what others wrote to its variables."""


_BUILDS_ARGUMENTS = re.compile(r"return \{|return dict\(|kwargs\b")


class World:
    """One library and one code base."""

    def __init__(self, history: History, files: Files) -> None:
        self.history = history
        self.files = files
        self.recorder = Recorder()
        self.all_releases = history.timeline.all
        self.no_arguments: Arguments = NO_ARGUMENTS
        self._numbers: dict[object, int] = {}
        self._kept: list[object] = []
        self._uid = 0
        self._functions: dict[int, FunctionCode] = {}
        self._classes: dict[int, ClassCode] = {}
        self._active: list[FunctionCode] = []
        self._summarising: set[FunctionCode] = set()
        self._dirty = False
        self._selections: dict[ModuleCode, Selection] = {}
        self._constructed: dict[ClassCode, list[tuple[Ref, Construction]]] = {}
        empty = ModuleCode("", "", "", "", [], None)
        self.no_frame = Frame(empty, Tree("", 0, cst.Module([])))

    # -- identities ------------------------------------------------------------------------------------------------

    def number(self, key: object, keep: object) -> int:
        """The heap number of a container made at a place; the object that identifies the place is kept alive."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._numbers) + 1
            self._kept.append(keep)
        return found

    def next_uid(self) -> int:
        self._uid += 1
        return self._uid

    def function_code(self, frame: Frame, node: cst.FunctionDef | cst.Lambda, name: str) -> FunctionCode:
        """The one identity of a function; a nested one has one for each activation of the enclosing function."""
        key = id(node)
        found = self._functions.get(key)
        if found is None:
            owner = frame.owner if frame.function is None else None
            prefix = f"{owner.name}." if owner is not None else f"{frame.function.qualname}." if frame.function else ""
            found = FunctionCode(frame.module, frame.tree, node, name, prefix + name, owner)
            found.parent = frame.function
            self._functions[key] = found
        return found

    def class_code(self, frame: Frame, node: cst.ClassDef) -> ClassCode:
        found = self._classes.get(id(node))
        if found is None:
            found = ClassCode(frame.module, frame.tree, node, node.name.value)
            found.parent = frame.function
            self._classes[id(node)] = found
        return found

    # -- the library -----------------------------------------------------------------------------------------------

    def names_library(self, text: str) -> bool:
        """Whether text could be the import path or the distribution name of something of the library."""
        top = self.history.module.partition(".")[0]
        return text == top or text.startswith(top + ".") or self.is_distribution(text)

    def is_distribution(self, text: str) -> bool:
        return _normal(text) == _normal(self.history.distribution)

    def version_alternatives(self, where: ReleaseSet) -> list[Alternative]:
        """The library's version, one constant per release."""
        versions = self.history.timeline.versions
        return [(ReleaseSet(1 << i), Const(versions[i])) for i in where.indices()]

    def breaks(self, use: CallUse) -> ReleaseSet:
        """The releases in which a call cannot be bound."""
        broken = EMPTY
        for part in parts(use, self.history):
            if not part.bound.fits:
                broken |= part.releases
        return broken

    def public_names(self, module: str) -> Iterator[str]:
        """What ``from module import *`` may bring."""
        seen: set[str] = set()
        for ref in self.history.epochs:
            if ref.module == module and ref.qualname and "." not in ref.qualname and not ref.qualname.startswith("_"):
                if ref.qualname not in seen:
                    seen.add(ref.qualname)
                    yield ref.qualname

    def library_name(self, run: Run, module: str, name: str) -> Value:
        where = self.history.attribute(module, name) & run.state.reach
        return value_of(module_member(run, module, name, where))

    # -- the code base's modules -----------------------------------------------------------------------------------

    def find_module(self, name: str, importer: ModuleCode, level: int = 0) -> ModuleCode | None:
        """The file an import means; None when it is none of the code base's."""
        return self.files.resolve(name, importer, level)

    def executed(self, path: str) -> ReleaseSet:
        """Execute a module if it matters, and say in which releases it can be imported."""
        module = self.files.module(path)
        if module is None or not self.files.matters(module):
            return self.all_releases
        self.execute(module)
        return self.all_releases if module.executing else module.completes

    def may_fail(self, path: str) -> bool:
        """Whether importing a module may raise for reasons of its own: its own imports may."""
        return True

    def execute(self, module: ModuleCode) -> None:
        """Execute a module's relevant top-level code, once."""
        if module.executed or module.executing:
            return
        module.executing = True
        run = Run(self)
        selection = self._selection(module)
        try:
            for first, last in selection.runs:
                tree = self.tree(module, first, last)
                if not run.frame.module.path or run.frame.tree is not tree:
                    run.frame = self._module_frame(module, tree, run.frame)
                run.block(tree.module.body)
                if not run.state.reach:
                    break
        finally:
            module.executing = False
            module.executed = True
        module.names = dict(run.state.vars)
        module.heap = dict(run.state.heap)
        module.completes = (run.state.reach | module.exits) - module.fails
        module.functions = list(dict.fromkeys(run.frame.defined))
        module.classes = list(dict.fromkeys(run.frame.classes))

    def _module_frame(self, module: ModuleCode, tree: Tree, before: Frame) -> Frame:
        frame = Frame(module, tree)
        if before.module is module:
            frame.defined, frame.classes = before.defined, before.classes
        return frame

    def tree(self, module: ModuleCode, first: int, last: int) -> Tree:
        """The syntax of some lines of a module."""
        found = module.trees.get(first)
        if found is None:
            text = "\n".join(module.lines[first - 1 : last]) + "\n"
            found = parse(module.path, text, first - 1)
            module.trees[first] = found
        return found

    def _selection(self, module: ModuleCode) -> Selection:
        found = self._selections.get(module)
        if found is None:
            found = select(module, self.history.module, self.history.distribution, self.files)
            self._selections[module] = found
        return found

    def unexecuted_name(self, module: ModuleCode, name: str) -> Value | None:
        """The value of a name that a piece of the module binds which was not executed; None when there is none."""
        if not module.path:
            return None
        selection = self._selection(module)
        if name in selection.skipped_definitions:
            return Value(((self.all_releases, Lazy(module, name)),))
        pieces = selection.skipped_names.get(name)
        if pieces is None:
            return None
        return self._execute_skipped(module, name, pieces)

    def _execute_skipped(self, module: ModuleCode, name: str, pieces: list[Piece]) -> Value:
        """Execute the statements that bind a name which turned out to be needed after all."""
        module.names[name] = unknown(self.all_releases)
        run = Run(self)
        run.state = State(self.all_releases, dict(module.names), dict(module.heap))
        del run.state.vars[name]
        for piece in pieces:
            run.frame = self._module_frame(module, self.tree(module, piece.first, piece.last), self.no_frame)
            run.block(run.frame.tree.module.body)
        module.heap.update(run.state.heap)
        module.names[name] = run.state.vars.get(name, unknown(self.all_releases))
        return module.names[name]

    def worth_following(self, atom: Lazy) -> bool:
        """Whether a function that was passed over may build keyword arguments."""
        piece = self._selection(atom.code).skipped_definitions.get(atom.name)
        if piece is None or piece.is_class:
            return False
        text = "\n".join(atom.code.lines[piece.first - 1 : piece.last])
        return _BUILDS_ARGUMENTS.search(text) is not None

    def resolve_lazy(self, atom: Lazy) -> Value | None:
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
        run = Run(self)
        run.frame = self._module_frame(module, self.tree(module, piece.first, piece.last), self.no_frame)
        run.state = State(self.all_releases, dict(module.names), dict(module.heap))
        run.block(run.frame.tree.module.body)
        value = run.state.vars.get(atom.name)
        if value is not None:
            module.names[atom.name] = value
        return value

    def _reexported(self, module: ModuleCode, name: str) -> Value | None:
        for piece in module.survey.pieces if module.survey is not None else ():
            for item in piece.imports:
                if item.bound == name and item.name is not None:
                    source = self.find_module(item.module, module, item.level)
                    if source is not None and source is not module:
                        return self.module_attribute(source, item.name, self.all_releases)
        return None

    def module_attribute(self, module: ModuleCode, name: str, where: ReleaseSet) -> Value:
        """``module.name`` of a module of the code base."""
        if self.files.matters(module):
            self.execute(module)
        value = module.names.get(name)
        written = module.global_writes.get(name)
        if value is not None:
            return (value if written is None else join(value, written)).within(where)
        if written is not None:
            return written.within(where)
        child = self.files.submodule(module, name)
        if child is not None:
            return Value(((where, ProjectModule(child)),))
        survey = self.files.survey(module)
        for piece in survey.pieces if survey is not None else ():
            if piece.defines == name:
                return Value(((where, Lazy(module, name)),))
            for item in piece.imports:
                if item.bound == name and item.name is not None and not item.module.startswith("__"):
                    source = self.find_module(item.module, module, item.level)
                    if source is not None and source is not module and not module.executing:
                        module.executing = True
                        try:
                            return self.module_attribute(source, item.name, where)
                        finally:
                            module.executing = False
        return unknown(where)

    def star_names(self, module: ModuleCode) -> Iterator[str]:
        names = dict.fromkeys(n for n in module.names if not n.startswith("_") and "." not in n)
        yield from names

    # -- what is written from elsewhere ----------------------------------------------------------------------------

    def write_global(self, module: ModuleCode, name: str, value: Value) -> None:
        """A function assigns to a module's variable."""
        before = module.global_writes.get(name, Value())
        after = join(before, value)
        if set(after.alternatives) != set(before.alternatives):
            module.global_writes[name] = after
            known = module.names.get(name)
            if known is None or join(known, after).alternatives != known.alternatives:
                self._dirty = True

    def write_attribute(self, run: Run, code: ClassCode, name: str, value: Value) -> None:
        """An attribute of an instance of a code base's class is set."""
        before = code.attributes.get(name, Value())
        after = join(before, value)
        if set(after.alternatives) != set(before.alternatives):
            code.attributes[name] = after
            code.changed = True
        for _, atom in value.alternatives:
            key = getattr(atom, "key", None)
            if isinstance(key, int):
                _copy_reachable(run.state.heap, code.heap, key)

    def share_heap(self, state: State, heap: Mapping[int, Content]) -> None:
        """Make containers that live elsewhere visible in a state."""
        for key, content in heap.items():
            state.heap.setdefault(key, content)

    # -- functions -------------------------------------------------------------------------------------------------

    def is_active(self, function: FunctionCode, frame: Frame) -> bool:
        return function in self._active

    def activate(self, function: FunctionCode) -> None:
        self._active.append(function)

    def deactivate(self, function: FunctionCode) -> None:
        self._active.pop()

    def summary(self, function: FunctionCode) -> Summary | None:
        """What a call of a function does, its arguments unknown; None while that is being found out."""
        if function.summary is not None:
            return function.summary
        if function in self._summarising or function.closure is not None:
            return None
        self._summarising.add(function)
        try:
            function.summary = self._analyse(function, function.reach & self._open(function), records=False)
        finally:
            self._summarising.discard(function)
        return function.summary

    def _open(self, function: FunctionCode) -> ReleaseSet:
        """The releases in which a function can be called at all."""
        reach = self.all_releases if function.module.executing else function.module.completes
        owner = function.owner
        if owner is not None and owner.constructible is not None and function.name not in ("__init__", "__new__"):
            if function.kind not in ("static", "class"):
                reach &= owner.constructible
        return reach

    def _analyse(
        self,
        function: FunctionCode,
        reach: ReleaseSet,
        *,
        records: bool,
        closure: tuple[dict[str, Value], ...] | None = None,
    ) -> Summary:
        from driftwatch.flow.functions import bind_unknown, execute_body

        run = Run(self)
        uid = self.next_uid()
        state = State(reach, {}, dict(function.module.heap))
        if function.owner is not None:
            self.share_heap(state, dict(function.owner.heap))
        run.state = state
        frame = Frame(
            function.module,
            function.tree,
            function,
            records=records,
            muted=not records,
            uid=uid,
            closure=closure if closure is not None else function.closure or (),
            owner=function.owner,
        )
        run.frame = frame
        state.vars = bind_unknown(run, function, reach, uid)
        active, self._active = self._active, list(self._active)
        try:
            value, end = execute_body(run, frame, state)
        finally:
            self._active = active
        # What a parameter was is for its own function to know.
        returns = value_of((w, Unknown() if isinstance(a, Unknown) else a) for w, a in value.alternatives)
        completes = end.reach if end is not None else EMPTY
        lost = self.all_releases - reach
        return Summary(
            returns,
            completes | lost,
            frame.asks_parameters,
            frame.forwards,
            frame.uses_library,
            dict(end.heap) if end is not None else {},
        )

    def leave(self, run: Run, frame: Frame, end: State | None) -> None:
        """An activation ends: what it defined is analysed where nobody has called it."""
        if not frame.defined and not frame.classes:
            return
        outer = frame.closure
        variables = dict(end.vars) if end is not None else {}
        saved_frame, saved_state = run.frame, run.state
        for function in dict.fromkeys(frame.defined):
            if not frame.records or (function.called and not function.escapes):
                continue
            closure = ({**(function.closure[0] if function.closure else {}), **variables}, *outer)
            if function not in self._active:
                self._active.append(function)
                self._analyse(function, function.reach, records=True, closure=closure)
                self._active.pop()
        if frame.records:
            for code in dict.fromkeys(frame.classes):
                analyse_class(self, code, closure=(variables, *outer))
        run.frame, run.state = saved_frame, saved_state

    # -- analysing a whole module ----------------------------------------------------------------------------------

    def analyse_module(self, module: ModuleCode) -> None:
        """Analyse every function and class of a module, after executing it."""
        self.execute(module)
        for _ in range(MAX_ROUNDS):
            self._dirty = False
            for function in self._all_functions(module):
                function.summary = None
            for function in module.functions:
                if not function.is_private:
                    self.analyse_entry(function)
            for code in module.classes:
                analyse_class(self, code)
            if not self._dirty:
                break

    def _all_functions(self, module: ModuleCode) -> Iterable[FunctionCode]:
        yield from module.functions
        for code in module.classes:
            yield from code.methods.values()

    def analyse_entry(self, function: FunctionCode) -> None:
        """Analyse a function as anyone may call it."""
        reach = function.reach & self._open(function)
        if reach and function not in self._active:
            function.summary = self._analyse(function, reach, records=True)

    def constructor_completes(self, code: ClassCode, constructor: FunctionCode) -> ReleaseSet:
        """The releases in which an instance can be made."""
        summary = self.summary(constructor)
        return self.all_releases if summary is None else summary.completes

    def analyse_left_over(self, module: ModuleCode, others: Collection[ModuleCode] = ()) -> None:
        """Analyse the private functions that nobody in the code base calls, or that somebody else may call.

        `others` are the modules that were analysed, any of which may call them.
        """
        done: set[FunctionCode] = set()
        while True:
            waiting = [
                f
                for f in self._all_functions(module)
                if f.is_private and f not in done and (f.escapes or not (f.called or self._referred_to(f, others)))
            ]
            if not waiting:
                return
            for function in waiting:
                done.add(function)
                self.analyse_entry(function)

    def _referred_to(self, function: FunctionCode, others: Collection[ModuleCode]) -> bool:
        """Whether some other piece of the analysed code mentions the function by name."""
        for other in others:
            if other is not function.module and other.survey is not None:
                for piece in other.survey.pieces:
                    imported = any(item.name == function.name for item in piece.imports)
                    if imported or function.name in piece.attributes:
                        return True
        survey = function.module.survey
        if survey is None:
            return False
        line = function.tree.offset + 1
        for piece in survey.pieces:
            inside = piece.first <= line <= piece.last
            if function.owner is not None:
                if function.name in piece.attributes:
                    return True
            elif function.name in piece.mentions and not (inside and piece.defines == function.name):
                return True
        return False

    def instantiated(self, code: ClassCode, base: Ref, place: Construction) -> None:
        """An instance of a class that derives from one of the library's is made."""
        self._constructed.setdefault(code, []).append((base, place))

    def finish(self) -> None:
        """Give the recorded subclasses the places where they are constructed."""
        for code, places in self._constructed.items():
            for use in self.recorder.uses():
                if isinstance(use, SubclassUse) and use.class_name == code.name and use.location.path == code.tree.path:
                    here = merged_constructions(place for base, place in places if base == use.base)
                    if here:
                        self.recorder.add(replace(use, instantiated=here))

    # -- annotations -----------------------------------------------------------------------------------------------

    def annotated(
        self, run: Run, function: FunctionCode, node: cst.BaseExpression, *, eager: bool = False
    ) -> Value | None:
        """An instance of what an annotation of a function's parameter names; None when no class is known by it."""
        frame = Frame(function.module, function.tree, records=False, muted=True, closure=function.closure or ())
        return self._annotation(frame, node, eager=eager)

    def by_annotation(self, run: Run, parameter: str | None) -> Value | None:
        """A parameter of the current function, by its annotation, where the arguments of a library's call need it."""
        function = run.frame.function
        if parameter is None or function is None or not run.eager:
            return None
        params = function.node.params
        for each in (*params.posonly_params, *params.params, *params.kwonly_params):
            if each.name.value == parameter and each.annotation is not None:
                return self.annotated(run, function, each.annotation.annotation, eager=True)
        return None

    def annotated_here(self, run: Run, node: cst.BaseExpression) -> Value | None:
        frame = Frame(
            run.frame.module, run.frame.tree, records=False, muted=True, closure=(run.state.vars, *run.frame.closure)
        )
        return self._annotation(frame, node)

    def _annotation(self, frame: Frame, node: cst.BaseExpression, *, eager: bool = False) -> Value | None:
        if isinstance(node, cst.SimpleString):
            try:
                text = ast.literal_eval(node.value)
                node = cst.parse_expression(text)
            except (ValueError, SyntaxError, cst.ParserSyntaxError, TypeError):
                return None
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            return self._either(frame, [node.left, node.right], eager)
        if isinstance(node, cst.Subscript):
            name = node.value.attr.value if isinstance(node.value, cst.Attribute) else getattr(node.value, "value", "")
            parts = [s.slice.value for s in node.slice if isinstance(s.slice, cst.Index)]
            if name in ("Optional", "Annotated", "Final", "ClassVar") and parts:
                inner = self._annotation(frame, parts[0], eager=eager)
                return self._or_none(inner) if name == "Optional" else inner
            if name == "Union":
                return self._either(frame, parts, eager)
            return None
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return None
        run = Run(self)
        run.frame = frame
        value = run.eval(node, callee=True)
        single = value.single()
        if isinstance(single, Lazy) and eager:
            value = self.resolve_lazy(single) or value
        found: list[Alternative] = []
        for where, atom in value.alternatives:
            if isinstance(atom, LibObject) and atom.is_class:
                found.append((where, LibInstance(atom.ref)))
            elif isinstance(atom, Class):
                from driftwatch.flow.values import Instance

                found.append((where, Instance(atom.code)))
            elif isinstance(atom, Const) and atom.value is None:
                found.append((where, atom))
        return value_of(found) if any(not isinstance(a, Const) for _, a in found) else None

    def _or_none(self, value: Value | None) -> Value | None:
        return None if value is None else join(value, Value(((self.all_releases, Const(None)),)))

    def _either(self, frame: Frame, nodes: list[cst.BaseExpression], eager: bool) -> Value | None:
        known: list[Value] = []
        none = False
        for node in nodes:
            if isinstance(node, cst.Name) and node.value == "None":
                none = True
                continue
            value = self._annotation(frame, node, eager=eager)
            if value is None:
                return None
            known.append(value)
        merged = Value()
        for value in known:
            merged = join(merged, value)
        if not merged.alternatives:
            return None
        return self._or_none(merged) if none else merged

    def in_module(self, run: Run, function: FunctionCode, node: cst.BaseExpression, where: ReleaseSet) -> Value:
        """The value of a parameter's default, which belongs to the function's module."""
        inner = Run(self)
        inner.frame = Frame(function.module, function.tree, records=False, muted=True, closure=function.closure or ())
        inner.state = State(where, {}, run.state.heap)
        return inner.eval(node)

    # -- exports ---------------------------------------------------------------------------------------------------

    def interesting_exports(self, module: ModuleCode) -> set[str]:
        """Names of a module whose value tells something about the library to whoever imports them."""
        found: set[str] = set()
        for name, value in list(module.names.items()):
            written = module.global_writes.get(name)
            if "." not in name and self._interesting(join(value, written) if written is not None else value):
                found.add(name)
        return found

    def _interesting(self, value: Value) -> bool:
        if _differs_by_release(value):
            return True
        for _, atom in value.alternatives:
            if isinstance(atom, Function):
                summary = self.summary(atom.code)
                if summary is not None and self._summary_matters(atom.code, summary):
                    return True
            elif isinstance(atom, Class):
                if self._class_matters(atom.code):
                    return True
            elif touches_library(atom):
                return True
        return False

    def _summary_matters(self, function: FunctionCode, summary: Summary) -> bool:
        if summary.forwards:
            return True
        if function.is_private and summary.uses_library:
            return True
        returned = summary.returns
        return any(touches_library(a) for _, a in returned.alternatives) or _differs_by_release(returned)

    def _class_matters(self, code: ClassCode) -> bool:
        if code.library_bases:
            return True
        if any(touches_library(a) for v in code.attributes.values() for _, a in v.alternatives):
            return True
        for method in code.methods.values():
            summary = method.summary
            if summary is not None and summary.forwards:
                return True
        return False


def _differs_by_release(value: Value) -> bool:
    """Whether a value is one constant in some releases and another one in others: a flag that a guard has set."""
    constants = [(where, atom) for where, atom in value.alternatives if isinstance(atom, Const)]
    return len({where for where, _ in constants}) > 1


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _copy_reachable(source: dict[int, Content], target: dict[int, Content], key: int) -> None:
    content = source.get(key)
    if content is not None:
        target[key] = content


__all__ = ["External", "World", "is_above", "is_inside"]
