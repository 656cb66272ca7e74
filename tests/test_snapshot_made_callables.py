"""Callables that other code makes: what is recorded of each is what `inspect.signature` shows of the imported one."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.codec import decode, lines
from driftwatch.snapshot.model.symbols import Ref, Signature, Snapshot, SymbolKind
from driftwatch.snapshot.sources.tree import FolderTree
from tests.collecting import collected, symbol

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional-or-keyword",
    inspect.Parameter.VAR_POSITIONAL: "var-positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword-only",
    inspect.Parameter.VAR_KEYWORD: "var-keyword",
}

MADE = """
import functools

double = lambda x, *, scale=2: x * scale

def adder(n):
    def add(a, b=n):
        return a + b + n
    return add
add_one = adder(1)

def plain_wrapper(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

def own_parameters(function):
    def run(self):
        return function(self, 1)
    return run

def shown_wrapper(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

def updated_wrapper(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    functools.update_wrapper(wrapper, function)
    return wrapper

@plain_wrapper
def hidden(a, b): ...

@shown_wrapper
def shown(a, b): ...

@updated_wrapper
def updated(a, b): ...

def marked(name):
    def decorate(function):
        function.name = name
        return function
    return decorate

@marked("it")
def still(a, *, b=1): ...

class Appender:
    def __init__(self, text):
        self.text = text
    def __call__(self, function):
        function.__doc__ = self.text
        return function

@Appender("text")
def appended(a, b=None): ...

class Api:
    def ask(self, what, *, times=1): ...
    @classmethod
    def make(cls, x): ...
    @staticmethod
    def free(y): ...
api = Api()
ask = api.ask
make = api.make
free = api.free

class Binop:
    def _make(op):
        def visit(self, node): ...
        return visit
    runs = own_parameters(lambda self, chooser: chooser)
    @own_parameters
    def passes(self, chooser): ...
    def late(cls, value): ...
    late = classmethod(late)

class only_class(classmethod): ...
class Views:
    @only_class
    def as_view(cls, **initial): ...

def adds_methods(cls):
    def describe(self, depth=1): ...
    cls.describe = describe
    return cls

@adds_methods
class Described:
    def __init__(self, x): ...

def remade(*args, path=None):
    def decorate(cls):
        def __new__(cls, *args, **kwargs):
            return object.__new__(cls)
        cls.__new__ = staticmethod(__new__)
        return cls
    if not args:
        return decorate
    return decorate(*args)

@remade
class Field:
    def __init__(self, name): ...

@remade(path="x")
class Named:
    def __init__(self, name): ...

class Takes:
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)
    def __init__(self, key=None): ...

class Column:
    def __init__(self, __name, *, __kind=None): ...
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of an importable package that a test writes."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "pkg"
    for name in [each for each in sys.modules if each.partition(".")[0] == "pkg"]:
        del sys.modules[name]


def live(name: str, skip: bool = False) -> list[tuple[str, str, bool]]:
    value = importlib.import_module("pkg")
    for part in name.split("."):
        value = inspect.getattr_static(value, part)
    if isinstance(value, classmethod | staticmethod):
        value, skip = value.__func__, isinstance(value, classmethod)
    found = list(inspect.signature(value).parameters.values())
    return [(p.name, KINDS[p.kind], p.default is not p.empty) for p in found[skip:]]


def recorded(snapshot: Snapshot, name: str) -> list[tuple[str, str, bool]]:
    signature = symbol(snapshot, f"pkg:{name}").shown
    assert signature is not None, f"{name} is not told"
    return [(p.name, p.kind.value, p.default is not None) for p in signature.parameters]


FUNCTIONS = ["double", "add_one", "hidden", "shown", "updated", "still", "appended", "ask", "make", "free"]
CLASSES = ["Described", "Field", "Named", "Takes", "Column"]
METHODS = ["Binop.passes", "Described.describe"]
BOUND = ["Binop.late", "Views.as_view"]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES, *METHODS, *BOUND])
def test_is_recorded_as_python_shows_it(tmp_path: Path, name: str) -> None:
    snapshot = collected(tmp_path, __init__=MADE)
    assert recorded(snapshot, name) == live(name, skip=name in METHODS)


def test_a_wrapper_that_takes_anything_still_calls_the_function_inside(tmp_path: Path) -> None:
    snapshot = collected(tmp_path, __init__=MADE)
    assert [p.name for p in signature(snapshot, "hidden").parameters] == ["a", "b"]
    assert [p.name for p in signature(snapshot, "Field").parameters] == ["name"]
    assert [p.name for p in signature(snapshot, "Takes").parameters] == ["key"]


def signature(snapshot: Snapshot, name: str) -> Signature:
    found = symbol(snapshot, f"pkg:{name}").signature
    assert found is not None
    return found


