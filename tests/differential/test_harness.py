"""The harness itself: what it claims of a program is what Python does when the program is run by hand."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from driftwatch.snapshot.model.history import merge
from tests.differential import library
from tests.differential.generate import generate
from tests.differential.menu import Menu
from tests.differential.programs import Call, Program, Runner
from tests.differential.truth import truth
from tests.stubs import write_stub

PLAIN = """
import importlib, itertools, json, os, sys, traceback
main, calls = json.loads(sys.argv[1])
out = []
def attempt(action):
    try:
        action()
    except BaseException as error:
        lines = [[os.path.relpath(f.filename), f.lineno] for f in traceback.extract_tb(error.__traceback__)]
        out.append([type(error).__name__ + ": " + str(error), [l for l in lines if l[0].startswith(main)][::-1]])
    else:
        out.append(None)
attempt(lambda: globals().update(module=importlib.import_module(main)))
if "module" in globals():
    for name, given in calls:
        attempt(lambda: getattr(module, name)(**given))
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("stubs")
    return {s.release: write_stub(s, folder / s.release, "lib-dist") for s in library.snapshots()}


@pytest.fixture(scope="module")
def runner(stubs: Mapping[str, Path]) -> Iterator[Runner]:
    with Runner(stubs, "lib") as started:
        yield started


@pytest.fixture(scope="module")
def menu() -> Menu:
    return Menu.of(merge("lib-dist", "lib.comm", library.snapshots()))


@pytest.mark.slow
def test_many_at_once_is_the_same_as_one_by_one(
    runner: Runner, stubs: Mapping[str, Path], menu: Menu, tmp_path: Path
) -> None:
    programs = [generate(random.Random(seed), menu, f"p{seed}") for seed in range(30)]
    compared = 0
    for program in programs:
        outcomes = runner.run(program)
        for path, text in program.files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        release = random.Random(program.main).choice(list(stubs))
        calls = [[call.function, given] for call in program.calls for given in call.runs()]
        done = subprocess.run(
            [sys.executable, "-c", PLAIN, json.dumps([program.main, calls])],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path}:{stubs[release]}"},
            capture_output=True,
            text=True,
            check=True,
        )
        outcome = outcomes[release]
        runs = [outcome.imported, *(run for runs in outcome.calls for run in runs)]
        for run, plain in zip(runs, json.loads(done.stdout), strict=True):
            assert run.ended == (plain and plain[0]), f"{program}\n{release}"
            if run.chain and run.chain[0] is not None:
                seen = [list(place) for place in run.events[run.chain[0]].path]
                # Python tells a line once for each frame of it: a comprehension has its own.
                assert seen == [list(place) for place in dict.fromkeys(map(tuple, plain[1]))], f"{program}\n{release}"
                compared += 1
    assert compared > 20


def what(runner: Runner, source: str, helper: str | None = None) -> dict[str, list[tuple[int, str, str]]]:
    """Of each release in which anything happens: line, kind, outcomes."""
    files = {"main.py": source} | ({"main_helper.py": helper} if helper else {})
    program = Program(files, "main", (Call("run"),))
    found = truth(program, runner.run(program), "lib")
    return {
        release: sorted((f.place[1], f.kind, "/".join(sorted(f.outcomes))) for f in facts)
        for release, (facts, _) in found.items()
        if facts
    }


def test_a_direct_keyword(runner: Runner) -> None:
    source = "import lib.comm as comm\ndef run():\n    return comm.create(1, 2, group=3)\n"
    assert what(runner, source) == {"0.1.0": [(3, "keyword", "raises")]}


def test_a_keyword_belongs_to_the_caller_of_a_wrapper(runner: Runner) -> None:
    source = "from main_helper import make\ndef run():\n    return make(rank=2, group=3)\n"
    helper = "import lib.comm as comm\ndef make(**kw):\n    return comm.create(world_size=1, **kw)\n"
    assert what(runner, source, helper) == {"0.1.0": [(3, "keyword", "raises")]}


def test_a_keyword_that_a_wrapper_adds_is_its_own(runner: Runner) -> None:
    source = (
        "import lib.comm as comm\ndef make(**kw):\n    kw['group'] = 3\n    return comm.create(1, **kw)\n"
        "def run():\n    return make(rank=2)\n"
    )
    assert what(runner, source) == {"0.1.0": [(4, "keyword", "raises")]}


def test_a_keyword_belongs_to_the_partial(runner: Runner) -> None:
    source = (
        "import functools\nimport lib.comm as comm\ndef run():\n"
        "    make = functools.partial(comm.create, group=3)\n    return make(1, 2)\n"
    )
    assert what(runner, source) == {"0.1.0": [(4, "keyword", "raises")]}


