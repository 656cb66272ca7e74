"""One source file -> its facts, by Griffe; the only module that knows Griffe.

Griffe visits the file and resolves its names; `scope` says which binding of a name counts. Files are read once: the
same bytes under the same module name have the same facts, whatever the release. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib.metadata
import io
import logging
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import griffe

from driftwatch.errors import SnapshotError
from driftwatch.snapshot.collect import closures, scope
from driftwatch.snapshot.collect.bodies import FunctionNode
from driftwatch.snapshot.collect.decorators import deprecation_warning
from driftwatch.snapshot.collect.instance_attributes import Delegate, attributes_given_outside, instance_attributes
from driftwatch.snapshot.collect.lazy_names import LazyNames, lazy_names
from driftwatch.snapshot.collect.outside_names import (
    binds_freely,
    exports_are_written,
    further_exports,
    given_to_others,
)
from driftwatch.snapshot.collect.raising import refusals
from driftwatch.snapshot.collect.refusals import keywords_of
from driftwatch.snapshot.collect.returned import flavour, lengths
from driftwatch.snapshot.collect.source_facts import (
    Bound,
    CallArgument,
    ClassFacts,
    DecoratorFacts,
    Facts,
    FunctionFacts,
    ImportFacts,
    LazyTarget,
    ModuleFacts,
    NamedExpression,
    ValueFacts,
)
from driftwatch.snapshot.collect.wrappers import changes_arguments, keywords_taken
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind

# Griffe reports what it cannot resolve; here that is an ordinary result, not news.
logging.getLogger("griffe").addHandler(logging.NullHandler())

_UNIONS = frozenset({"typing.Union", "typing.Optional", "Union", "Optional"})
_CLASSVARS = ("typing.ClassVar", "ClassVar", "typing_extensions.ClassVar")
_GLOBAL = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)
"""The names a function says it will assign in the module: their value at import says nothing about later."""
_WRAPS = DecoratorFacts("functools.wraps")
_KINDS = {
    griffe.ParameterKind.positional_only: ParameterKind.POSITIONAL_ONLY,
    griffe.ParameterKind.positional_or_keyword: ParameterKind.POSITIONAL_OR_KEYWORD,
    griffe.ParameterKind.var_positional: ParameterKind.VAR_POSITIONAL,
    griffe.ParameterKind.keyword_only: ParameterKind.KEYWORD_ONLY,
    griffe.ParameterKind.var_keyword: ParameterKind.VAR_KEYWORD,
}


def parser_version() -> str:
    """Which version of the parser reads files: another one may read them otherwise."""
    return str(importlib.metadata.version("griffe"))


class Reader:
    """Reads source files, each distinct one once."""

    def __init__(self) -> None:
        self._read: dict[tuple[bytes, str, bool], ModuleFacts] = {}

    def facts(self, source: bytes, module: str, is_package: bool, release: str) -> ModuleFacts:
        """The facts of a file; `SnapshotError` when it is not Python that this interpreter can parse."""
        key = (hashlib.sha256(source).digest(), module, is_package)
        found = self._read.get(key)
        if found is None:
            with _collector_at_rest():
                found = self._read[key] = _read(source, module, is_package, release)
        return found


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """A syntax tree is a hundred thousand objects that all live until the file is done: looking through them for
    garbage every now and then is a quarter of the work."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _read(source: bytes, module: str, is_package: bool, release: str) -> ModuleFacts:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
        recorder = _Recorder()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            visited = _visit(text, module, is_package, recorder)
        assert recorder.tree is not None
        return _ModuleReading(visited, recorder.tree, recorder.objects, text, is_package).facts()
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError) as error:
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        line = getattr(error, "lineno", None)
        raise SnapshotError(
            f"module {module} of release {release} cannot be read: {reason}" + (f" (line {line})" if line else ""),
            "it may need a newer Python than the one that runs driftwatch",
        ) from error


