"""Collecting: a library with every hard shape, held against its own live import and against exact expectations."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.binding.signature import Fault, Problem, Shape, bind
from driftwatch.errors import SnapshotError
from driftwatch.snapshot.collect.reader import Reader
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.model.symbols import Binding, ParameterKind, Ref, Snapshot, Symbol, SymbolKind
from driftwatch.snapshot.sources.tree import FolderTree
from tests.collecting import collected, parameters, symbol
from tests.live_parity.comparison import compare
from tests.made_library import write

INSPECTOR = Path(__file__).parent / "live_parity" / "inspector.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def kiln(folder: Path) -> Snapshot:
    return collect(FolderTree(folder), "kiln", "1.2.3")


def test_agrees_with_a_live_import_in_everything(folder: Path, kiln: Snapshot, tmp_path: Path) -> None:
    asked = {ref.module: list[str]() for ref in kiln.symbols if not ref.qualname}
    for ref in kiln.symbols:
        if ref.qualname and "." not in ref.qualname:
            asked[ref.module].append(ref.qualname)
    output = tmp_path / "live.json"
    subprocess.run(
        [sys.executable, str(INSPECTOR), str(folder), str(output)], input=json.dumps(asked), text=True, check=True
    )
    parity = compare(kiln, json.loads(output.read_text()))
    assert not parity.differences, "\n".join(parity.differences)
    assert list(parity.unimportable) == ["kiln.gas"], parity.unimportable
    assert parity.agreed["modules"] == 13
    assert parity.agreed["signatures"] > 90
    assert parity.agreed["members"] > 80
    assert parity.agreed["enumeration members"] == 6


class TestNames:
    def test_a_function_is_not_hidden_by_the_submodule_of_its_name(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.wheel:wheel").kind is SymbolKind.FUNCTION
        assert symbol(kiln, "kiln.wheel:wheel").definition == Ref("kiln.wheel.wheel", "wheel")
        assert symbol(kiln, "kiln.wheel.wheel").kind is SymbolKind.MODULE

    def test_lazy_names_lead_to_their_definitions(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:wheel").definition == Ref("kiln.wheel.wheel", "wheel")
        assert parameters(kiln, "kiln:sieve") == ["mesh=80"]
        assert symbol(kiln, "kiln:Bat").kind is SymbolKind.CLASS
        assert symbol(kiln, "kiln:Bat.diameter").binding is Binding.INSTANCE
        assert parameters(kiln, "kiln.wheel:treadle") == ["weight"]
        assert symbol(kiln, "kiln.wheel:kick").value == "'foot'"
        assert not symbol(kiln, "kiln").open

    def test_names_that_exist_for_type_checkers_alone_are_absent(self, kiln: Snapshot) -> None:
        assert Ref("kiln", "Decimal") not in kiln.symbols

    def test_deleted_names_are_absent(self, kiln: Snapshot) -> None:
        assert Ref("kiln", "index") not in kiln.symbols
        assert Ref("kiln", "temporary") not in kiln.symbols

    def test_a_name_behind_a_missing_package_says_so(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:burner").requires == ("a_gas_main_that_nobody_has",)
        assert symbol(kiln, "kiln.gas").requires == ("a_gas_main_that_nobody_has",)
        assert symbol(kiln, "kiln:element").requires == ()
        assert symbol(kiln, "kiln:rocks").requires == ()

    def test_foreign_names_point_outside(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:json").definition == Ref("json", "")
        assert symbol(kiln, "kiln:Optional").definition == Ref("typing", "Optional")

    def test_a_wildcard_brings_what_all_lists(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:celadon").definition == Ref("kiln.glaze", "celadon")
        assert symbol(kiln, "kiln:shino").definition == Ref("kiln.glaze", "shino")
        assert Ref("kiln", "unlisted") not in kiln.symbols

    def test_a_renamed_import_is_known_by_its_new_name(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:roll").definition == Ref("kiln.old", "slab_roll")
        assert [p.kind for p in symbol(kiln, "kiln:roll").signature.parameters] == [  # type: ignore[union-attr]
            ParameterKind.POSITIONAL_ONLY,
            ParameterKind.POSITIONAL_OR_KEYWORD,
        ]

    def test_a_module_that_answers_everything_is_open(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.open").open

    def test_constants_have_their_source_as_value(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:CONES").value == "(6, 10)"
        assert symbol(kiln, "kiln:max_cone").value == "14"
        assert symbol(kiln, "kiln:b").value == "'two'"

    def test_a_value_that_changes_after_import_is_not_recorded(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:counter").value is None


class TestFunctions:
    def test_decorators_leave_the_def_and_add_what_their_wrapper_takes(self, kiln: Snapshot) -> None:
        assert parameters(kiln, "kiln:fire") == ["pot", "minutes=30", "cone=6", "atmosphere=None"]
        assert symbol(kiln, "kiln:fire").signature.extra_keywords == ("trace", "verbose")  # type: ignore[union-attr]
        assert symbol(kiln, "kiln.fire:refire").signature.extra_keywords == (  # type: ignore[union-attr]
            "trace",
            "verbose",
        )

    def test_old_keywords_are_accepted(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.fire:soak").signature.extra_keywords == ("temp",)  # type: ignore[union-attr]

    def test_a_deprecation_warning_is_a_mark(self, kiln: Snapshot) -> None:
        mark = symbol(kiln, "kiln.fire:raku").deprecated
        assert mark is not None
        assert mark.message == "raku is deprecated and will be removed in 2.0; use fire"
        assert mark.removal == "2.0"

    def test_the_fast_import_wins_over_its_fallback(self, kiln: Snapshot) -> None:
        assert parameters(kiln, "kiln.fire:cool") == ["pot", "slowly=True", "fan=None"]

    def test_branches_that_disagree_leave_the_signature_open(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.fire:choose").signature is None

    def test_returns_name_the_one_class_they_promise(self, kiln: Snapshot) -> None:
        shelf = Ref("kiln.shelf", "Shelf")
        assert symbol(kiln, "kiln:open_shelf").signature.returns_ref == shelf  # type: ignore[union-attr]
        assert symbol(kiln, "kiln.shelf:any_shelf").signature.returns_ref == shelf  # type: ignore[union-attr]
        assert symbol(kiln, "kiln.shelf:shelf_or_name").signature.returns_ref is None  # type: ignore[union-attr]
        assert symbol(kiln, "kiln.fire:Program.later").signature.returns_ref is None  # type: ignore[union-attr]


class TestClasses:
    def test_constructors(self, kiln: Snapshot) -> None:
        assert parameters(kiln, "kiln:Clay") == ["mass", "wet=True"]
        assert parameters(kiln, "kiln.clay:Slip") == ["mass", "thinner='water'"]
        assert parameters(kiln, "kiln.clay:Cone") == ["value"]
        assert parameters(kiln, "kiln.clay:FarPoint") == ["x", "y=0"]
        assert parameters(kiln, "kiln.clay:LidPot") == [
            *("name", "size=2", "marks=list()", "clay='stoneware'", "lid=True", "signed=False")
        ]
        assert parameters(kiln, "kiln.clay:Tile") == ["width", "height=5"]
        assert parameters(kiln, "kiln.clay:Shard") == []
        assert parameters(kiln, "kiln:Recipe") == ["name", "parts"]
        assert parameters(kiln, "kiln.clay:Broken") == ["where", "why=None"]

    def test_a_foreign_base_may_take_anything(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.clay:Cracked").signature is None

    def test_methods_are_seen_as_their_callers_see_them(self, kiln: Snapshot) -> None:
        assert parameters(kiln, "kiln.clay:Base.knead") == ["times=3", "*hands", "speed=1.0", "**more"]
        assert parameters(kiln, "kiln.clay:Base.scrap") == ["count=1"]
        assert symbol(kiln, "kiln.clay:Base.scrap").binding is Binding.CLASS
        assert parameters(kiln, "kiln.clay:Base.weigh") == ["thing", "unit='kg'"]
        assert symbol(kiln, "kiln.clay:Base.weigh").binding is Binding.STATIC
        assert symbol(kiln, "kiln.clay:Base.volume").kind is SymbolKind.PROPERTY
        assert parameters(kiln, "kiln.clay:Base.Inner.dig") == ["how=None"]

    def test_attributes_of_instances_are_no_members_of_the_class(self, kiln: Snapshot) -> None:
        on_instances = ["mass", "_wet", "tags", "kneaded", "recycled", "unset"]
        assert {symbol(kiln, f"kiln.clay:Base.{name}").binding for name in on_instances} == {Binding.INSTANCE}
        assert symbol(kiln, "kiln.clay:Base.shelf_life").binding is None
        assert symbol(kiln, "kiln.shelf:Shelf.boards").binding is Binding.INSTANCE
        assert symbol(kiln, "kiln.shelf:Shelf.right").binding is Binding.INSTANCE
        assert symbol(kiln, "kiln.shelf:Shelf.label").binding is Binding.INSTANCE

    def test_fields_of_a_dataclass(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.clay:Pot.name").binding is Binding.INSTANCE
        assert symbol(kiln, "kiln.clay:Pot.size").value == "1"
        assert symbol(kiln, "kiln.clay:Pot.marks").binding is Binding.INSTANCE
        assert Ref.parse("kiln.clay:Pot._") not in kiln.symbols

    def test_bases(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:Clay").bases == ("kiln.clay:Base",)
        assert symbol(kiln, "kiln.shelf:Shelf").bases == ("kiln.clay:Base",)
        assert symbol(kiln, "kiln.clay:Cone").bases == ("enum.IntEnum",)
        assert symbol(kiln, "kiln.clay:Firing").bases == ("abc.ABC",)

    def test_abstract_members(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln.clay:Firing.start").abstract
        assert symbol(kiln, "kiln.clay:Firing.hot").abstract
        assert not symbol(kiln, "kiln.clay:Firing.stop").abstract

    def test_a_class_that_forwards_to_another_has_its_names(self, kiln: Snapshot) -> None:
        assert not symbol(kiln, "kiln.shelf:Forwarding").open
        assert symbol(kiln, "kiln.shelf:Forwarding.boards").binding is Binding.INSTANCE
        assert symbol(kiln, "kiln.shelf:Forwarding.weigh").binding is Binding.INSTANCE
        assert symbol(kiln, "kiln.shelf:Anything").open

    def test_an_enumeration_that_makes_its_values_shows_none(self, tmp_path: Path) -> None:
        source = (
            "import enum\nclass E(enum.IntEnum):\n    def __new__(cls, value, text):\n"
            "        return int.__new__(cls, value)\n    A = 1, 'a'\n"
        )
        assert symbol(collected(tmp_path, __init__=source), "pkg:E.A").value is None

    def test_the_values_that_auto_gives(self, tmp_path: Path) -> None:
        source = (
            "import enum\nfrom enum import auto\n"
            "class A(enum.Enum):\n    X = auto()\n    Y = 5\n    Z = auto()\n    W = 2\n    V = auto()\n"
            "class F(enum.Flag):\n    X = auto()\n    Y = auto()\n    XY = 3\n    Z = auto()\n"
            "class S(enum.StrEnum):\n    ONE = auto()\n"
            "class M(str, enum.Enum):\n    X = auto()\n"
            "class O(enum.Enum):\n    def _generate_next_value_(name, *_):\n        return name\n    X = auto()\n"
        )
        found = collected(tmp_path, __init__=source)
        values = {ref.qualname: s.value for ref, s in found.symbols.items() if s.kind is SymbolKind.ATTRIBUTE}
        assert {k: v for k, v in values.items() if k[:2] in ("A.", "F.", "S.")} == {
            "A.X": "1",
            "A.Y": "5",
            "A.Z": "6",
            "A.W": "2",
            "A.V": "auto()",
            "F.X": "1",
            "F.Y": "2",
            "F.XY": "3",
            "F.Z": "4",
            "S.ONE": "'one'",
        }
        assert (values["M.X"], values["O.X"]) == ("auto()", "auto()")

    def test_a_metaclass_that_is_called_decides(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="class Meta(type):\n    def __call__(cls, *a, **k): ...\nclass Quiet(type):\n    x = 1\n"
            "class A(metaclass=Meta):\n    def __init__(self, a): ...\nclass B(A): ...\n"
            "class C(metaclass=Quiet):\n    def __init__(self, a): ...\n",
        )
        assert symbol(found, "pkg:A").signature is None
        assert symbol(found, "pkg:B").signature is None
        assert parameters(found, "pkg:C") == ["a"]

    def test_a_decorator_that_may_make_a_constructor_leaves_it_unknown(self, tmp_path: Path) -> None:
        found = collected(tmp_path, __init__="import models\n@models.model\nclass A:\n    x: int\n    y: int = 1\n")
        assert symbol(found, "pkg:A").signature is None

    def test_a_function_that_a_class_decorates_is_an_instance_of_it(self, tmp_path: Path) -> None:
        found = collected(tmp_path, __init__="class Op:\n    def __init__(self, f): ...\n@Op\ndef f(a): ...\n")
        assert symbol(found, "pkg:f").kind is SymbolKind.ATTRIBUTE

    def test_slots_are_members_of_the_class(self, tmp_path: Path) -> None:
        source = "class A:\n    __slots__ = ('x', 'y')\n    def __init__(self):\n        self.x = 1\n"
        found = collected(tmp_path, __init__=source)
        assert symbol(found, "pkg:A.x").binding is None
        assert symbol(found, "pkg:A.y").binding is None

    def test_private_parameters_have_the_names_python_gives_them(self, tmp_path: Path) -> None:
        found = collected(tmp_path, __init__="class _A:\n    def m(self, __x, __y__): ...\ndef f(__x): ...\n")
        assert parameters(found, "pkg:_A.m") == ["_A__x", "__y__"]
        assert parameters(found, "pkg:f") == ["__x"]

    def test_members_are_there_under_every_name_of_the_class(self, kiln: Snapshot) -> None:
        assert symbol(kiln, "kiln:Clay.soak").definition == Ref("kiln.clay", "Clay.soak")
        assert symbol(kiln, "kiln:Clay.soften").definition == Ref("kiln.clay", "Clay.soak")
        assert symbol(kiln, "kiln.clay:Clay.knead_well").definition == Ref("kiln.clay", "Base.knead")


LOADING = {
    "__init__": (
        "from .a import f\nfrom . import b\nimport contextlib\n"
        "try:\n    import stone\n    from .c import g\nexcept ImportError:\n    pass\n"
        "with contextlib.suppress(ImportError):\n    from .e import x\ndef later():\n    from . import d\n"
    ),
    "a": "from .deep import f\nf = f\n",
    "b": "import os\nif os.name == 'nt':\n    from .wide import y\n",
    "c": "g = 1\n",
    "d": "",
    "e": "x = 1\n",
    "deep": "def f(): ...\n",
    "wide": "y = 1\n",
    "alone": "from .apart import z\n",
    "apart": "z = 1\n",
}


class TestLoading:
    def test_a_module_says_what_it_loads_and_what_it_may(self, tmp_path: Path) -> None:
        root = symbol(collected(tmp_path, **LOADING), "pkg")
        assert root.imports == ("pkg.a", "pkg.b", "pkg.e")
        assert root.demands == ("pkg.c", "pkg.d")

    def test_submodules_that_are_loaded_are_attributes(self, tmp_path: Path) -> None:
        history = merge("pkg", "pkg", [collected(tmp_path, **LOADING)])
        names = sorted(LOADING.keys() - {"__init__"})
        assert [n for n in names if history.attribute("pkg", n)] == ["a", "b", "deep", "e"]
        assert [n for n in names if history.may_load(f"pkg.{n}") - history.attribute("pkg", n)] == ["c", "d", "wide"]
        assert all(history.importable("pkg", n) for n in names)
        assert history.loads("pkg.alone", "pkg.apart")
        assert history.loads("pkg.alone", "pkg.deep")

    def test_a_name_that_hides_its_submodule_is_asked_first(self, tmp_path: Path) -> None:
        files = {"__init__": "from .f import f\n", "f": "def f(): ...\n", "user": "from . import f\n"}
        found = collected(tmp_path, **files)
        assert symbol(found, "pkg").imports == ("pkg.f",)
        assert symbol(found, "pkg.user").imports == ()


class TestRefusals:
    def refusing(self, tmp_path: Path, body: str) -> Symbol:
        return symbol(collected(tmp_path, __init__=f"def f(a, **kwargs):\n{body}    return a\n"), "pkg:f")

    @pytest.mark.parametrize("test", ["kwargs", "len(kwargs)", "len(kwargs) > 0"])
    def test_what_takes_a_few_names_alone(self, tmp_path: Path, test: str) -> None:
        body = f"    b = kwargs.pop('b', 1)\n    c = kwargs.pop('c')\n    if {test}:\n        raise TypeError(kwargs)\n"
        found = self.refusing(tmp_path, body)
        assert found.signature is not None
        assert found.shown is not None
        assert [(p.name, p.required) for p in found.signature.parameters] == [("a", True), ("b", False), ("c", False)]
        assert [p.name for p in found.shown.parameters] == ["a", "kwargs"]

    def test_a_name_that_is_refused(self, tmp_path: Path) -> None:
        found = self.refusing(tmp_path, "    if 'old' in kwargs:\n        raise TypeError('gone')\n")
        assert found.signature is not None
        assert found.signature.refused == ("old",)
        assert bind(found.signature, Shape((True,), {"old": True})).problems == (Problem(Fault.UNKNOWN_KEYWORD, "old"),)
        assert bind(found.signature, Shape((True,), {"other": True})).fits

    @pytest.mark.parametrize(
        "body",
        [
            "    g(**kwargs)\n    if kwargs:\n        raise TypeError\n",
            "    kwargs = h(kwargs)\n    if kwargs:\n        raise TypeError\n",
            "    if a:\n        return 1\n    if kwargs:\n        raise TypeError\n",
            "    if kwargs:\n        raise ValueError\n",
            "    kwargs.pop(a)\n    if kwargs:\n        raise TypeError\n",
            "    if a and kwargs:\n        raise TypeError\n",
        ],
    )
    def test_what_may_take_anything(self, tmp_path: Path, body: str) -> None:
        found = self.refusing(tmp_path, body)
        assert found.signature is not None
        assert found.signature.refused == ()
        assert [p.name for p in found.signature.parameters] == ["a", "kwargs"]
        assert found.shows is None


class TestShown:
    def test_what_a_deprecated_class_shows_is_not_what_it_takes(self, tmp_path: Path) -> None:
        source = (
            "from warnings import deprecated\n@deprecated('old')\nclass A:\n    def __init__(self, a): ...\n"
            "class Own(A):\n    def __init__(self, b): ...\nclass Same(A): ...\n"
            "@deprecated('old')\nclass Made:\n    def __new__(cls, a): ...\n"
        )
        found = collected(tmp_path, __init__=source)
        shown = {name: symbol(found, f"pkg:{name}").shows for name in ("A", "Own", "Same", "Made")}
        assert {name for name, signature in shown.items() if signature is not None} == {"A", "Same"}
        assert parameters(found, "pkg:A") == parameters(found, "pkg:Same") == ["a"]
        shows = shown["A"]
        assert shows is not None
        assert [p.kind for p in shows.parameters] == [ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD]


class TestHostile:
    @pytest.mark.parametrize(
        ("source", "said"),
        [
            (b"def f(:\n", "invalid syntax"),
            (b"\x00", "null bytes"),
            (b"\xff\xfe\x00", "cannot be read"),
            (b"# -*- coding: no-such-codec -*-\n", "unknown encoding"),
            (b"x = " + b"[" * 20000 + b"]" * 20000, "cannot be read"),
        ],
    )
    def test_a_file_that_is_not_python_is_one_clear_error(self, tmp_path: Path, source: bytes, said: str) -> None:
        (tmp_path / "pkg").mkdir()
        (tmp_path / "pkg" / "__init__.py").write_bytes(source)
        with pytest.raises(SnapshotError, match="module pkg of release 1 cannot be read") as caught:
            collect(FolderTree(tmp_path), "pkg", "1")
        assert said in caught.value.message
        assert "\n" not in caught.value.message

    def test_a_missing_module_is_said(self, tmp_path: Path) -> None:
        collected(tmp_path, __init__="")
        with pytest.raises(SnapshotError, match=r"release 1 has no module pkg\.inner"):
            collect(FolderTree(tmp_path), "pkg.inner", "1")

    def test_imports_in_circles_end(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="from .a import x, y\nz = z\n",
            a="from .b import x\nfrom . import y\nfrom .b import *\n",
            b="from .a import x\nfrom .a import *\n",
        )
        assert symbol(found, "pkg:x").kind is SymbolKind.ATTRIBUTE

    def test_classes_in_circles_end(self, tmp_path: Path) -> None:
        found = collected(tmp_path, __init__="class A(B): ...\nclass B(A): ...\nclass C(C): ...\n")
        assert symbol(found, "pkg:A").bases == ("pkg:B",)

    def test_classes_that_hold_each_other_end(self, tmp_path: Path) -> None:
        found = collected(
            tmp_path,
            __init__="from .two import D\nclass A: ...\nclass B:\n    other = A\nclass C(A):\n    other = B\n",
            two="from . import three\nclass D:\n    e = three.E\n",
            three="from . import two\nclass E:\n    d = two.D\n",
        )
        assert symbol(found, "pkg:B.other").open
        assert symbol(found, "pkg:B.other").definition == Ref("pkg", "A")
        assert symbol(found, "pkg:D.e").definition == Ref("pkg.three", "E")

    def test_code_is_never_executed(self, tmp_path: Path) -> None:
        mark = tmp_path / "executed"
        collected(tmp_path, __init__=f"open({str(mark)!r}, 'w').close()\nraise SystemExit(3)\n")
        assert not mark.exists()

    def test_other_encodings_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "pkg").mkdir()
        (tmp_path / "pkg" / "__init__.py").write_bytes("# coding: latin-1\nname = 'é'\n".encode("latin-1"))
        assert symbol(collect(FolderTree(tmp_path), "pkg", "1"), "pkg:name").value == "'é'"


class TestSharing:
    def test_a_shared_reader_changes_nothing(self, folder: Path, kiln: Snapshot) -> None:
        reader = Reader()
        first = collect(FolderTree(folder), "kiln", "1.2.3", reader)
        again = collect(FolderTree(folder), "kiln", "1.2.3", reader)
        assert first == again == kiln

    def test_a_file_that_is_the_same_leads_where_its_release_says(self, tmp_path: Path) -> None:
        init = "from .part import *\nfrom .part import f as g\n"
        reader = Reader()
        found = []
        for number, part in enumerate(("def f(a): ...\n", "def f(b): ...\ndef h(): ...\n")):
            folder = tmp_path / str(number)
            (folder / "pkg").mkdir(parents=True)
            (folder / "pkg" / "__init__.py").write_text(init)
            (folder / "pkg" / "part.py").write_text(part)
            found.append(collect(FolderTree(folder), "pkg", str(number), reader))
        assert parameters(found[0], "pkg:g") == ["a"]
        assert parameters(found[1], "pkg:g") == ["b"]
        assert Ref("pkg", "h") not in found[0].symbols
        assert Ref("pkg", "h") in found[1].symbols


def test_only_one_module_knows_the_parser() -> None:
    package = Path(__file__).parent.parent / "driftwatch"
    users = [p.name for p in package.rglob("*.py") if "griffe" in p.read_text(encoding="utf-8").split()]
    assert users == ["reader.py"]


def test_an_old_name_of_a_parameter_that_is_not_there_is_not_taken(tmp_path: Path) -> None:
    source = "from .tools import renamed\n\n\n@renamed(old='new', older='gone')\ndef fire(new): ...\n"
    found = collected(tmp_path, __init__=source, tools="def renamed(**names):\n    return lambda function: function\n")
    signature = symbol(found, "pkg:fire").signature
    assert signature is not None
    assert signature.extra_keywords == ("old",)
