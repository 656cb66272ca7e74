"""What well-known functions of Python and of a few packages do with values of the library.

Each model is a function over the run and the call's arguments. What is not in the table is a call of which nothing is
known. Names are import paths; a builtin's is under ``builtins``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from driftwatch.flow import pure
from driftwatch.flow.arguments import at_call, unknown_call
from driftwatch.flow.attributes import attribute_of
from driftwatch.flow.conditions import presence, truth_of
from driftwatch.flow.constants import as_constant, constants_of
from driftwatch.flow.containers import elements_of, merge_value, quantify
from driftwatch.flow.library import class_member, instance_member, lookup, module_member, use_import
from driftwatch.flow.run import Run, as_alternatives
from driftwatch.flow.state import Arguments, DictContent, Entry, ListContent, PartialContent
from driftwatch.flow.uses import PatchUse, ProbeUse
from driftwatch.flow.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Alternative,
    ArgSpecOf,
    Atom,
    Class,
    Const,
    External,
    Function,
    Instance,
    LibInstance,
    LibMethod,
    LibModule,
    LibObject,
    ListRef,
    NamesOf,
    Opaque,
    ParameterInfo,
    ParameterMap,
    Partial,
    ProjectModule,
    SignatureOf,
    Unknown,
    Value,
    const,
    join,
    unknown,
    value_of,
)
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model import Ref, Signature

Model = Callable[[Run, Arguments, cst.CSTNode], Value]


def call_external(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a builtin or an object of another package."""
    model = MODELS.get(dotted)
    if model is not None:
        return model(run, arguments, node)
    if dotted in pure.FUNCTIONS:
        return _pure_call(run, dotted, arguments, node)
    if dotted.startswith("builtins.") and isinstance(getattr(__builtins_module__, dotted[9:], None), type):
        if issubclass(getattr(__builtins_module__, dotted[9:]), BaseException):
            return Value(((run.state.reach, Opaque(dotted)),))
    if dotted in TRANSPARENT:
        return _first(run, arguments, node)
    return unknown_call(run, arguments, node)


def positional(arguments: Arguments, index: int, name: str | None = None) -> Value | None:
    """The value of a parameter of a modelled function."""
    if index < len(arguments.positional.elements):
        return arguments.positional.elements[index].value
    entry = arguments.keywords.entries.get(name) if name is not None else None
    return entry.value if entry is not None else None