def test_a_class_that_stands_in_for_a_function_adds_its_own_keywords(tmp_path: Path) -> None:
    source = """
class dispatchable:
    def __init__(self, function):
        self.function = function
        self.__wrapped__ = function
    def __call__(self, /, *args, backend=None, **kwargs):
        return self.function(*args, **kwargs)
class hides:
    def __init__(self, function): ...
    def __call__(self, x): ...
@dispatchable
def rank(graph, alpha=0.85): ...
@hides
def other(a): ...
"""
    snapshot = collected(tmp_path, __init__=source)
    assert [p.name for p in signature(snapshot, "rank").parameters] == ["graph", "alpha"]
    assert signature(snapshot, "rank").extra_keywords == ("backend",)
    assert symbol(snapshot, "pkg:other").kind is SymbolKind.ATTRIBUTE


def test_what_is_shown_is_not_told_where_code_sets_it(tmp_path: Path) -> None:
    source = """
import functools, inspect
def keywords_only(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    wrapper.__signature__ = inspect.Signature()
    return wrapper
class dispatchable:
    def __new__(cls, func=None, *, name=None):
        if func is None:
            return functools.partial(dispatchable, name=name)
        self = object.__new__(cls)
        self.__wrapped__ = func
        return self
    @property
    def __signature__(self): ...
    def __call__(self, /, *args, backend=None, **kwargs): ...
@keywords_only
def drop(labels, axis=0): ...
@dispatchable(name="other")
def rank(graph): ...
"""
    snapshot = collected(tmp_path, __init__=source)
    for name, taken in (("drop", ["labels", "axis"]), ("rank", ["graph"])):
        assert [p.name for p in signature(snapshot, name).parameters] == taken
        assert symbol(snapshot, f"pkg:{name}").shown is None
    entry = next(json.loads(line) for ref, line in lines(snapshot) if ref == Ref("pkg", "drop"))
    assert decode(entry).hides


def test_what_a_factory_of_several_functions_gives_is_not_told(tmp_path: Path) -> None:
    source = """
def either(flag):
    def one(a): ...
    def two(a, b): ...
    if flag:
        return one
    return two
def foreign(x):
    import other
    @other.decorated
    def made(a): ...
    return made
chosen = either(1)
strange = foreign(1)
"""
    snapshot = collected(tmp_path, __init__=source)
    assert symbol(snapshot, "pkg:chosen").kind is SymbolKind.ATTRIBUTE
    assert symbol(snapshot, "pkg:strange").kind is SymbolKind.ATTRIBUTE


NAMED_TUPLES = """
import collections
from typing import NamedTuple
FIELDS = ("host", "port", "timeout")
Key = collections.namedtuple("Key", FIELDS)
Row = collections.namedtuple("Row", "a b c", defaults=(1, 2))
class Pair(collections.namedtuple("Pair", ["left", "right"])):
    def swapped(self, deep): ...
class More(Key):
    pass
class Own(collections.namedtuple("Own", "x y")):
    def __new__(cls, x):
        return super().__new__(cls, x, x)
"""


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["Key", "Row", "Pair", "More", "Own"])
def test_named_tuples(tmp_path: Path, name: str) -> None:
    snapshot = collected(tmp_path, __init__=NAMED_TUPLES)
    assert recorded(snapshot, name) == live(name)


def test_the_fields_of_a_named_tuple_below_a_class_are_members(tmp_path: Path) -> None:
    snapshot = collected(tmp_path, __init__=NAMED_TUPLES)
    assert symbol(snapshot, "pkg:Pair.left").kind is SymbolKind.ATTRIBUTE
    assert not symbol(snapshot, "pkg:Pair").open


ATTRS = """
import attr
import attrs
@attr.s
class Classic:
    x = attr.ib()
    _hidden = attr.ib(default=1)
    made = attr.ib(factory=list)
    left_out = attr.ib(init=False)
@attr.s(auto_attribs=True, frozen=True)
class Annotated:
    total: float
    connect: float = 1.0
    only: int = attr.ib(default=2, kw_only=True)
@attrs.define
class Modern:
    a: int
    b: str = "b"
    c: int = attrs.field()
    @c.default
    def _c(self):
        return 1
@attrs.define
class Below(Modern):
    d: int = 0
    a: int = 5
@attrs.define
class OwnInit:
    a: int
    def __init__(self, other): ...
@attrs.frozen(kw_only=True)
class Only:
    a: int
    b: int = 1
@attrs.define
class Aliased:
    a: int = attrs.field(alias="z")
@attr.s(init=False)
class NoInit:
    x = attr.ib()
    def __init__(self, y): ...
"""


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["Classic", "Annotated", "Modern", "Below", "OwnInit", "Only", "Aliased", "NoInit"])
def test_classes_of_attrs(tmp_path: Path, name: str) -> None:
    pytest.importorskip("attrs")
    snapshot = collected(tmp_path, __init__=ATTRS)
    assert recorded(snapshot, name) == live(name)
    assert not symbol(snapshot, f"pkg:{name}").open


