"""What a call of the library passes, as the facts that rules ask for: literals, and objects of other packages."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from driftwatch.binding.calls import parts
from driftwatch.binding.refused import possible_arguments
from driftwatch.flow.domain.code import FunctionCode
from driftwatch.flow.domain.contents import Entry
from driftwatch.flow.domain.facts import Facts, told_of
from driftwatch.flow.domain.values import Alternative, Atom, Const, External, LibInstance, Unknown, Value
from driftwatch.flow.interpreter.annotations import texts_of
from driftwatch.flow.interpreter.arguments import written_in
from driftwatch.flow.interpreter.parameters import all_parameters
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.syntax.children import walk
from driftwatch.flow.uses import NOTHING_GIVEN, OPEN, Argument, CallUse, Catch, Constant, Told
from driftwatch.flow.uses import Unknown as UnknownArgument
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.history import History


def argument_of(run: Run, entry: Entry, name: str | None, catch: Catch, node: cst.CSTNode) -> Argument:
    """An argument of a call, as a rule may ask for it."""
    reach = run.state.reach
    where = entry.releases & reach
    return Argument(
        where,
        name,
        where <= entry.certain,
        _constants(run, as_alternatives(entry.value, where)),
        entry.trace,
        entry.location,
        catch if entry.location is not None else None,
        _objects(as_alternatives(entry.value, where)),
        entry.conditional & where,
        entry.written if entry.location is not None else written_in(run, node, name),
        _told(entry.value),
    )


def said(facts: Facts) -> tuple[Told, ...]:
    """What tests have said of objects, as rules ask for it."""
    found = (Told(_foreign(f.of), tuple(f"{f.name}={value!r}" for value in f.among), f.holds) for f in facts)
    return tuple(sorted(found)) if facts else ()


def _told(value: Value) -> tuple[tuple[Constant, tuple[Told, ...]], ...]:
    """The literals that something only is where facts hold."""
    found: dict[tuple[type, Constant], Facts] = {}
    for atom, facts in told_of(value):
        constant = constant_of(atom)
        key = (type(constant), constant)
        found[key] = found[key] & facts if key in found else facts
    kept = [(constant, said(facts)) for (_, constant), facts in found.items() if facts]
    return tuple((constant, told) for constant, told in kept if constant is not UnknownArgument.UNKNOWN)


def _constants(run: Run, alternatives: list[Alternative]) -> tuple[tuple[ReleaseSet, Constant], ...]:
    """The literals something may be; a parameter as it came in may be what it is said to be, or anything."""
    found = [(where, constant_of(atom)) for where, atom in alternatives]
    for where, atom in alternatives:
        if isinstance(atom, Unknown) and atom.parameter is not None and not atom.derived:
            found += [(where, text) for text in _texts(run.frame.function, atom.parameter)]
    return tuple(dict.fromkeys(found))


def _texts(function: FunctionCode | None, name: str) -> tuple[str, ...]:
    if function is None:
        return ()
    named = (each for each in all_parameters(function.node.params) if each.name.value == name)
    return next((texts_of(function, parameter) for parameter in named), ())


def _objects(alternatives: list[Alternative]) -> tuple[tuple[ReleaseSet, tuple[str, ...]], ...]:
    found = tuple((where, _foreign(atom)) for where, atom in alternatives)
    return found if any(paths for _, paths in found) else ()


def made_of(use: CallUse) -> tuple[str, ...]:
    """The objects of other packages that an instance certainly was made of; `NOTHING_GIVEN` where it was given none."""
    arguments = (*use.positional, *use.keywords)
    certain = [a.objects[0] for a in arguments if a.certain and len(a.objects) == 1]
    given = [paths for where, paths in certain if use.releases <= where]
    found = {path for paths in given for path in paths if path != NOTHING_GIVEN}
    nothing = len(given) == len(arguments) and not found and not (use.unknown_positional or use.unknown_keywords)
    return (NOTHING_GIVEN,) if nothing else tuple(sorted(found))


def texts_given(use: CallUse, history: History) -> Iterator[tuple[ReleaseSet, tuple[str, ...]]]:
    """What a call has for those of its parameters whose default is a text or a flag, as ``name='text'``.

    Where it has one of several, each of them is told; ``name=?`` is one that is not known.
    """
    for part in parts(use, history):
        named = part.signature.parameters if part.signature is not None else ()
        names = [p.name for p in named if p.default in ("True", "False") or (p.default or "").startswith(("'", '"'))]
        for where, known in possible_arguments(use, part, names):
            yield where, tuple(f"{name}={_text(value)}" for name, value in known.items())


def asked_for(run: Run, node: cst.CSTNode, texts: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    """Which of the texts that are not known are a parameter of the current function, as it came in."""
    function = run.frame.function
    if function is None or not isinstance(node, cst.Call) or not any(text.endswith(f"={OPEN}") for text in texts):
        return ()
    named = [
        (arg.keyword.value, arg.value.value)
        for arg in node.args
        if arg.keyword is not None and isinstance(arg.value, cst.Name) and f"{arg.keyword.value}={OPEN}" in texts
    ]
    return tuple((name, given, run.frame.uid) for name, given in named if _stays(function, given))


def _stays(function: FunctionCode, name: str) -> bool:
    """Whether a name is a parameter that its function never assigns anew."""
    if not any(each.name.value == name for each in all_parameters(function.node.params)):
        return False
    nodes = walk(function.tree.body(function.node)) if isinstance(function.node, cst.FunctionDef) else ()
    targets = (getattr(node, "target", None) for node in nodes)
    return not any(isinstance(each, cst.Name) and each.value == name for each in targets)


def _text(value: Constant) -> str:
    return repr(value) if isinstance(value, str | bool) else OPEN


def _foreign(atom: Atom) -> tuple[str, ...]:
    """The objects of other packages that something is, or was made of; an instance of the library's by its class."""
    if isinstance(atom, External):
        return (atom.dotted,)
    if isinstance(atom, Const) and atom.value is None:
        return (NOTHING_GIVEN,)
    return (atom.cls.dotted, *atom.made_of) if isinstance(atom, LibInstance) else ()


def constant_of(atom: Atom) -> Constant:
    """An argument's value for the rules: a plain literal or UNKNOWN."""
    if isinstance(atom, Const) and (atom.value is None or isinstance(atom.value, (bool, int, float, str))):
        return atom.value
    return UnknownArgument.UNKNOWN
