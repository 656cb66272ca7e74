"""The part of a stub package that is the same for all: it is copied into each as ``_stub_support``.

It stands alone: nothing but the standard library. Functions of a stub bind their arguments, as Python binds them, and
return; what they return is an instance of the class they are annotated with, or a value that takes anything.
"""

from __future__ import annotations

import abc
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

FOREIGN: dict[str, type] = {
    "abc.ABC": abc.ABC,
    "enum.Enum": enum.Enum,
    "enum.IntEnum": enum.IntEnum,
    "enum.Flag": enum.Flag,
    "enum.IntFlag": enum.IntFlag,
    "typing.Protocol": typing.Protocol,
    "typing_extensions.Protocol": typing.Protocol,
    "BaseException": BaseException,
    "Exception": Exception,
    "ImportError": ImportError,
    "RuntimeError": RuntimeError,
    "TypeError": TypeError,
    "ValueError": ValueError,
}
"""Bases from elsewhere that a stub keeps, since they decide how the class behaves when it is constructed."""


class Opaque:
    """A value nothing is known about: any use of it works and gives another one."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __call__(self, *args: Any, **kwargs: Any) -> Opaque:
        return self

    def __getattr__(self, name: str) -> Opaque:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Opaque:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __repr__(self) -> str:
        return f"<{self._text or 'unknown'}>"


UNKNOWN = Opaque()
_classes: dict[type, bool] = {}
"""The stub's own classes, each with whether it can be constructed."""
_family: dict[type, type] = {}


def named(function: Callable[..., Any], module: str, qualname: str) -> Any:
    """The function under the name it has in the library."""
    function.__module__ = module
    function.__qualname__ = qualname
    function.__name__ = qualname.rpartition(".")[2]
    return function


def renaming(implementation: Callable[..., Any], old: tuple[str, ...]) -> Any:
    """A function that also takes some keywords its signature does not show, as upstream's renaming decorators do.

    Which parameter such a keyword stands for is not recorded, so a call that uses one may leave out any.
    """
    signature = inspect.signature(implementation)

    def function(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() & set(old):
            return implementation(*args, **kwargs)
        signature.bind_partial(*args, **{k: v for k, v in kwargs.items() if k not in old})
        return UNKNOWN

    function.__wrapped__ = implementation  # type: ignore[attr-defined]
    return named(function, implementation.__module__, implementation.__qualname__)


def make_class(
    module: str, qualname: str, bases: tuple[type, ...], foreign: tuple[str, ...], members: dict[str, Any], open_: bool
) -> type:
    """A class of the stub. `open_` ones have a base nobody knows, so any attribute of their instances exists."""
    kept = tuple(FOREIGN[name] for name in foreign)
    is_enum = any(issubclass(base, enum.Enum) for base in (*bases, *kept))
    namespace = dict(members)
    if is_enum:
        namespace.pop("__init__", None)
        namespace = _enum_members(namespace)
    elif open_ and not any("__getattr__" in vars(base) for base in bases):
        namespace["__getattr__"] = _anything
    abstract = any(getattr(value, "__isabstractmethod__", False) for value in namespace.values())
    kinds = [*bases, *(base for base in kept if not any(issubclass(own, base) for own in bases))]
    if abstract and not any(isinstance(kind, abc.ABCMeta) for kind in kinds):
        kinds.append(abc.ABC)
    if typing.Protocol in kinds:
        kinds.sort(key=lambda kind: kind is typing.Protocol)
        if any(not getattr(kind, "_is_protocol", False) for kind in kinds):
            kinds.remove(typing.Protocol)
    name = qualname.rpartition(".")[2]
    constructor = namespace.get("__init__")
    cls = types.new_class(name, tuple(kinds), {}, lambda body: _fill(body, namespace))
    if constructor is not None:
        type.__setattr__(cls, "__init__", constructor)  # a Protocol has put its own there
    cls.__module__, cls.__qualname__ = module, qualname
    _classes[cls] = not inspect.isabstract(cls)
    return cls


def _fill(body: dict[str, Any], namespace: dict[str, Any]) -> None:
    for name, value in namespace.items():  # one by one: an enum's body counts them
        body[name] = value  # noqa: PERF403


def _anything(self: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return UNKNOWN


def _enum_members(namespace: dict[str, Any]) -> dict[str, Any]:
    """Enum members whose value is not a literal get numbers that no other has."""
    taken = {value for value in namespace.values() if isinstance(value, int)}
    free = (number for number in range(1 << 16) if number not in taken)
    return {name: next(free) if isinstance(value, Opaque) else value for name, value in namespace.items()}


def instance_of(cls: type) -> Any:
    """An instance of a class as a function annotated with it may return: of this class or one below it.

    Which one is not known, so it has the members of all of them, and a method takes what any of them takes.
    """
    if issubclass(cls, enum.Enum):
        return next(iter(cls), UNKNOWN)
    if cls not in _family:
        _family[cls] = _joined(cls)
    made = _family[cls]
    return made.__new__(made)  # type: ignore[call-overload]


def _joined(cls: type) -> type:
    below = [other for other in _classes if issubclass(other, cls)]
    concrete = [other for other in below if _classes[other]] or [cls]
    members: dict[str, Any] = {}
    for name in dict.fromkeys(name for other in concrete for name in dir(other)):
        if name.startswith("__") and name not in ("__call__", "__enter__", "__exit__", "__len__", "__getattr__"):
            continue
        found = (inspect.getattr_static(other, name, None) for other in concrete)
        variants = list({id(value): value for value in found if value is not None}.values())
        members[name] = variants[0] if len(variants) == 1 else _any_of(variants)
    joined = types.new_class(cls.__name__, (cls,), {}, lambda body: body.update(members))
    joined.__module__, joined.__qualname__ = cls.__module__, cls.__qualname__
    if isinstance(joined, abc.ABCMeta):
        joined.__abstractmethods__ = frozenset()
    return joined


def _any_of(variants: list[Any]) -> Any:
    """A member that several classes have, each in its own form: it takes what one of them takes."""
    if not all(isinstance(variant, (types.FunctionType, classmethod, staticmethod)) for variant in variants):
        return variants[0]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refused: dict[str, TypeError] = {}
        for variant in variants:
            try:
                return variant.__get__(self, type(self))(*args, **kwargs)
            except TypeError as error:
                refused.setdefault(str(error).partition("() ")[2], error)
        if len(refused) == 1:
            raise next(iter(refused.values()))
        raise TypeError(f"missing a required form: no class takes these arguments: {'; '.join(refused)}")

    return method
