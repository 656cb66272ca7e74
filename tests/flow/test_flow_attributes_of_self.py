"""Methods that name nothing of the library, and use what another method of their class left on ``self``."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import NameUse
from tests.kiln import history

KILN = history()

WORK = """\
class Potter:
    def __init__(self):
        STORES

    def work(self):
        self.PRIVATEfinish()

    def PRIVATEfinish(self):
        self.shelf.wax()
"""

BLOCKS = """\
import kiln


class Potter:
    def __init__(self, wanted):
        for each in [kiln.open_shelf("wood")]:
            if wanted:
                local = each
                self.shelf = local
        try:
            self.second = None
            with wanted:
                made = kiln.open_shelf("wood")
        finally:
            self.second = made

    def finish(self):
        self.shelf.wax()
        self.second.wax()
"""


def waxed(folder: Path, source: str) -> list[int]:
    (folder / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(folder, [folder / "app.py"], [KILN])
    assert analysis.diagnostics == ()
    return [use.location.line for use in analysis.uses if isinstance(use, NameUse) and use.name == "wax"]


@pytest.mark.parametrize(
    "stores",
    [
        "import kiln; self.shelf = kiln.open_shelf('wood')",
        "import kiln as oven; self.oven = oven; self.shelf = self.oven.open_shelf('wood')",
        "from kiln import open_shelf; self.shelf = open_shelf('wood')",
        "import kiln; local = kiln.open_shelf('wood'); self.shelf = local",
        "import kiln; make = kiln.open_shelf; local = make('wood'); other = local; self.shelf = other",
        "import kiln; self.shelf, self.rest = kiln.open_shelf('wood'), 1",
        "import kiln; (local := kiln.open_shelf('wood')); self.shelf = local",
    ],
)
@pytest.mark.parametrize("private", ["", "_"])
def test_what_a_local_variable_carried_there(tmp_path: Path, stores: str, private: str) -> None:
    source = WORK.replace("STORES", stores).replace("PRIVATE", private)
    assert waxed(tmp_path, source) == [9]


def test_what_a_block_carried_there(tmp_path: Path) -> None:
    assert waxed(tmp_path, BLOCKS) == [18, 19]


SET_OUTSIDE = """\
import kiln


class Potter:
    def __init__(self):
        self.ready = None

    def finish(self):
        if self.ready is None:
            return None
        return kiln.open_shelf("wood").wax()


def prepare(potters):
    for potter in potters:
        potter.ready = len(potters)
"""


def test_an_attribute_that_is_set_from_outside_may_be_anything(tmp_path: Path) -> None:
    assert waxed(tmp_path, SET_OUTSIDE) == [11]


def test_an_attribute_that_nobody_sets_stays_what_it_was(tmp_path: Path) -> None:
    assert waxed(tmp_path, SET_OUTSIDE.replace("potter.ready = ", "ready = ")) == []


LATER = {
    "a reader before the writer": """\
class Potter:
    def finish(self):
        self.shelf.wax()

    def begin(self):
        self.shelf = kiln.open_shelf("wood")
""",
    "a flag that a later method sets": """\
class Potter:
    def __init__(self):
        self.ready = False

    def finish(self):
        if self.ready:
            kiln.open_shelf("wood").wax()

    def begin(self):
        self.ready = True
""",
    "from one to the next, against the order": """\
class Potter:
    def finish(self):
        self.third.wax()

    def then(self):
        self.third = self.second

    def begin(self):
        self.second = kiln.open_shelf("wood")
""",
    "a constructor whose helper reads what it has set": """\
class Potter:
    def __init__(self):
        self.shelf = kiln.open_shelf("wood")
        self._finish()

    def _finish(self):
        self.shelf.wax()
""",
    "an unknown thing first, and the library's later": """\
class Potter:
    def __init__(self, given):
        self.shelf = given

    def finish(self):
        self.shelf.wax()

    def begin(self):
        self.shelf = kiln.open_shelf("wood")
""",
    "a list that is swapped for an empty one": """\
class Potter:
    def __init__(self):
        self.waiting = []

    def put(self):
        self.waiting = [kiln.open_shelf("wood")]

    def finish(self):
        waiting, self.waiting = self.waiting, []
        for shelf in waiting:
            shelf.wax()
""",
    "another class, which is analysed later": """\
class Potter:
    def __init__(self):
        self.store = Store()

    def finish(self):
        self.store.shelf.wax()

    def again(self):
        self.other = self.store


class Store:
    def __init__(self):
        self.shelf = kiln.open_shelf("wood")
""",
}


@pytest.mark.parametrize("source", LATER.values(), ids=LATER)
def test_what_is_set_later_is_seen(tmp_path: Path, source: str) -> None:
    text = f"import kiln\n\n\n{source}"
    assert waxed(tmp_path, text) == [1 + text[: text.index(".wax()")].count("\n")]
