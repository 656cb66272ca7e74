"""Whatever the files are, the run goes on, says what it could not read, and says the same in any order of the files.

Bounded and seeded: real files of the standard library, mutated; arbitrary bytes; and each special kind by itself.
"""

from __future__ import annotations

import os
import random
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.flow.project import Analysis, analyse
from driftwatch.project.discovery import find_roots
from tests.flow.marked import history

LIBRARY = Path(sysconfig.get_path("stdlib"))
SOUND = b"from lib.comm import fuse\n\n\ndef run(x, ws):\n    return fuse(x, ws, early=True)\n"
"""A file beside the others, of which the same must be said whatever they are."""

MENTION = b"import lib.comm as comm\n"
NAMES = (
    "abc.py",
    "bisect.py",
    "contextlib.py",
    "copy.py",
    "dis.py",
    "functools.py",
    "heapq.py",
    "sched.py",
    "types.py",
)


def analysed(folder: Path, files: Mapping[str, bytes], *, backwards: bool = False) -> Analysis:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    paths = [folder / path for path in files]
    return analyse(folder, paths[::-1] if backwards else paths, [history()])


def survives(folder: Path, files: Mapping[str, bytes]) -> Analysis:
    """Analyse some files beside a sound one: nothing is lost of that, and the order does not matter."""
    everything = {"a_sound.py": SOUND, **files, "z_sound.py": SOUND}
    analysis = analysed(folder, everything)
    assert analysis == analysed(folder, everything, backwards=True)
    for path in ("a_sound.py", "z_sound.py"):
        assert [type(use).__name__ for use in analysis.uses if use.location.path == path] == ["ImportUse", "CallUse"]
        assert not [d for d in analysis.diagnostics if d.path == path]
    for diagnostic in analysis.diagnostics:
        assert diagnostic.message
        assert "\n" not in diagnostic.message
    return analysis


def told(analysis: Analysis, path: str) -> list[tuple[int | None, str]]:
    return [(d.line, d.message) for d in analysis.diagnostics if d.path == path]


# -- special kinds -----------------------------------------------------------------------------------------------------

BROKEN: Mapping[str, bytes] = {
    "python_2": MENTION + b"print 'two'\n",
    "null_bytes": MENTION + b"x = 1\0\n",
    "not_utf_8": MENTION + b"x = '\xff\xfe'\n",
    "unknown_encoding": b"# coding: klingon\n" + MENTION,
    "no_text_encoding": b"# coding: base64\n" + MENTION,
    "unfinished": MENTION + b"def f(:\n",
    "unfinished_string": MENTION + b"x = '''\n",
    "bad_indent": MENTION + b"def f():\n  x\n y\n",
    "merge_conflict": MENTION + b"<<<<<<< ours\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n",
    "deep_parentheses": MENTION + b"x = " + b"(" * 20_000 + b")" * 20_000 + b"\n",
    "deep_lists": MENTION + b"x = " + b"[" * 2_000 + b"]" * 2_000 + b"\n",
    "deep_minus": MENTION + b"x = " + b"-" * 50_000 + b"1\n",
    "utf_16": (MENTION.decode() + "x = 1\n").encode("utf-16"),
}

