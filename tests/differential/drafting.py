"""A program as it is drafted: its files, the random choices, and what its parts are about."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.differential.menu import Callee, Menu

Lines = list[str]
LITERALS = ("1", "None", "'x'", "True", "0.5", "(1, 2)")


def indent(lines: Sequence[str]) -> Lines:
    return ["    " + line for line in lines]


@dataclass
class File:
    """A source file as it grows: imports it needs, module-level code, and definitions."""

    imports: dict[str, None] = field(default_factory=dict)
    top: Lines = field(default_factory=list)
    body: Lines = field(default_factory=list)

    def text(self) -> str:
        parts = [list(self.imports), self.top, self.body]
        return "\n".join(line for part in parts if part for line in [*part, ""]).rstrip() + "\n"


@dataclass(frozen=True)
class Target:
    """What a function of the program is about: a callable of the library, the way to name it, and a parameter."""

    callee: Callee
    expression: str
    setup: tuple[str, ...]
    parameter: str | None
    guard: str | None = None
    """A condition under which the expression is no None."""


@dataclass(frozen=True)
class Passed:
    """The arguments of a call."""

    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]

    def without(self, *names: str) -> Passed:
        return Passed(self.positional, tuple(k for k in self.keywords if k[0] not in names))

    def __str__(self) -> str:
        return ", ".join([*self.positional, *(f"{name}={value}" for name, value in self.keywords)])


class Draft:
    """What every part of the generator stands on."""

    def __init__(self, rng: random.Random, menu: Menu, name: str) -> None:
        self.rng = rng
        self.menu = menu
        self.name = name
        self.main = File()
        self.helper = File()
        self.file = self.main
        self.others: dict[str, str] = {}
        """The text of further files."""
        self.count = 0
        self.decorators: Lines = []
        """Of the function that is drafted."""
        self.unknown: list[str] | None = [] if self.chance(25) else None
        self.alias = {id(self.main): self._alias(), id(self.helper): "comm"}
        self.helper.imports[f"import {menu.module} as comm"] = None

    # -- small choices -------------------------------------------------------------------------------------------

    def chance(self, percent: int) -> bool:
        return self.rng.randint(0, 99) >= 100 - percent

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def need(self, line: str) -> None:
        self.file.imports[line] = None

    @property
    def comm(self) -> str:
        return self.alias[id(self.file)]

    def _alias(self) -> str:
        """How the main file calls the library's module."""
        module = self.menu.module
        parent, _, last = module.rpartition(".")
        form = self.rng.randint(0, 5)
        if form == 1 and parent:
            self.main.imports[f"from {parent} import {last}"] = None
            return last
        if form == 2:
            self.main.imports["import importlib"] = None
            self.main.top.append(f'_lib = importlib.import_module("{module}")')
            return "_lib"
        if form == 3:
            self.main.top += ["_lib = None", "try:", f"    import {module} as _found", "    _lib = _found"]
            self.main.top += ["except ImportError:", "    pass"]
            return "_lib"
        if form == 4:
            self.main.top += ["try:", f"    import {module} as comm", "except Exception:", "    comm = None"]
            return "comm"
        if form == 5:
            self.main.imports[f"import {module}"] = None
            return module
        self.main.imports[f"import {module} as comm"] = None
        return "comm"
