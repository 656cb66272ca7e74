"""Classes of the library whose constructor or methods take less in the installed build
than in the newest release.

Enters: the bindings of a class and of its members. Leaves: the library's own class
where it takes everything, and else one below it whose constructor and methods are
wrapped. What the library itself makes counts as an instance of either.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from driftwatch.adapter.settler import Record
from driftwatch.adapter.signatures import UnavailableFunction
from driftwatch.adapter.wrapping import Prepare, dress

_LIKE = "_library_class"
Prepared = tuple[Record, Prepare]


def checked_class(
    cls: type, constructor: Prepared | None, methods: Mapping[str, Prepared]
) -> type:
    """A class like another, with these of its callables wrapped."""
    members: dict[str, Any] = {
        "__module__": __name__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    members[_LIKE] = cls
    if constructor is not None:
        members["__init__"] = _method(cls.__init__, *constructor)  # type: ignore[misc]
    for name, prepared in methods.items():
        found = inspect.getattr_static(cls, name)
        if isinstance(found, staticmethod):
            members[name] = staticmethod(_static(found.__func__, *prepared))
        elif isinstance(found, classmethod):
            members[name] = classmethod(_method(found.__func__, *prepared))
        else:
            members[name] = _method(found, *prepared)
    made: type = _counting(type(cls))(cls.__name__, (cls,), members)
    return made


def absent_class(name: str, message: str) -> type:
    """What stands for a class that the build does not have.

    Nothing is an instance of it, and making one says why.
    """

    def unavailable(self: Any, *args: Any, **kwargs: Any) -> None:
        raise UnavailableFunction(message)

    return type(name, (), {"__module__": __name__, "__init__": unavailable})


def members_of(cls: Any, name: str) -> Callable[..., Any] | None:
    """What a member takes, as who has an instance calls it.

    None where the class has no such member.
    """
    try:
        found = inspect.getattr_static(cls, name)
    except AttributeError:
        return None
    if isinstance(found, (staticmethod, classmethod)):
        bound: Callable[..., Any] = getattr(cls, name)
        return bound
    return found.__get__(object()) if inspect.isfunction(found) else None


def _static(
    function: Callable[..., Any], record: Record, prepare: Prepare
) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = prepare(args, kwargs)
        return function(*args, **kwargs)

    return dress(wrapper, record, function)


def _method(
    function: Callable[..., Any], record: Record, prepare: Prepare
) -> Callable[..., Any]:
    def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = prepare(args, kwargs)
        return function(self, *args, **kwargs)

    return dress(wrapper, record, function, receiver=True)


def _counting(kind: Any) -> Any:
    """A metaclass below another, by which instances of the library's own class are
    instances of the one like it.
    """

    class Checked(kind):  # type: ignore[misc]
        # Looked up by hand: an abstract base asks all classes below it, the one that is
        # made here among them.
        def __instancecheck__(self, instance: Any) -> bool:
            like = self.__dict__.get(_LIKE)
            return (
                like in type(instance).__mro__
                if like is not None
                else super().__instancecheck__(instance)
            )

        def __subclasscheck__(self, other: type) -> bool:
            like = self.__dict__.get(_LIKE)
            return (
                like in other.__mro__
                if like is not None
                else super().__subclasscheck__(other)
            )

    return Checked
