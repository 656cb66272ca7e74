"""Shapes of libraries that are not FlashInfer: what cannot be told is open or unknown, and never wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.model.symbols import Ref, SymbolKind
from driftwatch.snapshot.sources.tree import FolderTree
from tests.collecting import collected, parameters, symbol


def test_a_class_in_a_class_with_a_method_that_gives_it(tmp_path: Path) -> None:
    snapshot = collected(
        tmp_path,
        __init__="""
class Outer:
    class Inner:
        def again(self) -> "Outer.Inner": ...
    def inner(self) -> "Outer.Inner": ...
Inner = Outer.Inner
""",
    )
    assert symbol(snapshot, "pkg:Inner").kind is SymbolKind.CLASS
    assert parameters(snapshot, "pkg:Outer.Inner.again") == []


def test_a_file_that_is_no_python_of_today_is_open_and_the_rest_stands(tmp_path: Path) -> None:
    snapshot = collected(tmp_path, __init__="def f(a): ...", old="print 'no'")
    assert parameters(snapshot, "pkg:f") == ["a"]
    assert symbol(snapshot, "pkg.old:").open


def test_a_name_that_is_bound_again_to_an_import(tmp_path: Path) -> None:
    source = """
import sys
from typing import NoReturn
if sys.platform == "win32":
    def geteuid() -> NoReturn: ...
else:
    from os import geteuid
