"""The library as values: what its modules, classes and instances hold in which release, and uses of them.

Every read of a name and every call goes through here, so this is where uses are recorded and where what a release does
not have becomes the exception that Python would raise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from driftwatch.binding.refused import refused_by
from driftwatch.flow.domain.contents import DictContent, ListContent
from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.faults import Fault
from driftwatch.flow.domain.values import (
    FALSE,
    NOTHING,
    TRUE,
    UNKNOWN,
    Alternative,
    Atom,
    External,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    LibTuple,
    Opaque,
    Raised,
    Unknown,
    Value,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.call_facts import argument_of, asked_for, made_of, said, texts_given
from driftwatch.flow.interpreter.library_values import constant_of, object_of
from driftwatch.flow.interpreter.lookups import import_lookup, lookup, module_lookup
from driftwatch.flow.interpreter.replaced import replacement
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.uses import (
    IMPORT_ERRORS,
    CallUse,
    Constant,
    ImportUse,
    LookUse,
    NameUse,
    Outcome,
    RefusedUse,
    Use,
)
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.snapshot.model.adapted import UNAVAILABLE, is_availability
from driftwatch.snapshot.model.history import Lookup
from driftwatch.snapshot.model.symbols import Ref, Symbol, SymbolKind

CONSTRUCTOR = "__init__"
"""What a class takes is kept with the class: of its members, this one is none."""

# -- values ------------------------------------------------------------------------------------------------------------


def module_member(run: Run, module: str, name: str, where: ReleaseSet) -> list[Alternative]:
    """What ``module.name`` is, in the releases that have it."""
    if run.target.is_above(module):
        child = f"{module}.{name}"
        if run.target.is_inside(child) or run.target.is_above(child):
            return [(where, LibModule(child))]
        if name == "__version__":
            return run.target.versions(where)
        return [(where, External(child))]
    found: list[Alternative] = []
    left = where
    ref = Ref(module, name)
    for epoch in run.history.of(ref):
        here = epoch.releases & left
        if here:
            is_release = name == "__version__" and "." not in module
            found += run.target.versions(here) if is_release else [(here, object_of(epoch, ref))]
            left -= here
    submodule = run.history.has_module(f"{module}.{name}") & left
    if submodule:
        found.append((submodule, LibModule(f"{module}.{name}")))
        left -= submodule
    if left:
        found.append((left, UNKNOWN))
    return found


def class_member(run: Run, cls: Ref, name: str, where: ReleaseSet) -> list[Alternative]:
    """What ``cls.name`` is, in the releases that have it."""
    found: list[Alternative] = []
    left = where
    for _, epoch in run.history.member_epochs(cls, name, where):
        symbol = epoch.symbol
        if symbol.kind is SymbolKind.FUNCTION:
            atom: Atom = LibMethod(cls, name, exact=True, on_class=True)
        elif any(base.startswith("enum.") for base in _bases(run, cls, epoch.releases)):
            atom = Opaque(f"{cls}.{name}")
        else:
            atom = constant_of(symbol, cls.member(name))
        found.append((epoch.releases, atom))
        left -= epoch.releases
    if left:
        found.append((left, UNKNOWN))
    return found


def _bases(run: Run, cls: Ref, where: ReleaseSet) -> tuple[str, ...]:
    return tuple(b for e in run.history.of(cls) if not e.releases.isdisjoint(where) for b in e.symbol.bases)


def instance_member(run: Run, atom: LibInstance, name: str, where: ReleaseSet) -> list[Alternative]:
    """What ``instance.name`` is, in the releases that have it."""
    found: list[Alternative] = []
    left = where
    for _, epoch in run.history.member_epochs(atom.cls, name, where):
        if epoch.symbol.kind is SymbolKind.FUNCTION:
            found.append((epoch.releases, LibMethod(atom.cls, name, atom.exact)))
        else:
            found.append((epoch.releases, UNKNOWN if atom.ghost else Unknown(of=(atom, name))))
        left -= epoch.releases
    if left and not atom.exact:
        for below in run.history.subclasses(atom.cls):
            here = run.history.member(below, name, left).present
            if here:
                found.append((here, LibMethod(below, name)))
                left -= here
    if left:
        found.append((left, UNKNOWN))
    return found


# -- uses --------------------------------------------------------------------------------------------------------------


def missing(run: Run, raised: Raised, where: ReleaseSet, fault: Fault | None = None) -> list[Alternative]:
    """A name is not there in these releases: the handler that takes the exception is entered, and here it ends.

    Where nobody takes it the program would stop; the analysis goes on with an unknown value, so that what follows is
    checked as well.
    """
    if not where:
        return []
    run.throw(raised, where, fault)
    if run.is_caught(raised):
        run.state.reach -= where
        return []
    run.fails_import(where)
    run.state.ghost |= where
    return [(where, UNKNOWN)]


def record_use(run: Run, use: Use, fails: ReleaseSet, *, also: bool = False) -> Fault | None:
    """Record a use, or leave that to the fault that it is where it fails.

    `also` says that it counts although the function it stands in is analysed by itself.
    """
    if run.recording.muted:
        return None
    # What is known of the function by itself is told again where a caller hides it.
    hidden = not run.recording.records and not also and run.recorder.knows(use)
    if hidden and not run.hides(use.exception):
        return None
    if not fails:
        if not hidden or use.catch.outcome is Outcome.SILENT:
            run.record(use)
        return None
    fault = Fault(run.conditioned(use), fails, hidden)
    run.ledger.expect(fault)
    return fault


def use_name(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    """Read an attribute of something of the library: the use, the exception where it is missing, the value."""
    if lookup(run, atom, name, where) is None:
        return [(where, UNKNOWN)]
    replaced = replacement(run, _owner(atom)[0].dotted, name, where)
    if not replaced.alternatives:
        return _use_name(run, atom, name, where, node)
    rest = where - replaced.defined()
    found = list(replaced.alternatives if isinstance(atom, LibModule) else unknown(replaced.defined()).alternatives)
    return [*found, *_use_name(run, atom, name, rest, node)] if rest else found


def _use_name(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    found = lookup(run, atom, name, where)
    assert found is not None
    run.touch()
    above = isinstance(atom, LibModule) and run.target.is_above(atom.module)
    there = found.present | found.unknown
    raised = raised_of("AttributeError", f"{_named(atom)} has no attribute '{name}'")
    fault = None
    if not above and not name.startswith("__"):
        owner, instance, exact = _owner(atom)
        elsewhere, module, loading = EMPTY, run.frame.module, run.world.loading
        if isinstance(atom, LibModule) and found.unknown and not loading.asks_for(module, name):
            elsewhere = loading.elsewhere(module, f"{atom.module}.{name}") & found.unknown
        use = NameUse(
            run.history.distribution,
            run.location(node),
            where,
            run.catch("AttributeError"),
            run.frame.way_in(),
            owner,
            name,
            instance,
            exact,
            there - elsewhere if isinstance(atom, LibModule) else EMPTY,
            elsewhere,
        )
        fault = record_use(run, use, where - there)
    if where - there:
        # The attempt counts: it is not a test that keeps the code from what it is there for.
        run.reaches(node, _owner(atom)[0].member(name), where)
    lost = missing(run, raised, where - there, fault)
    if isinstance(atom, LibModule):
        return [*module_member(run, atom.module, name, there), *lost]
    if isinstance(atom, LibObject):
        return [*class_member(run, atom.ref, name, there), *lost]
    assert isinstance(atom, LibInstance)
    return [*instance_member(run, atom, name, there), *lost]


def _named(atom: Atom) -> str:
    """What Python calls the thing whose attribute is not there."""
    if isinstance(atom, LibModule):
        return f"module '{atom.module}'"
    if isinstance(atom, LibObject):
        return f"type object '{atom.ref.qualname}'"
    assert isinstance(atom, LibInstance)
    return f"'{atom.cls.qualname}' object"


def _owner(atom: Atom) -> tuple[Ref, bool, bool]:
    if isinstance(atom, LibModule):
        return Ref(atom.module, ""), False, True
    if isinstance(atom, LibObject):
        return atom.ref, False, True
    assert isinstance(atom, LibInstance)
    return atom.cls, True, atom.exact


def _survived(run: Run) -> tuple[str, ...]:
    return tuple(e for e in IMPORT_ERRORS if run.is_caught(e) or run.catch(e).outcome is not Outcome.RAISES)


def look(run: Run, module: str, node: cst.CSTNode, asked: str | None = None) -> None:
    """A package of the library is imported to see whether it is there, or for a question about something in it."""
    catch = run.catch("ModuleNotFoundError")
    if asked is not None or catch.path is not None:
        way, reach = run.frame.way_in(), run.state.reach
        use = LookUse(run.history.distribution, run.location(node), reach, catch, way, module, _survived(run), asked)
        record_use(run, use, EMPTY)


def use_import(
    run: Run,
    module: str,
    name: str | None,
    bound: str,
    node: cst.CSTNode,
    *,
    statement: cst.ImportFrom | None = None,
    first: bool = True,
) -> Value:
    """Import a module of the library, or a name from one: the use, the exception where it is missing, the value."""
    reach = run.state.reach
    replaced = NOTHING if name is None else replacement(run, module, name, reach)
    if replaced.alternatives and reach <= replaced.defined():
        return replaced
    run.touch()
    if run.target.is_inside(module):
        run.reaches(node, Ref(module, name or ""), reach)
    has_module = run.history.has_module(module) if run.target.is_inside(module) else reach
    gone = reach - has_module
    found = Lookup(reach & has_module) if name is None else import_lookup(run, module, name, reach & has_module)
    there = found.present | found.unknown
    fault = None
    if run.target.is_inside(module):
        catch = run.catch("ImportError" if name is not None else "ModuleNotFoundError")
        tries = [attempt for attempt in run.frame.stack() if attempt.stops is None]
        use = ImportUse(
            run.history.distribution,
            run.location(node),
            reach,
            catch,
            run.frame.way_in(),
            module,
            name,
            bound,
            bool(tries) and tries[-1].checks_only,
            first,
            _survived(run),
            run.frame.tree.module_of(statement) if statement is not None else None,
        )
        fault = record_use(run, use, reach - there)
    elif name is None:
        look(run, module, node)
    lost = missing(run, raised_of("ModuleNotFoundError", f"No module named '{module}'"), gone, fault)
    if name is None:
        return value_of([(there, LibModule(module)), *lost])
    text = f"cannot import name '{name}' from '{module}' (unknown location)"
    lost += missing(run, raised_of("ImportError", text), reach - gone - there, fault)
    if found.unknown and run.target.is_inside(module):
        run.may_raise("ImportError")
    return value_of([*module_member(run, module, name, there), *lost])


def use_call(run: Run, callee: Atom, positional: ListContent, keywords: DictContent, node: cst.CSTNode) -> Value:
    """Call something of the library: the use, the exception where it does not fit, and what the call gives."""
    run.touch()
    reach = run.state.reach
    ref, method, exact, unbound = _callee(callee)
    run.reaches(node, ref, reach)

    def used(where: ReleaseSet, misfit: str | None) -> CallUse:
        catch = run.catch(misfit or CallUse.raised)
        elements = [e for e in positional.elements if not e.releases.isdisjoint(where)]
        entries = [(n, e) for n, e in keywords.entries.items() if not e.releases.isdisjoint(where)]
        return CallUse(
            run.history.distribution,
            run.location(node),
            where,
            catch,
            run.frame.way_in(),
            ref,
            tuple(argument_of(run, e, None, catch, node) for e in elements),
            tuple(argument_of(run, e, str(n), catch, node) for n, e in entries),
            (positional.open | positional.forwarded) & where,
            (keywords.open | keywords.forwarded) & where,
            method,
            exact,
            unbound,
            run.purpose.parts if run.purpose.node is node else None,
            told=said(run.state.told),
            instead=misfit,
        )

    if keywords.forwarded & reach or positional.forwarded & reach:
        run.effects.depends_on_parameters = run.effects.forwards = True
        if run.frame.function is not None:
            run.frame.function.forwarding.add(node)
        passed_through(run, node, f"`{ref.dotted}` is called with what is passed to")
    elif (keywords.open | positional.open) & reach:
        star = "**" if keywords.open & reach else "*"
        run.effects.passes_unknown = True
        if run.frame.function is not None and run.recording.records:
            run.frame.function.forwarding.add(node)
        run.unresolved(node, f"`{ref.dotted}` is called with `{star}` of unknown content")
    known = union([where for where, symbol in callables_of(run, callee, ref, reach) if None not in symbol.possible])
    if not reach <= known:
        run.unresolved(node, f"what `{ref.dotted}` takes is not known")
    use = used(reach, None)
    foreign = any(a.location is not None for a in (*use.positional, *use.keywords))
    if run.frame.function is not None:
        run.frame.function.calls_library = True
    # What the function by itself cannot tell of a call, each of its callers does.
    foreign |= run.frame.function is not None and node in run.frame.function.forwarding
    lost: list[Alternative] = []
    for where, misfit in run.target.misfits(ref, reach):
        if misfit == UNAVAILABLE:
            lost += _use_unavailable(run, ref, where, node, also=foreign)
        else:
            _bind(run, use if misfit is None and where == reach else used(where, misfit), also=foreign)
    for refused, where in refused_by(use, run.history):
        if refused.exception == RefusedUse.raised:
            told = RefusedUse(
                use.distribution, use.location, where, run.catch(refused.exception), use.trace, ref, refused.condition
            )
            missing(run, raised_of(refused.exception), where, record_use(run, told, where, also=foreign))
    there = run.state.reach - union([EMPTY, *(where for where, _ in lost)])
    result = _result(run, callee, ref, there, use, node)
    return value_of([*result.alternatives, *lost]) if lost else result


def _bind(run: Run, use: CallUse, *, also: bool) -> None:
    """Record a call, and send out what it raises where it does not fit."""
    refusals = run.target.refusals(use)
    broken, surely = EMPTY, EMPTY
    for refusal in refusals:
        broken |= refusal.releases
        surely |= refusal.releases if refusal.surely else EMPTY
    fault = record_use(run, use, broken, also=also)
    for refusal in refusals:
        run.throw(raised_of(use.exception, refusal.text), refusal.releases, fault)
    if use.catch.outcome is Outcome.GUARDED:
        run.state.reach -= surely
    elif broken:
        run.state.ghost |= surely
        if not run.is_caught(use.exception):
            run.fails_import(broken)


def _use_unavailable(run: Run, ref: Ref, where: ReleaseSet, node: cst.CSTNode, *, also: bool) -> list[Alternative]:
    """Call what an adapter has the name of, and the build not."""
    root = Ref(run.history.module, "")
    catch, trace = run.catch(UNAVAILABLE), run.frame.way_in()
    use = NameUse(
        run.history.distribution, run.location(node), where, catch, trace, root, ref.qualname, instead=UNAVAILABLE
    )
    return missing(run, raised_of(UNAVAILABLE), where, record_use(run, use, where, also=also))


def passed_through(run: Run, node: cst.CSTNode, what: str) -> None:
    """What is done depends on what somebody gives to the function that is analysed: who calls that does it."""
    entry = run.entry
    if entry.recording.records and entry.function is not None:
        reason = f"{what} `{entry.function.qualname}`, which nothing here calls"
        place = run.location(node)
        run.world.entries.passes_through(entry.function, place.path, place.line, reason)


def _callee(atom: Atom) -> tuple[Ref, bool, bool, bool]:
    if isinstance(atom, LibMethod):
        return atom.cls.member(atom.name), True, atom.exact, atom.on_class
    assert isinstance(atom, LibObject)
    return atom.ref, False, True, False


def callables_of(run: Run, callee: Atom, ref: Ref, where: ReleaseSet) -> Iterator[tuple[ReleaseSet, Symbol]]:
    """What a function, class or method of the library is in these releases, each release once."""
    if isinstance(callee, LibMethod) and callee.name == CONSTRUCTOR:
        epochs = list(run.history.of(callee.cls))
    elif isinstance(callee, LibMethod):
        epochs = [epoch for _, epoch in run.history.member_epochs(callee.cls, callee.name, where)]
    else:
        epochs = list(run.history.of(ref))
    left = where
    for epoch in epochs:
        here = epoch.releases & left
        if here:
            left -= here
            yield here, epoch.symbol


def _availability(run: Run, names: tuple[tuple[ReleaseSet, Constant], ...], reach: ReleaseSet) -> Value:
    """What an adapter says of names: whether the build has them."""
    found: list[Alternative] = []
    left = reach
    for where, name in names:
        here = where & reach
        left -= here
        if isinstance(name, str):
            run.touch()
            answer = module_lookup(run, run.history.module, name, here)
            found += [
                (answer.present, TRUE),
                (here - answer.present - answer.unknown, FALSE),
                (answer.unknown, UNKNOWN),
            ]
        else:
            found.append((here, UNKNOWN))
    return value_of([*found, (left, UNKNOWN)])


def _may_be_overridden(run: Run, callee: Atom) -> bool:
    """Whether a method may be that of a class below the one it was looked up on."""
    if not isinstance(callee, LibMethod) or callee.exact:
        return False
    return any(callee.name in run.history.members(below) for below in run.history.subclasses(callee.cls))


def _result(run: Run, callee: Atom, ref: Ref, reach: ReleaseSet, use: CallUse, node: cst.CSTNode) -> Value:
    if use.keywords == () and len(use.positional) == 1 and is_availability(run.history.module, ref):
        return _availability(run, use.positional[0].values, reach)
    if isinstance(callee, LibObject) and callee.is_class:
        return Value(((reach, LibInstance(ref, exact=True, made_of=made_of(use))),))
    found: list[Alternative] = []
    left = reach
    for here, symbol in callables_of(run, callee, ref, reach):
        left -= here
        signature = symbol.signature
        if signature is not None and signature.returns_ref is not None:
            made = LibInstance(signature.returns_ref)
            told = [
                (there & here, replace(made, made_of=texts, asked=asked_for(run, node, texts)))
                for there, texts in texts_given(use, run.history)
            ]
            found += told
            found.append((here - union([there for there, _ in told]), made))
        elif signature is not None and signature.gives and not _may_be_overridden(run, callee):
            found.append((here, LibTuple(ref, signature.gives, use.method, use.exact)))
        else:
            found.append((here, UNKNOWN))
    found.append((left, UNKNOWN))
    return value_of(found)
