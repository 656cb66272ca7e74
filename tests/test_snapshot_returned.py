"""How many values a function gives: only where the code and the annotation leave no doubt."""

from __future__ import annotations

import ast

import pytest

from driftwatch.snapshot.collect.returned import lengths


def of(source: str) -> tuple[int, ...]:
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return lengths(node)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    return 1, 2\n", (2,)),
        ("def f():\n    return [1, 2, 3]\n", (3,)),
        ("def f(x):\n    if x:\n        return 1, 2\n    return 1, 2, 3\n", (2, 3)),
        ("def f(x):\n    if x:\n        return 1, 2\n    raise ValueError\n", (2,)),
        ("def f(x) -> tuple[int, int]:\n    return native(x)\n", (2,)),
        ("def f(x) -> 'Tuple[int, int]':\n    if x:\n        return 1, 2\n    return native(x)\n", (2,)),
        ("def f(x) -> typing.Tuple[int, ...]:\n    return 1, 2\n", (2,)),
        ("def f(x):\n    with x:\n        return 1, 2\n", (2,)),
        ("def f(x):\n    try:\n        return 1, 2\n    except ValueError:\n        return 3, 4\n", (2,)),
        ("def f(x):\n    def inner():\n        return 1\n    return inner, 2\n", (2,)),
    ],
)
def test_lengths_that_are_certain(source: str, expected: tuple[int, ...]) -> None:
    assert of(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x\n",
        "def f(x):\n    return 1, *x\n",
        "def f(x):\n    if x:\n        return 1, 2\n",
        "def f(x):\n    if x:\n        return None\n    return 1, 2\n",
        "def f(x):\n    if x:\n        return\n    return 1, 2\n",
        "def f(x):\n    for y in x:\n        return 1, 2\n",
        "def f(x) -> tuple[int, int, int]:\n    return 1, 2\n",
        "def f(x) -> Pair:\n    return 1, 2\n",
        "def f(x) -> tuple[int, ...]:\n    return native(x)\n",
        "def f(x) -> tuple[int, int]: ...\n",
        "def f(x) -> Optional[tuple[int, int]]:\n    return native(x)\n",
        "def f(x):\n    yield 1\n    return 1, 2\n",
        "async def f(x):\n    return 1, 2\n",
    ],
)
def test_lengths_that_are_not(source: str) -> None:
    assert of(source) == ()
