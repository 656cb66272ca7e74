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
        "a_caller_hides_what_a_public_function_raises",
        """
        import lib.comm as comm


        def reduce(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 silent@11


        def run(x):
            try:
                return reduce(x)
            except Exception:
                return None
        """,
    ),
    marked(
        "one_of_its_callers_does",
        """
        import lib.comm as comm


        def gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises; DW201 gather 0.1.0 silent@15


        def run_openly(x):
            return gather(x)


        def run(x):
            try:
                return gather(x)
            except Exception:
                return None
        """,
        runs=False,
    ),
    marked(
        "a_caller_of_its_caller_does",
        """
        import lib.comm as comm


        def reduce(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises; DW101 early 0.1.0 silent@16


        def times(function, x):
            for _ in range(5):
                function(x)


        def run(x):
            try:
                times(reduce, x)
            except Exception:
                pass
        """,
    ),
    marked(
        "a_caller_hides_an_import",
        """
        def load():
            from lib.comm import gather  #! DW201 gather 0.1.0 raises; DW201 gather 0.1.0 silent@9
            return gather


        def run(x):
            try:
                return load()(x, axis=0)
            except Exception:
                return None
        """,
    ),
    marked(
        "a_caller_expects_it",
        """
        import lib.comm as comm


        def reduce(x):
            return comm.fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            try:
                return reduce(x)
            except TypeError:
                return comm.fuse(x, 1)
        """,
        runs=False,
    ),
    marked(
        "a_generator_made_where_its_caller_hides",
        """
        import lib.comm as comm


        def gathered(x):
            yield comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        def run(x):
            try:
                found = gathered(x)
            except Exception:
                return None
            return list(found)
        """,
    ),
    marked(
        "a_program_that_asks_first",
        """
        import lib.comm as comm


        def require():
            if not hasattr(comm, "gather"):
                raise SystemExit("too old")


        if __name__ == "__main__":
            require()
            comm.gather(1, axis=0)
        """,
        runs=False,
    ),
    marked(
        "a_program_that_prepares_first",
        """
        import lib.comm as comm

        options = {}


        def prepare():
            options["early"] = True


        if __name__ == "__main__":
            prepare()
            comm.fuse(1, 1, **options)  #! DW101 early 0.1.0 raises
        """,
        runs=False,
    ),
    marked(
        "a_generator_that_is_gone_through_at_once",
        """
        import lib.comm as comm


        def _gathered(x):
            yield comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@11


        def run(x):
            try:
                return list(_gathered(x))
            except Exception:
                return None
        """,
    ),
    marked(
        "a_coroutine_that_is_awaited_elsewhere",
        """
        import lib.comm as comm


        async def _gather(x):
            return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises


        async def use(x):
            try:
                found = _gather(x)
            except Exception:
                return None
            return await found
        """,
        runs=False,
    ),
    marked(
        "a_program_that_ends_whatever_was_taken",
        """
        import os
        import sys

        import lib.comm as comm


        def work(x):
            status = 1
            try:
                comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
                status = 0
            except BaseException as error:
                print(error)
            finally:
                try:
                    x.close()
                except Exception:
                    status = 2
                finally:
                    sys.stdout.flush()
                    os._exit(status)


        def work_on(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@27
            except Exception as error:
                print(error)
            finally:
                x.close()
        """,
        runs=False,
    ),
)
