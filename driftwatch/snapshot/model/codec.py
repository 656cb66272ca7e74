"""The canonical text of a snapshot: one JSON object to a symbol, one symbol to a line.

Enters: a snapshot. Leaves: for each symbol its line, in an order and a form that depend on the facts alone. What
follows from another line is not repeated: a name that is defined elsewhere is a pointer (``"is"``), and so are, unsaid,
the members of a class that is one. `expand` and `decode` are the way back.

Parameters are written as Python writes them, ``"x: int = 0"`` with ``"/"`` and ``"*"`` between the kinds; where that
could be read in two ways, as an object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

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

Entry = dict[str, Any]
"""What a line says, as JSON gives it; its ``name`` is the symbol's reference."""

_NAME = re.compile(r"\*{0,2}([^\W\d]\w*)")
_STARS = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}


def lines(snapshot: Snapshot) -> Iterator[tuple[Ref, str]]:
    """Every symbol that does not follow from another, with its canonical line, in order."""
    pointers = _pointers(snapshot.symbols)
    for ref, symbol in sorted(snapshot.symbols.items()):
        if any(owner in pointers for owner in _owners(ref)):
            continue
        entry = encode_symbol(symbol)
        if ref in pointers:
            assert symbol.definition is not None
            entry = {"name": str(ref), "is": str(symbol.definition)}
            if symbol.requires != snapshot.symbols[symbol.definition].requires:
                entry["requires"] = list(symbol.requires)
        yield ref, json.dumps(entry, ensure_ascii=False)


def encode(snapshot: Snapshot) -> bytes:
    """The canonical bytes of one snapshot; its release is not among them, so that equal APIs have equal bytes."""
    return "".join(line + "\n" for _, line in lines(snapshot)).encode()


def alias_of(symbol: Symbol, old: Ref, new: Ref, requires: Sequence[str] | None = None) -> Symbol:
    """A symbol as it is seen when its owner `old` is reached as `new`."""
    return Symbol(  # written out: `dataclasses.replace` takes three times as long, and this is done for every alias
        Ref(new.module, new.qualname + symbol.ref.qualname[len(old.qualname) :]),
        symbol.kind,
        symbol.signature,
        symbol.binding,
        symbol.bases,
        symbol.definition or symbol.ref,
        symbol.value,
        symbol.annotation,
        symbol.abstract,
        symbol.deprecated,
        symbol.requires if requires is None else tuple(requires),
        symbol.open,
        symbol.variants,
        symbol.imports,
        symbol.demands,
        symbol.shows,
        symbol.hides,
    )


def _owners(ref: Ref) -> Iterator[Ref]:
    head = ref.qualname.rpartition(".")[0]
    while head:
        yield Ref(ref.module, head)
        head = head.rpartition(".")[0]


def _pointers(symbols: Mapping[Ref, Symbol]) -> set[Ref]:
    """The names whose facts, those of their members included, are exactly those of their definition."""
    members: dict[Ref, list[Ref]] = {}
    for ref in symbols:
        for owner in _owners(ref):
            members.setdefault(owner, []).append(ref)
    found: set[Ref] = set()
    for ref, symbol in symbols.items():
        target = symbol.definition
        if target is None or target not in symbols or symbols[target].definition is not None or not ref.qualname:
            continue
        if alias_of(symbols[target], target, ref, symbol.requires) != symbol:
            continue
        ours, theirs = members.get(ref, ()), members.get(target, ())
        if len(ours) == len(theirs) and all(_same(symbols, target, ref, member) for member in theirs):
            found.add(ref)
    return found


def _same(symbols: Mapping[Ref, Symbol], target: Ref, ref: Ref, member: Ref) -> bool:
    expected = alias_of(symbols[member], target, ref)
    return symbols.get(expected.ref) == expected


# -- one symbol ------------------------------------------------------------------------------------------------------


