"""The canonical form: what is written can be read back, whatever the facts are."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.snapshot.model.codec import decode, encode, encode_symbol, lines
from driftwatch.snapshot.model.symbols import (
    Binding,
    Deprecation,
    Flavour,
    Parameter,
    ParameterKind,
    Ref,
    Refusal,
    Signature,
    Snapshot,
    Symbol,
    SymbolKind,
)

names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True) | st.sampled_from(["é", "名前"])
texts = st.text(max_size=12) | st.sampled_from(
    ["a = b", "x: y", "Literal['a = b']", "lambda x, /, *y: {1: 2}", "'*'", ""]
)
modules = st.lists(names, min_size=1, max_size=3).map(".".join)
refs = st.builds(Ref, modules, st.lists(names, min_size=1, max_size=3).map(".".join))
maybe = st.none() | texts
parameters = st.builds(Parameter, names, st.sampled_from(ParameterKind), maybe, maybe)
signatures = st.builds(
    Signature,
    st.lists(parameters, max_size=5).map(tuple),
    maybe,
    st.none() | refs,
    st.lists(names, max_size=2).map(tuple),
    st.lists(st.integers(0, 9), max_size=2).map(tuple),
    st.none() | st.sampled_from(Flavour),
    st.lists(names, max_size=2).map(tuple),
    st.lists(st.builds(Refusal, texts, names), max_size=2).map(tuple),
)
symbols = st.builds(
    Symbol,
    ref=refs,
    kind=st.sampled_from(SymbolKind),
    signature=st.none() | signatures,
    binding=st.none() | st.sampled_from(Binding),
    bases=st.lists(texts, max_size=2).map(tuple),
    definition=st.none() | refs,
    value=maybe,
    annotation=maybe,
    abstract=st.booleans(),
    deprecated=st.none() | st.builds(Deprecation, texts, maybe),
    requires=st.lists(names, max_size=2).map(tuple),
    open=st.booleans(),
    variants=st.lists(signatures, max_size=2).map(tuple),
    imports=st.lists(names, max_size=2).map(tuple),
    demands=st.lists(names, max_size=2).map(tuple),
    shows=st.none() | signatures,
)


@given(symbols)
def test_a_symbol_survives_being_written_and_read(symbol: Symbol) -> None:
    assert decode(json.loads(json.dumps(encode_symbol(symbol)))) == symbol


@given(st.lists(symbols, max_size=8))
def test_the_order_in_which_symbols_were_found_does_not_show(found: list[Symbol]) -> None:
    one = Snapshot("1", {s.ref: s for s in found})
    other = Snapshot("2", dict(reversed(list(one.symbols.items()))))
    assert encode(one) == encode(other)


@given(st.lists(symbols, max_size=6))
def test_every_line_is_one_line(found: list[Symbol]) -> None:
    snapshot = Snapshot("1", {s.ref: s for s in found})
    assert len(encode(snapshot).decode().split("\n")) == len(list(lines(snapshot))) + 1


def test_parameters_are_written_as_python_writes_them() -> None:
    kinds = ParameterKind
    signature = Signature(
        (
            Parameter("a", kinds.POSITIONAL_ONLY),
            Parameter("b", kinds.POSITIONAL_OR_KEYWORD, annotation="int"),
            Parameter("c", kinds.POSITIONAL_OR_KEYWORD, default="1"),
            Parameter("d", kinds.KEYWORD_ONLY, default="None", annotation="str | None"),
            Parameter("rest", kinds.VAR_KEYWORD),
        ),
        returns="int",
    )
    entry = encode_symbol(Symbol(Ref("m", "f"), SymbolKind.FUNCTION, signature))
    assert entry == {
        "name": "m:f",
        "kind": "function",
        "parameters": ["a", "/", "b: int", "c=1", "*", "d: str | None = None", "**rest"],
        "returns": "int",
    }


def test_members_of_a_class_found_elsewhere_are_not_repeated() -> None:
    home, there = Ref("m.home", "C"), Ref("m", "C")
    cls = Symbol(home, SymbolKind.CLASS, Signature())
    method = Symbol(home.member("go"), SymbolKind.FUNCTION, Signature(), Binding.INSTANCE)
    alias = Symbol(there, SymbolKind.CLASS, Signature(), definition=home)
    alias_method = Symbol(
        there.member("go"), SymbolKind.FUNCTION, Signature(), Binding.INSTANCE, definition=home.member("go")
    )
    snapshot = Snapshot("1", {s.ref: s for s in (cls, method, alias, alias_method)})
    assert [line for _, line in lines(snapshot)] == [
        '{"name": "m:C", "is": "m.home:C"}',
        '{"name": "m.home:C", "kind": "class", "parameters": []}',
        '{"name": "m.home:C.go", "kind": "function", "binding": "instance", "parameters": []}',
    ]


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "m:f"},
        {"kind": "function"},
        {"name": 3, "kind": "function"},
        {"name": "m:f", "kind": "sculpture"},
        {"name": "m:f", "kind": "function", "parameters": ["9"]},
        {"name": "m:f", "kind": "function", "parameters": ["a b"]},
        {"name": "m:f", "kind": "function", "parameters": [{"name": "a"}]},
        {"name": "m:f", "kind": "function", "parameters": 3},
        {"name": "m:f", "kind": "function", "surprise": 1},
        {"name": "m:C", "kind": "class", "bases": "abc"},
        {"name": "m:f", "kind": "function", "binding": "loose"},
    ],
)
def test_what_is_no_symbol_is_refused(entry: dict[str, object]) -> None:
    with pytest.raises((KeyError, ValueError, TypeError)):
        decode(entry)


def test_the_form_does_not_depend_on_the_python_that_writes_it() -> None:
    # Written by Python 3.11; the other versions run the same test.
    symbol = Symbol(Ref("m", "x"), SymbolKind.ATTRIBUTE, value="'é' + \"'\"", requires=("b", "a"))
    assert sys.version_info >= (3, 10)
    assert encode(Snapshot("1", {symbol.ref: symbol})).decode() == (
        '{"name": "m:x", "kind": "attribute", "value": "\'é\' + \\"\'\\"", "requires": ["b", "a"]}\n'
    )