class _Recorder(griffe.Extension):
    """Keeps the syntax tree, and the object that Griffe makes of each definition in it."""

    def __init__(self) -> None:
        self.tree: ast.Module | None = None
        self.objects: dict[int, griffe.Object] = {}

    def on_module_node(self, *, node: ast.Module, **_: Any) -> None:  # type: ignore[override]
        self.tree = node

    def on_instance(self, *, node: ast.AST, obj: griffe.Object, **_: Any) -> None:  # type: ignore[override]
        self.objects[id(node)] = obj


def _visit(text: str, module: str, is_package: bool, recorder: _Recorder) -> griffe.Module:
    parent: griffe.Module | None = None
    *parents, name = module.split(".")
    for part in parents:
        parent = griffe.Module(part, filepath=_path(part, "__init__.py"), parent=parent)
    return griffe.visit(
        name,
        filepath=_path(name, "__init__.py") if is_package else _path(f"{name}.py"),
        code=text,
        parent=parent,
        extensions=griffe.Extensions(recorder),
    )


def _path(*parts: str) -> Any:
    # Griffe looks at the name alone, so a path that touches no file system serves.
    return PurePosixPath(*parts)


class _ModuleReading:
    """Turns a visited module into facts."""

    def __init__(
        self, module: griffe.Module, tree: ast.Module, objects: dict[int, griffe.Object], text: str, is_package: bool
    ) -> None:
        self._module = module
        self._tree = tree
        self._objects = objects
        self._is_package = is_package
        self._changed = frozenset(name for line in _GLOBAL.findall(text) for name in line.replace(",", " ").split())
        self._may_wrap = "wraps" in text
        self._may_show = "__signature__" in text
        self._may_fill = "globals()[" in text or "modules[" in text
        self._given = attributes_given_outside(tree)
        self._exports_written = exports_are_written(tree.body)

    def facts(self) -> ModuleFacts:
        path = self._module.path
        bound = self._scope(self._tree.body, self._module)
        exported = self._exported()
        lazy = lazy_names(self._tree, path, self._is_package)
        stars = tuple(
            self._imported_from(s, "")
            for s, condition in scope.running(self._tree.body)
            if isinstance(s, ast.ImportFrom) and s.names[0].name == "*"
        )
        return ModuleFacts(
            name=path,
            is_package=self._is_package,
            bound=bound,
            stars=stars,
            exported=exported,
            lazy=self._lazy(lazy, bound, exported or ()) if lazy.there else {},
            open=lazy.open or binds_freely(self._tree.body, inside=self._may_fill),
            imports=tuple(dict.fromkeys(self._required_imports())),
            tries=tuple(dict.fromkeys(self._tried_imports())),
            demands=tuple(
                dict.fromkeys(path for s in scope.imports_on_demand(self._tree.body) for path in self._paths(s))
            ),
            exports_computed=not self._exports_written,
            gives=tuple(dict.fromkeys((f"{path}.{owner}", name) for owner, name in given_to_others(self._tree))),
        )

    def _lazy(
        self, lazy: LazyNames, bound: Mapping[str, Bound], exported: Iterable[str]
    ) -> dict[str, tuple[LazyTarget, ...]]:
        """What ``__getattr__`` is seen to answer, and what the file says elsewhere that it does.

        A name in ``__all__`` that nothing binds can only come from there. Where it answers names that cannot be
        listed, imports made for type checkers say which they are.
        """
        targets = dict(lazy.targets)
        targets.update({name: () for name in exported if name not in bound and name not in targets})
        for statement in scope.imports_for_type_checkers(self._tree.body):
            for alias in statement.names:
                name = alias.asname or alias.name
                if name not in bound and (name in targets or lazy.open):
                    place = LazyTarget(self._imported_from(statement, ""), alias.name)
                    targets[name] = (*targets.get(name, ()), place)
        return targets

    # -- names ---------------------------------------------------------------------------------------------------

    def _scope(self, body: list[ast.stmt], owner: griffe.Module | griffe.Class) -> dict[str, Bound]:
        bound: dict[str, Bound] = {}
        for name, winner in scope.bindings(body).items():
            facts = self._wrapped_in_place(name, self._facts(winner.site, owner), winner, owner)
            rivals = [rival for rival in winner.rivals if scope.competes(rival, winner.site)]
            if isinstance(facts, ValueFacts) and (rivals or (owner is self._module and name in self._changed)):
                path = facts.path if rivals else None
                facts = ValueFacts(path=path, annotation=facts.annotation, annotation_path=facts.annotation_path)
            bound[name] = Bound(
                facts,
                self._needs(winner.guards),
                tuple(self._facts(rival, owner) for rival in rivals if not rival.condition.fallback),
                tuple(self._facts(rival, owner) for rival in rivals if rival.condition.fallback),
                self._needs(winner.site.condition.guards) if rivals else (),
            )
        return bound

    def _wrapped_in_place(
        self, name: str, facts: Facts, winner: scope.Winner, owner: griffe.Module | griffe.Class
    ) -> Facts:
        """A function with what ``name = decorator(name)`` makes of it afterwards, as if that stood above it."""
        for rival in winner.rivals:
            value = rival.value
            wraps = isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords
            if not (isinstance(facts, FunctionFacts) and isinstance(value, ast.Call) and wraps):
                continue
            if rival.condition.always and isinstance(value.args[0], ast.Name) and value.args[0].id == name:
                applied = DecoratorFacts(_path_of(self._expression(value.func, owner)) or "")
                facts = replace(facts, decorators=(applied, *facts.decorators))
        return facts

    def _facts(self, site: scope.Site, owner: griffe.Module | griffe.Class) -> Facts:
        statement = site.statement
        if isinstance(statement, FunctionNode):
            return self._function(statement, owner)
        if isinstance(statement, ast.ClassDef):
            return self._class(statement, owner)
        if isinstance(statement, ast.Import) and site.alias is not None:
            name = site.alias.name
            return ImportFacts(name if site.alias.asname else name.partition(".")[0], module=True)
        if isinstance(statement, ast.ImportFrom) and site.alias is not None:
            return ImportFacts(self._imported_from(statement, site.alias.name))
        return self._value(site, owner)

    def _value(self, site: scope.Site, owner: griffe.Module | griffe.Class) -> ValueFacts:
        annotation = griffe.safe_get_annotation(site.annotation, parent=owner) if site.annotation is not None else None
        path = _path_of(annotation.left if isinstance(annotation, griffe.ExprSubscript) else annotation)
        class_variable = path in _CLASSVARS
        value = self._expression(site.value, owner) if site.value is not None else None
        call = self._call(value) if isinstance(value, griffe.ExprCall) else None
        return ValueFacts(
            text=str(value) if value is not None and not site.opaque else None,
            path=_path_of(value) if isinstance(site.value, ast.Name | ast.Attribute) else None,
            call=call,
            annotation=str(annotation) if annotation is not None else None,
            annotation_path=path,
            class_variable=class_variable,
            bound=value is not None or site.opaque,
        )

    def _imported_from(self, statement: ast.ImportFrom, name: str) -> str:
        base = self._module.path.split(".")
        if statement.level:
            base = base[: len(base) - statement.level + (1 if self._is_package else 0)]
        else:
            base = []
        return ".".join(part for part in (*base, statement.module or "", name) if part)

    def _needs(self, guards: Iterable[scope.Guard]) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(path for guard in guards for s in scope.imports_in(guard) for path in self._paths(s))
        )

    def _paths(self, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        else:
            yield from (self._imported_from(statement, "" if a.name == "*" else a.name) for a in statement.names)

    def _required_imports(self) -> Iterator[str]:
        for statement, condition in scope.running(self._tree.body):
            if isinstance(statement, ast.Import | ast.ImportFrom) and condition.always:
                yield from self._paths(statement)

    def _tried_imports(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for statement, condition in scope.running(self._tree.body):
            if isinstance(statement, ast.Import | ast.ImportFrom) and condition.ordinary and condition.guards:
                needs = self._needs(condition.guards)
                yield from ((path, needs) for path in self._paths(statement))

    def _exported(self) -> tuple[str, ...] | None:
        exports = self._module.exports
        if exports is None or not self._exports_written or not all(isinstance(name, str) for name in exports):
            return None
        return tuple(dict.fromkeys((*map(str, exports), *further_exports(self._tree.body))))

    # -- functions -----------------------------------------------------------------------------------------------

    def _function(self, node: FunctionNode, owner: griffe.Module | griffe.Class) -> FunctionFacts:
        obj = self._objects.get(id(node))
        decorators = tuple(self._decorators(node.decorator_list, owner))
        if isinstance(obj, griffe.Function):
            optional = _optional(node.args)
            parameters = tuple(_parameter(p, p.name.lstrip("*") in optional) for p in obj.parameters)
            returns = obj.returns
        else:
            parameters = ()
            returns = griffe.safe_get_annotation(node.returns, parent=owner) if node.returns is not None else None
        keywords = keywords_of(node)
        position = 0 if owner is self._module else 1
        given = closures.given_function(node)
        return FunctionFacts(
            parameters=parameters,
            returns=str(returns) if returns is not None else None,
            returns_paths=() if isinstance(node, ast.AsyncFunctionDef) else _instances(returns),
            decorators=decorators,
            gives=lengths(node),
            only_keywords=keywords.only,
            refused_keywords=keywords.refused,
            refusals=refusals(node),
            flavour=flavour(node),
            warns=deprecation_warning(node),
            wrapper_keywords=keywords_taken(node) if self._may_wrap and owner is self._module else (),
            changes_arguments=changes_arguments(node),
            makes=self._made_inside(given[0], owner, node) if given is not None else None,
            applies=given is not None and given[1],
            gives_back=(back := closures.gives_back(node, position)),
            adds=self._added(node, position, owner) if back else (),
            sets_signature=self._may_show and closures.sets_signature(node),
        )

    def _made_inside(
        self, node: FunctionNode, owner: griffe.Module | griffe.Class, outer: FunctionNode
    ) -> FunctionFacts:
        """A function that is defined in another one, as far as its ``def`` says it."""
        decorators = tuple(self._decorators(node.decorator_list, owner))
        given = closures.given_function(node)
        return FunctionFacts(
            closures.parameters_of(node.args),
            decorators=decorators if not closures.shows_another(outer, node) else (_WRAPS, *decorators),
            makes=self._made_inside(given[0], owner, node) if given is not None else None,
            applies=given is not None and given[1],
            gives=lengths(node),
            flavour=flavour(node),
            changes_arguments=changes_arguments(node),
            gives_back=(back := closures.gives_back(node)),
            adds=self._added(node, 0, owner) if back else (),
        )

    def _added(
        self, node: FunctionNode, position: int, owner: griffe.Module | griffe.Class
    ) -> tuple[tuple[str, FunctionFacts | None], ...]:
        found = closures.given_attributes(node, position)
        return tuple((name, self._made_inside(each, owner, node) if each is not None else None) for name, each in found)

    def _decorators(self, nodes: list[ast.expr], owner: griffe.Module | griffe.Class) -> Iterator[DecoratorFacts]:
        for node in nodes:
            expression = self._expression(node, owner)
            if isinstance(expression, griffe.ExprCall):
                yield self._call(expression)
            else:
                yield DecoratorFacts(_path_of(expression) or "")

    def _call(self, expression: griffe.ExprCall) -> DecoratorFacts:
        return DecoratorFacts(_path_of(expression.function) or "", tuple(self._arguments(expression)), called=True)

    def _arguments(self, call: griffe.ExprCall) -> Iterator[CallArgument]:
        for argument in call.arguments:
            name, value = None, argument
            if isinstance(argument, griffe.ExprKeyword):
                name, value = argument.name, argument.value
            yield CallArgument(name, NamedExpression(str(value), _path_of(value)))

    def _expression(self, node: ast.expr, owner: griffe.Module | griffe.Class) -> griffe.Expr | str | None:
        return griffe.safe_get_expression(node, parent=owner, parse_strings=False)

    # -- classes -------------------------------------------------------------------------------------------------

    def _class(self, node: ast.ClassDef, owner: griffe.Module | griffe.Class) -> ClassFacts:
        obj = self._objects.get(id(node))
        inner = obj if isinstance(obj, griffe.Class) else owner
        metaclass, written = closures.class_head(node)
        attributes = instance_attributes(node)
        annotations = {
            name: str(griffe.safe_get_annotation(annotation, parent=inner)) if annotation is not None else None
            for name, annotation in attributes.names.items()
        }
        if owner is self._module:
            annotations = {**dict.fromkeys(sorted(self._given.get(node.name, ()))), **annotations}
        return ClassFacts(
            bases=tuple(self._base(base, owner) for base in written),
            metaclass=_path_of(self._expression(metaclass, owner)) or "?" if metaclass is not None else None,
            decorators=tuple(self._decorators(node.decorator_list, owner)),
            body=self._scope(node.body, inner),
            instance=annotations,
            dynamic=attributes.dynamic,
            stands_in=closures.stands_in(node),
            delegates=tuple(path for d in attributes.delegates for path in self._delegate(d, inner)),
        )

    def _delegate(self, delegate: Delegate, owner: griffe.Module | griffe.Class) -> tuple[str, ...]:
        if delegate.annotation is not None:
            return _instances(griffe.safe_get_annotation(delegate.annotation, parent=owner)) or ("?",)
        called = self._expression(delegate.called, owner) if delegate.called is not None else None
        return (_path_of(called) or "?",)

    def _base(self, node: ast.expr, owner: griffe.Module | griffe.Class) -> NamedExpression:
        expression = griffe.safe_get_base_class(node, parent=owner, member=None)
        named = expression.left if isinstance(expression, griffe.ExprSubscript) else expression
        call = self._call(expression) if isinstance(expression, griffe.ExprCall) else None
        return NamedExpression(str(expression), _path_of(named), call)


def _optional(arguments: ast.arguments) -> set[str]:
    """The parameters that have a default, whatever it is."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = len(arguments.defaults)
    found = {a.arg for a in positional[len(positional) - defaults :]} if defaults else set()
    return found | {a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}


def _parameter(parameter: griffe.Parameter, optional: bool) -> Parameter:
    return Parameter(
        name=parameter.name.lstrip("*"),
        kind=_KINDS[parameter.kind or griffe.ParameterKind.positional_or_keyword],
        # A default that cannot be written down is one all the same.
        default=(str(parameter.default) if parameter.default is not None else "...") if optional else None,
        annotation=None if parameter.annotation is None else str(parameter.annotation),
    )


def _path_of(expression: griffe.Expr | str | None) -> str | None:
    """The dotted path an expression names; None for all that is not a name."""
    if isinstance(expression, griffe.ExprName | griffe.ExprAttribute):
        try:
            return expression.canonical_path
        except griffe.AliasResolutionError:
            return None  # what it stands in is bound again, to something that is imported
    return None


def _instances(annotation: griffe.Expr | str | None) -> tuple[str, ...]:
    """The classes that an annotation promises an instance of; empty when it promises something else as well."""
    if annotation is None:
        return ()
    found = _promised(annotation)
    return tuple(dict.fromkeys(found)) if found else ()


def _promised(annotation: griffe.Expr | str) -> list[str] | None:
    if str(annotation) == "None":
        return []
    if isinstance(annotation, griffe.ExprBinOp) and annotation.operator == "|":
        return _all_promised([annotation.left, annotation.right])
    if isinstance(annotation, griffe.ExprSubscript):
        path = _path_of(annotation.left)
        inner = annotation.slice
        if path in _UNIONS:
            return _all_promised(inner.elements if isinstance(inner, griffe.ExprTuple) else [inner])
        if path == "typing.Annotated" and isinstance(inner, griffe.ExprTuple):
            return _promised(inner.elements[0])
        return [path] if path else None
    path = _path_of(annotation)
    return [path] if path else None


def _all_promised(parts: Iterable[griffe.Expr | str]) -> list[str] | None:
    found: list[str] = []
    for part in parts:
        promised = _promised(part)
        if promised is None:
            return None
        found.extend(promised)
    return found