def encode_symbol(symbol: Symbol) -> Entry:
    """A symbol's facts in full; what is empty is left out."""
    entry: Entry = {"name": str(symbol.ref), "kind": symbol.kind.value}
    if symbol.binding is not None:
        entry["binding"] = symbol.binding.value
    if symbol.abstract:
        entry["abstract"] = True
    if symbol.bases:
        entry["bases"] = list(symbol.bases)
    if symbol.signature is not None:
        entry.update(_encode_signature(symbol.signature))
    if symbol.variants:
        entry["variants"] = [_encode_signature(variant) for variant in symbol.variants]
    for key, value in (("value", symbol.value), ("annotation", symbol.annotation)):
        if value is not None:
            entry[key] = value
    if symbol.definition is not None:
        entry["definition"] = str(symbol.definition)
    if symbol.deprecated is not None:
        entry["deprecated"] = symbol.deprecated.message
        if symbol.deprecated.removal is not None:
            entry["removal"] = symbol.deprecated.removal
    if symbol.requires:
        entry["requires"] = list(symbol.requires)
    if symbol.shows is not None:
        entry["shows"] = _encode_signature(symbol.shows)
    if symbol.hides:
        entry["hides"] = True
    if symbol.open:
        entry["open"] = True
    if symbol.imports:
        entry["imports"] = list(symbol.imports)
    if symbol.demands:
        entry["demands"] = list(symbol.demands)
    return entry


_KEYS = frozenset(
    {
        *("name", "kind", "binding", "abstract", "bases", "value", "annotation", "definition", "requires", "open"),
        *(
            "parameters",
            "returns",
            "instance_of",
            "extra_keywords",
            "gives",
            "flavour",
            "refused",
            "refusals",
            "variants",
        ),
        *("imports", "demands", "shows", "hides"),
        *("deprecated", "removal"),
        *("is", "since", "until"),
    }
)


def decode(entry: Entry) -> Symbol:
    """The symbol of a full entry; raises KeyError, ValueError or TypeError when it is not one."""
    if not _KEYS.issuperset(entry):
        raise ValueError(f"unknown key {min(set(entry) - _KEYS)!r}")
    deprecated = entry.get("deprecated")
    binding = entry.get("binding")
    return Symbol(
        ref=Ref.parse(_text(entry["name"])),
        kind=SymbolKind(entry["kind"]),
        signature=_decode_signature(entry) if "parameters" in entry else None,
        binding=Binding(binding) if binding is not None else None,
        bases=_texts(entry.get("bases", ())),
        definition=Ref.parse(_text(entry["definition"])) if "definition" in entry else None,
        value=_optional(entry.get("value")),
        annotation=_optional(entry.get("annotation")),
        abstract=entry.get("abstract", False) is True,
        deprecated=None if deprecated is None else Deprecation(_text(deprecated), _optional(entry.get("removal"))),
        requires=_texts(entry.get("requires", ())),
        open=entry.get("open", False) is True,
        variants=tuple(map(_decode_signature, entry.get("variants", ()))),
        imports=_texts(entry.get("imports", ())),
        demands=_texts(entry.get("demands", ())),
        shows=_decode_signature(entry["shows"]) if "shows" in entry else None,
        hides=entry.get("hides", False),
    )


def _encode_signature(signature: Signature) -> Entry:
    entry: Entry = {"parameters": _encode_parameters(signature.parameters)}
    if signature.returns is not None:
        entry["returns"] = signature.returns
    if signature.returns_ref is not None:
        entry["instance_of"] = str(signature.returns_ref)
    if signature.extra_keywords:
        entry["extra_keywords"] = list(signature.extra_keywords)
    if signature.refused:
        entry["refused"] = list(signature.refused)
    if signature.refusals:
        entry["refusals"] = [list(refusal) for refusal in signature.refusals]
    if signature.flavour is not None:
        entry["flavour"] = signature.flavour.value
    if signature.gives:
        entry["gives"] = list(signature.gives)
    return entry


