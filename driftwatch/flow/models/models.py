"""What well-known functions of Python and of a few packages do with values of the library.

Each model is a function over the run and the call's arguments. What is not in the table is a call of which nothing is
known. Names are import paths; a builtin's is under ``builtins``.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.enums import AUTO
from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.predicates import Sentinel, touches_library
from driftwatch.flow.domain.state import NO_ARGUMENTS, Arguments, DictContent, Entry, ListContent, PartialContent
from driftwatch.flow.domain.taint import anonymous
from driftwatch.flow.domain.values import (
    STATIC,
    UNKNOWN,
    Alternative,
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Factory,
    Function,
    Giving,
    Instance,
    Key,
    LibInstance,
    LibTuple,
    ListRef,
    NamesOf,
    Namespace,
    Partial,
    PartialMethod,
    Raised,
    Stack,
    Suppressing,
    Unknown,
    Value,
    const,
    join,
    key_of,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.arguments import argument, at_call, unknown_call
from driftwatch.flow.interpreter.conditions import truth_of
from driftwatch.flow.interpreter.constants import as_constant, constants_of, text_of
from driftwatch.flow.interpreter.containers import elements_of, quantify
from driftwatch.flow.interpreter.deferred import DEFERRED
from driftwatch.flow.interpreter.escape import NOT_SORTED_OUT, has_library, lose
from driftwatch.flow.interpreter.exceptional import class_names, thrown
from driftwatch.flow.interpreter.handed import only_reads
from driftwatch.flow.interpreter.members import method_of
from driftwatch.flow.interpreter.objects import content_of, make
from driftwatch.flow.interpreter.records import as_dict, is_record, replaced
from driftwatch.flow.interpreter.results import count_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, lists_of
from driftwatch.flow.interpreter.sequences import by_place
from driftwatch.flow.interpreter.sets import as_set, members_of
from driftwatch.flow.interpreter.sinks import DECORATOR_MAKERS, only_looks
from driftwatch.flow.models.class_makers import CLASS_MAKERS
from driftwatch.flow.models.container_models import CONTAINERS
from driftwatch.flow.models.dynamic import DYNAMIC, start_program, starts_programs
from driftwatch.flow.models.import_calls import IMPORT_CALLS
from driftwatch.flow.models.introspection import INTROSPECTION
from driftwatch.flow.models.iteration_models import GOES_THROUGH, ITERATION, apply_to_each, gone_through
from driftwatch.flow.models.patches import PATCHES
from driftwatch.flow.models.test_runners import TEST_RUNNERS

Model = Callable[[Run, Arguments, cst.CSTNode], Value]


def call_external(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a builtin or an object of another package."""
    dotted = pure.copied(dotted)
    if dotted in GOES_THROUGH:
        arguments = gone_through(run, arguments, node)
    said = _said_by_object(run, dotted, arguments, node)
    if said is not None:
        return said
    model = MODELS.get(dotted)
    if model is not None:
        return model(run, arguments, node)
    if dotted in pure.FUNCTIONS:
        return _pure_call(run, dotted, arguments, node)
    builtin = getattr(builtins, dotted.removeprefix("builtins."), None) if dotted.startswith("builtins.") else None
    if isinstance(builtin, type) and issubclass(builtin, BaseException):
        return _exception(run, builtin.__name__, arguments, node)
    if dotted in TRANSPARENT:
        return _first(run, arguments, node)
    if dotted in DECORATOR_MAKERS:
        # What it makes gives back what it is put on.
        return Value(((run.state.reach, External("inspect.unwrap")),))
    if starts_programs(dotted):
        return start_program(run, arguments, node)
    if only_looks(dotted):
        run.may_raise()
        return run.combine(run.state.reach, *arguments.values())
    return unknown_call(run, arguments, node, reads_only=only_reads(dotted))


