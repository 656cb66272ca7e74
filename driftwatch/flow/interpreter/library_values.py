"""What an object of the library is to the analysis: a class, a function, a constant, or an unknown with a name."""

from __future__ import annotations

import ast
from functools import cache

from driftwatch.flow.domain.pure import writable
from driftwatch.flow.domain.values import (
    UNKNOWN,
    Atom,
    Const,
    LibObject,
    Unknown,
)
from driftwatch.snapshot.model.history import Epoch
from driftwatch.snapshot.model.symbols import Ref, Symbol, SymbolKind


def object_of(epoch: Epoch, ref: Ref) -> Atom:
    symbol = epoch.symbol
    if symbol.kind is SymbolKind.CLASS:
        return LibObject(ref, is_class=True)
    if symbol.kind is SymbolKind.FUNCTION:
        return LibObject(ref)
    return constant_of(symbol, ref)


def constant_of(symbol: Symbol, ref: Ref) -> Atom:
    atom = UNKNOWN if symbol.value is None else _literal(symbol.value)
    return Unknown(name=ref.dotted) if atom == UNKNOWN else atom


@cache
def _literal(text: str) -> Atom:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return UNKNOWN
    plain = value is None or isinstance(value, (bool, int, float, str))
    return Const(value) if plain and writable(value) else UNKNOWN
