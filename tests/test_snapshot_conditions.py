"""Collecting: names that only some machines have, and what conditions decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.snapshot.model.symbols import Ref, SymbolKind
from tests.collecting import collected, parameters, symbol


class TestConditions:
    def test_a_placeholder_gives_way_to_what_replaces_it(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="thing = None\ntry:\n    from .other import thing\nexcept ImportError:\n    pass\n",
            other="def thing(a): ...\n",
        )
        assert symbol(found, "pkg:thing").definition == Ref("pkg.other", "thing")

    def test_what_a_handler_puts_in_its_place_counts_only_where_there_is_nothing_else(self, tmp_path: Path) -> None:
        source = "try:\n    thing = 3\nexcept Exception:\n    def thing(a): ...\n"
        assert symbol(collected(tmp_path, __init__=source), "pkg:thing").kind is SymbolKind.ATTRIBUTE

    def test_a_handler_that_raises_again_makes_nothing_optional(self, tmp_path: Path) -> None:
        source = (
            "try:\n    import stone\n    from .other import thing\nexcept ImportError as error:\n"
            "    raise ImportError('no stone') from error\n"
        )
        assert symbol(collected(tmp_path, __init__=source, other="def thing(a): ...\n"), "pkg:thing").requires == ()

    def test_what_type_checkers_are_told_says_what_an_open_module_answers(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .other import thing\n"
            "__all__ = ['thing', 'made_up']\ndef __getattr__(name):\n    return look_somewhere(name)\n",
            other="def thing(a): ...\n",
        )
        assert symbol(found, "pkg").open
        assert parameters(found, "pkg:thing") == ["a"]
        assert symbol(found, "pkg:made_up").kind is SymbolKind.ATTRIBUTE

    @pytest.mark.parametrize(
        "source",
        [
            "globals()['x'] = 1\n",
            "globals().update(x=1)\n",
            "import sys\nfor name in ('a', 'b'):\n    setattr(sys.modules[__name__], name, 1)\n",
            "import sys\nsys.modules[__name__] = object()\n",
            "import sys\ndef patch():\n    sys.modules[__name__] = object()\npatch()\n",
            "import sys\nclass L:\n    def __init__(self, name):\n        sys.modules[name] = self\nL(__name__)\n",
        ],
    )
    def test_names_that_are_put_in_without_being_written_open_the_module(self, tmp_path: Path, source: str) -> None:
        assert symbol(collected(tmp_path, __init__=source), "pkg").open

    def test_a_module_that_puts_others_into_their_places_is_not_open(self, tmp_path: Path) -> None:
        source = "import sys\ndef load(name, found):\n    sys.modules[name] = found\n    return found\n"
        assert not symbol(collected(tmp_path, __init__=source), "pkg").open

    def test_a_module_that_is_compiled_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "pkg").mkdir()
        (tmp_path / "pkg" / "_fast.cpython-311-x86_64-linux-gnu.so").touch()
        assert symbol(collected(tmp_path, __init__=""), "pkg._fast").open

    def test_both_branches_of_a_condition_bind(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="import sys\nif sys.platform == 'win32':\n    def f(a, *, b=1): ...\nelse:\n"
            "    def f(a, *, b=2): ...\n    def only_here(): ...\nif __name__ == '__main__':\n    script = 1\n",
        )
        assert parameters(found, "pkg:f") == ["a", "b=1"]
        assert symbol(found, "pkg:only_here").kind is SymbolKind.FUNCTION
        assert Ref("pkg", "script") not in found.symbols

    def test_the_else_of_type_checking_is_what_runs(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="import typing\nif typing.TYPE_CHECKING:\n    def f(a): ...\nelse:\n    def f(a, b): ...\n",
        )
        assert parameters(found, "pkg:f") == ["a", "b"]

    def test_a_later_definition_replaces_an_earlier_one(self, tmp_path: Path) -> None:
        assert parameters(collected(tmp_path, __init__="def f(a): ...\ndef f(b): ...\n"), "pkg:f") == ["b"]

    def test_overloads_are_not_the_function(self, tmp_path: Path) -> None:
        source = (
            "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\n"
            "def f(a: str) -> str: ...\ndef f(a, extra=None): ...\n"
        )
        assert parameters(collected(tmp_path, __init__=source), "pkg:f") == ["a", "extra=None"]

    def test_a_reassigned_constant_has_no_known_value(self, tmp_path: Path) -> None:
        found = collected(tmp_path, __init__="X = 1\nimport os\nif os.environ.get('X'):\n    X = 2\nY = 1\nY += 1\n")
        assert symbol(found, "pkg:X").value is None
        assert symbol(found, "pkg:Y").value is None

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("if os.name == 'nt':", "else:"),
            ("try:\n    import stone", "except ImportError:"),
            ("if os.name == 'nt':\n    pass\nelif os.name == 'posix':", "else:"),
        ],
    )
    def test_a_class_of_two_branches_has_the_members_of_both(self, tmp_path: Path, first: str, second: str) -> None:
        source = f"""\
