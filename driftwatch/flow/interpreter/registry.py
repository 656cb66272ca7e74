"""What is known of functions, methods and attributes that are not the code base's own, by their qualified names.

A model is a function over a run and a call's arguments, in a module of `driftwatch.flow.models`, with its name over
it::

    @model("contextlib.ExitStack")
    def _made(run, arguments, node): ...

    @method("contextlib.ExitStack.enter_context")
    def _enter_context(run, arguments, node): ...

`model` is for what is called by a path; so are the methods of an object of which nothing is known but its class. A
`method` gets the object as its first argument, as in Python, and so does an `attribute`, which is asked when it is
read. `load` imports every module of a package, so that a new model is one new file.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, Entry, ListContent
from driftwatch.flow.domain.exceptions import Flight, Try
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.state import State
from driftwatch.flow.domain.values import (
    ArgSpecOf,
    Atom,
    CodeOf,
    Deferred,
    External,
    Giving,
    Instance,
    LibMethod,
    LibObject,
    Object,
    ParameterInfo,
    Partial,
    Replacing,
    SignatureOf,
    Value,
)
from driftwatch.flow.interpreter.run import Run
from driftwatch.releases import ReleaseSet

Model = Callable[[Run, Arguments, cst.CSTNode], Value]
Leaving = Callable[[Run, Atom, Try, cst.CSTNode, Flight], tuple[list[State], list[Flight]]]
"""What becomes of an exception that leaves the block of a manager: where it is swallowed, and where it goes on."""

_CALLS: dict[str, Model] = {}
_METHODS: dict[str, Model] = {}
_ATTRIBUTES: dict[str, Model] = {}
_LEAVING: dict[str, Leaving] = {}
_MEMBERS: set[str] = set()

_CLASSES: dict[type[Atom], str] = {
    ArgSpecOf: "inspect.FullArgSpec",
    CodeOf: "types.CodeType",
    Deferred: "concurrent.futures.Future",
    Giving: "contextlib.nullcontext",
    LibMethod: "types.FunctionType",
    LibObject: "types.FunctionType",
    ParameterInfo: "inspect.Parameter",
    Partial: "functools.partial",
    Replacing: "unittest.mock.patch",
    SignatureOf: "inspect.Signature",
}
"""Of which class the objects are that a kind of value stands for."""


def model(*names: str) -> Callable[[Model], Model]:
    """What a call of a function of these names does.

    Raises:
        ValueError: two models have one name.
    """
    return _into(_CALLS, names)


def method(*names: str) -> Callable[[Model], Model]:
    """What a call of a method of these names does; raises as `model` does."""
    return _into(_METHODS, names)


def attribute(*names: str) -> Callable[[Model], Model]:
    """What an attribute of these names is; raises as `model` does."""
    return _into(_ATTRIBUTES, names)


def leaving(cls: str) -> Callable[[Leaving], Leaving]:
    """What happens where an exception leaves the ``with`` of an object of a class."""

    def enter(function: Leaving) -> Leaving:
        _LEAVING[cls] = function
        return function

    return enter


def _into(table: dict[str, Model], names: Iterable[str]) -> Callable[[Model], Model]:
    def enter(function: Model) -> Model:
        for name in names:
            if table.setdefault(name, function) is not function:
                raise ValueError(f"two models of {name}")
            if table is not _CALLS:
                _MEMBERS.add(name.rpartition(".")[2])
        return function

    return enter


def load(package: ModuleType) -> None:
    """Import every module of a package, whose models are known from then on."""
    for each in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{each.name}")


def model_of(name: str) -> Model | None:
    """The model of a function."""
    return _CALLS.get(name)


def leaving_of(atom: Atom) -> Leaving | None:
    """What happens where an exception leaves the ``with`` of an object, where that is modelled."""
    return _LEAVING.get(atom.cls) if isinstance(atom, Object) else None


def method_of(atom: Atom, name: str) -> Model | None:
    """The model of a method of an object."""
    return next((_METHODS[each] for each in _names_of(atom, name) if each in _METHODS), None)


def call_method(run: Run, known: Model, owner: Atom, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call a modelled method of an object."""
    positional = arguments.positional
    this = _this(owner, run.state.reach)
    return known(run, Arguments(replace(positional, elements=(this, *positional.elements)), arguments.keywords), node)


def attribute_of(run: Run, owner: Atom, name: str, where: ReleaseSet, node: cst.CSTNode) -> Value | None:
    """A modelled attribute of an object; None where there is none."""
    for each in _names_of(owner, name):
        known = _ATTRIBUTES.get(each)
        if known is not None:
            return known(run, Arguments(ListContent((_this(owner, where),))), node).within(where)
    return None


def _this(owner: Atom, where: ReleaseSet) -> Entry:
    return Entry(where, where, Value(((where, owner),)))


def _names_of(atom: Atom, name: str) -> Iterable[str]:
    """The qualified names of a member of an object: of its class, or of those that a class of the code base has."""
    if name not in _MEMBERS:
        return
    if isinstance(atom, Instance):
        for base in lineage(atom.code)[1]:
            for _, each in base.alternatives:
                if isinstance(each, External):
                    yield f"{each.dotted}.{name}"
    known = atom.cls if isinstance(atom, Object) else _CLASSES.get(type(atom))
    if known is not None:
        yield f"{known}.{name}"
