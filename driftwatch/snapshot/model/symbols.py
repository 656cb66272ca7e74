"""The facts a snapshot holds about one release's public API; nothing here knows where they came from.

Symbols are addressed as Python's own object references are (`pkgutil.resolve_name`, entry points): ``module:qualname``,
so that a function and a submodule of the same name cannot be confused. A class's members are symbols of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class ParameterKind(str, Enum):
    """The five kinds of `inspect.Parameter`, by their documented names."""

    POSITIONAL_ONLY = "positional-only"
    POSITIONAL_OR_KEYWORD = "positional-or-keyword"
    VAR_POSITIONAL = "var-positional"
    KEYWORD_ONLY = "keyword-only"
    VAR_KEYWORD = "var-keyword"


class SymbolKind(str, Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    """A function, or a method when its qualname has a dot."""
    PROPERTY = "property"
    ATTRIBUTE = "attribute"
    """A module constant, a class constant, an enum member or a field."""


class Binding(str, Enum):
    """What a method is bound to when it is looked up; functions have none."""

    INSTANCE = "instance"
    CLASS = "class"
    STATIC = "static"


class Flavour(str, Enum):
    """What a call gives, when it isn't simply the result."""

    PLAIN = "its result"
    COROUTINE = "a coroutine"
    GENERATOR = "a generator"
    ASYNC_GENERATOR = "an async generator"


class Ref(NamedTuple):
    """An object reference: ``module:qualname``; an empty qualname is the module itself."""

    module: str
    qualname: str

    @classmethod
    def parse(cls, text: str) -> Ref:
        module, _, qualname = text.partition(":")
        return cls(module, qualname)

    def __str__(self) -> str:
        return f"{self.module}:{self.qualname}" if self.qualname else self.module

    @property
    def dotted(self) -> str:
        """The way a person writes it: ``flashinfer.comm.allreduce_fusion``."""
        return f"{self.module}.{self.qualname}" if self.qualname else self.module

    def member(self, name: str) -> Ref:
        return Ref(self.module, f"{self.qualname}.{name}" if self.qualname else name)


class Refusal(NamedTuple):
    """A condition over parameters and constants, as source text, under which a call raises, and the exception."""

    condition: str
    exception: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature. `default` and `annotation` are source text, None when there is none."""

    name: str
    kind: ParameterKind
    default: str | None = None
    annotation: str | None = None

    @property
    def required(self) -> bool:
        return self.default is None and self.kind not in (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a caller may pass. A method's signature is as its caller sees it: without ``self`` or ``cls``.

    `returns` is the annotation's source text. `returns_ref` is the class of the library it names, when it names one.
    `extra_keywords` are accepted although the ``def`` does not show them (a decorator that renames old keywords).
    `refusals` are combinations of arguments for which a call raises at once.
    `refused` are keywords that a ``**kwargs`` takes no value for.
    `flavour` is set where a call gives something that the result must be got out of first.
    `gives` are the numbers of values that the tuple or list it gives may have; empty where it may give anything.
    """

    parameters: tuple[Parameter, ...] = ()
    returns: str | None = None
    returns_ref: Ref | None = None
    extra_keywords: tuple[str, ...] = ()
    gives: tuple[int, ...] = ()
    flavour: Flavour | None = None
    refused: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Deprecation:
    """An upstream deprecation mark: the message's gist, and the release that removes it when it is named."""

    message: str
    removal: str | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """One public name of one release.

    A class's `signature` is its constructor's; None there means that any arguments may be taken (a foreign base).
    `shows` is what `inspect.signature` says of it, where that is not what a call takes (a mark on the class hides it).
    `hides` says that this is not known although it is known what a call takes (code has set a ``__signature__``).
    `variants` are the signatures it may have when it has one of several (branches of its module define it differently);
    `signature` is None then.
    `definition` is where a re-exported object is really defined (None: here).
    A definition outside the library is that of a foreign name which happens to be importable from here.
    `value` is source text of a constant. `bases` are references as text: ``module:qualname`` for the library's own
    classes, a dotted name for foreign ones. `requires` names the optional packages without which the name is absent.
    `open` says that a module or class has further names that cannot be listed (a ``__getattr__`` that delegates).
    A module's `imports` are the modules of the library that are loaded with it, and so become attributes of the
    packages they lie in; `demands` are those that it loads later, or perhaps: in a function, under a condition.
    `misfit` is what a call that does not fit raises, where that is not Python's own TypeError.
    """

    ref: Ref
    kind: SymbolKind
    signature: Signature | None = None
    binding: Binding | None = None
    bases: tuple[str, ...] = ()
    definition: Ref | None = None
    value: str | None = None
    annotation: str | None = None
    abstract: bool = False
    deprecated: Deprecation | None = None
    requires: tuple[str, ...] = ()
    open: bool = False
    variants: tuple[Signature, ...] = ()
    imports: tuple[str, ...] = ()
    demands: tuple[str, ...] = ()
    shows: Signature | None = None
    hides: bool = False
    misfit: str | None = None

    @property
    def shown(self) -> Signature | None:
        """What `inspect.signature` says of it; None when that is not known."""
        return None if self.hides else self.shows or self.signature

    @property
    def possible(self) -> tuple[Signature | None, ...]:
        """The signatures it may have; None among them takes anything."""
        return self.variants or (self.signature,)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The public API of one release: every symbol by its reference.

    A module is a symbol with an empty qualname. Re-exported classes appear in full under each public reference, members
    included, so that a lookup never needs a second step.
    """

    release: str
    symbols: Mapping[Ref, Symbol]
