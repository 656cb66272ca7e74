"""A definition of the library -> its symbol and those of its members, as users of the library see them.

Enters: what a source file says about a function, class or constant, and the library to follow its names in. Leaves:
symbols under the reference where the thing is defined. Classes that a signature or another class refers to are
described as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from driftwatch.snapshot.collect import constructors, decorators
from driftwatch.snapshot.collect.branches import merged, one_of
from driftwatch.snapshot.collect.enumerations import auto_values
from driftwatch.snapshot.collect.library import Definition, Foreign, Found, Library, ModuleFound
from driftwatch.snapshot.collect.source_facts import (
    Bound,
    CallArgument,
    ClassFacts,
    DecoratorFacts,
    FunctionFacts,
    ImportFacts,
    NamedExpression,
    ValueFacts,
)
from driftwatch.snapshot.model.codec import alias_of
from driftwatch.snapshot.model.standard_bases import standard_members
from driftwatch.snapshot.model.symbols import Binding, Parameter, ParameterKind, Ref, Signature, Symbol, SymbolKind

PROTOCOL_METHODS = frozenset(
    {
        "__call__",
        "__enter__",
        "__exit__",
        "__aenter__",
        "__aexit__",
        "__iter__",
        "__next__",
        "__getitem__",
        "__setitem__",
        "__len__",
        "__contains__",
    }
)
"""The special methods whose presence callers rely on."""

LONGEST_CONSTANT = 120
"""A constant of more source text than this is a table; its content is not recorded."""

_REMAKING = ("__new__", "__init__", "__prepare__", "__getattr__", "__getattribute__")
"""What a metaclass defines that gives its classes names which are not in their bodies."""
_BUILTIN_GENERICS = {"typing.Tuple": "tuple", "typing.List": "list", "typing.Dict": "dict", "typing.Set": "set"}
_NAMED_TUPLE_CALLS = frozenset({"collections.namedtuple", "typing.NamedTuple", "typing_extensions.NamedTuple"})


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class Descriptions:
    """The symbols of every definition that has been asked for, and of the classes those refer to."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._described: dict[Ref, tuple[Symbol, ...]] = {}
        self._taken_out: dict[Ref, tuple[Bound, tuple[Symbol, ...]]] = {}
        self._waiting: list[Definition] = []
        self._merging: set[Ref] = set()
        self._always = library.packages(library.root)

    def all(self) -> Iterator[Symbol]:
        """Everything described so far, and whatever it refers to."""
        while self._waiting:
            self.of(self._waiting.pop())
        for symbols in self._described.values():
            yield from symbols

    def of(self, found: Definition) -> tuple[Symbol, ...]:
        """The symbol of a definition and those of its members."""
        if "." in found.ref.qualname:
            return self._outside_of_its_class(found)
        known = self._described.get(found.ref)
        if known is None:
            self._described[found.ref] = ()
            known = self._described[found.ref] = tuple(self._describe(found, None))
        return known

    def _outside_of_its_class(self, found: Definition) -> tuple[Symbol, ...]:
        """A member taken out of its class: a method is a plain function then. The class describes it as it is there."""
        bound, symbols = self._taken_out.get(found.ref, (None, ()))
        if bound is not found.bound:
            self._taken_out[found.ref] = (found.bound, ())  # a class in a class may have a method that gives it
            symbols = tuple(self._describe(found, None))
            self._taken_out[found.ref] = (found.bound, symbols)
        return symbols

    def requires(self, needs: Iterable[str]) -> tuple[str, ...]:
        """The optional packages behind imports without which a name is absent."""
        needed: frozenset[str] = frozenset()
        for path in needs:
            needed |= self._library.packages_of(path)
        return tuple(sorted(needed - self._always))

    def module_requires(self, module: str) -> tuple[str, ...]:
        """The optional packages without which a module cannot be imported."""
        return tuple(sorted(self._library.packages(module) - self._always))

    def _describe(self, found: Definition, owner: Definition | None) -> Iterable[Symbol]:
        if not self._library.rivals(found.bound):
            return self._defined(found, owner)
        if found.ref in self._merging:
            return ()  # classes may hold each other without end
        self._merging.add(found.ref)
        symbols = merged([list(self._branch(found.ref, branch, owner)) for branch in self._library.branches(found)])
        self._merging.discard(found.ref)
        return symbols

    def _branch(self, ref: Ref, branch: Found | None, owner: Definition | None) -> Iterator[Symbol]:
        """What a name is on one of its branches."""
        if isinstance(branch, Definition):
            symbols = self._defined(branch, owner) if branch.ref == ref else self.of(branch)
            for symbol in symbols:
                # Whichever it is, this is where a name is made of it.
                yield symbol if branch.ref == ref else replace(alias_of(symbol, branch.ref, ref), definition=None)
        elif isinstance(branch, ModuleFound):
            yield Symbol(ref, SymbolKind.MODULE, definition=Ref(branch.module, ""))
        else:
            yield Symbol(ref, SymbolKind.ATTRIBUTE)

    def _defined(self, found: Definition, owner: Definition | None) -> Iterator[Symbol]:
        facts = found.bound.facts
        requires = self.requires(found.bound.needs)
        if isinstance(facts, ClassFacts):
            yield from self._class(found, facts, requires)
        elif isinstance(facts, FunctionFacts):
            yield self._function(found, facts, owner, requires)
        elif isinstance(facts, ValueFacts):
            yield from self._value(found, facts, owner, requires)

    def _function(
        self, found: Definition, facts: FunctionFacts, owner: Definition | None, requires: tuple[str, ...]
    ) -> Symbol:
        named = tuple(self._spelled_out(d) for d in facts.decorators)
        deprecated = decorators.deprecation_of(named, facts.warns)
        returns_ref = self._returned(facts, owner)
        if decorators.is_property(facts):
            return Symbol(
                found.ref,
                SymbolKind.PROPERTY,
                signature=Signature(returns=facts.returns, returns_ref=returns_ref),
                binding=Binding.INSTANCE,
                annotation=facts.returns,
                abstract=decorators.is_abstract(facts),
                deprecated=deprecated,
                requires=requires,
            )
        if decorators.makes_foreign_callable(facts, self._library.owns) or any(
            map(self._hides_function, facts.decorators)
        ):
            return Symbol(found.ref, SymbolKind.ATTRIBUTE, requires=requires)
        name = found.ref.qualname.rpartition(".")[2]
        binding = decorators.binding_of(name, facts) if owner is not None else None
        return Symbol(
            found.ref,
            SymbolKind.FUNCTION,
            signature=self._signature(found, facts, binding, returns_ref),
            binding=binding,
            abstract=owner is not None and decorators.is_abstract(facts),
            deprecated=deprecated,
            requires=requires,
            shows=Signature(_seen(facts, binding)) if facts.only_keywords is not None else None,
        )

    def _signature(
        self, found: Definition, facts: FunctionFacts, binding: Binding | None, returns_ref: Ref | None
    ) -> Signature:
        parameters = _seen(facts, binding)
        extra = set(decorators.accepted_keywords(facts))
        for decorator in facts.decorators:
            extra |= self._added_keywords(decorator)
        extra -= {p.name for p in parameters}
        inside = found.ref.qualname.split(".")[:-1]
        if inside and any(p.name.startswith("__") for p in parameters):
            parameters = tuple(replace(p, name=mangled(p.name, inside[-1])) for p in parameters)
        taken = Signature(
            _closed(parameters, facts.only_keywords),
            facts.returns,
            returns_ref,
            tuple(sorted(extra)),
            refused=facts.refused_keywords,
            refusals=facts.refusals,
        )
        return taken if decorators.makes_context(facts) else replace(taken, gives=facts.gives, flavour=facts.flavour)

    def _hides_function(self, decorator: DecoratorFacts) -> bool:
        """Whether nobody can tell what is called once a decorator of the library stands on a function.

        An instance takes the function's place, or a wrapper that passes other arguments on; or it is a method of some
        object that the library has made.
        """
        if not self._library.owns(decorator.path):
            return False
        found = self._library.resolve(decorator.path)
        if found is None:
            owner = self._library.resolve(decorator.path.rpartition(".")[0])
            return isinstance(owner, Definition) and isinstance(owner.bound.facts, ValueFacts)
        facts = found.bound.facts if isinstance(found, Definition) else None
        return isinstance(facts, ClassFacts) or (isinstance(facts, FunctionFacts) and facts.changes_arguments)

    def _added_keywords(self, decorator: DecoratorFacts) -> set[str]:
        """The keywords that a decorator of the library itself takes out of a call."""
        if not self._library.owns(decorator.path):
            return set()
        found = self._library.resolve(decorator.path)
        if isinstance(found, Definition) and isinstance(found.bound.facts, FunctionFacts):
            return set(found.bound.facts.wrapper_keywords)
        return set()

    def _returned(self, facts: FunctionFacts, owner: Definition | None) -> Ref | None:
        if len(facts.returns_paths) != 1 or decorators.makes_context(facts):
            return None
        path = facts.returns_paths[0]
        if decorators.last_name(path) == "Self" and owner is not None:
            return owner.ref
        found = self._library.resolve(path) if self._library.owns(path) else None
        if isinstance(found, Definition) and isinstance(found.bound.facts, ClassFacts):
            self._waiting.append(found)
            return found.ref
        return None

    def _spelled_out(self, decorator: DecoratorFacts) -> DecoratorFacts:
        """A decorator with arguments that name a constant of the library replaced by the constant."""
        arguments = []
        for argument in decorator.arguments:
            path = argument.value.path
            found = self._library.resolve(path) if path is not None and self._library.owns(path) else None
            if isinstance(found, Definition) and isinstance(found.bound.facts, ValueFacts):
                text = found.bound.facts.text
                argument = CallArgument(argument.name, NamedExpression(text, None)) if text else argument
            arguments.append(argument)
        return replace(decorator, arguments=tuple(arguments))

    # -- classes -------------------------------------------------------------------------------------------------

    def _class(self, found: Definition, facts: ClassFacts, requires: tuple[str, ...]) -> Iterator[Symbol]:
        init = facts.body.get("__init__")
        warns = init.facts.warns if init is not None and isinstance(init.facts, FunctionFacts) else None
        strange = not constructors.ordinary_metaclass(self._library, found, *_REMAKING)
        delegated = self._delegated(facts)
        signature, variants = one_of(constructors.constructor(self._library, found))
        yield Symbol(
            found.ref,
            SymbolKind.CLASS,
            signature=signature,
            variants=variants,
            bases=tuple(self._bases(found, facts)),
            deprecated=decorators.deprecation_of((self._spelled_out(d) for d in facts.decorators), warns),
            requires=requires,
            open=facts.dynamic or strange or delegated is None or decorators.may_add_members(facts.decorators),
            shows=constructors.ANYTHING if constructors.hidden_constructor(self._library, found) else None,
        )
        for name in facts.body:
            yield from self._member(found, facts, name)
        slots = constructors.slots(facts) - facts.body.keys()
        for name in sorted(slots):
            if not name.startswith("__"):
                yield Symbol(found.ref.member(name), SymbolKind.ATTRIBUTE, annotation=facts.instance.get(name))
        for name, annotation in facts.instance.items():
            if name not in facts.body and name not in slots and not name.startswith("__"):
                yield Symbol(
                    found.ref.member(name), SymbolKind.ATTRIBUTE, binding=Binding.INSTANCE, annotation=annotation
                )
        for name in sorted((delegated or set()) - facts.body.keys() - facts.instance.keys() - slots):
            yield Symbol(found.ref.member(name), SymbolKind.ATTRIBUTE, binding=Binding.INSTANCE)

    def _delegated(self, facts: ClassFacts) -> set[str] | None:
        """The names that instances answer by asking another object; None when nobody can list them."""
        names: set[str] = set()
        for path in facts.delegates:
            asked = self._answering(path)
            if asked is None:
                return None
            names |= asked
        return {name for name in names if not name.startswith("_")}

    def _answering(self, path: str) -> set[str] | None:
        """The members of an instance of a class, or of what a function of the library gives."""
        found = self._library.resolve(path) if self._library.owns(path) else None
        if found is None:
            known = standard_members(_BUILTIN_GENERICS.get(path, path))
            return None if known is None else set(known)
        if not isinstance(found, Definition):
            return None
        if isinstance(found.bound.facts, FunctionFacts):
            returned = found.bound.facts.returns_paths
            return self._answering(returned[0]) if len(returned) == 1 and returned[0] != path else None
        if not isinstance(found.bound.facts, ClassFacts):
            return None
        names: set[str] = set()
        for base in self._library.lineage(found):
            if isinstance(base, Definition) and isinstance(base.bound.facts, ClassFacts):
                if base.bound.facts.dynamic or base.bound.facts.delegates:
                    return None
                names |= {*base.bound.facts.body, *base.bound.facts.instance}
            else:
                known = standard_members(constructors.dotted(base)) if isinstance(base, Foreign) else None
                if known is None:
                    return None
                names |= known
        return names

    def _bases(self, found: Definition, facts: ClassFacts) -> Iterator[str]:
        for base, written in zip(self._library.bases(found), facts.bases, strict=True):
            if isinstance(base, Definition) and isinstance(base.bound.facts, ClassFacts | ImportFacts):
                self._waiting.append(base)
                yield str(base.ref)
            elif isinstance(base, Foreign):
                yield constructors.dotted(base)
            else:
                yield written.text
        if facts.metaclass == "abc.ABCMeta":
            yield "abc.ABC"

    def _member(self, owner: Definition, facts: ClassFacts, name: str) -> Iterator[Symbol]:
        bound = facts.body[name]
        if is_dunder(name):
            function = bound.facts
            if not isinstance(function, FunctionFacts):
                return
            if name not in PROTOCOL_METHODS and not decorators.is_abstract(function):
                return
        elif name.startswith("__"):
            return
        ref = owner.ref.member(name)
        target = self._library.member(owner, name)
        if isinstance(target, Definition) and target.ref == ref:
            yield from self._describe(target, owner)
        elif isinstance(target, Definition):
            # A function given to a class is a method of it, wherever it was defined. Of a class only the name is kept,
            # since two classes may have each other as attributes without end.
            symbol = next(iter(self._describe(target, owner)), None)
            if symbol is not None:
                found = alias_of(symbol, target.ref, ref)
                yield replace(found, open=True) if found.kind is SymbolKind.CLASS else found
        elif isinstance(target, ModuleFound):
            yield Symbol(ref, SymbolKind.MODULE, definition=Ref(target.module, ""))
        else:
            definition = target.ref if isinstance(target, Foreign) else None
            yield Symbol(ref, SymbolKind.ATTRIBUTE, definition=definition)

    # -- values --------------------------------------------------------------------------------------------------

    def _value(
        self, found: Definition, facts: ValueFacts, owner: Definition | None, requires: tuple[str, ...]
    ) -> Iterator[Symbol]:
        if facts.call is not None and facts.call.path in _NAMED_TUPLE_CALLS:
            yield from _named_tuple(found.ref, facts.call, requires)
            return
        if facts.call is not None and facts.call.path in constructors.ENUMERATIONS and len(facts.call.arguments) > 1:
            yield Symbol(found.ref, SymbolKind.CLASS, bases=(facts.call.path,), requires=requires, open=True)
            return
        symbol = Symbol(
            found.ref,
            SymbolKind.ATTRIBUTE,
            value=_constant(facts.text),
            annotation=facts.annotation,
            requires=requires,
        )
        if owner is not None:
            placed = self._field(symbol, facts, owner)
            if placed is None:
                return
            symbol = placed
        elif not facts.bound:
            return
        yield symbol

    def _field(self, symbol: Symbol, facts: ValueFacts, owner: Definition) -> Symbol | None:
        """A class's attribute as its kind of class makes it; None when it is none."""
        assert isinstance(owner.bound.facts, ClassFacts)
        if any(
            isinstance(b, Foreign) and constructors.dotted(b) in constructors.NAMED_TUPLES
            for b in self._library.bases(owner)
        ):
            return replace(symbol, value=None)
        if constructors.makes_own_values(self._library, owner):
            symbol = replace(symbol, value=None)
        elif facts.call is not None and facts.call.path == "enum.auto":
            given = auto_values(self._library, owner).get(symbol.ref.qualname.rpartition(".")[2])
            symbol = replace(symbol, value=given or symbol.value)
        dataclass = decorators.is_dataclass(owner.bound.facts.decorators)
        special = decorators.last_name(facts.annotation_path or "")
        if dataclass is not None and not facts.class_variable:
            if special == "KW_ONLY" or (special == "InitVar" and not facts.bound):
                return None
            options = constructors.field_options(facts.call)
            if options:
                symbol = replace(symbol, value=_constant(options.get("default")))
            slots = decorators.keyword_flag(dataclass, "slots") is True
            if not slots and (not facts.bound or (options and "default" not in options)):
                return replace(symbol, binding=Binding.INSTANCE)
            return symbol
        return symbol if facts.bound else replace(symbol, binding=Binding.INSTANCE)


