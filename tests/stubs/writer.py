"""A pure Python package with exactly a release's public API, written from its snapshot.

Enters: a snapshot. Leaves: a folder to put on ``sys.path``: the package with its modules, functions, classes, methods
and constants, and the metadata that gives its version. Parameters have the recorded names and kinds, and a default
where the release has one. Text of the snapshot reaches the written source only as an identifier, a string or a literal,
so that none of it can become code. All definitions live in one module, in order of dependence; the public modules only
name them, so that a re-exported object is the same object everywhere.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from pathlib import Path

from driftwatch.snapshot.model.symbols import (
    Binding,
    Parameter,
    ParameterKind,
    Ref,
    Signature,
    Snapshot,
    Symbol,
    SymbolKind,
)
from tests.stubs.support import FOREIGN

SUPPORT = Path(__file__).with_name("support.py")
NEUTRAL_BASES = frozenset({"object", "typing.Generic", "typing.NamedTuple"})
"""Foreign bases that add nothing a stub would show."""


def write_stub(snapshot: Snapshot, folder: Path, distribution: str = "flashinfer-python") -> Path:
    """Write the stub of a release into a folder and return the folder."""
    _Writer(snapshot, folder, distribution).write()
    return folder


class _Writer:
    def __init__(self, snapshot: Snapshot, folder: Path, distribution: str) -> None:
        self.snapshot = snapshot
        self.folder = folder
        self.distribution = distribution
        self.modules = sorted({ref.module for ref in snapshot.symbols})
        self.top = self.modules[0].partition(".")[0]
        self.lines: list[str] = []
        self.handles: dict[Ref, str] = {}
        self.started: set[Ref] = set()
        self.children: dict[Ref, list[Symbol]] = {}
        for ref, symbol in snapshot.symbols.items():
            head, dot, _ = ref.qualname.rpartition(".")
            if dot:
                self.children.setdefault(Ref(ref.module, head), []).append(symbol)
        self.home: dict[Ref, Ref] = {}
        """Where an object is defined -> the public reference it is written from."""
        for ref, symbol in sorted(snapshot.symbols.items()):
            if ref.qualname:
                where = symbol.definition or ref
                if where not in self.home or where == ref:
                    self.home[where] = ref

    # -- files ---------------------------------------------------------------------------------------------------

    def write(self) -> None:
        names: dict[str, list[str]] = {module: [] for module in self.modules}
        for module in self.modules:
            _names(module)
        for ref, symbol in sorted(self.snapshot.symbols.items()):
            if ref.qualname and "." not in ref.qualname:
                names[ref.module].append(f"{_name(ref.qualname)} = {self._object(symbol)}")
        package = self.folder / self.top
        package.mkdir(parents=True, exist_ok=True)
        (package / "_stub_support.py").write_bytes(SUPPORT.read_bytes())
        head = f"from {self.top}._stub_support import Opaque, UNKNOWN, instance_of, make_class, named, renaming"
        (package / "_stub_api.py").write_text("\n".join([head, "_classes = {}", *self.lines, ""]), encoding="utf-8")
        for module in self._packages():
            self._module(module, names.get(module, []))
        information = self.folder / f"{self.distribution.replace('-', '_')}-{self.snapshot.release}.dist-info"
        information.mkdir(exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: {self.distribution}\nVersion: {self.snapshot.release}\n"
        (information / "METADATA").write_text(metadata, encoding="utf-8")

    def _packages(self) -> list[str]:
        """Every module to write: the recorded ones and the packages they lie in."""
        every = {self.top}
        for module in self.modules:
            parts = module.split(".")
            every |= {".".join(parts[: i + 1]) for i in range(len(parts))}
        return sorted(every)

    def _module(self, module: str, names: list[str]) -> None:
        loads = [other for other in self.modules if other.rpartition(".")[0] == module]
        if module in self.modules:
            symbol = self.snapshot.symbols.get(Ref(module, ""))
            loads = [other for other in (symbol.imports if symbol is not None else ()) if other in self.modules]
        # The parts first, as the real package does: an object hides the submodule of its name.
        lines = [f"_loads = {loads!r}", "for _name in _loads:", "    __import__(_name)"]
        lines += [f"from {self.top} import _stub_api", *names]
        if module == self.top:
            lines.append(f"__version__ = {self.snapshot.release!r}")
        path = self.folder.joinpath(*module.split("."))
        is_package = module == self.top or any(m.startswith(module + ".") for m in self.modules)
        file = path / "__init__.py" if is_package else path.with_name(path.name + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    # -- objects -------------------------------------------------------------------------------------------------

    def _object(self, symbol: Symbol) -> str:
        """An expression for the object of a module-level name."""
        if symbol.kind is SymbolKind.MODULE:
            where = symbol.definition
            known = where is not None and where.module in self.modules and not where.qualname
            return f"__import__({where.module!r}, fromlist=['_'])" if known and where else "_stub_api.UNKNOWN"
        where = symbol.definition or symbol.ref
        self._define(where)
        return f"_stub_api.{self.handles[where]}"

    def _define(self, where: Ref) -> None:
        if where in self.started:
            return
        self.started.add(where)
        symbol = self.snapshot.symbols[self.home[where]]
        handle = f"_{len(self.started)}"
        if symbol.kind is SymbolKind.FUNCTION:
            self._function(handle, symbol, method=False)
        elif symbol.kind is SymbolKind.CLASS:
            self._class(handle, symbol)
        else:
            self.lines.append(f"{handle} = {_value(symbol.value)}")
        self.handles[where] = handle

    def _function(self, handle: str, symbol: Symbol, *, method: bool) -> None:
        signature = symbol.signature or ANY
        receiver = () if not method or symbol.binding is Binding.STATIC else (RECEIVER,)
        self.lines.append(f"def {handle}({_parameters(receiver + signature.parameters)}):")
        is_constructor = symbol.ref.qualname.endswith(".__init__")
        self.lines.append(f"    return {'None' if is_constructor else self._returned(signature)}")
        self.lines.append(f"{handle} = named({handle}, {symbol.ref.module!r}, {symbol.ref.qualname!r})")
        if signature.extra_keywords:
            self.lines.append(f"{handle} = renaming({handle}, {tuple(map(_name, signature.extra_keywords))!r})")

    def _returned(self, signature: Signature) -> str:
        """Looked up when called, since the class may be written later."""
        if signature.gives:
            return f"(UNKNOWN,) * {signature.gives[0]}"
        where = self._class_home(signature.returns_ref)
        return f"instance_of(_classes[{str(where)!r}])" if where is not None else "UNKNOWN"

    def _class_home(self, ref: Ref | None) -> Ref | None:
        if ref is None:
            return None
        symbol = self.snapshot.symbols.get(ref)
        where = (symbol.definition or ref) if symbol is not None else ref
        home = self.home.get(where)
        return where if home and self.snapshot.symbols[home].kind is SymbolKind.CLASS else None

    def _class(self, handle: str, symbol: Symbol) -> None:
        bases, foreign, open_ = [], [], False
        for text in symbol.bases:
            if ":" in text:
                where = self._class_home(Ref.parse(text))
                if where is not None:
                    self._define(where)
                if where in self.handles:
                    bases.append(self.handles[where])
                else:
                    open_ = True
            elif text.partition("[")[0] in FOREIGN:
                foreign.append(text.partition("[")[0])
            elif text.partition("[")[0] not in NEUTRAL_BASES:
                open_ = True
        if symbol.abstract and not bases and not foreign:
            foreign.append("abc.ABC")
        members = [("__init__", f"{handle}_init")]
        self._function(f"{handle}_init", _constructor(symbol), method=True)
        for number, child in enumerate(sorted(self.children.get(symbol.ref, ()), key=lambda child: child.ref)):
            name = _name(child.ref.qualname.rpartition(".")[2])
            if name not in ("__init__", "__new__"):
                members.append((name, self._member(f"{handle}_{number}", child)))
        body = ", ".join(f"{name!r}: {value}" for name, value in members)
        where = symbol.definition or symbol.ref
        self.lines.append(
            f"{handle} = _classes[{str(where)!r}] = make_class({symbol.ref.module!r}, {symbol.ref.qualname!r}, "
            f"({''.join(base + ', ' for base in dict.fromkeys(bases))}), {tuple(dict.fromkeys(foreign))!r}, "
            f"{{{body}}}, {open_})"
        )

    def _member(self, handle: str, symbol: Symbol) -> str:
        if symbol.kind is SymbolKind.CLASS:
            where = symbol.definition or symbol.ref
            self._define(where)
            return self.handles.get(where, "UNKNOWN")
        if symbol.kind is SymbolKind.FUNCTION:
            self._function(handle, symbol, method=True)
            value = handle
            if symbol.abstract:
                value = f"__import__('abc').abstractmethod({value})"
            wrap = {Binding.CLASS: "classmethod", Binding.STATIC: "staticmethod"}.get(
                symbol.binding or Binding.INSTANCE
            )
            return f"{wrap}({value})" if wrap else value
        if symbol.kind is SymbolKind.PROPERTY:
            value = f"lambda self: {self._returned(symbol.signature or ANY)}"
            return f"property(__import__('abc').abstractmethod({value}))" if symbol.abstract else f"property({value})"
        return _value(symbol.value)


RECEIVER = Parameter("_receiver", ParameterKind.POSITIONAL_ONLY)
ANY = Signature((Parameter("args", ParameterKind.VAR_POSITIONAL), Parameter("kwargs", ParameterKind.VAR_KEYWORD)))


def _constructor(symbol: Symbol) -> Symbol:
    signature = symbol.signature or ANY
    bare = Signature(signature.parameters, extra_keywords=signature.extra_keywords)
    return Symbol(symbol.ref.member("__init__"), SymbolKind.FUNCTION, bare, Binding.INSTANCE)


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(_spelled(parameters))


def _spelled(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    starred = False
    for i, parameter in enumerate(parameters):
        name = _name(parameter.name)
        if parameter.kind is ParameterKind.VAR_POSITIONAL:
            starred = True
            yield f"*{name}"
            continue
        if parameter.kind is ParameterKind.VAR_KEYWORD:
            yield f"**{name}"
            continue
        if parameter.kind is ParameterKind.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield name if parameter.default is None else f"{name}={_value(parameter.default)}"
        last = i + 1 == len(parameters) or parameters[i + 1].kind is not ParameterKind.POSITIONAL_ONLY
        if parameter.kind is ParameterKind.POSITIONAL_ONLY and last:
            yield "/"


def _value(text: str | None) -> str:
    """A literal as Python writes it, anything else as a value that stands for it."""
    if text is None:
        return "UNKNOWN"
    try:
        written = repr(ast.literal_eval(text))
        ast.literal_eval(written)  # an infinity is written in a form that is no literal
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return f"Opaque({text[:200]!r})"
    return written


def _name(name: str) -> str:
    """The name, if it is one that a definition may have."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is not a name")
    return name


def _names(dotted: str) -> str:
    for name in dotted.split("."):
        _name(name)
    return dotted
