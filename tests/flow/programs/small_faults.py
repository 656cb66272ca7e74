"""Programs on which a small fault of the engine shows that no other test notices, one for each."""

from __future__ import annotations

from tests.flow.marked import marked

SMALL_FAULTS = (
    marked(
        "key_that_may_be_there",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws, flag):
            kw = {}
            if flag:
                kw["early"] = True
            if "early" in kw:
                return None
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "loop_that_only_a_return_leaves",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws):
            while True:
                if ws.ready():
                    return None
            comm.fuse(nothing=1)
        """,
    ),
    marked(
        "key_that_one_of_two_tests_puts",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws, f1, f2):
            kw = {}
            if f1:
                kw["early"] = True
            if f2:
                kw["early"] = False
            if "early" in kw:
                return None
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "program_that_ends_while_it_is_imported",
        """
        import tool
        import lib.comm as comm


        def run(x, ws):
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
        tool="""
        import lib.comm as comm

        raise SystemExit(comm.create(1, 2))
        """,
    ),
    marked(
        "one_of_two_dicts_is_changed",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws, a, b):
            one, two = {"early": True}, {"early": True}
            kw = one if a else two
            kw["early"] = False
            if one["early"]:
                return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
            return None
        """,
        runs=False,
    ),
    marked(
        "any_of_what_may_be_there",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws, flag):
            tests = []
            if flag:
                tests.append(True)
            if any(tests):
                return None
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "filtered_dict_comprehension",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws, keep):
            kw = {k: v for k, v in {"early": True}.items() if k in keep}
            if "early" in kw:
                return None
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "mock_that_wraps",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run():
            with mock.patch("lib.comm.fuse", wraps=comm.fuse):
                return comm.fuse(1, 2, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "bind_partial_asks_for_nothing_more",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        def run(x, ws):
            try:
                inspect.signature(comm.fuse).bind_partial(early=True)
            except TypeError:
                return None
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "method_that_passes_on_in_another_file",
        """
        from maker import Maker


        def run(x, ws):
            return Maker().go(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        maker="""
        import lib.comm as comm


        class Maker:
            def go(self, *args, **kwargs):
                return comm.fuse(*args, **kwargs)
        """,
    ),
    marked(
        "key_that_a_function_takes_out",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        _KW = {"early": True}


        def _drop():
            _KW.pop("early")


        def run(x, ws):
            _drop()
            if "early" in _KW:
                return None
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "getattr_that_fills_a_gap",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        class A:
            def __init__(self):
                if hasattr(comm, "gather"):
                    self.it = comm.gather

            def __getattr__(self, name):
                return None

            def run(self, x, ws):
                self.it
                return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "import_that_goes_on_in_the_next_line",
        """
        from helper import \\
            fuse


        def run(x, ws):
            return fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        helper="""
        from lib.comm import fuse
        """,
    ),
    marked(
        "text_of_two_records",
        """
        import contextlib, inspect
        from unittest import mock

        import lib.comm as comm


        from dataclasses import dataclass


        @dataclass
        class A:
            name: str


        def run(x, ws):
            A("fuse")
            a = A("gather")
            if a.name == "fuse":
                return comm.fuse(x, ws, bias=1.0)
            return None
        """,
    ),
    marked(
        "call_that_nobody_knows_raises_no_import_error",
        """
        import lib.comm as comm


        def run(x, ws, prepare):
            try:
                prepare(x)
            except ImportError:
                comm.fuse(nothing=1)
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
    ),
    marked(
        "module_that_ends_the_program_is_no_failing_import",
        """
        import lib.comm as comm

        try:
            import tool

            READY = True
        except ImportError:
            READY = False


        def run(x, ws):
            if not READY:
                return comm.fuse(x, ws)
            return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,
        tool="""
        import lib.comm as comm

        raise SystemExit(comm.create(1, 2))
        """,
    ),
    marked(
        "text_of_a_record_that_anybody_may_make",
        """
        from dataclasses import dataclass

        import lib.comm as comm


        @dataclass
        class Job:
            name: str

            def go(self, x, ws):
                if self.name == "gather":
                    return None
                return comm.fuse(x, ws, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run():
            return Job("gather")
        """,
        runs=False,
    ),
    marked(
        "flags_of_a_file_that_does_nothing_else_with_the_library",
        """
        import lib.comm as comm
        from flags import GONE, NEW


        def run(x, ws):
            if NEW:
                return comm.fuse(x, ws, nothing=1)  #! DW101 nothing 0.10.0 raises
            if GONE:
                return comm.fuse(x, ws, nothing=1)
            return comm.fuse(x, ws)
        """,
        flags="""
        import importlib.util
        from importlib.metadata import version

        NEW = version("lib-dist") == "0.10.0"
        GONE = importlib.util.find_spec("lib") is None
        """,
    ),
)