def _decode_signature(entry: Entry) -> Signature:
    returned = entry.get("instance_of")
    return Signature(
        parameters=_decode_parameters(entry["parameters"]),
        returns=_optional(entry.get("returns")),
        returns_ref=Ref.parse(_text(returned)) if returned is not None else None,
        extra_keywords=_texts(entry.get("extra_keywords", ())),
        gives=_numbers(entry.get("gives", ())),
        flavour=Flavour(entry["flavour"]) if "flavour" in entry else None,
        refused=_texts(entry.get("refused", ())),
        refusals=tuple(Refusal(*_texts(refusal)) for refusal in entry.get("refusals", ())),
    )


# -- parameters ------------------------------------------------------------------------------------------------------


def _encode_parameters(parameters: Sequence[Parameter]) -> list[Any]:
    written = list(_written(parameters))
    if _decode_parameters(written) == tuple(parameters):
        return written
    return [
        {
            "name": p.name,
            "kind": p.kind.value,
            **({"annotation": p.annotation} if p.annotation is not None else {}),
            **({"default": p.default} if p.default is not None else {}),
        }
        for p in parameters
    ]


def _written(parameters: Sequence[Parameter]) -> Iterator[str]:
    previous: ParameterKind | None = None
    for parameter in parameters:
        kind = parameter.kind
        if previous is ParameterKind.POSITIONAL_ONLY and kind is not previous:
            yield "/"
        if kind is ParameterKind.KEYWORD_ONLY and previous not in (kind, ParameterKind.VAR_POSITIONAL):
            yield "*"
        yield _written_parameter(parameter)
        previous = kind
    if previous is ParameterKind.POSITIONAL_ONLY:
        yield "/"


def _written_parameter(parameter: Parameter) -> str:
    text = _STARS.get(parameter.kind, "") + parameter.name
    if parameter.annotation is not None:
        text += f": {parameter.annotation}"
    if parameter.default is not None:
        text += f" = {parameter.default}" if parameter.annotation is not None else f"={parameter.default}"
    return text


def _decode_parameters(written: Sequence[Any]) -> tuple[Parameter, ...]:
    if all(isinstance(item, str) for item in written):
        return _read_parameters(tuple(written))
    return tuple(
        Parameter(
            _text(item["name"]),
            ParameterKind(item["kind"]),
            _optional(item.get("default")),
            _optional(item.get("annotation")),
        )
        for item in written
    )


@lru_cache(maxsize=4096)
def _read_parameters(written: tuple[str, ...]) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    kind = ParameterKind.POSITIONAL_OR_KEYWORD
    for item in written:
        if item == "/":
            parameters = [replace(p, kind=ParameterKind.POSITIONAL_ONLY) for p in parameters]
        elif item == "*":
            kind = ParameterKind.KEYWORD_ONLY
        elif item.startswith("**"):
            parameters.append(_read_parameter(item, ParameterKind.VAR_KEYWORD))
        elif item.startswith("*"):
            parameters.append(_read_parameter(item, ParameterKind.VAR_POSITIONAL))
            kind = ParameterKind.KEYWORD_ONLY
        else:
            parameters.append(_read_parameter(item, kind))
    return tuple(parameters)


@lru_cache(maxsize=4096)
def _read_parameter(item: str, kind: ParameterKind) -> Parameter:
    match = _NAME.match(item)
    if match is None:
        raise ValueError(f"{item!r} is not a parameter")
    rest = item[match.end() :]
    annotation: str | None = None
    default: str | None = None
    if rest.startswith(": "):
        annotation, equals, after = rest[2:].partition(" = ")
        default = after if equals else None
    elif rest.startswith("="):
        default = rest[1:]
    elif rest:
        raise ValueError(f"{item!r} is not a parameter")
    return Parameter(match.group(1), kind, default, annotation)


# -- JSON values -----------------------------------------------------------------------------------------------------


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _optional(value: object) -> str | None:
    return None if value is None else _text(value)


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        raise TypeError(f"{values!r} is not a list")
    return tuple(_text(v) for v in values)


def _numbers(values: object) -> tuple[int, ...]:
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise TypeError(f"{values!r} is not a list of numbers")
    return tuple(values)