import os
{first}
    class C:
        def __init__(self, size): ...
        def a(self): ...
        def both(self, x, *, new=None): ...
        def same(self) -> int: ...
        limit = 4
{second}
    class C:
        def __init__(self, size): self.ptr = 0
        def b(self): ...
        def both(self, x, y=0): ...
        def same(self) -> int: ...
        limit = 8
"""
        found = collected(tmp_path, __init__=source)
        assert not symbol(found, "pkg:C").open
        assert parameters(found, "pkg:C") == ["size"]
        members = {ref.qualname for ref in found.symbols if ref.qualname.startswith("C.")}
        assert members == {"C.a", "C.b", "C.both", "C.same", "C.limit", "C.ptr"}
        assert symbol(found, "pkg:C.limit").value is None
        assert parameters(found, "pkg:C.same") == []
        both = symbol(found, "pkg:C.both")
        assert both.signature is None
        assert [[p.name for p in v.parameters] for v in both.variants] == [["x", "new"], ["x", "y"]]

    def test_definitions_in_branches_of_a_class_body_are_kept(self, tmp_path: Path) -> None:
        source = """\
import os
class C:
    if os.name == "nt":
        def __init__(self, a): self.left = a
        def f(self, a): ...
        def only(self): ...
    else:
        def __init__(self, a, b): self.right = b
        def f(self, b): ...
    try:
        import stone
        def g(self, a): ...
    except ImportError:
        def g(self): self.missing = True
"""
        found = collected(tmp_path, __init__=source)
        made = symbol(found, "pkg:C")
        assert [[p.name for p in v.parameters] for v in made.variants] == [["a"], ["a", "b"]]
        assert [[p.name for p in v.parameters] for v in symbol(found, "pkg:C.f").variants] == [["a"], ["b"]]
        assert [[p.name for p in v.parameters] for v in symbol(found, "pkg:C.g").variants] == [["a"], []]
        members = {ref.qualname for ref in found.symbols if ref.qualname.startswith("C.")}
        assert members >= {"C.only", "C.left", "C.right", "C.missing"}

    def test_an_imported_name_may_come_from_either_place(self, tmp_path: Path) -> None:
        files = {
            "left": "def f(a): ...\nclass C:\n    def x(self): ...\n",
            "right": "def f(b): ...\nclass C:\n    def y(self): ...\n",
            "chosen": "import os\nif os.name == 'nt':\n    from .left import C, f\nelse:\n"
            "    from .right import C, f\nif os.name == 'nt':\n    g = f\nelse:\n    from .left import f as g\n",
        }
        found = collected(tmp_path, __init__="from .chosen import C, f\nclass D(C):\n    pass\n", **files)
        for name in ("pkg:f", "pkg.chosen:f"):
            assert [[p.name for p in v.parameters] for v in symbol(found, name).variants] == [["a"], ["b"]]
        assert {ref.qualname for ref in found.symbols if ref.module == "pkg"} >= {"C.x", "C.y"}
        assert symbol(found, "pkg:C").definition == Ref("pkg.chosen", "C")
        assert symbol(found, "pkg:D").bases == ("pkg.chosen:C",)

    def test_a_base_of_two_branches_constructs_as_either(self, tmp_path: Path) -> None:
        source = (
            "import os\nif os.name == 'nt':\n    class B:\n        def __init__(self, a): ...\nelse:\n"
            "    class B:\n        def __init__(self, a, b): ...\nclass C(B): ...\n"
        )
        made = symbol(collected(tmp_path, __init__=source), "pkg:C")
        assert [[p.name for p in v.parameters] for v in made.variants] == [["a"], ["a", "b"]]

    def test_what_holds_a_place_is_no_definition(self, tmp_path: Path) -> None:
        source = (
            "import os\nfrom .other import wrap\nif os.name == 'nt':\n    def f(a): ...\nelse:\n    f = None\n"
            "def g(a): ...\nif os.name == 'nt':\n    g = wrap(g)\n"
        )
        found = collected(tmp_path, __init__=source, other="def wrap(f): ...\n")
        assert parameters(found, "pkg:f") == ["a"]
        assert parameters(found, "pkg:g") == ["a"]

    def test_one_name_of_two_kinds_takes_what_either_takes(self, tmp_path: Path) -> None:
        source = (
            "import os\nif os.name == 'nt':\n    def f(a): ...\nelse:\n    class f:\n"
            "        def __init__(self, b): ...\n        def m(self): ...\n"
        )
        found = symbol(collected(tmp_path, __init__=source), "pkg:f")
        assert (found.kind, found.open) == (SymbolKind.CLASS, True)
        assert [[p.name for p in v.parameters] for v in found.variants] == [["a"], ["b"]]

    def test_a_wildcard_of_another_distribution_opens_the_module(self, tmp_path: Path) -> None:
        assert symbol(collected(tmp_path, __init__="from stone import *\n"), "pkg").open
