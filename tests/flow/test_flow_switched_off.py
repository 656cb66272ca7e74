"""Where a test keeps code from being reached that is there for the library: ``#- releases`` on the line of the test."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from driftwatch.flow.uses import SwitchedOff
from tests.flow.marked import analysed, history

PROGRAMS = {
    "an attribute that is looked for": """
        if hasattr(comm, "gather"):  #- 0.1.0
            gather = comm.gather
        else:
            gather = None
        """,
    "a conditional expression": """
        gather = comm.gather if hasattr(comm, "gather") else None  #- 0.1.0
        """,
    "an assertion": """
        def has_gather():
            return hasattr(comm, "gather")

        def run(x):
            assert has_gather()  #- 0.1.0
            return comm.gather(x, axis=0)
        """,
    "an early return": """
        def run(x):
            if not hasattr(comm, "gather"):  #- 0.1.0
                return x
            return comm.gather(x, axis=0)
        """,
    "a refusal": """
        def run(x):
            if not hasattr(comm, "gather"):  #- 0.1.0
                raise RuntimeError("too old")
            return comm.gather(x, axis=0)
        """,
    "a version": """
        import lib
        from packaging.version import Version

        NEW = Version(lib.__version__) >= Version("0.2.0.post1")

        def run(x):
            return comm.fuse(x, 1, bias=1) if NEW else x  #- 0.1.0 to 0.2.0
        """,
    "a signature": """
        import inspect

        def run(x):
            if "bias" in inspect.signature(comm.fuse).parameters:  #- 0.1.0 to 0.2.0
                return comm.fuse(x, 1, bias=1)
            return x
        """,
    "a flag that a handler has set": """
        try:
            from lib.comm import gather
        except ImportError:
            gather = None

        def run(x):
            if gather is None:  #- 0.1.0
                return x
            return gather(x, axis=0)
        """,
    "a second condition that nobody knows": """
        def run(x, enabled):
            if enabled and hasattr(comm, "gather"):  #- 0.1.0
                return comm.gather(x, axis=0)
            return x
        """,
    "and gives the one or the other": """
        gather = hasattr(comm, "gather") and comm.gather  #- 0.1.0
        """,
    "a constructor that refuses": """
        class Gatherer:
            def __init__(self):
                assert hasattr(comm, "gather")  #- 0.1.0

            def run(self, x):
                return comm.gather(x, axis=0)
        """,
    "a function that is defined in some releases": """
        if hasattr(comm, "gather"):  #- 0.1.0
            def gather(x):
                return comm.gather(x, axis=0)
        else:
            def gather(x):
                return x
        """,
    "a loop that is left": """
        def run(xs):
            for x in xs:
                if not hasattr(comm, "gather"):  #- 0.1.0
                    continue
                comm.gather(x, axis=0)
            return comm.fuse(xs, 1)
        """,
    "what a caller asks before it calls": """
        def gather(x):
            return comm.gather(x, axis=0)  # for who calls it without asking, it raises

        def run(x):
            if hasattr(comm, "gather"):  #- 0.1.0
                return gather(x)
            return x
        """,
    "the older function instead": """
        def run(x):
            if hasattr(comm, "legacy"):
                return comm.legacy(x)
            return comm.fuse(x, 1)
        """,
    "the older function instead, in a function of the same name": """
        if hasattr(comm, "legacy"):
            def run(x):
                return comm.legacy(x)
        else:
            def run(x):
                return comm.fuse(x, 1)
        """,
    "a keyword that is left out": """
        import inspect

        def run(x):
            options = {}
            if "bias" in inspect.signature(comm.fuse).parameters:
                options["bias"] = 1
            return comm.fuse(x, 1, **options)
        """,
    "the same function without a keyword, which it may be called without anywhere": """
        import inspect

        class Fuser:
            def __init__(self):
                self.with_bias = False

            def configure(self):
                self.with_bias = "bias" in inspect.signature(comm.fuse).parameters

            def run(self, x):
                if self.with_bias:
                    return comm.fuse(x, 1, bias=1)
                return comm.fuse(x, 1)
        """,
    "a member that is looked for": """
        def run(x):
            pattern = comm.Pattern.C if hasattr(comm.Pattern, "C") else comm.Pattern.A
            return comm.fuse(x, pattern)
        """,
    "what breaks is not switched off": """
        def run(x):
            return comm.gather(x, axis=0)
        """,
    "what only an unknown condition decides": """
        def run(x, enabled):
            if enabled:
                return comm.fuse(x, 1)
            return x
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_test_that_leads_past_the_library_is_told(name: str, tmp_path: Path) -> None:
    text = "import lib.comm as comm\n\n" + dedent(PROGRAMS[name])
    expected = {
        (number, mark[1]) for number, line in enumerate(text.splitlines(), 1) if (mark := re.search("#- (.*)", line))
    }
    analysis = analysed(tmp_path, {"main.py": text})
    told = [use for use in analysis.uses if isinstance(use, SwitchedOff)]
    assert {(use.location.line, history().timeline.describe(use.releases)) for use in told} == expected
    assert all(use.symbols for use in told)
