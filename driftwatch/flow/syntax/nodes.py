"""Nodes of libcst, made of their fields.

Enters: the parts of a node, from a parser. Leaves: the node, with the rest as it is by default. libcst's own classes
would validate the parts once more, which takes more than half of the time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any

import libcst as cst

Maker = Callable[..., Any]


def _maker(kind: type[cst.CSTNode], *names: str) -> Maker:
    """What makes a node of its fields of these names."""
    new = object.__new__
    places = tuple(getattr(kind, name).__set__ for name in names)
    others = tuple(
        (getattr(kind, each.name).__set__, _default(each)) for each in fields(kind) if each.name not in names
    )

    def make(*values: object) -> cst.CSTNode:
        node = new(kind)
        for place, value in zip(places, values, strict=True):
            place(node, value)
        for place, value in others:
            place(node, value)
        return node

    return make


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


NAME = _maker(cst.Name, "value")
ATTRIBUTE = _maker(cst.Attribute, "value", "attr")
CALL = _maker(cst.Call, "func", "args")
ARG = _maker(cst.Arg, "value", "keyword", "star")
SUBSCRIPT = _maker(cst.Subscript, "value", "slice")
SUBSCRIPT_ELEMENT = _maker(cst.SubscriptElement, "slice")
INDEX = _maker(cst.Index, "value", "star")
SLICE = _maker(cst.Slice, "lower", "upper", "step")
INTEGER = _maker(cst.Integer, "value")
FLOAT = _maker(cst.Float, "value")
IMAGINARY = _maker(cst.Imaginary, "value")
STRING = _maker(cst.SimpleString, "value")
FORMATTED = _maker(cst.FormattedString, "parts")
FORMATTED_TEXT = _maker(cst.FormattedStringText, "value")
FORMATTED_EXPRESSION = _maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
TEMPLATED = _maker(cst.TemplatedString, "parts")
TEMPLATED_TEXT = _maker(cst.TemplatedStringText, "value")
TEMPLATED_EXPRESSION = _maker(cst.TemplatedStringExpression, "expression", "conversion", "format_spec")
TUPLE = _maker(cst.Tuple, "elements")
LIST = _maker(cst.List, "elements")
SET = _maker(cst.Set, "elements")
ELEMENT = _maker(cst.Element, "value")
STARRED = _maker(cst.StarredElement, "value")
DICT = _maker(cst.Dict, "elements")
DICT_ELEMENT = _maker(cst.DictElement, "key", "value")
STARRED_DICT_ELEMENT = _maker(cst.StarredDictElement, "value")
COMP_FOR = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
COMP_IF = _maker(cst.CompIf, "test")
DICT_COMP = _maker(cst.DictComp, "key", "value", "for_in")
BOOLEAN = _maker(cst.BooleanOperation, "left", "operator", "right")
BINARY = _maker(cst.BinaryOperation, "left", "operator", "right")
UNARY = _maker(cst.UnaryOperation, "operator", "expression")
COMPARISON = _maker(cst.Comparison, "left", "comparisons")
COMPARISON_TARGET = _maker(cst.ComparisonTarget, "operator", "comparator")
IF_EXP = _maker(cst.IfExp, "test", "body", "orelse")
NAMED = _maker(cst.NamedExpr, "target", "value")
LAMBDA = _maker(cst.Lambda, "params", "body")
AWAIT = _maker(cst.Await, "expression")
YIELD = _maker(cst.Yield, "value")
FROM = _maker(cst.From, "item")
PARAMETERS = _maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
PARAM = _maker(cst.Param, "name", "annotation", "default", "star")
ANNOTATION = _maker(cst.Annotation, "annotation")
DECORATOR = _maker(cst.Decorator, "decorator")
FUNCTION = _maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
CLASS = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
MODULE = _maker(cst.Module, "body")
BLOCK = _maker(cst.IndentedBlock, "body")
LINE = _maker(cst.SimpleStatementLine, "body")
EXPR = _maker(cst.Expr, "value")
ASSIGN = _maker(cst.Assign, "targets", "value")
ASSIGN_TARGET = _maker(cst.AssignTarget, "target")
ANN_ASSIGN = _maker(cst.AnnAssign, "target", "annotation", "value")
AUG_ASSIGN = _maker(cst.AugAssign, "target", "operator", "value")
DELETE = _maker(cst.Del, "target")
RETURN = _maker(cst.Return, "value")
RAISE = _maker(cst.Raise, "exc", "cause")
ASSERT = _maker(cst.Assert, "test", "msg")
IMPORT = _maker(cst.Import, "names")
IMPORT_FROM = _maker(cst.ImportFrom, "module", "names", "relative")
IMPORT_ALIAS = _maker(cst.ImportAlias, "name", "asname")
IMPORT_STAR = _maker(cst.ImportStar)
AS_NAME = _maker(cst.AsName, "name")
TYPE_ALIAS = _maker(cst.TypeAlias, "name", "value")
GLOBAL = _maker(cst.Global, "names")
NONLOCAL = _maker(cst.Nonlocal, "names")
NAME_ITEM = _maker(cst.NameItem, "name")
PASS, BREAK, CONTINUE = _maker(cst.Pass), _maker(cst.Break), _maker(cst.Continue)
ELLIPSIS, PARAM_STAR = _maker(cst.Ellipsis), _maker(cst.ParamStar)
IF = _maker(cst.If, "test", "body", "orelse")
ELSE = _maker(cst.Else, "body")
FOR = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
WHILE = _maker(cst.While, "test", "body", "orelse")
WITH = _maker(cst.With, "items", "body", "asynchronous")
WITH_ITEM = _maker(cst.WithItem, "item", "asname")
TRY = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
TRY_STAR = _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
HANDLER = _maker(cst.ExceptHandler, "body", "type", "name")
STAR_HANDLER = _maker(cst.ExceptStarHandler, "body", "type", "name")
FINALLY = _maker(cst.Finally, "body")
MATCH = _maker(cst.Match, "subject", "cases")
CASE = _maker(cst.MatchCase, "pattern", "body", "guard")
MATCH_AS = _maker(cst.MatchAs, "pattern", "name")
MATCH_OR = _maker(cst.MatchOr, "patterns")
MATCH_OR_ELEMENT = _maker(cst.MatchOrElement, "pattern")
MATCH_LIST = _maker(cst.MatchList, "patterns")
MATCH_ELEMENT = _maker(cst.MatchSequenceElement, "value")
MATCH_STAR = _maker(cst.MatchStar, "name")
MATCH_MAPPING = _maker(cst.MatchMapping, "elements", "rest")
MATCH_MAPPING_ELEMENT = _maker(cst.MatchMappingElement, "key", "pattern")
MATCH_CLASS = _maker(cst.MatchClass, "cls", "patterns", "kwds")
MATCH_KEYWORD = _maker(cst.MatchKeywordElement, "key", "pattern")
MATCH_VALUE = _maker(cst.MatchValue, "value")
MATCH_SINGLETON = _maker(cst.MatchSingleton, "value")

ASYNC = cst.Asynchronous()
DOT = cst.Dot()
LEFT_OUT = cst.IndentedBlock([])

OPERATORS: dict[type[ast.AST], cst.CSTNode] = {
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

AUGMENTED: dict[type[ast.AST], cst.CSTNode] = {
    ast.Add: cst.AddAssign(), ast.Sub: cst.SubtractAssign(), ast.Mult: cst.MultiplyAssign(),
    ast.Div: cst.DivideAssign(), ast.FloorDiv: cst.FloorDivideAssign(), ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(), ast.LShift: cst.LeftShiftAssign(), ast.RShift: cst.RightShiftAssign(),
    ast.BitOr: cst.BitOrAssign(), ast.BitXor: cst.BitXorAssign(), ast.BitAnd: cst.BitAndAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
}  # fmt: skip

COMPREHENSIONS: dict[type[ast.AST], Maker] = {
    ast.ListComp: _maker(cst.ListComp, "elt", "for_in"),
    ast.SetComp: _maker(cst.SetComp, "elt", "for_in"),
    ast.GeneratorExp: _maker(cst.GeneratorExp, "elt", "for_in"),
}
