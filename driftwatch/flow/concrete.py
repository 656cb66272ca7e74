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
from dataclasses import MISSING, Field, dataclass, fields
from functools import reduce
from typing import Any, cast

import libcst as cst

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

Maker = Callable[..., Any]


def _maker(kind: type[cst.CSTNode], *names: str) -> Maker:
    """What makes a node of its fields of these names; the others are as they are by default.

    The parts come from a parser, so they are not validated again, which takes more than half of the time.
    """
    new = object.__new__
    place = object.__setattr__
    others = tuple((each.name, _default(each)) for each in fields(kind) if each.name not in names)

    def make(*values: object) -> cst.CSTNode:
        node = new(kind)
        for name, value in zip(names, values, strict=True):
            place(node, name, value)
        for name, value in others:
            place(node, name, value)
        return node

    return make


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


_NAME = _maker(cst.Name, "value")
_ATTRIBUTE = _maker(cst.Attribute, "value", "attr")
_CALL = _maker(cst.Call, "func", "args")
_ARG = _maker(cst.Arg, "value", "keyword", "star")
_SUBSCRIPT = _maker(cst.Subscript, "value", "slice")
_SUBSCRIPT_ELEMENT = _maker(cst.SubscriptElement, "slice")
_INDEX = _maker(cst.Index, "value", "star")
_SLICE = _maker(cst.Slice, "lower", "upper", "step")
_INTEGER = _maker(cst.Integer, "value")
_FLOAT = _maker(cst.Float, "value")
_IMAGINARY = _maker(cst.Imaginary, "value")
_STRING = _maker(cst.SimpleString, "value")
_FORMATTED = _maker(cst.FormattedString, "parts")
_FORMATTED_TEXT = _maker(cst.FormattedStringText, "value")
_FORMATTED_EXPRESSION = _maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
_TEMPLATED = _maker(cst.TemplatedString, "parts")
_TEMPLATED_TEXT = _maker(cst.TemplatedStringText, "value")
_TEMPLATED_EXPRESSION = _maker(cst.TemplatedStringExpression, "expression", "conversion", "format_spec")
_TUPLE = _maker(cst.Tuple, "elements")
_LIST = _maker(cst.List, "elements")
_SET = _maker(cst.Set, "elements")
_ELEMENT = _maker(cst.Element, "value")
_STARRED = _maker(cst.StarredElement, "value")
_DICT = _maker(cst.Dict, "elements")
_DICT_ELEMENT = _maker(cst.DictElement, "key", "value")
_STARRED_DICT_ELEMENT = _maker(cst.StarredDictElement, "value")
_COMP_FOR = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_COMP_IF = _maker(cst.CompIf, "test")
_DICT_COMP = _maker(cst.DictComp, "key", "value", "for_in")
_BOOLEAN = _maker(cst.BooleanOperation, "left", "operator", "right")
_BINARY = _maker(cst.BinaryOperation, "left", "operator", "right")
_UNARY = _maker(cst.UnaryOperation, "operator", "expression")
_COMPARISON = _maker(cst.Comparison, "left", "comparisons")
_COMPARISON_TARGET = _maker(cst.ComparisonTarget, "operator", "comparator")
_IF_EXP = _maker(cst.IfExp, "test", "body", "orelse")
_NAMED = _maker(cst.NamedExpr, "target", "value")
_LAMBDA = _maker(cst.Lambda, "params", "body")
_AWAIT = _maker(cst.Await, "expression")
_YIELD = _maker(cst.Yield, "value")
_FROM = _maker(cst.From, "item")
_PARAMETERS = _maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
_PARAM = _maker(cst.Param, "name", "annotation", "default", "star")
_ANNOTATION = _maker(cst.Annotation, "annotation")
_DECORATOR = _maker(cst.Decorator, "decorator")
_FUNCTION = _maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
_CLASS = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
_MODULE = _maker(cst.Module, "body")
_BLOCK = _maker(cst.IndentedBlock, "body")
_LINE = _maker(cst.SimpleStatementLine, "body")
_EXPR = _maker(cst.Expr, "value")
_ASSIGN = _maker(cst.Assign, "targets", "value")
_ASSIGN_TARGET = _maker(cst.AssignTarget, "target")
_ANN_ASSIGN = _maker(cst.AnnAssign, "target", "annotation", "value")
_AUG_ASSIGN = _maker(cst.AugAssign, "target", "operator", "value")
_DELETE = _maker(cst.Del, "target")
_RETURN = _maker(cst.Return, "value")
_RAISE = _maker(cst.Raise, "exc", "cause")
_ASSERT = _maker(cst.Assert, "test", "msg")
_IMPORT = _maker(cst.Import, "names")
_IMPORT_FROM = _maker(cst.ImportFrom, "module", "names", "relative")
_IMPORT_ALIAS = _maker(cst.ImportAlias, "name", "asname")
_IMPORT_STAR = _maker(cst.ImportStar)
_AS_NAME = _maker(cst.AsName, "name")
_TYPE_ALIAS = _maker(cst.TypeAlias, "name", "value")
_GLOBAL = _maker(cst.Global, "names")
_NONLOCAL = _maker(cst.Nonlocal, "names")
_NAME_ITEM = _maker(cst.NameItem, "name")
_PASS, _BREAK, _CONTINUE = _maker(cst.Pass), _maker(cst.Break), _maker(cst.Continue)
_ELLIPSIS, _PARAM_STAR = _maker(cst.Ellipsis), _maker(cst.ParamStar)
_IF = _maker(cst.If, "test", "body", "orelse")
_ELSE = _maker(cst.Else, "body")
_FOR = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_WHILE = _maker(cst.While, "test", "body", "orelse")
_WITH = _maker(cst.With, "items", "body", "asynchronous")
_WITH_ITEM = _maker(cst.WithItem, "item", "asname")
_TRY = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_TRY_STAR = _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
_HANDLER = _maker(cst.ExceptHandler, "body", "type", "name")
_STAR_HANDLER = _maker(cst.ExceptStarHandler, "body", "type", "name")
_FINALLY = _maker(cst.Finally, "body")
_MATCH = _maker(cst.Match, "subject", "cases")
_CASE = _maker(cst.MatchCase, "pattern", "body", "guard")
_MATCH_AS = _maker(cst.MatchAs, "pattern", "name")
_MATCH_OR = _maker(cst.MatchOr, "patterns")
_MATCH_OR_ELEMENT = _maker(cst.MatchOrElement, "pattern")
_MATCH_LIST = _maker(cst.MatchList, "patterns")
_MATCH_ELEMENT = _maker(cst.MatchSequenceElement, "value")
_MATCH_STAR = _maker(cst.MatchStar, "name")
_MATCH_MAPPING = _maker(cst.MatchMapping, "elements", "rest")
_MATCH_MAPPING_ELEMENT = _maker(cst.MatchMappingElement, "key", "pattern")
_MATCH_CLASS = _maker(cst.MatchClass, "cls", "patterns", "kwds")
_MATCH_KEYWORD = _maker(cst.MatchKeywordElement, "key", "pattern")
_MATCH_VALUE = _maker(cst.MatchValue, "value")
_MATCH_SINGLETON = _maker(cst.MatchSingleton, "value")

