"""Modules that are programs as well: what is done under ``if __name__ == "__main__"``."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.uses import NameUse
from tests.kiln import history

KILN = history()

SHARED = """\
SHELF = None


def use():
    SHELF.wax()


def main():
    global SHELF
    SHELF = kiln.open_shelf('wood')
    use()
"""
PROGRAMS = {
    "a function that anyone may call": ("def main():\n    kiln.open_shelf('wood').wax()\n", "main()", [5]),
    "with what nobody knows": ("def main(argv):\n    kiln.open_shelf('wood').wax()\n", "main(input())", [5]),
    "its own function": ("def _main():\n    kiln.open_shelf('wood').wax()\n", "_main()", [5]),
    "exits with what it returns": ("def main():\n    return kiln.open_shelf('wood').wax()\n", "exit(main())", [5]),
    "what it passes decides": (
        "def _main(x):\n    if x == 1:\n        kiln.open_shelf('wood').wax()\n    else:\n        x.wax()\n",
        "_main(1)",
        [6],
    ),
    "what it passes is the library's": ("def main(shelf):\n    shelf.wax()\n", "main(kiln.open_shelf('wood'))", [5]),
    "a variable of the module": (
        SHARED,
        "main()",
        [8],
    ),
    "what it returns is used": ("def main():\n    return kiln.open_shelf('wood')\n", "main().wax()", [6]),
    "done there": ("", "kiln.open_shelf('wood').wax()", [4]),
}


@pytest.mark.parametrize("guard", ["__name__ == '__main__'", "'__main__' == __name__"])
@pytest.mark.parametrize(("body", "call", "lines"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_a_program_does(tmp_path: Path, guard: str, body: str, call: str, lines: list[int]) -> None:
    source = f"import kiln\n\n\n{body}if {guard}: {call}\n"
    (tmp_path / "app.py").write_text(source, encoding="utf-8")
    analysis = analyse(tmp_path, [tmp_path / "app.py"], [KILN])
    assert analysis.diagnostics == ()
    found = sorted(use.location.line for use in analysis.uses if isinstance(use, NameUse) and use.name == "wax")
    assert found == lines


def test_an_import_does_not_do_it(tmp_path: Path) -> None:
    """Where the program would raise, the module can be imported all the same."""
    (tmp_path / "app.py").write_text(
        "import kiln\n\n\ndef main():\n    raise SystemExit(1)\n\n\nif __name__ == '__main__':\n    main()\n"
        "    kiln.never()\n\n\ndef use():\n    kiln.open_shelf('wood').wax()\n",
        encoding="utf-8",
    )
    (tmp_path / "other.py").write_text("import kiln\nimport app\n\napp.use()\nkiln.open_shelf('wood').wax()\n")
    analysis = analyse(tmp_path, sorted(tmp_path.glob("*.py")), [KILN])
    found = [(u.location.path, u.location.line) for u in analysis.uses if isinstance(u, NameUse) and u.name == "wax"]
    assert sorted(found) == [("app.py", 14), ("other.py", 5)]
