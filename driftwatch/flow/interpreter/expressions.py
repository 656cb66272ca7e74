"""Expressions: syntax to abstract values. Calls and tests have modules of their own."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import libcst as cst

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.contents import DictContent, Entry, ListContent
from driftwatch.flow.domain.frames import AWAIT
from driftwatch.flow.domain.predicates import truth
from driftwatch.flow.domain.state import either
from driftwatch.flow.domain.taint import is_tainted
from driftwatch.flow.domain.values import (
    FALSE,
    NOTHING,
    TRUE,
    UNKNOWN,
    Alternative,
    Atom,
    Class,
    Const,
    DictRef,
    External,
    Instance,
    LibObject,
    ListRef,
    Opaque,
    Unknown,
    Value,
    const,
    key_for,
    unknown,
    value_of,
)
from driftwatch.flow.interpreter.attributes import read_attribute
from driftwatch.flow.interpreter.calls import evaluate_call
from driftwatch.flow.interpreter.comparisons import by_operator
from driftwatch.flow.interpreter.comprehensions import dict_comprehension, list_comprehension
from driftwatch.flow.interpreter.conditions import branch_value
from driftwatch.flow.interpreter.constants import pairwise, text_of, tuple_of
from driftwatch.flow.interpreter.containers import concatenate, merge_value, put_here, repeat, spread_into, subscript_of
from driftwatch.flow.interpreter.deferred import awaited
from driftwatch.flow.interpreter.definitions import define_lambda
from driftwatch.flow.interpreter.escape import lose
from driftwatch.flow.interpreter.generators import give_out, iterated
from driftwatch.flow.interpreter.names import assign_name, look_up
from driftwatch.flow.interpreter.run import Run, as_alternatives, escape, keep, lists_of, settle
from driftwatch.flow.interpreter.sets import OPERATIONS, combined, is_set, with_member
from driftwatch.flow.syntax.children import children
from driftwatch.releases import ReleaseSet

"""Pairs of alternatives that a binary operation looks at."""


def evaluate(run: Run, node: Any, callee: bool = False) -> Value:
    """The value of an expression in the run's current state."""
    kind = type(node)
    # To ask a libcst class whether something is of it is slow, where it is not.
    if kind is cst.Name:
        return _name(run, node, callee)
    if kind is cst.Attribute:
        return read_attribute(run, node, callee=callee)
    handler = _HANDLERS.get(kind)
    if handler is None:
        parts = [
            evaluate(run, child)
            for child in children(node)
            if isinstance(child, (cst.BaseExpression, cst.Arg, cst.Element))
        ]
        return run.combine(run.state.reach, *parts)
    return handler(run, node)


def _name(run: Run, node: cst.Name, callee: bool) -> Value:
    name = node.value
    if name in _LITERAL_NAMES:
        return const(_LITERAL_NAMES[name], run.state.reach)
    value = look_up(run, name)
    if not callee:
        escape(run, value)
    return value


_LITERAL_NAMES = {"None": None, "True": True, "False": False}


def _number(run: Run, node: cst.Integer | cst.Float) -> Value:
    reach = run.state.reach
    return Value(((reach, _literal(node.value) or UNKNOWN),)) if reach else NOTHING


