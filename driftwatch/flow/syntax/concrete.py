"""libcst nodes for what `ast` has parsed, several times faster than libcst's own parser makes them.

Enters: the nodes of `ast`. Leaves: the libcst nodes that its parser would have made of the same text, but for white
space, comments and redundant parentheses, which are as a formatter would have them. Strings are one literal each, with
the text that they stand for, and blocks stand on lines of their own. What `ast` says of a place is kept for each node.

The bodies of functions at the top level and of methods are left out until somebody asks for them: most of them have
nothing to do with the library.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, cast

import libcst as cst

from driftwatch.flow.syntax import nodes as new
from driftwatch.flow.syntax.concrete_expressions import KINDS, Expressions, Function, NameOf
from driftwatch.flow.syntax.survey import another_if


class Concrete(Expressions):
    """Makes libcst nodes of those of `ast`, and remembers of which. One serves for one text."""

    def __init__(self) -> None:
        super().__init__()
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

    def _decorators(self, nodes: Sequence[ast.expr]) -> list[Any]:
        return [self._of(node, new.DECORATOR(self.expression(node))) for node in nodes]

    # -- definitions -----------------------------------------------------------------------------------------------

    def function(self, node: Function) -> Any:
        decorators = self._decorators(node.decorator_list)
        name = self._name(node.name, NameOf(node))
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
        name = self._name(node.name, NameOf(node))
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
        # As long as it may be, without a call for each.
        chain = [node]
        while (below := another_if(chain[-1])) is not None:
            chain.append(below)
        rest = self._else(chain[-1].orelse)
        for each in reversed(chain[1:]):
            rest = self._of(each, new.IF(self.expression(each.test), self._block(each.body), rest))
        return new.IF(self.expression(node.test), self._block(node.body), rest)

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


Method = Callable[[Concrete, Any], Any]

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
_SMALL.update({getattr(ast, name): Concrete.type_alias for name in ("TypeAlias",) if hasattr(ast, name)})

_KNOWN = {*KINDS, *_SMALL, *_COMPOUND}

UNSUPPORTED = frozenset(kind for base in (ast.expr, ast.stmt) for kind in base.__subclasses__() if kind not in _KNOWN)
"""The kinds of nodes that this Python has and that are not known here: none, but for Pythons that are newer still."""


def is_supported(tree: ast.AST) -> bool:
    """Whether all of a tree can be made into libcst's nodes."""
    return not UNSUPPORTED or not any(type(node) in UNSUPPORTED for node in ast.walk(tree))
