"""Where an exception goes: the handlers round a program point, and which of them takes it.

The exceptions followed are those that a drift raises: ImportError for an import, AttributeError for a name, TypeError
for a call, and what the code base raises itself. Which handler takes one is Python's own rule over exception classes;
what becomes of it then, `faults` tells. What is read here from a handler's body is only what it is there for, and
whether a caller need be looked at at all.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from driftwatch.flow.domain.state import State, join_states
from driftwatch.flow.domain.values import Raised
from driftwatch.flow.syntax.children import walk
from driftwatch.flow.syntax.syntax import Tree, dotted_name, statements
from driftwatch.flow.uses import UNCAUGHT, Catch, Outcome
from driftwatch.snapshot.model.adapted import ANCESTORS, REFUSED, UNAVAILABLE

if TYPE_CHECKING:
    from driftwatch.flow.domain.faults import Flying

BROAD = frozenset({"Exception", "BaseException"})
IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
FOREIGN = "driftwatch.foreign"
"""Stands for an exception of which only the base class Exception is known."""

OF_ADAPTERS = frozenset({REFUSED, UNAVAILABLE})
"""What a generated adapter raises of its own."""

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
    entries: list[tuple[Raised, State]] = field(default_factory=list)
    """What it has taken, and the states in which that was thrown."""
    _raised: dict[str, str | None] = field(default_factory=dict)

    def raises(self, exception: str) -> str | None:
        """What it raises on every way through it when it has taken this exception."""
        if exception not in self._raised:
            self._raised[exception] = raised_by(self.body, exception, self.name)
        return self._raised[exception]

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.types is None else self.types

    def catch(self, outcome: Outcome) -> Catch:
        """What becomes of an exception that ends here."""
        return Catch(outcome, self.tree.path, self.tree.line(self.node), self.names)


@dataclass(frozen=True, slots=True)
class Flight:
    """An exception on its way, in a state, with the faults that it is or was raised in the place of."""

    raised: Raised
    state: State
    faults: Flying
    place: object


@dataclass(eq=False)
class Try:
    """A ``try`` that is being executed. `maybe` is the state in which something unknown may have been raised."""

    handlers: list[Handler]
    body: Sequence[cst.CSTNode]
    swallows: bool = False
    """A ``finally`` that returns takes whatever comes."""
    final: Sequence[cst.CSTNode] = ()
    """What its ``finally`` does."""
    stops: list[Flight] | None = None
    """Whatever is thrown comes here first, to go on when a ``finally`` or the exit of a manager is through; None where
    nothing of the kind is in its way."""
    manages: bool = False
    """It stands for a ``with``: only the manager's exit says what it takes."""
    tries_others: bool = False
    """What it does is another thing in each turn of the loop that it stands in."""
    around: tuple[Try, ...] = ()
    """What is round the ``yield`` of a generator whose manager it stands for."""
    maybe: dict[str, State] = field(default_factory=dict)
    _latest: dict[str, State] = field(default_factory=dict)
    """The last state of each kind that went into `maybe`: most calls change nothing."""
    _checks_only: bool | None = None

    def may_raise(self, kind: str, state: State) -> None:
        """Something runs here that may raise: `ANYTHING`, `FOREIGN` or an exception of this name."""
        latest = self._latest.get(kind)
        if latest is not None and latest.covers(state):
            return
        self._latest[kind] = state.fork()
        known = self.maybe.get(kind)
        joined = join_states(known, state, latest) if known is not None and known.reach else state.fork()
        if joined is not None:
            self.maybe[kind] = joined

    def holds(self, body: Sequence[cst.CSTNode]) -> None:
        """What is executed where a generator yields is executed in here."""
        self.body, self._checks_only = (*self.body, *body), None

    def takes_all(self, kind: str) -> bool:
        """Whether nothing of this kind gets out."""
        return self.swallows or self.manages or any(is_broad(handler) for handler in self.handlers)

    @property
    def checks_only(self) -> bool:
        """Whether the body holds nothing but imports and tests of what they brought."""
        if self._checks_only is None:
            self._checks_only = all(_only_checks(s) for s in statements(self.body))
        return self._checks_only


@cache
def raised_of(name: str, text: str | None = None) -> Raised:
    """An exception by the name of its class; of one that is not Python's own, only that it is an Exception is known."""
    cls = getattr(builtins, name, None)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        return Raised(tuple(each.__name__ for each in cls.__mro__[:-1]), text)
    if name in OF_ADAPTERS:
        return Raised((name, *ANCESTORS, "Exception", "BaseException"), text)
    return Raised((name, "Exception", "BaseException"), text, exact=False)


