"""Which names a history can speak of: what is outside a target's public root, or private, it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.binding.calls import callee_epochs
from driftwatch.flow.uses import CallUse
from driftwatch.releases import ReleaseSet, union
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref


def in_scope(history: History, module: str) -> bool:
    """Whether a module is the target's public root or below it."""
    return module == history.module or module.startswith(f"{history.module}.")


def private(*parts: str) -> bool:
    """Whether any part of these dotted names is private, or is one that Python itself gives every object."""
    return any(part.startswith("_") for text in parts for part in text.split("."))


def is_module_only(history: History, module: str, name: str) -> bool:
    """Whether the name has only ever been a submodule: then it is a question of modules."""
    return bool(history.has_module(f"{module}.{name}")) and not history.present(Ref(module, name))


def in_all(use: CallUse, releases: ReleaseSet, history: History) -> bool:
    """Whether these are all the releases that have what is called."""
    there = callee_epochs(replace(use, releases=history.timeline.all), history)
    return union([epochs for epochs, _ in there]) <= releases


def may_have_more(history: History, module: str) -> ReleaseSet:
    """The releases in which a module has names that cannot be listed."""
    return history.is_open(Ref(module, ""))


def known_names(history: History, module: str) -> Iterator[str]:
    """The names a module has in any release."""
    for ref in history.epochs:
        if ref.module == module and ref.qualname and "." not in ref.qualname:
            yield ref.qualname
