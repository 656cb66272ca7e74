"""Programs whose paths multiply: the work stays in proportion to the code, and what is given up is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import libcst as cst
import pytest

from driftwatch.flow.domain.budget import MAX_STATEMENTS, OWN
from driftwatch.flow.domain.values import Atom
from driftwatch.flow.interpreter import escape, world
from driftwatch.flow.interpreter.run import Run
from driftwatch.flow.uses import CallUse
from tests.flow.marked import analysed

HEAD = "import lib.comm as comm\n\n\n"


def closures_re_entered(depth: int) -> str:
    """Each function calls the next one twice, and is handed a closure of its caller's."""
    text = "def _f0(run):\n    return run(1)\n\n\n"
    for i in range(1, depth + 1):
        text += (
            f"def _f{i}(run):\n    def inner(x):\n        return run(x)\n    _f{i - 1}(inner)\n    _f{i - 1}(run)\n\n\n"
        )
    return text + f"def main(ws):\n    _f{depth}(lambda x: comm.fuse(x, ws))\n"


def loops_in_loops(depth: int) -> str:
    """Loops over lists, one in the other, whose body asks for what all of them go through."""
    text = "def main(x):\n"
    for i in range(depth):
        text += "    " * (i + 1) + f"for v{i} in [1, 2, 3, 4, 5, 6, 7, 8]:\n"
    return text + "    " * (depth + 1) + f"comm.fuse(x, [{', '.join(f'v{i}' for i in range(depth))}])\n"


def loops_that_call(depth: int) -> str:
    """A loop in each function, and the call of the next function in it."""
    text = "def _f0(x):\n    return comm.fuse(x, 1)\n\n\n"
    for i in range(1, depth + 1):
        text += f"def _f{i}(x):\n    for v in (1, 2, 3, 4):\n        _f{i - 1}([x, v])\n\n\n"
    return text + f"def main(x):\n    _f{depth}(x)\n"


def ways_that_part_and_meet(depth: int) -> str:
    """Ways that part and meet again, each with a call of one function that is defined there."""
    text = "def main(x, *flags):\n    def step(y):\n        return comm.fuse(y, 1)\n"
    for i in range(depth):
        text += f"    if flags[{i}]:\n        step({i})\n    else:\n        step(x)\n"
    return text


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements are executed."""
    counted = [0]
    block = Run.block

    def counting(self: Run, body: Sequence[cst.CSTNode]) -> None:
        counted[0] += len(body)
        block(self, body)

    monkeypatch.setattr(Run, "block", counting)
    return counted


@pytest.mark.parametrize("shape", [closures_re_entered, loops_in_loops, loops_that_call, ways_that_part_and_meet])
def test_no_program_is_followed_without_end(shape: object, executed: list[int], tmp_path: Path) -> None:
    work = {}
    for depth in (2, 4, 8):
        executed[0] = 0
        text = HEAD + shape(depth)  # type: ignore[operator]
        analysis = analysed(tmp_path / str(depth), {"main.py": text})
        work[depth] = executed[0]
        assert analysis.unresolved or any(isinstance(use, CallUse) for use in analysis.uses)
        # A function is analysed by itself and, to know what calls of it do, once more.
        assert executed[0] <= 3 * MAX_STATEMENTS + 40 * len(text.splitlines())
    assert work[2] < MAX_STATEMENTS


def test_what_is_given_up_is_told(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, {"main.py": HEAD + loops_that_call(14)})
    assert [each.reason for each in analysis.unresolved if "too many to be followed" in each.reason]


def test_many_entry_points_share_the_work(executed: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each of them alone is followed to the limit; all of them together cost little more than one, and none is lost."""
    reserve, copies = 8 * MAX_STATEMENTS, 20
    monkeypatch.setattr(world, "RESERVE", reserve)
    shape = closures_re_entered(8)
    files = {f"part{i}.py": HEAD + shape for i in range(copies)}
    analysis = analysed(tmp_path, files)
    entries = 2 * copies * 10  # each function by itself and, to know what calls of it do, once more
    assert executed[0] <= reserve + MAX_STATEMENTS + (OWN + 20) * entries
    used = {use.location.path for use in analysis.uses if isinstance(use, CallUse)}
    assert used | {each.path for each in analysis.unresolved} == files.keys()


def test_a_container_that_many_hold_is_looked_into_once(tmp_path: Path) -> None:
    """Registries that hold one another: what is passed on with them is told, in time that grows with what they hold."""
    looks = {}
    for count in (4, 8):
        text = HEAD + "def main(unknown):\n"
        text += "".join(f"    r{i} = {{}}\n" for i in range(count)) + "    r0['f'] = comm.fuse\n"
        for i in range(count):
            text += "".join(f"    r{i}['to{j}'] = r{j}\n" for j in range(count))
        text += "    unknown(r1)\n"
        looks[count], reasons = _looks(tmp_path / str(count), text)
        assert [each for each in reasons if "`lib.comm.fuse` is passed" in each]
    # Each of them from each of them, at each depth: the square of their number, not its fourth power.
    assert looks[8] <= 6 * looks[4]


def _looks(folder: Path, text: str) -> tuple[int, list[str]]:
    """How often something is looked at for what it holds, and what is told as lost."""
    counted = [0]
    look = escape._Looking._atom

    def counting(self: escape._Looking, atom: Atom, depth: int, words: str) -> Iterator[str]:
        counted[0] += 1
        yield from look(self, atom, depth, words)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(escape._Looking, "_atom", counting)
        analysis = analysed(folder, {"main.py": text})
    return counted[0], [each.reason for each in analysis.unresolved]


@pytest.mark.parametrize(
    "last",
    [
        "def run(s, f, x):\n    return f(s, x)\n\n\ndef main(x):\n    return run(Scope(), None, comm.fuse(x, 1))\n",
        "class Other:\n    def __init__(self, s):\n        self.f = comm.fuse\n\n\ndef main():\n    Other(Scope())\n",
    ],
)
def test_an_object_in_a_list_of_its_own_is_asked_once(last: str, tmp_path: Path) -> None:
    """It holds itself: to ask what it holds of what it holds has no end."""
    text = HEAD + "class Scope:\n    def __init__(self):\n        self.chain = [self]\n\n\n" + last
    assert analysed(tmp_path, {"main.py": text}).diagnostics == ()
