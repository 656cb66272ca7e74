"""A snapshot against what a live import of the same release showed: the differences, in words, and the counts."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.model.lineage import linearized
from driftwatch.snapshot.model.standard_bases import standard_members
from driftwatch.snapshot.model.symbols import Binding, Ref, Signature, Snapshot, Symbol, SymbolKind

Live = Mapping[str, Any]

_KINDS = {
    "positional-only": "positional-only",
    "positional or keyword": "positional-or-keyword",
    "variadic positional": "var-positional",
    "keyword-only": "keyword-only",
    "variadic keyword": "var-keyword",
}


@dataclass
class Parity:
    """What agreed, by kind, and every difference."""

    agreed: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    unimportable: dict[str, str] = field(default_factory=dict)


def compare(snapshot: Snapshot, live: Live) -> Parity:
    """Hold every name, signature, member and constant of the importable modules against the snapshot."""
    parity = Parity()
    for module, seen in live.items():
        if "error" in seen:
            parity.unimportable[module] = seen["error"]
            continue
        parity.agreed["modules"] += 1
        parity.differences.extend(_module(snapshot, module, seen["names"], parity))
    root = next(iter(live))
    if "names" in live[root]:
        # Only the first module that is imported shows what its import loads.
        parity.differences.extend(_submodules(snapshot, root, live[root]["names"], parity))
    return parity


def _submodules(snapshot: Snapshot, root: str, names: Live, parity: Parity) -> Iterator[str]:
    history = merge("", root, [snapshot])
    for ref, symbol in snapshot.symbols.items():
        package, _, name = ref.module.rpartition(".")
        if ref.qualname or package != root or Ref(root, name) in snapshot.symbols:
            continue
        live = names.get(name, {}).get("kind") == "module"
        if live == bool(history.attribute(root, name)):
            parity.agreed["submodules loaded" if live else "submodules not loaded"] += 1
        elif live or not symbol.requires:
            yield f"{ref}: {'' if live else 'not '}loaded live, {'not ' if live else ''}in the snapshot"


def _module(snapshot: Snapshot, module: str, names: Live, parity: Parity) -> Iterator[str]:
    symbols = snapshot.symbols
    for name, seen in names.items():
        ref = Ref(module, name)
        symbol = symbols.get(ref)
        if symbol is None:
            if Ref(f"{module}.{name}", "") in symbols or seen["kind"] == "error":
                continue
            if not symbols[Ref(module, "")].open:
                yield f"{ref}: live has a {seen['kind']}, the snapshot has nothing"
            continue
        parity.agreed["names"] += 1
        if not _foreign(symbol):
            yield from _symbol(snapshot, symbol, seen, parity)
    for ref, symbol in symbols.items():
        if ref.module == module and ref.qualname and "." not in ref.qualname and ref.qualname not in names:
            if not symbol.requires and not ref.qualname.startswith("__"):
                yield f"{ref}: the snapshot has a {symbol.kind.value}, live has nothing"


def _foreign(symbol: Symbol) -> bool:
    top = symbol.ref.module.partition(".")[0]
    return symbol.definition is not None and symbol.definition.module.partition(".")[0] != top


def _symbol(snapshot: Snapshot, symbol: Symbol, seen: Live, parity: Parity) -> Iterator[str]:
    kind = symbol.kind.value
    if kind != seen["kind"]:
        # An attribute is whatever an expression gives: its kind is only known to the one who runs it.
        if symbol.kind is not SymbolKind.ATTRIBUTE:
            yield f"{symbol.ref}: {kind} in the snapshot, {seen['kind']} live"
        return
    if symbol.kind is SymbolKind.MODULE and symbol.definition is not None:
        if symbol.definition.module != seen["module"]:
            yield f"{symbol.ref}: module {symbol.definition.module} in the snapshot, {seen['module']} live"
    if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.CLASS):
        shown = seen.get("parameters")
        if "enum" in seen:
            # Python shows what makes a new enumeration; one that has members only looks a value up.
            shown = [["value", "positional or keyword", False]]
        yield from _signature(symbol.ref, symbol.shown, shown, parity)
        if "takes" in seen:
            yield from _signature(symbol.ref, symbol.signature, seen["takes"], parity)
    if symbol.kind is SymbolKind.CLASS and "members" in seen:
        yield from _class(snapshot, symbol, seen, parity)
    if symbol.kind is SymbolKind.ATTRIBUTE and symbol.value is not None and seen.get("value") is not None:
        yield from _value(symbol, seen["value"], parity)


def _signature(ref: Ref, signature: Signature | None, seen: list[Any] | None, parity: Parity) -> Iterator[str]:
    if signature is None or seen is None:
        parity.agreed["signatures that one side cannot tell"] += 1
        return
    ours = [[p.name, p.kind.value, p.default is not None] for p in signature.parameters]
    theirs = [[name, _KINDS[kind], default] for name, kind, default in seen]
    if ours == theirs:
        parity.agreed["signatures"] += 1
        parity.agreed["parameters"] += len(ours)
    else:
        yield f"{ref}: {_text(ours)} in the snapshot, {_text(theirs)} live"


def _text(parameters: list[list[Any]]) -> str:
    return "(" + ", ".join(f"{name} [{kind}]{'=' if default else ''}" for name, kind, default in parameters) + ")"


def _class(snapshot: Snapshot, symbol: Symbol, seen: Live, parity: Parity) -> Iterator[str]:
    if "enum" in seen:
        yield from _enumeration(snapshot, symbol, seen["enum"], parity)
    lineage, known = lineage_of(snapshot, symbol)
    for name, member in seen["members"].items():
        if name.startswith("__") or _is_machinery(name, symbol):
            continue
        found = next((s for r in lineage if (s := snapshot.symbols.get(r.member(name))) is not None), None)
        if found is None:
            if known and not symbol.open:
                yield f"{symbol.ref}.{name}: live has a {member['kind']}, the snapshot has nothing"
            continue
        parity.agreed["members"] += 1
        if found.kind.value != member["kind"]:
            if found.kind is not SymbolKind.ATTRIBUTE:
                yield f"{found.ref}: {found.kind.value} in the snapshot, {member['kind']} live"
        elif found.kind is SymbolKind.FUNCTION:
            if found.binding is None or found.binding.value != member["binding"]:
                yield f"{found.ref}: bound to {found.binding} in the snapshot, to the {member['binding']} live"
            yield from _signature(found.ref, found.signature, member["parameters"], parity)
        elif found.kind is SymbolKind.ATTRIBUTE and found.value is not None and member.get("value") is not None:
            yield from _value(found, member["value"], parity)
    for ref, own in snapshot.symbols.items():
        if ref.module != symbol.ref.module or ref.qualname.rpartition(".")[0] != symbol.ref.qualname:
            continue
        name = ref.qualname.rpartition(".")[2]
        if own.binding is Binding.INSTANCE and own.kind is SymbolKind.ATTRIBUTE:
            continue
        if name not in seen["members"]:
            yield f"{ref}: the snapshot has a {own.kind.value}, live has nothing"
        elif own.abstract != (name in seen["abstract"]):
            yield f"{ref}: abstract is {own.abstract} in the snapshot, not so live"


def _enumeration(snapshot: Snapshot, symbol: Symbol, seen: Mapping[str, str | None], parity: Parity) -> Iterator[str]:
    for name, value in seen.items():
        member = snapshot.symbols.get(symbol.ref.member(name))
        if member is None:
            yield f"{symbol.ref}.{name}: an enumeration member live, nothing in the snapshot"
        else:
            parity.agreed["enumeration members"] += 1
            if value is not None and member.value is not None:
                yield from _value(member, value, parity)


def _value(symbol: Symbol, seen: str, parity: Parity) -> Iterator[str]:
    try:
        # Values that are not literals cannot be compared without running them.
        ours = repr(_literal(symbol.value or ""))
    except (ValueError, SyntaxError):
        return
    if ours == seen:
        parity.agreed["values"] += 1
    else:
        yield f"{symbol.ref}: value {ours} in the snapshot, {seen} live"


def _literal(text: str) -> object:
    return ast.literal_eval(text)


def lineage_of(snapshot: Snapshot, symbol: Symbol) -> tuple[list[Ref], bool]:
    """The class and its bases within the library in lookup order, and whether there is no other base."""
    strange = False

    def bases(ref: Ref) -> list[Ref]:
        nonlocal strange
        found = snapshot.symbols.get(ref)
        strange = strange or found is None or found.open
        own = found.bases if found is not None else ()
        strange = strange or any(":" not in base and standard_members(base) is None for base in own)
        return [Ref.parse(base) for base in own if ":" in base]

    order = list(linearized(symbol.ref, bases))
    return order, not strange


def _is_machinery(name: str, symbol: Symbol) -> bool:
    """Names that Python itself puts into classes of some kinds."""
    if name.startswith(f"_{symbol.ref.qualname.rpartition('.')[2].lstrip('_')}__"):
        return True
    machinery = {"_abc_impl", "_is_protocol", "_is_runtime_protocol", "_fields", "_field_defaults", "_make", "_replace"}
    machinery |= {"_asdict", "_generate_next_value_", "_member_names_", "_member_map_", "_value2member_map_"}
    machinery |= {"_member_type_", "_value_repr_", "_unhashable_values_", "_use_args_", "_new_member_", "_missing_"}
    machinery |= {"_hashable_values_", "_unhashable_values_map_", "_boundary_", "_flag_mask_", "_all_bits_"}
    machinery |= {"_inverted_", "_singles_mask_"}
    return name in machinery
