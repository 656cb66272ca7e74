"""What is done by text and by name: ``exec``, ``eval``, programs in text, and the getters and callers of ``operator``.

Text that is evaluated where it stands is followed as if it were written there. Of other text that names something of
the library, all that can be said is that nobody has looked at what it does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from driftwatch.flow.domain.contents import Arguments, Entry, ListContent, PartialContent
from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.values import Const, External, Partial, Value, join, unknown, value_of
from driftwatch.flow.interpreter.arguments import argument, unknown_call
from driftwatch.flow.interpreter.attributes import attribute_of
from driftwatch.flow.interpreter.containers import item_of
from driftwatch.flow.interpreter.names import look_up
from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.interpreter.run import Run, as_alternatives, lists_of

_CALLED = "()"
"""Ends the import path of what stands for the call of a getter or caller: `operator.attrgetter()`."""

_PROGRAMS = ("subprocess.", "os.system", "os.popen", "os.exec", "os.spawn", "runpy.")


def starts_programs(dotted: str) -> bool:
    """Whether a function starts a program, which may be given as text."""
    return dotted.startswith(_PROGRAMS)


def start_program(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """A program is started: if its text names the library, what it does with that is not followed."""
    for text in _texts(run, arguments.values()):
        if _names_library(run, text):
            run.lost(node, "a program that is given as text names the library")
            break
    return unknown_call(run, arguments, node)


def _names_library(run: Run, text: str) -> bool:
    return any(run.target.is_inside(word) for word in re.findall(r"[A-Za-z_][\w.]*\w", text)) and "import" in text


def _texts(run: Run, values: list[Value]) -> Iterator[str]:
    for _, atom in (alternative for value in values for alternative in value.alternatives):
        content = lists_of(run, atom)
        if content is not None:
            yield from _texts(run, [entry.value for entry in content.elements])
        elif isinstance(atom, Const):
            parts = atom.value if isinstance(atom.value, tuple) else (atom.value,)
            yield from (part for part in parts if isinstance(part, str))


@model("builtins.eval")
def _eval(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    text = argument(arguments, 0)
    if text is None or len(arguments.positional.elements) > 1:
        return _exec(run, arguments, node)
    found = Value()
    outer = run.state
    for where, atom in as_alternatives(text, outer.reach):
        written = atom.value if isinstance(atom, Const) else None
        inside = run.frame.tree.quoted(written, node) if isinstance(written, str) else None
        if inside is None:
            found = join(found, unknown(where))
        elif where == outer.reach:
            return run.eval(inside)
        else:
            found = join(found, _exec(run, arguments, node).within(where))
    return found


@model("builtins.exec")
def _exec(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Text is executed: what it does with the library is not followed."""
    first = argument(arguments, 0)
    for text in _texts(run, [first]) if first is not None else ():
        if _names_library(run, text) or any(_is_of_library(run, name) for name in _names(text)):
            run.lost(node, "text that is executed uses the library")
            break
    return unknown_call(run, arguments, node)


def _names(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _is_of_library(run: Run, name: str) -> bool:
    reach = run.state.reach
    value = look_up(run, name)
    run.state.reach = reach
    return any(touches_library(atom) for _, atom in value.alternatives)


# -- operator ----------------------------------------------------------------------------------------------------------


def _makes(dotted: str) -> None:
    """What makes a getter or caller: a partial of what is then done with the object."""

    @model(dotted)
    def _make(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
        key = run.number(node, "partial")
        done = Value(((run.state.reach, External(dotted + _CALLED)),))
        run.state.heap[key] = PartialContent(done, arguments.positional, arguments.keywords)
        return Value(((run.state.reach, Partial(key)),))


for _dotted in ("operator.methodcaller", "operator.attrgetter", "operator.itemgetter"):
    _makes(_dotted)


def _parts(arguments: Arguments) -> tuple[Value, tuple[Entry, ...]] | None:
    """The object, which comes last, and what the getter or caller was made with."""
    elements = arguments.positional.elements
    if not elements or arguments.positional.open:
        return None
    return elements[-1].value, elements[:-1]


@model("operator.methodcaller" + _CALLED)
def _call_method(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    parts = _parts(arguments)
    name = parts[1][0].value.single() if parts is not None and parts[1] else None
    if parts is None or not isinstance(name, Const) or not isinstance(name.value, str):
        return unknown_call(run, arguments, node)
    method = attribute_of(run, parts[0], name.value, node)
    return run.call(method, Arguments(ListContent(parts[1][1:]), arguments.keywords), node)


@model("operator.attrgetter" + _CALLED)
def _get_attributes(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    parts = _parts(arguments)
    names = [entry.value.single() for entry in parts[1]] if parts is not None else []
    if parts is None or not names or not all(isinstance(n, Const) and isinstance(n.value, str) for n in names):
        return unknown_call(run, arguments, node)
    found: list[Value] = []
    for name in names:
        value = parts[0]
        for part in str(name.value).split(".") if isinstance(name, Const) else ():
            value = attribute_of(run, value, part, node)
        found.append(value)
    return _one_or_all(run, found, node)


@model("operator.itemgetter" + _CALLED)
def _get_items(run: Run, arguments: Arguments, node: cst.CSTNode) -> Value:
    parts = _parts(arguments)
    if parts is None or not parts[1]:
        return unknown_call(run, arguments, node)
    owner = parts[0]

    def items(key: Value) -> Value:
        return value_of(
            found
            for where, atom in as_alternatives(owner, run.state.reach)
            for there, index in as_alternatives(key, where)
            for found in item_of(run, atom, index, there)
        )

    return _one_or_all(run, [items(entry.value) for entry in parts[1]], node)


def _one_or_all(run: Run, values: list[Value], node: cst.CSTNode) -> Value:
    if len(values) == 1:
        return values[0]
    reach = run.state.reach
    return run.new_list(node, ListContent(tuple(Entry(reach, reach, value) for value in values), is_tuple=True))
