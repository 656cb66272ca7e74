"""Which GPUs, sizes and dtypes the functions of a release accept, read from decorators, checks and lists of kernels.

Enters: a source tree, the snapshot made of it, and the words in which the library says such things. Leaves: facts of
its public functions and constructors. A function is followed into those of the library that it calls. What is reached
through a condition, a loop or a handler, or behind a return, may be reached and need not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from driftwatch.snapshot.collect.bodies import FunctionNode
from driftwatch.snapshot.collect.raising import EXCEPTIONS, LONGEST
from driftwatch.snapshot.model.gpu_facts import GpuFact, GpuWords, KernelList, Said
from driftwatch.snapshot.model.symbols import Ref, Snapshot, SymbolKind
from driftwatch.snapshot.sources.tree import SourceTree

DEEPEST = 8
"""How many calls away from a public function a fact may stand."""

Place = tuple[str, str]
"""A function by module and qualname."""


def gpu_facts(tree: SourceTree, snapshot: Snapshot, module: str, words: GpuWords) -> tuple[GpuFact, ...]:
    """All facts of the public functions and classes under `module`, in order.

    What is said surely is not said as a perhaps as well.
    """
    if not words:
        return ()
    reading = _Reading(_Sources(tree, module.partition(".")[0]), words)
    found: set[GpuFact] = set()
    for ref, symbol in snapshot.symbols.items():
        if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.CLASS) or symbol.definition is not None:
            continue
        if not _is_public(ref, module):
            continue
        place = (ref.module, f"{ref.qualname}.__init__" if symbol.kind is SymbolKind.CLASS else ref.qualname)
        own = {each for signature in symbol.possible if signature for each in signature.refusals}
        for fact in reading.of(place):
            if fact.values not in own:  # what it checks itself stands in its signature
                found.add(replace(fact, symbol=str(ref)))
    for each in words.lists:
        found |= set(_listed(tree, snapshot, each))
    return tuple(sorted(fact for fact in found if not fact.perhaps or replace(fact, perhaps=False) not in found))


def _is_public(ref: Ref, module: str) -> bool:
    inside = ref.module == module or ref.module.startswith(module + ".")
    return inside and not any(part.startswith("_") for part in ref.dotted.split("."))


def _listed(tree: SourceTree, snapshot: Snapshot, listed: KernelList) -> Iterator[GpuFact]:
    """What stands in a release's sources of a kernel that it is written for."""
    path = next((path for path in listed.files if tree.read(path) is not None), None)
    text = (tree.read(path) or b"").decode("utf-8", "replace") if path is not None else ""
    if listed.begins:
        begun = re.search(listed.begins, text)
        text = text[begun.end() :] if begun is not None else ""
    if listed.ends:
        ended = re.search(listed.ends, text)
        text = text[: ended.start()] if ended is not None else text
    values = sorted(
        set(re.findall(listed.pattern, text)), key=lambda each: (int(each) if each.isdecimal() else 0, each)
    )
    for symbol in listed.symbols if values else ():
        if Ref.parse(symbol) in snapshot.symbols:
            yield GpuFact(symbol, listed.says, tuple(values), (path or "").rpartition("/")[2])


@dataclass
class _Module:
    """A file at a glance: functions by qualname, and where names come from, as ``(module, name)``."""

    functions: dict[str, FunctionNode] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)


class _Sources:
    """The modules of a release that are asked for."""

    def __init__(self, tree: SourceTree, top: str) -> None:
        self._tree = tree
        self._top = top
        self._known: dict[str, _Module | None] = {}

    def module(self, name: str) -> _Module | None:
        if name.partition(".")[0] != self._top:
            return None
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def find(self, module: str, name: str, depth: int = 0) -> Place | None:
        """The function behind a name of a module, through re-exports; a class stands for its constructor."""
        found = self.module(module)
        if found is None or depth > DEEPEST:
            return None
        for qualname in (name, f"{name}.__init__"):
            if qualname in found.functions:
                return module, qualname
        if name in found.imports:
            return self.find(*found.imports[name], depth + 1)
        return None

    def _read(self, name: str) -> _Module | None:
        path = name.replace(".", "/")
        for package, candidate in ((False, f"{path}.py"), (True, f"{path}/__init__.py")):
            data = self._tree.read(candidate)
            if data is None:
                continue
            try:
                return _at_a_glance(ast.parse(data), name, package=package)
            except (SyntaxError, ValueError, RecursionError):
                return None
        return None


