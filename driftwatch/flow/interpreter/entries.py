"""Where the code base can be entered: its functions and classes, analysed as anyone may call them.

Public functions are analysed by themselves; private ones where their callers are, and by themselves when nobody in the
code base calls them. A function's summary is what a call does of whose arguments nothing is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from driftwatch.flow.domain.code import (
    ANY_INSTANCE,
    ClassCode,
    FunctionCode,
    ModuleCode,
    Reads,
    Summary,
    is_private_name,
)
from driftwatch.flow.domain.contents import Content, DictContent
from driftwatch.flow.domain.coverage import Coverage, switched_off
from driftwatch.flow.domain.dependencies import COMPLETES
from driftwatch.flow.domain.frames import Frame, Recording
from driftwatch.flow.domain.heap import Heap
from driftwatch.flow.domain.recorder import merged_constructions
from driftwatch.flow.domain.renaming import reachable
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import Instance, Value
from driftwatch.flow.interpreter.choices import leaves_out, varies
from driftwatch.flow.interpreter.deferred import finish
from driftwatch.flow.interpreter.functions import execute_body
from driftwatch.flow.interpreter.inferred_classes import InferredClasses
from driftwatch.flow.interpreter.modules import Modules
from driftwatch.flow.interpreter.objects import begin
from driftwatch.flow.interpreter.obtainable import Obtainable
from driftwatch.flow.interpreter.parameters import bind_unknown
from driftwatch.flow.interpreter.published import holds_library
from driftwatch.flow.interpreter.receivers import differs, inherited
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.interpreter.skips import skips_of
from driftwatch.flow.syntax.children import walk
from driftwatch.flow.syntax.survey import CONSTRUCTORS
from driftwatch.flow.uses import Construction, SubclassUse
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.symbols import Ref

if TYPE_CHECKING:
    from driftwatch.flow.interpreter.world import World

_SUMMARY, _CONSTRUCTIBLE = "summary()", "constructible()"
"""What else than a variable or an attribute an analysis goes by."""


MAX_ROUNDS = 3
"""How often functions are analysed anew because of what others wrote to variables and attributes they read."""


class Entries:
    """Analyses functions and classes, and keeps what was learnt of them."""

    def __init__(self, world: World, modules: Modules) -> None:
        self._world = world
        self._modules = modules
        self._all = world.all_releases
        self._active: list[FunctionCode] = []
        self._summarising: set[FunctionCode] = set()
        self._dependencies = world.dependencies
        self._obtainable = Obtainable(world.all_releases, self.summary, InferredClasses(modules.files, modules))
        self._constructed: dict[ClassCode, list[tuple[Ref, Construction]]] = {}
        self._passing: dict[tuple[FunctionCode, str, int, str], None] = {}
        self._coverages: dict[FunctionCode | ModuleCode, Coverage] = {}
        self._of_receiver: dict[tuple[FunctionCode, ClassCode], Reads] = {}
        """What the methods of base classes read when they were last analysed for an object of a subclass."""
        self._left_over: dict[ModuleCode, Collection[ModuleCode]] = {}

    def times_active(self, function: FunctionCode) -> int:
        """How many calls of the function are being followed."""
        return self._active.count(function)

    def activate(self, function: FunctionCode) -> None:
        """A call of the function is followed from here on."""
        self._active.append(function)

    def deactivate(self) -> None:
        """The latest such call has ended."""
        self._active.pop()

    def summary(self, function: FunctionCode) -> Summary | None:
        """What a call of a function does, its arguments unknown; None while that is being found out."""
        if function.summary is not None:
            self._dependencies.rely(function, function.summary)
            return function.summary
        if function in self._summarising or function.closure is not None:
            self._dependencies.read(function, _SUMMARY)
            return None
        self._summarising.add(function)
        try:
            function.summary = self._analyse(function, function.reach & self._open(function), records=False)
        finally:
            self._summarising.discard(function)
            self._dependencies.change(function, _SUMMARY)
        self._dependencies.rely(function, function.summary)
        return function.summary

    def _open(self, function: FunctionCode) -> ReleaseSet:
        """The releases in which a function can be called at all."""
        reach = self._all if function.module.executing else function.module.completes
        owner = function.owner
        if owner is not None and owner.constructible is not None and function.name not in CONSTRUCTORS:
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
        perhaps: ReleaseSet = EMPTY,
        within: Frame | None = None,
        receiver: ClassCode | None = None,
        heap: Mapping[int, Content] | None = None,
    ) -> Summary:
        """Analyse a function; `within` is where it is defined or handed out, where it is no entry point of its own."""
        run = Run(self._world)
        constructs = function.owner is not None and function.name in CONSTRUCTORS
        identities = self._world.identities
        uid = identities.construction(function) if constructs else identities.activation(id(function), id(receiver))
        state = State(reach, {}, Heap(function.module.heap))
        if heap:
            # What the variables of the function round it hold.
            state.adopt(heap)
        if function.owner is not None:
            state.adopt((receiver or function.owner).heap)
        if perhaps:
            state.assume(identities.test(), True, perhaps)
        budget = within.budget if within is not None else self._world.allowance.grant()
        granted = budget.left
        run.state = state
        own = within is None
        coverage = Coverage(function.module, reach, function) if within is None else within.recording.coverage
        frame = Frame(
            function.module,
            function.tree,
            function,
            owner=function.owner,
            closure=closure if closure is not None else function.closure or (),
            recording=Recording(records, not records, coverage=coverage),
            budget=budget,
            uid=uid,
            constructs=constructs,
        )
        run.frame = frame
        if records and own and receiver is None and coverage is not None:
            self._coverages[function] = coverage
        this = None
        if constructs and function.name == "__init__":
            this = self._constructed_by(run, function, receiver)
        elif receiver is not None:
            this = Instance(receiver)
        state.vars = bind_unknown(run, function, reach, uid, this)
        had = self._obtainable.given(function, state.vars, anyone=records)
        reach &= had
        state.reach = reach
        if own and coverage is not None:
            coverage.entered = reach
        active, self._active = self._active, list(self._active)
        try:
            with self._dependencies.gathering(apart=not records) as gathered:
                if function.module.executing:
                    self._dependencies.read(function.module, COMPLETES)
                if function.owner is not None and function.name not in CONSTRUCTORS:
                    self._dependencies.read(function.owner, _CONSTRUCTIBLE)
                value, end = execute_body(run, frame, state)
                finish(run, end)
        finally:
            self._active = active
            if own:
                self._world.allowance.settle(granted, budget)
        if constructs and function.owner is not None:
            function.owner.guards = (*function.given_guards, *run.path)
        before = function.module.heap.keys() | (function.owner.heap.keys() if function.owner is not None else set())
        made = self._made(value, this, before, end)
        completes = end.reach if end is not None else EMPTY
        lost = self._all - reach
        effects = frame.effects
        chosen_by = effects.branches_on_parameters | ({ANY_INSTANCE} if effects.reads_attributes else set())
        branches = chosen_by if any(map(leaves_out, made.values())) else set()
        changes = {key for key in effects.changes if key in before or key in self._world.shared}
        return Summary(
            value,
            completes | lost,
            replace(effects, branches_on_parameters=branches, changes=changes),
            varies(effects, value, made),
            {k: c for k, c in end.heap.as_dict().items() if k not in self._world.shared} if end is not None else {},
            coverage.symbols() if coverage is not None else {},
            gathered,
            made,
            this.site if this is not None else None,
            end.conditional if end is not None else EMPTY,
            had,
            granted - budget.left,
        )

    def _constructed_by(self, run: Run, constructor: FunctionCode, receiver: ClassCode | None) -> Instance:
        """The instance of which a constructor is analysed by itself."""
        code = receiver or constructor.owner
        assert code is not None
        number = self._world.identities.number(constructor.node, 0, "self", code)
        this = Instance(code, number)
        begin(run, this)
        return this

    def _made(
        self, value: Value, this: Instance | None, before: Collection[int], end: State | None
    ) -> dict[int, Content]:
        """What an activation has made and leaves behind."""
        if end is None:
            return {}
        world, heap = self._world, end.heap
        left = reachable([value], heap)
        held = reachable([Value(((self._all, this),))], heap) if this is not None else {}
        kept = world.homes.keys() | world.objects.lasting
        made = {key for key in left if not (key in before or key in world.shared or key in kept)}
        # What an instance holds it alone does, be it that what any of them holds is known together.
        made |= {key for key in held if key not in world.homes}
        return {key: heap[key] for key in made}

    def leave(self, run: Run, frame: Frame, end: State | None) -> None:
        """An activation ends: what it defined is analysed where nobody has called it."""
        if not frame.defined:
            return
        outer = frame.closure
        variables = dict(end.vars) if end is not None else {}
        saved_frame, saved_state, records = run.frame, run.state, frame.recording.records
        for function in dict.fromkeys(frame.defined.functions):
            if not records or function in frame.defined.returned or (function.called and not function.escapes):
                continue
            closure = ({**(function.closure[0] if function.closure else {}), **variables}, *outer)
            if function not in self._active:
                self._active.append(function)
                heap = end.heap.as_dict() if end is not None else {}
                self._analyse(function, function.reach, records=True, closure=closure, within=frame, heap=heap)
                self._active.pop()
        for function in dict.fromkeys(frame.defined.taken_over):
            if records and (function.escapes or not function.called) and function not in self._active:
                self._active.append(function)
                self._analyse(function, function.reach, records=True, within=frame)
                self._active.pop()
        if records:
            for code in dict.fromkeys(frame.defined.classes):
                self.analyse_class(code, closure=(variables, *outer))
        run.frame, run.state = saved_frame, saved_state

    def analyse_module(self, module: ModuleCode) -> None:
        """Analyse every function and class of a module, after executing it."""
        self._modules.execute(module)
        for _ in range(MAX_ROUNDS):
            self._modules.written = False
            outdated = module in self._modules.outdated
            self._modules.outdated.discard(module)
            self._modules.stale.discard(module)
            self._forget_stale(self._all_functions(module), everything=outdated)
            for function in _writers_first(module):
                if is_private_name(function.name):
                    continue
                for entry in function.wrapped_by or (function,):
                    self.analyse_entry(entry)
            for code in module.classes:
                self.analyse_class(code)
            if not self._modules.written:
                break

    def _all_functions(self, module: ModuleCode) -> Iterable[FunctionCode]:
        yield from module.functions
        for code in module.classes:
            yield from code.methods.values()

    def analyse_class(self, code: ClassCode, closure: tuple[dict[str, Value], ...] | None = None) -> None:
        """Analyse the methods of a class; what one assigns to an attribute, the others see."""
        if closure is not None:
            for method in code.methods.values():
                # What a decorator has put in its place knows what the decorator knows.
                (method if method.wraps is None else method.wraps).closure = closure
        constructors = [method for name, method in code.methods.items() if name in CONSTRUCTORS]
        others = [method for name, method in code.methods.items() if name not in CONSTRUCTORS]
        others += code.chosen
        for _ in range(MAX_ROUNDS):
            code.changed = False
            self._forget_stale(code.methods.values(), everything=closure is not None)
            self._analyse_methods(constructors)
            self._set_constructible(code, constructors)
            self._analyse_methods(others)
            if not code.changed:
                break
        if len(code.base_values) and closure is None:
            self._analyse_inherited(code)

    def _analyse_methods(self, methods: Iterable[FunctionCode]) -> None:
        for method in methods:
            if not method.is_private or method.escapes:
                self.analyse_entry(method)

    def _analyse_inherited(self, code: ClassCode) -> None:
        """Analyse the methods of its bases again that come out otherwise for an object of this class."""
        for method in inherited(code):
            known = self._of_receiver.get((method, code))
            if method.alone is None or not (known is None or self._dependencies.stale(known)) or method in self._active:
                continue
            summary = self.summary(method)
            if summary is None or not differs(code, summary, self._dependencies):
                continue
            reach = method.reach & self._open(method) & code.reach
            if code.constructible is not None and method.kind not in ("static", "class"):
                reach &= code.constructible
            if reach and method.kind != "static":
                self._of_receiver[method, code] = self._analyse(method, reach, records=True, receiver=code).reads

    def analyse_entry(self, function: FunctionCode) -> None:
        """Analyse a function as anyone may call it."""
        skipped, perhaps = skips_of(function)
        reach = (function.reach & self._open(function) & self._found(function)) - skipped
        perhaps |= function.perhaps
        fresh = function.alone is not None and not self._dependencies.stale(function.alone)
        if reach and function not in self._active and not fresh:
            function.summary = self._analyse(function, reach, records=True, perhaps=perhaps)
            function.alone = function.summary.reads

    def _found(self, function: FunctionCode) -> ReleaseSet:
        """The releases in which anyone may come by a private function, or by a private class whose method it is."""
        owner, found = function.owner, self._all
        if is_private_name(function.name) or function.wrapped_by:
            found &= (function.escaped | function.kept) or self._all
        if owner is not None and is_private_name(owner.name):
            found &= (owner.escaped | owner.kept) or self._all
        return found

    def _forget_stale(self, functions: Iterable[FunctionCode], *, everything: bool = False) -> None:
        """Forget what was found out of functions when what they have read was not yet what it is now."""
        for function in functions:
            if function.summary is not None and (everything or self._dependencies.stale(function.summary.reads)):
                function.summary = None
            if everything:
                function.alone = None

    def _set_constructible(self, code: ClassCode, constructors: Iterable[FunctionCode]) -> None:
        """Find out in which releases there is an instance whose other methods can be called."""
        before, code.constructible = code.constructible, self._all
        for constructor in constructors:
            summary = self.summary(constructor)
            code.constructible &= self._all if summary is None else summary.completes & summary.had
            if summary is not None and summary.constructs is not None:
                self._set_left(code, summary)
        if code.constructible != (self._all if before is None else before):
            self._dependencies.change(code, _CONSTRUCTIBLE)

    def _set_left(self, code: ClassCode, constructor: Summary) -> None:
        """Find out what an instance holds once it is made."""
        content = constructor.made.get(constructor.constructs or 0)
        before, code.left = code.left, content.entries if isinstance(content, DictContent) else {}
        for name in before.keys() | code.left.keys():
            if isinstance(name, str) and before.get(name) != code.left.get(name):
                self._dependencies.change(code, name)

    def analyse_looked_at(self) -> None:
        """Analyse what was passed over, and turned out to reach the library by what it is given or by what it keeps."""
        done: set[ClassCode | FunctionCode] = set()
        while waiting := [each for each in self._modules.late if each not in done]:
            for each in waiting:
                done.add(each)
                if isinstance(each, ClassCode):
                    self._analyse_methods(_reaching(each))
                elif each.owner is None and not each.is_private and each.calls_library:
                    self.analyse_entry(each)

    def analyse_left_over(self, module: ModuleCode, others: Collection[ModuleCode] = ()) -> None:
        """Analyse the private functions that nobody in the code base calls, or that somebody else may call.

        `others` are the modules that were analysed, any of which may call them.
        """
        self._left_over[module] = others
        done: set[FunctionCode] = set()
        while True:
            waiting = [
                f
                for f in self._all_functions(module)
                if f.is_private and f not in done and self._is_left_over(f, others)
            ]
            if not waiting:
                return
            for function in waiting:
                done.add(function)
                self.analyse_entry(function)

    def _is_left_over(self, function: FunctionCode, others: Collection[ModuleCode]) -> bool:
        kept = function.kept or (function.owner is not None and function.owner.kept)
        return function.escapes or not (function.called or (not kept and self._referred_to(function, others)))

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
            if function.owner is not None and function.name.startswith("__"):
                # Python calls it, of the class or of what it makes.
                if function.owner.name in piece.mentions and not (inside and piece.defines == function.owner.name):
                    return True
            elif function.owner is not None:
                if function.name in piece.attributes:
                    return True
            elif function.name in piece.mentions and not (inside and piece.defines == function.name):
                return True
        return False

    def instantiated(self, code: ClassCode, base: Ref, place: Construction) -> None:
        """An instance of a class that derives from one of the library's is made."""
        self._constructed.setdefault(code, []).append((base, place))

    def passes_through(self, function: FunctionCode, path: str, line: int, reason: str) -> None:
        """A function passes on to the library what it is given: without a call of it, there is nothing to check."""
        self._passing[function, path, line, reason] = None

    def finish(self) -> None:
        """Analyse anew what has looked too early, and give the recorded subclasses the places of their construction."""
        for _ in range(MAX_ROUNDS):
            changed = self._modules.outdated | self._modules.stale
            outdated = sorted(changed & self._left_over.keys(), key=lambda module: module.path)
            for module in outdated:
                self.analyse_module(module)
                self.analyse_left_over(module, self._left_over[module])
            if not outdated:
                break
        self._tell_switched_off()
        for function, path, line, reason in self._passing:
            if not function.called:
                self._world.recorder.unresolved(path, line, reason)
        for code, places in self._constructed.items():
            for use in self._world.recorder.uses():
                if isinstance(use, SubclassUse) and use.class_name == code.name and use.location.path == code.tree.path:
                    here = merged_constructions(place for base, place in places if base == use.base)
                    if here:
                        self._world.recorder.add(replace(use, instantiated=here))

    def covers(self, module: ModuleCode, coverage: Coverage) -> None:
        """What executing a module reaches of the library."""
        self._coverages[module] = coverage

    def _tell_switched_off(self) -> None:
        by_file: dict[ModuleCode, list[Coverage]] = {}
        for entry, coverage in self._coverages.items():
            by_file.setdefault(entry if isinstance(entry, ModuleCode) else entry.module, []).append(coverage)
        for coverages in by_file.values():
            for use in switched_off(self._world.history.distribution, self._all, coverages):
                self._world.recorder.add(use)


