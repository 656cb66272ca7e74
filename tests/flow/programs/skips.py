"""Tests that a runner skips: what they use is not reached where it does."""

from __future__ import annotations

from tests.flow.marked import marked

SKIPS = (
    marked(
        "a_mark_on_a_test",
        """
        import importlib.util

        import pytest

        import lib.comm as comm


        def has_extra():
            return importlib.util.find_spec("lib.comm.extra") is not None


        requires_extra = pytest.mark.skipif(not has_extra(), reason="no module")


        @requires_extra
        def test_named():
            from lib.comm.extra import deep


        @pytest.mark.skipif(not hasattr(comm, "gather"), reason="no gather")
        @pytest.mark.parametrize("axis", [0, 1])
        def test_inline(axis):
            comm.gather(1, axis=axis)
            comm.legacy(1)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises


        @pytest.mark.xfail(not hasattr(comm, "gather"), reason="no gather")
        def test_expected():
            comm.gather(1, axis=0)


        @pytest.mark.skip
        def test_never():
            comm.nowhere(1)


        @pytest.mark.skip(reason="not now")
        def test_not_now():
            comm.nowhere(1)


        @pytest.mark.skipif(reason="no condition")
        def test_malformed():
            comm.nowhere(1)  #! DW201 nowhere 0.1.0 to 0.10.0 raises


        @pytest.mark.skipif("sys.platform == 'win32'", reason="evaluated by the runner")
        def test_text():
            comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "a_mark_of_a_module",
        """
        import pytest

        import lib.comm as comm

        pytestmark = pytest.mark.skipif(not hasattr(comm, "gather"), reason="no gather")


        def test_module():
            comm.gather(1, axis=0)


        def helper():
            return comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises


        class TestMore:
            def test_method(self):
                comm.gather(1, axis=0)
        """,
        runs=False,
        test_listed="""
        import pytest

        import lib.comm as comm

        pytestmark = [
            pytest.mark.slow,
            pytest.mark.skipif(not hasattr(comm, "gather"), reason="no gather"),
            pytest.mark.skipif(hasattr(comm, "legacy"), reason="old"),
        ]


        def test_module():
            comm.gather(1, axis=0)
            comm.extra.deep(1, 2)
        """,
        test_left_out="""
        import pytest

        import lib.comm as comm

        if not hasattr(comm, "gather"):
            pytest.skip("no gather", allow_module_level=True)


        def test_module():
            comm.gather(1, axis=0)
        """,
    ),
    marked(
        "a_mark_of_a_class",
        """
        import unittest

        import pytest

        import lib.comm as comm

        HAS = hasattr(comm, "gather")


        @unittest.skipUnless(HAS, "no gather")
        class TestGather(unittest.TestCase):
            def test_it(self):
                comm.gather(1, axis=0)


        class TestMixed(unittest.TestCase):
            @unittest.skipIf(not HAS, "no gather")
            def test_it(self):
                comm.gather(1, axis=0)

            def test_inside(self):
                if not HAS:
                    self.skipTest("no gather")
                comm.gather(1, axis=0)

            def test_raised(self):
                if not HAS:
                    raise unittest.SkipTest("no gather")
                comm.gather(1, axis=0)

            def test_bare(self):
                comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises


        class TestSetUp(unittest.TestCase):
            def setUp(self):
                if not HAS:
                    self.skipTest("no gather")

            def test_it(self):
                comm.gather(1, axis=0)


        class TestBody:
            pytestmark = pytest.mark.skipif(not HAS, reason="no gather")

            def test_it(self):
                comm.gather(1, axis=0)
        """,
        runs=False,
    ),
    marked(
        "a_mark_made_by_a_function_of_another_file",
        """
        import lib.comm as comm
        from marks import needs, needs_gather, only_with


        @needs_gather
        def test_named():
            comm.gather(1, axis=0)


        @needs("gather")
        def test_made():
            comm.gather(1, axis=0)


        @only_with("gather")
        def test_put_on():
            comm.gather(1, axis=0)
        """,
        runs=False,
        marks="""
        import pytest

        import lib.comm as comm

        needs_gather = pytest.mark.skipif(not hasattr(comm, "gather"), reason="no gather")


        def needs(name):
            return pytest.mark.skipif(not hasattr(comm, name), reason=f"no {name}")


        def only_with(name):
            def put(function):
                return pytest.mark.skipif(not hasattr(comm, name), reason=f"no {name}")(function)

            return put
        """,
    ),
    marked(
        "a_mark_that_nobody_can_follow",
        """
        import pytest

        import lib.comm as comm
        from elsewhere import supports


        @pytest.mark.skipif(not supports(comm, "gather"))  #? `lib.comm` is passed to a function that cannot be followed
        def test_it():
            comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises may


        @pytest.mark.skipif(not supports("cuda"), reason="no device")
        def test_device():
            comm.gather(1, axis=0)  #! DW201 gather 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "what_a_probe_said_in_a_test_that_may_be_skipped",
        """
        import inspect
        import os

        import pytest

        import lib.comm as comm

        ASKED = os.getenv("ASKED", str(hasattr(comm, "gather")))


        class Fuser:
            def __init__(self):
                self.early = False

            def prepare(self):
                self.early = "early" in inspect.signature(comm.fuse).parameters

            def fuse(self, x, workspace):
                if self.early:
                    return comm.fuse(x, workspace, early=False)
                return comm.fuse(x, workspace)


        def worker(rank):
            fuser = Fuser()
            fuser.prepare()
            fuser.prepare()


        @pytest.mark.skipif(ASKED.lower() != "true", reason="not asked for")
        def test_prepared():
            spawn(worker)


        def spawn(function):
            import multiprocessing

            multiprocessing.Process(target=function).start()
        """,
    ),
)