def test_a_partial_of_another_function_is_not_on_the_way(runner: Runner) -> None:
    source = (
        "import functools\nimport lib.comm as comm\ndef other():\n    return functools.partial(comm.gather, out=None)\n"
        "def made():\n    return functools.partial(comm.create, 1)\ndef run():\n    return made()()\n"
    )
    program = Program({"main.py": source}, "main", (Call("run"),))
    (fact,) = truth(program, runner.run(program), "lib")["0.1.0"][0]
    assert (fact.kind, fact.place[1], sorted(line for _, line in fact.way)) == ("arguments", 8, [6, 8])


def test_a_dictionary_belongs_to_the_call(runner: Runner) -> None:
    source = (
        "import lib.comm as comm\ndef run():\n    kw = dict(world_size=1, rank=2)\n"
        "    kw['group'] = 3\n    return comm.create(**kw)\n"
    )
    assert what(runner, source) == {"0.1.0": [(5, "keyword", "raises")]}


@pytest.mark.parametrize(
    ("clause", "body", "outcome"),
    [
        ("except Exception", "return None", "silent"),
        ("except", "return None", "silent"),
        ("except TypeError", "return comm.create(1, 2)", "guarded"),
        ("except TypeError", "return None", "guarded/silent"),
        ("except Exception", "raise", "raises"),
        ("except Exception as e", "raise RuntimeError('no') from e", "raises"),
        ("except Exception", "raise RuntimeError('no')", "raises"),
        ("except ValueError", "return None", "raises"),
    ],
)
def test_what_becomes_of_it(runner: Runner, clause: str, body: str, outcome: str) -> None:
    source = (
        "import lib.comm as comm\ndef run():\n    try:\n        return comm.create(1, 2, group=3)\n"
        f"    {clause}:\n        {body}\n"
    )
    assert what(runner, source) == {"0.1.0": [(4, "keyword", outcome)]}


def test_a_handler_that_raises_it_again_did_not_take_it(runner: Runner) -> None:
    source = (
        "import lib.comm as comm\ndef run():\n    try:\n        try:\n            return comm.gather\n"
        "        except Exception:\n            raise\n    except AttributeError:\n        return 0\n"
    )
    assert what(runner, source) == {"0.1.0": [(5, "name", "guarded")]}


def test_a_fallback_that_fails_too_is_a_second_fact(runner: Runner) -> None:
    source = (
        "import lib.comm as comm\ndef run():\n    try:\n        return comm.create(1, 2, group=3)\n"
        "    except TypeError:\n        return comm.create(1, 2, nope=3)\n"
    )
    assert what(runner, source)["0.1.0"] == [(4, "keyword", "guarded"), (6, "keyword", "raises")]


def test_tests_are_no_facts(runner: Runner) -> None:
    source = (
        "import lib.comm as comm\ndef run():\n    if hasattr(comm, 'gather') and getattr(comm, 'none', None) is None:\n"
        "        return comm.gather\n    try:\n        from lib.comm import gather\n    except ImportError:\n"
        "        gather = None\n    return gather(1)\n"
    )
    assert what(runner, source) == {"0.1.0": [(6, "name", "raises")]}


def test_a_submodule_and_a_member(runner: Runner) -> None:
    source = (
        "import lib.comm as comm\ndef run():\n    try:\n        import lib.comm.extra\n    except ImportError:\n"
        "        pass\n    ws = comm.create(1, 2)\n    return ws.close()\n"
    )
    assert what(runner, source) == {
        "0.1.0": [(4, "name", "guarded"), (8, "member", "raises")],
        "0.2.0": [(4, "name", "guarded"), (8, "member", "raises")],
    }


def test_the_library_is_put_back_after_each_program(runner: Runner) -> None:
    spoils = Program({"a.py": "import lib.comm as c\nc.fuse = None\ndel c.create\n"}, "a", ())
    uses = Program(
        {"b.py": "import lib.comm as c\ndef run():\n    return c.fuse(1, 2), c.create(1, 2)\n"}, "b", (Call("run"),)
    )
    spoilt, used = runner.run(spoils), runner.run(uses)
    assert all(outcome.imported.ended is None for outcome in (*spoilt.values(), *used.values()))
    assert all(run.ended is None for outcome in used.values() for runs in outcome.calls for run in runs)


def test_unknown_conditions_are_run_both_ways(runner: Runner) -> None:
    body = "    if maybe:\n        return comm.legacy(1)\n    return comm.gather\n"
    source = f"import lib.comm as comm\ndef run(maybe):\n{body}"
    program = Program({"main.py": source}, "main", (Call("run", {"maybe": (False, True)}),))
    facts_of = truth(program, runner.run(program), "lib")
    found = {release: sorted(fact.place[1] for fact in facts) for release, (facts, _) in facts_of.items()}
    assert found == {"0.1.0": [5], "0.2.0": [], "0.2.0.post1": [4], "0.10.0": [4]}
