"""Which names of a module tell something about the library to the files that import them."""

from __future__ import annotations

from driftwatch.flow.domain.code import ClassCode, FunctionCode, ModuleCode, Summary
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.taint import differs_by_release, tells
from driftwatch.flow.domain.values import NOTHING, Class, Function, Instance, Value, join, touches_library
from driftwatch.flow.interpreter.entries import Entries


def telling_names(entries: Entries, module: ModuleCode) -> set[str]:
    """Names of a module whose value tells something about the library to whoever imports them."""
    found: set[str] = set()
    for name, value in list(module.names.items()):
        written = module.global_writes.get(name)
        if "." not in name and _tells(entries, join(value, written) if written is not None else value):
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
                taken: set[str] = set().union(*(method.asks_itself for method in methods))
                open_ = {each for code in order for each in (*code.methods, *code.constants)} & taken
                if open_:
                    found[name] = frozenset(open_) | found.get(name, frozenset())
    return found


def _asked_for(entries: Entries, module: ModuleCode) -> set[str]:
    """The names that a module's ``__getattr__`` may look up in the library: those that stand in its text."""
    hook = module.names.get("__getattr__", NOTHING).single()
    summary = entries.summary(hook.code) if isinstance(hook, Function) else None
    if summary is None or not summary.uses_library or module.survey is None:
        return set()
    texts = {text for piece in module.survey.pieces for text in piece.strings if text.isidentifier()}
    return texts - module.names.keys()


def _tells(entries: Entries, value: Value) -> bool:
    if differs_by_release(value):
        return True
    for _, atom in value.alternatives:
        if isinstance(atom, Function):
            summary = entries.summary(atom.code)
            if summary is not None and _summary_matters(atom.code, summary):
                return True
        elif isinstance(atom, (Class, Instance)):
            if _class_matters(atom.code):
                return True
        elif touches_library(atom):
            return True
    return False


def _summary_matters(function: FunctionCode, summary: Summary) -> bool:
    if summary.forwards:
        return True
    if summary.uses_library and (function.is_private or summary.asks_constants):
        return True
    returned = summary.returns
    made = (atom.code for _, atom in returned.alternatives if isinstance(atom, (Class, Instance)))
    return tells(returned) or any(map(_class_matters, made))


def _class_matters(code: ClassCode) -> bool:
    if code.library_bases:
        return True
    if any(touches_library(a) for v in code.attributes.values() for _, a in v.alternatives):
        return True
    for method in code.methods.values():
        summary = method.summary
        if summary is not None and summary.forwards:
            return True
    return False
