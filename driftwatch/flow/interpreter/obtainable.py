"""Objects that cannot be had in every release: instances of classes whose construction depends on the library.

Enters: a class, or a function and what its parameters are declared to take. Leaves: the releases in which there can be
an instance, or all that the function must be given: it is not entered in others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from driftwatch.flow.domain.code import ClassCode, FunctionCode, Summary
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.values import Instance, Unknown, Value
from driftwatch.flow.interpreter.inferred_classes import InferredClasses
from driftwatch.releases import EMPTY, ReleaseSet

_MAKING = ("__new__", "__init__", "__post_init__")
"""What runs where an instance is made."""


class Obtainable:
    """Answers where there can be instances of the code base's classes."""

    def __init__(
        self, everywhere: ReleaseSet, summary: Callable[[FunctionCode], Summary | None], told: InferredClasses
    ) -> None:
        self._everywhere = everywhere
        self._summary = summary
        self._told = told
        self._asked: list[ClassCode] = []

    def instance(self, code: ClassCode) -> ReleaseSet:
        """The releases in which an instance of a class can be made."""
        if code in self._asked:
            return self._everywhere
        self._asked.append(code)
        try:
            found = code.reach if not code.module.executing else self._everywhere
            order = lineage(code)[0]
            for name in _MAKING:
                method = next((each.methods[name] for each in order if name in each.methods), None)
                summary = self._summary(method) if method is not None else None
                if summary is not None:
                    found &= summary.completes & summary.had
        finally:
            self._asked.pop()
        return found

    def _any_of(self, classes: Iterable[tuple[ReleaseSet, ClassCode]]) -> ReleaseSet:
        found = EMPTY
        for where, code in classes:
            found |= where & self.instance(code)
        return found

    def given(self, function: FunctionCode, bindings: Mapping[str, Value], *, anyone: bool) -> ReleaseSet:
        """The releases in which there is all that must be given to a function, which `anyone` may call."""
        params = function.node.params
        names = [*params.posonly_params, *params.params]
        own = 1 if function.owner is not None and function.kind != "static" else 0
        found = self._everywhere
        takes: dict[ClassCode, None] = {}
        for parameter in (*names[own:], *params.kwonly_params):
            value = bindings.get(parameter.name.value)
            if parameter.default is not None or value is None:
                continue
            declared = [(where, atom.code) for where, atom in value.alternatives if isinstance(atom, Instance)]
            if len(declared) < len(value.alternatives) and not isinstance(value.single(), Unknown):
                continue
            told = self._told.classes(function, parameter) if anyone else []
            there = self._any_of([(value.defined(), code) for code in told])
            if told and there != value.defined() and not self._told.may_be_elsewhere(function, parameter, told):
                codes = told
            else:
                codes, there = [code for _, code in declared], self._any_of(declared)
            if codes and there != value.defined():
                found &= there | (self._everywhere - value.defined())
                takes.update(dict.fromkeys(codes))
        function.takes = tuple(takes)
        return found
