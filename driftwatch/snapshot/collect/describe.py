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
from driftwatch.snapshot.collect.closures import parameters_of_lambda
from driftwatch.snapshot.collect.enumerations import auto_values
from driftwatch.snapshot.collect.fields import field_options, named_tuple
from driftwatch.snapshot.collect.library import (
    NAMED_TUPLE_CALLS,
    Definition,
    Foreign,
    Found,
    Library,
    ModuleFound,
    is_class,
)
from driftwatch.snapshot.collect.own_decorators import (
    added_by_all,
    as_python_has_it,
    hides_function,
    hides_signature,
    keywords_added,
    put_in_place,
    spelled_out,
)
from driftwatch.snapshot.collect.source_facts import (
    Bound,
    ClassFacts,
    FunctionFacts,
    ImportFacts,
    ValueFacts,
)
from driftwatch.snapshot.model.codec import alias_of
from driftwatch.snapshot.model.standard_bases import ENUMERATIONS, NAMED_TUPLES, standard_members
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
        "__get__",
    }
)
"""The special methods whose presence callers rely on."""

LONGEST_CONSTANT = 120
"""A constant of more source text than this is a table; its content is not recorded."""

_REMAKING = ("__new__", "__init__", "__prepare__", "__getattr__", "__getattribute__")
"""What a metaclass defines that gives its classes names which are not in their bodies."""
_BUILTIN_GENERICS = {"typing.Tuple": "tuple", "typing.List": "list", "typing.Dict": "dict", "typing.Set": "set"}


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
        facts = replace(facts, decorators=tuple(as_python_has_it(self._library, d) for d in facts.decorators))
        named = (spelled_out(self._library, d) for d in facts.decorators)
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
        name = found.ref.qualname.rpartition(".")[2]
        binding = decorators.binding_of(name, facts) if owner is not None else None
        taking = self._taking_the_place(facts, binding)
        if taking is None or decorators.makes_foreign_callable(facts, self._library.owns):
            return Symbol(found.ref, SymbolKind.ATTRIBUTE, requires=requires)
        facts, shows = taking
        return Symbol(
            found.ref,
            SymbolKind.FUNCTION,
            signature=self._signature(found, facts, binding, returns_ref),
            binding=binding,
            abstract=owner is not None and decorators.is_abstract(facts),
            deprecated=deprecated,
            requires=requires,
            shows=Signature(_seen(facts, binding)) if facts.only_keywords is not None else shows,
            hides=any(hides_signature(self._library, decorator) for decorator in facts.decorators),
        )

    def _taking_the_place(
        self, facts: FunctionFacts, binding: Binding | None
    ) -> tuple[FunctionFacts, Signature | None] | None:
        """What is called once all decorators are applied, and what it shows, where that is not what it takes.

        None where nobody can tell what is called.
        """
        shows: Signature | None = None
        for decorator in reversed(facts.decorators):
            made = put_in_place(self._library, decorator)
            seen = _seen(made, binding) if made is not None else ()
            if made is not None and not takes_anything(seen):
                # The wrapper's own parameters are all that there is; what it gives is its own affair.
                facts, shows = FunctionFacts(made.parameters, decorators=facts.decorators, flavour=made.flavour), None
            elif hides_function(self._library, decorator):
                return None
            elif made is not None:
                shows = Signature(seen)
        return facts, shows

    def _signature(
        self, found: Definition, facts: FunctionFacts, binding: Binding | None, returns_ref: Ref | None
    ) -> Signature:
        parameters = _seen(facts, binding)
        extra = set(decorators.accepted_keywords(facts))
        for decorator in facts.decorators:
            extra |= keywords_added(self._library, decorator)
        extra -= {p.name for p in parameters}
        inside = found.ref.qualname.split(".")[:-1]
        parameters = constructors.as_kept(parameters, inside[-1]) if inside else parameters
        taken = Signature(
            _closed(parameters, facts.only_keywords),
            facts.returns,
            returns_ref,
            tuple(sorted(extra)),
            refused=facts.refused_keywords,
            refusals=facts.refusals,
        )
        return taken if decorators.makes_context(facts) else replace(taken, gives=facts.gives, flavour=facts.flavour)

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

    # -- classes -------------------------------------------------------------------------------------------------

    def _class(self, found: Definition, facts: ClassFacts, requires: tuple[str, ...]) -> Iterator[Symbol]:
        init = facts.body.get("__init__")
        warns = init.facts.warns if init is not None and isinstance(init.facts, FunctionFacts) else None
        strange = not constructors.ordinary_metaclass(self._library, found, *_REMAKING)
        delegated = self._delegated(facts)
        signature, variants = one_of(constructors.constructor(self._library, found))
        added = added_by_all(self._library, facts.decorators)
        yield Symbol(
            found.ref,
            SymbolKind.CLASS,
            signature=signature,
            variants=variants,
            bases=tuple(self._bases(found, facts)),
            deprecated=decorators.deprecation_of((spelled_out(self._library, d) for d in facts.decorators), warns),
            requires=requires,
            open=facts.dynamic or strange or delegated is None or added is None,
            shows=constructors.shown_constructor(self._library, found),
        )
        for name, function in added or ():
            if name not in facts.body and not name.startswith("_"):
                given = Bound(function or ValueFacts())
                yield from self._defined(Definition(found.ref.member(name), given), found)
        for base in facts.bases:
            if base.call is not None and base.call.path in NAMED_TUPLE_CALLS:
                fields = named_tuple(self._library, base.call) or ()
                yield from (Symbol(found.ref.member(field.name), SymbolKind.ATTRIBUTE) for field in fields)
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
                known = standard_members(base.dotted) if isinstance(base, Foreign) else None
                if known is None:
                    return None
                names |= known
        return names

    def _bases(self, found: Definition, facts: ClassFacts) -> Iterator[str]:
        for base, written in zip(self._library.bases(found), facts.bases, strict=True):
            if isinstance(base, Definition) and (
                is_class(base.bound.facts) or isinstance(base.bound.facts, ImportFacts)
            ):
                self._waiting.append(base)
                yield str(base.ref)
            elif isinstance(base, Foreign):
                yield base.dotted
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
        if facts.call is not None and facts.call.path in NAMED_TUPLE_CALLS:
            fields = named_tuple(self._library, facts.call)
            yield Symbol(
                found.ref,
                SymbolKind.CLASS,
                signature=Signature(fields) if fields is not None else None,
                bases=("typing.NamedTuple",),
                requires=requires,
                open=fields is None,
            )
            yield from (Symbol(found.ref.member(field.name), SymbolKind.ATTRIBUTE) for field in fields or ())
            return
        if facts.call is not None and facts.call.path in ENUMERATIONS and len(facts.call.arguments) > 1:
            yield Symbol(found.ref, SymbolKind.CLASS, bases=(facts.call.path,), requires=requires, open=True)
            return
        function = self._given_function(facts)
        if function is not None:
            yield self._function(found, function, owner, requires)
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

    def _given_function(self, facts: ValueFacts) -> FunctionFacts | None:
        """The function that a value is: a lambda, or what a function of the library always gives."""
        parameters = parameters_of_lambda(facts.text)
        if parameters is not None:
            return FunctionFacts(parameters)
        if facts.path is not None:
            return self._method_of_instance(facts.path)
        call = facts.call
        found = self._library.resolve(call.path) if call is not None and self._library.owns(call.path) else None
        maker = found.bound if isinstance(found, Definition) else None
        if maker is None or not isinstance(maker.facts, FunctionFacts) or self._library.rivals(maker):
            return None
        made = maker.facts.makes
        plain = made is not None and not maker.facts.applies and not maker.facts.decorators
        # A wrapper shows the parameters of the function that it is given, and nobody knows what others make of it.
        own = made is not None and all(self._library.owns(decorator.path) for decorator in made.decorators)
        return made if plain and own else None

    def _method_of_instance(self, path: str) -> FunctionFacts | None:
        """The method of an instance that a path names, bound to it."""
        owner, _, name = path.rpartition(".")
        instance = self._library.resolve(owner) if self._library.owns(path) and owner else None
        facts = instance.bound.facts if isinstance(instance, Definition) else None
        made = self._library.made(facts) if isinstance(facts, ValueFacts) else None
        for base in self._library.lineage(made) if made is not None else ():
            if not isinstance(base, Definition) or not isinstance(base.bound.facts, ClassFacts):
                return None
            if name in base.bound.facts.body:
                method = base.bound.facts.body[name].facts
                if not isinstance(method, FunctionFacts) or decorators.is_property(method):
                    return None
                others = tuple(d for d in method.decorators if decorators.last_name(d.path) not in decorators.BINDING)
                bound = _seen(method, decorators.binding_of(name, method))
                return replace(method, parameters=bound, decorators=others)
        return None

    def _field(self, symbol: Symbol, facts: ValueFacts, owner: Definition) -> Symbol | None:
        """A class's attribute as its kind of class makes it; None when it is none."""
        assert isinstance(owner.bound.facts, ClassFacts)
        if any(isinstance(b, Foreign) and b.dotted in NAMED_TUPLES for b in self._library.bases(owner)):
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
            options = field_options(facts.call)
            if options:
                symbol = replace(symbol, value=_constant(options.get("default")))
            slots = decorators.keyword_flag(dataclass, "slots") is True
            if not slots and (not facts.bound or (options and "default" not in options)):
                return replace(symbol, binding=Binding.INSTANCE)
            return symbol
        return symbol if facts.bound else replace(symbol, binding=Binding.INSTANCE)


def _seen(facts: FunctionFacts, binding: Binding | None) -> tuple[Parameter, ...]:
    """A function's parameters as its caller sees them."""
    bound = binding in (Binding.INSTANCE, Binding.CLASS)
    # A class method that is taken out of its class is bound to it all the same.
    if bound or (binding is None and any(decorators.last_name(d.path) == "classmethod" for d in facts.decorators)):
        return decorators.without_first(facts.parameters)
    return facts.parameters


def takes_anything(parameters: tuple[Parameter, ...]) -> bool:
    """Whether a caller may pass whatever there is."""
    return [p.kind for p in parameters] == [ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD]


def _closed(parameters: tuple[Parameter, ...], only: tuple[str, ...] | None) -> tuple[Parameter, ...]:
    """Parameters as a call sees them when ``**kwargs`` takes a few names alone: each like a keyword of its own."""
    if only is None:
        return parameters
    kept = tuple(p for p in parameters if p.kind is not ParameterKind.VAR_KEYWORD)
    return (*kept, *(Parameter(name, ParameterKind.KEYWORD_ONLY, "...") for name in only))


def _constant(text: str | None) -> str | None:
    return text if text is not None and len(text) <= LONGEST_CONSTANT and "\n" not in text else None
