"""Wrappers: functions with the reference's parameters that call an installed one which takes others.

Enters: a callable, its shape, its default objects where it tells them, and a `Settler`. Leaves: a function made once.
It passes on nothing that the shape lacks, and no value that neither the caller nor the callable's own signature gave.
Most are compiled, from parameter names alone, so that a call builds no dict. Open shapes, and names that need not mean
the same in source, get the wrapper that is not.
"""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from driftwatch.adapter.rules import DROP, Rule
from driftwatch.adapter.settler import OMITTED, Record, Settler
from driftwatch.adapter.signatures import EITHER, KEYWORD_ONLY, POSITIONAL_ONLY, Shape

_MOST_SETS = 8
"""How many sets of arguments a wrapper learns; engines have one for each place where they call."""


def wrap(
    record: Record, target: Callable[..., Any], shape: Shape, defaults: Mapping[str, Any] | None, settler: Settler
) -> Callable[..., Any]:
    """The wrapper for a target of this shape; `defaults` are its default objects, None when it does not tell them."""
    names = [p.name for p in record.reference.parameters]
    names += [p.name for p in shape.parameters if p.name not in record.reference.names]
    closed = not shape.any_positional and not shape.any_keyword
    told = defaults is not None or not any(p.kind == POSITIONAL_ONLY for p in shape.parameters)
    if closed and told and all(_is_plain(name) for name in names):
        return dress(_compiled_wrapper(record, target, shape, defaults, settler, names), record, target)
    return dress(_general_wrapper(record, target, shape, settler), record, target)


def _is_plain(name: str) -> bool:
    """Whether a name can stand in source for itself: not one that Python folds, mangles or gives a meaning."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def _compiled_wrapper(
    record: Record,
    target: Callable[..., Any],
    shape: Shape,
    defaults: Mapping[str, Any] | None,
    settler: Settler,
    names: Sequence[str],
) -> Callable[..., Any]:
    """A function that looks at each argument by name. `names` are the reference's parameters, then the build's own.

    With `defaults`, what was not passed takes the default object of the live signature, so that the target sees exactly
    what it would have put there itself. Without, the target is called with exactly what was passed.
    """
    mark = "_"
    while any(name.startswith(mark) for name in names):
        mark += "_"  # no name of ours is a parameter's
    space: dict[str, Any] = {f"{mark}omitted": OMITTED, f"{mark}target": target, f"{mark}settler": settler}
    heads: list[str] = []
    body = [
        f"if {mark}surplus or {mark}unknown:",
        f"    raise {mark}settler.surplus({mark}surplus, {mark}unknown)",
        f"{mark}none = {mark}omitted",
    ]
    if shape.required:
        test = " or ".join(f"{name} is {mark}none" for name in shape.required)
        body += [f"if {test}:", f"    raise {mark}settler.missing({_by_name(shape.required)})"]
    kinds = {p.name: p.kind for p in record.reference.parameters}
    starred = False
    for position, name in enumerate(names):
        if kinds.get(name, KEYWORD_ONLY) == KEYWORD_ONLY and not starred:
            heads.append(f"*{mark}surplus")
            starred = True
        default = OMITTED if defaults is None else defaults.get(name, OMITTED)
        others = _by_name([other for other in settler.others(name) if other in names])
        if name not in shape.names:
            harmless = _harmless(name, settler.rules.get(name, ()), names, mark, space)
            if f"{name} is None" in harmless:
                default = None  # it goes as one that was not passed, so one test serves for both
                harmless.remove(f"{name} is None")
            test = f"{name} is not {'None' if default is None else f'{mark}none'}"
            test += f" and not ({' or '.join(harmless)})" if harmless else ""
            body += [f"if {test}:", f"    {mark}settler.settle({name!r}, {name}, {others})"]
        elif name in settler.unusable:
            # What the build does anyway, left out or not, it can do.
            body.append(f"if {name} is not {mark}default{position}:")
            body.append(f"    {mark}settler.check_usable({name!r}, {name}, {others})")
        space[f"{mark}default{position}"] = default
        heads.append(f"{name}={mark}default{position}")
    if not starred:
        heads.append(f"*{mark}surplus")
    source = _Source(record.name, mark, (*heads, f"**{mark}unknown"), tuple(body), space)
    if defaults is None:
        return _Learner(source, target, shape).wrapper
    passed = [p.name if p.kind != KEYWORD_ONLY else f"{p.name}={p.name}" for p in shape.parameters]
    return source.function([f"return {mark}target({', '.join(passed)})"])


@dataclass(frozen=True)
class _Source:
    """A wrapper to be: its parameters and first steps, as source of plain names, and what other names stand for."""

    name: str
    mark: str
    heads: tuple[str, ...]
    body: tuple[str, ...]
    space: dict[str, Any]

    def function(self, ending: Sequence[str]) -> FunctionType:
        """The function that ends so."""
        lines = [
            f"def {self.mark}wrapper({', '.join(self.heads)}):",
            *(f"    {line}" for line in (*self.body, *ending)),
        ]
        exec(compile("\n".join(lines), f"<adapter of {self.name}>", "exec"), self.space)  # noqa: S102 - see above
        made: FunctionType = self.space[f"{self.mark}wrapper"]
        return made


class _Learner:
    """The wrapper of a function that does not tell its defaults, so that each set of arguments needs a call of its own.

    The first call with a set goes through a dict, and gives the wrapper a direct call for the next one like it. The new
    code is made of the same plain names. The wrapper stays the same object, wherever it was imported to.
    """

    def __init__(self, source: _Source, target: Callable[..., Any], shape: Shape) -> None:
        self._source = source
        self._target = target
        self._names = tuple(p.name for p in shape.parameters)
        self._optional = tuple(p.name for p in shape.parameters if not p.required)
        self._sets: list[tuple[str, ...]] = []
        source.space[f"{source.mark}other"] = self._other
        self.wrapper = source.function(self._ending())

    def _other(self, *values: Any) -> Any:
        given = {name: value for name, value in zip(self._names, values, strict=True) if value is not OMITTED}
        names = tuple(given)
        # Of two threads that learn at once, one may undo what the other did: the next call learns it again.
        if (names in self._sets or len(self._sets) < _MOST_SETS) and not _is_followed():
            self._sets = [*(known for known in self._sets if known != names), names]
            self.wrapper.__code__ = self._source.function(self._ending()).__code__
        return self._target(**given)

    def _ending(self) -> list[str]:
        mark = self._source.mark
        lines = []
        for names in self._sets:
            tests = [f"{name} is {'not ' if name in names else ''}{mark}none" for name in self._optional]
            lines += [
                f"if {' and '.join(tests) or 'True'}:",
                f"    return {mark}target({', '.join(f'{name}={name}' for name in names)})",
            ]
        return [*lines, f"return {mark}other({', '.join(self._names)})"]


def _is_followed() -> bool:
    """Whether torch.compile is reading along: it takes what is called, but not the making of code."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())


