"""What somebody else may have put into a project: files of every kind that a scan reads, written to do harm.

Each kind is a table of contents by name, and every size is bounded. They are for the project of `make_studio`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.cli_process import CONFIGURATION

MENTION = b"import kiln\n"
LONG = 20_000
"""Enough for whatever is quadratic to take a minute."""
TARGET = CONFIGURATION[CONFIGURATION.index("[[tool") :]

Contents = Mapping[str, bytes]


def _around(before: str, after: str, n: int = 3000) -> bytes:
    return MENTION + f"x = {before * n}1{after * n}\n".encode()


NESTED: Contents = {
    "parentheses": _around("(", ")"),
    "lists": _around("[", "]"),
    "dicts": _around("{1: ", "}"),
    "lambdas": _around("lambda: ", ""),
    "nots": _around("not ", ""),
    "signs": _around("-", ""),
    "sums": _around("1+", ""),
    "powers": _around("1**", ""),
    "conditions": _around("1 if y else ", ""),
    "conjunctions": _around("kiln.raku(1) and ", ""),
    "comprehensions": _around("[", " for a in b]"),
    "calls": _around("kiln.fire(", ")"),
    "attributes": MENTION + b"kiln" + b".a" * 3000 + b"\n",
    "calls_of_calls": MENTION + b"kiln.fire" + b"()" * 3000 + b"\n",
    "items": MENTION + b"kiln" + b"[0]" * 3000 + b"\n",
    "targets": MENTION + b"(" * 500 + b"a" + b",)" * 500 + b" = kiln\n",
    "patterns": MENTION + b"match x:\n    case " + b"[" * 400 + b"a" + b"]" * 400 + b": pass\n",
    "ifs": MENTION + b"".join(b" " * i + b"if x:\n" for i in range(99)) + b" " * 99 + b"kiln.raku(1)\n",
    "functions": MENTION + b"".join(b" " * i + b"def f():\n" for i in range(99)) + b" " * 99 + b"kiln.raku(1)\n",
    "tries": (
        MENTION
        + b"".join(b" " * i + b"try:\n" for i in range(19))
        + b" " * 19
        + b"kiln.raku(1)\n"
        + b"".join(b" " * i + b"except E: kiln.raku(2)\n" for i in reversed(range(19)))
    ),
}
LITERALS: Contents = {
    "digits": MENTION + b"x = " + b"9" * 5000 + b"\n",
    "hexadecimal": MENTION + b"x = 0x" + b"f" * 100_000 + b"\n",
    "hexadecimal_argument": MENTION + b"kiln.fire(1, 0x" + b"f" * 5000 + b", glaze=-0x" + b"f" * 5000 + b")\n",
    "hexadecimal_default": MENTION + b"def f(a=0x" + b"f" * 5000 + b"): return kiln.fire(a, a)\nf()\n",
    "read_argument": MENTION + b"kiln.fire(1, int('f' * 4000, 16))\nkiln.fire(1, 1 << 14280 << 60)\n",
    "power_of_powers": MENTION + b"x = 10 ** 10 ** 10\n",
    "shift": MENTION + b"x = 1 << 10 ** 10\n",
    "repeated_text": MENTION + b"x = 'a' * 10 ** 10\n",
    "repeated_list": MENTION + b"x = [0] * 10 ** 10\n",
    "doubled_text": MENTION + b"x = 'a'\n" + b"x = x + x\n" * 60,
    "squared": MENTION + b"x = 7\n" + b"x = x * x\n" * 60,
    "doubled_list": MENTION + b"x = [kiln]\n" + b"x.extend(x)\n" * 60 + b"x[0].raku(1)\n",
    "width_of_a_format": MENTION + b"x = f'{1:>9999999999}' + '%1000000000d' % 1\n",
    "padding": MENTION + b"x = 'a'.ljust(10 ** 10) + 'a'.zfill(10 ** 10) + '\\t'.expandtabs(10 ** 10)\n",
    "replacement": MENTION + b"x = ('a' * 1000).replace('a', 'a' * 100000)\nx = x.replace('a', x)\n",
    "range": MENTION + b"for i in range(10 ** 12): kiln.raku(i)\n",
    "float": MENTION + b"x = 1e999999999\nx = int(x)\nx = round(float('nan'))\n",
    "slice_of_nothing": MENTION + b"x = [kiln][::0]\nx = [kiln][::10 ** 20]\nx = [kiln][10 ** 30]\n",
    "division_by_nothing": MENTION + b"x = 1 // 0\nx = 1 % 0\nx = 0 ** -1\n",
    "version": MENTION + b"from packaging.version import Version\nif Version('" + b"9" * 5000 + b"') > y: pass\n",
    "lone_surrogate": MENTION + b"kiln.fire(**{'\\ud800': 1})\ngetattr(kiln, '\\ud800')\n",
    "control_characters": MENTION + b"kiln.fire(1, **{'\\x1b[2J\\n::error::': 1})\n",
    "long_name": MENTION + b"a" * 1_000_000 + b" = kiln.raku(1)\n",
    "long_string": MENTION + b"x = '" + b"a" * 5_000_000 + b"'\n",
}
CIRCLES: Contents = {
    "function": MENTION + b"def f(x): return f(kiln.raku(x))\nf(1)\n",
    "arguments": MENTION + b"def f(*a, **k): return f(*a, 1, **{**k, 'x' + str(len(k)): 1})\nf()\n",
    "closure": MENTION + b"def f(g): return f(lambda: g())\nf(kiln.raku)\n",
    "self_application": MENTION + b"(lambda x: x(x))(lambda x: x(x))\n",
    "numerals": MENTION + b"two = lambda f: lambda x: f(f(x))\ntwo(two(two(two(two))))(kiln.raku)(1)\n",
    "fixed_point": MENTION + b"Y = lambda f: (lambda x: x(x))(lambda y: f(lambda *a: y(y)(*a)))\nY(kiln.raku)(1)\n",
    "list": MENTION + b"x = []\nx.append(x)\nkiln.raku(*x)\n",
    "dict": MENTION + b"x = {}\nx['x'] = x\nkiln.fire(**x)\n",
    "class": MENTION + b"class A(A): pass\nclass B: pass\nclass C(B): pass\nB.__bases__ = (C,)\nC().x\n",
    "order_of_classes": MENTION + b"class A: pass\nclass B(A): pass\nclass C(A, B): pass\nC().x\n",
    "metaclass": MENTION + b"class M(type, metaclass=type): pass\nclass A(M, metaclass=M): pass\nA()\n",
    "attribute": MENTION + b"class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().raku(1)\n",
    "property": MENTION + b"class A:\n    @property\n    def x(self): return self.x\nA().x.raku(1)\n",
    "descriptor": MENTION + b"class D:\n    def __get__(s, i, o): return s.__get__(i, o)\nclass A: d = D()\nA().d\n",
    "iterator": MENTION + b"class A:\n    def __iter__(self): return self\n    __next__ = kiln.raku\nlist(A())\n",
    "generator": MENTION + b"def g():\n    yield from g()\n    yield kiln.raku(1)\nlist(g())\n",
    "decorator": MENTION + b"def d(f): return d(f)\n@d\ndef f(): return kiln.raku(1)\nf()\n",
    "import": MENTION + b"from bad import *\nfrom . import *\nimport bad\nbad.bad.kiln.raku(1)\n",
    "partial": MENTION + b"import functools\np = functools.partial\np = p(p, p)\np(p, p)(p)\n",
}


def _cookie(name: str) -> bytes:
    return f"# -*- coding: {name} -*-\n".encode("latin-1") + MENTION + b"kiln.raku(1)\n"


ENCODINGS: Contents = {
    **{
        f"cookie_{name}": _cookie(name)
        for name in (
            *(
                "utf-7",
                "rot13",
                "hex",
                "idna",
                "unicode_escape",
                "punycode",
                "mbcs",
                "undefined",
                "zip",
                "uu",
                "utf-16",
            ),
            *("cp037", "klingon", "a" * 5000, "../../etc", "\x1b[2J"),
        )
    },
    **{f"all_{name}": (MENTION + b"kiln.raku(1)\n").decode().encode(name) for name in ("utf-16", "utf-32", "cp037")},
    "mark_and_cookie": b"\xef\xbb\xbf# coding: latin-1\n" + MENTION,
    "two_marks": b"\xef\xbb\xbf\xef\xbb\xbf" + MENTION,
    "overlong": MENTION + b"x = '\xc0\x80'\n",
    "surrogate": MENTION + b"x = '\xed\xa0\x80'\n",
    "null": MENTION + b"\0",
    "nulls": b"\0" * 100_000 + MENTION,
    "program": b"\x7fELF\x02" + bytes(range(256)) * 100 + MENTION,
    "archive": b"PK\x03\x04" + MENTION,
    "carriage_returns": MENTION.replace(b"\n", b"\r") + b"kiln.raku(1)\r",
    "line_separators": MENTION + "x = '\u2028\u2029\x85'\x0c\n".encode(),
    "empty": b"",
}
SOURCES: Mapping[str, Contents] = {"nested": NESTED, "literals": LITERALS, "circles": CIRCLES, "encodings": ENCODINGS}

PROJECT = '[project]\nname = "studio"\nversion = "1"\n'


def _configured(key: str, value: str) -> bytes:
    return f"{PROJECT}[tool.driftwatch]\n{key} = {value}\n{'' if key == 'target' else TARGET}".encode()


_KEYS = (
    *("against", "select", "ignore", "exclude", "fail-on", "baseline", "per-file-ignores", "target", "watch"),
    *("severity", "adapter-policy", "nonsense"),
)
_VALUES = {
    "number": "1",
    "infinite": "inf",
    "date": "1979-05-27",
    "empty": '""',
    "null_character": '"\\u0000"',
    "escape": '"\\u001b[2J\\u202e"',
    "empty_list": "[]",
    "list_of_lists": "[[]]",
    "nothing_in_a_list": '[""]',
    "table": '{"" = []}',
    "outside": '"../../../../etc/passwd"',
    "long": f'["{"a" * 5000}"]',
    "digits": "9" * 4000,
    "hexadecimal": f"0x{'f' * 4000}",
}
SETTINGS: Contents = {
    f"{key}_{name}": _configured(key, value)
    for number, key in enumerate(_KEYS)
    for index, (name, value) in enumerate(_VALUES.items())
    if (number + index) % 3 == 0
}
"""A third of all keys with all values, each of both several times."""
TABLES: Contents = {
    name: text if isinstance(text, bytes) else text.encode()
    for name, text in {
        "lists_in_lists": f"{PROJECT}x = {'[' * 3000}{']' * 3000}\n",
        "tables_in_tables": f"{PROJECT}x = {'{a=' * 3000}1{'}' * 3000}\n",
        "a_key_of_many_parts": f"{PROJECT}a{'.a' * LONG} = 1\n",
        "a_table_of_many_parts": f"{PROJECT}[a{'.a' * LONG}]\n",
        "twice": PROJECT + PROJECT,
        "blank_lines": "\n" * 200_000 + PROJECT + TARGET,
        "utf_16": PROJECT.encode("utf-16"),
        "null": PROJECT.encode() + b"\0",
        "tool_is_a_list": "tool = []\n",
        "project_is_a_list": "project = [1]\n",
        "name_is_a_number": "[project]\nname = 1\n",
        "dependencies_are_text": f'{PROJECT}dependencies = "kiln"\n{TARGET}',
        "dependencies_are_lists": f'{PROJECT}dependencies = [["kiln"]]\n{TARGET}',
        "many_groups": "[dependency-groups]\n" + "".join(f'a{n} = ["kiln"]\n' for n in range(2000)) + TARGET,
    }.items()
}
_PATTERNS = ("**/" * 9 + "x", "[", "[!", "!x", "\\\\", "{a,b}", "*" * 3000, "(a+)+$", "../..", "/", "", "~", "?" * 2000)
PATTERNS: Contents = {
    f"pattern_{n}": (
        f'{PROJECT}[tool.driftwatch]\nexclude = ["{pattern}"]\n'
        f'[tool.driftwatch.per-file-ignores]\n"{pattern}" = ["DW2"]\n{TARGET}'
    ).encode()
    for n, pattern in enumerate(_PATTERNS)
}
REQUIREMENTS: Mapping[str, str] = {
    "marker": f"kiln; {'(' * 2000}python_version>'3'{')' * 2000}",
    "many_markers": "kiln; " + " or ".join(["python_version>'3'"] * 2000),
    "extras": f"kiln[{','.join(f'a{n}' for n in range(3000))}]",
    "specifiers": "kiln" + ",".join([">=1.0"] * 3000),
    "device": "kiln @ file:///dev/zero",
    "digits": f"kiln=={'9' * 5000}",
    "epoch": "kiln>=9999999999!1",
    "any_text": "kiln===\u202e",
    "local": f"kiln==1.0+{'a.' * 2000}a",
    "wildcards": "kiln==1.*.*",
    "escape": "kiln>=1\x1b[2J",
    "several_lines": "kiln>=1\n::error::x",
    "blanks": f"kiln>=1;{' ' * LONG}x",
    "word": "a" * LONG,
    "eggs": "git+x://a#egg=" * 1000 + "kiln",
    "brackets": "kiln[" * LONG,
    "wide": "\uff4biln>=\uff11",
}
DECLARATIONS: Mapping[str, Mapping[str, str]] = {
    "requirements.txt": {
        **REQUIREMENTS,
        "itself": "-r requirements.txt\n",
        "endless": "-r /dev/zero\n",
        "deep": f"-r {'a/' * 3000}\n",
        "outside": "-r ../../../../../../etc/passwd\n-c http://127.0.0.1:9/x\n",
        "continued": "kiln>=1 \\\n" * 3000,
        "ends_of_lines": "kiln>=1\r\rkiln<1\r\x0bkiln>=2\x85kiln>=3\u2028kiln>=4\n",
        "many": "".join(f"kiln>=1.{n}\n" for n in range(2000)),
        "null": "\0",
    },
    "setup.cfg": {
        "twice": "[options]\ninstall_requires =\n  kiln>=1\n[options]\n",
        "open": "[options\n",
        "interpolation": "[DEFAULT]\na=%(a)s\n[options]\ninstall_requires=%(a)s\n",
        "wrong_lines": "[options]\n" + " a\n" * 100_000,
        "many": "[options]\ninstall_requires =\n" + "".join(f"  kiln>=1.{n}\n" for n in range(5000)),
        "null": "\0",
    },
    "Dockerfile": {
        "continued": "RUN pip install kiln==1.0 " + "\\\n" * LONG,
        "quotes": "RUN pip install \"'" + "'" * 9999,
        "doubled": "".join(f"ENV A{n + 1}=$A{n}$A{n}\n" for n in range(60)) + "RUN pip install kiln==$A60\n",
        "here": "RUN <<EOF\n" * 1000,
        "default": "ARG a=${a:-${a:-${a}}}\n" * 1000 + "RUN pip install kiln==$a\n",
    },
    "PKG-INFO": {
        "many": "Metadata-Version: 2.1\nName: a\n" + "Requires-Dist: kiln>=1\n" * 2000,
        "bracket": "Requires-Dist: " + "(" * 5000,
        "null": "Metadata-Version: 99\n\0",
    },
    "driftwatch.toml": {"list": "against = 1\n", "deep": f"x = {'[' * 5000}", "null": "\0", "empty": ""},
    "baseline.json": {
        "deep": "[" * 100_000,
        "list": "[]",
        "digits": f'{{"schema": {"9" * 5000}}}',
        "entries": '{"schema": 4, "entries": [{"fingerprint": 1}]}',
        "empty": "",
    },
}


def damaged_stores(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each way in which a stored history is damaged: a file, and what is in it then. `folder` has one that is whole."""
    values = (None, 1, [], {}, "\u202e")
    for path in (folder / "history.jsonl", folder / "releases.jsonl"):
        text = path.read_text()
        lines = text.splitlines()
        yield from ((path, each) for each in ("", "[" * LONG + "\n", "[]\n", "\0\n", text[:-5]))
        for number, line in enumerate(lines):
            entry = json.loads(line)
            for key, value in ((key, value) for key in entry for value in values):
                changed = json.dumps({**entry, key: value})
                yield path, "".join(f"{changed if n == number else other}\n" for n, other in enumerate(lines))
