"""What a run says that the analysis must say too.

Enters: what a program did in each release. Leaves: facts: at this place, in these releases, this happened. An exception
of the program's own making, or one that only follows from a failed import (a name that stayed None), is no fact.

Where a fact is placed: a keyword that a function does not take belongs to the call expression in which it was first
written as an argument: with a wrapper that passes its keywords on, that is the wrapper's caller; with
``functools.partial``, the ``partial``. Everything else belongs to the line that raised.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

from tests.differential.programs import Event, Outcome, Place, Program, Run

KEYWORD = re.compile(r"got an unexpected keyword argument '(\w+)'|passed as keyword arguments?: '(\w+)(, \w+)*'")
ARGUMENTS = re.compile(
    r"multiple values for (keyword )?argument|missing \d+ required|positional arguments? but|missing a required|"
    r"too many positional|Can't instantiate abstract class"
)
NAME = re.compile(
    r"cannot import name '\w+' from '([\w.]+)'|No module named '([\w.]+)'|module '([\w.]+)' has no attribute"
)
MEMBER = re.compile(
    r"(type )?object '?(\w+)?'? ?has no attribute '(\w+)'|'(\w+)' object has no attribute '(\w+)'|\w+$"
    r"|does not have the attribute '|object at [\w.]+ has no attribute '|^<.*> has no attribute '"
)
CONSEQUENCE = re.compile(r"NoneType")


class UnclassifiedError(Exception):
    """A program raised something that the harness does not understand: a defect of the harness or the generator."""


@dataclass(frozen=True)
class Fact:
    """In one release: an exception of the library's making.

    `place` is where it has to be reported; other reports may stand on the lines of its `way`, since nothing more was
    seen of those, but not for the same `keyword`.
    `outcomes` are those it may have; `kind` is keyword, arguments, name or member. `always` says that it happened
    whenever the line ran, whatever the unknown conditions were.
    """

    place: Place
    way: frozenset[Place]
    outcomes: frozenset[str]
    kind: str
    text: str
    keyword: str | None = None
    always: bool = True


NAMES = (ast.Name, ast.Attribute)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """The text of a program's files, by position."""

    def __init__(self, program: Program) -> None:
        self.trees = {path: ast.parse(text) for path, text in program.files.items()}

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {
            child: node
            for tree in self.trees.values()
            for node in ast.walk(tree)
            for child in ast.iter_child_nodes(node)
        }

    def at(self, place: Place) -> Iterator[ast.AST]:
        """Expressions and statements that begin on a line."""
        for node in ast.walk(self.trees[place[0]]):
            if getattr(node, "lineno", None) == place[1]:
                yield node

    def calls(self, place: Place) -> list[ast.Call]:
        return [node for node in self.at(place) if isinstance(node, ast.Call)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def is_raise(self, place: Place) -> bool:
        return any(isinstance(node, ast.Raise) and node.exc is not None for node in self.at(place))

    def function(self, place: Place) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function that a line lies in."""
        inside = [
            node
            for node in ast.walk(self.trees[place[0]])
            if isinstance(node, FUNCTIONS) and node.lineno < place[1] <= (node.end_lineno or 0)
        ]
        return max(inside, key=lambda node: node.lineno, default=None)

    def outer(self, place: Place) -> str | None:
        """The top-level function or class that a line lies in."""
        for node in self.trees[place[0]].body:
            if node.lineno <= place[1] <= (node.end_lineno or 0):
                return node.name if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
        return None

    @cached_property
    def _mentions(self) -> dict[str, set[str]]:
        """For each top-level function or class, the names in it."""
        return {
            node.name: {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, NAMES)}
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, (*FUNCTIONS, ast.ClassDef))
        }

    def leads_to(self, place: Place) -> set[str]:
        """The names of functions and classes that the code round a line may come to use, its own included."""
        outer = self.outer(place)
        found: set[str] = set()
        fresh = {outer} if outer is not None else set()
        while fresh:
            name = fresh.pop()
            found.add(name)
            fresh |= self._mentions.get(name, set()) & self._mentions.keys() - found
        return found

    def tries(self, place: Place) -> list[ast.Try]:
        """The try statements in whose body a line lies, innermost first."""
        found = [
            node
            for node in ast.walk(self.trees[place[0]])
            if isinstance(node, ast.Try) and node.body[0].lineno <= place[1] <= (node.body[-1].end_lineno or 0)
        ]
        function = self.function(place)
        first = function.lineno if function is not None else 0
        return sorted((node for node in found if node.lineno >= first), key=lambda node: -node.lineno)

    def keyword_place(self, path: tuple[Place, ...], keyword: str) -> Place:
        """Where a keyword was first written as an argument, of the lines that an exception went through."""
        for place in path:
            calls = self.calls(place)
            if any(k.arg == keyword for call in calls for k in call.keywords):
                return place
            starred = [k.value for call in calls for k in call.keywords if k.arg is None]
            if not starred:
                return self._partial(place, keyword) or place
            if not any(self._passed_on(value, place, keyword) for value in starred):
                return place
        return path[-1]

    def _passed_on(self, value: ast.expr, place: Place, keyword: str) -> bool:
        """Whether ``**value`` is a function's own ``**kwargs``, and the keyword is not one it put there itself."""
        for node in [value, *self.above(value)]:
            if isinstance(node, (*FUNCTIONS, ast.Lambda)) and node.args.kwarg is not None:
                if isinstance(value, ast.Name) and value.id == node.args.kwarg.arg:
                    return not any(isinstance(n, ast.Constant) and n.value == keyword for n in ast.walk(node))
                return False
        return False

    def _partial(self, place: Place, keyword: str) -> Place | None:
        function = self.function(place)
        for scope in (function, self.trees[place[0]]):
            made = [
                node.lineno
                for node in (ast.walk(scope) if scope is not None else ())
                if _is_partial(node) and any(k.arg == keyword for k in node.keywords)
            ]
            if made:
                # Of several, the one that was made last before the call.
                return place[0], max((line for line in made if line <= place[1]), default=min(made))
        return None

    def partials(self, way: Iterable[Place]) -> frozenset[Place]:
        """Where partials are made that the code on the way of an exception may have called."""
        names = {name for place in way for name in self.leads_to(place)}
        return frozenset(
            (path, node.lineno)
            for path, tree in self.trees.items()
            for node in ast.walk(tree)
            if _is_partial(node) and self.outer((path, node.lineno)) in {None, *names}
        )


def _is_partial(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and "partial" in ast.unparse(node.func)


def facts(source: Source, outcome: Outcome, top: str) -> tuple[list[Fact], list[Run]]:
    """The facts of one release, and all its runs."""
    runs = [outcome.imported, *(run for runs in outcome.calls for run in runs)]
    found: dict[tuple[Place, str, str], Fact] = {}
    times: Counter[tuple[Place, str, str]] = Counter()
    for run in runs:
        here = set()
        for number, event in enumerate(run.events):
            kind = classify(event, source, top)
            if kind is None:
                continue
            escaped = _escaped(run, number, source, top)
            fact = _fact(event, kind, escaped, source)
            key = (fact.place, fact.kind, fact.text)
            known = found.get(key)
            outcomes = fact.outcomes | known.outcomes if known else fact.outcomes
            found[key] = replace(fact, outcomes=outcomes)
            here.add(key)
        times.update(here)
    for key, fact in found.items():
        ran = sum(fact.place in run.lines for run in runs)
        found[key] = replace(fact, always=times[key] >= ran)
    return list(found.values()), runs


def classify(event: Event, source: Source, top: str) -> str | None:
    """What kind of drift an exception is of; None when it is the program's own, or follows from another."""
    if source.is_raise(event.path[0]) or CONSEQUENCE.search(event.text):
        return None
    if event.type == "TypeError":
        if "no class takes" in event.text:
            return "arguments"
        if KEYWORD.search(event.text):
            return "keyword"
        if ARGUMENTS.search(event.text):
            return "arguments"
    elif event.type in ("ValueError", "IndexError"):
        return "result"
    elif match := NAME.search(event.text):
        module = next(group for group in match.groups() if group)
        return "name" if module.partition(".")[0] == top else None
    elif event.type == "AttributeError" and MEMBER.search(event.text):
        return "member"
    raise UnclassifiedError(f"{event.type}: {event.text} at {event.path}")


def _escaped(run: Run, number: int, source: Source, top: str) -> bool:
    """Whether it got out, as it was or as the cause of what a handler raised in its place."""
    for part in run.chain:
        if part == number:
            return True
        if part is not None and classify(run.events[part], source, top) is not None:
            return False
    # The program ends for want of what was taken before, if only in other words.
    return run.ended is not None


def _fact(event: Event, kind: str, escaped: bool, source: Source) -> Fact:
    place = event.path[0]
    way = frozenset(event.path)
    keyword = None
    if kind == "keyword":
        match = KEYWORD.search(event.text)
        assert match is not None
        keyword = match[1] or match[2]
        place = source.keyword_place(event.path, keyword)
    if kind in ("keyword", "arguments"):
        # What a partial holds fits or does not fit as much as what it is called with.
        way |= source.partials(way)
    outcomes = frozenset({"raises"}) if escaped else _handled(event, source)
    return Fact(place, way, outcomes, kind, event.text, keyword)


BROAD = frozenset({"Exception", "BaseException"})


CHECKS = frozenset(
    {
        "hasattr",
        "getattr",
        "callable",
        "signature",
        "getfullargspec",
        "import_module",
        "find_spec",
        "version",
        "_version_of",
    }
    | {"Version", "parse", "SpecifierSet", "contains", "split", "tuple", "int", "bool", "all", "any", "range"}
)
"""Calls that only look at what is there: a broad handler round nothing else may be meant for just that."""


def _handled(event: Event, source: Source) -> frozenset[str]:
    """What a handler that took the exception may be held to be: meant for it, or for something else."""
    either = frozenset({"silent", "guarded"})
    at = event.path[-1]
    after = set(event.after)
    for attempt in source.tries(at):
        for handler in attempt.handlers:
            if (at[0], handler.body[0].lineno) not in after:
                continue
            raises = [n for s in handler.body for n in ast.walk(s) if isinstance(n, ast.Raise)]
            raised = [n for n in raises if (at[0], n.lineno) in after]
            if raised and all(n.exc is None for n in raised):
                break  # it lets it go on, which Python does not tell as a new event
            if raised:
                return either  # another one in its place, which somebody else took
            names = _handler_names(handler)
            narrow = bool(names) and not names & BROAD
            if narrow:
                other = any(isinstance(n, ast.Call) for s in handler.body for n in ast.walk(s))
                return frozenset({"guarded"}) if event.type != "TypeError" or other else either
            calls = {
                ast.unparse(n.func).rpartition(".")[2]
                for s in attempt.body
                for n in ast.walk(s)
                if isinstance(n, ast.Call)
            }
            yields = any(isinstance(n, ast.Yield) for s in attempt.body for n in ast.walk(s))
            if yields:
                return frozenset({"silent"})  # whatever the block of a ``with`` does
            if not calls:
                return frozenset({"guarded"})
            return either if calls <= CHECKS else frozenset({"silent"})
    return either


def _handler_names(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return set()
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(part) for part in parts}


def hidden(place: Place, source: Source, runs: list[Run]) -> bool:
    """Whether a line did not run, and may not have because a failure of the library's making came before it.

    What an analysis says of code behind a failure is not judged: it may go on to say what is wrong there as well.
    """
    if any(place in run.lines for run in runs):
        return False
    outer, function = source.outer(place), source.function(place)
    around = source.tries(place)
    if _failed(runs[0], source):
        return True  # the module itself could not be imported
    for run in runs:
        if _failed(run, source) and (outer is None or any(outer in source.leads_to(line) for line in run.lines)):
            return True
        lines = {line for event in run.events for line in event.path}
        if any(line[0] == place[0] and any(t in around for t in source.tries(line)) for line in lines):
            return True
        if function is not None and any(source.function(line) is function for line in lines):
            return True
    return False


def _failed(run: Run, source: Source) -> bool:
    """Whether a run ended by an exception that is not just a test of the program's own."""
    if run.ended is None:
        return False
    if run.ended.startswith(("NameError", "UnboundLocalError")):
        return True  # a name that a failed import did not bind
    return any(part is not None and not source.is_raise(run.events[part].path[0]) for part in run.chain)


def truth(program: Program, outcomes: Mapping[str, Outcome], top: str) -> dict[str, tuple[list[Fact], list[Run]]]:
    """The facts and the runs of each release; releases that went the same way share one computation."""
    source = Source(program)
    known: dict[int, tuple[list[Fact], list[Run]]] = {}
    for outcome in outcomes.values():
        if id(outcome) not in known:
            known[id(outcome)] = facts(source, outcome, top)
    return {release: known[id(outcome)] for release, outcome in outcomes.items()}