@cache
def _literal(text: str) -> Const | None:
    """What a literal stands for; asked for each time it is met, as often as loops and callers lead to it."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return Const(value) if pure.writable(value) else None


def _string(run: Run, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    if isinstance(node, cst.ConcatenatedString):
        left, right = evaluate(run, node.left), evaluate(run, node.right)
        return pairwise(run, "Add", left, right)
    reach = run.state.reach
    return Value(((reach, _literal(node.value) or Opaque("text")),)) if reach else NOTHING


def _formatted(run: Run, node: cst.FormattedString) -> Value:
    text: Value = const("", run.state.reach)
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            piece = const(part.value, run.state.reach)
        elif isinstance(part, cst.FormattedStringExpression):
            inner = evaluate(run, part.expression)
            plain = part.conversion is None and part.format_spec is None
            piece = text_of(run, inner) if plain else run.combine(run.state.reach, inner)
        else:
            piece = unknown(run.state.reach)
        text = pairwise(run, "Add", text, piece)
    if any(isinstance(part, cst.FormattedStringText) and part.value for part in node.parts):
        # Whatever it is, it is not empty.
        return value_of(
            (where, replace(atom, truth=True) if isinstance(atom, Unknown) else atom)
            for where, atom in text.alternatives
        )
    return text


def _templated(run: Run, node: cst.TemplatedString) -> Value:
    for part in node.parts:
        if isinstance(part, cst.TemplatedStringExpression):
            evaluate(run, part.expression)
    return Value(((run.state.reach, Opaque("template")),))


def _sequence(run: Run, node: cst.Tuple | cst.List) -> Value:
    content = ListContent(is_tuple=isinstance(node, cst.Tuple))
    for element in node.elements:
        value = keep(run, element.value)
        if isinstance(element, cst.StarredElement):
            content = spread_into(run, content, iterated(run, value, element))
        else:
            reach = run.state.reach
            content = ListContent(
                (*content.elements, Entry(reach, reach, value)), content.open, content.forwarded, content.is_tuple
            )
    if isinstance(node, cst.Tuple) and not content.open:
        constants = tuple_of(content.elements, run.state.reach)
        if constants is not None:
            return constants
    return run.new_list(node, content)


def _set(run: Run, node: cst.Set) -> Value:
    content = ListContent(is_set=True)
    for element in node.elements:
        value = evaluate(run, element.value)
        if isinstance(element, cst.StarredElement):
            made = run.new_list(element, content)
            content = combined(run, "or", made, value)
        else:
            content = with_member(content, value, run.state.reach)
    return run.new_list(node, content)


def _dict(run: Run, node: cst.Dict) -> Value:
    content = DictContent()
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            value = evaluate(run, element.value)
            content = merge_value(run, content, value)
            continue
        key = evaluate(run, element.key) if isinstance(element, cst.DictElement) else unknown(run.state.reach)
        value = keep(run, element.value)
        atom = key.single()
        reach = run.state.reach
        name = key_for(atom) if atom is not None else None
        if name is not None:
            fresh = {**content.entries, name: Entry(reach, reach, value, put_here(run, element, name))}
            content = replace(content, entries=fresh)
        else:
            lose(run, key, element, "a key of a dict")
            content = content.opened(reach, value)
    return run.new_dict(node, content)


def _binary(run: Run, node: cst.BinaryOperation) -> Value:
    left = run.world.modules.looked_at(evaluate(run, node.left))
    right = run.world.modules.looked_at(evaluate(run, node.right))
    operation = type(node.operator).__name__
    own = _by_method(run, _METHODS.get(operation, ""), left, right, node)
    if own is not None:
        return own
    if operation in OPERATIONS and _are_sets(run, operation, left, right):
        return run.new_list(node, combined(run, OPERATIONS[operation], left, right))
    if operation == "BitOr" and (
        left.where(lambda a: isinstance(a, DictRef)) or right.where(lambda a: isinstance(a, DictRef))
    ):
        content = merge_value(run, DictContent(), left)
        return run.new_dict(node, merge_value(run, content, right))
    if operation == "BitOr" and left.where(_is_class) and right.where(_is_class):
        # A union, which is for `isinstance`.
        return run.new_list(node, ListContent((*_classes(run, left), *_classes(run, right)), is_tuple=True))
    if operation == "Add" and any(value.where(lambda a: not isinstance(a, Const)) for value in (left, right)):
        joined = concatenate(run, left, right, node)
        if joined is not None:
            return joined
    if operation == "Multiply" and lists_of(run, left.single() or UNKNOWN) is not None:
        return repeat(run, left, right, node)
    return pairwise(run, operation, left, right)


_METHODS = {
    "Add": "add", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "Divide": "truediv", "FloorDivide": "floordiv",
    "LeftShift": "lshift", "MatrixMultiply": "matmul", "Modulo": "mod", "Multiply": "mul", "Power": "pow",
    "RightShift": "rshift", "Subtract": "sub", "Minus": "neg", "Plus": "pos", "BitInvert": "invert",
}  # fmt: skip


def _by_method(run: Run, name: str, left: Value, right: Value | None, node: cst.CSTNode) -> Value | None:
    """What an operator gives for objects of the code base, whose methods say so; None where none does."""
    for owner, method, other in ((left, f"__{name}__", right), (right, f"__r{name}__", left)):
        atom = owner.single() if owner is not None else None
        if isinstance(atom, Instance):
            called = by_operator(run, atom, method, (other,) if other is not None else (), node)
            if called is not None:
                return called
    return None


def _are_sets(run: Run, operation: str, left: Value, right: Value) -> bool:
    """Whether an operation is one of sets, of which the keys of a dict may be one."""
    kinds = [[(is_set(run, a), isinstance(a, DictRef)) for _, a in value.alternatives] for value in (left, right)]
    if not all(kinds) or not all(of_set or keys for kind in kinds for of_set, keys in kind):
        return False
    return operation != "BitOr" or any(of_set for kind in kinds for of_set, _ in kind)


def _is_class(atom: Atom) -> bool:
    if isinstance(atom, External):
        return atom.dotted.startswith("builtins.") and isinstance(builtins.__dict__.get(atom.dotted[9:]), type)
    return isinstance(atom, (Class, ListRef)) or (isinstance(atom, LibObject) and atom.is_class)


def _classes(run: Run, value: Value) -> tuple[Entry, ...]:
    single = value.single()
    content = lists_of(run, single) if single is not None else None
    return content.elements if content is not None else (Entry(run.state.reach, run.state.reach, value),)


def _unary(run: Run, node: cst.UnaryOperation) -> Value:
    if isinstance(node.operator, cst.Not):
        return _test(run, node)
    value = evaluate(run, node.expression)
    own = _by_method(run, _METHODS[type(node.operator).__name__], value, None, node)
    if own is not None:
        return own
    found: list[Alternative] = []
    for where, atom in as_alternatives(value, run.state.reach):
        try:
            if not isinstance(atom, Const):
                raise pure.NotPureError
            found.append((where, pure.unary(type(node.operator).__name__, atom)))
        except pure.NotPureError:
            found.extend(run.combine(where, value).alternatives)
    return value_of(found)


def _test(run: Run, node: cst.BaseExpression) -> Value:
    """A test whose outcome is kept: true where it holds, false where it does not."""
    holds, fails = run.branch(node)
    settle(run, [holds, fails])
    return either(holds, const(True, holds.reach), fails, const(False, fails.reach))


def _boolean(run: Run, node: cst.BooleanOperation) -> Value:
    """``a or b`` and ``a and b`` give one of their operands, not a truth value."""
    before = run.state
    left = keep(run, node.left)
    holds, fails = branch_value(run, node.left, left)
    wants_left, goes_on = (fails, holds) if isinstance(node.operator, cst.And) else (holds, fails)
    run.state = goes_on
    path = run.path
    run.behind(node.left, goes_on.reach, wants_left.reach)
    right = keep(run, node.right) if goes_on.reach else NOTHING
    run.go_back(path)
    kept = _side(left, wants_left.reach, isinstance(node.operator, cst.Or), refines=_is_flag(right))
    goes_on = run.state
    settle(run, [wants_left, goes_on])
    if not run.state.reach:
        run.state = before
    return either(wants_left, kept, goes_on, right)


def _is_flag(value: Value) -> bool:
    """Whether a value is the outcome of a test."""
    return bool(value.alternatives) and all(a in (TRUE, FALSE) or is_tainted(a) for _, a in value.alternatives)


def _side(value: Value, reach: ReleaseSet, truthy: bool, *, refines: bool) -> Value:
    """The alternatives that a test of them leaves on one of its sides.

    Where the other operand is a flag, this one is, too: what is unknown is known to be true or false by now. Of others
    that may be containers, which are filled and emptied later, that is not kept.
    """
    sided = value.within(reach).only(lambda a: truth(a) is not (not truthy))
    if not refines:
        return sided
    return value_of(
        (where, replace(a, truth=truthy) if isinstance(a, Unknown) else a) for where, a in sided.alternatives
    )


def _conditional(run: Run, node: cst.IfExp) -> Value:
    holds, fails = run.branch(node.test)
    path, here, elsewhere = run.path, holds.reach, fails.reach
    run.state = holds
    run.behind(node.test, here, elsewhere)
    first = keep(run, node.body) if holds.reach else NOTHING
    holds = run.state
    run.state = fails
    run.go_back(path)
    run.behind(node.test, elsewhere, here)
    second = keep(run, node.orelse) if fails.reach else NOTHING
    fails = run.state
    run.go_back(path)
    settle(run, [holds, fails])
    return either(holds, first.within(holds.reach), fails, second.within(fails.reach))


def _named(run: Run, node: cst.NamedExpr) -> Value:
    value = keep(run, node.value)
    if isinstance(node.target, cst.Name):
        assign_name(run, node.target.value, value)
    return value


def _lambda(run: Run, node: cst.Lambda) -> Value:
    return define_lambda(run, node)


def _subscript(run: Run, node: cst.Subscript) -> Value:
    owner = evaluate(run, node.value)
    return subscript_of(run, node, owner)


def _await(run: Run, node: cst.Await) -> Value:
    return awaited(run, run.eval(node.expression, to=AWAIT))


def _yield(run: Run, node: cst.Yield) -> Value:
    value = const(None, run.state.reach)
    if node.value is not None:
        value = keep(run, node.value.item if isinstance(node.value, cst.From) else node.value)
    call = run.frame.call
    if call is not None and call.at_yield is not None:
        call.at_yield(value.within(run.state.reach))
        return unknown(run.state.reach)
    give_out(run, value, node, all_of_it=isinstance(node.value, cst.From))
    escape(run, value)
    run.may_raise()
    return unknown(run.state.reach)


def _argument(run: Run, node: cst.Arg) -> Value:
    return evaluate(run, node.value)


def _ellipsis(run: Run, node: cst.Ellipsis) -> Value:
    return Value(((run.state.reach, Opaque("...")),))


_HANDLERS: dict[type, Callable[[Run, Any], Value]] = {
    cst.Integer: _number,
    cst.Float: _number,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _formatted,
    cst.TemplatedString: _templated,
    cst.Tuple: _sequence,
    cst.List: _sequence,
    cst.Set: _set,
    cst.Dict: _dict,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _test,
    cst.IfExp: _conditional,
    cst.NamedExpr: _named,
    cst.Lambda: _lambda,
    cst.Subscript: _subscript,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.Arg: _argument,
    cst.Element: _argument,
    cst.StarredElement: _argument,
    cst.Call: evaluate_call,
    cst.DictComp: dict_comprehension,
    cst.ListComp: list_comprehension,
    cst.SetComp: list_comprehension,
    cst.GeneratorExp: list_comprehension,
    cst.Ellipsis: _ellipsis,
}
