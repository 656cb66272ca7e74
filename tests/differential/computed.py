"""Tests that are computed: whatever Python makes of what a release has, a guard goes by what Python made.

A program asks the library which names it has, once, and keeps that as a list, a set, a dict, a version and a signature.
Each of its functions computes a truth value of these and calls, where that holds, what no release has. The analysis
says in which releases it does; where it cannot, it says that as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.differential.programs import Call, Program

HEAD = """import inspect

import flashinfer
import flashinfer.comm as comm

NAMES = ("allreduce_fusion", "MoeAlltoAll", "trtllm_allreduce_fusion", "mnnvl", "nope")
FOUND = [n for n in NAMES if hasattr(comm, n)]
SET = {n for n in NAMES if hasattr(comm, n)}
FLAGS = {n: hasattr(comm, n) for n in NAMES}
PARTS = flashinfer.__version__.split(".")
VERSION = tuple(int(p) for p in PARTS[:2])
TEXT = flashinfer.__version__
PARAMS = list(inspect.signature(comm.allreduce_fusion).parameters) if hasattr(comm, "allreduce_fusion") else []
COUNT = len(FOUND)
HAS = hasattr(comm, "allreduce_fusion")
MAYBE = getattr(comm, "allreduce_fusion", None)

"""

_NAMES = ("allreduce_fusion", "MoeAlltoAll", "trtllm_allreduce_fusion", "mnnvl", "nope")
_LONGEST = 260


def _surroundings(found: list[str], parameters: list[str], version: str) -> Mapping[str, object]:
    parts = version.split(".")
    return {
        "NAMES": _NAMES, "FOUND": found, "SET": set(found), "FLAGS": {n: n in found for n in _NAMES},
        "PARTS": parts, "VERSION": tuple(int(p) for p in parts[:2]), "TEXT": version, "PARAMS": parameters,
        "COUNT": len(found), "HAS": "allreduce_fusion" in found, "MAYBE": len if "allreduce_fusion" in found else None,
    }  # fmt: skip


_SAMPLES = (
    _surroundings(["allreduce_fusion", "mnnvl"], ["input", "workspace"], "0.6.4"),
    _surroundings([], [], "0.2.7.post1"),
    _surroundings(["mnnvl"], [], "0.5.0"),
)
"""What an expression is tried with: one that raises is none of a test's."""