ODD: Mapping[str, bytes] = {
    "empty": b"",
    "only_a_newline": b"\n",
    "byte_order_mark": b"\xef\xbb\xbf" + SOUND,
    "windows_line_ends": SOUND.replace(b"\n", b"\r\n"),
    "old_mac_line_ends": SOUND.replace(b"\n", b"\r"),
    "form_feeds": SOUND.replace(b"\n\n\n", b"\n\x0c\n\x0c\n"),
    "latin_1": b"# coding: latin-1\n# caf\xe9\n" + SOUND,
    "tabs": SOUND.replace(b"    ", b"\t"),
    "no_newline_at_the_end": SOUND.rstrip(),
    "line_continuations": SOUND.replace(b"fuse(x, ws", b"fuse(\\\n x, ws"),
    "semicolons": b"import lib.comm; from lib.comm import fuse; run = lambda x: fuse(x, x, early=True)\n",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_mentions_the_library_and_cannot_be_read_is_told(kind: str, tmp_path: Path) -> None:
    analysis = survives(tmp_path, {"broken.py": BROKEN[kind]})
    assert told(analysis, "broken.py")


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_cannot_be_read_is_no_matter_to_who_imports_it(kind: str, tmp_path: Path) -> None:
    importer = MENTION + b"import broken\nfrom broken import x\n\n\ndef run():\n    return comm.fuse(x)\n"
    analysis = survives(tmp_path, {"broken.py": BROKEN[kind], "importer.py": importer})
    assert not told(analysis, "importer.py")
    assert [use.location.line for use in analysis.uses if use.location.path == "importer.py"] == [1, 7, 7]


@pytest.mark.parametrize("kind", ODD)
def test_a_file_that_is_only_odd_is_read(kind: str, tmp_path: Path) -> None:
    analysis = survives(tmp_path, {"odd.py": ODD[kind]})
    assert not told(analysis, "odd.py")
    if b"fuse" in ODD[kind]:
        assert [type(u).__name__ for u in analysis.uses if u.location.path == "odd.py"][-1] == "CallUse"


DEEP: Mapping[str, bytes] = {
    "ifs": b"".join(b" " * i + b"if x:\n" for i in range(90)) + b" " * 90 + b"comm.fuse(1)\n",
    "elifs": b"if x: pass\n" + b"elif x: comm.fuse(1)\n" * 2_000,
    "calls": b"comm.fuse(1)" + b"(1)" * 3_000 + b"\n",
    "attributes": b"comm" + b".fuse" * 3_000 + b"\n",
    "sum": b"y = comm.fuse(1)" + b" + 1" * 5_000 + b"\n",
    "and": b"y = comm.fuse(1)" + b" and x" * 5_000 + b"\n",
    "lambdas": b"y = " + b"lambda: " * 500 + b"comm.fuse(1)\n",
    "functions": b"".join(b" " * i + b"def f():\n" for i in range(90)) + b" " * 90 + b"comm.fuse(1)\n",
    "classes": b"".join(b" " * i + b"class C:\n" for i in range(90)) + b" " * 90 + b"y = comm.fuse(1)\n",
    "tries": b"".join(b" " * i + b"try:\n" for i in range(45))
    + b" " * 45
    + b"comm.fuse(1)\n"
    + b"".join(b" " * i + b"except E: pass\n" for i in reversed(range(45))),
    "conditional_expressions": b"y = " + b"1 if x else " * 1_000 + b"comm.fuse(1)\n",
    "keywords": b"comm.fuse(" + b", ".join(b"k%d=1" % i for i in range(500)) + b")\n",
    "dicts": b"y = dict()\n" + b"y['k'] = comm\n" * 500 + b"comm.fuse(**y)\n",
    "branches": b"y = {}\n" + b"".join(b"if x: y['k%d'] = 1\n" % i for i in range(200)) + b"comm.fuse(**y)\n",
    "loops": b"".join(b" " * i + b"for i%d in x:\n" % i for i in range(15)) + b" " * 15 + b"comm.fuse(1)\n",
    "callers": b"".join(b"def _f%d(x):\n    _f%d(x)\n    _f%d(x)\n" % (i, i + 1, i + 1) for i in range(25))
    + b"def _f25(x):\n    comm.fuse(x)\ndef run(x):\n    _f0(x)\n",
    "text": b"y = '" + b"x" * 1_000_000 + b"'\ncomm.fuse(1)\n",
    "one_line": b"comm.fuse(1); " * 500 + b"\n",
}


@pytest.mark.parametrize("kind", DEEP)
def test_what_is_deep_or_long_ends_with_a_finding_or_a_reason(kind: str, tmp_path: Path) -> None:
    analysis = survives(tmp_path, {"deep.py": MENTION + DEEP[kind]})
    uses = [use for use in analysis.uses if use.location.path == "deep.py" and use.location.line > 1]
    assert uses or told(analysis, "deep.py") or [u for u in analysis.unresolved if u.path == "deep.py"]


@pytest.mark.slow
def test_a_file_of_ten_megabytes(tmp_path: Path) -> None:
    table = MENTION + b"TABLE = [\n" + b"    (1, 'two', 3.0),\n" * 480_000 + b"]\ncomm.fuse(1)\n"
    assert len(table) > 10_000_000
    analysis = analysed(tmp_path, {"table.py": table, "a_sound.py": SOUND})
    assert [u.location.line for u in analysis.uses if u.location.path == "table.py"] or told(analysis, "table.py")
    assert [u for u in analysis.uses if u.location.path == "a_sound.py"]


# -- files that are not what they seem ---------------------------------------------------------------------------------


def scanned(folder: Path) -> tuple[Analysis, tuple[str, ...]]:
    found = find_roots([folder], base=folder)
    assert not found.unread
    files = found.roots[0].files
    return analyse(folder, files, [history()]), tuple(Path(path).name for path in files)


def test_loops_of_links(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_bytes(SOUND)
    (tmp_path / "package").mkdir()
    (tmp_path / "package/loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "package/self.py").symlink_to(tmp_path / "package/self.py")
    (tmp_path / "package/there.py").symlink_to(tmp_path / "package/back.py")
    (tmp_path / "package/back.py").symlink_to(tmp_path / "package/there.py")
    analysis, names = scanned(tmp_path)
    assert names == ("sound.py",)
    assert len(analysis.uses) == 2


def test_a_file_that_vanishes_is_told(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_bytes(SOUND)
    gone = tmp_path / "gone.py"
    analysis = analyse(tmp_path, [gone, tmp_path / "sound.py"], [history()])
    assert told(analysis, "gone.py") == [(None, "it cannot be read: No such file or directory")]
    assert len(analysis.uses) == 2


def test_a_file_that_has_become_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_bytes(SOUND)
    (tmp_path / "folder.py").mkdir()
    analysis = analyse(tmp_path, [tmp_path / "folder.py", tmp_path / "sound.py"], [history()])
    assert told(analysis, "folder.py") == [(None, "it cannot be read: Is a directory")]
    assert len(analysis.uses) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_bytes(SOUND)
    (tmp_path / "closed.py").write_bytes(SOUND)
    (tmp_path / "closed.py").chmod(0)
    analysis, _ = scanned(tmp_path)
    assert told(analysis, "closed.py") == [(None, "it cannot be read: Permission denied")]
    assert len(analysis.uses) == 2


@pytest.mark.parametrize("moment", ["removed", "changed", "emptied"])
def test_files_that_change_during_the_scan(moment: str, tmp_path: Path) -> None:
    """Each is read once: what is said is of one and the same text, or that it is gone."""
    files = {f"f{i}.py": SOUND for i in range(6)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    actions: dict[str, Callable[[Path], object]] = {
        "removed": lambda path: path.unlink(),
        "changed": lambda path: path.write_bytes(MENTION + b"\n\n\ncomm.legacy(1)\n"),
        "emptied": lambda path: path.write_bytes(b""),
    }
    victims = iter([tmp_path / "f3.py", tmp_path / "f5.py"])

    def progress(*_: object) -> None:
        victim = next(victims, None)
        if victim is not None:
            actions[moment](victim)

    analysis = analyse(tmp_path, sorted(tmp_path.glob("*.py")), [history()], progress=progress)
    for name in files:
        uses = [(type(u).__name__, u.location.line) for u in analysis.uses if u.location.path == name]
        assert uses in ([("ImportUse", 1), ("CallUse", 5)], [("ImportUse", 1), ("NameUse", 5), ("CallUse", 5)], [])
        assert uses or moment == "emptied" or told(analysis, name)


# -- fuzzing -----------------------------------------------------------------------------------------------------------


def mutated(rng: random.Random, data: bytes) -> bytes:
    """A real file after a few accidents, with calls of the library in it."""
    lines = data.split(b"\n")
    spots = [i for i, line in enumerate(lines) if line[:1].isalpha() and b"'''" not in line]
    for spot in sorted(rng.sample(spots, min(4, len(spots))), reverse=True):
        lines.insert(spot, rng.choice(CALLS))
    data = MENTION + b"\n".join(lines)
    for _ in range(rng.randint(0, 4)):
        data = rng.choice(ACCIDENTS)(rng, data)
    return data


CALLS = (
    b"comm.fuse(1, 2, early=True)",
    b"if hasattr(comm, 'legacy'): comm.legacy(1)",
    b"from lib.comm import gather, legacy",
    b"fuse = getattr(comm, 'fuse', None)",
    b"class Mine(comm.Backend): rank = size = None",
    b"comm = None",
)


def _cut(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.randint(1, 200) :]


def _insert(rng: random.Random, data: bytes) -> bytes:
    spot = rng.randrange(len(data) + 1)
    return data[:spot] + rng.choice(JUNK) + data[spot:]


def _swap(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _flip(rng: random.Random, data: bytes) -> bytes:
    spot = rng.randrange(len(data)) if data else 0
    return data[:spot] + bytes([rng.randrange(256)]) + data[spot + 1 :]


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _rename(rng: random.Random, data: bytes) -> bytes:
    names = rng.sample([b"self", b"name", b"value", b"args", b"kwargs", b"func", b"key", b"result"], 2)
    return data.replace(names[0], rng.choice([b"comm", b"fuse", names[1]]))


JUNK = (
    b"\0",
    b"\xff",
    b"\r",
    b"\x0c",
    b"(",
    b")",
    b"'''",
    b"\\",
    b":",
    b"*",
    b"**",
    b"\t",
    b" ",
    b"\n",
    b"lambda: ",
    b"=",
)
ACCIDENTS = (_cut, _insert, _swap, _flip, _truncate, _rename, _rename, _swap)
FILES = 120


def test_real_files_after_accidents(tmp_path: Path) -> None:
    """Each either gives uses or a diagnostic: of what mentions the library, nothing is passed over in silence."""
    rng = random.Random(20260)
    sources = [(LIBRARY / name).read_bytes() for name in NAMES]
    files = {f"f{i}.py": mutated(rng, rng.choice(sources)) for i in range(FILES)}
    analysis = survives(tmp_path, files)
    seen = {use.location.path for use in analysis.uses} | {d.path for d in analysis.diagnostics}
    whole = {path for path, data in files.items() if MENTION in data}
    assert len(whole) > FILES // 2
    assert whole <= seen
    assert {d.path for d in analysis.diagnostics} & whole
    assert {use.location.path for use in analysis.uses} & whole


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=120), min_size=1, max_size=3), st.booleans())
def test_arbitrary_bytes(tmp_path: Path, contents: list[bytes], mention: bool) -> None:
    prefix = MENTION if mention else b""
    analysis = survives(tmp_path, {f"f{i}.py": prefix + data for i, data in enumerate(contents)})
    if mention:
        seen = {use.location.path for use in analysis.uses} | {d.path for d in analysis.diagnostics}
        assert {f"f{i}.py" for i in range(len(contents))} <= seen


ALPHABET = (
    "comm fuse legacy x y = ( ) [ ] { } : , . * ** ' if else for in try except: with as def class return lambda not"
)
WORDS = st.sampled_from([*ALPHABET.split(), "\n", "\n ", "\n  ", " "])


@settings(max_examples=60)
@given(st.lists(st.lists(WORDS, max_size=30).map(" ".join), min_size=1, max_size=3))
def test_arbitrary_words_of_python(tmp_path: Path, contents: list[str]) -> None:
    analysis = survives(tmp_path, {f"f{i}.py": MENTION + text.encode() for i, text in enumerate(contents)})
    seen = {use.location.path for use in analysis.uses} | {d.path for d in analysis.diagnostics}
    assert {f"f{i}.py" for i in range(len(contents))} <= seen
