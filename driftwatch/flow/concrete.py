"""libcst nodes for what `ast` has parsed, several times faster than libcst's own parser makes them.

Enters: the nodes of `ast`. Leaves: the libcst nodes that its parser would have made of the same text, but for white
space, comments and redundant parentheses, which are as a formatter would have them. Strings are one literal each, with
the text that they stand for, and blocks stand on lines of their own. What `ast` says of a place is kept for each node.

The bodies of functions at the top level and of methods are left out until somebody asks for them: most of them have
nothing to do with the library.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import libcst as cst

from driftwatch.flow import nodes as new

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


class Concrete:
    """Makes libcst nodes of those of `ast`, and remembers of which. One serves for one text."""

    def __init__(self) -> None:
        self.origins: dict[cst.CSTNode, Origin] = {}
        self._left_out: dict[cst.FunctionDef, Function] = {}
        self._bodies: dict[cst.FunctionDef, cst.BaseSuite] = {}
        self._inside = False
        """Whether what is made is part of a function."""

    def module(self, tree: ast.Module) -> cst.Module:
        """The whole of a text."""
        made = new.MODULE(self._statements(tree.body))
        self.origins[made] = tree
        return cast("cst.Module", made)

    def body(self, node: cst.FunctionDef) -> cst.BaseSuite:
        """The body of a function, be it one that was left out."""
        left_out = self._left_out.get(node)
        if left_out is None:
            return node.body
        body = self._bodies.get(node)
        if body is None:
            self._inside = True
            body = self._bodies[node] = self._block(left_out.body)
        return body

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

    def _statements(self, nodes: Sequence[ast.stmt]) -> list[Any]:
        return [self._statement(node) for node in nodes]

    def _statement(self, node: ast.stmt) -> Any:
        small = _SMALL.get(type(node))
        if small is not None:
            return self._of(node, new.LINE([self._of(node, small(self, node))]))
        return self._of(node, _COMPOUND[type(node)](self, node))

    def _block(self, nodes: Sequence[ast.stmt]) -> Any:
        made = new.BLOCK(self._statements(nodes))
        if nodes:
            self.origins[made] = (nodes[0], nodes[-1])
        return made

    def _else(self, nodes: Sequence[ast.stmt]) -> Any:
        return self._of((nodes[0], nodes[-1]), new.ELSE(self._block(nodes))) if nodes else None

    def _finally(self, nodes: Sequence[ast.stmt]) -> Any:
        return self._of((nodes[0], nodes[-1]), new.FINALLY(self._block(nodes))) if nodes else None

    def _annotation(self, node: ast.expr | None) -> Any:
        return None if node is None else self._of(node, new.ANNOTATION(self.expression(node)))

    def _decorators(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [self._of(node, new.DECORATOR(self.expression(node))) for node in nodes]

    def _argument(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Starred):
            return self._of(node, new.ARG(self.expression(node.value), None, "*"))
        return self._of(node, new.ARG(self.expression(node), None, ""))

    def _keyword(self, node: ast.keyword) -> Any:
        name = None if node.arg is None else self._name(node.arg, node)
        return self._of(node, new.ARG(self.expression(node.value), name, "**" if name is None else ""))

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [
            self._of(
                node,
                new.STARRED(self.expression(node.value))
                if isinstance(node, ast.Starred)
                else new.ELEMENT(self.expression(node)),
            )
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

    # -- definitions -----------------------------------------------------------------------------------------------

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

    def function(self, node: Function) -> Any:
        decorators = self._decorators(node.decorator_list)
        name = new.NAME(node.name)
        self.origins[name] = NameOf(node)
        outer, left_out = self._inside, not self._inside
        parameters, returns = self._parameters(node.args, node), self._annotation(node.returns)
        self._inside = True
        body = new.LEFT_OUT if left_out else self._block(node.body)
        self._inside = outer
        asynchronous = new.ASYNC if isinstance(node, ast.AsyncFunctionDef) else None
        made = new.FUNCTION(name, parameters, body, decorators, returns, asynchronous)
        if left_out:
            self._left_out[made] = node
        return made

    def class_(self, node: ast.ClassDef) -> Any:
        decorators = self._decorators(node.decorator_list)
        name = new.NAME(node.name)
        self.origins[name] = NameOf(node)
        bases = [self._argument(base) for base in node.bases]
        keywords = [self._keyword(keyword) for keyword in node.keywords]
        return new.CLASS(name, self._block(node.body), bases, keywords, decorators)

    # -- small statements ------------------------------------------------------------------------------------------

    def expr(self, node: ast.Expr) -> Any:
        return new.EXPR(self.expression(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = [self._of(target, new.ASSIGN_TARGET(self.expression(target))) for target in node.targets]
        return new.ASSIGN(targets, self.expression(node.value))

    def annotated(self, node: ast.AnnAssign) -> Any:
        return new.ANN_ASSIGN(
            self.expression(node.target), self._annotation(node.annotation), self._optional(node.value)
        )

    def augmented(self, node: ast.AugAssign) -> Any:
        return new.AUG_ASSIGN(self.expression(node.target), new.AUGMENTED[type(node.op)], self.expression(node.value))

    def delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1:
            return new.DELETE(self.expression(node.targets[0]))
        return new.DELETE(self._of(node, new.TUPLE(self._elements(node.targets))))

    def return_(self, node: ast.Return) -> Any:
        return new.RETURN(self._optional(node.value))

    def raise_(self, node: ast.Raise) -> Any:
        cause = None if node.cause is None else self._of(node.cause, new.FROM(self.expression(node.cause)))
        return new.RAISE(self._optional(node.exc), cause)

    def assert_(self, node: ast.Assert) -> Any:
        return new.ASSERT(self.expression(node.test), self._optional(node.msg))

    def import_(self, node: ast.Import) -> Any:
        return new.IMPORT([self._alias(alias) for alias in node.names])

    def import_from(self, node: ast.ImportFrom) -> Any:
        module = None if node.module is None else self._dotted(node.module, node)
        names: Any = [self._alias(alias) for alias in node.names]
        if node.names[0].name == "*":
            names = self._of(node.names[0], new.IMPORT_STAR())
        return new.IMPORT_FROM(module, names, (new.DOT,) * node.level)

    def _alias(self, node: ast.alias) -> Any:
        return self._of(node, new.IMPORT_ALIAS(self._dotted(node.name, node), self._as_name(node.asname, node)))

    def type_alias(self, node: Any) -> Any:
        return new.TYPE_ALIAS(self.expression(node.name), self.expression(node.value))

    def global_(self, node: ast.Global) -> Any:
        return new.GLOBAL(self._name_items(node))

    def nonlocal_(self, node: ast.Nonlocal) -> Any:
        return new.NONLOCAL(self._name_items(node))

    def _name_items(self, node: ast.Global | ast.Nonlocal) -> Any:
        return [self._of(node, new.NAME_ITEM(self._name(name, node))) for name in node.names]

    # -- compound statements ---------------------------------------------------------------------------------------

    def if_(self, node: ast.If) -> Any:
        test, body = self.expression(node.test), self._block(node.body)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            return new.IF(test, body, self._statement(node.orelse[0]))
        return new.IF(test, body, self._else(node.orelse))

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        parts = self.expression(node.target), self.expression(node.iter), self._block(node.body)
        return new.FOR(*parts, self._else(node.orelse), new.ASYNC if isinstance(node, ast.AsyncFor) else None)

    def while_(self, node: ast.While) -> Any:
        return new.WHILE(self.expression(node.test), self._block(node.body), self._else(node.orelse))

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [self._with_item(item) for item in node.items]
        return new.WITH(items, self._block(node.body), new.ASYNC if isinstance(node, ast.AsyncWith) else None)

    def _with_item(self, node: ast.withitem) -> Any:
        name, target = None, node.optional_vars
        expression = self.expression(node.context_expr)
        if target is not None:
            name = self._of(target, new.AS_NAME(self.expression(target)))
        return self._of((node.context_expr, target or node.context_expr), new.WITH_ITEM(expression, name))

    def try_(self, node: Any) -> Any:
        star = not isinstance(node, ast.Try)
        body = self._block(node.body)
        handlers = [self._handler(handler, new.STAR_HANDLER if star else new.HANDLER) for handler in node.handlers]
        return (new.TRY_STAR if star else new.TRY)(
            body, handlers, self._else(node.orelse), self._finally(node.finalbody)
        )

    def _handler(self, node: ast.ExceptHandler, make: new.Maker) -> Any:
        kind, name = self._optional(node.type), self._as_name(node.name, node)
        return self._of(node, make(self._block(node.body), kind, name))

    # -- patterns --------------------------------------------------------------------------------------------------

    def match(self, node: ast.Match) -> Any:
        return new.MATCH(self.expression(node.subject), [self._case(case) for case in node.cases])

    def _case(self, node: ast.match_case) -> Any:
        pattern, guard = self._pattern(node.pattern), self._optional(node.guard)
        return self._of((node.pattern, node.body[-1]), new.CASE(pattern, self._block(node.body), guard))

    def _pattern(self, node: ast.pattern) -> Any:
        return self._of(node, self._made_pattern(node))

    def _made_pattern(self, node: ast.pattern) -> Any:
        if isinstance(node, ast.MatchValue):
            return new.MATCH_VALUE(self.expression(node.value))
        if isinstance(node, ast.MatchSingleton):
            return new.MATCH_SINGLETON(self._name(str(node.value), node))
        if isinstance(node, ast.MatchSequence):
            return new.MATCH_LIST([self._pattern_element(each) for each in node.patterns])
        if isinstance(node, ast.MatchStar):
            return new.MATCH_STAR(None if node.name is None else self._name(node.name, node))
        if isinstance(node, ast.MatchMapping):
            elements = [
                self._of((key, pattern), new.MATCH_MAPPING_ELEMENT(self.expression(key), self._pattern(pattern)))
                for key, pattern in zip(node.keys, node.patterns, strict=True)
            ]
            return new.MATCH_MAPPING(elements, None if node.rest is None else self._name(node.rest, node))
        if isinstance(node, ast.MatchClass):
            keywords = [
                self._of(pattern, new.MATCH_KEYWORD(self._name(name, pattern), self._pattern(pattern)))
                for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
            ]
            parts = [self._pattern_element(each) for each in node.patterns]
            return new.MATCH_CLASS(self.expression(node.cls), parts, keywords)
        if isinstance(node, ast.MatchAs):
            inner = None if node.pattern is None else self._pattern(node.pattern)
            return new.MATCH_AS(inner, None if node.name is None else self._name(node.name, node))
        assert isinstance(node, ast.MatchOr)
        return new.MATCH_OR([self._of(each, new.MATCH_OR_ELEMENT(self._pattern(each))) for each in node.patterns])

    def _pattern_element(self, node: ast.pattern) -> Any:
        if isinstance(node, ast.MatchStar):
            return self._pattern(node)
        return self._of(node, new.MATCH_ELEMENT(self._pattern(node)))


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


Method = Callable[[Concrete, Any], Any]

_EXPRESSIONS: dict[type[ast.AST], Method] = {
    ast.Name: Concrete.name,
    ast.Attribute: Concrete.attribute,
    ast.Call: Concrete.call,
    ast.Constant: Concrete.constant,
    ast.Subscript: Concrete.subscript,
    ast.JoinedStr: Concrete.formatted,
    ast.Tuple: Concrete.tuple,
    ast.List: Concrete.list,
    ast.Set: Concrete.set,
    ast.Dict: Concrete.dict,
    ast.ListComp: Concrete.comprehension,
    ast.SetComp: Concrete.comprehension,
    ast.GeneratorExp: Concrete.comprehension,
    ast.DictComp: Concrete.dict_comprehension,
    ast.BoolOp: Concrete.boolean,
    ast.BinOp: Concrete.binary,
    ast.UnaryOp: Concrete.unary,
    ast.Compare: Concrete.comparison,
    ast.IfExp: Concrete.conditional,
    ast.NamedExpr: Concrete.named,
    ast.Lambda: Concrete.function_expression,
    ast.Await: Concrete.wait,
    ast.Yield: Concrete.yielded,
    ast.YieldFrom: Concrete.yielded_from,
}

_SMALL: dict[type[ast.AST], Method] = {
    ast.Expr: Concrete.expr,
    ast.Assign: Concrete.assign,
    ast.AnnAssign: Concrete.annotated,
    ast.AugAssign: Concrete.augmented,
    ast.Delete: Concrete.delete,
    ast.Return: Concrete.return_,
    ast.Raise: Concrete.raise_,
    ast.Assert: Concrete.assert_,
    ast.Import: Concrete.import_,
    ast.ImportFrom: Concrete.import_from,
    ast.Global: Concrete.global_,
    ast.Nonlocal: Concrete.nonlocal_,
    ast.Pass: lambda concrete, node: new.PASS(),
    ast.Break: lambda concrete, node: new.BREAK(),
    ast.Continue: lambda concrete, node: new.CONTINUE(),
}

_COMPOUND: dict[type[ast.AST], Method] = {
    ast.FunctionDef: Concrete.function,
    ast.AsyncFunctionDef: Concrete.function,
    ast.ClassDef: Concrete.class_,
    ast.If: Concrete.if_,
    ast.For: Concrete.for_,
    ast.AsyncFor: Concrete.for_,
    ast.While: Concrete.while_,
    ast.With: Concrete.with_,
    ast.AsyncWith: Concrete.with_,
    ast.Try: Concrete.try_,
    ast.Match: Concrete.match,
    **({ast.TryStar: Concrete.try_} if hasattr(ast, "TryStar") else {}),
}

# What only newer Pythons have.
_EXPRESSIONS.update({getattr(ast, name): Concrete.template for name in ("TemplateStr",) if hasattr(ast, name)})
_SMALL.update({getattr(ast, name): Concrete.type_alias for name in ("TypeAlias",) if hasattr(ast, name)})

_KNOWN = {*_EXPRESSIONS, *_SMALL, *_COMPOUND, ast.Starred, ast.Slice, ast.FormattedValue}
_KNOWN |= {getattr(ast, name) for name in ("Interpolation",) if hasattr(ast, name)}

UNSUPPORTED = frozenset(kind for base in (ast.expr, ast.stmt) for kind in base.__subclasses__() if kind not in _KNOWN)
"""The kinds of nodes that this Python has and that are not known here: none, but for Pythons that are newer still."""


def is_supported(tree: ast.AST) -> bool:
    """Whether all of a tree can be made into libcst's nodes."""
    return not UNSUPPORTED or not any(type(node) in UNSUPPORTED for node in ast.walk(tree))