def _named_tuple(ref: Ref, call: DecoratorFacts, requires: tuple[str, ...]) -> Iterator[Symbol]:
    fields = constructors.functional_fields(call)
    yield Symbol(
        ref,
        SymbolKind.CLASS,
        signature=Signature(fields) if fields is not None else None,
        bases=("typing.NamedTuple",),
        requires=requires,
        open=fields is None,
    )
    for field in fields or ():
        yield Symbol(ref.member(field.name), SymbolKind.ATTRIBUTE)


def _seen(facts: FunctionFacts, binding: Binding | None) -> tuple[Parameter, ...]:
    """A function's parameters as its caller sees them."""
    bound = binding in (Binding.INSTANCE, Binding.CLASS)
    # A class method that is taken out of its class is bound to it all the same.
    if bound or (binding is None and any(decorators.last_name(d.path) == "classmethod" for d in facts.decorators)):
        return decorators.without_first(facts.parameters)
    return facts.parameters


def _closed(parameters: tuple[Parameter, ...], only: tuple[str, ...] | None) -> tuple[Parameter, ...]:
    """Parameters as a call sees them when ``**kwargs`` takes a few names alone: each like a keyword of its own."""
    if only is None:
        return parameters
    kept = tuple(p for p in parameters if p.kind is not ParameterKind.VAR_KEYWORD)
    return (*kept, *(Parameter(name, ParameterKind.KEYWORD_ONLY, "...") for name in only))


def mangled(name: str, owner: str) -> str:
    """A name as Python keeps it when it is written inside a class."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{owner.lstrip('_')}{name}" if private and owner.strip("_") else name


def _constant(text: str | None) -> str | None:
    return text if text is not None and len(text) <= LONGEST_CONSTANT and "\n" not in text else None
