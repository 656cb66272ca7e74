"""A library as a code base sees it through its generated adapter: the same names, some of which take more.

Enters: a history, the functions that an adapter binds, and the names that are its own. Leaves: the history with one
more module for each adapter, its `face_of` it, which stands for the adapter's file. A bound function is there in every
release, and takes what the adapter takes: where the build takes less, a call that does not fit raises the adapter's own
error, and so does every call where the build lacks the function. Whatever else is asked of it is the library's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.snapshot.model.history import Epoch, History
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Ref, Signature, Symbol, SymbolKind

ADAPTER_MARK = "# A driftwatch adapter. Made by `driftwatch adapter write`: do not edit, make it again."
"""The first line of every adapter's file, but for comments of those who keep it."""
RUNTIME_MARK = "# The run time of a driftwatch adapter. Made by `driftwatch adapter write --split`."
"""The same of the module beside an adapter that is written as two."""
OWN_NAMES = ("ADAPTER", "available", "report")
OWN_ERRORS = ("AdapterError", "MissingArgument", "UnavailableFunction", "UnsupportedArgument")
"""What every adapter has of its own."""
REFUSED, UNAVAILABLE = "driftwatch.UnsupportedArgument", "driftwatch.UnavailableFunction"
"""What a call of an adapter raises that does not fit, and one of what the build does not have."""
_TAKES = {"available": Signature((Parameter("name", ParameterKind.POSITIONAL_OR_KEYWORD),)), "report": Signature()}
_ANYTHING = Signature((Parameter("args", ParameterKind.VAR_POSITIONAL), Parameter("kwargs", ParameterKind.VAR_KEYWORD)))
ANCESTORS = ("AdapterError", "RuntimeError")
"""What the adapter's errors descend from, below Exception."""
_ALL = "all"
_NAMED = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
_PLACED = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Asked:
    """What an adapter was made for: its functions, None for those of the policy, and its releases."""

    functions: tuple[str, ...] | None
    releases: ReleaseSet


def face_of(module: str, asked: Asked | None = None) -> str:
    """The name of the module that stands for an adapter of a library: no import statement can say it."""
    if asked is None:
        return f"{module}.<adapter>"
    functions = _ALL if asked.functions is None else " ".join(asked.functions)
    return f"{module}.<adapter {asked.releases.mask:x} {functions}>"


def is_availability(module: str, ref: Ref) -> bool:
    """Whether this is an adapter's own question whether the build has a name."""
    return ref.qualname == "available" and ref.module.startswith(face_of(module)[:-1])


def face_in(data: bytes, history: History) -> str | None:
    """The module that stands for the adapter that a file is, by its header; None where it is none of this library."""
    mark = next((m.encode() for m in (ADAPTER_MARK, RUNTIME_MARK) if m.encode() in data), None)
    if mark is None:
        return None
    before, _, rest = data.partition(mark)
    if not all(not line.strip() or line.startswith(b"#") for line in before.splitlines()):
        return None
    fields: dict[str, str] = {}
    for line in rest.decode("utf-8", "replace").splitlines()[1:]:
        if not line.startswith("#"):
            break
        key, _, value = line.removeprefix("#").strip().partition(": ")
        fields[key] = value
    library, _, span = fields.get("library", "").partition(" ")
    if library != history.distribution:
        return None
    if mark == RUNTIME_MARK.encode():
        return face_of(history.module)
    asked = fields.get("functions", _ALL)
    functions = None if asked == _ALL else tuple(name.strip() for name in asked.split(","))
    releases = _releases(history, span, fields.get("against", _ALL))
    everything = functions is None and releases == history.timeline.all
    return face_of(history.module, None if everything else Asked(functions, releases))


def with_adapter(
    history: History,
    bound: Collection[str],
    own: Collection[str],
    takes: Callable[[str], Signature | None],
) -> History:
    """The history with the faces of its adapters.

    `takes` says what one of their `own` names takes, None where that may be anything.
    """
    digest = history.digest and f"{history.digest} {' '.join((*bound, '-', *own))}"
    return replace(history, epochs=_Epochs(history, frozenset(bound), frozenset(own), takes), digest=digest)


def _releases(history: History, span: str, against: str) -> ReleaseSet:
    """The known releases an adapter was made for: up to the last that was known, and those its specifier selects."""
    everything = history.timeline.all
    try:
        wanted = everything if against == _ALL else history.timeline.set_of(_matching(history, against))
        last = span.partition(" to ")[2].partition(" ")[0] or span.partition(" ")[0]
        until = range(history.timeline.index(last) + 1)
    except (ValueError, LookupError, InvalidSpecifier):
        return everything  # an edited header: what it really holds, `adapter check` tells
    return (wanted & union([ReleaseSet(1 << i) for i in until])) or everything


def _matching(history: History, against: str) -> list[str]:
    specifier = SpecifierSet(against)
    return [version for version in history.timeline.versions if specifier.contains(version, prereleases=True)]


