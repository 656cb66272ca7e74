"""A second process works ahead: what it hands over, how it ends, and that nothing but time depends on it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.flow import project
from driftwatch.flow.project import analyse
from driftwatch.flow.sources import ahead
from driftwatch.flow.sources.ahead import Inbox, Outbox, helper
from driftwatch.flow.sources.contents import Contents
from driftwatch.flow.sources.first_look import importers, mentioning
from driftwatch.flow.sources.work import Work, work_ahead
from driftwatch.flow.syntax.survey import survey
from driftwatch.snapshot import store
from driftwatch.snapshot.history import History

linux = pytest.mark.skipif(sys.platform != "linux", reason="helpers are made on Linux alone")

KEY, OTHER = b"0123456789abcdef", b"fedcba9876543210"


@pytest.fixture(scope="module")
def history() -> History:
    return store.load(store.shipped() / "flashinfer-python")


def given(inbox: Inbox | None) -> Inbox:
    assert inbox is not None
    return inbox


@linux
def test_what_is_handed_over_is_found() -> None:
    with helper(lambda outbox: outbox.put(KEY, {"a": (1, 2)})) as inbox:
        assert given(inbox).wait(KEY) == {"a": (1, 2)}
        assert given(inbox).find(KEY) == {"a": (1, 2)}
        assert given(inbox).find(OTHER) is None


@linux
def test_large_results_and_many_of_them() -> None:
    def job(outbox: Outbox) -> None:
        for number in range(300):
            outbox.put(number.to_bytes(16, "big"), [number] * 5000)

    with helper(job) as inbox:
        for number in (299, 0, 150):
            assert given(inbox).wait(number.to_bytes(16, "big")) == [number] * 5000


@linux
@pytest.mark.parametrize("ending", ["returns", "raises", "is killed"])
def test_nobody_waits_for_a_helper_that_has_ended(ending: str, capfd: pytest.CaptureFixture[str]) -> None:
    def job(outbox: Outbox) -> None:
        os.write(1, b"not to be seen")
        os.write(2, b"not to be seen")
        if ending == "raises":
            raise RuntimeError
        if ending == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)

    started = time.monotonic()
    with helper(job) as inbox:
        assert given(inbox).wait(KEY) is None
    assert time.monotonic() - started < ahead._PATIENCE / 2
    assert capfd.readouterr() == ("", "")


@linux
def test_a_helper_that_hangs_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_PATIENCE", 0.1)
    with helper(lambda outbox: time.sleep(600)) as inbox:
        assert given(inbox).wait(KEY) is None


@linux
def test_a_helper_ends_with_the_block() -> None:
    def job(outbox: Outbox) -> None:
        outbox.put(KEY, os.getpid())
        time.sleep(600)

    with helper(job) as inbox:
        process = given(inbox).wait(KEY)
    assert isinstance(process, int)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_where_none_can_be_had_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "can_help", lambda: False)
    with helper(lambda outbox: None) as inbox:
        assert inbox is None


FILES = {
    "engine/__init__.py": b"",
    "engine/fusion.py": b"import flashinfer.comm as comm\nfrom engine import flags\n\n\ndef _f(x, **more):\n"
    b"    return comm.allreduce_fusion(input=x, workspace=x, pattern=0, **more)\n\n\ndef g(x):\n"
    b"    return _f(x, group=1) if flags.TAKES else _f(x, weight_bias=2.0)\n",
    "engine/flags.py": b"import inspect\nimport flashinfer.comm\n\nTAKES = 'weight_bias' not in inspect.signature(\n"
    b"    flashinfer.comm.allreduce_fusion\n).parameters\n",
    "engine/user.py": b"from engine.fusion import _f\n\n\ndef h(x):\n    return _f(x, nonsense=1)\n",
    "engine/broken.py": b"import flashinfer.comm\nif\n",
    "engine/wide.py": "import flashinfer.comm\n".encode("utf-16"),
    "engine/null.py": b"from flashinfer import comm\n\0\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "engine" / "gone.py").symlink_to(tmp_path / "nowhere.py")
    return tmp_path


def paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py"))


@linux
def test_what_is_done_ahead_is_what_would_be_done(folder: Path) -> None:
    contents = Contents(folder, paths(folder))
    with helper(lambda outbox: work_ahead(contents, ["flashinfer.comm"], outbox)) as inbox:
        here = Contents(folder, paths(folder))
        work = Work(here, given(inbox))
        assert work.mentioning("flashinfer.comm") == mentioning(here, "flashinfer.comm") != []
        assert here.unreadable.keys() == {"engine/gone.py"}
        assert work.importers() == importers(here) != {}
        for name in ("engine/fusion.py", "engine/flags.py"):
            text = FILES[name].decode()
            found = work.survey(text)
            own = survey(text)
            assert found is not None
            assert own is not None
            assert [(p.first, p.last, p.defines, p.binds, p.mentions, p.imports) for p in found.pieces] == [
                (p.first, p.last, p.defines, p.binds, p.mentions, p.imports) for p in own.pieces
            ]


@linux
@pytest.mark.parametrize("steady", [True, False])
def test_files_that_changed_while_a_helper_read_them_are_known_to_have(folder: Path, steady: bool) -> None:
    """Else the result would be kept for files that are not those it is of."""
    contents = Contents(folder, paths(folder))
    contents.steady = steady
    with helper(lambda outbox: work_ahead(contents, ["flashinfer.comm"], outbox)) as inbox:
        here = Contents(folder, paths(folder))
        Work(here, given(inbox)).mentioning("flashinfer.comm")
        assert here.steady is steady


def dies(*_: object) -> None:
    os._exit(3)


def fails(*_: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("job", [work_ahead, dies, fails], ids=["helps", "dies", "fails"])
def test_the_result_is_the_same_with_a_helper(
    folder: Path, history: History, job: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = analyse(folder, paths(folder), [history])
    assert alone.uses
    assert {each.path for each in alone.diagnostics} == {
        f"engine/{name}.py" for name in ("broken", "gone", "null", "wide")
    }
    monkeypatch.setattr(project, "MANY", 1)
    monkeypatch.setattr(project, "work_ahead", job)
    for jobs in (2, 16):
        assert repr(analyse(folder, paths(folder), [history], jobs=jobs)) == repr(alone)
