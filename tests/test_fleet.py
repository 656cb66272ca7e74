"""A fleet: independent units, results that are kept, and the same merged answer whoever did the work."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from driftwatch.errors import ConfigError
from driftwatch.fleet.kept import Kept
from driftwatch.fleet.listing import Fleet, Member, dependents, read_fleet
from driftwatch.fleet.run import FleetRequest, Ran, run
from driftwatch.fleet.unit import Job, Question, digests, examine
from driftwatch.targets.target import shipped_targets
from tests.cli_process import Result, make_studio, surroundings
from tests.cli_process import run as driftwatch
from tests.fake_index import FakeIndex, make_wheel, serving

GOOD = "import kiln\n\n\ndef bake(pot):\n    return kiln.fire(pot, {number}, glaze={glaze!r})\n"
BAD = "import kiln\n\n\ndef bake(pot):\n    return kiln.raku(pot)\n"
LOST = """\
import kiln


def bake(pot):
    try:
        return kiln.raku(pot)
    except Exception:
        return None
"""


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    """A folder with kiln's snapshots and a dozen code bases, one of which is none and one of which has no Python."""
    make_studio(tmp_path)
    for number in range(4):
        put(tmp_path, f"good{number}", GOOD.format(number=number, glaze="blue" if number else "red"))
        put(tmp_path, f"bad{number}", BAD if number % 2 else LOST)
    put(tmp_path, "none", "import json\n")
    (tmp_path / "empty").mkdir()
    names = [f"{kind}{number}" for number in range(4) for kind in ("good", "bad")]
    (tmp_path / "fleet.txt").write_text("\n".join(["# ours", *names, "none", "empty", "nowhere  # is not there"]))
    return tmp_path


def put(folder: Path, name: str, source: str) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "app.py").write_text(source)
    (folder / name / "pyproject.toml").write_text(f"[project]\nname = '{name}'\ndependencies = ['kiln>=1.1']\n")


def fleet(studio: Path, *words: str) -> Result:
    results = () if "--results" in words else ("--results", "results")
    return driftwatch("fleet", "fleet.txt", *results, *words, cwd=studio)


def form_of(result: Result) -> dict[str, Any]:
    """The answer as JSON, which is as its schema says."""
    found: dict[str, Any] = json.loads(result.out)
    schema = resources.files("driftwatch.report").joinpath("fleet_schema_v1.json").read_text(encoding="utf-8")
    jsonschema.validate(found, json.loads(schema))
    return found


def shown(result: Result) -> list[str]:
    """What became of each unit, in any order."""
    lines = [line.partition("] ")[2] for line in result.err.splitlines() if line.startswith("[")]
    return sorted(line.partition(": ")[0] for line in lines if line.endswith(": done"))


def test_rows_of_all_and_reasons_of_those_that_have_none(studio: Path) -> None:
    result = fleet(studio, "--jobs", "2", "--format", "json")
    assert result.status == 2
    form = form_of(result)
    (library,) = form["libraries"]
    assert (form["code_bases"], library["distribution"], library["releases"]) == (11, "kiln", ["1.0", "1.1", "2.0"])
    runs = {row["code_base"]: [(r["state"], r["first"], r["last"]) for r in row["runs"]] for row in library["rows"]}
    good = [("breaks", "1.0", "1.0"), ("works", "1.1", "2.0")]
    for number in range(4):
        assert runs[f"good{number}"] == good
        state = "breaks" if number % 2 else "silent"
        assert runs[f"bad{number}"] == [("works", "1.0", "1.1"), (state, "2.0", "2.0")]
    assert {each["release"]: each["code_bases"] for each in library["broken"]} == {
        "1.0": [f"good{number}" for number in range(4)],
        "2.0": [f"bad{number}" for number in range(4)],
    }
    assert form["no_use"] == ["none"]
    assert [each["code_base"] for each in form["not_looked_at"]] == ["empty", "nowhere"]
    assert "there is no Python file" in form["not_looked_at"][0]["reason"]


