"""What a handler does with what it has taken."""

from __future__ import annotations

from tests.flow.marked import marked

OUTCOMES_OF_HANDLERS = (
    marked(
        "raised_behind_the_handler",
        """
        import logging

        import lib.comm as comm

        log = logging.getLogger()


        def run_none(g):
            made = None
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                log.warning("%s", error)
            if made is None:
                raise RuntimeError("it was asked for")
            return made


        def run_after(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                log.warning("none")
            raise RuntimeError("none")


        def run_kept(g):
            last = None
            for _ in range(3):
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    last = error
            raise last


        def run_list(x):
            errors = []
            for axis in (0, 1):
                try:
                    comm.gather(x, axis=axis)  #! DW201 gather 0.1.0 raises
                except Exception as error:
                    errors.append(error)
            if errors:
                raise RuntimeError(f"{len(errors)} failed")


        def run_else(g):
            for _ in range(2):
                try:
                    made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                    break
                except TypeError:
                    continue
            else:
                raise RuntimeError("none")
            return made


        def run_flag(g):
            done = False
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                done = True
            except Exception:
                pass
            assert done


        def run_other(g):
            made = None
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@74
            except Exception:
                made = 0
            if made is None:
                raise RuntimeError("cannot be")
            return made
        """,
    ),
    marked(
        "raised_behind_the_handler_for_something_else",
        """
        import lib.comm as comm


        def run(x, g):
            try:
                made = comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@7
            except Exception:
                made = None
            if x.shape[0] == 0:
                raise ValueError("nothing in it")
            assert x.dim() == 2
            return made
        """,
        runs=False,
    ),
    marked(
        "a_handler_that_asks_what_it_has_taken",
        """
        import lib.comm as comm

        WRONG = (TypeError, AttributeError)


        def prepare(x):
            return x


        def run_is(x):
            prepare(x)
            try:
                return comm.gather(prepare(x), axis=0)  #! DW201 gather 0.1.0 raises
            except Exception as error:
                if isinstance(error, (TypeError, AttributeError)):
                    raise RuntimeError("too old") from error
                return None


        def run_is_named(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 raises
            except Exception as error:
                if isinstance(error, WRONG):
                    raise
                return None


        def run_is_none_of(x):
            try:
                return comm.gather(x, axis=0)  #! DW201 gather 0.1.0 silent@32
            except Exception as error:
                if isinstance(error, OSError | KeyError):
                    raise
                return None


        def run_type(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                if type(error) is TypeError:
                    raise
                return None


        def run_type_name(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@50
            except Exception as error:
                if type(error).__name__ != "TypeError":
                    raise
                return None


        def run_text(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                if "CUDA" not in str(error):
                    raise
                return None


        def run_text_of_it(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@68
            except Exception as error:
                if "unexpected keyword argument 'group'" in str(error):
                    return None
                raise


        def run_subclass(x):
            try:
                from lib.comm import gather  #! DW201 gather 0.1.0 raises
            except ImportError as error:
                if isinstance(error, ModuleNotFoundError):
                    return None
                raise
            return gather(x, axis=0)
        """,
    ),
    marked(
        "a_handler_that_calls_what_raises",
        """
        import logging

        import lib.comm as comm

        log = logging.getLogger()
        STRICT = False


        class Unavailable(RuntimeError):
            pass


        def fatal(message, cause):
            log.critical(message)
            raise Unavailable(message) from cause


        class Failing:
            def fail(self, error):
                raise Unavailable(str(error))

            def make(self, g):
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    self.fail(error)


        def run_method(g):
            return Failing().make(g)


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                fatal("none", error)


        def run_assert(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                assert False, f"failed: {error}"


        def run_strict(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@50
            except Exception:
                if STRICT:
                    raise
                return None


        def run_own(g):
            try:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@62
                except Exception as error:
                    raise Unavailable("none") from error
            except Unavailable:
                return None


        def run_own_base(g):
            try:
                fatal("first", None) if g == "x" else None
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@73
                except Exception as error:
                    fatal("none", error)
            except RuntimeError:
                return None


        def run_own_other(g):
            try:
                try:
                    return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    raise Unavailable("none") from error
            except ValueError:
                return None
        """,
    ),
    marked(
        "nobody_can_tell_what_the_handler_does",
        """
        import os

        import lib.comm as comm


        def run(g):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 unknown@9
            except Exception:
                if os.environ.get("STRICT"):
                    raise
                return None


        def run_kinds(g, kinds):
            try:
                return comm.create(1, 0, group=g)  #! DW101 group 0.1.0 unknown@18
            except kinds:
                return None
        """,
        runs=False,
    ),
    marked(
        "a_finally_that_goes_another_way",
        """
        import sys

        import lib.comm as comm


        def run_break(g):
            while True:
                try:
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent
                finally:
                    break
            return None


        def run_raise(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            finally:
                g.close()


        def run_taken_outside(g):
            try:
                try:
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 silent@28
                finally:
                    g.close()
            except Exception:
                pass


        def run_exit(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception:
                return None
            finally:
                sys.exit(1)
        """,
        runs=False,
    ),
    marked(
        "a_test_that_fails_or_is_skipped_in_the_handler",
        """
        import pytest

        import lib.comm as comm


        def test_fails(g):
            try:
                comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
            except Exception as error:
                pytest.fail(f"no: {error}")


        def test_fails_later(g):
            failures = []
            for name in ("a", "b"):
                try:
                    comm.create(1, 0, group=g)  #! DW101 group 0.1.0 raises
                except Exception as error:
                    failures.append((name, error))
            if failures:
                pytest.fail(str(failures))


        def test_skipped(g):
            try:
                from lib.comm import gather  #! DW201 gather 0.1.0 guarded@27
            except ImportError:
                pytest.skip("too old")
            gather(g, axis=0)
        """,
        runs=False,
    ),
    marked(
        "the_next_turn_of_a_loop_tries_another_thing",
        """
        import lib.comm as comm


        def run(g):
            errors = []
            for options in ({"group": g}, {}):
                try:
                    return comm.create(1, 2, **options)  #! DW101 group 0.1.0 guarded@9
                except TypeError as error:
                    errors.append(error)
            raise RuntimeError(errors)


        def run_the_same_again(g):
            for _ in range(3):
                try:
                    return comm.create(1, 2, group=g)  #! DW101 group 0.1.0 silent@18
                except TypeError:
                    pass
            return None


        def run_no_other(g):
            for options in ({"group": g}, {}):
                try:
                    return comm.create(1, 2, **options)  #! DW101 group 0.1.0 silent@27
                except TypeError:
                    return None
        """,
    ),
)