def _object(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    if arguments or not run.in_module:
        return unknown_call(run, arguments, node)
    place = run.location(node)
    return Value(((run.state.reach, Sentinel(f"{place.path}:{place.line}:{place.column}")),))


def _sorted(run: Run, value: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What is sorted, where it is not the same in every release: constants in order, anything else as it is."""
    content = lists_of(run, value.single() or UNKNOWN)
    if content is None:
        return value
    if content.open & run.state.reach or not content.elements:
        return run.new_list(node, replace(content, is_tuple=False, is_set=False))
    elements: list[Entry] = []
    for where, values, named in constants_of(run, arguments.positional, arguments.keywords):
        try:
            done = pure.call("builtins.sorted", values, named).value if values is not None else None
        except pure.NotPureError:
            done = None
        if not isinstance(done, tuple):
            return run.new_list(node, replace(content, is_tuple=False, is_set=False))
        elements.extend(Entry(where, where, const(item, where)) for item in done)
    return run.new_list(node, ListContent(tuple(by_place(elements))))


TELLS_KIND = frozenset({"builtins.ascii", "builtins.format", "builtins.repr", "builtins.str"})
"""Functions that do not give the same of a list as of a tuple, which stands for one where it is a constant."""


def _is_no_constant(run: Run, atom: Atom) -> bool:
    content = run.content(atom.key) if isinstance(atom, (ListRef, DictRef)) else None
    return isinstance(content, DictContent) or (isinstance(content, ListContent) and not content.is_tuple)


def _pure_call(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    reach = run.state.reach
    given = [atom for value in arguments.values() for _, atom in value.alternatives]
    if dotted in TELLS_KIND and any(_is_no_constant(run, atom) for atom in given):
        return run.combine(reach, *arguments.values())
    if dotted in ("builtins.tuple", "builtins.sorted", "builtins.frozenset"):
        first = argument(arguments, 0)
        by = arguments.keywords.entries.get("key")
        if first is not None and by is not None and has_library(run, by.value):
            for part in elements_of(run, first) or (Entry(reach, reach, unknown(reach)),):
                run.call(by.value, Arguments(ListContent((part,))), node)
        if first is not None and any(as_constant(run, a, w & reach) is None for w, a in first.alternatives):
            parts = elements_of(run, first)
            if parts is not None and dotted == "builtins.tuple":
                return run.new_list(node, ListContent(tuple(parts), is_tuple=True))
            if len(first.alternatives) == 1 and isinstance(first.single(), (NamesOf, ListRef)):
                if as_constant(run, first.alternatives[0][1], run.state.reach) is None:
                    if dotted == "builtins.frozenset" and isinstance(first.single(), ListRef):
                        return run.new_list(node, as_set(members_of(run, first)))
                    return _sorted(run, first, arguments, node)
    found: list[Alternative] = []
    for where, values, named in constants_of(run, arguments.positional, arguments.keywords):
        if values is None:
            found.extend(run.combine(where, *arguments.values()).alternatives)
            for value in arguments.values() if not only_looks(dotted) else ():
                lose(run, value.within(where), node, NOT_SORTED_OUT)
            continue
        try:
            found.append((where, pure.call(dotted, values, named)))
        except pure.NotPureError as refused:
            if refused.raised is not None and run.is_caught(refused.raised):
                run.throw(refused.raised, where)
                run.state.reach -= where
            else:
                found.extend(run.combine(where, *arguments.values()).alternatives)
    if any(isinstance(a, Unknown) for _, a in found):
        run.may_raise()
    return value_of(found)


def _taken_apart(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.astuple``: what is in a record is copied, however deep."""
    value = argument(arguments, 0)
    for where, atom in value.alternatives if value is not None else ():
        content = content_of(run, atom)
        for entry in content.entries.values() if content is not None else ():
            lose(run, entry.value.within(entry.releases & where), node, "copied out of a record")
    return unknown_call(run, arguments, node, reads_only=True)


def _first(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else value


def _bool(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    if value is None:
        return const(False, run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        answer = truth_of(run, atom)
        known = anonymous(atom) if isinstance(atom, Unknown) else UNKNOWN
        found.append((where, known if answer is None else Const(answer)))
    return value_of(found)


def _all(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else quantify(run, value, every=True)


def _any(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else quantify(run, value, every=False)


# -- functools and friends ---------------------------------------------------------------------------------------------


def _partial(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 0)
    if func is None:
        return unknown(run.state.reach)
    marked = at_call(run, arguments, node)
    rest = ListContent(marked.positional.elements[1:], marked.positional.open, marked.positional.forwarded)
    key = run.world.identities.number(node, run.frame.uid, "partial", *run.frame.turns)
    run.state.heap[key] = PartialContent(func, rest, marked.keywords)
    return Value(((run.state.reach, Partial(key)),))


def _partial_method(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return value_of(
        (where, PartialMethod(atom.key) if isinstance(atom, Partial) else atom)
        for where, atom in _partial(run, arguments, node).alternatives
    )


def _asdict(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.asdict``."""
    value = argument(arguments, 0)
    atom = value.single() if value is not None else None
    if not isinstance(atom, Instance) or not is_record(atom.code):
        return unknown(run.state.reach)
    return as_dict(run, atom, node)


def _locals(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``locals()``: a dict of the variables as they are now."""
    reach = run.state.reach
    if run.frame.function is None:
        return Value(((reach, Namespace(run.frame.module)),))
    entries: dict[Key, Entry] = {}
    for name, value in run.state.vars.items():
        where = value.defined() & reach
        if "." not in name and where:
            entries[name] = Entry(where, where, value, (run.step(node, f"`{name}` is a variable here"),))
    return run.new_dict(node, DictContent(entries))


def _namespace(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``types.SimpleNamespace``: an instance that holds what it is given."""
    reach = run.state.reach
    made = make(run, run.world.namespace, node)
    assert made.site is not None
    run.state.heap[made.site] = arguments.keywords
    return Value(((reach, made),))


def _field(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.field``: what the class body holds for it is the default."""
    reach = run.state.reach
    default, factory = (arguments.keywords.entries.get(name) for name in ("default", "default_factory"))
    if default is None and factory is None:
        factory = arguments.keywords.entries.get("factory")
    if default is not None:
        return default.value
    return Value(((reach, Factory(factory.value)),)) if factory is not None else Value()


def _replace(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``dataclasses.replace``: another instance of the same class."""
    value = argument(arguments, 0)
    if value is None or not value.where(lambda atom: isinstance(atom, (LibInstance, Instance))):
        return unknown_call(run, arguments, node)
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        if isinstance(atom, Instance) and is_record(atom.code):
            found.extend(replaced(run, atom, arguments.keywords, node).within(where).alternatives)
        else:
            found.append((where, atom if isinstance(atom, LibInstance) else UNKNOWN))
    return value_of(found)


_SPECIAL_METHODS = {
    "builtins.abs": ("__abs__",),
    "builtins.float": ("__float__", "__index__"),
    "builtins.hash": ("__hash__",),
    "builtins.int": ("__int__", "__index__", "__trunc__"),
    "builtins.len": ("__len__",),
    "builtins.repr": ("__repr__",),
    "builtins.str": ("__str__", "__repr__"),
}
"""What functions ask of an object, whatever its class; the first of these methods that it has."""


def _said_by_object(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value | None:
    """What such a function gives for an object of the code base that has the method; None of anything else."""
    names = _SPECIAL_METHODS.get(dotted)
    given = argument(arguments, 0) if names is not None else None
    atom = given.single() if given is not None else None
    if names is None or not isinstance(atom, Instance):
        return None
    asked = (method_of(run, atom, name, NO_ARGUMENTS, run.state.reach, node) for name in names)
    return next((said for said in asked if said is not None), None)


def _map(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    func = argument(arguments, 0)
    source = argument(arguments, 1)
    if func is None or source is None or len(arguments.positional.elements) != 2:
        return apply_to_each(run, arguments, node) if arguments.positional.elements else unknown(run.state.reach)
    found: list[Alternative] = []
    for where, atom in as_alternatives(source, run.state.reach):
        items = as_constant(run, atom, where)
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
    if all(atom == UNKNOWN for _, atom in found):
        return apply_to_each(run, arguments, node)
    return value_of(found)


def _exception(run: Run, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """An exception of Python's own, with its message where that is known, and with what it carries."""
    given, reach = arguments.positional, run.state.reach
    if any(is_worth_carrying(atom) for value in arguments.values() for _, atom in value.alternatives):
        carried = run.new_list(node, replace(given, is_tuple=True)).single()
        assert isinstance(carried, ListRef)
        return Value(((reach, replace(raised_of(name), holds=carried.key)),))
    if len(given.elements) > 1 or arguments or given.open:
        first = given.elements[0].value if len(given.elements) == 1 and not given.open else unknown(reach)
        return value_of(
            (where, raised_of(name, str(atom.value) if isinstance(atom, Const) else None))
            for where, atom in as_alternatives(first, reach)
        )
    return Value(((reach, raised_of(name, "")),))


def is_worth_carrying(atom: Atom) -> bool:
    """Whether who asks an exception for what it was given may find out something about the library."""
    return touches_library(atom) or key_of(atom) is not None or isinstance(atom, (Function, Class))


def _suppress(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    found = [class_names(run, entry.value) for entry in arguments.positional.elements]
    known = () if None in found else tuple(name for names in found if names is not None for name in names)
    return Value(((run.state.reach, Suppressing(known)),))


def _null_context(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What gives, where it is entered, what it was given."""
    given = argument(arguments, 0, "enter_result")
    return Value(((run.state.reach, Giving(const(None, run.state.reach) if given is None else given)),))


def _stack(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    key = run.world.identities.number(node, run.frame.uid, "stack")
    run.state.heap[key] = ListContent()
    return Value(((run.state.reach, Stack(key)),))


def _exit(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """The program ends here; a script that ends itself so has run."""
    if run.frame.function is None:
        run.frame.module.exits |= run.state.reach
    return thrown(run, _exception(run, "SystemExit", arguments, node), node)


def _text(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``str``: of an exception, its message."""
    value = argument(arguments, 0)
    if value is None or not value.where(lambda atom: isinstance(atom, Raised)):
        return _pure_call(run, "builtins.str", arguments, node)
    return text_of(run, value)


def _static(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return value_of(
        (where, Function(atom.code, STATIC) if isinstance(atom, Function) and atom.bound is None else atom)
        for where, atom in _first(run, arguments, node).alternatives
    )


def _auto(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, AUTO),))


def _cast(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 1)
    return unknown(run.state.reach) if value is None else value


def _logger(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, External("logging.Logger")),))


def _len(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``len(x)``, where x is what a function of the library gives; of anything else as of other values."""
    value = argument(arguments, 0)
    counted = value_of(
        (where, count)
        for where, atom in (as_alternatives(value, run.state.reach) if value is not None else ())
        if isinstance(atom, LibTuple) and (count := count_of(atom)) is not None
    )
    if not counted.alternatives:
        return _pure_call(run, "builtins.len", arguments, node)
    return join(counted, unknown(run.state.reach - counted.defined()))


MODELS: dict[str, Model] = {
    "dataclasses.astuple": _taken_apart,
    **INTROSPECTION,
    **IMPORT_CALLS,
    **PATCHES,
    **DYNAMIC,
    **TEST_RUNNERS,
    **CONTAINERS,
    **CLASS_MAKERS,
    **ITERATION,
    "builtins.object": _object,
    "builtins.bool": _bool,
    "builtins.len": _len,
    "builtins.all": _all,
    "builtins.any": _any,
    "dataclasses.asdict": _asdict,
    "dataclasses.replace": _replace,
    "dataclasses.field": _field,
    "attr.asdict": _asdict,
    "attr.evolve": _replace,
    "attr.field": _field,
    "attr.ib": _field,
    "attrs.asdict": _asdict,
    "attrs.evolve": _replace,
    "attrs.field": _field,
    "builtins.map": _map,
    "builtins.staticmethod": _static,
    "builtins.str": _text,
    "builtins.locals": _locals,
    "types.SimpleNamespace": _namespace,
    "builtins.exit": _exit,
    "builtins.quit": _exit,
    "sys.exit": _exit,
    "os._exit": _exit,
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
    **DEFERRED,
    "enum.auto": _auto,
    "contextlib.suppress": _suppress,
    "contextlib.nullcontext": _null_context,
    "contextlib.closing": _null_context,
    "contextlib.aclosing": _null_context,
    "contextlib.ExitStack": _stack,
    "contextlib.AsyncExitStack": _stack,
    "typing.cast": _cast,
    "logging.getLogger": _logger,
}

TRANSPARENT = frozenset(
    {
        "functools.cache",
        "functools.lru_cache",
        "builtins.classmethod",
        "builtins.property",
        "functools.update_wrapper",
        "inspect.unwrap",
        "torch.no_grad",
        "torch.inference_mode",
        "contextlib.contextmanager",
        "types.MappingProxyType",
    }
)
"""Functions that give back what they are given, as far as the analysis cares."""