@dataclass(frozen=True)
class Expressions:
    """Expressions at random, each of a kind, `depth` of them within one another."""

    random: random.Random

    def test(self) -> str:
        """An expression for a test, that raises nothing."""
        while True:
            text = self.truth(self.random.randrange(1, 4))
            if len(text) < _LONGEST and _is_sound(text):
                return text

    def one_of(self, *texts: str) -> str:
        return self.random.choice(texts)

    def _made(self, *ways: Callable[[], str]) -> str:
        return self.random.choice(ways)()

    def name(self) -> str:
        return self.one_of(*(f'"{name}"' for name in (*_NAMES, "weight_bias", "input", "0", "7")))

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.one_of("0", "1", "2", "3", "5", "7", "COUNT", "VERSION[1]", "VERSION[0]", "int(PARTS[1])")
        d = depth - 1
        return self._made(
            lambda: f"len({self.several(d)})",
            lambda: f"({self.number(d)} {self.one_of('+', '-', '*')} {self.number(d)})",
            lambda: f"sum({self.one_of('FLAGS.values()', '1 for _ in ' + self.several(d))})",
            lambda: f"sum(len(n) for n in {self.names(d)})",
            lambda: f"{self.names(d)}.count({self.name()})",
            lambda: f"{self.text(d)}.count('a')",
            lambda: f"{self.one_of('max', 'min')}({self.number(d)}, {self.number(d)})",
            lambda: f"({self.number(d)} if {self.truth(d)} else {self.number(d)})",
            lambda: f"int(bool({self.truth(d)}))",
            lambda: f"len({self.text(d)})",
            lambda: f"{self.text(d)}.find({self.one_of(repr('_'), repr('a'), repr('.'))})",
            lambda: f"abs({self.number(d)})",
        )

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.one_of("TEXT", "PARTS[1]", '"a_b"', self.name(), '",".join(FOUND)')
        d = depth - 1
        methods = ("upper()", "lower()", "strip()", "title()", 'replace("a", "b")', 'removesuffix("1")')
        return self._made(
            lambda: f"{self.one_of(repr(','), repr(''), repr(' '))}.join({self.names(d)})",
            lambda: f"{self.text(d)}.{self.one_of(*methods)}",
            lambda: f"({self.text(d)} + {self.text(d)})",
            lambda: f"str({self.number(d)})",
            lambda: f'("%s" % {self.number(d)})',
            lambda: f"({self.text(d)} if {self.truth(d)} else {self.text(d)})",
            lambda: f"next(iter({self.names(d)}), 'none')",
            lambda: f"{self.text(d)}[:{self.random.randrange(1, 5)}]",
            lambda: f"min({self.names(d)}, default='')",
            lambda: f"{self.text(d)}.partition('_')[{self.random.randrange(3)}]",
        )

    def names(self, depth: int) -> str:
        if depth <= 0:
            return self.one_of(
                "FOUND", "sorted(SET)", "PARTS", "PARAMS", "list(NAMES)", "[n for n in FLAGS if FLAGS[n]]"
            )
        d = depth - 1
        kept = ("n in SET", "len(n) > 5", f"n != {self.name()}", "FLAGS.get(n)", 'n.startswith("a")')
        return self._made(
            lambda: f"sorted({self.several(d)})",
            lambda: f"list(reversed({self.names(d)}))",
            lambda: f"({self.names(d)} + {self.names(d)})",
            lambda: f"[n for n in {self.names(d)} if {self.one_of(*kept)}]",
            lambda: f"[{self.one_of('n.upper()', 'n[:3]', 'n + chr(97)', 'n')} for n in {self.names(d)}]",
            lambda: f"{self.names(d)}[{self.one_of('1:', ':1', '::2', ':-1')}]",
            lambda: f"{self.text(d)}.split({self.one_of(repr('_'), repr('.'))})",
            lambda: f"list({self.names(d)})",
            lambda: f"list(filter({self.one_of('None', 'lambda n: len(n) > 4')}, {self.names(d)}))",
            lambda: f"list(map({self.one_of('str', 'str.upper', 'lambda n: n + chr(98)')}, {self.names(d)}))",
            lambda: f"({self.names(d)} if {self.truth(d)} else {self.names(d)})",
            lambda: f"list(dict.fromkeys({self.names(d)}))",
            lambda: f"[{self.text(d)}, {self.text(d)}]",
        )

    def members(self, depth: int) -> str:
        if depth <= 0:
            return self.one_of("SET", "set(FOUND)", "set(PARAMS)", "frozenset(NAMES)")
        d = depth - 1
        return self._made(
            lambda: f"({self.members(d)} {self.one_of('|', '&', '-', '^')} {self.members(d)})",
            lambda: f"set({self.names(d)})",
            lambda: f"{{n for n in {self.names(d)}}}",
            lambda: f"{self.members(d)}.{self.one_of('union', 'intersection', 'difference')}({self.names(d)})",
        )

    def several(self, depth: int) -> str:
        return self._made(lambda: self.names(depth), lambda: self.members(depth))

    def truth(self, depth: int) -> str:
        if depth <= 0:
            plain = ("HAS", 'FLAGS["mnnvl"]', "MAYBE is not None", "MAYBE")
            return self.one_of(*plain, f"{self.name()} in FOUND", f"{self.name()} in SET")
        d = depth - 1
        each = ("n in SET", "len(n) > 5", "FLAGS.get(n)", f"n == {self.name()}")
        return self._made(
            lambda: f"({self.number(d)} {self.one_of('<', '<=', '==', '!=', '>', '>=')} {self.number(d)})",
            lambda: f"({self.text(d)} {self.one_of('==', '!=', '<', '>')} {self.text(d)})",
            lambda: f"({self.names(d)} {self.one_of('==', '!=', '<')} {self.names(d)})",
            lambda: f"({self.members(d)} {self.one_of('==', '<=', '<', '>=')} {self.members(d)})",
            lambda: f"({self.name()} {self.one_of('in', 'not in')} {self.several(d)})",
            lambda: f"(not {self.truth(d)})",
            lambda: f"({self.truth(d)} {self.one_of('and', 'or')} {self.truth(d)})",
            lambda: f"bool({self.several(d)})",
            lambda: f"{self.one_of('all', 'any')}({self.one_of(*each)} for n in {self.names(d)})",
            lambda: f"{self.text(d)}.{self.one_of('startswith', 'endswith')}({self.one_of(repr('a'), repr('fusion'))})",
            lambda: f"(VERSION {self.one_of('>=', '<', '==')} (0, {self.random.randrange(2, 8)}))",
            lambda: f"{self.members(d)}.{self.one_of('issubset', 'issuperset', 'isdisjoint')}({self.names(d)})",
            lambda: f"({self.name()} in {self.text(d)})",
            lambda: f"any({self.one_of('FLAGS.values()', f'map(FLAGS.get, {self.names(d)})')})",
            lambda: f"(dict(zip({self.names(d)}, {self.names(d)})).get({self.name()}) is None)",
            lambda: f"({self.truth(d)} if {self.truth(d)} else {self.truth(d)})",
        )


def _is_sound(text: str) -> bool:
    try:
        for sample in _SAMPLES:
            eval(text, dict(sample))
    except (AttributeError, LookupError, SyntaxError, TypeError, ValueError):
        return False
    return True


def computed(seed: int, functions: int = 20) -> Program:
    """A program of tests at random, always the same for a seed."""
    expressions = Expressions(random.Random(seed))
    names = [f"run_{i}" for i in range(functions)]
    bodies = [f"def {name}():\n    if {expressions.test()}:\n        comm.not_of_{name}()\n" for name in names]
    text = "\n\n".join([HEAD, *bodies])
    return Program({f"c{seed}.py": text}, f"c{seed}", tuple(Call(name, {}) for name in names))