def _by_name(names: Sequence[str]) -> str:
    """A dict of arguments, as source."""
    return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"


def _harmless(name: str, rules: Sequence[Rule], others: Sequence[str], mark: str, space: dict[str, Any]) -> list[str]:
    """Tests, as source, for the plain values that may be dropped without a word: most calls end with one of them.

    The tests stand for the drop rules that come first, and no other: what is not plain is left to the settler.
    """
    tests: list[str] = []
    for rule in rules:
        if rule.action != DROP:
            break
        if rule.condition is not None or rule.equals is None or not all(other in others for other, _ in rule.given):
            continue
        beside = [_is_same(other, wanted, mark, space) for other, wanted in rule.given]
        tests += [" and ".join([_is_same(name, wanted, mark, space), *beside]) for wanted in rule.equals]
    return tests


def _is_same(name: str, wanted: Any, mark: str, space: dict[str, Any]) -> str:
    """`rules.same` as source; a number of another type than the wanted one is left to the settler."""
    if wanted is None or isinstance(wanted, bool):
        return f"{name} is {'None' if wanted is None else 'True' if wanted else 'False'}"
    constant = f"{mark}value{len(space)}"
    space[constant] = wanted
    kind = f"{mark}kind{len(space)}"
    space[kind] = type(wanted)
    return f"{name}.__class__ is {kind} and {name} == {constant}"


def _general_wrapper(record: Record, target: Callable[..., Any], shape: Shape, settler: Settler) -> Callable[..., Any]:
    """The wrapper for everything else: arguments are gathered by name, and passed by name where that can be."""
    order = record.reference.positional
    accepted = shape.names
    first = tuple(p.name for p in shape.parameters if p.kind == POSITIONAL_ONLY)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(order):
            raise settler.surplus(args[len(order) :], {})
        for name, value in zip(order, args, strict=False):
            if name in kwargs:
                raise settler.refusal(name, value, "it is passed twice, by position and by name")
            kwargs[name] = value
        if not shape.any_keyword:
            extra = record.reference.names.intersection(kwargs) - accepted
            for name in sorted(extra):
                settler.settle(name, kwargs[name], kwargs)
            for name in extra:
                del kwargs[name]
            if not accepted.issuperset(kwargs):
                raise settler.surplus((), {name: kwargs[name] for name in kwargs if name not in accepted})
        for name in settler.unusable:
            if name in kwargs:
                settler.check_usable(name, kwargs[name], kwargs)
        if any(name not in kwargs for name in shape.required):
            raise settler.missing(kwargs)
        leading: list[Any] = []
        for name in first:
            if name in kwargs:
                if len(leading) < first.index(name):
                    raise settler.refusal(name, kwargs[name], f"the build takes it after {first[len(leading)]} alone")
                leading.append(kwargs.pop(name))
        return target(*leading, **kwargs)

    return wrapper


def dress(wrapper: Callable[..., Any], record: Record, target: Callable[..., Any] | None) -> Callable[..., Any]:
    """Give a wrapper the name, the documentation and the reference signature of what it stands for."""
    wrapper.__name__ = wrapper.__qualname__ = record.name
    wrapper.__module__ = __name__
    try:
        documentation = getattr(target, "__doc__", None)
    except Exception:  # a broken descriptor can raise anything
        documentation = None
    wrapper.__doc__ = documentation if isinstance(documentation, str) else None
    kinds = {
        POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
        EITHER: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
    }
    parameters: list[inspect.Parameter] = []
    optional = False
    for p in record.reference.parameters:
        optional = (optional or not p.required) and p.kind != KEYWORD_ONLY
        default = OMITTED if optional or not p.required else inspect.Parameter.empty
        parameters.append(inspect.Parameter(p.name, kinds[p.kind], default=default))
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper
