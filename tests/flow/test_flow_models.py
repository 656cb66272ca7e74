"""A model of a function is one entry, in a file that nothing else has to know of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.flow.interpreter.registry import model
from driftwatch.flow.models.partials import _partial

MADE = """
from dataclasses import replace

from driftwatch.flow.domain.contents import Arguments
from driftwatch.flow.domain.values import Object, Value
from driftwatch.flow.interpreter.arguments import argument
from driftwatch.flow.interpreter.registry import attribute, method, model


@model("acme.Box")
def _made(run, arguments, node):
    key = run.world.identities.number(node, run.frame.uid, "box")
    run.state.heap[key] = arguments.keywords
    return Value(((run.state.reach, Object("acme.Box", key)),))


@method("acme.Box.call")
def _call(run, arguments, node):
    rest = replace(arguments.positional, elements=arguments.positional.elements[2:])
    return run.call(argument(arguments, 1), Arguments(rest, _options(run, arguments)), node)


@attribute("acme.Box.options")
def _read(run, arguments, node):
    return run.new_dict(node, _options(run, arguments))


def _options(run, arguments):
    return run.content(argument(arguments, 0).single().key)
"""

SCANNED = """
import acme
import lib.comm as comm

def by_method():
    return acme.Box(rank=0, group=None).call(comm.create, 1)

def by_attribute():
    return comm.create(1, **acme.Box(rank=0, group=None).options)

def otherwise():
    return acme.Box(rank=0, group=None).something(comm.create)
"""

RUN = """
import sys
from pathlib import Path
from driftwatch.flow import models
models.__path__.append(sys.argv[1])
from tests.flow.marked import analysed, said
print(*sorted(said(analysed(Path(sys.argv[2]), {"main.py": Path(sys.argv[3]).read_text()}))), sep="\\n")
"""


def test_a_file_is_all_that_a_model_needs(tmp_path: Path) -> None:
    folder, program, project = tmp_path / "extra", tmp_path / "scanned.py", tmp_path / "project"
    folder.mkdir()
    project.mkdir()
    program.write_text(SCANNED.lstrip())
    command = [sys.executable, "-c", RUN, str(folder), str(project), str(program)]

    def told() -> list[str]:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
        return done.stdout.splitlines()

    assert [line for line in told() if "DW101" in line] == []
    (folder / "boxes.py").write_text(MADE)
    assert [line for line in told() if "DW101" in line] == [
        "main.py:5 DW101 group 0.1.0 raises",
        "main.py:8 DW101 group 0.1.0 raises",
    ]
    assert [line for line in told() if "?" in line] == [
        "main.py:11 ? `lib.comm.create` is passed to a function that cannot be followed"
    ]


def test_a_name_has_one_model() -> None:
    assert model("functools.partial")(_partial) is _partial
    with pytest.raises(ValueError, match=r"two models of functools\.partial"):
        model("functools.partial")(lambda run, arguments, node: arguments.values()[0])
