"""Which names of a module tell something about the library to the files that import them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode, Summary
from driftwatch.flow.domain.contents import Content
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.renaming import held_by, reachable
from driftwatch.flow.domain.taint import differs_by_release, tells
from driftwatch.flow.domain.target import Target
from driftwatch.flow.domain.values import NOTHING, Atom, Class, Const, Function, Instance, MethodOf, Value, join, key_of
from driftwatch.flow.interpreter.entries import Entries
from driftwatch.flow.interpreter.parameters import default_texts


def telling_names(entries: Entries, module: ModuleCode, target: Target) -> set[str]:
    """Names of a module whose value tells something about the library to whoever imports them."""
    found: set[str] = set()
    for name, value in list(module.names.items()):
        written = module.global_writes.get(name)
        if "." in name:
            continue
        here = join(value, written) if written is not None else value
        if _tells(entries, here, module.heap) or _names_library(module, target, here):
            found.add(name)
    found.update(_asked_for(entries, module))
    return found


def hooks(module: ModuleCode) -> dict[str, frozenset[str]]:
    """For each class whose methods call the library, what these take from it: a subclass may redefine that."""
    found: dict[str, frozenset[str]] = {}
    for name, value in module.names.items():
        for _, atom in value.alternatives if "." not in name else ():
            if isinstance(atom, Class):
                order = lineage(atom.code)[0]
                methods = [method for code in order for method in code.methods.values() if method.calls_library]
                taken = _taken(order, methods)
                open_ = {each for code in order for each in (*code.methods, *code.constants)} & taken
                if open_:
                    found[name] = frozenset(open_) | found.get(name, frozenset())
    return found


def _taken(order: list[ClassCode], methods: list[FunctionCode]) -> set[str]:
    """What methods take from the object that they belong to, be it by way of others of its methods."""
    found: set[str] = set()
    waiting = list(methods)
    while waiting:
        for name in waiting.pop().asks_itself - found:
            found.add(name)
            waiting += [each.methods[name] for each in order if name in each.methods]
    return found


def _asked_for(entries: Entries, module: ModuleCode) -> set[str]:
    """The names that a module's ``__getattr__`` may look up in the library: those that stand in its text."""
    hook = module.names.get("__getattr__", NOTHING).single()
    summary = entries.summary(hook.code) if isinstance(hook, Function) else None
    if summary is None or not summary.effects.uses_library or module.survey is None:
        return set()
    texts = {text for piece in module.survey.pieces for text in piece.strings if text.isidentifier()}
    return texts - module.names.keys()


def _tells(entries: Entries, value: Value, heap: Mapping[int, Content]) -> bool:
    """Whether a value, or anything that it holds in a heap, tells something about the library."""
    if differs_by_release(value):
        return True
    return any(_matters(entries, atom) for each in (value, *_within(value, heap)) for _, atom in each.alternatives)


def _names_library(module: ModuleCode, target: Target, value: Value) -> bool:
    """Whether a value is, or holds, a text by which whoever imports it may import the library.

    The bare name of the package is a word that code bases have for other things too: it counts beside an import by
    text alone.
    """
    names = target.is_named_by if module.imports_by_text else target.is_inside
    holders = [value, *_within(value, module.heap)]
    for each in list(holders):
        for _, atom in each.alternatives:
            if isinstance(atom, (Class, Instance)):
                holders += _of_class(atom.code)
    atoms = [atom for each in holders for _, atom in each.alternatives]
    texts = [atom.value for atom in atoms if isinstance(atom, Const) and isinstance(atom.value, str)]
    texts += [text for atom in atoms if isinstance(atom, Function) for text in default_texts(atom.code)]
    return any(map(names, texts))


def _within(value: Value, heap: Mapping[int, Content]) -> Iterator[Value]:
    """What the containers and instances hold that a value is, or that are held by those."""
    if any(key_of(atom) is not None or isinstance(atom, (Function, MethodOf)) for _, atom in value.alternatives):
        for key in reachable([value], heap):
            yield from held_by(heap[key])


def _matters(entries: Entries, atom: Atom) -> bool:
    if isinstance(atom, Function):
        if atom.code.closure is not None:
            return atom.code.calls_library or bool(atom.code.forwarding)
        summary = entries.summary(atom.code)
        return summary is not None and _summary_matters(entries, atom.code, summary)
    if isinstance(atom, (Class, Instance)):
        return _class_matters(atom.code)
    return touches_library(atom)


def _summary_matters(entries: Entries, function: FunctionCode, summary: Summary) -> bool:
    if summary.effects.forwards or (summary.effects.passes_unknown and summary.effects.depends_on_parameters):
        return True
    if summary.effects.uses_library and (function.is_private or summary.effects.depends_on_constants):
        return True
    returned = summary.returns
    if tells(returned):
        return True
    for value in (returned, *_within(returned, summary.heap)):
        for _, atom in value.alternatives:
            nested = isinstance(atom, Function) and atom.code.closure is not None
            if touches_library(atom) or ((nested or isinstance(atom, (Class, Instance))) and _matters(entries, atom)):
                return True
    return False


def _is_no_instance(atom: Atom) -> bool:
    return not isinstance(atom, Instance)


def _of_class(code: ClassCode) -> tuple[Value, ...]:
    """What a class and its instances hold."""
    return (*code.attributes.values(), *code.set_on_class.values(), *code.constants.values())


def _class_matters(code: ClassCode) -> bool:
    """Whether a class tells something, or one that it holds does, be it in a circle."""
    found, met = [code], {code}
    while found:
        current = found.pop()
        if current.library_bases:
            return True
        for value in _of_class(current):
            # What another object of the code base holds, that one's class tells.
            for each in (value, *_within(value.only(_is_no_instance), current.heap)):
                for _, atom in each.alternatives:
                    if touches_library(atom):
                        return True
                    if isinstance(atom, Class) and atom.code not in met:
                        met.add(atom.code)
                        found.append(atom.code)
        for method in current.methods.values():
            summary = method.summary
            if summary is not None and (summary.effects.forwards or summary.effects.passes_unknown):
                return True
    return False