"""
    snapshot = collected(tmp_path, __init__=source)
    assert symbol(snapshot, "pkg:geteuid").kind in (SymbolKind.FUNCTION, SymbolKind.ATTRIBUTE)


def test_a_wildcard_import_brings_the_submodules_that_a_package_imports(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    (package / "sub").mkdir(parents=True)
    (package / "__init__.py").write_text("from pkg.sub import *\n", encoding="utf-8")
    (package / "sub" / "__init__.py").write_text("from pkg.sub.one import f\n", encoding="utf-8")
    (package / "sub" / "one.py").write_text("def f(): ...\n", encoding="utf-8")
    snapshot = collect(FolderTree(tmp_path), "pkg", "1")
    assert symbol(snapshot, "pkg:one").definition == Ref("pkg.sub.one", "")


DECORATORS = """
import functools
def injects(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return func(make(), *args, **kwargs)
    return wrapper
def adds(key):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            return func(*args, key=key, **kwargs)
        return wrapper
    return decorate
def passes(func):
    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        log()
        return func(self, *args, **kwargs)
    return wrapper
def twice(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except ValueError:
            return func(args[0])
    return wrapper
def marks(func):
    func.mark = 1
    return func
class App:
    def route(self, f): ...
app = App()
@injects
def injected(session, a): ...
@adds("x")
def added(a, key): ...
@twice
def again(a, b=1): ...
@marks
def marked(a): ...
@app.route
def routed(a): ...
class C:
    @passes
    def method(self, a): ...
"""


def test_decorators_that_pass_other_arguments_on_hide_the_parameters(tmp_path: Path) -> None:
    snapshot = collected(tmp_path, __init__=DECORATORS)
    for name in ("injected", "added", "routed"):
        assert symbol(snapshot, f"pkg:{name}").signature is None, name
    assert parameters(snapshot, "pkg:again") == ["a", "b=1"]
    assert parameters(snapshot, "pkg:marked") == ["a"]
    assert parameters(snapshot, "pkg:C.method") == ["a"]


def test_facts_of_many_bases_are_cut_as_often_as_they_differ(tmp_path: Path) -> None:
    """Each base has its own epoch; what is empty must not double with each of them."""
    bases = [f"class B{i}:\n    def m{i}(self): ..." for i in range(40)]
    names = ", ".join(f"B{i}" for i in range(40))
    source = "\n".join([*bases, f"class C({names}): ..."])
    snapshot = collected(tmp_path, __init__=source)
    history = merge("pkg", "pkg", [snapshot])
    assert history.member(Ref("pkg", "C"), "m7", history.timeline.all).present == ReleaseSet(1)


@pytest.mark.parametrize(
    ("source", "is_open"),
    [
        ("x = 1\n__all__ = [n for n in globals() if n == 'x']", True),
        ("x = 1\n__all__ = ['x'] + make()", True),
        ("x = 1\n__all__ = []\n__all__.append(name)", True),
        ("x = 1\n__all__ = ['x']\ndef add():\n    for n in globals():\n        __all__.append(n)\nadd()", True),
        ("x = 1\n__all__ = ['x']\ndef add():\n    global __all__\n    __all__ = [*__all__, 'y']\nadd()", True),
        ("x = 1\n__all__ = ['x']\ndef __dir__():\n    return __all__ + [__all__[0]]", False),
        ("x = 1\nglobals()['z'] = 1", True),
        ("x = 1\ndef __getattr__(name): return 1", True),
        ("x = 1\nfill(globals())", True),
        ("x = 1\nexec('z = 1')", True),
        ("import sys\nx = 1\nfor n in names: setattr(sys.modules[__name__], n, 1)", True),
        ("x = 1\n__all__ = ['x']\nglobals()['z'] = 1", False),
        ("x = 1\n__all__ = ('x',)\n__all__ += ['y']\ny = 2", False),
        ("x = 1", False),
    ],
)
def test_openness_goes_through_wildcard_imports(tmp_path: Path, source: str, is_open: bool) -> None:
    snapshot = collected(tmp_path, __init__="from .a import *", a=source)
    assert symbol(snapshot, "pkg:").open is is_open
    assert symbol(snapshot, "pkg:x").kind is SymbolKind.ATTRIBUTE


def test_attributes_that_are_set_on_modules_and_classes(tmp_path: Path) -> None:
    snapshot = collected(
        tmp_path,
        __init__="from . import a, b\n",
        a="class C: ...\nclass D: ...\nfor name in names():\n    setattr(D, name, 1)\n",
        b="from . import a\na.late = 1\na.C.run = lambda self: 0\nsetattr(a.C, 'stop', 1)\na.C.__doc__ = ''\n",
    )
    assert symbol(snapshot, "pkg.a:late").kind is SymbolKind.ATTRIBUTE
    assert {ref.qualname for ref in snapshot.symbols if ref.qualname.startswith("C.")} == {"C.run", "C.stop"}
    assert not symbol(snapshot, "pkg.a:C").open
    assert symbol(snapshot, "pkg.a:D").open


def test_a_class_whose_getattr_is_assigned_may_have_any_member(tmp_path: Path) -> None:
    """As the proxies of werkzeug."""
    snapshot = collected(tmp_path, __init__="class Proxy:\n    __getattr__ = lookup(getattr)\n\n\nclass Plain: ...\n")
    history = merge("pkg", "pkg", [snapshot])
    assert history.member(Ref("pkg", "Proxy"), "anything", history.timeline.all).unknown == ReleaseSet(1)
    assert not history.member(Ref("pkg", "Plain"), "anything", history.timeline.all).unknown


def test_attributes_that_other_modules_set_on_instances(tmp_path: Path) -> None:
    """As `requests` does with a response, which is known by several names."""
    snapshot = collected(
        tmp_path,
        __init__="from .models import Answer\nfrom . import adapters\n",
        models="class Answer:\n    def __init__(self):\n        self.status = 0\n\ndef other(): ...\n",
        adapters="""
from . import models
from .models import Answer, other

class Adapter:
    def build(self, request):
        answer = Answer()
        if request:
            answer.request, answer.connection = request, self
        made = other()
        made.nothing = 1
        return answer

def timed(answer: models.Answer, elsewhere):
    answer.elapsed = 1
    elsewhere.gone = 2
    print(answer.read)
""",
    )
    for owner in ("pkg.models:Answer", "pkg:Answer", "pkg.adapters:Answer"):
        assert symbol(snapshot, f"{owner}.request").kind is SymbolKind.ATTRIBUTE, owner
    given = {ref.qualname for ref in snapshot.symbols if ref.module == "pkg" and ref.qualname.startswith("Answer.")}
    assert given == {"Answer.connection", "Answer.elapsed", "Answer.request", "Answer.status"}


def test_a_decorator_of_a_class_may_give_it_names(tmp_path: Path) -> None:
    source = "import dataclasses, other\n@other.adds\nclass C: ...\n@dataclasses.dataclass\nclass D:\n    x: int = 0\n"
    snapshot = collected(tmp_path, __init__=source)
    assert symbol(snapshot, "pkg:C").open
    assert not symbol(snapshot, "pkg:D").open


def test_a_class_method_under_another_name_is_bound(tmp_path: Path) -> None:
    source = "class M:\n    @classmethod\n    def create(cls, a): ...\n    def plain(self, b): ...\n"
    snapshot = collected(tmp_path, __init__=f"{source}make = M.create\nplain = M.plain\n")
    assert parameters(snapshot, "pkg:make") == ["a"]
    assert parameters(snapshot, "pkg:plain") == ["self", "b"]


def test_a_folder_without_an_init_file_is_a_package_where_it_holds_sources(tmp_path: Path) -> None:
    (tmp_path / "pkg" / "space").mkdir(parents=True)
    (tmp_path / "pkg" / "data").mkdir()
    (tmp_path / "pkg" / "data" / "table.csv").write_text("", encoding="utf-8")
    (tmp_path / "pkg" / "space" / "mod.py").write_text("def f(a): ...", encoding="utf-8")
    snapshot = collected(tmp_path, __init__="")
    assert parameters(snapshot, "pkg.space.mod:f") == ["a"]
    assert Ref("pkg.space", "") in snapshot.symbols
    assert Ref("pkg.data", "") not in snapshot.symbols


def test_a_class_that_is_given_names_nobody_can_tell_may_have_others_than_its_bases(tmp_path: Path) -> None:
    source = """
class Commands:
    def kill(self, name): ...
class Pipeline(Commands):
    def run(self): ...
for each in sorted(names()):
    setattr(Pipeline, each.lower(), blocked(each))
"""
    snapshot = collected(tmp_path, __init__=source)
    history = merge("pkg", "pkg", [snapshot])
    every = history.timeline.all
    pipeline = Ref("pkg", "Pipeline")
    assert history.member_epochs(pipeline, "run", every)
    assert not history.member_epochs(pipeline, "kill", every)
    assert history.member(pipeline, "gone", every).unknown


def test_behind_a_foreign_base_nobody_knows_what_a_lookup_finds(tmp_path: Path) -> None:
    source = """
import other
class Own:
    def f(self, a): ...
class First(other.Base, Own): ...
class Last(Own, other.Base): ...
class Plain(Exception, Own): ...
"""
    history = merge("pkg", "pkg", [collected(tmp_path, __init__=source)])
    names = ("First", "Last", "Plain")
    found = {name: bool(history.member_epochs(Ref("pkg", name), "f", history.timeline.all)) for name in names}
    assert found == {"First": False, "Last": True, "Plain": True}
