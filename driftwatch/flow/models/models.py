"""What well-known functions of Python and of a few packages do with values of the library.

What has no model is a call of which nothing is known. Names are import paths; a builtin's is under ``builtins``.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from operator import itemgetter

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.contents import NO_ARGUMENTS, Arguments, DictContent, Entry, ListContent
from driftwatch.flow.domain.enums import AUTO
from driftwatch.flow.domain.exceptions import raised_of
from driftwatch.flow.domain.predicates import Sentinel, touches_library
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
    Function,
    Giving,
    Instance,
    Key,
    LibTuple,
    ListRef,
    NamesOf,
    Namespace,
    Raised,
    Suppressing,
    Unknown,
    Value,
    const,
    join,
    key_of,
    unknown,
    value_of,
)
from driftwatch.flow.domain.within_containers import made_of
from driftwatch.flow.interpreter.arguments import argument, first_argument, one_argument, unknown_call
from driftwatch.flow.interpreter.attributes import attribute_of
from driftwatch.flow.interpreter.conditions import truth_of
from driftwatch.flow.interpreter.constants import as_constant, constants_of, text_of
from driftwatch.flow.interpreter.containers import elements_of, quantify
from driftwatch.flow.interpreter.escape import NOT_SORTED_OUT, has_library, lose
from driftwatch.flow.interpreter.exceptional import class_names, thrown
from driftwatch.flow.interpreter.havoc import only_reads
from driftwatch.flow.interpreter.members import method_of
from driftwatch.flow.interpreter.registry import method, model, model_of
from driftwatch.flow.interpreter.results import count_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, lists_of
from driftwatch.flow.interpreter.sequences import unordered
from driftwatch.flow.interpreter.sets import as_set, members_of
from driftwatch.flow.interpreter.sinks import DECORATOR_MAKERS, only_looks
from driftwatch.flow.models.dynamic import start_program, starts_programs
from driftwatch.flow.models.iteration_models import GOES_THROUGH, apply_to_each, gone_through
from driftwatch.releases import EMPTY, ReleaseSet


def call_external(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a builtin or an object of another package."""
    return made_of(_call(run, dotted, arguments, node), arguments.values(), run.content)


def _call(run: Run, dotted: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    dotted = pure.copied(dotted)
    if dotted in GOES_THROUGH:
        arguments = gone_through(run, arguments, node)
    said = _said_by_object(run, dotted, arguments, node)
    if said is not None:
        return said
    known = model_of(dotted)
    if known is not None:
        return known(run, arguments, node)
    if dotted in pure.FUNCTIONS:
        return _pure_call(run, dotted, arguments, node)
    builtin = getattr(builtins, dotted.removeprefix("builtins."), None) if dotted.startswith("builtins.") else None
    if isinstance(builtin, type) and issubclass(builtin, BaseException):
        return _exception(run, builtin.__name__, arguments, node)
    if dotted.startswith(_METHODS_OF):
        return _by_class(run, dotted.rpartition(".")[2], arguments, node)
    if dotted in TRANSPARENT:
        return first_argument(run, arguments, node)
    if dotted in DECORATOR_MAKERS:
        # What it makes gives back what it is put on.
        return Value(((run.state.reach, External("inspect.unwrap")),))
    if starts_programs(dotted):
        return start_program(run, arguments, node)
    if only_looks(dotted):
        run.may_raise()
        return run.combine(run.state.reach, *arguments.values())
    return unknown_call(run, arguments, node, reads_only=only_reads(dotted))


_METHODS_OF = tuple(f"builtins.{name}." for name in ("dict", "frozenset", "list", "set", "str", "tuple"))


def _by_class(run: Run, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``str.upper(text)``: a method that is called of its class, on the first that it is given."""
    positional = arguments.positional
    if not positional.elements:
        return unknown_call(run, arguments, node)
    found = attribute_of(run, positional.elements[0].value, name, node)
    rest = replace(positional, elements=positional.elements[1:])
    return run.call(found, Arguments(rest, arguments.keywords), node)


@model("builtins.object")
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
    anyhow = run.new_list(node, replace(unordered(content), is_tuple=False, is_set=False))
    found: dict[tuple[Hashable, int], ReleaseSet] = {}
    for where, values, named in constants_of(run, arguments.positional, arguments.keywords):
        try:
            done = pure.call("builtins.sorted", values, named).value if values is not None and not named else None
        except pure.NotPureError:
            done = None
        if not isinstance(done, tuple):
            return anyhow
        for item, times in Counter(done).items():
            for i in range(times):
                found[item, i] = found.get((item, i), EMPTY) | where
    # In this order they are in every release.
    try:
        ordered = sorted(found.items(), key=itemgetter(0))
    except TypeError:
        return anyhow
    elements = (Entry(there, there, const(item, there)) for (item, _), there in ordered)
    return run.new_list(node, ListContent(tuple(elements)))


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


@model("builtins.bool")
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


@model("builtins.all")
def _all(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else quantify(run, value, every=True)


@model("builtins.any")
def _any(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 0)
    return unknown(run.state.reach) if value is None else quantify(run, value, every=False)


@model("builtins.locals")
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
    atom = one_argument(arguments, 0) if names is not None else None
    if names is None or not isinstance(atom, Instance):
        return None
    asked = (method_of(run, atom, name, NO_ARGUMENTS, run.state.reach, node) for name in names)
    return next((said for said in asked if said is not None), None)


@model("builtins.map")
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


@model("contextlib.suppress")
def _suppress(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    found = [class_names(run, entry.value) for entry in arguments.positional.elements]
    known = () if None in found else tuple(name for names in found if names is not None for name in names)
    return Value(((run.state.reach, Suppressing(known)),))


@model("contextlib.nullcontext", "contextlib.closing", "contextlib.aclosing")
def _null_context(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """What gives, where it is entered, what it was given."""
    given = argument(arguments, 0, "enter_result")
    return Value(((run.state.reach, Giving(const(None, run.state.reach) if given is None else given)),))


@method("contextlib.nullcontext.__enter__", "contextlib.nullcontext.__aenter__")
def _enter_null_context(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    atom = one_argument(arguments, 0)
    return atom.gives.within(run.state.reach) if isinstance(atom, Giving) else unknown_call(run, arguments, node)


@model("builtins.exit", "builtins.quit", "sys.exit", "os._exit")
def _exit(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """The program ends here; a script that ends itself so has run."""
    if run.frame.function is None:
        run.frame.module.exits |= run.state.reach
    return thrown(run, _exception(run, "SystemExit", arguments, node), node)


@model("builtins.str")
def _text(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """``str``: of an exception, its message."""
    value = argument(arguments, 0)
    if value is None or not value.where(lambda atom: isinstance(atom, Raised)):
        return _pure_call(run, "builtins.str", arguments, node)
    return text_of(run, value)


@model("builtins.staticmethod")
def _static(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return value_of(
        (where, Function(atom.code, STATIC) if isinstance(atom, Function) and atom.bound is None else atom)
        for where, atom in first_argument(run, arguments, node).alternatives
    )


@model("enum.auto")
def _auto(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, AUTO),))


@model("typing.cast")
def _cast(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    value = argument(arguments, 1)
    return unknown(run.state.reach) if value is None else value


@model("logging.getLogger")
def _logger(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    return Value(((run.state.reach, External("logging.Logger")),))


@model("builtins.len")
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
        "weakref.proxy",
    }
)
"""Functions that give back what they are given, as far as the analysis cares."""
