"""Ordinary modules of the package, joined into the body of one file.

Enters: module sources, in an order in which each comes after what it imports. Leaves:
the imports they need from elsewhere, sorted, and their bodies as they stand, comments
included. Imports of driftwatch are dropped, since what they name stands in the same
file; two modules that define one name are refused, since one would hide the other's.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field

_PACKAGE = "driftwatch"
WIDTH = 88


class EmbedError(ValueError):
    """A source that cannot be embedded as it is.

    A defect of the module, not of the input.
    """


@dataclass
class Embedded:
    """The joined modules.

    `modules` and `names` are what ``import`` and ``from`` bring, `typing_only`
    likewise.
    """

    modules: set[str] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=dict)
    typing_modules: set[str] = field(default_factory=set)
    bodies: list[str] = field(default_factory=list)

    def imports(self) -> str:
        """All imports, in the order of isort's usual profile."""
        lines = ["from __future__ import annotations", ""]
        lines += [f"import {name}" for name in sorted(self.modules)]
        lines += [_from(module, names) for module, names in sorted(self.names.items())]
        if self.typing_modules:
            lines += [
                "",
                "if TYPE_CHECKING:",
                *(f"    import {name}" for name in sorted(self.typing_modules)),
            ]
        return "\n".join(lines)


def embed(sources: Iterable[tuple[str, str]]) -> Embedded:
    """Join (name, source) pairs."""
    out = Embedded()
    owners: dict[str, str] = {}
    once: set[str] = set()
    for name, source in sources:
        tree = ast.parse(source, filename=name)
        lines = source.splitlines()
        drop: set[int] = set()
        for node in tree.body:
            span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                _take_import(node, out, name)
                drop.update(span)
            elif (
                isinstance(node, ast.If)
                and isinstance(node.test, ast.Name)
                and node.test.id == "TYPE_CHECKING"
            ):
                for inner in node.body:
                    if not isinstance(inner, ast.Import):
                        raise EmbedError(
                            f"{name}: only plain imports may stand under TYPE_CHECKING"
                        )
                    out.typing_modules.update(alias.name for alias in inner.names)
                drop.update(span)
            else:
                text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                defined = _defined(node)
                if (
                    isinstance(node, ast.Assign) and text in once
                ):  # each module's own logger: one is enough
                    drop.update(span)
                    continue
                once.add(text)
                for defined_name in defined:
                    if defined_name in owners:
                        raise EmbedError(
                            f"{name} and {owners[defined_name]} both define "
                            f"{defined_name}"
                        )
                    owners[defined_name] = name
        first = tree.body[0]
        documentation = ast.get_docstring(tree)
        if documentation is None or not isinstance(first, ast.Expr):
            raise EmbedError(f"{name} has no docstring")
        drop.update(range(1, (first.end_lineno or 1) + 1))
        kept = "\n".join(
            line for number, line in enumerate(lines, start=1) if number not in drop
        )
        out.bodies.append(f"{_banner(name, documentation)}\n\n\n{_tidy(kept)}")
    return out


def _take_import(node: ast.Import | ast.ImportFrom, out: Embedded, where: str) -> None:
    if any(alias.asname for alias in node.names):
        raise EmbedError(f"{where}: an import may not rename what it imports")
    if isinstance(node, ast.Import):
        out.modules.update(alias.name for alias in node.names)
    elif node.module is None or node.level:
        raise EmbedError(f"{where}: relative imports cannot be embedded")
    elif node.module != "__future__" and node.module.partition(".")[0] != _PACKAGE:
        out.names.setdefault(node.module, set()).update(
            alias.name for alias in node.names
        )


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [
        n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)
    ]


def _banner(name: str, documentation: str) -> str:
    rule = f"# -- {name} "
    lines = [rule.ljust(WIDTH, "-"), "#"]
    for paragraph in documentation.split("\n\n"):
        lines += [f"# {line}" for line in textwrap.wrap(paragraph, WIDTH - 2)] + ["#"]
    lines.pop()
    return "\n".join(lines)


def _tidy(text: str) -> str:
    """The text with two blank lines at most in a row, and none at its ends."""
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n")


def _from(module: str, names: set[str]) -> str:
    ordered = sorted(
        names, key=lambda n: (0 if n.isupper() else 1 if n[:1].isupper() else 2, n)
    )
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {n}," for n in ordered), ")"])
