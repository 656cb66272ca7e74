"""Twice as long a function is twice the work: counted are the calls that Python makes, on any machine the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.flow.search import LibrarySearch
from driftwatch.flow.uses import CallUse
from tests.flow.marked import analysed

HEAD = "from contextlib import ExitStack, suppress\n\nimport lib.comm as comm\n\n\ndef main(x, flags):\n"
LAST = "    comm.fuse(x, 1)\n"

SMALL, TWICE, AGAIN = 40, 80, 160

SLACK = 1.25
"""What the larger half of a program may cost beyond twice the smaller one: a square would be two."""


def managers_entered(number: int) -> str:
    lines = "".join(f"        stack.enter_context(open('f{i}'))\n" for i in range(number))
    return "    with ExitStack() as stack:\n" + lines


def elements_added(number: int) -> str:
    lines = "".join(f"        found.append(open('f{i}'))\n" for i in range(number))
    return "    found = []\n    try:\n" + lines + "    except OSError:\n        x = found\n"


def keys_put(number: int) -> str:
    lines = "".join(f"        found['f{i}'] = open('f{i}')\n" for i in range(number))
    return "    found = {}\n    try:\n" + lines + "    except OSError:\n        x = found\n"


def branches(number: int) -> str:
    return "".join(f"    if flags[{i}]:\n        x = comm.fuse(x, {i})\n" for i in range(number))


def ways_of_one_test(number: int) -> str:
    ways = "".join(f"    elif x == {i}:\n        y = comm.fuse(x, {i})\n" for i in range(number))
    return "    if x is None:\n        y = None\n" + ways


def attempts(number: int) -> str:
    return "".join(
        f"    try:\n        x = comm.fuse(x, {i})\n    except TypeError:\n        x = {i}\n" for i in range(number)
    )


def blocks_with_managers(number: int) -> str:
    return "".join(
        f"    with open(x) as f{i}, suppress(OSError):\n        comm.fuse(f{i}, {i})\n" for i in range(number)
    )


def loops(number: int) -> str:
    return "".join(f"    for y in x:\n        x = comm.fuse(y, {i})\n" for i in range(number))


def functions_handed_over(number: int) -> str:
    runner = "    def run(f):\n        return [f() for _ in x]\n"
    return runner + "".join(f"    run(lambda: comm.fuse(x, {i}))\n" for i in range(number))


def functions_defined(number: int) -> str:
    return "".join(f"    def f{i}(y):\n        return comm.fuse(y, {i})\n    x = f{i}(x)\n" for i in range(number))


SHAPES = [
    managers_entered, elements_added, keys_put, branches, ways_of_one_test, attempts, blocks_with_managers, loops,
    functions_handed_over, functions_defined,
]  # fmt: skip


def work(folder: Path, text: str) -> int:
    """How many calls Python makes to analyse a program."""
    counted = [0]

    def count(frame: object, event: str, argument: object) -> None:
        counted[0] += event == "call"

    def counting(self: LibrarySearch) -> None:
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            run(self)
        finally:
            sys.setprofile(before)

    run = LibrarySearch.run
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LibrarySearch, "run", counting)
        analysis = analysed(folder, {"main.py": text})
    assert any(isinstance(use, CallUse) for use in analysis.uses)
    return counted[0]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_twice_as_much_code_is_twice_the_work(shape: Callable[[int], str], tmp_path: Path) -> None:
    small, twice, again = (work(tmp_path / str(n), HEAD + shape(n) + LAST) for n in (SMALL, TWICE, AGAIN))
    assert again - twice <= SLACK * 2 * (twice - small), (small, twice, again)
