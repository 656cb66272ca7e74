"""Sources of any length that were written to take long: each shape a generator, of `n` pieces.

They are for ``lib.comm``, whose `fuse` is a function and `Backend` a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Shape = Callable[[int], bytes]
MENTION = b"import lib.comm as comm\n"

SEARCHED: Mapping[str, Shape] = {
    "a_name_of_many_parts": lambda n: b"lib." * n + b" comm\n",
    "imports_on_one_line": lambda n: b" import lib" * n + b" comm\n",
    "lists_that_are_never_closed": lambda n: b"from lib import (" * n + b" xcomm\n",
    "lists_on_lines_that_are_never_closed": lambda n: b"from lib import (\n" * n + b" xcomm\n",
    "aliases_on_one_line": lambda n: b"lib as " * n + b"comm\n",
    "quotes": lambda n: b"'lib" * n + b" comm\n",
    "blanks": lambda n: b"lib. " + b" " * (10 * n) + b"x comm\n",
    "from_without_end": lambda n: b"from " * n + b"lib comm\n",
    "import_without_end": lambda n: b"import " * n + b"lib comm\n",
    "brackets_in_comments": lambda n: b"import (#)\n" * n + b"lib comm\n",
    "continued_lines": lambda n: b"import lib \\\n" * n + b"comm\n",
    "dots": lambda n: b"lib" + b" ." * n + b"comm\n",
}
"""For the search of bytes: no Python, or none that means anything."""

FOLLOWED: Mapping[str, Shape] = {
    "keywords": lambda n: MENTION + b"comm.fuse(" + b", ".join(b"k%d=1" % i for i in range(n)) + b")\n",
    "keys": lambda n: MENTION + b"d = {}\n" + b"".join(b"d['k%d'] = 1\n" % i for i in range(n)) + b"comm.fuse(**d)\n",
    "keys_on_condition": lambda n: (
        MENTION
        + b"def f(c, k):\n"
        + b"".join(b"    if c[%d]: k = dict(k, k%d=1)\n" % (i, i) for i in range(n))
        + b"    comm.fuse(**k)\n"
    ),
    "subclasses": lambda n: (
        MENTION + b"class C0(comm.Backend): pass\n" + b"".join(b"class C%d(C%d): pass\n" % (i + 1, i) for i in range(n))
    ),
    "match": lambda n: (
        MENTION + b"match x:\n" + b"".join(b"    case %d:\n        comm.fuse(x)\n" % i for i in range(n))
    ),
    "aliases": lambda n: MENTION + b"".join(b"f%d = comm.fuse\n" % i for i in range(n)) + b"f0(1)\n",
    "chained_aliases": lambda n: (
        MENTION + b"f0 = comm.fuse\n" + b"".join(b"f%d = f%d\n" % (i + 1, i) for i in range(n)) + b"f%d(1)\n" % n
    ),
    "elifs": lambda n: MENTION + b"if x: pass\n" + b"elif x: comm.fuse(1)\n" * n,
    "functions": lambda n: MENTION + b"".join(b"def f%d(x):\n    return comm.fuse(x)\n" % i for i in range(n)),
    "calls": lambda n: MENTION + b"comm.fuse(1)\n" * n,
    "guards": lambda n: MENTION + b"if hasattr(comm, 'fuse'):\n    comm.fuse(1)\n" * n,
    "doubled_lists": lambda n: MENTION + b"t = [comm]\n" + b"t.extend(t)\n" * n + b"t[0].fuse(1)\n",
    "doubled_tuples": lambda n: MENTION + b"t = (comm,)\n" + b"t = t + t\n" * n + b"t[0].fuse(1)\n",
    "yields": lambda n: MENTION + b"def f():\n" + b"    yield comm.fuse(1)\n" * n,
    "decorators": lambda n: MENTION + b"@comm.fuse\n" * n + b"def f(): pass\n",
    "finally": lambda n: MENTION + b"try: comm.fuse(1)\nfinally: comm.fuse(2)\n" * n,
}
"""For the analysis as a whole."""

_CALL = b"comm.fuse(1)"

NESTED: Mapping[str, Shape] = {
    "sums": lambda n: MENTION + b"y = " + _CALL + b" + a" * n + b"\n",
    "sums_to_the_right": lambda n: MENTION + b"y = " + b"a + " * n + _CALL + b"\n",
    "texts": lambda n: MENTION + b"y = " + _CALL + b" + 'a'" * n + b"\n",
    "formatted": lambda n: MENTION + b"y = " + _CALL + b" + f'{a}'" * n + b"\n",
    "attributes": lambda n: MENTION + b"y = " + _CALL + b".b" * n + b"\n",
    "calls": lambda n: MENTION + b"y = " + _CALL + b"()" * n + b"\n",
    "calls_of_methods": lambda n: MENTION + b"y = " + _CALL + b".b()" * n + b"\n",
    "items": lambda n: MENTION + b"y = " + _CALL + b"[0]" * n + b"\n",
    "comparisons": lambda n: MENTION + b"y = " + _CALL + b" < a" * n + b"\n",
    "comparisons_in_brackets": lambda n: MENTION + b"y = " + b"a < (" * n + _CALL + b")" * n + b"\n",
    "negatives": lambda n: MENTION + b"y = " + b"-" * n + _CALL + b"\n",
    "denials": lambda n: MENTION + b"y = " + b"not " * n + _CALL + b"\n",
    "powers": lambda n: MENTION + b"y = " + b"a ** " * n + _CALL + b"\n",
    "functions_without_names": lambda n: MENTION + b"y = " + b"lambda: " * n + _CALL + b"\n",
    "conditional_expressions": lambda n: MENTION + b"y = " + b"a if b else " * n + _CALL + b"\n",
    "and": lambda n: MENTION + b"y = " + _CALL + b" and a" * n + b"\n",
    "tests_of_or": lambda n: MENTION + b"if " + b"a or " * n + _CALL + b": pass\n",
    "annotations": lambda n: MENTION + b"y: " + b"a | " * n + b"a = " + _CALL + b"\n",
    "patterns": lambda n: MENTION + b"match a:\n    case a" + b".b" * n + b": " + _CALL + b"\n",
    "lists": lambda n: MENTION + b"y = " + b"[" * n + _CALL + b"]" * n + b"\n",
    "arguments": lambda n: MENTION + b"y = " + b"f(" * n + _CALL + b")" * n + b"\n",
    "blocks": lambda n: MENTION + b"".join(b" " * i + b"if a:\n" for i in range(n)) + b" " * n + _CALL + b"\n",
    "elifs": lambda n: MENTION + b"if a: pass\n" + b"elif a: pass\n" * n + b"else: " + _CALL + b"\n",
    "loops_of_a_comprehension": lambda n: MENTION + b"y = [" + _CALL + b" for a in b" * n + b"]\n",
}
"""One call of the library among `n` levels of syntax."""

NESTED_LIBRARY: Mapping[str, Shape] = {
    "defaults": lambda n: b"def f(x=a" + b" + a" * n + b"): ...\n",
    "values": lambda n: b"X = a" + b" + a" * n + b"\ndef f(): ...\n",
    "annotations": lambda n: b"def f(x: a" + b" | a" * n + b"): ...\n",
    "decorators": lambda n: b"@a" + b".b" * n + b"\ndef f(): ...\n",
    "tests": lambda n: b"if a" + b" + a" * n + b":\n    def f(): ...\n",
    "elifs": lambda n: b"if a: pass\n" + b"elif a: pass\n" * n + b"else:\n    def f(): ...\n",
    "refusals": lambda n: b"def f(x):\n    if x is None and a" + b" + a" * n + b":\n        raise ValueError\n",
    "bases": lambda n: b"class A(a" + b" + a" * n + b"): ...\ndef f(): ...\n",
    "exports": lambda n: b"__all__ = ['f']" + b" + ['f']" * n + b"\ndef f(): ...\n",
    "negatives": lambda n: b"X = " + b"-" * n + b"1\ndef f(): ...\n",
    "functions_without_names": lambda n: b"X = " + b"lambda: " * n + b"1\ndef f(): ...\n",
}
"""A module that defines `f`, with `n` levels of syntax in it."""

TOLD: Mapping[str, Shape] = {
    "decorators": lambda n: MENTION + b"@comm.gone\n" * n + b"def f(): pass\n",
    "calls_in_one_function": lambda n: MENTION + b"def f():\n" + b"    comm.gone(1)\n" * n,
    "calls_in_one_handler": lambda n: (
        MENTION + b"try:\n" + b"    comm.gone(1)\n" * n + b"except Exception:\n    pass\n"
    ),
    "handlers": lambda n: MENTION + b"try: comm.gone(1)\nexcept Exception: pass\n" * n,
    "calls_on_one_line": lambda n: MENTION + b"x = comm.gone(1)" + b" or comm.gone(2)" * n + b"\n",
    "arguments_of_one_call": lambda n: MENTION + b"comm.fuse(" + b", ".join(b"k%d=1" % i for i in range(n)) + b")\n",
    "keys_of_one_dict": lambda n: MENTION + b"comm.fuse(**{" + b", ".join(b"'k%d': 1" % i for i in range(n)) + b"})\n",
    "bases_of_one_class": lambda n: (
        MENTION + b"class C(" + b", ".join(b"comm.C%d" % i for i in range(n)) + b"): pass\n"
    ),
    "names": lambda n: MENTION + b"".join(b"comm.x%d\n" % i for i in range(n)),
    "missing_modules": lambda n: b"".join(b"import lib.gone%d\n" % i for i in range(n)),
    "imports_of_one_statement": lambda n: b"from lib.gone import " + b", ".join(b"x%d" % i for i in range(n)) + b"\n",
    "ignored_calls": lambda n: MENTION + b"comm.gone(1)  # driftwatch: ignore\n" * n,
    "ignores_for_nothing": lambda n: MENTION + b"x = 1  # driftwatch: ignore[DW201]\n" * n,
    "unknown_calls": lambda n: MENTION + b"comm.fuse(**x)\n" * n,
    "methods": lambda n: (
        MENTION + b"class C:\n" + b"".join(b"    def m%d(self):\n        comm.gone(1)\n" % i for i in range(n))
    ),
}
"""For a report: each piece is a finding, or nearly one."""