def _pure_call(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    if dotted in ("builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.frozenset"):
        first = positional(arguments, 0)
        if first is None:
            if dotted == "builtins.list":
                return run.new_list(node, ListContent())
        elif not all(isinstance(a, (Const, ParameterMap)) for _, a in first.alternatives):
            parts = elements_of(run, first)
            if parts is not None and dotted in ("builtins.list", "builtins.tuple"):
                return run.new_list(node, ListContent(tuple(parts), is_tuple=dotted == "builtins.tuple"))
            if len(first.alternatives) == 1 and isinstance(first.single(), (NamesOf, ListRef)):
                if as_constant(run, first.alternatives[0][1]) is None:
                    return first
    found: list[Alternative] = []
    for where, values, named in constants_of(run, arguments.positional, arguments.keywords):
        if values is None:
            found.append((where, UNKNOWN))
            continue
        try:
            found.append((where, pure.call(dotted, values, named)))
        except pure.NotPureError as refused:
            if refused.raised is not None and run.is_caught(refused.raised):
                run.throw(refused.raised, where)
                run.state.reach -= where
            else:
                found.append((where, UNKNOWN))
    if any(isinstance(a, Unknown) for _, a in found):
        run.may_raise()
    return value_of(found)


def _first(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    return unknown(run.state.reach) if value is None else value


# -- looking at objects ------------------------------------------------------------------------------------------------


def _hasattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name = positional(arguments, 0), positional(arguments, 1)
    if owner is None or name is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(owner, run.state.reach):
        for there, key in as_alternatives(name, where):
            if not (isinstance(key, Const) and isinstance(key.value, str)):
                _asks(run, key)
                _asks(run, atom)
                found.append((there, UNKNOWN))
            elif isinstance(atom, Const):
                found.append((there, FALSE if atom.value is None else UNKNOWN))
            elif isinstance(atom, ProjectModule):
                known = run.world.modules.attribute(atom.code, key.value, there)
                found.append((there, TRUE if known.defined() == there else UNKNOWN))
            elif isinstance(atom, Unknown):
                _asks(run, atom)
                found.append((there, UNKNOWN))
            elif lookup(run, atom, key.value, there) is None:
                found.append((there, UNKNOWN))
            else:
                holds, fails = presence(run, atom, key.value, there)
                found.extend([(holds, TRUE), (fails, FALSE)])
    return value_of(found)


def _asks(run: Run, atom: Atom) -> None:
    if isinstance(atom, Unknown):
        run.asks(atom.parameter)


def _getattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name, default = (positional(arguments, i) for i in range(3))
    if owner is None or name is None:
        return unknown(run.state.reach)
    found = Value()
    for where, key in as_alternatives(name, run.state.reach):
        here = owner.within(where)
        for _, atom in here.alternatives:
            _asks(run, atom)
        if not (isinstance(key, Const) and isinstance(key.value, str)):
            _asks(run, key)
            if here.where(lambda a: isinstance(a, LibModule)):
                run.unresolved(node, "an attribute of the library is read by a name that is not known")
            found = join(found, unknown(where))
        elif default is None:
            found = join(found, attribute_of(run, here, key.value, node).within(where))
        else:
            found = join(found, _with_default(run, here, key.value, default.within(where), where, node))
    return found


def _with_default(run: Run, owner: Value, name: str, default: Value, where: ReleaseSet, node: cst.CSTNode) -> Value:
    found: list[Alternative] = []
    for there, atom in as_alternatives(owner, where):
        if isinstance(atom, Const) and atom.value is None:
            found.extend(as_alternatives(default, there))
            continue
        known = lookup(run, atom, name, there)
        if known is None:
            found.extend(attribute_of(run, Value(((there, atom),)), name, node).alternatives)
            if not isinstance(atom, Class):
                found.extend(as_alternatives(default, there))
            continue
        run.touch()
        present, absent = presence(run, atom, name, there)
        found.extend(as_alternatives(default, absent))
        if isinstance(atom, LibModule):
            found.extend(module_member(run, atom.module, name, present))
        else:
            found.extend(_silent_member(run, atom, name, present))
    return value_of(found)


def _silent_member(run: Run, atom: Atom, name: str, where: ReleaseSet) -> list[Alternative]:
    if isinstance(atom, LibInstance):
        return instance_member(run, atom, name, where)
    assert isinstance(atom, LibObject)
    return class_member(run, atom.ref, name, where)


def _callable(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Const):
            found.append((where, FALSE))
        elif isinstance(atom, (LibObject, LibMethod, Function, Class, Partial)):
            found.append((where, TRUE))
        else:
            found.append((where, UNKNOWN))
    return value_of(found)


_BUILTIN_TYPES = {"str": str, "int": int, "bool": bool, "float": float, "tuple": tuple}


def _isinstance(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value, kind = positional(arguments, 0), positional(arguments, 1)
    if value is None or kind is None:
        return unknown(run.state.reach)
    wanted = kind.single()
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        answer: Atom = UNKNOWN
        if isinstance(wanted, External) and isinstance(atom, Const):
            known = _BUILTIN_TYPES.get(wanted.dotted.removeprefix("builtins."))
            if known is not None:
                answer = Const(isinstance(atom.value, known))
            elif atom.value is None:
                answer = FALSE
        elif isinstance(wanted, External) and wanted.dotted == "types.ModuleType" and isinstance(atom, LibModule):
            answer = TRUE
        found.append((where, answer))
    return value_of(found)


def _names_of(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    return value_of(
        (w, NamesOf(a) if isinstance(a, (LibModule, LibInstance, LibObject)) else UNKNOWN)
        for w, a in as_alternatives(value, run.state.reach)
    )


def _bool(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    if value is None:
        return const(False, run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        answer = truth_of(run, atom)
        found.append((where, UNKNOWN if answer is None else Const(answer)))
    return value_of(found)


def _all(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    return unknown(run.state.reach) if value is None else quantify(run, value, every=True)


def _any(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    return unknown(run.state.reach) if value is None else quantify(run, value, every=False)


# -- inspect -----------------------------------------------------------------------------------------------------------

PROBE_ERRORS = ("TypeError", "ValueError")


def _signature(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, (LibObject, LibMethod)):
            found.extend(_probe(run, atom, where, node))
        elif isinstance(atom, Const) and atom.value is None:
            if run.is_caught("TypeError"):
                run.throw("TypeError", where)
                run.state.reach -= where
        else:
            _asks(run, atom)
            found.append((where, UNKNOWN))
    return value_of(found)


def _probe(run: Run, atom: LibObject | LibMethod, where: ReleaseSet, node: cst.CSTNode) -> list[Alternative]:
    run.touch()
    ref = atom.ref if isinstance(atom, LibObject) else atom.cls.member(atom.name)
    survives = tuple(e for e in PROBE_ERRORS if run.catch(e).outcome.value != "raises")
    if run.frame.records:
        catch = run.catch("TypeError" if "TypeError" not in survives else "ValueError")
        run.recorder.add(
            ProbeUse(run.history.distribution, run.location(node), where, catch, run.frame.way_in(), ref, survives)
        )
    found: list[Alternative] = []
    left = where
    if isinstance(atom, LibMethod):
        epochs = [e for _, e in run.history.member_epochs(atom.cls, atom.name, where)]
    else:
        epochs = list(run.history.of(ref))
    for epoch in epochs:
        here = epoch.releases & left
        if not here:
            continue
        left -= here
        signature = epoch.symbol.signature
        found.append((here, UNKNOWN if signature is None else SignatureOf(parameter_map(signature))))
    found.append((left, UNKNOWN))
    return found


def parameter_map(signature: Signature) -> ParameterMap:
    """``inspect.signature(f).parameters`` of a recorded signature."""
    return ParameterMap(
        tuple(ParameterInfo(p.name, p.kind.value.replace("-", "_").upper(), p.required) for p in signature.parameters)
    )


def _argspec(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``inspect.getfullargspec``."""
    value = _signature(run, arguments, node)
    return value_of((w, ArgSpecOf(a.parameters) if isinstance(a, SignatureOf) else a) for w, a in value.alternatives)


# -- importing by name -------------------------------------------------------------------------------------------------


def _import_module(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0, "name")
    if value is None:
        return unknown(run.state.reach)
    found = Value()
    for where, atom in as_alternatives(value, run.state.reach):
        here = where & run.state.reach
        if isinstance(atom, Const) and isinstance(atom.value, str):
            name = atom.value
            package = positional(arguments, 1, "package")
            anchor = package.single() if package is not None else None
            if name.startswith(".") and isinstance(anchor, Const) and isinstance(anchor.value, str):
                name = anchor.value + "." + name.lstrip(".") if name.count(".", 0, 2) == 1 else name
            if run.target.is_inside(name) or run.target.is_above(name):
                outer = run.state
                run.state = outer.fork(here)
                found = join(found, use_import(run, name, None, name, node))
                gone = here - run.state.reach
                run.state = outer
                run.state.reach -= gone
            else:
                run.may_raise("ImportError")
                module = run.world.modules.find(name, run.frame.module)
                atom_there: Atom = ProjectModule(module) if module is not None else External(name)
                found = join(found, Value(((here, atom_there),)))
        else:
            _asks(run, atom)
            run.may_raise("ImportError")
            found = join(found, unknown(here))
    return found


def _find_spec(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0, "name")
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Const) and isinstance(atom.value, str):
            if run.target.is_inside(atom.value):
                run.touch()
                parent = atom.value.rpartition(".")[0]
                if run.target.is_inside(parent):
                    # It imports the parent package, and that may be what is missing.
                    gone = where - run.history.has_module(parent)
                    if gone and run.is_caught("ModuleNotFoundError"):
                        run.throw("ModuleNotFoundError", gone)
                        run.state.reach -= gone
                        where -= gone
                has = run.history.has_module(atom.value) & where
                found.extend([(has, Opaque("spec")), (where - has, Const(None))])
                continue
            if run.target.is_above(atom.value):
                run.touch()
                found.append((where, Opaque("spec")))
                continue
        _asks(run, atom)
        found.append((where, UNKNOWN))
    return value_of(found)


def _version(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    if value is None:
        return unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Const) and isinstance(atom.value, str) and run.target.is_distribution(atom.value):
            run.touch()
            found.extend(run.target.versions(where))
        else:
            _asks(run, atom)
            found.append((where, UNKNOWN))
    if any(isinstance(a, Unknown) for _, a in found):
        run.may_raise("ImportError")
    return value_of(found)


def _importorskip(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    atom = value.single() if value is not None else None
    if isinstance(atom, Const) and isinstance(atom.value, str) and run.target.is_inside(atom.value):
        run.touch()
        run.state.reach &= run.history.has_module(atom.value)
        return Value(((run.state.reach, LibModule(atom.value)),)) if run.state.reach else Value()
    return unknown(run.state.reach)


# -- functools and friends ---------------------------------------------------------------------------------------------


def _partial(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = positional(arguments, 0)
    if func is None:
        return unknown(run.state.reach)
    marked = at_call(run, arguments, node)
    rest = ListContent(marked.positional.elements[1:], marked.positional.open, marked.positional.forwarded)
    key = run.world.identities.number((id(node), run.frame.uid, "partial"), node)
    run.state.heap[key] = PartialContent(func, rest, marked.keywords)
    return Value(((run.state.reach, Partial(key)),))


def _dict(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    content = DictContent()
    first = positional(arguments, 0)
    if first is not None:
        content = merge_value(run, content, first)
    for name, entry in arguments.keywords.entries.items():
        note = f"`{name}` is put into the dict here"
        trace = entry.trace or (run.step(_keyword(node, name), note),)
        fresh = Entry(entry.releases, entry.certain, entry.value, trace, entry.location)
        content = DictContent({**content.entries, name: fresh}, content.open, content.forwarded)
    return run.new_dict(
        node,
        DictContent(
            content.entries, content.open | arguments.keywords.open, content.forwarded | arguments.keywords.forwarded
        ),
    )


def _keyword(node: cst.CSTNode, name: str) -> cst.CSTNode:
    if isinstance(node, cst.Call):
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value == name:
                return argument
    return node


def _zip(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    columns = [elements_of(run, e.value) for e in arguments.positional.elements]
    if not columns or any(c is None for c in columns):
        return unknown(run.state.reach)
    return _rows(run, list(zip(*[c for c in columns if c is not None], strict=False)), node)


def _enumerate(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 0)
    parts = elements_of(run, value) if value is not None else None
    if parts is None:
        return unknown(run.state.reach)
    reach = run.state.reach
    return _rows(run, [(Entry(reach, reach, const(i, reach)), part) for i, part in enumerate(parts)], node)


def _rows(run: Run, rows: Sequence[tuple[Entry, ...]], node: cst.CSTNode) -> Value:
    elements: list[Entry] = []
    for i, row in enumerate(rows):
        where, certain = run.state.reach, run.state.reach
        for entry in row:
            where, certain = where & entry.releases, certain & entry.certain
        number = run.world.identities.number((id(node), run.frame.uid, "row", i), (node, i))
        run.state.heap[number] = ListContent(tuple(row), is_tuple=True)
        elements.append(Entry(where, certain, Value(((where, ListRef(number)),))))
    return run.new_list(node, ListContent(tuple(elements)))


def _map(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = positional(arguments, 0)
    source = positional(arguments, 1)
    if func is None or source is None or len(arguments.positional.elements) != 2:
        return unknown_call(run, arguments, node)
    found: list[Alternative] = []
    for where, atom in as_alternatives(source, run.state.reach):
        items = as_constant(run, atom)
        callee = func.single()
        if items is not None and isinstance(items.value, tuple) and isinstance(callee, External):
            try:
                done = tuple(pure.call(callee.dotted, [Const(i)]).value for i in items.value)
                found.append((where, Const(done)))
                continue
            except pure.NotPureError as refused:
                if refused.raised and run.is_caught(refused.raised):
                    run.throw(refused.raised, where)
                    run.state.reach -= where
                    continue
        found.append((where, UNKNOWN))
    if len(found) == 1 and found[0][1] == UNKNOWN:
        parts = elements_of(run, source)
        if parts is not None:
            results = [Entry(p.releases, p.certain, run.call(func, Arguments(ListContent((p,))), node)) for p in parts]
            return run.new_list(node, ListContent(tuple(results)))
    return value_of(found)


# -- patching ----------------------------------------------------------------------------------------------------------


def use_patch(run: Run, atom: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> None:
    """Record the replacement of one of the library's names."""
    if isinstance(atom, LibModule) and run.target.is_inside(atom.module):
        owner = Ref(atom.module, "")
    elif isinstance(atom, LibObject) and atom.is_class:
        owner = atom.ref
    else:
        return
    run.touch()
    if run.frame.records:
        catch = run.catch("AttributeError")
        run.recorder.add(
            PatchUse(run.history.distribution, run.location(node), where, catch, run.frame.way_in(), owner, name)
        )


def _setattr(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    owner, name = positional(arguments, 0), positional(arguments, 1)
    if owner is not None and name is not None:
        for where, atom in as_alternatives(owner, run.state.reach):
            for there, key in as_alternatives(name, where):
                if isinstance(key, Const) and isinstance(key.value, str):
                    use_patch(run, atom, key.value, there, node)
    return const(None, run.state.reach)


def _mock_patch(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``mock.patch("package.module.name")`` fails when the name is not there, unless ``create=True``."""
    target = positional(arguments, 0, "target")
    if "create" in arguments.keywords.entries or target is None:
        return unknown(run.state.reach)
    for where, atom in as_alternatives(target, run.state.reach):
        if isinstance(atom, Const) and isinstance(atom.value, str):
            module, _, name = atom.value.rpartition(".")
            if name and run.target.is_inside(module):
                use_patch(run, LibModule(module), name, where, node)
    return unknown(run.state.reach)


def _exit(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """The program ends here; a script that ends itself so has run."""
    if run.frame.function is None:
        run.frame.module.exits |= run.state.reach
    return _stop(run, arguments, node)


def _stop(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    run.state.reach = EMPTY
    return Value()


MODELS: dict[str, Model] = {
    "builtins.hasattr": _hasattr,
    "inspect.getattr_static": _getattr,
    "builtins.getattr": _getattr,
    "builtins.callable": _callable,
    "builtins.isinstance": _isinstance,
    "builtins.dir": _names_of,
    "builtins.vars": _names_of,
    "builtins.bool": _bool,
    "builtins.all": _all,
    "builtins.any": _any,
    "builtins.dict": _dict,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.map": _map,
    "builtins.__import__": _import_module,
    "builtins.setattr": _setattr,
    "builtins.exit": _exit,
    "builtins.quit": _exit,
    "sys.exit": _exit,
    "os._exit": _exit,
    "inspect.signature": _signature,
    "inspect.Signature.from_callable": _signature,
    "inspect.getfullargspec": _argspec,
    "importlib.import_module": _import_module,
    "importlib.util.find_spec": _find_spec,
    "importlib.find_loader": _find_spec,
    "pkgutil.find_loader": _find_spec,
    "importlib.metadata.version": _version,
    "importlib_metadata.version": _version,
    "pytest.importorskip": _importorskip,
    "pytest.skip": _stop,
    "pytest.fail": _stop,
    "functools.partial": _partial,
    "unittest.mock.patch": _mock_patch,
    "mock.patch": _mock_patch,
}

TRANSPARENT = frozenset(
    {
        "functools.cache",
        "functools.lru_cache",
        "functools.wraps",
        "builtins.iter",
        "builtins.reversed",
        "builtins.staticmethod",
        "builtins.classmethod",
        "builtins.property",
        "inspect.unwrap",
        "typing.cast",
        "copy.copy",
        "copy.deepcopy",
        "torch.no_grad",
        "torch.inference_mode",
        "contextlib.contextmanager",
        "collections.OrderedDict",
        "types.MappingProxyType",
    }
)
"""Functions that give back what they are given, as far as the analysis cares."""

__builtins_module__ = __import__("builtins")


def _cast(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = positional(arguments, 1)
    return unknown(run.state.reach) if value is None else value


MODELS["typing.cast"] = _cast
PROJECT_INSTANCES = (Instance,)