def catches(handler: Handler, exception: str | Raised) -> bool | None:
    """Whether a clause takes an exception; None when its types are not known."""
    if handler.types is None:
        return True
    if not handler.types:
        return None
    return is_one_of(raised_of(exception) if isinstance(exception, str) else exception, handler.types) is True


def is_one_of(raised: Raised, types: Sequence[str]) -> bool | None:
    """Whether an exception is of one of these classes; None when nobody can tell."""
    names = [name.rpartition(".")[2] for name in raised.names]
    if any(name.rpartition(".")[2] in names for name in types):
        return True
    return False if raised.exact else None


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
            return handler.catch(Outcome.GUARDED if meant_for(original, handler, attempt) else Outcome.SILENT)
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
            arms = _arms(statement)
            if isinstance(arms[-1], cst.Else):
                raised = [raised_by(arm.body.body, caught, bound) for arm in arms]
                if None not in raised:
                    return raised[0]
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
    return any(
        _leaves(each) if isinstance(each, cst.If) else isinstance(each, (cst.Return, cst.Continue, cst.Break))
        for arm in _arms(statement)
        for each in statements(arm.body)
    )


def _arms(statement: cst.If) -> list[cst.If | cst.Else]:
    """An ``if`` with each ``elif`` after it, and the ``else``."""
    arms: list[cst.If | cst.Else] = []
    rest: cst.If | cst.Else | None = statement
    while rest is not None:
        arms.append(rest)
        rest = rest.orelse if isinstance(rest, cst.If) else None
    return arms


def tells(attempt: Try) -> bool:
    """Whether a ``try`` is there to find out whether the library is there, for whoever reads what comes of it."""
    return any(isinstance(each, (cst.Import, cst.ImportFrom)) for each in statements(attempt.body))


def meant_for(exception: str, handler: Handler, attempt: Try) -> bool:
    """Whether a handler is there for this very thing."""
    if handler.expects:
        return True
    narrow = bool(handler.types) and not any(n.rpartition(".")[2] in BROAD for n in handler.types or ())
    if exception in OF_ADAPTERS and any(_last(n) in (*ANCESTORS[:1], _last(exception)) for n in handler.types or ()):
        return True
    if exception == "TypeError" or exception in OF_ADAPTERS:
        return narrow and (_has_other_call(handler.body) or _sets_flag(handler.body) or _goes_on(handler, attempt))
    return narrow or attempt.checks_only


def _goes_on(handler: Handler, attempt: Try) -> bool:
    """Whether the next turn of a loop tries another thing: ``for options in several: try ... except TypeError``."""
    leaves = (cst.Return, cst.Raise, cst.Break)
    return attempt.tries_others and not any(isinstance(each, leaves) for each in statements(handler.body))


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


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
    if isinstance(statement, _PLAIN):
        return True
    if isinstance(statement, (cst.Return, cst.Raise)):
        return not any(_is_use(n) for n in walk(statement))
    if isinstance(statement, (cst.Assign, cst.AnnAssign, cst.Expr, cst.Assert, cst.Del, cst.AugAssign)):
        return not any(_is_use(n) for n in walk(statement))
    if isinstance(statement, cst.If):
        arms = _arms(statement)
        if any(_is_use(n) for arm in arms if isinstance(arm, cst.If) for n in walk(arm.test)):
            return False
        return all(_only_checks(s) for arm in arms for s in statements(arm.body))
    if isinstance(statement, cst.With) and any("patch" in (_called(i.item) or "").split(".") for i in statement.items):
        return False
    if isinstance(statement, cst.While) and any(_is_use(n) for n in walk(statement.test)):
        return False
    if isinstance(statement, (cst.For, cst.With, cst.While)):
        return all(_only_checks(s) for s in statements(statement.body))
    if isinstance(statement, (cst.Try, cst.TryStar)):
        return all(_only_checks(s) for s in statements(statement.body))
    return False


_PLAIN = (
    cst.Import, cst.ImportFrom, cst.Pass, cst.FunctionDef, cst.ClassDef, cst.Global, cst.Nonlocal, cst.Break,
    cst.Continue,
)  # fmt: skip


def _called(node: cst.CSTNode) -> str | None:
    return dotted_name(node.func) if isinstance(node, cst.Call) else None


def _is_use(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Call):
        return False
    last = node.func.attr.value if isinstance(node.func, cst.Attribute) else None
    last = node.func.value if isinstance(node.func, cst.Name) else last
    return last is None or (last not in CHECK_CALLS and last not in QUIET_CALLS)
