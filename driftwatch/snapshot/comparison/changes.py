"""The vocabulary of API changes: what can happen to a symbol, and what it does to callers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from driftwatch.snapshot.model.symbols import Ref


class Grade(str, Enum):
    """What a change does to code that was right before it."""

    BREAKING = "breaking"
    """Some call, import or subclass that was right fails."""
    RISKY = "risky"
    """Nothing fails, but some call means something else."""
    COMPATIBLE = "compatible"
    """All that was right stays right."""
    INFORMATIONAL = "informational"
    """Nothing changes for a caller yet."""


class ChangeKind(str, Enum):
    SYMBOL_ADDED = "symbol-added"
    SYMBOL_REMOVED = "symbol-removed"
    SYMBOL_MOVED = "symbol-moved"
    """The same name now leads to a definition elsewhere."""
    KIND_CHANGED = "kind-changed"
    PARAMETER_ADDED = "parameter-added"
    """Breaking when it is required, or stands before an old one and so takes its positional argument."""
    PARAMETER_REMOVED = "parameter-removed"
    PARAMETER_RENAMED = "parameter-renamed"
    PARAMETER_MOVED = "parameter-moved"
    """It has changed its place among the other parameters."""
    PARAMETER_KIND_CHANGED = "parameter-kind-changed"
    BECAME_REQUIRED = "became-required"
    BECAME_OPTIONAL = "became-optional"
    DEFAULT_CHANGED = "default-changed"
    ANNOTATION_CHANGED = "annotation-changed"
    """What is said of its type, the values of a ``Literal`` among it."""
    SIGNATURE_LOST = "signature-lost"
    """What it takes cannot be told any more."""
    SIGNATURE_FOUND = "signature-found"
    RETURNS_CHANGED = "returns-changed"
    LENGTH_CHANGED = "length-changed"
    """How many values the tuple or list it gives has."""
    FLAVOUR_CHANGED = "flavour-changed"
    """A call gives a coroutine or a generator where it gave its result, or the other way round."""
    BINDING_CHANGED = "binding-changed"
    VALUE_CHANGED = "value-changed"
    BASES_CHANGED = "bases-changed"
    BECAME_ABSTRACT = "became-abstract"
    BECAME_CONCRETE = "became-concrete"
    DEPRECATED = "deprecated"
    UNDEPRECATED = "undeprecated"
    KEYWORD_ADDED = "keyword-added"
    """A keyword beside the parameters, that a decorator or a ``**kwargs`` accepts."""
    KEYWORD_REMOVED = "keyword-removed"
    REFUSAL_ADDED = "refusal-added"
    """It raises for some arguments that it took; another exception for the same ones is no change."""
    REFUSAL_REMOVED = "refusal-removed"
    REQUIRES_CHANGED = "requires-changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one symbol.

    `before` and `after` are short source text: a parameter, a value, a list of bases. `also` are the further names
    under which the same change is seen.
    """

    ref: Ref
    kind: ChangeKind
    grade: Grade
    parameter: str | None = None
    before: str | None = None
    after: str | None = None
    also: tuple[Ref, ...] = ()
