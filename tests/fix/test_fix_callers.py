"""DW101: keywords that a caller writes, for a call that is made in another file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_process import LIBRARY
from tests.fix.fixing import fixed, reasons, text_of

OVENS = """\
import kiln


def bake(pot, **options):
    return kiln.fire(pot, 30, **options)
"""


def printed(folder: Path, release: str) -> str | None:
    """What the program prints on a release; None where it fails."""
    library = folder.parent / "installed" / release
    library.mkdir(parents=True, exist_ok=True)
    (library / "kiln.py").write_text(LIBRARY[release])
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=folder,
        env={"PYTHONPATH": str(library), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


@pytest.mark.parametrize(
    ("imports", "asked", "call"),
    [
        ("import kiln\n", "kiln.fire", 'ovens.bake("pot", glaze="blue")'),
        ("import kiln as k\n", "k.fire", 'ovens.bake("pot", **{"glaze": "blue"})'),
        ("from kiln import fire\n", "fire", 'options = {"glaze": "blue"}\novens.bake("pot", **options)'),
    ],
)
def test_the_caller_asks_by_its_own_imports(tmp_path: Path, imports: str, asked: str, call: str) -> None:
    home = tmp_path / "project"
    files = {"ovens.py": OVENS, "app.py": f"{imports}import ovens\n\n{call}\nprint('baked')\n"}
    result = fixed(home, files, unsafe=True)
    before = {release: printed(home, release) for release in LIBRARY}
    assert [release for release, text in before.items() if text is None] == ["1.0"]
    assert [file.path for file in result.offer.files] == ["app.py"]
    assert f'_FIRE_TAKES_GLAZE = _takes({asked}, "glaze")\n' in text_of(result)
    assert not result.after.failed
    again = fixed(home, {**files, "app.py": text_of(result)}, unsafe=True)
    assert not again.offer.files
    assert {release: printed(home, release) for release in LIBRARY} == dict.fromkeys(LIBRARY, "baked\n")


@pytest.mark.parametrize("imports", ["", "try:\n    import kiln\nexcept ImportError:\n    kiln = None\n"])
def test_a_caller_that_has_none_of_the_library_is_told_where_the_call_is(tmp_path: Path, imports: str) -> None:
    files = {"ovens.py": OVENS, "app.py": f'{imports}import ovens\n\novens.bake("pot", glaze="blue")\n'}
    where = "`glaze` goes to the call in ovens.py, line 5"
    assert reasons(fixed(tmp_path, files, unsafe=True)) == [
        f"{where}: `kiln.fire` is not imported here, to be asked whether it takes it"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            'import ovens\n\novens.bake("pot", glaze="blue")\nimport kiln\n',
            "`kiln.fire` is not there where `glaze` is written",
        ),
        (
            'import kiln\nimport ovens\n\n\ndef bake(kiln):\n    return ovens.bake(kiln, glaze="blue")\n',
            "the repair did not stand the proof: DW101 would stay",
        ),
    ],
)
def test_what_has_the_name_must_be_the_library_where_it_is_asked(tmp_path: Path, text: str, reason: str) -> None:
    assert reasons(fixed(tmp_path, {"ovens.py": OVENS, "app.py": text}, unsafe=True)) == [reason]


def test_a_dict_of_another_file_is_told_with_its_place(tmp_path: Path) -> None:
    files = {
        "glazes.py": 'OPTIONS = {"minutes": 30, "glaze": "blue"}\n',
        "app.py": "import kiln\nfrom glazes import OPTIONS\n\nkiln.fire(1, **OPTIONS)\n",
    }
    assert reasons(fixed(tmp_path, files, unsafe=True)) == ["`glaze` is put into a dict in glazes.py, line 1"]