PYDANTIC = """
from typing import Any, ClassVar
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
class Model(BaseModel):
    kind: ClassVar[str] = "k"
    a: int
    b: str = "b"
    c: list[int] = Field(default_factory=list)
    d: int = Field(..., alias="dee")
    in_: int = Field(..., alias="in")
    _secret: int = PrivateAttr(1)
class Below(Model):
    e: int = 1
    b: int
class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int
class OwnInit(BaseModel):
    a: int
    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
class Maybe(BaseModel):
    a: int | None
"""


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["Model", "Below", "Open"])
def test_models_of_pydantic(tmp_path: Path, name: str) -> None:
    pytest.importorskip("pydantic")
    snapshot = collected(tmp_path, __init__=PYDANTIC)
    assert recorded(snapshot, name) == live(name)
    assert signature(snapshot, name).parameters[-1].kind.value == "var-keyword"


def test_what_the_two_pydantics_take_differently_is_two_signatures(tmp_path: Path) -> None:
    snapshot = collected(tmp_path, __init__=PYDANTIC)
    maybe = symbol(snapshot, "pkg:Maybe")
    assert [each.parameters[0].required for each in maybe.variants] == [True, False]
    assert symbol(snapshot, "pkg:OwnInit").shows is None


def test_abstract_classes_of_python_bring_no_constructor(tmp_path: Path) -> None:
    source = "from collections.abc import Mapping\nfrom typing import ContextManager\nimport queue\n"
    source += "class M(Mapping): ...\nclass C(ContextManager['C']): ...\nclass Q(queue.Queue): ...\n"
    snapshot = collected(tmp_path, __init__=source)
    assert signature(snapshot, "M").parameters == ()
    assert signature(snapshot, "C").parameters == ()
    assert symbol(snapshot, "pkg:Q").signature is None


def test_names_that_all_is_given_later_are_exported(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from pkg.sub import *\n", encoding="utf-8")
    sub = "__all__ = []\n__all__.extend(['f', 'g'])\n__all__.append('h')\ndef f(): ...\ndef g(): ...\ndef h(): ...\n"
    (tmp_path / "pkg" / "sub.py").write_text(sub, encoding="utf-8")
    snapshot = collect(FolderTree(tmp_path), "pkg", "1")
    assert {str(ref) for ref in snapshot.symbols} >= {"pkg:f", "pkg:g", "pkg:h"}
    assert not symbol(snapshot, "pkg").open


def test_a_function_that_writes_globals_makes_its_module_open(tmp_path: Path) -> None:
    writes = "def _new(name):\n    globals()[name] = type(name, (), {})\n"
    keeps = "def __getattr__(name):\n    if name == 'f':\n        globals()[name] = value = 1\n        return value\n"
    keeps += "    raise AttributeError\n"
    assert symbol(collected(tmp_path / "a", __init__=writes), "pkg").open
    assert not symbol(collected(tmp_path / "b", __init__=keeps), "pkg").open


def test_a_metaclass_that_is_called_is_what_python_shows(tmp_path: Path) -> None:
    source = """
class Meta(type):
    def __call__(self, *k, **kw):
        raise TypeError
class Node(metaclass=Meta):
    def __init__(self, name): ...
class Url(str):
    def __new__(cls, url, **kwargs): ...
    def __init__(self, url, *, scheme): ...
"""
    snapshot = collected(tmp_path, __init__=source)
    assert symbol(snapshot, "pkg:Node").signature is None
    assert recorded(snapshot, "Node") == [("k", "var-positional", False), ("kw", "var-keyword", False)]
    assert symbol(snapshot, "pkg:Url").signature is None
    assert [name for name, _, _ in recorded(snapshot, "Url")] == ["url", "kwargs"]


def test_the_bases_of_two_pythons(tmp_path: Path) -> None:
    source = """
import six
class Meta(type): ...
class Base:
    def __init__(self, a): ...
class Made(six.with_metaclass(Meta, Base)): ...
"""
    snapshot = collected(tmp_path, __init__=source)
    assert [p.name for p in signature(snapshot, "Made").parameters] == ["a"]
    assert symbol(snapshot, "pkg:Made").bases == ("pkg:Base",)


def test_a_decorator_that_has_a_class_add_names_to_itself_makes_it_open(tmp_path: Path) -> None:
    source = """
def delegates(names):
    def add(cls):
        cls._add(names)
        return cls
    return add
def registers(cls):
    REGISTRY.add(cls)
    return cls
def looks(cls):
    assert hasattr(cls, "x")
    return cls
class Base:
    @classmethod
    def _add(cls, names): ...
@delegates(["month_name"])
class Dates(Base): ...
@registers
class Kept: ...
@looks
class Closed:
    x = 1
"""
    snapshot = collected(tmp_path, __init__=source)
    assert symbol(snapshot, "pkg:Dates").open
    assert symbol(snapshot, "pkg:Kept").open
    assert not symbol(snapshot, "pkg:Closed").open
