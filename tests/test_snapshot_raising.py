"""Which arguments a function refuses at once: conditions over parameters and constants, where they surely run."""

from __future__ import annotations

import ast

import pytest

from driftwatch.snapshot.collect.raising import refusals


def of(body: str) -> list[tuple[str, str]]:
    (node,) = ast.parse("def f(self, a, b=None, *, c=0):\n" + body).body
    assert isinstance(node, ast.FunctionDef)
    return [tuple(refusal) for refusal in refusals(node)]


RAISE = "        raise ValueError(f'no {a}')\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    if a not in (0, 1):\n" + RAISE, [("a not in (0, 1)", "ValueError")]),
        ("    if a and (not b):\n        raise RuntimeError\n", [("a and (not b)", "RuntimeError")]),
        ("    x = g()\n    if c % 4:\n" + RAISE, [("c % 4", "ValueError")]),
        ("    if a < 0:\n" + RAISE + "    if b:\n" + RAISE, [("a < 0", "ValueError"), ("b", "ValueError")]),
        ("    if a < 0:\n" + RAISE + "    a = 1\n    if a > 5:\n" + RAISE, [("a < 0", "ValueError")]),
        ("    if a:\n        return 1\n    if b:\n" + RAISE, []),
        ("    if a:\n        b = 1\n    if b:\n" + RAISE, []),
        ("    if a.shape:\n" + RAISE, []),
        ("    if a in SUPPORTED:\n" + RAISE, []),
        ("    if len(a) > 2:\n" + RAISE, []),
        ("    if self:\n" + RAISE, []),
        ("    if 1:\n" + RAISE, []),
        ("    if a:\n        raise Custom(a)\n", []),
        ("    if a:\n        log(a)\n" + RAISE, []),
        ("    for x in b:\n        if a:\n    " + RAISE, []),
        ("    if a:\n" + RAISE + "    yield 1\n", []),
    ],
)
def test_what_is_refused(body: str, expected: list[tuple[str, str]]) -> None:
    assert of(body) == expected
