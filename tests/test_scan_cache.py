"""The cache of analyses: never another answer than without it, whatever happens to it, and no work done twice."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from driftwatch.flow import project
from driftwatch.flow.project import analyse
from driftwatch.flow.sources import results_cache
from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.results_cache import FOLDER, ResultsCache, key_of
from driftwatch.flow.uses import Analysis
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.store import store
from driftwatch.system.seals import Seals
from tests.cli_process import run
from tests.conftest import ROOT

CASES = ROOT / "tests" / "cases"


@pytest.fixture(scope="module")
def history() -> History:
    return store.load(store.shipped() / "flashinfer-python")


@pytest.fixture(scope="module")
def expected(history: History) -> Analysis:
    return analyse(CASES, sorted(CASES.glob("*.py")), [history])


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    for path in CASES.glob("*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def again(folder: Path, history: History, cache: Path) -> Analysis:
    return analyse(folder, sorted(folder.glob("*.py")), [history], cache=cache)


def entries(cache: Path) -> list[Path]:
    return sorted((cache / FOLDER).iterdir()) if (cache / FOLDER).is_dir() else []


def never(*_: object) -> Analysis:
    raise AssertionError("it was analysed again")


# -- a warm run --------------------------------------------------------------------------------------------------------


def test_what_was_kept_is_what_was_found(
    code: Path, tmp_path: Path, history: History, expected: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(expected.uses) > 30
    assert again(code, history, tmp_path) == expected
    assert len(entries(tmp_path)) == 1
    monkeypatch.setattr(project, "_analysed", never)
    found = again(code, history, tmp_path)
    assert found == expected
    # Equal is not enough: True is 1 to Python, and not to a reader of messages.
    assert repr(found) == repr(expected)


def test_a_warm_run_does_not_even_import_the_parser(code: Path, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from driftwatch.flow.project import analyse\n"
        "from driftwatch.snapshot.store import store\n"
        "history = store.load(store.shipped() / 'flashinfer-python')\n"
        "folder = Path(sys.argv[1])\n"
        "analyse(folder, sorted(folder.glob('*.py')), [history], cache=Path(sys.argv[2]))\n"
        "print('libcst' in sys.modules)\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program, code, tmp_path / "cache"],
            check=True,
            capture_output=True,
            text=True,
            cwd=ROOT,
        ).stdout
        for _ in range(2)
    ]
    assert said == ["True\n", "False\n"]


def test_the_order_of_the_files_does_not_matter(code: Path, tmp_path: Path, history: History) -> None:
    again(code, history, tmp_path)
    analyse(code, sorted(code.glob("*.py"), reverse=True), [history], cache=tmp_path)
    assert len(entries(tmp_path)) == 1


def test_without_a_cache_nothing_is_kept(code: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "DRIFTWATCH_CACHE_DIR": str(tmp_path / "cache")}
    plain = run("scan", str(code), "--no-cache", "--format", "json", environment=environment)
    assert not entries(tmp_path / "cache")
    first = run("scan", str(code), "--format", "json", environment=environment)
    assert len(entries(tmp_path / "cache")) == 1
    second = run("scan", str(code), "--format", "json", environment=environment)
    assert plain == first == second
    assert plain.status == 1


# -- what makes it another analysis ------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["a byte", "a name", "a file more", "a file less"])
def test_other_files_are_analysed_anew(code: Path, tmp_path: Path, history: History, what: str) -> None:
    again(code, history, tmp_path)
    victim = code / "direct_keyword.py"
    if what == "a byte":
        victim.write_bytes(victim.read_bytes().replace(b"True", b"None", 1))
    elif what == "a name":
        victim.rename(code / "renamed.py")
    elif what == "a file more":
        (code / "more.py").write_text("import flashinfer.comm as comm\ncomm.nothing\n", encoding="utf-8")
    else:
        victim.unlink()
    assert again(code, history, tmp_path) == analyse(code, sorted(code.glob("*.py")), [history])
    assert len(entries(tmp_path)) == 2


def test_what_moves_between_files_is_not_taken_for_the_same(tmp_path: Path) -> None:
    digests = set()
    for number, contents in enumerate(({"a.py": b"xy", "b.py": b""}, {"a.py": b"x", "b.py": b"y"}, {"a.py": b"xy"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, data in contents.items():
            (folder / name).write_bytes(data)
        digests.add(Contents(folder, sorted(folder.iterdir())).digest())
    assert len(digests) == 3
    assert None not in digests


def test_another_driftwatch_or_history_has_another_key(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of("files", [history])
    assert key is not None
    assert key_of("other files", [history]) != key
    assert key_of("files", [replace(history, digest="other")]) != key
    assert key_of("files", [history, history]) != key
    monkeypatch.setattr(results_cache, "tool", lambda: "another driftwatch")
    assert key_of("files", [history]) != key


def test_a_history_of_unknown_origin_is_not_cached(code: Path, tmp_path: Path, history: History) -> None:
    again(code, replace(history, digest=""), tmp_path)
    assert entries(tmp_path) == []


def test_a_history_is_told_by_its_content(tmp_path: Path, history: History) -> None:
    whole = store.shipped() / "flashinfer-python"
    same, other = tmp_path / "same", tmp_path / "other"
    for folder in (same, other):
        folder.mkdir()
        for path in filter(Path.is_file, whole.iterdir()):
            (folder / path.name).write_bytes(path.read_bytes())
    changed = other / store.HISTORY
    changed.write_bytes(changed.read_bytes().replace(b"launch_with_pdl", b"launch_with_PDL", 1))
    assert store.load(same).digest == history.digest
    assert store.load(other).digest != history.digest


def test_files_that_cannot_be_read_are_looked_at_anew(code: Path, tmp_path: Path, history: History) -> None:
    (code / "folder.py").mkdir()
    found = again(code, history, tmp_path)
    assert [d.path for d in found.diagnostics] == ["folder.py"]
    assert entries(tmp_path) == []


def test_files_that_change_while_they_are_read_are_not_kept(
    code: Path, tmp_path: Path, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftwatch.flow.sources.contents.KEEP_BYTES", 0)
    real = project._analysed

    def changes(contents: Contents, *rest: object) -> Analysis:
        (code / "direct_keyword.py").write_text("import flashinfer.comm\n", encoding="utf-8")
        return real(contents, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(project, "_analysed", changes)
    again(code, history, tmp_path)
    assert entries(tmp_path) == []
    monkeypatch.setattr(project, "_analysed", real)
    again(code, history, tmp_path)
    assert len(entries(tmp_path)) == 1


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["cut", "emptied", "flipped", "another's", "foreign"])
def test_a_damaged_entry_is_dropped_and_made_anew(
    code: Path, tmp_path: Path, history: History, expected: Analysis, damage: str
) -> None:
    again(code, history, tmp_path)
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    checksum, _, body = whole.partition(b"\n")
    half = len(body) // 2
    if damage == "another's":
        # A sound entry, of other files, under this one's name.
        ResultsCache(tmp_path).keep("other", replace(expected, uses=()))
        entry.write_bytes((tmp_path / FOLDER / "other").read_bytes())
        (tmp_path / FOLDER / "other").unlink()
    else:
        entry.write_bytes(
            {
                "cut": whole[: len(whole) // 2],
                "emptied": b"",
                "flipped": checksum + b"\n" + body[:half] + bytes([body[half] ^ 1]) + body[half + 1 :],
                "foreign": os.urandom(200),
            }[damage]
        )
    assert again(code, history, tmp_path) == expected
    assert entry.read_bytes() == whole


@pytest.mark.parametrize("body", [b'["Analysis"]', b'["Path","/"]', b'["",1]', b'{"a":1}', b"[" * 100_000])
def test_an_entry_of_another_form_is_dropped(tmp_path: Path, body: bytes) -> None:
    (tmp_path / FOLDER).mkdir()
    entry = tmp_path / FOLDER / "key"
    entry.write_bytes(Seals(tmp_path).seal(b"key", body) + b"\n" + body)
    assert ResultsCache(tmp_path).find("key") is None
    assert not entry.exists()


def test_an_entry_that_somebody_else_has_written_is_dropped(
    code: Path, tmp_path: Path, history: History, expected: Analysis
) -> None:
    """Right in every way but for the key: another person's cache, with other findings in it, is no cache of ours."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    again(code, history, theirs)
    (entry,) = entries(theirs)
    forged = entry.read_bytes().replace(b"allreduce", b"allocate_", 1)
    for body in (entry.read_bytes(), forged, b"\n" + forged.partition(b"\n")[2]):
        again(code, history, ours)
        (ours / FOLDER / entry.name).write_bytes(body)
        assert again(code, history, ours) == expected
        assert (ours / FOLDER / entry.name).read_bytes() != body


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    code: Path, tmp_path: Path, history: History, expected: Analysis
) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    assert again(code, history, blocked) == expected


# -- many runs ---------------------------------------------------------------------------------------------------------


def test_runs_side_by_side_share_it(code: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "DRIFTWATCH_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "driftwatch", "scan", str(code), "--format", "json", "--fail-on", "never"]
    started = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) for _ in range(4)]
    said = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(said) == 1
    assert len(entries(tmp_path / "cache")) == 1


def test_the_entries_nobody_asked_for_go_first(
    tmp_path: Path, expected: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ResultsCache(tmp_path)
    cache.keep("size", expected)
    size = (tmp_path / FOLDER / "size").stat().st_size
    (tmp_path / FOLDER / "size").unlink()
    monkeypatch.setattr(results_cache, "MAX_BYTES", 3 * size + size // 2)
    for age, key in enumerate(("a", "b", "c")):
        cache.keep(key, expected)
        os.utime(tmp_path / FOLDER / key, (1000 + age, 1000 + age))
    assert cache.find("a") == expected  # asked for: now the youngest
    left_behind = tmp_path / FOLDER / ".killed"
    left_behind.write_bytes(b"half")
    os.utime(left_behind, (1000, 1000))
    cache.keep("d", expected)
    assert [path.name for path in entries(tmp_path)] == ["a", "c", "d"]
