"""Which class a parameter must be of, inferred from the attributes that are read of it.

Enters: a function and one of its parameters. Leaves: the classes of the code base of which it may be, when what is read
of it is more than the class has that it is declared as.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from driftwatch.flow.domain.code import ClassCode, FunctionCode
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.values import Class, External, Lazy
from driftwatch.flow.interpreter.modules import Modules
from driftwatch.flow.sources.files import Files
from driftwatch.flow.syntax.syntax import dotted_name
from driftwatch.snapshot.model.standard_bases import PLAIN_BASES

_CLASS = re.compile(rb"^class\s+(\w+)\s*\(([^)]*)\)\s*:", re.MULTILINE)
_MEMBER = re.compile(r"\bdef\s+(\w+)|\b(?:self|cls)\.(\w+)|^\s+(\w+)\s*[:=]", re.MULTILINE)


class InferredClasses:
    """Looks for the classes below a declared one, in the files that have to do with the library."""

    def __init__(self, files: Files, modules: Modules) -> None:
        self._files = files
        self._modules = modules
        self._below: dict[str, list[ClassCode]] = {}
        self._derive: dict[str, list[str]] = {}
        self._members: dict[ClassCode, frozenset[str]] = {}
        self._heads: dict[str, list[tuple[bytes, bytes]]] = {}
        self._texts: dict[FunctionCode, str] = {}

    def classes(self, function: FunctionCode, parameter: cst.Param) -> list[ClassCode]:
        """The classes of which a parameter may be, of those in files that have to do with the library; none where
        its use tells nothing."""
        declared = _declared(parameter)
        if declared is None or self._modules.executing:
            return []
        below = self._descendants(declared)
        base = next((each for code in below for each in lineage(code)[0] if each.name == declared), None)
        if base is None or not _is_bare(base):
            return []
        more = self._read_of(function, parameter.name.value) - self._members_of(base)
        return [code for code in below if more <= self._members_of(code)] if more else []

    def _descendants(self, name: str) -> list[ClassCode]:
        """The classes below one of this name; none where one of them cannot be looked at."""
        if name not in self._below:
            found = [self._class(path, each) for path in self._files.interesting() for each in self._named(path, name)]
            known = [code for code in found if code is not None and any(b.name == name for b in lineage(code)[0][1:])]
            self._below[name] = known if len(known) == len(found) else []
        return self._below[name]

    def _named(self, path: str, base: str) -> Iterator[str]:
        """The top-level classes of a file that derive from one of this name."""
        data, word = self._files.read(path), base.encode()
        if data is not None and word in data:
            if path not in self._heads:
                self._heads[path] = _CLASS.findall(data)
            for name, bases in self._heads[path]:
                if word in bases and word in re.findall(rb"\w+", bases):
                    yield name.decode()

    def _class(self, path: str, name: str) -> ClassCode | None:
        module = self._files.module(path)
        if module is None or module.executing:
            return None
        atom = self._modules.attribute(module, name, self._modules.everywhere).single()
        if isinstance(atom, Lazy):
            looked_at = self._modules.look_at(atom)
            atom = None if looked_at is None else looked_at.single()
        return atom.code if isinstance(atom, Class) else None

    def _members_of(self, code: ClassCode) -> frozenset[str]:
        """Every name that a class and its bases in the code base define, assign or read of themselves."""
        if code not in self._members:
            found: set[str] = set()
            for each in lineage(code)[0]:
                definition = self._files.definition(each.module, each.name)
                for names in _MEMBER.findall(definition.text) if definition is not None else ():
                    found.update(filter(None, names))
            self._members[code] = frozenset(found)
        return self._members[code]

    def may_be_elsewhere(self, function: FunctionCode, parameter: cst.Param, found: list[ClassCode]) -> bool:
        """Whether some other file may define a class below the declared one that has all that is read."""
        declared = _declared(parameter) or ""
        common = frozenset().union(*(self._members_of(code) for code in found))
        words = [name.encode() for name in self._read_of(function, parameter.name.value) & common]
        known = {code.module.path for code in found}
        for path in self._deriving(declared):
            data = self._files.read(path) if path not in known else None
            if data is not None and all(word in data for word in words):
                return True
        return False

    def _read_of(self, function: FunctionCode, name: str) -> frozenset[str]:
        """The attributes that a function reads of one of its parameters."""
        if function not in self._texts:
            tree, place = function.tree, function.tree.location(function.node)
            lines = tree.text.split("\n")[place.line - tree.offset - 1 : place.end_line - tree.offset]
            self._texts[function] = "\n".join(lines)
        return frozenset(re.findall(rf"{re.escape(name)}(?<![\w.]{re.escape(name)})\.(\w+)", self._texts[function]))

    def _deriving(self, name: str) -> list[str]:
        """The files in which some top-level class derives from one of this name."""
        if name not in self._derive:
            self._derive[name] = [path for path in self._files.paths if any(self._named(path, name))]
        return self._derive[name]


def _declared(parameter: cst.Param) -> str | None:
    if parameter.annotation is None:
        return None
    node = parameter.annotation.annotation
    text = node.evaluated_value if isinstance(node, cst.SimpleString) else dotted_name(node)
    last = text.rpartition(".")[2] if isinstance(text, str) else ""
    return last if last.isidentifier() else None


def _is_bare(code: ClassCode) -> bool:
    """Whether all that a class has stands in the code base."""
    return all(
        isinstance(a, External) and a.dotted in PLAIN_BASES for base in lineage(code)[1] for _, a in base.alternatives
    )
