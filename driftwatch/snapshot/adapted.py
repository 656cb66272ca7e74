"""A library as a code base sees it through its generated adapter: the same names, some of which take more.

Enters: a history, the functions that an adapter binds, and the names that are its own. Leaves: the history with one
more module, `face_of` it, which stands for the adapter's file. A bound function has there, in every release that has it
at all, the signature by which the adapter takes arguments; whatever else is asked of it is the library's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from driftwatch.releases import union
from driftwatch.snapshot.history import Epoch, History
from driftwatch.snapshot.model import Ref, Symbol, SymbolKind

ADAPTER_MARK = "# A driftwatch adapter. Made by `driftwatch adapter write`: do not edit, make it again."
"""The first line of every adapter's file, but for comments of those who keep it."""
OWN_NAMES = ("ADAPTER", "available", "report")
OWN_ERRORS = ("AdapterError", "MissingArgument", "UnavailableFunction", "UnsupportedArgument")
"""What every adapter has of its own."""
_FACE = "<adapter>"


def face_of(module: str) -> str:
    """The name of the module that stands for an adapter of a library: no import statement can say it."""
    return f"{module}.{_FACE}"


def is_adapter(data: bytes, distribution: str) -> bool:
    """Whether a file is an adapter of a library, by its header."""
    mark = ADAPTER_MARK.encode()
    if mark not in data:
        return False
    before, _, rest = data.partition(mark)
    comments = all(not line.strip() or line.startswith(b"#") for line in before.splitlines())
    return comments and f"# library: {distribution} ".encode() in rest[:1000]


def with_adapter(history: History, bound: Collection[str], own: Collection[str]) -> History:
    """The history with the face of its adapter."""
    digest = history.digest and f"{history.digest} {' '.join((*bound, '-', *own))}"
    return replace(history, epochs=_Epochs(history, frozenset(bound), frozenset(own)), digest=digest)


class _Epochs(Mapping[Ref, tuple[Epoch, ...]]):
    """The epochs of a library and of the face: each of the latter is made when it is asked for."""

    def __init__(self, history: History, bound: frozenset[str], own: frozenset[str]) -> None:
        self._history, self._bound, self._own = history, bound, own
        self._face = face_of(history.module)
        self._refs: tuple[Ref, ...] | None = None

    def __getitem__(self, ref: Ref) -> tuple[Epoch, ...]:
        if ref.module != self._face:
            return self._history.epochs[ref]
        found = self._shown(ref)
        if not found:
            raise KeyError(ref)
        return found

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
            kind = SymbolKind.CLASS if ref.qualname[0].isupper() else SymbolKind.ATTRIBUTE
            return (Epoch(Symbol(ref, kind, open=True), everywhere),)
        original = Ref(self._history.module, ref.qualname)
        epochs = self._history.of(original)
        if ref.qualname in self._bound and epochs:
            newest = epochs[-1].symbol
            return (Epoch(replace(newest, ref=ref, deprecated=None), union([epoch.releases for epoch in epochs])),)
        return tuple(
            Epoch(replace(epoch.symbol, ref=ref, definition=epoch.symbol.definition or original), epoch.releases)
            for epoch in epochs
        )