def _at_a_glance(tree: ast.Module, name: str, *, package: bool) -> _Module:
    found = _Module()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = name.split(".")
            base = parts[: len(parts) - node.level + package] if node.level else []
            source = ".".join([*base, *((node.module or "").split(".") if node.module else [])])
            for each in node.names:
                found.imports.setdefault(each.asname or each.name, (source, each.name))
    for statement in tree.body:
        _define(found, statement, "")
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found.constants[statement.targets[0].id] = statement.value
    return found


def _define(found: _Module, statement: ast.stmt, prefix: str) -> None:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        found.functions[f"{prefix}{statement.name}"] = statement
    elif isinstance(statement, ast.ClassDef):
        for inner in statement.body:
            _define(found, inner, f"{prefix}{statement.name}.")


class _Reading:
    """Facts by function, each found once."""

    def __init__(self, sources: _Sources, words: GpuWords) -> None:
        self._sources = sources
        self._words = words
        self._known: dict[Place, frozenset[GpuFact]] = {}

    def of(self, place: Place, depth: int = 0) -> frozenset[GpuFact]:
        if place in self._known:
            return self._known[place]
        self._known[place] = frozenset()  # one that calls itself says nothing new
        node = self._node(place)
        if node is None or depth > DEEPEST:
            return frozenset()
        found = set(self._decorated(node, place))
        for call, sure in _calls(node):
            found |= {replace(fact, perhaps=fact.perhaps or not sure) for fact in self._called(call, place, depth)}
        found |= set(self._refused(node, place))
        self._known[place] = frozenset(found)
        return self._known[place]

    def _decorated(self, node: FunctionNode, place: Place) -> Iterator[GpuFact]:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _name(decorator.func) in self._words.decorators and decorator.args:
                numbers = self._numbers(decorator.args[0], place)
                if numbers:
                    values = tuple(f"{number // 10}.{number % 10}" for number in numbers)
                    yield GpuFact("", Said.CAPABILITIES, values, ":".join(place))

    def _called(self, call: ast.Call, place: Place, depth: int) -> frozenset[GpuFact]:
        found: set[GpuFact] = set()
        for keyword in call.keywords:
            numbers = self._numbers(keyword.value, place) if keyword.arg in self._words.keywords else ()
            if numbers:
                found.add(GpuFact("", Said.MAJORS, tuple(map(str, numbers)), ":".join(place)))
        target = self._target(call.func, place)
        if target is not None:
            handed = self._handed(call, place, target)
            for fact in self.of(target, depth + 1):
                # What a callee checks is about a caller's parameter where it gets that very one, under its name.
                if fact.said is not Said.REFUSES or _names(fact.values[0]) <= handed:
                    found.add(fact)
        return frozenset(found)

    def _handed(self, call: ast.Call, place: Place, target: Place) -> set[str]:
        """The parameters of a function that a call hands on under the same names."""
        own, callee = (self._node(each) for each in (place, target))
        if own is None or callee is None:
            return set()
        taken = [each.arg for each in (*callee.args.posonlyargs, *callee.args.args)]
        if target[1].rpartition(".")[2] == "__init__" or taken[:1] == ["self"]:
            taken = taken[1:]
        given = [*zip(taken, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
        stored = {n.id for n in ast.walk(own) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return {name for name, value in given if name and isinstance(value, ast.Name) and value.id == name} & (
            _parameters(own) - stored
        )

    def _node(self, place: Place) -> FunctionNode | None:
        module = self._sources.module(place[0])
        return module.functions.get(place[1]) if module is not None else None

    def _target(self, called: ast.expr, place: Place) -> Place | None:
        if isinstance(called, ast.Name):
            return self._sources.find(place[0], called.id)
        if not (isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)):
            return None
        owner, module = called.value.id, self._sources.module(place[0])
        if owner in ("self", "cls"):
            beside = f"{place[1].rpartition('.')[0]}.{called.attr}"
            return (place[0], beside) if module is not None and beside in module.functions else None
        if module is not None and owner in module.imports:
            source, name = module.imports[owner]
            return self._sources.find(f"{source}.{name}", called.attr)
        return self._sources.find(place[0], f"{owner}.{called.attr}")

    def _refused(self, node: FunctionNode, place: Place) -> Iterator[GpuFact]:
        """What it raises for, before it does anything else, over the parameters that are asked about."""
        asked = _parameters(node) & set(self._words.parameters)
        for statement in node.body:
            if isinstance(statement, ast.If) and not statement.orelse:
                exception = _raised(statement.body)
                text = ast.unparse(statement.test)
                if exception and len(text) <= LONGEST and _is_over(statement.test, asked):
                    yield GpuFact("", Said.REFUSES, (text, exception), ":".join(place))
            if any(isinstance(inner, ast.Return) for inner in ast.walk(statement)):
                return
            asked -= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}

    def _numbers(self, node: ast.expr, place: Place) -> tuple[int, ...]:
        """A list of numbers, written there or in a constant of the module."""
        module = self._sources.module(place[0])
        if isinstance(node, ast.Call) and _name(node.func) in ("list", "tuple") and len(node.args) == 1:
            node = node.args[0]
        if isinstance(node, ast.Name) and module is not None:
            node = module.constants.get(node.id, node)
        if not isinstance(node, ast.List | ast.Tuple | ast.Set):
            return ()
        numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
        whole = [number for number in numbers if type(number) is int]
        return tuple(sorted(whole)) if len(whole) == len(node.elts) else ()


def _calls(node: FunctionNode) -> Iterator[tuple[ast.Call, bool]]:
    """The calls of a function's own body, each with whether it is made whenever the function is."""
    sure = True
    for statement in node.body:
        yield from _within(statement, sure)
        if any(isinstance(inner, ast.Return) for inner in _own(statement)):
            sure = False


_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PERHAPS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
_PERHAPS_IN = (ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _within(node: ast.AST, sure: bool) -> Iterator[tuple[ast.Call, bool]]:
    if isinstance(node, _APART):
        return
    if isinstance(node, ast.Call):
        yield node, sure
    if isinstance(node, ast.If | ast.While):
        yield from _within(node.test, sure)
        for branch in (*node.body, *node.orelse):
            yield from _within(branch, False)
        return
    inner = sure and not isinstance(node, (*_PERHAPS, *_PERHAPS_IN))
    for child in ast.iter_child_nodes(node):
        yield from _within(child, inner)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, but for functions and classes in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _APART):
            yield from _own(child)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _raised(body: list[ast.stmt]) -> str | None:
    raised = body[0].exc if len(body) == 1 and isinstance(body[0], ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return raised.id if isinstance(raised, ast.Name) and raised.id in EXCEPTIONS else None


def _parameters(node: FunctionNode) -> set[str]:
    return {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}


def _names(condition: str) -> set[str]:
    """The parameters in a condition that was found to be over them and dotted constants alone."""
    test = ast.parse(condition, mode="eval").body
    return {n.id for n in ast.walk(test) if isinstance(n, ast.Name) and not _is_prefix(test, n)}


def _is_over(test: ast.expr, parameters: set[str]) -> bool:
    """Whether a condition is over these parameters and constants alone, dotted ones such as ``torch.float16`` among
    them."""
    seen = False
    for node in ast.walk(test):
        if isinstance(node, ast.Call | ast.Subscript | ast.Lambda | ast.Await | ast.Starred):
            return False
        if isinstance(node, ast.Name):
            if _is_prefix(test, node):
                if node.id in parameters or node.id == "self" or node.id.startswith("_"):
                    return False  # an attribute of what is passed is no constant
            elif node.id in parameters:
                seen = True
            else:
                return False
    return seen


def _is_prefix(test: ast.expr, name: ast.Name) -> bool:
    """Whether a name is the beginning of a dotted one."""
    return any(isinstance(node, ast.Attribute) and node.value is name for node in ast.walk(test))
