"""libcst's expressions for those that `ast` has parsed, and what each was made of.

Enters: an expression of `ast`. Leaves: libcst's of the same meaning. Strings are one literal each, with the text that
they stand for.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import libcst as cst

from driftwatch.flow.syntax import nodes as new

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class NameOf:
    """The name in the header of a definition, of which `ast` does not say where it stands."""

    definition: Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Within:
    """What stands in a formatted string, of which this `ast` says no more than where that is."""

    string: ast.JoinedStr
    formatted: cst.FormattedString


Origin = ast.AST | tuple[ast.AST, ast.AST] | NameOf | Within
"""What a node was made of; of a pair of nodes it reaches from the first to the second."""

KNOWS_FORMATTED = sys.version_info >= (3, 12)
"""Whether `ast` tells where the parts of a formatted string stand."""


class Expressions:
    """Makes libcst's expressions of those of `ast`, and remembers of which."""

    def __init__(self) -> None:
        self.origins: dict[cst.CSTNode, Origin] = {}

    # -- parts -----------------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        """An expression."""
        made = _EXPRESSIONS[type(node)](self, node)
        self.origins[made] = node
        return made

    def _optional(self, node: ast.expr | None) -> Any:
        return None if node is None else self.expression(node)

    def _of(self, origin: Origin, made: Any) -> Any:
        """A part that is no expression, with what it was made of."""
        self.origins[made] = origin
        return made

    def _name(self, name: str, origin: Origin) -> Any:
        return self._of(origin, new.NAME(name))

    def _dotted(self, name: str, origin: ast.AST) -> Any:
        first, *rest = name.split(".")
        made = self._name(first, origin)
        for part in rest:
            made = self._of(origin, new.ATTRIBUTE(made, self._name(part, origin)))
        return made

    def _as_name(self, name: str | None, origin: ast.AST) -> Any:
        return None if name is None else self._of(origin, new.AS_NAME(self._name(name, origin)))

    def _annotation(self, node: ast.expr | None) -> Any:
        return None if node is None else self._of(node, new.ANNOTATION(self.expression(node)))

    def _argument(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Starred):
            return self._of(node, new.ARG(self.expression(node.value), None, "*"))
        return self._of(node, new.ARG(self.expression(node), None, ""))

    def _keyword(self, node: ast.keyword) -> Any:
        name = None if node.arg is None else self._name(node.arg, node)
        return self._of(node, new.ARG(self.expression(node.value), name, "**" if name is None else ""))

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [
            self.expression(node)
            if isinstance(node, ast.Starred)
            else self._of(node, new.ELEMENT(self.expression(node)))
            for node in nodes
        ]

    # -- expressions -----------------------------------------------------------------------------------------------

    def name(self, node: ast.Name) -> Any:
        return new.NAME(node.id)

    def attribute(self, node: ast.Attribute) -> Any:
        return new.ATTRIBUTE(self.expression(node.value), self._name(node.attr, node))

    def call(self, node: ast.Call) -> Any:
        function = self.expression(node.func)
        parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if node.args and node.keywords and _place(node.args[-1]) > _place(node.keywords[0]):
            parts.sort(key=_place)
        return new.CALL(
            function, [self._keyword(p) if isinstance(p, ast.keyword) else self._argument(p) for p in parts]
        )

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        if value is None or value is True or value is False:
            return new.NAME(str(value))
        if isinstance(value, (str, bytes)):
            return new.STRING(repr(value))
        if isinstance(value, int):
            # Python refuses to write very long numbers in decimal.
            return new.INTEGER(str(value) if value.bit_length() < 64 else hex(value))
        if isinstance(value, float):
            return new.FLOAT(repr(value).replace("inf", "1e999"))
        if isinstance(value, complex):
            return new.IMAGINARY(repr(value).replace("inf", "1e999"))
        return new.ELLIPSIS()

    def starred(self, node: ast.Starred) -> Any:
        return new.STARRED(self.expression(node.value))

    def subscript(self, node: ast.Subscript) -> Any:
        value = self.expression(node.value)
        parts = [node.slice]
        if isinstance(node.slice, ast.Tuple) and any(isinstance(e, (ast.Slice, ast.Starred)) for e in node.slice.elts):
            parts = list(node.slice.elts)
        return new.SUBSCRIPT(value, [self._of(part, new.SUBSCRIPT_ELEMENT(self._slice(part))) for part in parts])

    def _slice(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            bounds = self._optional(node.lower), self._optional(node.upper), self._optional(node.step)
            return self._of(node, new.SLICE(*bounds))
        if isinstance(node, ast.Starred):
            return self._of(node, new.INDEX(self.expression(node.value), "*"))
        return self._of(node, new.INDEX(self.expression(node), None))

    def formatted(self, node: ast.JoinedStr) -> Any:
        if KNOWS_FORMATTED:
            return new.FORMATTED(self._formatted_parts(node.values, new.FORMATTED_TEXT, new.FORMATTED_EXPRESSION))
        outer, self.origins = self.origins, {}
        made = new.FORMATTED(self._formatted_parts(node.values, new.FORMATTED_TEXT, new.FORMATTED_EXPRESSION))
        outer.update(dict.fromkeys(self.origins, Within(node, made)))
        self.origins = outer
        return made

    def template(self, node: Any) -> Any:
        return new.TEMPLATED(self._formatted_parts(node.values, new.TEMPLATED_TEXT, new.TEMPLATED_EXPRESSION))

    def _formatted_parts(self, nodes: Sequence[Any], text: new.Maker, value: new.Maker) -> list[Any]:
        parts: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Constant):
                parts.append(self._of(node, text(node.value)))
                continue
            conversion = None if node.conversion < 0 else chr(node.conversion)
            spec = None
            if node.format_spec is not None:
                spec = self._formatted_parts(node.format_spec.values, text, value)
            parts.append(self._of(node, value(self.expression(node.value), conversion, spec)))
        return parts

    def tuple(self, node: ast.Tuple) -> Any:
        return new.TUPLE(self._elements(node.elts))

    def list(self, node: ast.List) -> Any:
        return new.LIST(self._elements(node.elts))

    def set(self, node: ast.Set) -> Any:
        return new.SET(self._elements(node.elts))

    def dict(self, node: ast.Dict) -> Any:
        return new.DICT(
            [
                self._of(value, new.STARRED_DICT_ELEMENT(self.expression(value)))
                if key is None
                else self._of((key, value), new.DICT_ELEMENT(self.expression(key), self.expression(value)))
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        )

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        return new.COMPREHENSIONS[type(node)](self.expression(node.elt), self._loops(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        return new.DICT_COMP(self.expression(node.key), self.expression(node.value), self._loops(node.generators))

    def _loops(self, nodes: Sequence[ast.comprehension]) -> Any:
        inner: Any = None
        for node in reversed(nodes):
            target, source = self.expression(node.target), self.expression(node.iter)
            tests = [self._of(test, new.COMP_IF(self.expression(test))) for test in node.ifs]
            made = new.COMP_FOR(target, source, tests, inner, new.ASYNC if node.is_async else None)
            inner = self._of((node.target, node.ifs[-1] if node.ifs else node.iter), made)
        return inner

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = new.OPERATORS[type(node.op)]
        first, *rest = node.values

        def joined(left: Any, right: ast.expr) -> Any:
            return self._of((first, right), new.BOOLEAN(left, operator, self.expression(right)))

        return reduce(joined, rest, self.expression(first))

    def binary(self, node: ast.BinOp) -> Any:
        return new.BINARY(self.expression(node.left), new.OPERATORS[type(node.op)], self.expression(node.right))

    def unary(self, node: ast.UnaryOp) -> Any:
        return new.UNARY(new.OPERATORS[type(node.op)], self.expression(node.operand))

    def comparison(self, node: ast.Compare) -> Any:
        left = self.expression(node.left)
        targets = [
            self._of(right, new.COMPARISON_TARGET(new.OPERATORS[type(operator)], self.expression(right)))
            for operator, right in zip(node.ops, node.comparators, strict=True)
        ]
        return new.COMPARISON(left, targets)

    def conditional(self, node: ast.IfExp) -> Any:
        return new.IF_EXP(self.expression(node.test), self.expression(node.body), self.expression(node.orelse))

    def named(self, node: ast.NamedExpr) -> Any:
        return new.NAMED(self.expression(node.target), self.expression(node.value))

    def function_expression(self, node: ast.Lambda) -> Any:
        return new.LAMBDA(self._parameters(node.args, node), self.expression(node.body))

    def wait(self, node: ast.Await) -> Any:
        return new.AWAIT(self.expression(node.value))

    def yielded(self, node: ast.Yield) -> Any:
        return new.YIELD(self._optional(node.value))

    def yielded_from(self, node: ast.YieldFrom) -> Any:
        return new.YIELD(self._of(node.value, new.FROM(self.expression(node.value))))

    def _parameters(self, node: ast.arguments, owner: ast.AST) -> Any:
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + list(node.defaults)
        made = [self._parameter(arg, default) for arg, default in zip(positional, defaults, strict=True)]
        only = [self._parameter(arg, default) for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        rest: Any = cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            rest = self._parameter(node.vararg, None, "*")
        elif only:
            rest = self._of(owner, new.PARAM_STAR())
        keywords = self._parameter(node.kwarg, None, "**") if node.kwarg is not None else None
        first = len(node.posonlyargs)
        return self._of(owner, new.PARAMETERS(made[first:], rest, only, keywords, made[:first]))

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str = "") -> Any:
        name, annotation = self._name(node.arg, node), self._annotation(node.annotation)
        return self._of(node, new.PARAM(name, annotation, self._optional(default), star))


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


Method = Callable[[Any, Any], Any]

_EXPRESSIONS: dict[type[ast.AST], Method] = {
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.Call: Expressions.call,
    ast.Constant: Expressions.constant,
    ast.Starred: Expressions.starred,
    ast.Subscript: Expressions.subscript,
    ast.JoinedStr: Expressions.formatted,
    ast.Tuple: Expressions.tuple,
    ast.List: Expressions.list,
    ast.Set: Expressions.set,
    ast.Dict: Expressions.dict,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.DictComp: Expressions.dict_comprehension,
    ast.BoolOp: Expressions.boolean,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.Compare: Expressions.comparison,
    ast.IfExp: Expressions.conditional,
    ast.NamedExpr: Expressions.named,
    ast.Lambda: Expressions.function_expression,
    ast.Await: Expressions.wait,
    ast.Yield: Expressions.yielded,
    ast.YieldFrom: Expressions.yielded_from,
}
_EXPRESSIONS.update({getattr(ast, name): Expressions.template for name in ("TemplateStr",) if hasattr(ast, name)})

PARTS = {ast.Slice, ast.FormattedValue}
"""Expressions of `ast` that are parts of others here."""
PARTS |= {getattr(ast, name) for name in ("Interpolation",) if hasattr(ast, name)}

KINDS = frozenset({*_EXPRESSIONS, *PARTS})
"""The expressions that are known."""
