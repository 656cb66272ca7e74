"""The graded changes between two releases, and what they promise: what is called compatible never breaks a call."""

from __future__ import annotations

import inspect
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.comparison.changes import Change, ChangeKind, Grade
from driftwatch.snapshot.comparison.diff import changes_of, diff, signature_text
from driftwatch.snapshot.comparison.signature_changes import parameter_changes
from driftwatch.snapshot.model.history import merge
from driftwatch.snapshot.model.symbols import Parameter, ParameterKind, Ref, Signature, Snapshot, Symbol, SymbolKind


class _Sources:
    """A source tree in memory."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = {f"pkg/{path}": dedent(text) for path, text in files.items()}

    def read(self, path: str) -> bytes | None:
        text = self._files.get(path)
        return None if text is None else text.encode()

    def names(self, path: str) -> tuple[str, ...]:
        prefix = f"{path}/" if path else ""
        return tuple(sorted({p[len(prefix) :].partition("/")[0] for p in self._files if p.startswith(prefix)}))


def snapshot(release: str, source: str, **modules: str) -> Snapshot:
    files = {"__init__.py": source, **{f"{name}.py": text for name, text in modules.items()}}
    return collect(_Sources(files), "pkg", release)


def changes(old: str, new: str) -> list[tuple[str, str, str, str | None]]:
    """(grade, kind, name, parameter) of every change between two versions of one module."""
    found = diff(snapshot("1", old), snapshot("2", new))
    return [(c.grade.value, c.kind.value, c.ref.qualname, c.parameter) for c in found]


CASES = [
    ("def f(a): ...", "def f(a): ...\ndef g(): ...", [("compatible", "symbol-added", "g", None)]),
    ("def f(a): ...\ndef g(): ...", "def f(a): ...", [("breaking", "symbol-removed", "g", None)]),
    ("def f(a): ...", "def f(a, b): ...", [("breaking", "parameter-added", "f", "b")]),
    ("def f(a): ...", "def f(a, b=1): ...", [("compatible", "parameter-added", "f", "b")]),
    ("def f(a, c=0): ...", "def f(a, b=1, c=0): ...", [("breaking", "parameter-added", "f", "b")]),
    ("def f(a, *, c=0): ...", "def f(a, b=1, *, c=0): ...", [("compatible", "parameter-added", "f", "b")]),
    ("def f(a, **k): ...", "def f(a, b=1, **k): ...", [("risky", "parameter-added", "f", "b")]),
    ("def f(a, b=1): ...", "def f(a): ...", [("breaking", "parameter-removed", "f", "b")]),
    (
        "def f(a, *, b=1): ...",
        "def f(a, **k): ...",
        [
            ("risky", "parameter-removed", "f", "b"),
            ("compatible", "parameter-added", "f", "k"),
        ],
    ),
    ("def f(a, b): ...", "def f(a, c): ...", [("breaking", "parameter-renamed", "f", "b")]),
    ("def f(a, b, /): ...", "def f(a, c, /): ...", [("compatible", "parameter-renamed", "f", "b")]),
    ("def f(*args): ...", "def f(*rest): ...", [("compatible", "parameter-renamed", "f", "args")]),
    ("def f(a, b, c): ...", "def f(a, c, b): ...", [("breaking", "parameter-moved", "f", "c")]),
    ("def f(a, b): ...", "def f(a, *, b): ...", [("breaking", "parameter-kind-changed", "f", "b")]),
    ("def f(a, *, b): ...", "def f(a, b): ...", [("compatible", "parameter-kind-changed", "f", "b")]),
    ("def f(a): ...", "def f(a=1): ...", [("compatible", "became-optional", "f", "a")]),
    ("def f(a=1): ...", "def f(a): ...", [("breaking", "became-required", "f", "a")]),
    ("def f(a=1): ...", "def f(a=2): ...", [("risky", "default-changed", "f", "a")]),
    ("def f(a: int): ...", "def f(a: str): ...", [("risky", "annotation-changed", "f", "a")]),
    ("def f() -> int: ...", "def f() -> str: ...", [("risky", "returns-changed", "f", None)]),
    ("def f() -> int: ...", "def f() -> int | None: ...", [("risky", "returns-changed", "f", None)]),
    ("def f() -> int | None: ...", "def f() -> int: ...", [("compatible", "returns-changed", "f", None)]),
    ("def f(): ...", "def f() -> int: ...", [("informational", "returns-changed", "f", None)]),
    ("def f(a: bool): ...", "def f(a: object): ...", [("compatible", "annotation-changed", "f", "a")]),
    ("def f(a: bool): ...", "def f(a: Backend): ...", [("risky", "annotation-changed", "f", "a")]),
    ("def f(a: int): ...", "def f(a): ...", [("informational", "annotation-changed", "f", "a")]),
    ("def f(a: 'int' = None): ...", "def f(a: typing.Optional[int] = None): ...", []),
    ("def f(a: List[int]): ...", "def f(a: list[int]): ...", []),
    ("def f(a: Literal[1, 2]): ...", "def f(a: Literal[2]): ...", [("risky", "annotation-changed", "f", "a")]),
    ("def f(a: Literal[1]): ...", "def f(a: Literal[1, 'b']): ...", [("compatible", "annotation-changed", "f", "a")]),
    ("def f():\n    return 1, 2", "def f():\n    return 1, 2, 3", [("breaking", "length-changed", "f", None)]),
    (
        "def f(x):\n    return 1, 2",
        "def f(x):\n    if x:\n        return 1, 2, 3\n    return 1, 2",
        [("risky", "length-changed", "f", None)],
    ),
    (
        "def f(a): ...",
        "def f(a):\n    if a not in (0, 1):\n        raise ValueError(a)",
        [("risky", "refusal-added", "f", None)],
    ),
    (
        "def f(a):\n    if a < 0:\n        raise ValueError(a)",
        "def f(a): ...",
        [("compatible", "refusal-removed", "f", None)],
    ),
    (
        "def f(a): ...",
        "def f(a, b=0):\n    if b > 1:\n        raise ValueError(b)",
        [("compatible", "parameter-added", "f", "b"), ("informational", "refusal-added", "f", None)],
    ),
    ("def f(): ...", "async def f(): ...", [("breaking", "flavour-changed", "f", None)]),
    ("def f():\n    return [1, x]", "def f():\n    yield 1", [("breaking", "flavour-changed", "f", None)]),
    ("X = 1", "X = 2", [("risky", "value-changed", "X", None)]),
    ("X = 1", "def X(): ...", [("breaking", "kind-changed", "X", None)]),
    ("import json\nfrom typing import List", "", []),
    ("_private = 1\ndef _f(): ...", "", []),
    ("class C(int): ...", "class C(str): ...", [("risky", "bases-changed", "C", None)]),
    (
        "class C:\n    def m(self, a): ...",
        "class C:\n    def m(self, a, b): ...",
        [("breaking", "parameter-added", "C.m", "b")],
    ),
    (
        "import abc\nclass C(abc.ABC):\n    def m(self): ...",
        "import abc\nclass C(abc.ABC):\n    @abc.abstractmethod\n    def m(self): ...",
        [("breaking", "became-abstract", "C.m", None)],
    ),
    (
        "import abc\nclass C(abc.ABC): ...",
        "import abc\nclass C(abc.ABC):\n    @abc.abstractmethod\n    def m(self): ...",
        [("breaking", "symbol-added", "C.m", None)],
    ),
    (
        "class C:\n    def m(self): ...",
        "class C:\n    @staticmethod\n    def m(): ...",
        [("breaking", "binding-changed", "C.m", None)],
    ),
    (
        "def f(): ...",
        "from warnings import deprecated\n@deprecated('use g')\ndef f(): ...",
        [("informational", "deprecated", "f", None)],
    ),
    (
        "def f(new): ...",
        "from x import deprecated_aliases\n@deprecated_aliases(old='new')\ndef f(new): ...",
        [("compatible", "keyword-added", "f", "old")],
    ),
    (
        "def f(old): ...",
        "from x import deprecated_aliases\n@deprecated_aliases(old='new')\ndef f(new): ...",
        [("compatible", "parameter-renamed", "f", "old")],
    ),
    (
        "import enum\nclass E(enum.Enum):\n    A = 1",
        "import enum\nclass E(enum.Enum):\n    A = 2\n    B = 1",
        [("risky", "value-changed", "E.A", None), ("compatible", "symbol-added", "E.B", None)],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_a_change_and_its_grade(old: str, new: str, expected: list[tuple[str, str, str, str | None]]) -> None:
    assert changes(old, new) == expected


def test_members_of_a_class_that_goes_are_not_listed_with_it() -> None:
    assert changes("class C:\n    def m(self): ...\n    x = 1", "") == [("breaking", "symbol-removed", "C", None)]


def test_a_method_that_moves_into_a_base_class_is_not_gone() -> None:
    old = "class A: ...\nclass B(A):\n    def m(self, a): ...\n"
    assert changes(old, "class A:\n    def m(self, a): ...\nclass B(A): ...\n") == [
        ("compatible", "symbol-added", "A.m", None)
    ]
    assert changes(old, "class A:\n    def m(self, a, b): ...\nclass B(A): ...\n") == [
        ("breaking", "parameter-added", "B.m", "b"),
        ("compatible", "symbol-added", "A.m", None),
    ]
    history = merge(
        "pkg", "pkg", [snapshot("1", old), snapshot("2", "class A:\n    def m(self, a, b): ...\nclass B(A): ...")]
    )
    assert [(c.change.kind.value, c.change.parameter) for c in changes_of(history, Ref("pkg", "B"))] == [
        ("symbol-added", None),
        ("parameter-added", "b"),
    ]


def test_an_expression_that_is_written_differently_is_news_only() -> None:
    assert changes("X = len('a')", "X = len('bc')") == [("informational", "value-changed", "X", None)]


def test_one_change_under_several_names_is_one_change() -> None:
    old = snapshot("1", "from .part import f, C", part="def f(a): ...\nclass C:\n    def m(self): ...\n")
    new = snapshot("2", "from .part import f, C", part="def f(a, b): ...\nclass C:\n    def m(self, c): ...\n")
    found = diff(old, new)
    assert [(c.ref, c.also) for c in found] == [
        (Ref("pkg", "C.m"), (Ref("pkg.part", "C.m"),)),
        (Ref("pkg", "f"), (Ref("pkg.part", "f"),)),
    ]


def test_a_name_that_goes_says_where_its_thing_still_is() -> None:
    old = snapshot("1", "from .part import f", part="def f(a): ...\n")
    (change,) = diff(old, snapshot("2", "", part="def f(a): ...\n"))
    assert change == Change(
        Ref("pkg", "f"), ChangeKind.SYMBOL_REMOVED, Grade.BREAKING, before="(a)", after="pkg.part:f"
    )


def test_a_definition_that_moves_behind_a_name_is_news_only() -> None:
    old = snapshot("1", "from .part import f", part="def f(a): ...\n", other="")
    new = snapshot("2", "from .other import f", part="", other="def f(a): ...\n")
    assert [(c.grade, c.kind, c.ref) for c in diff(old, new)] == [
        (Grade.BREAKING, ChangeKind.SYMBOL_REMOVED, Ref("pkg.part", "f")),
        (Grade.COMPATIBLE, ChangeKind.SYMBOL_ADDED, Ref("pkg.other", "f")),
        (Grade.INFORMATIONAL, ChangeKind.SYMBOL_MOVED, Ref("pkg", "f")),
    ]


def test_equal_releases_have_no_changes() -> None:
    source = "def f(a, /, b=1, *c, d, **e): ...\nclass C(dict): ...\nX = 1\n"
    assert diff(snapshot("1", source), snapshot("2", source)) == ()


def test_the_life_of_a_class_has_its_members_changes() -> None:
    sources = {
        "1": "",
        "2": "class C:\n    def m(self): ...\n",
        "3": "class C:\n    def m(self, a=1): ...\n    def n(self): ...\n",
        "4": "class C:\n    def m(self, a=1): ...\n",
        "5": "",
    }
    history = merge("pkg", "pkg", [snapshot(release, source) for release, source in sources.items()])
    found = [
        (c.older, c.newer, c.change.kind.value, c.change.ref.qualname) for c in changes_of(history, Ref("pkg", "C"))
    ]
    assert found == [
        (None, "2", "symbol-added", "C"),
        ("2", "3", "parameter-added", "C.m"),
        (None, "3", "symbol-added", "C.n"),
        ("3", "4", "symbol-removed", "C.n"),
        ("4", "5", "symbol-removed", "C"),
    ]


# -- grades against Python itself ------------------------------------------------------------------------------------

_NAMES = "abcd"


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    names = list(draw(st.permutations(_NAMES)))[: draw(st.integers(0, 4))]
    kinds = sorted(
        (draw(st.sampled_from([ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD])) for _ in names),
        key=lambda kind: kind is not ParameterKind.POSITIONAL_ONLY,
    )
    only = draw(st.integers(0, len(names)))
    kinds = [*kinds[:only], *[ParameterKind.KEYWORD_ONLY] * (len(names) - only)]
    optional = draw(st.integers(0, only))
    parameters = [
        Parameter(
            name,
            kind,
            ("1" if i >= optional else None) if i < only else draw(st.sampled_from([None, "1"])),
        )
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    if draw(st.booleans()):
        parameters.append(Parameter("rest", ParameterKind.VAR_KEYWORD))
    return Signature(tuple(parameters))


def _function(signature: Signature) -> inspect.Signature:
    namespace: dict[str, object] = {}
    exec(f"def f{signature_text(signature)}: ...", namespace)
    return inspect.signature(namespace["f"])  # type: ignore[arg-type]


def _bound(
    signature: inspect.Signature, positional: tuple[int, ...], keywords: dict[str, str]
) -> dict[str, object] | None:
    try:
        arguments = signature.bind(*positional, **keywords).arguments
    except TypeError:
        return None
    rest = arguments.pop("rest", {})
    return {**arguments, **rest}


@given(
    signatures(),
    signatures(),
    st.integers(0, 4),
    st.frozensets(st.sampled_from(_NAMES)),
)
def test_nothing_that_is_called_compatible_breaks_or_moves_an_argument(
    old: Signature, new: Signature, positional: int, keywords: frozenset[str]
) -> None:
    found = list(parameter_changes(Ref("m", "f"), old, new))
    if any(change.grade in (Grade.BREAKING, Grade.RISKY) for change in found):
        return
    given_ = tuple(range(positional)), {name: name for name in sorted(keywords)}
    before = _bound(_function(old), *given_)
    if before is None:
        return
    after = _bound(_function(new), *given_)
    assert after is not None
    renamed = {c.before: c.after for c in found if c.kind is ChangeKind.PARAMETER_RENAMED}
    assert {renamed.get(name, name): value for name, value in before.items()} == after


@given(signatures())
def test_a_signature_is_written_as_python_reads_it(signature: Signature) -> None:
    read = _function(signature)
    assert [p.name for p in read.parameters.values()] == [p.name for p in signature.parameters]
    kinds = [p.kind.description.replace(" ", "-").replace("variadic", "var") for p in read.parameters.values()]
    assert kinds == [p.kind.value for p in signature.parameters]


def test_a_lost_signature_is_news() -> None:
    ref = Ref("m", "f")
    old = Snapshot("1", {Ref("m", ""): Symbol(Ref("m", ""), SymbolKind.MODULE), ref: Symbol(ref, SymbolKind.FUNCTION)})
    new = Snapshot("2", {**old.symbols, ref: Symbol(ref, SymbolKind.FUNCTION, Signature())})
    assert [c.kind for c in diff(old, new)] == [ChangeKind.SIGNATURE_FOUND]
    assert [c.kind for c in diff(new, old)] == [ChangeKind.SIGNATURE_LOST]