class _Epochs(Mapping[Ref, tuple[Epoch, ...]]):
    """The epochs of a library and of the faces: each of the latter is made when it is asked for."""

    def __init__(
        self,
        history: History,
        bound: frozenset[str],
        own: frozenset[str],
        takes: Callable[[str], Signature | None],
    ) -> None:
        self._history, self._bound, self._own, self._takes = history, bound, own, takes
        self._face = face_of(history.module)
        self._prefix = self._face[:-1]
        self._refs: tuple[Ref, ...] | None = None
        self._made: dict[Ref, tuple[Epoch, ...]] = {}

    def __getitem__(self, ref: Ref) -> tuple[Epoch, ...]:
        if not ref.module.startswith(self._prefix):
            return self._history.epochs[ref]
        if ref not in self._made:
            self._made[ref] = self._shown(ref)
        if not self._made[ref]:
            raise KeyError(ref)
        return self._made[ref]

    def __iter__(self) -> Iterator[Ref]:
        if self._refs is None:
            self._refs = (*self._history.epochs, *self._names())
        return iter(self._refs)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _names(self) -> Iterable[Ref]:
        root = self._history.module
        yield Ref(self._face, "")
        yield from (Ref(self._face, name) for name in sorted(self._own))
        for ref in self._history.epochs:
            if ref.module == root and ref.qualname and ref.qualname not in self._own:
                yield Ref(self._face, ref.qualname)

    def _shown(self, ref: Ref) -> tuple[Epoch, ...]:
        everywhere = self._history.timeline.all
        if not ref.qualname:
            return (Epoch(Symbol(ref, SymbolKind.MODULE), everywhere),)
        if ref.qualname in self._own:
            takes = _TAKES.get(ref.qualname) or self._takes(ref.qualname) or _ANYTHING
            return (Epoch(Symbol(ref, _kind(ref.qualname), takes, open=True), everywhere),)
        original = Ref(self._history.module, ref.qualname)
        epochs = self._history.of(original)
        asked = self._asked(ref.module)
        bound = self._bound if asked.functions is None else asked.functions
        known = [epoch.symbol for epoch in epochs if not epoch.releases.isdisjoint(asked.releases)]
        owner, _, member = ref.qualname.partition(".")
        if owner in bound and known and known[-1].signature is not None and not member.startswith("_"):
            adapted = tuple(_adapted(ref, epochs, known[-1].signature))
            return adapted if member else (*adapted, *_absent(ref, epochs, everywhere))
        return tuple(
            Epoch(replace(epoch.symbol, ref=ref, definition=epoch.symbol.definition or original), epoch.releases)
            for epoch in epochs
        )

    def _asked(self, face: str) -> Asked:
        said = face.removeprefix(self._prefix).removesuffix(">").split()
        if not said:
            return Asked(None, self._history.timeline.all)
        functions = None if said[1:] == [_ALL] else tuple(said[1:])
        return Asked(functions, ReleaseSet(int(said[0], 16)))


def _kind(name: str) -> SymbolKind:
    """What one of the adapter's own names stands for, by the way it is written."""
    if name.isupper():
        return SymbolKind.ATTRIBUTE
    return SymbolKind.CLASS if name[0].isupper() else SymbolKind.FUNCTION


def _adapted(ref: Ref, epochs: Iterable[Epoch], reference: Signature) -> Iterator[Epoch]:
    """What a bound function takes where the build has it: where that covers the reference, it is the build's own."""
    for epoch in epochs:
        symbol, own = replace(epoch.symbol, ref=ref, deprecated=None, requires=()), epoch.symbol.signature
        if own is None:
            yield Epoch(replace(symbol, signature=reference, variants=(), misfit=REFUSED), epoch.releases)
        elif _covers(own, reference):
            yield Epoch(symbol, epoch.releases)
        else:
            yield Epoch(replace(symbol, signature=_both(own, reference), misfit=REFUSED), epoch.releases)


def _absent(ref: Ref, epochs: Sequence[Epoch], everywhere: ReleaseSet) -> Iterator[Epoch]:
    """Where the build has no such function, a name is there that only says so."""
    lacking = everywhere - union([EMPTY, *(epoch.releases for epoch in epochs)])
    if lacking:
        kind = next((epoch.symbol.kind for epoch in epochs), SymbolKind.FUNCTION)
        yield Epoch(Symbol(ref, kind, _ANYTHING, misfit=UNAVAILABLE), lacking)


def _covers(own: Signature, reference: Signature) -> bool:
    """Whether every call that fits the reference fits this one, argument for argument."""
    mine = {parameter.name: parameter for parameter in own.parameters}
    wanted = {parameter.name: parameter for parameter in reference.parameters}
    for name, parameter in wanted.items():
        if name not in mine or (mine[name].kind is ParameterKind.POSITIONAL_ONLY) != (
            parameter.kind is ParameterKind.POSITIONAL_ONLY
        ):
            return False
    placed = [p.name for p in reference.parameters if p.kind in _PLACED]
    if [p.name for p in own.parameters if p.kind in _PLACED][: len(placed)] != placed:
        return False
    return all(p.name in wanted and wanted[p.name].required for p in own.parameters if p.required)


def _both(own: Signature, reference: Signature) -> Signature:
    """The reference's parameters, and by name those that the build alone has; required is what the build requires."""
    needed = {parameter.name for parameter in own.parameters if parameter.required}
    taken = [_optional(p, required=p.name in needed) for p in reference.parameters]
    names = {parameter.name for parameter in reference.parameters}
    more = [p for p in own.parameters if p.name not in names]
    named = [replace(p, kind=ParameterKind.KEYWORD_ONLY) for p in more if p.kind in (*_NAMED, *_PLACED)]
    rest = [p for p in more if p.kind is ParameterKind.VAR_KEYWORD]
    return replace(own, parameters=(*taken, *named, *rest))


def _optional(parameter: Parameter, *, required: bool) -> Parameter:
    if required or not parameter.required:
        return replace(parameter, default=None) if required else parameter
    return replace(parameter, default="None")
