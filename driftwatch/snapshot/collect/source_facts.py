"""What one source file says, as plain data: the names it binds and the facts written next to them.

Nothing here depends on other files or on the release, so that files with the same bytes share their facts between
releases. Names are resolved as far as the file's own imports tell: ``Base`` becomes ``library.base.Base``; where that
leads is the business of `library`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from driftwatch.snapshot.model.symbols import Flavour, Parameter, Refusal


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """An expression as source text, and the dotted path it names (None when it names nothing); the call that it is."""

    text: str
    path: str | None
    call: DecoratorFacts | None = None


@dataclass(frozen=True, slots=True)
class CallArgument:
    """One argument of a decorator or of a call that makes a constant; `name` is None when positional."""

    name: str | None
    value: NamedExpression


@dataclass(frozen=True, slots=True)
class DecoratorFacts:
    """A decorator: the dotted path of what is applied, and the arguments when it is called first."""

    path: str
    arguments: tuple[CallArgument, ...] = ()
    called: bool = False


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """A ``def``, with all its parameters, ``self`` included.

    `returns_paths` are the classes an instance of which it returns, None aside; empty when that cannot be told.
    `flavour` is what calling it gives when that isn't the result itself, a coroutine or a generator.
    `only_keywords` are all that its ``**kwargs`` takes, None where it takes any; `refused_keywords` are some that it
    does not take.
    `refusals` are the combinations of arguments for which it raises at once.
    `gives` are the lengths of the tuple or list it gives, where that is all it may give.
    `warns` is the text of the deprecation warning its body starts with. `wrapper_keywords` are the keywords that a
    wrapper made inside it (it is a decorator then) takes out before it calls what it wraps. `changes_arguments` says
    that the wrapper gives other arguments on than it is given.
    `makes` is the function defined inside that a call always gives; where it `applies` that, some calls give what that
    one gives. `gives_back` says that a call gives back its first argument as it was, ``self`` not counted; `adds` are
    the attributes that it sets on that, each with the function defined inside that it is. `sets_signature` says that it
    sets what `inspect.signature` shows of something.
    """

    parameters: tuple[Parameter, ...]
    returns: str | None = None
    returns_paths: tuple[str, ...] = ()
    decorators: tuple[DecoratorFacts, ...] = ()
    warns: str | None = None
    wrapper_keywords: tuple[str, ...] = ()
    changes_arguments: bool = False
    makes: FunctionFacts | None = None
    applies: bool = False
    gives_back: bool = False
    adds: tuple[tuple[str, FunctionFacts | None], ...] = ()
    sets_signature: bool = False
    gives: tuple[int, ...] = ()
    flavour: Flavour | None = None
    only_keywords: tuple[str, ...] | None = None
    refused_keywords: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """A name bound to a value, or only annotated (`bound` is False then: it exists on instances alone).

    `text` is the value's source, None when more than one value may be meant. `path` is set when the value is itself
    a name, `call` when it is a call of a name.
    """

    text: str | None = None
    path: str | None = None
    call: DecoratorFacts | None = None
    annotation: str | None = None
    annotation_path: str | None = None
    class_variable: bool = False
    bound: bool = True


@dataclass(frozen=True, slots=True)
class ImportFacts:
    """An imported name and the dotted path it stands for; `module` when an ``import`` statement brought it."""

    path: str
    module: bool = False


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A ``class`` statement. `body` is in the order of the source; `instance` are the attributes methods set on self.

    `dynamic` says that its instances have attributes that nobody can list. `stands_in` says that they call themselves
    wrappers of the function that they are made with (``__wrapped__``). `delegates` are dotted paths: an instance
    of those, or what calling them gives, answers for the names that its instances do not have.
    """

    bases: tuple[NamedExpression, ...] = ()
    metaclass: str | None = None
    decorators: tuple[DecoratorFacts, ...] = ()
    body: Mapping[str, Bound] = field(default_factory=dict)
    instance: Mapping[str, str | None] = field(default_factory=dict)
    dynamic: bool = False
    stands_in: bool = False
    delegates: tuple[str, ...] = ()


Facts = FunctionFacts | ValueFacts | ImportFacts | ClassFacts


@dataclass(frozen=True, slots=True)
class Bound:
    """What a name of a scope is bound to once its code has run.

    `needs` are the imports whose failure leaves the name unbound. `rivals` are what it is bound to on other branches,
    and `fallbacks` what a handler binds it to when one of the imports `tried` fails; what merely holds a place where a
    feature is off is neither.
    """

    facts: Facts
    needs: tuple[str, ...] = ()
    rivals: tuple[Facts, ...] = ()
    fallbacks: tuple[Facts, ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LazyTarget:
    """Where a module's ``__getattr__`` takes a name from; an empty `name` means the module itself."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """One file. `stars` are the modules it imports everything from; `exported` is its ``__all__`` where it is literal.

    `lazy` are the names its ``__getattr__`` answers, each with the places to look, best first. `open` says that it
    answers names that cannot be listed. `imports` are the dotted paths it cannot be imported without, `tries` those it
    goes on without, each with all the imports of the same ``try``, and `demands` those it imports later or perhaps.
    `exports_computed` says that its ``__all__`` is there and cannot be read. `gives` are attributes that it sets on
    other modules and on classes, by the path it knows these under; a None name may be any.
    """

    name: str
    is_package: bool
    bound: Mapping[str, Bound]
    stars: tuple[str, ...] = ()
    exported: tuple[str, ...] | None = None
    lazy: Mapping[str, tuple[LazyTarget, ...]] = field(default_factory=dict)
    open: bool = False
    imports: tuple[str, ...] = ()
    tries: tuple[tuple[str, tuple[str, ...]], ...] = ()
    demands: tuple[str, ...] = ()
    exports_computed: bool = False
    gives: tuple[tuple[str, str | None], ...] = ()
