"""Context managers of the code base: what they give, and what they take."""

from __future__ import annotations

from tests.flow.marked import marked

MANAGERS = (
    marked(
        "what_a_manager_yields",
        """
        from contextlib import contextmanager

        import lib.comm as comm


        @contextmanager
        def workspace(**kwargs):
            made = comm.create(1, **kwargs)
            try:
                yield made
            finally:
                str(made)


        def run():
            with workspace(rank=0, group=None) as made:  #! DW101 group 0.1.0 raises
                return made.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_right():
            with workspace(rank=0) as made:
                return made.fits(1, 2)
        """,
    ),
    marked(
        "what_a_manager_takes",
        """
        from contextlib import contextmanager

        import lib.comm as comm


        @contextmanager
        def quiet():
            try:
                yield
            except Exception:
                return


        @contextmanager
        def loud():
            try:
                yield
            except Exception as error:
                str(error)
                raise


        def run(x, workspace):
            with quiet():
                comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 silent@10
            return comm.fuse(x, workspace, early=True)  #! DW101 early 0.1.0 raises


        def run_loud(x, workspace):
            with loud():
                return comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
        runs=False,  # the harness takes a handler with nothing but `yield` to be meant for what it takes
    ),
    marked(
        "what_enter_returns",
        """
        import lib.comm as comm


        class Session:
            def __init__(self, size):
                self.made = comm.Ring(size)

            def __enter__(self):
                return self.made

            def __exit__(self, *error):
                return None


        def run():
            with Session(1) as made:
                return made.checkpoint()  #! DW203 checkpoint 0.1.0, 0.10.0 raises; DW102 path 0.2.0.post1 raises
        """,
    ),
    marked(
        "while_a_name_is_patched",
        """
        from unittest import mock
        from unittest.mock import MagicMock, patch

        import lib.comm as comm


        def _helper(x):
            return comm.fuse(x, nothing=1)


        def run():
            with mock.patch("lib.comm.fuse") as fake:
                comm.fuse(nothing=1)
                _helper(1)
                fake.assert_called()
            return comm.fuse(1, 2, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_object():
            with patch.object(comm, "create", MagicMock()), patch("lib.comm.fuse", lambda x: x):
                from lib.comm import fuse

                comm.create().nothing()
                fuse(1)


        def run_signature_kept():
            with patch("lib.comm.fuse", autospec=True):
                return comm.fuse(1, 2, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_started():
            patch("lib.comm.fuse").start()
            comm.fuse(nothing=1)
            patch.stopall()


        @patch("lib.comm.fuse")
        def run_decorated(fake=None):
            return comm.fuse(nothing=1)


        def run_other():
            with patch("lib.comm.create"):
                return comm.fuse(1, 2, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises
        """,
    ),
    marked(
        "a_method_that_is_patched",
        """
        from unittest.mock import patch

        import lib.comm as comm


        def run():
            with patch.object(comm.Ring, "checkpoint", create=True):
                comm.Ring(1).checkpoint(1, 2, 3)


        def run_path():
            with patch("lib.comm.Ring.checkpoint", create=True):
                comm.Ring(1).checkpoint(1, 2, 3)
            return comm.Ring(1).fits(1, 2, 3, 4)  #! DW103 fits raises
        """.replace("DW103 fits", "DW103 fits 0.1.0 to 0.10.0"),
    ),
    marked(
        "replaced_by_the_code_base",
        """
        import lib.comm as comm

        _fuse = comm.fuse


        def _mine(*args, **kwargs):
            kwargs.pop("bias", None)
            return _fuse(*args, **kwargs)


        def run(x, workspace):
            comm.fuse = _mine
            try:
                comm.fuse(x, workspace, bias=1.0)
                return comm.fuse(x, workspace, early=True)  #! DW101 early 0.1.0 raises
            finally:
                comm.fuse = _fuse


        def run_back(x, workspace):
            setattr(comm, "fuse", lambda *args, **kwargs: None)
            comm.fuse(nothing=1)
            comm.fuse = _fuse
            return comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 raises


        def run_where_missing(x):
            if not hasattr(comm, "gather"):
                comm.gather = lambda x, axis, out=None: x
            return comm.gather(x, axis=0, out=None)  #! DW101 out 0.2.0, 0.10.0 raises
        """,
    ),
    marked(
        "patched_by_a_fixture",
        """
        import lib.comm as comm


        def test_it(monkeypatch):
            monkeypatch.setattr(comm, "fuse", lambda x: x)
            comm.fuse(1)
            monkeypatch.setattr("lib.comm.create", lambda **kwargs: None)
            comm.create(nothing=1)


        def test_mocker(mocker):
            mocker.patch("lib.comm.fuse")
            mocker.patch.object(comm, "create")
            comm.fuse(nothing=1)
            comm.create(nothing=1)
        """,
        runs=False,
    ),
    marked(
        "what_leaves_the_block_of_a_manager",
        """
        import contextlib

        import lib.comm as comm
        from taking import Optional, Others, Timed, Typed, narrow, tolerant, translated


        def run_class(g):
            made = None
            with Optional("workspace") as taken:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@taking.py:15
            return made, taken.failed


        def run_class_that_lets_go(g):
            with Timed() as timer, contextlib.nullcontext():
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises


        def run_typed(g):
            with Typed():
                comm.gather(g, axis=0)  #! DW201 gather 0.1.0 silent@taking.py:34
            with Others():
                comm.gather(g, axis=0)  #! DW201 gather 0.1.0 raises


        def run_generator(g):
            with tolerant("workspace"):
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@taking.py:47


        def run_raised_behind(g):
            made = None
            with tolerant("workspace"):
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            if made is None:
                raise RuntimeError("none")
            return made


        def run_known_behind(g):
            made = None
            with tolerant("workspace"):
                made = comm.create(1, 0)
            return made.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_narrow(g):
            with narrow():
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises


        def run_translated(g):
            try:
                with translated():
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@56
            except RuntimeError:
                return None


        def run_translated_openly(g):
            with translated():
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises


        def run_kept(g):
            quiet = contextlib.suppress(Exception)
            with quiet:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@67


        def run_stack(g):
            with contextlib.ExitStack() as stack:
                stack.enter_context(contextlib.suppress(Exception))
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@72


        def run_stack_of_generators(g):
            with contextlib.ExitStack() as stack:
                stack.enter_context(tolerant("workspace"))
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@taking.py:47


        def run_stack_entered_too_late(g):
            with contextlib.ExitStack() as stack:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                stack.enter_context(contextlib.suppress(Exception))


        def run_nested(g):
            with tolerant("outer"):
                with tolerant("inner"):
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@taking.py:47
                return comm.gather(g, axis=0)  #! DW201 gather 0.1.0 silent@taking.py:47


        class Both:
            @contextlib.contextmanager
            def block(self, g):
                try:
                    yield comm.create(1, 0)
                except AttributeError:
                    print("none")


        def run_method(g):
            with Both().block(g) as made:
                return made.close()  #! DW203 close 0.1.0 to 0.2.0 guarded@101
        """,
        taking="""
        import contextlib
        import logging

        log = logging.getLogger()


        class Optional:
            def __init__(self, what):
                self.what = what
                self.failed = False

            def __enter__(self):
                return self

            def __exit__(self, kind, error, traceback):
                if error is not None:
                    self.failed = True
                    log.info("%s: %s", self.what, error)
                return True


        class Timed:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                return False


        class Typed:
            def __enter__(self):
                pass

            def __exit__(self, kind, error, traceback):
                return kind is not None and issubclass(kind, AttributeError)


        class Others(Typed):
            def __exit__(self, kind, error, traceback):
                return isinstance(error, (OSError, ValueError))


        @contextlib.contextmanager
        def tolerant(what):
            try:
                yield
            except Exception as error:
                log.warning("%s: %s", what, error)


        @contextlib.contextmanager
        def narrow():
            try:
                yield
            except (OSError, ValueError):
                pass


        @contextlib.contextmanager
        def translated():
            try:
                yield 1
            except Exception as error:
                raise RuntimeError("none") from error
        """,
        runs=False,
    ),
)
