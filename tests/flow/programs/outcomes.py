"""Where the exception of a drift ends: nobody takes it, a handler for something else does, or the one that is meant."""

from __future__ import annotations

from tests.flow.marked import marked

OUTCOMES = (
    marked(
        "swallowed",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7
            except Exception:
                return None
        """,
    ),
    marked(
        "swallowed_in_the_caller",
        """
        import lib.comm as comm


        def _make(g):
            return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@11


        def run(g):
            try:
                return _make(g)
            except Exception as error:
                str(error)
                return None
        """,
    ),
    marked(
        "what_would_fail_next_is_told_behind_a_finally_too",
        """
        import lib.comm as comm


        def _make(g):
            try:
                ws = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7; DW101 group 0.1.0 raises
            except Exception:
                return None
            finally:
                str(g)
            return ws


        def run(g):
            ws = _make(g)
            if ws is not None:
                ws.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run_what_stops(g):
            ws = _make(g)
            if ws is None:
                raise RuntimeError("no workspace")
            ws.fits(1, 2)
        """,
        runs=False,
    ),
    marked(
        "tried_again_without",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 guarded@7
            except TypeError:
                return comm.create(1, 0)
        """,
    ),
    marked(
        "raised_again",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                raise RuntimeError("no workspace") from error
        """,
    ),
    marked(
        "handler_for_something_else",
        """
        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except (ValueError, KeyError):
                return None
        """,
    ),
    marked(
        "finally_that_returns",
        """
        import lib.comm as comm


        def run(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent
            finally:
                return None
        """,
        runs=False,
    ),
    marked(
        "finally_sees_every_way",
        """
        import lib.comm as comm


        def run(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            finally:
                comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        """,
        runs=False,
    ),
    marked(
        "else_runs_where_nothing_was_raised",
        """
        import lib.comm as comm


        def run(x):
            try:
                gather = comm.gather  #! DW201 gather 0.1.0 guarded@7
            except AttributeError:
                return comm.legacy(x)
            else:
                return gather(x, 0)  #! DW102 axis 0.10.0 raises
        """,
    ),
    marked(
        "broad_handler_round_nothing_but_checks",
        """
        try:
            import lib.comm as comm

            HAS = hasattr(comm, "gather")
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@6
        except Exception:
            HAS = False
        """,
    ),
    marked(
        "pytest_raises_expects_it",
        """
        import pytest

        import lib.comm as comm


        def test_old():
            with pytest.raises(TypeError):
                comm.create(1, 0, group=None)  #! DW101 group 0.1.0 guarded@7
        """,
        runs=False,
    ),
    marked(
        "handler_of_a_base_class",
        """
        import lib.comm as comm


        def run(x):
            try:
                from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@7
            except (ImportError, OSError):
                legacy = comm.fuse
            return x
        """,
    ),
    marked(
        "suppressed_type_error",
        """
        import contextlib

        import lib.comm as comm


        def run(g):
            with contextlib.suppress(TypeError):
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7
            return None
        """,
    ),
    marked(
        "inner_handler_first",
        """
        import lib.comm as comm


        def run(g):
            try:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 guarded@8
                except TypeError:
                    return comm.create(1, 0)
            except Exception:
                return None
        """,
    ),
    marked(
        "logged_and_raised_again",
        """
        import logging

        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except TypeError:
                logging.getLogger().debug("no group")
                raise
        """,
    ),
    marked(
        "attribute_error_is_for_names",
        """
        import lib.comm as comm


        def run(x):
            try:
                return comm.legacy(x)  #! DW201 legacy 0.2.0.post1 to 0.10.0 guarded@7
            except AttributeError:
                return comm.fuse(x, x)
        """,
    ),
    marked(
        "script_that_exits_where_the_name_is_missing",
        """
        import sys

        try:
            from lib.comm import legacy  #! DW201 legacy 0.2.0.post1 to 0.10.0 raises
        except ImportError:
            sys.exit("needs an old lib")


        def run(x):
            return legacy(x)
        """,
        runs=False,
    ),
    marked(
        "handler_that_raises_what_it_does_not_mean",
        """
        import lib.comm as comm


        def run(x, workspace):
            try:
                return comm.fuse(x, workspace, bias=1.0)  #! DW101 bias 0.1.0 to 0.2.0 silent@7
            except Exception as error:
                if isinstance(error, TypeError):
                    return None
                raise
        """,
    ),
    marked(
        "a_probe_tells_its_caller",
        """
        def support_error(x):
            try:
                from lib.comm import gather  #! DW201 gather 0.1.0 guarded@6

                gather(x, axis=0)
            except Exception as error:
                return f"probe raised {type(error).__name__}: {error}"
            return None


        def _use(x):
            from lib.comm.extra import deep  #! DW202 extra 0.2.0 raises

            return deep(x, 1)


        def run(x):
            error = support_error(x)
            if error is not None:
                raise RuntimeError(error)
            return _use(x)
        """,
        runs=False,
    ),
    marked(
        "what_was_taken_is_missed_later",
        """
        import lib.comm as comm


        def run_name(g):
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                print("none")
            return made


        def run_none(g):
            made = None
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                print("none")
            return made.fits(1, 2)


        def run_script_end(g):
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@24
            except Exception:
                made = None
            raise SystemExit(0)
        """,
        runs=False,
    ),
    marked(
        "loops_and_objects_that_remember",
        """
        import asyncio
        import sys

        import lib.comm as comm


        class Service:
            strict = True

            def __init__(self):
                self.error = None
                self.made = None

            def keep(self, g):
                try:
                    self.made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    self.error = error
                if self.error is not None:
                    raise RuntimeError("none") from self.error

            def insist(self, g):
                try:
                    self.made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception:
                    if self.strict:
                        raise


        def run_insist(g):
            Service().insist(g)


        def run_until(g):
            attempts = 0
            while True:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception:
                    attempts += 1
                    if attempts >= 3:
                        raise


        def run_pattern(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                match error:
                    case TypeError():
                        raise
                    case _:
                        return None


        def run_finally(g):
            done = False
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                done = True
            except Exception:
                pass
            finally:
                if not done:
                    raise RuntimeError("none")


        def _status(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                return 1
            return 0


        def run_exit(g):
            status = _status(g)
            if status:
                sys.exit(status)


        def run_two(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@85
            except Exception:
                pass
            try:
                return comm.gather(g, axis=0)  #! DW201 gather 0.1.0 raises
            except Exception:
                raise
        """,
        runs=False,
    ),
)