def _reaching(code: ClassCode) -> list[FunctionCode]:
    """The methods of a class that call the library, or read an attribute with something of the library in it.

    Where one object holds this and another one that, each call is followed for the object at hand.
    """
    attributes = {**code.attributes, **code.set_on_class}
    holding = {name for name, value in attributes.items() if holds_library(value, code.heap)}
    apart = {name for name, values in code.told_apart.items() if len(values) > 1}

    def reaches(method: FunctionCode) -> bool:
        nodes = walk(method.tree.body(method.node)) if isinstance(method.node, cst.FunctionDef) else ()
        read = {node.attr.value for node in nodes if isinstance(node, cst.Attribute)}
        return apart.isdisjoint(read) and (_calls(method) or not holding.isdisjoint(read))

    calls = any(map(_calls, code.methods.values()))
    return [each for each in code.methods.values() if reaches(each)] if holding or calls else []


def _calls(method: FunctionCode) -> bool:
    """Whether a method calls the library, be it by what it keeps of the code base's own."""
    return method.calls_library or (method.summary is not None and method.summary.effects.uses_library)


def _writers_first(module: ModuleCode) -> list[FunctionCode]:
    """A module's functions in order, but first those that assign the module's variables: the others read them."""
    writers = {piece.defines for piece in module.survey.pieces if piece.globals} if module.survey is not None else set()
    return sorted(module.functions, key=lambda function: function.name not in writers)
