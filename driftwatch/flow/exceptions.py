"""Where an exception goes: the handlers round a program point, and what each of them does with it.

The exceptions followed are those that a drift raises: ImportError for an import, AttributeError for a name, TypeError
for a call. Which handler takes one is Python's own rule over the builtin exception classes; what the handler then does
is read from its body.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from driftwatch.flow.children import walk
from driftwatch.flow.state import State, join_states
from driftwatch.flow.syntax import Tree, dotted_name, statements
from driftwatch.flow.uses import UNCAUGHT, Catch, Outcome

BROAD = frozenset({"Exception", "BaseException"})
IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
FOREIGN = "driftwatch.foreign"
"""Stands for an exception of which only the base class Exception is known."""

ANYTHING = "driftwatch.anything"
"""Stands for whatever a call of which nothing is known may raise, but for the errors of an import."""

QUIET_CALLS = frozenset(
    {
        "getLogger", "print", "warn", "warning", "warning_once", "info", "info_once", "debug", "debug_once", "error",
        "exception", "critical", "log", "str", "repr", "type", "format", "append", "print_exc", "format_exc",
    }
)  # fmt: skip
"""Calls that only say that something happened."""

CHECK_CALLS = frozenset(
    {
        "hasattr", "getattr", "callable", "isinstance", "issubclass", "signature", "getfullargspec", "find_spec",
        "version", "Version", "parse", "import_module", "bool", "all", "any", "set", "tuple", "int", "len", "frozenset",
    }
)  # fmt: skip
"""Calls that look at what an import brought without using it."""


@dataclass(eq=False)
class Handler:
    """One ``except`` clause, or what stands for one (``contextlib.suppress``, ``pytest.raises``).

    `types` are exception names; None is a bare clause; an empty tuple is a clause whose types are not known.
    `expects` says that the exception is what the code is there to see.
    """

    tree: Tree
    node: cst.CSTNode
    types: tuple[str, ...] | None
    body: Sequence[cst.CSTNode]
    expects: bool = False
    name: str | None = None
    entries: list[State] = field(default_factory=list)
    _raised: dict[str, str | None] = field(default_factory=dict)

    def raises(self, exception: str) -> str | None:
        """What it raises on every way through it when it has taken this exception."""
        if exception not in self._raised:
            self._raised[exception] = raised_by(self.body, exception, self.name)
        return self._raised[exception]

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.types is None else self.types


@dataclass(eq=False)
class Try:
    """A ``try`` that is being executed. `maybe` is the state in which something unknown may have been raised."""

    handlers: list[Handler]
    body: Sequence[cst.CSTNode]
    swallows: bool = False
    """A ``finally`` that returns takes whatever comes."""
    final: Sequence[cst.CSTNode] = ()
    """What its ``finally`` does."""
    maybe: dict[str, State] = field(default_factory=dict)
    _checks_only: bool | None = None

    def may_raise(self, kind: str, state: State) -> None:
        """Something runs here that may raise: `ANYTHING`, `FOREIGN` or an exception of this name."""
        known = self.maybe.get(kind)
        joined = join_states(known, state) if known is not None and known.reach else state.fork()
        if joined is not None:
            self.maybe[kind] = joined

    def takes_all(self, kind: str) -> bool:
        """Whether nothing of this kind gets out."""
        return self.swallows or any(is_broad(handler) for handler in self.handlers)

    @property
    def checks_only(self) -> bool:
        """Whether the body holds nothing but imports and tests of what they brought."""
        if self._checks_only is None:
            self._checks_only = all(_only_checks(s) for s in statements(self.body))
        return self._checks_only


def catches(handler: Handler, exception: str) -> bool | None:
    """Whether a clause takes an exception of this name; None when its types are not known."""
    if handler.types is None:
        return True
    if not handler.types:
        return None
    raised = getattr(builtins, exception, None)
    for name in handler.types:
        short = name.rpartition(".")[2]
        if short == exception or short in BROAD:
            return True
        caught = getattr(builtins, short, None)
        if isinstance(caught, type) and isinstance(raised, type) and issubclass(raised, caught):
            return True
    return False


def is_broad(handler: Handler) -> bool:
    """Whether a clause takes whatever an ordinary call may raise."""
    return handler.types is None or any(name.rpartition(".")[2] in BROAD for name in handler.types)


def may_take(handler: Handler, kind: str) -> bool:
    """Whether a clause may be entered because something may have raised an exception of this kind."""
    if not handler.types:
        return True
    if kind == ANYTHING:
        return any(name.rpartition(".")[2] not in IMPORT_ERRORS for name in handler.types)
    return catches(handler, kind) is not False


def judge(exception: str, tries: Sequence[Try]) -> Catch:
    """What becomes of an exception raised within these ``try`` statements, outermost first."""
    original = exception
    for depth in range(len(tries) - 1, -1, -1):
        attempt = tries[depth]
        for handler in attempt.handlers:
            if not catches(handler, exception):
                continue
            again = handler.raises(exception) or raised_by(attempt.final, exception)
            if again is not None:
                exception = again
                break
            outcome = Outcome.GUARDED if _meant_for(original, handler, attempt) else Outcome.SILENT
            return Catch(outcome, handler.tree.path, handler.tree.line(handler.node), handler.names)
        else:
            if attempt.swallows:
                return Catch(Outcome.SILENT)
    return UNCAUGHT


def raised_by(body: Sequence[cst.CSTNode], caught: str, bound: str | None = None) -> str | None:
    """The exception that a block raises on every way through it; None when there is a way that raises none.

    `caught` is the one being handled, and `bound` the variable that holds it.
    """
    for statement in statements(body):
        if isinstance(statement, cst.Raise):
            if statement.exc is None:
                return caught
            target = statement.exc.func if isinstance(statement.exc, cst.Call) else statement.exc
            name = dotted_name(target)
            short = (name or "").rpartition(".")[2]
            if bound is not None and (name or "").partition(".")[0] == bound:
                return caught
            return short if isinstance(getattr(builtins, short, None), type) else FOREIGN
        if isinstance(statement, cst.If):
            first = raised_by(statement.body.body, caught, bound)
            rest = statement.orelse
            if first is not None and rest is not None:
                inner = [rest] if isinstance(rest, cst.If) else rest.body.body
                if raised_by(inner, caught, bound) is not None:
                    return first
            if _leaves(statement):
                return None
        if isinstance(statement, (cst.Return, cst.Continue, cst.Break)):
            return None
        if isinstance(statement, (cst.Try, cst.TryStar)) and statement.finalbody is not None:
            last = raised_by(statement.finalbody.body.body, caught, bound)
            if last is not None:
                return last
        if isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
            name = dotted_name(statement.value.func) or ""
            if name in ("sys.exit", "exit", "quit", "os._exit"):
                return "SystemExit"
            if name == "pytest.fail":
                return FOREIGN
    return None


def _leaves(statement: cst.If) -> bool:
    """Whether a branch of an ``if`` ends what it stands in, without raising anything."""
    rest = statement.orelse
    inner = () if rest is None else (rest,) if isinstance(rest, cst.If) else tuple(statements(rest.body))
    return any(
        _leaves(each) if isinstance(each, cst.If) else isinstance(each, (cst.Return, cst.Continue, cst.Break))
        for each in (*statements(statement.body), *inner)
    )


def _meant_for(exception: str, handler: Handler, attempt: Try) -> bool:
    if handler.expects:
        return True
    narrow = bool(handler.types) and not any(n.rpartition(".")[2] in BROAD for n in handler.types or ())
    if exception == "TypeError":
        return narrow and (_has_other_call(handler.body) or _sets_flag(handler.body))
    return narrow or attempt.checks_only


def _sets_flag(body: Sequence[cst.CSTNode]) -> bool:
    """Whether the block keeps in mind, as a truth value, that it did not work."""
    return any(
        isinstance(statement, cst.Assign)
        and isinstance(statement.value, cst.Name)
        and statement.value.value in ("True", "False")
        for statement in statements(body)
    )


def _has_other_call(body: Sequence[cst.CSTNode]) -> bool:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, cst.Call):
                last = node.func.attr.value if isinstance(node.func, cst.Attribute) else None
                last = node.func.value if isinstance(node.func, cst.Name) else last
                if last is None or last not in QUIET_CALLS:
                    return True
    return False


def _only_checks(statement: cst.CSTNode) -> bool:
    if isinstance(statement, (cst.Import, cst.ImportFrom, cst.Pass, cst.FunctionDef, cst.ClassDef, cst.Global)):
        return True
    if isinstance(statement, (cst.Return, cst.Raise)):
        return not any(_is_use(n) for n in walk(statement))
    if isinstance(statement, (cst.Assign, cst.AnnAssign, cst.Expr, cst.Assert, cst.Del, cst.AugAssign)):
        return not any(_is_use(n) for n in walk(statement))
    if isinstance(statement, cst.If):
        if any(_is_use(n) for n in walk(statement.test)):
            return False
        rest = statement.orelse
        inner = () if rest is None else (rest,) if isinstance(rest, cst.If) else tuple(statements(rest.body))
        return all(_only_checks(s) for s in (*statements(statement.body), *inner))
    if isinstance(statement, cst.With) and any("patch" in (_called(i.item) or "").split(".") for i in statement.items):
        return False
    if isinstance(statement, (cst.For, cst.With)):
        return all(_only_checks(s) for s in statements(statement.body))
    if isinstance(statement, (cst.Try, cst.TryStar)):
        return all(_only_checks(s) for s in statements(statement.body))
    return False


def _called(node: cst.CSTNode) -> str | None:
    return dotted_name(node.func) if isinstance(node, cst.Call) else None


def _is_use(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Call):
        return False
    last = node.func.attr.value if isinstance(node.func, cst.Attribute) else None
    last = node.func.value if isinstance(node.func, cst.Name) else last
    return last is None or (last not in CHECK_CALLS and last not in QUIET_CALLS)