_ASYNC = cst.Asynchronous()
_DOT = cst.Dot()
_LEFT_OUT = cst.IndentedBlock([])

_OPERATORS: dict[type[ast.AST], cst.CSTNode] = {
    ast.And: cst.And(), ast.Or: cst.Or(),
    ast.Add: cst.Add(), ast.Sub: cst.Subtract(), ast.Mult: cst.Multiply(), ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(), ast.Mod: cst.Modulo(), ast.Pow: cst.Power(), ast.LShift: cst.LeftShift(),
    ast.RShift: cst.RightShift(), ast.BitOr: cst.BitOr(), ast.BitXor: cst.BitXor(), ast.BitAnd: cst.BitAnd(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Invert: cst.BitInvert(), ast.Not: cst.Not(), ast.UAdd: cst.Plus(), ast.USub: cst.Minus(),
    ast.Eq: cst.Equal(), ast.NotEq: cst.NotEqual(), ast.Lt: cst.LessThan(), ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(), ast.GtE: cst.GreaterThanEqual(), ast.Is: cst.Is(), ast.IsNot: cst.IsNot(),
    ast.In: cst.In(), ast.NotIn: cst.NotIn(),
}  # fmt: skip

_AUGMENTED: dict[type[ast.AST], cst.CSTNode] = {
    ast.Add: cst.AddAssign(), ast.Sub: cst.SubtractAssign(), ast.Mult: cst.MultiplyAssign(),
    ast.Div: cst.DivideAssign(), ast.FloorDiv: cst.FloorDivideAssign(), ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(), ast.LShift: cst.LeftShiftAssign(), ast.RShift: cst.RightShiftAssign(),
    ast.BitOr: cst.BitOrAssign(), ast.BitXor: cst.BitXorAssign(), ast.BitAnd: cst.BitAndAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
}  # fmt: skip


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
        made = _MODULE(self._statements(tree.body))
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
        return self._of(origin, _NAME(name))

    def _dotted(self, name: str, origin: ast.AST) -> Any:
        first, *rest = name.split(".")
        made = self._name(first, origin)
        for part in rest:
            made = self._of(origin, _ATTRIBUTE(made, self._name(part, origin)))
        return made

    def _as_name(self, name: str | None, origin: ast.AST) -> Any:
        return None if name is None else self._of(origin, _AS_NAME(self._name(name, origin)))

    def _statements(self, nodes: Sequence[ast.stmt]) -> list[Any]:
        return [self._statement(node) for node in nodes]

    def _statement(self, node: ast.stmt) -> Any:
        small = _SMALL.get(type(node))
        if small is not None:
            return self._of(node, _LINE([self._of(node, small(self, node))]))
        return self._of(node, _COMPOUND[type(node)](self, node))

    def _block(self, nodes: Sequence[ast.stmt]) -> Any:
        made = _BLOCK(self._statements(nodes))
        if nodes:
            self.origins[made] = (nodes[0], nodes[-1])
        return made

    def _else(self, nodes: Sequence[ast.stmt]) -> Any:
        return self._of((nodes[0], nodes[-1]), _ELSE(self._block(nodes))) if nodes else None

    def _finally(self, nodes: Sequence[ast.stmt]) -> Any:
        return self._of((nodes[0], nodes[-1]), _FINALLY(self._block(nodes))) if nodes else None

    def _annotation(self, node: ast.expr | None) -> Any:
        return None if node is None else self._of(node, _ANNOTATION(self.expression(node)))

    def _decorators(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [self._of(node, _DECORATOR(self.expression(node))) for node in nodes]

    def _argument(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Starred):
            return self._of(node, _ARG(self.expression(node.value), None, "*"))
        return self._of(node, _ARG(self.expression(node), None, ""))

    def _keyword(self, node: ast.keyword) -> Any:
        name = None if node.arg is None else self._name(node.arg, node)
        return self._of(node, _ARG(self.expression(node.value), name, "**" if name is None else ""))

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [
            self._of(
                node,
                _STARRED(self.expression(node.value))
                if isinstance(node, ast.Starred)
                else _ELEMENT(self.expression(node)),
            )
            for node in nodes
        ]

    # -- expressions -----------------------------------------------------------------------------------------------

    def name(self, node: ast.Name) -> Any:
        return _NAME(node.id)

    def attribute(self, node: ast.Attribute) -> Any:
        return _ATTRIBUTE(self.expression(node.value), self._name(node.attr, node))

    def call(self, node: ast.Call) -> Any:
        function = self.expression(node.func)
        parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if node.args and node.keywords and _place(node.args[-1]) > _place(node.keywords[0]):
            parts.sort(key=_place)
        return _CALL(function, [self._keyword(p) if isinstance(p, ast.keyword) else self._argument(p) for p in parts])

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        if value is None or value is True or value is False:
            return _NAME(str(value))
        if isinstance(value, (str, bytes)):
            return _STRING(repr(value))
        if isinstance(value, int):
            # Python refuses to write very long numbers in decimal.
            return _INTEGER(str(value) if value.bit_length() < 64 else hex(value))
        if isinstance(value, float):
            return _FLOAT(repr(value).replace("inf", "1e999"))
        if isinstance(value, complex):
            return _IMAGINARY(repr(value).replace("inf", "1e999"))
        return _ELLIPSIS()

    def subscript(self, node: ast.Subscript) -> Any:
        value = self.expression(node.value)
        parts = [node.slice]
        if isinstance(node.slice, ast.Tuple) and any(isinstance(e, (ast.Slice, ast.Starred)) for e in node.slice.elts):
            parts = list(node.slice.elts)
        return _SUBSCRIPT(value, [self._of(part, _SUBSCRIPT_ELEMENT(self._slice(part))) for part in parts])

    def _slice(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            bounds = self._optional(node.lower), self._optional(node.upper), self._optional(node.step)
            return self._of(node, _SLICE(*bounds))
        if isinstance(node, ast.Starred):
            return self._of(node, _INDEX(self.expression(node.value), "*"))
        return self._of(node, _INDEX(self.expression(node), None))

    def formatted(self, node: ast.JoinedStr) -> Any:
        if KNOWS_FORMATTED:
            return _FORMATTED(self._formatted_parts(node.values, _FORMATTED_TEXT, _FORMATTED_EXPRESSION))
        outer, self.origins = self.origins, {}
        made = _FORMATTED(self._formatted_parts(node.values, _FORMATTED_TEXT, _FORMATTED_EXPRESSION))
        outer.update(dict.fromkeys(self.origins, Within(node, made)))
        self.origins = outer
        return made

    def template(self, node: Any) -> Any:
        return _TEMPLATED(self._formatted_parts(node.values, _TEMPLATED_TEXT, _TEMPLATED_EXPRESSION))

    def _formatted_parts(self, nodes: Sequence[Any], text: Maker, value: Maker) -> list[Any]:
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
        return _TUPLE(self._elements(node.elts))

    def list(self, node: ast.List) -> Any:
        return _LIST(self._elements(node.elts))

    def set(self, node: ast.Set) -> Any:
        return _SET(self._elements(node.elts))

    def dict(self, node: ast.Dict) -> Any:
        return _DICT(
            [
                self._of(value, _STARRED_DICT_ELEMENT(self.expression(value)))
                if key is None
                else self._of((key, value), _DICT_ELEMENT(self.expression(key), self.expression(value)))
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        )

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        return _COMPREHENSIONS[type(node)](self.expression(node.elt), self._loops(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        return _DICT_COMP(self.expression(node.key), self.expression(node.value), self._loops(node.generators))

    def _loops(self, nodes: Sequence[ast.comprehension]) -> Any:
        inner: Any = None
        for node in reversed(nodes):
            target, source = self.expression(node.target), self.expression(node.iter)
            tests = [self._of(test, _COMP_IF(self.expression(test))) for test in node.ifs]
            made = _COMP_FOR(target, source, tests, inner, _ASYNC if node.is_async else None)
            inner = self._of((node.target, node.ifs[-1] if node.ifs else node.iter), made)
        return inner

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = _OPERATORS[type(node.op)]
        first, *rest = node.values

        def joined(left: Any, right: ast.expr) -> Any:
            return self._of((first, right), _BOOLEAN(left, operator, self.expression(right)))

        return reduce(joined, rest, self.expression(first))

    def binary(self, node: ast.BinOp) -> Any:
        return _BINARY(self.expression(node.left), _OPERATORS[type(node.op)], self.expression(node.right))

    def unary(self, node: ast.UnaryOp) -> Any:
        return _UNARY(_OPERATORS[type(node.op)], self.expression(node.operand))

    def comparison(self, node: ast.Compare) -> Any:
        left = self.expression(node.left)
        targets = [
            self._of(right, _COMPARISON_TARGET(_OPERATORS[type(operator)], self.expression(right)))
            for operator, right in zip(node.ops, node.comparators, strict=True)
        ]
        return _COMPARISON(left, targets)

    def conditional(self, node: ast.IfExp) -> Any:
        return _IF_EXP(self.expression(node.test), self.expression(node.body), self.expression(node.orelse))

    def named(self, node: ast.NamedExpr) -> Any:
        return _NAMED(self.expression(node.target), self.expression(node.value))

    def function_expression(self, node: ast.Lambda) -> Any:
        return _LAMBDA(self._parameters(node.args, node), self.expression(node.body))

    def wait(self, node: ast.Await) -> Any:
        return _AWAIT(self.expression(node.value))

    def yielded(self, node: ast.Yield) -> Any:
        return _YIELD(self._optional(node.value))

    def yielded_from(self, node: ast.YieldFrom) -> Any:
        return _YIELD(self._of(node.value, _FROM(self.expression(node.value))))

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
            rest = self._of(owner, _PARAM_STAR())
        keywords = self._parameter(node.kwarg, None, "**") if node.kwarg is not None else None
        first = len(node.posonlyargs)
        return self._of(owner, _PARAMETERS(made[first:], rest, only, keywords, made[:first]))

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str = "") -> Any:
        name, annotation = self._name(node.arg, node), self._annotation(node.annotation)
        return self._of(node, _PARAM(name, annotation, self._optional(default), star))

    def function(self, node: Function) -> Any:
        decorators = self._decorators(node.decorator_list)
        name = _NAME(node.name)
        self.origins[name] = NameOf(node)
        outer, left_out = self._inside, not self._inside
        parameters, returns = self._parameters(node.args, node), self._annotation(node.returns)
        self._inside = True
        body = _LEFT_OUT if left_out else self._block(node.body)
        self._inside = outer
        asynchronous = _ASYNC if isinstance(node, ast.AsyncFunctionDef) else None
        made = _FUNCTION(name, parameters, body, decorators, returns, asynchronous)
        if left_out:
            self._left_out[made] = node
        return made

    def class_(self, node: ast.ClassDef) -> Any:
        decorators = self._decorators(node.decorator_list)
        name = _NAME(node.name)
        self.origins[name] = NameOf(node)
        bases = [self._argument(base) for base in node.bases]
        keywords = [self._keyword(keyword) for keyword in node.keywords]
        return _CLASS(name, self._block(node.body), bases, keywords, decorators)

    # -- small statements ------------------------------------------------------------------------------------------

    def expr(self, node: ast.Expr) -> Any:
        return _EXPR(self.expression(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = [self._of(target, _ASSIGN_TARGET(self.expression(target))) for target in node.targets]
        return _ASSIGN(targets, self.expression(node.value))

    def annotated(self, node: ast.AnnAssign) -> Any:
        return _ANN_ASSIGN(self.expression(node.target), self._annotation(node.annotation), self._optional(node.value))

    def augmented(self, node: ast.AugAssign) -> Any:
        return _AUG_ASSIGN(self.expression(node.target), _AUGMENTED[type(node.op)], self.expression(node.value))

    def delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1:
            return _DELETE(self.expression(node.targets[0]))
        return _DELETE(self._of(node, _TUPLE(self._elements(node.targets))))

    def return_(self, node: ast.Return) -> Any:
        return _RETURN(self._optional(node.value))

    def raise_(self, node: ast.Raise) -> Any:
        cause = None if node.cause is None else self._of(node.cause, _FROM(self.expression(node.cause)))
        return _RAISE(self._optional(node.exc), cause)

    def assert_(self, node: ast.Assert) -> Any:
        return _ASSERT(self.expression(node.test), self._optional(node.msg))

    def import_(self, node: ast.Import) -> Any:
        return _IMPORT([self._alias(alias) for alias in node.names])

    def import_from(self, node: ast.ImportFrom) -> Any:
        module = None if node.module is None else self._dotted(node.module, node)
        names: Any = [self._alias(alias) for alias in node.names]
        if node.names[0].name == "*":
            names = self._of(node.names[0], _IMPORT_STAR())
        return _IMPORT_FROM(module, names, (_DOT,) * node.level)

    def _alias(self, node: ast.alias) -> Any:
        return self._of(node, _IMPORT_ALIAS(self._dotted(node.name, node), self._as_name(node.asname, node)))

    def type_alias(self, node: Any) -> Any:
        return _TYPE_ALIAS(self.expression(node.name), self.expression(node.value))

    def global_(self, node: ast.Global) -> Any:
        return _GLOBAL(self._name_items(node))

    def nonlocal_(self, node: ast.Nonlocal) -> Any:
        return _NONLOCAL(self._name_items(node))

    def _name_items(self, node: ast.Global | ast.Nonlocal) -> Any:
        return [self._of(node, _NAME_ITEM(self._name(name, node))) for name in node.names]

    # -- compound statements ---------------------------------------------------------------------------------------

    def if_(self, node: ast.If) -> Any:
        test, body = self.expression(node.test), self._block(node.body)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            return _IF(test, body, self._statement(node.orelse[0]))
        return _IF(test, body, self._else(node.orelse))

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        parts = self.expression(node.target), self.expression(node.iter), self._block(node.body)
        return _FOR(*parts, self._else(node.orelse), _ASYNC if isinstance(node, ast.AsyncFor) else None)

    def while_(self, node: ast.While) -> Any:
        return _WHILE(self.expression(node.test), self._block(node.body), self._else(node.orelse))

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [self._with_item(item) for item in node.items]
        return _WITH(items, self._block(node.body), _ASYNC if isinstance(node, ast.AsyncWith) else None)

    def _with_item(self, node: ast.withitem) -> Any:
        name, target = None, node.optional_vars
        expression = self.expression(node.context_expr)
        if target is not None:
            name = self._of(target, _AS_NAME(self.expression(target)))
        return self._of((node.context_expr, target or node.context_expr), _WITH_ITEM(expression, name))

    def try_(self, node: Any) -> Any:
        star = not isinstance(node, ast.Try)
        body = self._block(node.body)
        handlers = [self._handler(handler, _STAR_HANDLER if star else _HANDLER) for handler in node.handlers]
        return (_TRY_STAR if star else _TRY)(body, handlers, self._else(node.orelse), self._finally(node.finalbody))

    def _handler(self, node: ast.ExceptHandler, make: Maker) -> Any:
        kind, name = self._optional(node.type), self._as_name(node.name, node)
        return self._of(node, make(self._block(node.body), kind, name))

    # -- patterns --------------------------------------------------------------------------------------------------

    def match(self, node: ast.Match) -> Any:
        return _MATCH(self.expression(node.subject), [self._case(case) for case in node.cases])

    def _case(self, node: ast.match_case) -> Any:
        pattern, guard = self._pattern(node.pattern), self._optional(node.guard)
        return self._of((node.pattern, node.body[-1]), _CASE(pattern, self._block(node.body), guard))

    def _pattern(self, node: ast.pattern) -> Any:
        return self._of(node, self._made_pattern(node))

    def _made_pattern(self, node: ast.pattern) -> Any:
        if isinstance(node, ast.MatchValue):
            return _MATCH_VALUE(self.expression(node.value))
        if isinstance(node, ast.MatchSingleton):
            return _MATCH_SINGLETON(self._name(str(node.value), node))
        if isinstance(node, ast.MatchSequence):
            return _MATCH_LIST([self._pattern_element(each) for each in node.patterns])
        if isinstance(node, ast.MatchStar):
            return _MATCH_STAR(None if node.name is None else self._name(node.name, node))
        if isinstance(node, ast.MatchMapping):
            elements = [
                self._of((key, pattern), _MATCH_MAPPING_ELEMENT(self.expression(key), self._pattern(pattern)))
                for key, pattern in zip(node.keys, node.patterns, strict=True)
            ]
            return _MATCH_MAPPING(elements, None if node.rest is None else self._name(node.rest, node))
        if isinstance(node, ast.MatchClass):
            keywords = [
                self._of(pattern, _MATCH_KEYWORD(self._name(name, pattern), self._pattern(pattern)))
                for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
            ]
            parts = [self._pattern_element(each) for each in node.patterns]
            return _MATCH_CLASS(self.expression(node.cls), parts, keywords)
        if isinstance(node, ast.MatchAs):
            inner = None if node.pattern is None else self._pattern(node.pattern)
            return _MATCH_AS(inner, None if node.name is None else self._name(node.name, node))
        assert isinstance(node, ast.MatchOr)
        return _MATCH_OR([self._of(each, _MATCH_OR_ELEMENT(self._pattern(each))) for each in node.patterns])

    def _pattern_element(self, node: ast.pattern) -> Any:
        if isinstance(node, ast.MatchStar):
            return self._pattern(node)
        return self._of(node, _MATCH_ELEMENT(self._pattern(node)))


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


_COMPREHENSIONS: dict[type[ast.AST], Maker] = {
    ast.ListComp: _maker(cst.ListComp, "elt", "for_in"),
    ast.SetComp: _maker(cst.SetComp, "elt", "for_in"),
    ast.GeneratorExp: _maker(cst.GeneratorExp, "elt", "for_in"),
}

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
    ast.Pass: lambda concrete, node: _PASS(),
    ast.Break: lambda concrete, node: _BREAK(),
    ast.Continue: lambda concrete, node: _CONTINUE(),
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