@pytest.mark.slow
def test_which_symbol_is_used_by_whom_and_how(studio: Path) -> None:
    (library,) = form_of(fleet(studio, "--format", "json"))["libraries"]
    usage = {each["symbol"]: each for each in library["usage"]}
    fire = usage["kiln.fire"]
    assert fire["by"] == [{"code_base": f"good{number}", "places": 1} for number in range(4)]
    parameters = {each["name"]: [(v["value"], v["places"]) for v in each["values"]] for each in fire["parameters"]}
    assert parameters == {
        "glaze": [("'blue'", 3), ("'red'", 1)],
        "minutes": [("0", 1), ("1", 1), ("2", 1), ("3", 1)],
        "pot": [("?", 4)],
    }
    assert usage["kiln.raku"]["places"] == 4


@pytest.mark.slow
def test_as_text_table_and_page(studio: Path) -> None:
    result = fleet(studio, "--format", "text", "--format", "csv=f.csv", "--format", "html=f.html")
    assert result.out.splitlines()[-1] == ("11 code bases; 8 use kiln, 4 break with 2.0; 2 could not be looked at")
    rows = list(csv.DictReader(io.StringIO((studio / "f.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 8 * 3
    silent = {row["code_base"] for row in rows if row["state"] == "silent"}
    assert silent == {"bad0", "bad2"}
    assert {row["declared"] for row in rows if row["release"] == "1.0"} == {""}
    page = (studio / "f.html").read_text(encoding="utf-8")
    assert page.count("data-row=") == 8 and page.count('<i class="s5') == 2


@pytest.mark.slow
def test_the_next_run_costs_what_changed(studio: Path) -> None:
    first = fleet(studio, "--format", "json")
    assert len(shown(first)) == 9
    second = fleet(studio, "--format", "json")
    assert (shown(second), second.out) == ([], first.out)
    put(studio, "good1", BAD)
    third = fleet(studio, "--format", "json")
    assert shown(third) == ["good1"]
    # Another question, and another history, are other results.
    assert len(shown(fleet(studio, "--against", "kiln>=1.1"))) == 9
    added = studio / "kiln-3"
    added.mkdir()
    (added / "kiln.py").write_text("def fire(pot): ...\n")
    assert driftwatch("snapshot", "add", "--target", "kiln", "3.0=kiln-3", cwd=studio).status == 0
    assert len(shown(fleet(studio))) == 9


@pytest.mark.slow
def test_a_damaged_result_is_worked_out_again(studio: Path) -> None:
    first = fleet(studio, "--format", "json")
    for path in sorted((studio / "results").rglob("*.json"))[:3]:
        path.write_text(path.read_text(encoding="utf-8").replace("source", "sourse", 1), encoding="utf-8")
    second = fleet(studio, "--format", "json")
    assert (len(shown(second)), second.out) == (3, first.out)


def test_a_run_that_is_killed_goes_on_where_it_was(studio: Path) -> None:
    command = [sys.executable, "-m", "driftwatch", "fleet", "fleet.txt", "--results", "results", "--jobs", "1"]
    process = subprocess.Popen(
        command, cwd=studio, env=surroundings(), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.rstrip().endswith(": done"):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    kept = len(list((studio / "results").rglob("*.json")))
    assert kept >= 1
    second = fleet(studio, "--format", "json")
    assert len(shown(second)) == 9 - kept
    assert second.out == fleet(studio, "--results", "fresh", "--format", "json").out


def requested(studio: Path, executor: Callable[[], Executor], *members: str) -> FleetRequest:
    from driftwatch.project.config import discover

    config = discover(studio)
    named = tuple(Member(str(studio / name)) for name in members)
    question = Question(json.dumps([dict(table) for table in config.targets]), str(config.folder))
    return FleetRequest(Fleet(named), executor, studio / "results", question)


def processes(number: int) -> Callable[[], Executor]:
    from driftwatch.cli.fleet import _processes

    return _processes(number, "spawn")


def test_a_worker_that_dies_costs_nobody_else_a_row(studio: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes its process down is a row with its reason; who only ran beside it is done again."""
    monkeypatch.setattr("driftwatch.fleet.run.examine", _deadly)
    ran = run(requested(studio, processes(2), "good0", "bad0", "good1", "bad1", "good2"))
    reasons = [row.get("reason") for row in ran.rows]
    assert reasons == [None, "the process that looked at it died", None, None, None]


def test_processes_end_when_the_run_is_called_off() -> None:
    with processes(1)() as executor:
        worker = executor.submit(os.getpid).result()
        waiting = [executor.submit(time.sleep, 120) for _ in range(2)]
        os.kill(worker, signal.SIGINT)
        assert all(isinstance(future.exception(60), BrokenExecutor) for future in waiting)


def _deadly(job: Any) -> str:
    from driftwatch.fleet.unit import examine

    if job.source.endswith("bad0"):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return examine(job)


class Plain(Executor):
    """No more than the interface asks for: whatever has it will do."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)
        return future


def outcome(ran: Ran) -> str:
    return json.dumps(ran.rows, sort_keys=True)


def test_any_executor_gives_the_same_rows(studio: Path) -> None:
    names = [f"{kind}{number}" for number in range(4) for kind in ("good", "bad")]
    plain = run(requested(studio, Plain, *names))
    assert plain.done == 8
    import shutil

    shutil.rmtree(studio / "results")
    assert outcome(run(requested(studio, processes(2), *names))) == outcome(plain)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A real scheduler and two real workers, each a process of its own, on this machine."""
    pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    base = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    words = ["--port", "0", "--no-dashboard", "--scheduler-file", str(place), "--host", "127.0.0.1"]
    environment = surroundings({"DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "0"})
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    started = [subprocess.Popen([*base, *words], **quiet)]  # type: ignore[call-overload]
    try:
        deadline = time.monotonic() + 60
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        address = json.loads(place.read_text())["address"]
        for _ in range(2):
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
            own = ["--local-directory", str(tmp_path / "dask"), "--host", "127.0.0.1"]
            started.append(subprocess.Popen([*worker, *own], **quiet))  # type: ignore[call-overload]
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)


def test_a_dask_cluster_gives_the_same_bytes(studio: Path, cluster: str) -> None:
    here = fleet(studio, "--jobs", "2", "--results", "here", "--format", "json", "--format", "html=here.html")
    there = fleet(studio, "--dask", cluster, "--results", "there", "--format", "json", "--format", "html=there.html")
    assert len(shown(there)) == 9, there.err
    assert there.out == here.out
    assert (studio / "there.html").read_bytes() == (studio / "here.html").read_bytes()


def test_a_cluster_that_is_not_there(studio: Path) -> None:
    pytest.importorskip("distributed")
    result = fleet(studio, "--dask", "tcp://127.0.0.1:9", "--jobs", "2")
    assert (result.status, "--jobs is for processes" in result.err) == (2, True)


def test_lists_in_toml_and_dependents(studio: Path) -> None:
    (targets,) = [shipped_targets()]
    path = studio / "fleet.toml"
    path.write_text('code = ["dependents:flashinfer-python", "pypi:vllm>=0.2,<0.4", "good0"]\nagainst = [">=0.6"]\n')
    asked: list[str] = []

    def releases(name: str) -> list[str]:
        asked.append(name)
        return ["0.1", "0.2", "0.3", "0.4"]

    found = read_fleet(path, targets, releases)
    known = dependents(targets[0])
    texts = [member.text for member in found.members]
    expected = [*(f"pypi:{name}" for name in known.names), "pypi:vllm==0.2", "pypi:vllm==0.3", str(studio / "good0")]
    assert texts == expected
    assert (found.against, asked) == ((">=0.6",), ["vllm"])
    assert {"vllm", "sglang"} <= set(known.names) and known.date.count("-") == 2
    path.write_text('code = ["good0"]\nlibraries = []\n')
    with pytest.raises(ConfigError, match=":2: unknown key 'libraries'"):
        read_fleet(path, targets, releases)
    path.write_text('code = ["pypi:vllm>=9"]\n')
    (member,) = read_fleet(path, targets, releases).members
    assert member == Member("pypi:vllm>=9", "'pypi:vllm>=9' selects no release of vllm")


def test_results_that_cannot_be_kept_cost_only_time(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    kept = Kept(place)
    kept.keep("ab", "{}")
    assert kept.find("ab") is None


def test_a_process_that_knows_other_releases_gives_no_row(studio: Path) -> None:
    """Such as a worker elsewhere, with another driftwatch, or a library that changed while the fleet ran."""
    request = requested(studio, Plain, "good0")
    job = Job(str(studio / "good0"), "any", request.question, ("kiln kiln 0",), "any", str(studio))
    assert (
        json.loads(examine(job))["reason"] == "where this was to be looked at, other releases of the library are known"
    )
    assert "reason" not in json.loads(examine(replace(job, libraries=digests(request.question))))


@pytest.fixture
def potters(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What makes programs ask a package index that has two libraries nobody has set up, one of two modules."""
    with serving(FakeIndex()) as index:
        for version, source in {"1.0": "def throw(clay): ...\n", "2.0": "def turn(clay): ...\n"}.items():
            wheel = make_wheel({"wheels/__init__.py": source, "wheels_extra.py": source}, "potters-wheels", version)
            index.add("potters-wheels", f"potters_wheels-{version}-py3-none-any.whl", wheel)
            wheel = make_wheel({"clays.py": source}, "clays", version)
            index.add("clays", f"clays-{version}-py3-none-any.whl", wheel)
        yield {
            "PIP_INDEX_URL": index.url,
            "PIP_EXTRA_INDEX_URL": "",
            "UV_INDEX_URL": "",
            "PIP_RETRIES": "0",
            "DRIFTWATCH_CACHE_DIR": str(tmp_path / "cache"),
        }


def test_libraries_that_nobody_has_set_up(studio: Path, potters: dict[str, str]) -> None:
    """Two at once; of one every module counts, since no code base is known to speak for the others."""
    for name, module in {"old": "wheels", "extra": "wheels_extra", "both": "clays"}.items():
        put(studio, name, f"import {module}\nimport kiln\n\n{module}.throw(1)\nkiln.raku(1)\n")
    (studio / "few.toml").write_text('code = ["old", "extra", "both"]\nagainst = ["potters-wheels>=1", "clays>=1"]\n')
    words = ("fleet", "few.toml", "--results", "results", "--format", "json")
    result = driftwatch(*words, "--jobs", "2", cwd=studio, environment=potters)
    assert result.status == 0, result
    found = form_of(result)
    runs = {
        (library["distribution"], row["code_base"]): [(r["state"], r["first"], r["last"]) for r in row["runs"]]
        for library in found["libraries"]
        for row in library["rows"]
    }
    breaks = [("works", "1.0", "1.0"), ("breaks", "2.0", "2.0")]
    assert runs == {("potters-wheels", "old"): breaks, ("potters-wheels", "extra"): breaks, ("clays", "both"): breaks}
    assert [library["module"] for library in found["libraries"]] == ["clays", "wheels, wheels_extra"]
    assert "clays is not set up: reading its releases\n" in result.err
    again = driftwatch(*words, cwd=studio, environment=potters)
    assert (shown(again), again.out) == ([], result.out)
    # A set-up library beside one that is not is held against as well when it is named.
    besides = driftwatch(*words, "--against", "clays>=1", "--against", "kiln>=1.1", cwd=studio, environment=potters)
    assert [library["distribution"] for library in form_of(besides)["libraries"]] == ["clays", "kiln"]


def test_a_state_of_the_library_that_is_no_release(studio: Path) -> None:
    """A checkout is a column of its own, wherever the process works that looks at it."""
    checkout = studio / "checkout"
    checkout.mkdir()
    (checkout / "pyproject.toml").write_text('[project]\nname = "kiln"\nversion = "2.1"\n')
    (checkout / "kiln.py").write_text("def fire(pot, minutes=1, *, glaze=None): ...\ndef raku(pot): ...\n")
    result = fleet(studio, "--against", "all", "--against", "./checkout", "--jobs", "2", "--format", "json")
    (library,) = form_of(result)["libraries"]
    assert library["releases"] == ["1.0", "1.1", "2.0", "2.1+local"]
    runs = {row["code_base"]: [(r["state"], r["last"]) for r in row["runs"]] for row in library["rows"]}
    assert runs["bad1"] == [("works", "1.1"), ("breaks", "2.0"), ("works", "2.1+local")]
    (checkout / "kiln.py").write_text("def fire(pot, minutes=1, *, glaze=None): ...\n")
    again = fleet(studio, "--against", "all", "--against", "./checkout", "--format", "json")
    assert len(shown(again)) == 9
    listed = studio / "places.toml"
    listed.write_text('code = ["good0"]\nagainst = ["./checkout"]\n')
    refused = driftwatch("fleet", "places.toml", cwd=studio)
    assert (refused.status, "is a place, and no releases" in refused.err) == (2, True)
