"""A library in this process whose functions have a release's exact signatures and record what reaches them."""

from __future__ import annotations

import importlib.abc
import importlib.metadata
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from driftwatch.adapter.signatures import Shape, read_live
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Binding, Ref, Symbol, SymbolKind
from tests.adapter.simulated import DEFAULTS, KINDS

MODULE = "flashinfer.comm"
FUNCTIONS = (
    "allreduce_fusion",
    "create_allreduce_fusion_workspace",
    "trtllm_allreduce_fusion",
    "trtllm_create_ipc_workspace_for_all_reduce_fusion",
    "trtllm_destroy_ipc_workspace_for_all_reduce_fusion",
)


class Recorder:
    """One release. `hide` makes every function raise that error when it is asked for its signature."""

    def __init__(
        self,
        history: History,
        release: str,
        hide: type[Exception] | None = None,
        version: str | None = None,
        functions: Sequence[str] = FUNCTIONS,
    ) -> None:
        self.version = version or release
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.functions: dict[str, Callable[..., Any]] = {}
        self.shapes: dict[str, Shape] = {}
        self.classes: dict[str, type] = {}
        at = history.timeline.set_of([release])
        for name in functions:
            for epoch in history.of(Ref(MODULE, name)):
                if epoch.symbol.signature is not None and not epoch.releases.isdisjoint(at):
                    self._add(name, epoch.symbol.signature.parameters, hide)
                    self._put(name, epoch.symbol, hide)

    @property
    def last_given(self) -> dict[str, Any]:
        """What the last call gave, by name."""
        name, args, kwargs = self.calls[-1]
        order = self.shapes[name].positional
        return {**dict(zip(order, args, strict=False)), **kwargs}

    def _add(self, name: str, parameters: Any, hide: type[Exception] | None) -> None:
        signature = inspect.Signature(
            [
                inspect.Parameter(
                    p.name,
                    KINDS[p.kind],
                    default=inspect.Parameter.empty if p.default is None else DEFAULTS.get(p.default, p.default),
                )
                for p in parameters
            ]
        )

        def called(*args: Any, **kwargs: Any) -> str:
            signature.bind(*args, **kwargs)  # as Python would: a TypeError here is what an adapter must never cause
            self.calls.append((name, args, kwargs))
            return name

        called.__signature__ = signature  # type: ignore[attr-defined]
        live = read_live(called)
        assert not isinstance(live, str)
        self.shapes[name] = live
        self.functions[name] = _Hidden(called, hide) if hide else called

    def _put(self, name: str, symbol: Symbol, hide: type[Exception] | None) -> None:
        """Make a class of what is one, and members of its members; what they are called with is recorded likewise."""
        owner, _, member = name.rpartition(".")
        function = self.functions[name]
        if symbol.kind is SymbolKind.CLASS:
            self.classes[name] = type(name, (), {"__init__": _initialising(function)})
            if hide is None:
                self.classes[name].__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
            else:
                self.classes[name].__signature__ = 0  # type: ignore[attr-defined]
        elif owner:
            static = symbol.binding is Binding.STATIC
            made = _taking(inspect.signature(self.functions[name]) if hide is None else None, function, static)
            bound = {Binding.STATIC: staticmethod, Binding.CLASS: classmethod}.get(symbol.binding or Binding.INSTANCE)
            setattr(self.classes[owner], member, bound(made) if bound is not None else made)

    def install(self, monkeypatch: pytest.MonkeyPatch, broken: Exception | None = None) -> None:
        top = types.ModuleType("flashinfer")
        top.__version__ = self.version  # type: ignore[attr-defined]
        top.__path__ = []  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "flashinfer", top)
        monkeypatch.delitem(sys.modules, MODULE, raising=False)
        monkeypatch.setattr(importlib.metadata, "version", self._version)
        if broken is not None:
            monkeypatch.setattr(sys, "meta_path", [_Broken(broken), *sys.meta_path])
            return
        comm = types.ModuleType(MODULE)
        for name, function in {**self.functions, **self.classes}.items():
            if "." not in name:
                setattr(comm, name, function)
        top.comm = comm  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, MODULE, comm)

    def _version(self, name: str) -> str:
        if name == "flashinfer-python":
            return self.version
        raise importlib.metadata.PackageNotFoundError(name)


def _initialising(function: Callable[..., Any]) -> Callable[..., None]:
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs)

    return initialise


def _taking(signature: inspect.Signature | None, function: Callable[..., Any], static: bool) -> Callable[..., Any]:
    """A method that calls a function, and says that it takes the same; nothing where no signature is to be told."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return function(*(args if static else args[1:]), **kwargs)

    receiver = [] if static else [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    told = signature and signature.replace(parameters=[*receiver, *signature.parameters.values()])
    method.__signature__ = told if told is not None else 0  # type: ignore[attr-defined]
    return method


class _Hidden:
    """A callable that is asked for its signature in vain, as native functions and some proxies are."""

    def __init__(self, function: Callable[..., Any], error: type[Exception]) -> None:
        self._function = function
        self._error = error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        raise self._error("no signature found")


class _Broken(importlib.abc.MetaPathFinder):
    def __init__(self, error: Exception) -> None:
        self._error = error

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == MODULE:
            raise self._error
